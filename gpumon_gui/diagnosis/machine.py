"""Knows: what the facts say about system, Python, driver and GPUs in the terms of the compatibility tables.
Must not know: rules, what a fact means.

Every answer is None (or empty) when the facts do not say.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from gpumon_gui.diagnosis.compat.capability import Capability, parse_capability
from gpumon_gui.diagnosis.compat.drivers import cuda_of_driver
from gpumon_gui.diagnosis.compat.gpus import product
from gpumon_gui.diagnosis.compat.torch import System, bundled_cudnn
from gpumon_gui.diagnosis.facts import UNKNOWN, Signal, View
from gpumon_gui.diagnosis.versions import Version, parse_version

_CUDA_TAG = re.compile(r"\+cu(\d{2,4})\b")
_CPU_TAG = re.compile(r"(?:\+|\b)cpu\b", re.IGNORECASE)


def system(view: View) -> System | None:
    """``linux`` (WSL included), ``windows`` or ``macos``."""
    family = view.text("os.family") or _family(view.text("os.name") or "")
    return family if family in ("linux", "windows", "macos") else None  # type: ignore[return-value]


_FAMILIES = (
    ("windows", re.compile(r"^\s*(?:microsoft )?windows\b(?!.*\b(?:wsl|linux)\b)", re.IGNORECASE)),
    ("macos", re.compile(r"^\s*mac ?os\b|darwin", re.IGNORECASE)),
    ("linux", re.compile(r"linux|ubuntu|debian|fedora|centos|rhel|arch|suse|rocky|mint", re.IGNORECASE)),
)


def _family(name: str) -> str:
    """By the name of the system, where its family is not given: "Windows 11"."""
    return next((family for family, pattern in _FAMILIES if pattern.search(name)), "")


def is_wsl(view: View) -> bool:
    """Linux inside Windows."""
    return view.flag("os.wsl") is True


def is_aarch64(view: View) -> bool:
    """A 64-bit Arm machine, as far as the kernel's name says."""
    kernel = (view.text("os.kernel") or "").lower()
    return "aarch64" in kernel or "arm64" in kernel


def python_version(view: View) -> Version | None:
    """The Python of this environment, at least (major, minor)."""
    found = view.version("interpreter.version")
    return found if found is not None and len(found) > 1 else None


def is_store_python(view: View) -> bool:
    """The Python of the Microsoft Store."""
    return any("store" in (view.text(path) or "").lower() for path in ("interpreter.kind", "interpreter.version"))


def driver_cuda(view: View) -> Version | None:
    """The CUDA level of the driver: what nvidia-smi prints, else by the driver's branch."""
    printed = view.version("driver.cuda_version")
    if printed is not None and len(printed) > 1:
        return printed
    driver = view.version("driver.version")
    return cuda_of_driver(driver) if driver is not None else None


def nvidia_gpus(view: View) -> tuple[Mapping[str, Any], ...]:
    """The NVIDIA GPUs among the facts, by vendor or, where that is not given, by name."""
    return tuple(gpu for gpu in _gpus(view) if _vendor(gpu) == "nvidia")


def only_other_vendors(view: View) -> bool:
    """Whether GPUs are known and none is, or may be, an NVIDIA one."""
    gpus = _gpus(view)
    return bool(gpus) and all(_vendor(gpu) in ("amd", "intel") for gpu in gpus)


def capability_of(gpu: Mapping[str, Any]) -> Capability | None:
    """The compute capability the driver reports, else the one of the product name where that is certain."""
    text = gpu.get("compute_capability")
    found = parse_capability(text) if isinstance(text, str) else None
    if found is not None:
        return found
    name = gpu.get("name")
    known = product(name) if isinstance(name, str) else None
    return known.capability if known is not None and known.certain else None


def capabilities(view: View) -> tuple[tuple[str, Capability], ...]:
    """Name and compute capability of each NVIDIA GPU where known."""
    return tuple(
        (str(gpu.get("name") or "GPU"), found) for gpu in nvidia_gpus(view) if (found := capability_of(gpu)) is not None
    )


def first_capability(view: View) -> Capability | None:
    """The compute capability of the first NVIDIA GPU: the one frameworks use by themselves."""
    known = capabilities(view)
    return known[0][1] if known else None


def _gpus(view: View) -> tuple[Mapping[str, Any], ...]:
    return tuple(gpu for gpu in view.items("gpus") if isinstance(gpu, Mapping))


def _vendor(gpu: Mapping[str, Any]) -> str:
    vendor = gpu.get("vendor")
    if isinstance(vendor, str):
        return vendor.lower()
    name = gpu.get("name")
    if not isinstance(name, str):
        return "nvidia" if capability_of(gpu) is not None else ""  # only NVIDIA counts in compute capabilities
    return "nvidia" if "nvidia" in name.lower() or product(name) is not None else ""


