"""Knows: TensorFlow that cannot open its CUDA libraries. Must not know: which version they would need to be."""

from __future__ import annotations

from gpumon_gui.core.messages import N_
from gpumon_gui.diagnosis import advice, hardware, machine, remedies
from gpumon_gui.diagnosis.compat.cudnn import cudnn_major_of, pip_package
from gpumon_gui.diagnosis.compat.drivers import cuda_of_library
from gpumon_gui.diagnosis.compat.tensorflow import LAST_WINDOWS_GPU, newest_tensorflow, tensorflow_releases
from gpumon_gui.diagnosis.facts import View
from gpumon_gui.diagnosis.finding import Confidence, Severity, Step
from gpumon_gui.diagnosis.rule import CLEAR, Help, Hit, Lacks, Outcome, Rule, Scope, cite, quote
from gpumon_gui.diagnosis.versions import text

_LIBRARY, _DROPPED, _NO_CUDART = "tf-library-not-found", "tf-dlopen-failed", "tf-no-cudart"


def _check(view: View) -> Outcome:
    version = machine.tensorflow_version(view)
    if machine.tensorflow_sees_gpu(view):
        return CLEAR
    if machine.system(view) == "windows" and version is not None and version[:2] > LAST_WINDOWS_GPU:
        return CLEAR
    stopped = view.signal("tf-native-load-failed")
    missing, dropped, cudart = machine.tensorflow_missing(view), view.signal(_DROPPED), view.signal(_NO_CUDART)
    if not missing and dropped is None and cudart is None:
        return _by_elimination(view)
    evidence = quote(*missing[:3], dropped, cudart) + cite(view, "tensorflow.version", "tensorflow.gpu_count")
    names = ", ".join(dict.fromkeys(str(signal.values["library"]) for signal in missing))
    values = {"libraries": names}
    title = None if names else N_("TensorFlow cannot open its CUDA libraries")
    if hardware.surely_no_gpu(view):
        title = N_("Even with a GPU TensorFlow could not use it: it cannot open its CUDA libraries")
    if dropped is not None or (missing and stopped is not None):
        return Hit(Confidence.HIGH, evidence, values, title=title)
    # Without a GPU these lines are printed too, and mean nothing.
    there = bool(machine.nvidia_gpus(view)) or view.flag("driver.nvidia_smi_works") is True
    there = there or view.flag("torch.cuda_available") is True or view.number("tensorflow.gpu_count") == 0
    return Hit(Confidence.MEDIUM if there else Confidence.LOW, evidence, values, title=title)


def _by_elimination(view: View) -> Outcome:
    """A build with CUDA that sees no GPU, though driver and GPU are there: mostly this, but nothing says so."""
    there = bool(machine.nvidia_gpus(view)) and view.flag("driver.nvidia_smi_works") is True
    if not there or view.flag("tensorflow.built_with_cuda") is not True or view.number("tensorflow.gpu_count") != 0:
        return Lacks(("log",))
    evidence = cite(view, "tensorflow.built_with_cuda", "tensorflow.gpu_count", "driver.nvidia_smi_works")
    return Hit(Confidence.LOW, evidence, {"libraries": "?"}, title=N_("TensorFlow cannot open its CUDA libraries"))


def _cudnn_alone(view: View) -> tuple[Step, ...]:
    """Where nothing but cuDNN is missing: the one that fits, and before another TensorFlow what that needs."""
    majors = {cudnn_major_of(str(signal.values["library"])) for signal in machine.tensorflow_missing(view)}
    major = majors.pop() if len(majors) == 1 else None
    fitting = [one for one in tensorflow_releases() if one.cudnn[0] == major and not one.extra]
    package = pip_package(fitting[-1].cuda[0]) if len({one.cuda[0] for one in fitting}) == 1 else None
    newest = newest_tensorflow(machine.python_version(view))
    if major is None or package is None or newest is None:
        return ()
    install = advice.pip_install(view, remedies.quoted(view, f"{package}>={major},<{major + 1}"))
    return (
        advice.say(N_("Only cuDNN is missing. This brings it, and TensorFlow stays as it is:"), install),
        advice.say(N_("Then show the loader its folder:"), _folders(view)),
        advice.say(
            N_("Or take TensorFlow {version}, which brings its libraries along; it needs Python {python} or newer."),
            version=newest.latest,
            python=text(min(newest.python)),
        ),
    )


