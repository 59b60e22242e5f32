"""Knows: how the GPUs that several probes saw become one list. Must not know: the probes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any


def joined(by_driver: Sequence[Mapping[str, Any]], by_system: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """The driver's list first, in its order (the one CUDA counts by), each with what the system knows of it; then the
    cards that only the system sees. Those of NVIDIA among them get ``listed_by_driver: false``."""
    left = list(by_system)
    result = []
    for gpu in by_driver:
        partner = next((other for other in left if gpu.get("bus") and other.get("bus") == gpu.get("bus")), None)
        if partner is None:  # no address on one side: the next of the same vendor
            partner = next(
                (
                    other
                    for other in left
                    if other.get("vendor") == gpu.get("vendor") and not (other.get("bus") and gpu.get("bus"))
                ),
                None,
            )
        if partner is not None:
            left.remove(partner)
        result.append({**(partner or {}), **gpu})
    for other in left:
        unlisted = {"listed_by_driver": False} if by_driver and other.get("vendor") == "nvidia" else {}
        result.append({**other, **unlisted})
    return result


def count(gpus: Sequence[Mapping[str, Any]]) -> int:
    """What ``gpu_count`` says: NVIDIA's cards the driver lists where there are any, since CUDA_VISIBLE_DEVICES counts
    those; else all."""
    listed = [gpu for gpu in gpus if gpu.get("vendor") == "nvidia" and gpu.get("listed_by_driver") is not False]
    return len(listed) or len(gpus)


def is_hybrid(gpus: Sequence[Mapping[str, Any]]) -> bool:
    """Whether a discrete NVIDIA card stands beside another vendor's GPU that may drive the screen."""
    vendors = {gpu.get("vendor") for gpu in gpus}
    return "nvidia" in vendors and len(vendors & {"intel", "amd"}) > 0
