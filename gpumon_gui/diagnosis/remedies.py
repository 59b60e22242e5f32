"""Knows: the installs that several rules advise, with the versions and addresses for this machine. Must not know:
which rule advises them.
"""

from __future__ import annotations

from gpumon_gui.core.messages import N_
from gpumon_gui.diagnosis import advice, hardware, machine
from gpumon_gui.diagnosis.compat.capability import Capability
from gpumon_gui.diagnosis.compat.drivers import minimum_driver
from gpumon_gui.diagnosis.compat.tensorflow import TfBuild, newest_tensorflow, tensorflow_wants
from gpumon_gui.diagnosis.compat.torch import (
    TorchChoice,
    best_torch_index,
    cuda_of_variant,
    torch_release,
)
from gpumon_gui.diagnosis.facts import View
from gpumon_gui.diagnosis.finding import Step
from gpumon_gui.diagnosis.versions import Version, at_least, text

#: Mirrors in China that others use with pip's own options; same files as the originals.
PYTORCH_MIRROR = "https://mirrors.nju.edu.cn/pytorch/whl"
PYPI_MIRROR = "https://pypi.tuna.tsinghua.edu.cn/simple"

MIRROR = N_(
    "Only if downloads from {site} are slow or fail where you are, for example in mainland China: a mirror has the "
    "same files. Then use this instead:"
)
UPDATE_DRIVER = N_("First update the NVIDIA driver to {driver} or newer: this GPU or build needs it.")
OTHER_PYTHON = N_(
    "There is no CUDA build of PyTorch for Python {python} here. Make an environment with Python {wanted}, and run the "
    "following in it:"
)
NOTHING_FITS = N_(
    "No CUDA build of PyTorch fits what is known of this machine. Look up the choices at "
    "https://pytorch.org/get-started/previous-versions/"
)
NO_GPU = N_("No GPU was found in this machine. What follows only helps on a machine that has one.")
CONDA_REMOVE = N_("If conda installed PyTorch, remove that copy first:")
TORCH_WORKS = "import torch; print(torch.__version__, torch.version.cuda, torch.cuda.is_available())"
#: Runs a kernel: is_available() stays True when the build has no code for the GPU.
TORCH_COMPUTES = "import torch; print(torch.ones(4, device='cuda').sum().item())"
_COMPANIONS = ("torchvision", "torchaudio")
#: The first release whose wheels have an index of their own; older ones are found by links, with +cu in the version.
_INDEX_FROM: Version = (1, 11)
_BROKEN_EXTRA: Version = (2, 15, 0)
TF_WORKS = "import tensorflow as tf; print(tf.__version__, tf.config.list_physical_devices('GPU'))"


def cuda_torch(
    view: View, *, keep_release: bool = True, capability: Capability | None = None, force: bool = False
) -> tuple[Step, ...]:
    """Replace the installed torch by the CUDA build that fits driver, GPU and Python.

    ``keep_release``: stay with the installed minor release where one of its builds fits. ``capability``: of the GPU,
    where a message names it. ``force``: also when torch has a CUDA build (another one is wanted).
    """
    system = machine.system(view) or "linux"
    python = machine.python_version(view)
    gpu = capability or machine.first_capability(view)
    level = machine.driver_cuda(view)
    aarch64 = machine.is_aarch64(view)
    installed = view.version("torch.version")
    steps: list[Step] = []
    release = installed if keep_release and installed and len(installed) > 1 else None
    choice = None
    if release is not None:
        choice = best_torch_index(level, gpu, system, python, release=release, aarch64=aarch64)
    pinned = choice is not None
    choice = choice or best_torch_index(level, gpu, system, python, aarch64=aarch64)
    if choice is None:
        choice = best_torch_index((99, 0), gpu, system, python, aarch64=aarch64)
        if choice is not None:
            steps.append(_driver_step(view, cuda_of_variant(choice.variant)))
    if choice is None and python is not None:
        choice = best_torch_index(level, gpu, system, None, aarch64=aarch64)
        if choice is not None:
            wanted = torch_release(_version(choice.release))
            known = wanted.python[system] if wanted is not None else ()
            steps.append(
                Step(OTHER_PYTHON, {"python": text(python[:2]), "wanted": text(usual_python(known or ((3, 12),)))})
            )
    if choice is None:
        return (Step(NOTHING_FITS),)
    packages = _torch_packages(view, pin=text(installed) if pinned and installed else "")
    if view.text("interpreter.kind") == "conda":
        steps.append(Step(CONDA_REMOVE, command=advice.conda(view, "remove", "--yes pytorch")))
    has_index = at_least(_version(choice.release), _INDEX_FROM)
    again = _torch_packages(view).split() if has_index else ["torch"]  # what is installed again below
    steps.append(advice.remove(view, *again))
    if has_index:
        steps.append(advice.step(advice.pip_install(view, packages, index=choice.index)))
        steps.append(pytorch_mirror(view, packages, choice))
    else:
        options = f"--find-links {advice.PYTORCH_INDEX}/torch_stable.html"
        exact = f"torch=={choice.release}+{choice.variant}"
        steps.append(advice.step(advice.pip_install(view, exact, options=options)))
    steps.append(advice.check(advice.run_python(view, TORCH_COMPUTES if force else TORCH_WORKS)))
    return tuple(steps)


