"""Knows: TensorFlow releases without CUDA on native Windows. Must not know: other CPU builds."""

from __future__ import annotations

from gpumon_gui.core.messages import N_
from gpumon_gui.diagnosis import advice, machine, remedies
from gpumon_gui.diagnosis.compat.tensorflow import LAST_WINDOWS_GPU, newest_tensorflow, tensorflow_wants
from gpumon_gui.diagnosis.facts import View
from gpumon_gui.diagnosis.finding import Confidence, Severity, Step
from gpumon_gui.diagnosis.rule import CLEAR, Help, Hit, Lacks, Outcome, Rule, Scope, cite
from gpumon_gui.diagnosis.versions import text


def _check(view: View) -> Outcome:
    system = machine.system(view)
    if system is None:
        return Lacks(("os.family",))
    version = machine.tensorflow_version(view)
    if system != "windows" or machine.is_wsl(view):
        return CLEAR
    if version is None or len(version) < 2:
        return Lacks(("tensorflow.version",))
    if version[:2] <= LAST_WINDOWS_GPU or machine.tensorflow_sees_gpu(view):
        return CLEAR
    if view.flag("tensorflow.built_with_cuda") is True:
        return CLEAR  # a build of one's own
    evidence = cite(view, "os.family", "tensorflow.version", "tensorflow.built_with_cuda", "tensorflow.gpu_count")
    return Hit(Confidence.HIGH, evidence or cite(view, "packages"), {"version": text(version)})


def _advise(view: View, _hit: Hit) -> tuple[Step, ...]:
    python = machine.python_version(view)
    last = tensorflow_wants(LAST_WINDOWS_GPU)
    newest = newest_tensorflow(None)
    if last is None or newest is None:
        return ()
    fits = python is None or last.has_python(python, windows=True)
    pythons = last.python_windows
    steps = [
        advice.say(
            N_(
                "The way on: WSL2 with the Windows driver you have. In PowerShell as administrator, then in the Linux "
                "that it installs, use the second command:"
            ),
            "wsl --install",
        ),
        advice.say(
            N_("In WSL2:"),
            f"python3 -m pip install 'tensorflow[and-cuda]=={newest.latest}'",
        ),
        advice.say(
            N_(
                "Or stay on Windows with TensorFlow {version}, the last one with CUDA there. It needs Python {first} "
                "to {last}, CUDA {cuda} and cuDNN {cudnn}, which conda brings:"
            ),
            "conda create --name tf-gpu --channel conda-forge "
            f"python={text(python[:2]) if fits and python else text(pythons[-1])} cudatoolkit={text(last.cuda)} "
            f"cudnn={text(last.cudnn)}",
            version=last.latest,
            first=text(pythons[0]),
            last=text(pythons[-1]),
            cuda=text(last.cuda),
            cudnn=text(last.cudnn),
        ),
        advice.say(
            N_("In that environment:"),
            f'python -m pip install "tensorflow=={last.latest}" "numpy<2"',
        ),
        advice.say(
            remedies.MIRROR,
            f'python -m pip install "tensorflow=={last.latest}" "numpy<2" --index-url {remedies.PYPI_MIRROR}',
            site="pypi.org",
        ),
        advice.check(f'python -c "{remedies.TF_WORKS}"'),
    ]
    return tuple(steps)


RULE = Rule(
    code="tf-native-windows-unsupported",
    scope=Scope.ENVIRONMENT,
    step=3,
    severity=Severity.BLOCKS,
    title=N_("TensorFlow {version} has no GPU support on native Windows"),
    help=Help(
        what=N_("Whether this is TensorFlow 2.11 or newer on Windows itself, outside WSL."),
        why=N_(
            "TensorFlow 2.10 was the last release with CUDA in its Windows wheel. With newer ones the installed CUDA, "
            "cuDNN and driver do not matter: they are never looked for."
        ),
        how=N_("The operating system is Windows and the version is 2.11 or newer, and TensorFlow lists no GPU."),
        wrong=N_("A build of your own with CUDA, or the DirectML plugin, can use the GPU; then TensorFlow lists it."),
        todo=N_("Use WSL2, or TensorFlow 2.10 with an older Python. Other frameworks keep their GPU support."),
    ),
    check=_check,
    needs=(("tensorflow.version", "packages"),),
    advise=_advise,
    explains=(
        "tf-cpu-only-build",
        "tf-cuda-libs-not-found",
        "tf-cuda-version-mismatch",
        "tf-cuda-extra-not-installed",
        "windows-dll-search-path",
        "code-runs-on-cpu",
    ),
    frameworks=("tensorflow",),
    links=("https://www.tensorflow.org/install/pip#windows-native",),
)
