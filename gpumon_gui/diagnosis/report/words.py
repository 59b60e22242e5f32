"""Knows: the words around findings: severities, confidences, verdicts. Must not know: where they are shown."""

from __future__ import annotations

from gpumon_gui.core.messages import N_

SEVERITY: dict[str, str] = {
    "blocks": N_("The GPU is not used"),
    "crashes": N_("Crashes"),
    "slows": N_("Slow"),
    "info": N_("Good to know"),
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
NO_FRAMEWORK = N_("No deep learning framework is installed in: {subjects}")
FRAMEWORK: dict[str, str] = {
    "torch": "PyTorch",
    "tensorflow": "TensorFlow",
    "jax": "JAX",
    "onnxruntime": "ONNX Runtime",
    "cupy": "CuPy",
}
MACHINE = N_("this machine")
ENVIRONMENT = N_("this environment")
NOTHING_WRONG = N_("Nothing wrong was found.")
NOTHING_FOUND = N_("No cause was found, but not everything could be checked.")
CHECKED = N_("{count} causes were looked for and are not there.")
NOT_EVALUATED = N_("{count} causes could not be judged. Missing: {facts}")
SYMPTOM = N_("a consequence of {code}")
FAULTS = N_("Faults of GPUMon while judging (please report them): {codes}")