def known_packages(view: View) -> Mapping[str, Any] | None:
    """All packages of the environment by lower-case name; None when unknown."""
    packages = view.get("packages")
    if packages is UNKNOWN or not isinstance(packages, Mapping):
        return None
    return {str(name).lower().replace("_", "-"): version for name, version in packages.items()}


def torch_cuda(view: View) -> Version | None:
    """The CUDA version of the installed torch build: ``torch.cuda_build``, else the ``+cuNNN`` of its version."""
    stated = view.version("torch.cuda_build")
    if stated is not None:
        return stated
    match = _CUDA_TAG.search(torch_version_text(view))
    return (int(match.group(1)[:-1]), int(match.group(1)[-1])) if match and view.get("torch.cuda_build") else None


def torch_version_text(view: View) -> str:
    """The version of torch as it is written, by the module or by its package; empty when unknown."""
    packages = known_packages(view) or {}
    return view.text("torch.version") or next(
        (str(packages[name]) for name in ("torch", "pytorch") if name in packages), ""
    )


def torch_says_cpu(view: View) -> bool:
    """Whether the version itself names a CPU build ("2.1.0+cpu"). The reverse does not hold: conda's have no tag."""
    return _CPU_TAG.search(view.text("torch.version") or "") is not None


def torch_without_cuda(view: View) -> bool:
    """Whether the installed torch is known to have neither CUDA nor ROCm in it."""
    if view.known("torch.cuda_build"):
        return view.get("torch.cuda_build") is None and view.text("torch.hip_build") is None
    return torch_says_cpu(view)


def toolkit_cuda(view: View) -> Version | None:
    """The CUDA toolkit of the system: what nvcc says, else what was found installed."""
    return view.version("toolkit.nvcc_version") or view.version("toolkit.cuda_version")


def toolkits(view: View) -> tuple[Version, ...]:
    """The CUDA versions of all toolkits that were found installed, on a search path or not."""
    texts = (entry.get("version") for entry in view.items("toolkit.toolkits") if isinstance(entry, Mapping))
    return tuple(found for text in texts if isinstance(text, str) and (found := parse_version(text)) is not None)


def package_version(view: View, *names: str) -> Version | None:
    """The version of the first of these packages that is installed with a known version."""
    packages = known_packages(view) or {}
    for name in names:
        value = packages.get(name)
        found = parse_version(value) if isinstance(value, str) else None
        if found is not None:
            return found
    return None


def tensorflow_version(view: View) -> Version | None:
    """The installed TensorFlow, by the module or by its package."""
    return view.version("tensorflow.version") or package_version(
        view, "tensorflow", "tensorflow-intel", "tensorflow-cpu", "tensorflow-gpu"
    )


def tensorflow_sees_gpu(view: View) -> bool:
    """Whether TensorFlow itself lists a GPU."""
    count = view.number("tensorflow.gpu_count")
    return count is not None and count > 0


def cudnn_majors(view: View) -> dict[int, str]:
    """The cuDNN majors that are known to be here → the fact that says so. The bundled one of torch included."""
    found: dict[int, str] = {}
    version = view.version("toolkit.cudnn_version")
    if version:
        found[version[0]] = "toolkit.cudnn_version"
    for copy in view.items("toolkit.cudnn_copies"):
        text = copy.get("version") if isinstance(copy, Mapping) else None
        parsed = parse_version(text) if isinstance(text, str) else None
        if parsed:
            found.setdefault(parsed[0], "toolkit.cudnn_copies")
    for name in ("nvidia-cudnn-cu11", "nvidia-cudnn-cu12", "nvidia-cudnn-cu13"):
        package = package_version(view, name)
        if package:
            found.setdefault(package[0], "packages")
    torch = parse_version(torch_version_text(view))
    bundled = bundled_cudnn(torch, torch_cuda(view)) if torch and not torch_without_cuda(view) else None
    if bundled:
        found.setdefault(bundled[0], "torch.version" if view.text("torch.version") else "packages")
    return found


#: Files whose absence costs no GPU: TensorRT and NCCL; and the driver's own library, which is the driver's matter.
_NO_LOSS = ("nvinfer", "nvonnx", "libnccl", "libcuda.so", "nvcuda.dll")


def tensorflow_missing(view: View) -> tuple[Signal, ...]:
    """The CUDA and cuDNN files that TensorFlow said it could not open."""
    kinds = ["tf-library-not-found"]
    if view.signal("tf-native-load-failed") is not None:
        kinds.append("library-missing")  # releases up to 1.15 and 2.0 stop at import
    return tuple(
        signal
        for signal in view.signals(*kinds)
        if not any(name in str(signal.values.get("library", "")).lower() for name in _NO_LOSS)
    )
