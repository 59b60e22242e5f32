"""Knows: a PyTorch for NVIDIA on a machine that has only AMD graphics. Must not know: the other rules."""

from __future__ import annotations

from gpumon_gui.core.messages import N_
from gpumon_gui.diagnosis import advice, hardware, machine
from gpumon_gui.diagnosis.facts import View
from gpumon_gui.diagnosis.finding import Confidence, Severity, Step
from gpumon_gui.diagnosis.rule import CLEAR, Help, Hit, Lacks, Outcome, Rule, Scope, cite, quote


def _check(view: View) -> Outcome:
    makers = hardware.vendors(view)
    if hardware.has_nvidia(view) is True or (makers and None not in makers and "amd" not in makers):
        return CLEAR
    if "amd" not in makers or hardware.has_nvidia(view) is None:
        # With an NVIDIA card Windows has a driver by itself: its absence is a hint, no more.
        none = view.signal("torch-no-driver") if advice.is_windows(view) and not makers else None
        return Lacks(("gpus",)) if none is None else Hit(Confidence.LOW, quote(none), title=_PERHAPS)
    if view.text("torch.hip_build") is not None or "rocm" in (view.text("torch.version") or "").lower():
        return CLEAR
    facts = cite(view, "gpus", "torch.version", "torch.cuda_build", "torch.hip_build", "torch.cuda_available")
    said = view.signal(*hardware.LOOKS_FOR_CUDA)
    values = {"gpu": hardware.name_of(view, "amd")}
    cuda = machine.torch_cuda(view) is not None or machine.torch_without_cuda(view)
    if cuda or said is not None:
        return Hit(Confidence.HIGH, facts + quote(said), values)
    if view.flag("torch.cuda_available") is False:
        return Hit(Confidence.MEDIUM, facts, values)
    return Lacks(("torch.cuda_build",))


def _advise(view: View, _hit: Hit) -> tuple[Step, ...]:
    if advice.is_windows(view):
        return (
            advice.say(_WINDOWS),
            advice.say(_DIRECTML, advice.pip_install(view, "torch-directml")),
            advice.check(_CHECK),
        )
    return (
        advice.say(_ROCM, advice.pip_install(view, "torch torchvision torchaudio", index=_ROCM_INDEX)),
        advice.check(advice.run_python(view, "import torch; print(torch.version.hip, torch.cuda.is_available())")),
    )


_ROCM_INDEX = f"{advice.PYTORCH_INDEX}/rocm6.4"
_CHECK = 'python -c "import torch_directml; print(torch_directml.device_name(0))"'
_PERHAPS = N_("No NVIDIA driver was found: this PyTorch is for NVIDIA cards and cannot use an AMD card")
_WINDOWS = N_(
    "On Windows, AMD publishes its own PyTorch builds for some Radeon cards; see the link. CUDA builds never use an "
    "AMD card."
)
_DIRECTML = N_("Older cards can be used through DirectML (slower, and with an older PyTorch):")
_ROCM = N_("Install the ROCm build of PyTorch, if ROCm supports this card:")

RULE = Rule(
    code="amd-gpu-with-cuda-build",
    scope=Scope.ENVIRONMENT,
    step=3,
    severity=Severity.BLOCKS,
    title=N_("This PyTorch is not made for AMD graphics, and {gpu} is the only GPU"),
    help=Help(
        what=N_("Whether a CUDA or CPU build of PyTorch runs on a machine whose GPUs are from AMD."),
        why=N_("CUDA works with NVIDIA cards only. A message about a driver that is too old misleads here."),
        how=N_("The makers of all GPUs that are known, and what torch was built for."),
        wrong=N_("Where the NVIDIA card was just not listed. ROCm and DirectML builds are not CUDA builds."),
        todo=N_("Install the ROCm build (Linux), AMD's own build or DirectML (Windows)."),
    ),
    check=_check,
    advise=_advise,
    explains=(
        "torch-cpu-only-build",
        "driver-too-old",
        "driver-module-not-loaded",
        "code-runs-on-cpu",
        "cuda-visible-devices-hides-gpu",
    ),
    frameworks=("torch",),
    links=("https://rocm.docs.amd.com/projects/radeon/en/latest/",),
)
