"""Knows: the words around findings: severities, confidences, verdicts. Must not know: where they are shown."""

from __future__ import annotations

from gpumon_gui.core.messages import N_

_SEVERITY: dict[str, str] = {
    "blocks": N_("The GPU is not used"),
    "crashes": N_("Crashes"),
    "slows": N_("Slow"),
    "info": N_("Good to know"),
}
#: What is said instead, where the severity's word is not what happens to the user.
_INSTEAD: dict[tuple[str, str], str] = {
    ("code-runs-on-cpu", "slows"): N_("The GPU is not used"),
    ("gpu-memory-growing", "crashes"): N_("Runs short of memory"),
    ("gpu-memory-held-idle", "slows"): N_("Holds memory"),
    ("gpu-memory-nearly-full", "crashes"): N_("Runs short of memory"),
}
CONFIDENCE: dict[str, str] = {
    "high": N_("certain"),
    "medium": N_("likely"),
    "low": N_("possible"),
}
#: Placeholders: framework, subject.
VERDICT: dict[str, str] = {
    "proven": N_("{framework} in {subject} computes on the GPU: proven."),
    "claimed": N_("{framework} in {subject} says that it can use the GPU. Nothing was computed to prove it."),
    "fails": N_("{framework} in {subject} cannot use the GPU."),
    "not_measured": N_("{framework} in {subject}: whether it can use the GPU could not be found out."),
}
#: Placeholders: version, subject.
TOO_OLD = N_("Python {version} in {subject} is too old to be examined: GPUMon asks Python 3.6 and newer.")
NO_FRAMEWORK = N_("No deep learning framework is installed in: {subjects}")
FRAMEWORK: dict[str, str] = {
    "torch": "PyTorch",
    "tensorflow": "TensorFlow",
    "jax": "JAX",
    "onnxruntime": "ONNX Runtime",
    "cupy": "CuPy",
}
#: Kinds of Python environments.
ENVIRONMENT_KIND: dict[str, str] = {
    "venv": N_("virtual environment"),
    "conda": "conda",
    "store": "Microsoft Store",
    "pyenv": "pyenv",
    "uv": "uv",
    "system": N_("installed"),
    "wsl": "WSL",
}
MACHINE = N_("this machine")
ENVIRONMENT = N_("this environment")
#: What a finding from what was given is about, by its kind; a log may be of another machine.
GIVEN: dict[str, str] = {
    "log": N_("the log"),
    "script": N_("the script"),
    "profile": N_("the profile"),
    "elsewhere": N_("a log from another machine"),
}
#: Placeholders: differences.
ELSEWHERE = N_("The log comes from another machine, or from before this one was changed: {differences}.")
#: Placeholders: what, there, here.
DIFFERENCE = N_("{what} {there} (here: {here})")
DIFFERENT: dict[str, str] = {
    "gpu": "GPU",
    "gpu_memory": N_("GPU memory"),
    "driver": N_("Driver version"),
    "system": N_("Operating system"),
}
#: A GPU works, and nobody says for whom.
UNLISTED = N_("a program that is not listed")
SMI_LOG = N_("Log of nvidia-smi")
#: A GPU does little, and nobody knows why.
IDLE = N_("No cause was found for the time in which the GPU is idle.")
NOTHING_WRONG = N_("Nothing wrong was found.")
NOTHING_FOUND = N_("No cause was found, but not everything could be checked.")
CHECKED = N_("Causes that were looked for and are not there: {count}")
NOT_JUDGED = N_("Causes that could not be judged: {count}")
NOT_EVALUATED = N_("Causes that could not be judged: {count}. Too little is known of: {facts}")
#: What to do where nothing was found: on a machine, and with a log or a facts file.
NEXT_ON_MACHINE = N_(
    "If your program runs in another Python, name it with --python. What the program prints can be judged with --log."
)
NEXT_IN_LOG = N_(
    "To know more, give more: the whole output of the program, and what nvidia-smi and "
    "python -m torch.utils.collect_env print, in one file."
)
#: Where a profile is all that is known.
NO_CAUSE_IN_PROFILE = N_("No known cause of lost time or memory was found in the profile.")
ONLY_PROFILE = N_(
    "Only the profile was judged. gpumon diagnose looks at the installation, --log at what the program prints."
)
#: What a missing fact is about, by the first part of its path.
TOPIC: dict[str, str] = {
    "driver": N_("the NVIDIA driver"),
    "environment": N_("environment variables"),
    "gpu_count": N_("the GPUs"),
    "gpus": N_("the GPUs"),
    "host": N_("the computer"),
    "interpreter": N_("the Python interpreter"),
    "job": N_("what the program does"),
    "log": N_("the program's output"),
    "memory_snapshot": N_("PyTorch's memory snapshot"),
    "os": N_("the operating system"),
    "packages": N_("the installed packages"),
    "profile": N_("a profile of the program"),
    "rocm": "ROCm",
    "toolkit": N_("CUDA toolkit and cuDNN"),
    "training": N_("the training's settings"),
    "window": N_("the time that was watched"),
    **FRAMEWORK,
}
#: The parts of a rule's help, in the order in which they are read.
HELP: tuple[tuple[str, str], ...] = (
    ("what", N_("What is looked for")),
    ("why", N_("Why it matters")),
    ("how", N_("How it is decided")),
    ("wrong", N_("When this is wrong")),
    ("todo", N_("What to do")),
)
SYMPTOM = N_("a consequence of {code}")
FAULTS = N_("Faults of GPUMon while judging (please report them): {codes}")


def severity(code: str, grade: str) -> str:
    """What the finding ``code`` does to the user, as a message id."""
    return _INSTEAD.get((code, grade), _SEVERITY[grade])