def _folders(view: View) -> str:
    """The command that shows the loader the libraries that are installed as packages."""
    return (
        "export LD_LIBRARY_PATH=$("
        + advice.python_of(view)
        + " -c \"import glob, sysconfig; print(':'.join(glob.glob(sysconfig.get_path('purelib') + "
        "'/nvidia/*/lib')))\"):$LD_LIBRARY_PATH"
    )


def _advise(view: View, _hit: Hit) -> tuple[Step, ...]:
    build = remedies.tensorflow_of(view)
    if advice.is_windows(view):
        if build is None:
            return (advice.say(N_("Install the CUDA and cuDNN versions that this TensorFlow was built with.")),)
        return (
            advice.say(
                N_("TensorFlow {version} needs CUDA {cuda} and cuDNN {cudnn}. In a conda environment:"),
                advice.conda(
                    view, "install", f"--channel conda-forge cudatoolkit={text(build.cuda)} cudnn={text(build.cudnn)}"
                ),
                version=build.latest,
                cuda=text(build.cuda),
                cudnn=text(build.cudnn),
            ),
            advice.check(advice.run_python(view, remedies.TF_WORKS)),
        )
    packages = machine.known_packages(view) or {}
    if any(name.startswith("nvidia-cudnn") for name in packages):
        # The packages are there, and TensorFlow (2.16.1, or under poetry's layout) does not find their folders.
        return (
            advice.say(
                N_("The libraries are installed as packages but not found. Show the loader their folders:"),
                _folders(view),
            ),
            advice.check(advice.run_python(view, remedies.TF_WORKS)),
        )
    if build is not None and not build.extra:
        return (
            advice.say(
                N_("TensorFlow {version} needs CUDA {cuda} and cuDNN {cudnn}. In a conda environment:"),
                advice.conda(
                    view, "install", f"--channel conda-forge cudatoolkit={text(build.cuda)} cudnn={text(build.cudnn)}"
                ),
                version=build.latest,
                cuda=text(build.cuda),
                cudnn=text(build.cudnn),
            ),
            advice.check(advice.run_python(view, remedies.TF_WORKS)),
        )
    alone = _cudnn_alone(view) if build is None else ()
    wanted = [
        cuda for signal in machine.tensorflow_missing(view) for cuda in cuda_of_library(str(signal.values["library"]))
    ]
    named = (
        (advice.say(N_("The names of the missing files belong to CUDA {cuda}."), cuda=text(wanted[0])),)
        if wanted
        else ()
    )
    return (
        *remedies.without_gpu(view),
        *named,
        *alone,
        *remedies.tensorflow_with_cuda(view),
        advice.say(
            N_("To see which file fails, start with the variable set; newer releases name it only then:"),
            "TF_CPP_MAX_VLOG_LEVEL=3 "
            + advice.run_python(view, "import tensorflow as tf; tf.config.list_physical_devices()"),
        ),
    )


RULE = Rule(
    code="tf-cuda-libs-not-found",
    scope=Scope.ENVIRONMENT,
    step=8,
    severity=Severity.BLOCKS,
    title=N_("TensorFlow cannot open CUDA libraries: {libraries}"),
    help=Help(
        what=N_("Whether TensorFlow opens every CUDA and cuDNN file that it needs."),
        why=N_("TensorFlow opens them by name when it starts. One that is missing drops every GPU, without an error."),
        how=N_(
            '"Cannot dlopen some GPU libraries", "Could not load dynamic library", or "Could not find cuda drivers": '
            "the last one means that the CUDA run-time library is missing, and says nothing about the driver."
        ),
        wrong=N_("On a machine without a GPU the same lines are printed. They mean nothing there."),
        todo=N_("Install the CUDA and cuDNN of this TensorFlow, or show the loader the folders where they are."),
    ),
    check=_check,
    needs=(
        (
            "tensorflow.gpu_count",
            f"signal:{_LIBRARY}",
            f"signal:{_DROPPED}",
            f"signal:{_NO_CUDART}",
            "signal:tf-native-load-failed",
        ),
    ),
    advise=_advise,
    explains=("code-runs-on-cpu",),
    frameworks=("tensorflow",),
    links=("https://www.tensorflow.org/install/pip", "https://www.tensorflow.org/install/source#gpu"),
)
