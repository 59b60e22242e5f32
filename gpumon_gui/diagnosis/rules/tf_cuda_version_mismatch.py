"""Knows: a CUDA or cuDNN of another version than this TensorFlow asks for. Must not know: missing files as such."""

from __future__ import annotations

import re

from gpumon_gui.core.messages import N_
from gpumon_gui.diagnosis import advice, hardware, machine, remedies
from gpumon_gui.diagnosis.compat.drivers import cuda_of_library
from gpumon_gui.diagnosis.compat.tensorflow import LAST_WINDOWS_GPU, TfBuild, tensorflow_wants
from gpumon_gui.diagnosis.facts import View
from gpumon_gui.diagnosis.finding import Confidence, Evidence, Severity, Step
from gpumon_gui.diagnosis.rule import CLEAR, Help, Hit, Lacks, Outcome, Rule, Scope, cite, quote
from gpumon_gui.diagnosis.versions import Version, same_series, text

_FAILED = ("tf-library-not-found", "tf-dlopen-failed", "tf-no-cudart")
_FOLDER = re.compile(r"cuda[-_/\\v]{1,2}(\d{1,2}\.\d)\b", re.IGNORECASE)
#: From this major on, file names carry the major only.
_MAJOR_ONLY_FROM = 11


def _check(view: View) -> Outcome:
    version = machine.tensorflow_version(view)
    if machine.tensorflow_sees_gpu(view):
        return CLEAR
    if machine.system(view) == "windows" and version is not None and version[:2] > LAST_WINDOWS_GPU:
        return CLEAR
    if view.flag("tensorflow.built_with_cuda") is False:
        return CLEAR  # a CPU build asks for no CUDA
    if hardware.no_gpu(view) and hardware.no_driver(view):
        return CLEAR  # what is installed there was never meant for TensorFlow: it compiles programs for other machines
    failed = view.signal(*_FAILED)
    if failed is None and view.number("tensorflow.gpu_count") != 0:
        return Lacks(("log", "tensorflow.gpu_count"))
    build = tensorflow_wants(version) if version is not None else None
    installed, evidence, confidence = _installed(view)
    if installed is None:
        return Lacks(("toolkit.cuda_version",))
    asked = _asked(view)
    if asked:
        if any(same_series(want, installed[:2]) for want in asked):
            return CLEAR
        wanted = asked[0]
    elif build is not None:
        if _serves(installed, build.cuda):
            return CLEAR
        wanted = build.cuda
    else:
        return Lacks(("tensorflow.version",))
    if _package_cuda(view) is not None and _serves(_package_cuda(view) or (), wanted):
        return CLEAR  # the pip packages fit, whatever the system has
    if any(_serves(other, wanted) for other in machine.toolkits(view)):
        return CLEAR  # the right one stands beside it
    values = {"installed": text(installed[:2]), "wanted": _wanted(build, wanted)}
    sure = confidence if failed is not None or build is not None else Confidence.LOW
    return Hit(sure, quote(failed) + evidence + cite(view, "tensorflow.version"), values)


def _asked(view: View) -> tuple[Version, ...]:
    """The CUDA versions that the file names in the log stand for."""
    for signal in machine.tensorflow_missing(view):
        found = cuda_of_library(str(signal.values.get("library", "")))
        if found and "cudart" in str(signal.values.get("library")):
            return found
    for signal in machine.tensorflow_missing(view):
        found = cuda_of_library(str(signal.values.get("library", "")))
        if found:
            return found
    return ()


def _installed(view: View) -> tuple[Version | None, tuple[Evidence, ...], Confidence]:
    toolkit = machine.toolkit_cuda(view)
    if toolkit is not None:
        return toolkit, cite(view, "toolkit.cuda_version", "toolkit.nvcc_version"), Confidence.HIGH
    for signal in view.signals("tf-library-not-found"):
        match = _FOLDER.search(str(signal.values.get("searched", "")))
        if match:
            major, minor = match.group(1).split(".")
            return (int(major), int(minor)), (), Confidence.MEDIUM
    packaged = _package_cuda(view)
    if packaged is not None:
        return packaged, cite(view, "packages"), Confidence.MEDIUM
    return None, (), Confidence.LOW


def _package_cuda(view: View) -> Version | None:
    """The CUDA of the nvidia-* packages."""
    for major in (13, 12, 11):
        found = machine.package_version(view, f"nvidia-cuda-runtime-cu{major}")
        if found is not None:
            return found
    return None


def _serves(installed: Version, wanted: Version) -> bool:
    if wanted[0] >= _MAJOR_ONLY_FROM:
        return installed[0] == wanted[0]
    return same_series(installed[:2], wanted[:2])


def _wanted(build: TfBuild | None, wanted: Version) -> str:
    return text(build.cuda if build is not None and same_series(build.cuda[:1], wanted[:1]) else wanted)


def _advise(view: View, _hit: Hit) -> tuple[Step, ...]:
    version = machine.tensorflow_version(view)
    build = tensorflow_wants(version) if version is not None else None
    if build is None:
        return (advice.say(N_("Look up which CUDA and cuDNN this TensorFlow needs: {link}"), link=RULE.links[0]),)
    need = advice.say(
        N_("TensorFlow {version} was built with CUDA {cuda} and cuDNN {cudnn}. It finds them by exact file names."),
        version=text(version or ()),
        cuda=text(build.cuda),
        cudnn=text(build.cudnn),
    )
    if build.extra and not advice.is_windows(view):
        return (need, *remedies.tensorflow_with_cuda(view))
    return (
        need,
        advice.say(
            N_("Toolkits can stand side by side. In a conda environment this is enough:"),
            advice.conda(
                view, "install", f"--channel conda-forge cudatoolkit={text(build.cuda)} cudnn={text(build.cudnn)}"
            ),
        ),
        advice.check(advice.run_python(view, remedies.TF_WORKS)),
    )


RULE = Rule(
    code="tf-cuda-version-mismatch",
    scope=Scope.ENVIRONMENT,
    step=8,
    severity=Severity.BLOCKS,
    title=N_("TensorFlow asks for CUDA {wanted}, and CUDA {installed} is installed"),
    help=Help(
        what=N_("Whether the installed CUDA is the one that this TensorFlow asks for."),
        why=N_(
            "TensorFlow opens libraries by names that carry the version: cudart64_101.dll is CUDA 10.1, "
            "libcudart.so.12 any CUDA 12. A newer toolkit does not replace an older one."
        ),
        how=N_(
            "The CUDA version of the file that was not found, or of the table of releases, is compared with the "
            "toolkit of the system or the nvidia-* packages. From CUDA 11 on the major version must agree, before it "
            "the minor too."
        ),
        wrong=N_(
            "Another toolkit that was not seen may be installed as well. On a machine without a GPU and a driver the "
            "installed toolkit is for compiling: there it is not compared."
        ),
        todo=N_("Install the CUDA and cuDNN of this TensorFlow beside the others."),
    ),
    check=_check,
    needs=(("tensorflow.version", "packages", *(f"signal:{kind}" for kind in _FAILED)),),
    advise=_advise,
    explains=("tf-cuda-libs-not-found", "code-runs-on-cpu"),
    frameworks=("tensorflow",),
    links=("https://www.tensorflow.org/install/source#gpu",),
)
