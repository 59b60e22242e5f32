"""Knows: TensorFlow without CUDA where builds with CUDA exist. Must not know: native Windows from 2.11 on."""

from __future__ import annotations

from dataclasses import replace

from gpumon_gui.core.messages import N_
from gpumon_gui.diagnosis import advice, hardware, machine, remedies
from gpumon_gui.diagnosis.compat.tensorflow import LAST_WINDOWS_GPU
from gpumon_gui.diagnosis.facts import View
from gpumon_gui.diagnosis.finding import Confidence, Evidence, Severity, Step
from gpumon_gui.diagnosis.rule import CLEAR, Help, Hit, Lacks, Outcome, Rule, Scope, cite, quote

#: Up to here "tensorflow" and "tensorflow-gpu" were two different builds of one module.
_ONE_PACKAGE_FROM = (2, 1)
_EVEN_WITH = N_("Even with a GPU this TensorFlow could not use it: it is a CPU build, without CUDA")
_CPU_PACKAGES = ("tensorflow-cpu", "tensorflow-cpu-aws", "intel-tensorflow", "tensorflow-intel", "tensorflow-mkl")


#: conda's build strings: "mkl" and "eigen" name CPU builds. One that names CUDA is not believed.
_LABELLED = "conda-tensorflow-cpu-build"


def _check(view: View) -> Outcome:
    outcome = _judged(view)
    if isinstance(outcome, Hit) and hardware.surely_no_gpu(view):
        return replace(outcome, title=_EVEN_WITH)
    return outcome


def _judged(view: View) -> Outcome:
    if machine.tensorflow_sees_gpu(view) or machine.system(view) == "macos":
        return CLEAR
    version = machine.tensorflow_version(view)
    windows = machine.system(view) == "windows"
    if windows and version is not None and version[:2] > LAST_WINDOWS_GPU:
        return CLEAR  # there is no other build: another rule says so
    built = view.flag("tensorflow.built_with_cuda")
    if built is True:
        return CLEAR
    if built is False:
        sure = machine.system(view) is not None and (not windows or version is not None)
        evidence = cite(view, "tensorflow.built_with_cuda", "tensorflow.version", "os.family")
        return Hit(Confidence.HIGH if sure else Confidence.MEDIUM, evidence)
    if view.flag("tensorflow.import_ok") is False:
        return Lacks(("tensorflow.built_with_cuda",))  # first it must be imported: then it says itself
    labelled = view.signal(_LABELLED)
    if labelled is not None:
        return Hit(Confidence.MEDIUM, quote(labelled))
    packages = machine.known_packages(view)
    if packages is None:
        return Lacks(("tensorflow.built_with_cuda",))
    if "tensorflow" in packages and "tensorflow-gpu" in packages:
        both = tuple(
            Evidence(f"packages.{name}", str(packages[name]), view.origin("packages"))
            for name in ("tensorflow", "tensorflow-gpu")
        )
        if version is not None and version >= _ONE_PACKAGE_FROM:
            return Lacks(("tensorflow.built_with_cuda",))
        return Hit(Confidence.MEDIUM, both)
    cpu = next((name for name in _CPU_PACKAGES if name in packages), None)
    if cpu is not None and "tensorflow-gpu" not in packages and ("tensorflow" not in packages or cpu.endswith("intel")):
        return Hit(Confidence.MEDIUM, (Evidence(f"packages.{cpu}", str(packages[cpu]), view.origin("packages")),))
    return Lacks(("tensorflow.built_with_cuda",))


def _advise(view: View, _hit: Hit) -> tuple[Step, ...]:
    version = machine.tensorflow_version(view)
    remove = (*remedies.without_gpu(view), advice.remove(view, "tensorflow", "tensorflow-gpu", *_CPU_PACKAGES))
    if version is not None and version < _ONE_PACKAGE_FROM:
        wanted = ".".join(str(part) for part in version)
        gpu = remedies.quoted(view, f"tensorflow-gpu=={wanted}" + ("" if len(version) > 2 else ".*"))
        return (*remove, *remedies.pypi(view, gpu), advice.check(advice.run_python(view, remedies.TF_WORKS)))
    if advice.is_windows(view):
        gpu = remedies.quoted(view, "tensorflow<2.11")
        return (*remove, *remedies.pypi(view, gpu), advice.check(advice.run_python(view, remedies.TF_WORKS)))
    if view.text("interpreter.kind") == "conda":
        return (
            *remedies.without_gpu(view),
            advice.say(
                N_("If conda installed TensorFlow: remove that copy, whatever its label says, and take the wheel."),
                advice.conda(view, "remove", "--yes tensorflow tensorflow-base"),
            ),
            *remedies.tensorflow_with_cuda(view),
        )
    return (*remove, *remedies.tensorflow_with_cuda(view))


RULE = Rule(
    code="tf-cpu-only-build",
    scope=Scope.ENVIRONMENT,
    step=3,
    severity=Severity.BLOCKS,
    title=N_("The installed TensorFlow is a CPU build: there is no CUDA in it"),
    help=Help(
        what=N_("Whether the installed TensorFlow was built with CUDA."),
        why=N_(
            "tensorflow-cpu, builds for Intel, and some builds of conda never use an NVIDIA GPU. Up to 2.0, "
            '"tensorflow" and "tensorflow-gpu" shared one module, and the one installed last won.'
        ),
        how=N_(
            "tf.test.is_built_with_cuda() is False on Linux, or on Windows up to 2.10; or the installed packages are "
            "the CPU ones. A package's label is not trusted."
        ),
        wrong=N_("Where only the names of packages are known, the module itself may be another one."),
        todo=N_("Install the build with CUDA."),
    ),
    check=_check,
    needs=(("tensorflow.built_with_cuda", "packages", f"signal:{_LABELLED}"),),
    advise=_advise,
    explains=("tf-cuda-libs-not-found", "tf-cuda-extra-not-installed", "tf-cuda-version-mismatch", "code-runs-on-cpu"),
    frameworks=("tensorflow",),
    links=("https://www.tensorflow.org/install/pip",),
)
