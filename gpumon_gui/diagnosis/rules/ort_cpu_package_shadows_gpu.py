"""Knows: two ONNX Runtime packages that share one module. Must not know: CUDA libraries."""

from __future__ import annotations

from gpumon_gui.core.messages import N_
from gpumon_gui.diagnosis import advice, hardware, machine, remedies
from gpumon_gui.diagnosis.facts import View
from gpumon_gui.diagnosis.finding import Confidence, Evidence, Severity, Step
from gpumon_gui.diagnosis.rule import CLEAR, Help, Hit, Lacks, Outcome, Rule, Scope, cite, quote

_SAID = "ort-cuda-not-in-package"
_PRINTED = "ort-providers"
_CUDA = "CUDAExecutionProvider"


def _check(view: View) -> Outcome:
    said = view.signal(_SAID)
    packages = machine.known_packages(view)
    providers = view.items("onnxruntime.available_providers")
    both = packages is not None and "onnxruntime" in packages and "onnxruntime-gpu" in packages
    evidence = quote(said) + cite(view, "onnxruntime.available_providers", "onnxruntime.version")
    if _CUDA in providers:
        if not both:
            return CLEAR
        return Hit(Confidence.MEDIUM, evidence, severity=Severity.INFO, title=_BOTH)
    if both and packages is not None:
        evidence += tuple(
            Evidence(f"packages.{name}", str(packages[name]), view.origin("packages"))
            for name in ("onnxruntime", "onnxruntime-gpu")
        )
        if any(_CUDA in str(signal.values.get("providers")) for signal in view.signals(_PRINTED)):
            return CLEAR
        printed = view.signal(_PRINTED)
        sure = providers or said is not None or printed is not None
        title = _EVEN_WITH if hardware.surely_no_gpu(view) else None
        return Hit(Confidence.HIGH if sure else Confidence.MEDIUM, quote(printed) + evidence, title=title)
    if said is not None:
        if packages is not None and "onnxruntime-gpu" not in packages and "onnxruntime" in packages:
            return Hit(Confidence.HIGH, evidence, title=_ONLY_CPU)
        return Hit(Confidence.MEDIUM, evidence)
    if packages is None:
        return Lacks(("packages",))
    return CLEAR


_EVEN_WITH = N_("Even with a GPU ONNX Runtime could not use it: its CPU package hides the GPU package")
_BOTH = N_("onnxruntime and onnxruntime-gpu are both installed; for now the GPU package is the one that answers")
_ONLY_CPU = N_("The program asks ONNX Runtime for CUDA, and the installed package is the CPU one")


def _advise(view: View, _hit: Hit) -> tuple[Step, ...]:
    return (
        *remedies.without_gpu(view),
        advice.remove(view, "onnxruntime", "onnxruntime-gpu"),
        *remedies.pypi(view, "onnxruntime-gpu"),
        advice.say(
            N_(
                "Packages that ask for plain onnxruntime bring it back, and some programs install it by themselves: "
                "check again after each installation."
            )
        ),
        advice.check(advice.run_python(view, "import onnxruntime; print(onnxruntime.get_available_providers())")),
    )


RULE = Rule(
    code="ort-cpu-package-shadows-gpu",
    scope=Scope.ENVIRONMENT,
    step=3,
    severity=Severity.SLOWS,
    title=N_("The CPU package of ONNX Runtime hides the GPU package"),
    help=Help(
        what=N_("Whether onnxruntime and onnxruntime-gpu are installed together, and which one answers."),
        why=N_(
            "Both packages fill the same folder. The one installed last wins, and pip lists both. With the CPU one "
            "every session runs on the CPU."
        ),
        how=N_(
            "get_available_providers() lacks CUDAExecutionProvider although onnxruntime-gpu is installed, or a program "
            "asks for CUDA and ONNX Runtime says that the package has none."
        ),
        wrong=N_("Where only the message is known, onnxruntime-gpu may never have been installed."),
        todo=N_("Remove both packages, then install onnxruntime-gpu alone."),
    ),
    check=_check,
    needs=(("packages", "onnxruntime.available_providers", f"signal:{_SAID}"),),
    advise=_advise,
    explains=("code-runs-on-cpu",),
    frameworks=("onnxruntime",),
    links=("https://onnxruntime.ai/docs/install/",),
)
