"""Knows: TensorFlow without the packages of its extra. Must not know: CUDA of the system."""

from __future__ import annotations

from gpumon_gui.core.messages import N_
from gpumon_gui.diagnosis import advice, machine, remedies
from gpumon_gui.diagnosis.compat.tensorflow import tensorflow_wants
from gpumon_gui.diagnosis.facts import View
from gpumon_gui.diagnosis.finding import Confidence, Severity, Step
from gpumon_gui.diagnosis.rule import CLEAR, Help, Hit, Lacks, Outcome, Rule, Scope, cite, quote

_SAID = "pip-extra-missing"


def _check(view: View) -> Outcome:
    if machine.tensorflow_sees_gpu(view) or machine.system(view) in ("windows", "macos"):
        return CLEAR
    said = view.signal(_SAID)
    if said is not None:
        return Hit(Confidence.HIGH, quote(said))
    version = machine.tensorflow_version(view)
    if version is None:
        return Lacks(("tensorflow.version",))
    build = tensorflow_wants(version)
    if build is None or not build.extra:
        return CLEAR
    packages = machine.known_packages(view)
    if packages is None:
        return Lacks(("packages",))
    if any(name.startswith("nvidia-") for name in packages) or view.flag("tensorflow.built_with_cuda") is False:
        return CLEAR
    if machine.toolkit_cuda(view) is not None:
        return CLEAR  # CUDA of the system is meant to serve
    if not view.known("tensorflow.gpu_count") and view.signal("tf-no-cudart", "tf-dlopen-failed") is None:
        return Lacks(("tensorflow.gpu_count",))
    return Hit(
        Confidence.MEDIUM,
        cite(view, "tensorflow.version", "tensorflow.built_with_cuda", "tensorflow.gpu_count")
        + quote(view.signal("tf-no-cudart", "tf-dlopen-failed")),
    )


def _advise(view: View, _hit: Hit) -> tuple[Step, ...]:
    return (
        *remedies.tensorflow_with_cuda(view),
        advice.say(
            N_(
                "If pip falls back to a version without the extra, its error is above: use a newer pip, or name the "
                "version."
            )
        ),
    )


RULE = Rule(
    code="tf-cuda-extra-not-installed",
    scope=Scope.ENVIRONMENT,
    step=3,
    severity=Severity.BLOCKS,
    title=N_("TensorFlow is installed without its CUDA packages (the extra and-cuda)"),
    help=Help(
        what=N_("Whether the packages with CUDA and cuDNN came along with TensorFlow."),
        why=N_(
            "The TensorFlow wheel for Linux holds no CUDA libraries. tensorflow[and-cuda] brings them; plain "
            "tensorflow, or a version that pip fell back to, does not."
        ),
        how=N_(
            "pip says that the version does not provide the extra; or TensorFlow 2.14 or newer lists no GPU, no "
            "nvidia-* package is installed, and no CUDA toolkit is known on the system."
        ),
        wrong=N_("CUDA libraries of the system that were not found by this program would do as well."),
        todo=N_("Install TensorFlow with its extra."),
    ),
    check=_check,
    needs=(("tensorflow.version", "packages", f"signal:{_SAID}"),),
    advise=_advise,
    explains=("tf-cuda-libs-not-found", "code-runs-on-cpu"),
    frameworks=("tensorflow",),
    links=("https://www.tensorflow.org/install/pip",),
)
