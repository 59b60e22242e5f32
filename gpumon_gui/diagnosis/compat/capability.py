"""Knows: on which GPUs compiled CUDA code runs. Must not know: which build holds which code, product names."""

from __future__ import annotations

import re
from collections.abc import Iterable
from enum import Enum
from typing import Final, TypeAlias

from gpumon_gui.diagnosis.versions import Version, at_least

#: Compute capability as (major, minor).
Capability: TypeAlias = tuple[int, int]

#: Parts of Jetson and DRIVE boards: code for their neighbours does not run on them.
_SEPARATE: Final = frozenset({(5, 3), (6, 2), (7, 2), (8, 7), (10, 1)})
#: From this CUDA version on, 8.0 and 8.6 code runs on 8.7 too (DEVICE_REQUIREMENT in torch/cuda/__init__.py, 2.15).
_ORIN_JOINS: Final = (13, 2)
_CODE = re.compile(r"(sm|compute)_(\d+)(\d)([af]?)", re.IGNORECASE)


class Code(Enum):
    """What a build holds for a GPU."""

    BINARY = "binary"
    PTX = "ptx"  #: compiled at run time by the driver
    NONE = "none"


def parse_capability(text: str) -> Capability | None:
    """``8.6``, ``sm_86``, ``compute_90a`` or ``12.0`` → (8, 6) …; None for anything else (``gfx90a``)."""
    match = _CODE.fullmatch(text.strip())
    if match is not None:
        return int(match.group(2)), int(match.group(3))
    plain = re.fullmatch(r"\s*(\d{1,2})\.(\d)\s*", text)
    return (int(plain.group(1)), int(plain.group(2))) if plain else None


def code_for(arch_list: Iterable[str], capability: Capability, cuda: Version | None = None) -> Code:
    """What a build with this list (``torch.cuda.get_arch_list()``; or plain "8.6" for binary code) holds for a GPU.

    Binary code for X.y runs on X.z with z ≥ y; ``a`` code only on its own; PTX on the same or a newer capability.
    ``cuda`` is the build's CUDA version, which decides about 8.7. Source: NVIDIA's CUDA programming guide and torch's
    DEVICE_REQUIREMENT.
    """
    best = Code.NONE
    for entry in arch_list:
        match = _CODE.fullmatch(entry.strip())
        built = parse_capability(entry)
        if built is None:
            continue
        kind, suffix = (match.group(1).lower(), match.group(4).lower()) if match else ("sm", "")
        if kind == "sm" and _binary_runs(built, suffix, capability, cuda):
            return Code.BINARY
        if kind == "compute" and (capability == built if suffix else capability >= built):
            best = Code.PTX
    return best


def torch_supports(arch_list: Iterable[str], capability: Capability, cuda: Version | None = None) -> bool:
    """Whether a build has any code for this GPU, its own or PTX."""
    return code_for(arch_list, capability, cuda) is not Code.NONE


def capability_text(capability: Capability) -> str:
    """``8.6``."""
    return f"{capability[0]}.{capability[1]}"


def _binary_runs(built: Capability, suffix: str, capability: Capability, cuda: Version | None) -> bool:
    if built == capability:
        return True
    if suffix == "a" or built[0] != capability[0] or built[1] > capability[1]:
        return False
    if capability == (8, 7) and cuda is not None and at_least(cuda, _ORIN_JOINS):
        return True
    return capability not in _SEPARATE and built not in _SEPARATE