def pytorch_mirror(view: View, packages: str, choice: TorchChoice) -> Step:
    """The same install from a mirror."""
    command = advice.pip_install(view, packages, index=f"{PYTORCH_MIRROR}/{choice.variant}")
    return Step(MIRROR, {"site": "download.pytorch.org"}, command)


def pypi(view: View, packages: str, *, options: str = "") -> tuple[Step, Step]:
    """An install from PyPI, and the same from a mirror."""
    return (
        advice.step(advice.pip_install(view, packages, options=options)),
        Step(MIRROR, {"site": "pypi.org"}, advice.pip_install(view, packages, index=PYPI_MIRROR, options=options)),
    )


def tensorflow_of(view: View) -> TfBuild | None:
    """What the tables say about the installed TensorFlow."""
    version = view.version("tensorflow.version")
    return tensorflow_wants(version) if version is not None else None


def tensorflow_with_cuda(view: View) -> tuple[Step, ...]:
    """TensorFlow for Linux together with its CUDA and cuDNN packages: the installed version where it has that extra,
    else the newest one for this Python."""
    build = tensorflow_of(view)
    version = view.version("tensorflow.version")
    if build is not None and build.extra and version is not None:
        # 2.15.0 asks for packages that do not exist; its next patch does not.
        wanted = build.latest if version[:3] == _BROKEN_EXTRA else text(version)
    else:
        build = newest_tensorflow(machine.python_version(view))
        wanted = build.latest if build is not None else ""
    package = f"tensorflow[and-cuda]=={wanted}" if wanted else "tensorflow[and-cuda]"
    return (*pypi(view, quoted(view, package)), advice.check(advice.run_python(view, TF_WORKS)))


def without_gpu(view: View) -> tuple[Step, ...]:
    """What must be known before gigabytes are installed in vain; nothing where a GPU may be."""
    return (Step(NO_GPU),) if hardware.surely_no_gpu(view) else ()


def usual_python(pythons: tuple[Version, ...]) -> Version:
    """The one to advise: the last but one, since the newest often lacks wheels of other packages."""
    return pythons[-2:][0]


def quoted(view: View, requirement: str) -> str:
    """A requirement with brackets or comparison signs, safe in this system's shell."""
    return f'"{requirement}"' if advice.is_windows(view) else f"'{requirement}'"


def _driver_step(view: View, build: Version) -> Step:
    driver = minimum_driver(build, windows=advice.is_windows(view) or machine.is_wsl(view))
    return Step(UPDATE_DRIVER, {"driver": text(driver) if driver else "?"})


def _torch_packages(view: View, pin: str = "") -> str:
    """torch and those of its companions that are there: they must be of the same build."""
    packages = machine.known_packages(view)
    companions = [name for name in _COMPANIONS if packages is not None and name in packages]
    if packages is None:
        companions = ["torchvision"]
    return " ".join((f"torch=={pin}" if pin else "torch", *companions))


def _version(release: str) -> Version:
    return tuple(int(part) for part in release.split("."))
