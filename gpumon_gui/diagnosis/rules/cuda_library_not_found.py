"""Knows: a package that misses a library of the CUDA toolkit. Must not know: other rules, TensorFlow, ONNX Runtime."""

from __future__ import annotations

from gpumon_gui.core.messages import N_
from gpumon_gui.diagnosis import advice
from gpumon_gui.diagnosis.facts import Signal, View
from gpumon_gui.diagnosis.finding import Confidence, Severity, Step
from gpumon_gui.diagnosis.rule import CLEAR, Help, Hit, Lacks, Outcome, Rule, Scope, quote

_MISSING = "library-missing"
#: Libraries of the CUDA toolkit; cuDNN and the driver's own have rules of their own.
_TOOLKIT = frozenset(
    ("cudart", "cublas", "cublasLt", "cufft", "curand", "cusolver", "cusparse", "nvrtc", "nvJitLink", "cupti")
)
_THEIR_OWN = ("tensorflow", "onnxruntime")


def _check(view: View) -> Outcome:
    signals = view.signals(_MISSING)
    found = next((signal for signal in signals if _is_import(signal)), None)
    if found is None or view.signal("tf-native-load-failed") is not None:
        return CLEAR if signals else Lacks(("log",))
    return Hit(Confidence.MEDIUM, quote(found), {"library": str(found.values["library"])})


def _is_import(signal: Signal) -> bool:
    is_raised = "ImportError" in signal.text or "OSError" in signal.text
    return is_raised and signal.values.get("name") in _TOOLKIT and signal.framework not in _THEIR_OWN


def _advise(view: View, _hit: Hit) -> tuple[Step, ...]:
    return (
        advice.say(
            N_("See which CUDA this PyTorch brings; a package with CUDA code must be built for the same:"),
            advice.run_python(view, "import torch; print(torch.__version__, torch.version.cuda)"),
        ),
        advice.say(
            N_(
                "The lines before the error name the package. Install its build for that CUDA, or build it again in "
                "this environment."
            )
        ),
        advice.say(
            N_(
                "Only if the package wants the CUDA toolkit of the system: install that version, and show the loader "
                "its folder:"
            ),
            "export LD_LIBRARY_PATH=/usr/local/cuda/lib64:$LD_LIBRARY_PATH",
        ),
    )


RULE = Rule(
    code="cuda-library-not-found",
    scope=Scope.ENVIRONMENT,
    step=8,
    severity=Severity.CRASHES,
    title=N_("A package needs {library}, which is not found: mostly it was built for another CUDA"),
    help=Help(
        what=N_("Whether a package stops because a library of CUDA is not found."),
        why=N_("The number in the file's name is that of a CUDA version; another version will not do."),
        how=N_("An ImportError or OSError names a library of the CUDA toolkit that cannot be opened."),
        wrong=N_("The library may be there, in a folder where the loader does not look."),
        todo=N_("Install the package built for the CUDA of the installed PyTorch."),
    ),
    check=_check,
    needs=((f"signal:{_MISSING}",),),
    advise=_advise,
    fallback=True,
)
