"""Knows: what the facts say about GPUs of any vendor, containers and the driver. Must not know: rules.

Every answer is None (or empty) when the facts do not say. A name that is no certain product of one maker has no vendor.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, Final

from gpumon_gui.diagnosis import machine
from gpumon_gui.diagnosis.compat.gpus import product
from gpumon_gui.diagnosis.facts import View
from gpumon_gui.diagnosis.versions import Version

_VENDORS: Final = (
    ("amd", re.compile(r"\bamd\b|\bati\b|radeon|instinct|\bgfx\d|firepro|\bvega\b", re.IGNORECASE)),
    ("intel", re.compile(r"\bintel\b|\biris\b|\buhd graphics|\barc\b", re.IGNORECASE)),
    ("nvidia", re.compile(r"nvidia|geforce|quadro|tesla|\brtx ?\w?\d|\bgtx ?\d", re.IGNORECASE)),
)

#: What a program prints that looks for CUDA: of the rules on other makers' cards.
LOOKS_FOR_CUDA: Final = (
    "torch-not-compiled-with-cuda",
    "torch-driver-too-old",
    "torch-no-driver",
    "torch-no-gpus",
    "app-cannot-use-gpu",
    "cuda-error-35",
    "cuda-error-100",
    "cuda-no-device",
)


def gpus(view: View) -> tuple[Mapping[str, Any], ...]:
    """All GPUs of the facts."""
    return tuple(gpu for gpu in view.items("gpus") if isinstance(gpu, Mapping))


def vendor(gpu: Mapping[str, Any]) -> str | None:
    """``nvidia``, ``amd``, ``intel`` by the vendor, else by the name."""
    stated = gpu.get("vendor")
    if isinstance(stated, str) and stated:
        return stated.lower()
    name = gpu.get("name")
    if not isinstance(name, str):
        return None
    named = next((maker for maker, words in _VENDORS if words.search(name)), None)
    return named or ("nvidia" if product(name) is not None else None)


def vendors(view: View) -> frozenset[str | None]:
    """The vendors of the known GPUs; None among them for one that is not certain."""
    return frozenset(vendor(gpu) for gpu in gpus(view))


def has_nvidia(view: View) -> bool | None:
    """Whether there is an NVIDIA GPU; None when GPUs are unknown or one's maker is."""
    makers = vendors(view)
    if "nvidia" in makers:
        return True
    return False if makers and None not in makers else None


def no_driver(view: View) -> bool:
    """Whether NVIDIA's driver is known to be absent: its tool, its module and its library all are. Not in WSL, whose
    driver lies in Windows."""
    there = any(view.text(path) for path in ("driver.version", "driver.cuda_version", "driver.cuda_library_path"))
    if there or machine.is_wsl(view) or view.flag("driver.nvidia_smi_works") is True:
        return False
    if view.flag("driver.nvidia_smi_found") is not False or view.flag("driver.kernel_module_loaded") is True:
        return False
    return view.flag("driver.kernel_module_loaded") is False or view.text("driver.cuda_library_error") is not None


def no_gpu(view: View) -> bool:
    """Whether the system was asked for GPUs and lists none, of any maker."""
    return view.get("gpus") in ([], ())


def surely_no_gpu(view: View) -> bool:
    """Whether that is certain: a driver is a trace of a card that may be switched off or lost, and a container, WSL
    or macOS does not list all of the machine."""
    traces = view.known("driver.version") or view.flag("driver.kernel_module_loaded") is True
    traces = traces or view.flag("driver.nvidia_smi_works") is True
    elsewhere = in_container(view) is True or machine.is_wsl(view) or view.text("os.family") == "macos"
    return no_gpu(view) and not traces and not elsewhere


def name_of(view: View, maker: str) -> str:
    """The name of the first GPU of a maker, or its maker."""
    found = next((gpu.get("name") for gpu in gpus(view) if vendor(gpu) == maker), None)
    return found if isinstance(found, str) else maker.upper() if maker == "amd" else maker.capitalize()


def in_container(view: View) -> bool | None:
    """Whether the program runs in a container; None when unknown."""
    value = view.get("os.container")
    if isinstance(value, str):
        return value.lower() not in ("", "none", "no", "false")
    return value if isinstance(value, bool) else None


def builds(view: View) -> tuple[tuple[str, str, Version], ...]:
    """Framework, path of the fact and CUDA version of each build of this environment."""
    found = []
    torch = machine.torch_cuda(view)
    if torch is not None:
        found.append(("PyTorch", "torch.cuda_build" if view.text("torch.cuda_build") else "torch.version", torch))
    tensorflow = view.version("tensorflow.cuda_build")
    if tensorflow is not None:
        found.append(("TensorFlow", "tensorflow.cuda_build", tensorflow))
    return tuple(found)
