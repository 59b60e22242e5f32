"""Knows: what a failed source means for one adapter. Must not know: Qt, where it is shown."""

from __future__ import annotations

from collections.abc import Sequence

from gpumon_gui.core.model import DeviceInfo, SourceHealth, SourceState
from gpumon_gui.core.reasons import health_text

#: Faults that last until somebody does something about them. Others pass, or are told elsewhere.
_LASTING = frozenset(
    {
        "gpu-counters-unavailable",
        "counters-no-permission",
        "driver-not-loaded",
        "driver-library-mismatch",
        "library-damaged",
        "no-permission",
    }
)


def advice(info: DeviceInfo, health: Sequence[SourceHealth]) -> str:
    """Why figures of this adapter are missing and what to do, in the user's language; empty when nothing is wrong."""
    return next((health_text(one) for one in health if _concerns(one, info)), "")


def _concerns(health: SourceHealth, info: DeviceInfo) -> bool:
    if health.state is not SourceState.FAILED or health.code not in _LASTING:
        return False
    # Windows' counters know what has a LUID: a card in TCC mode has none and lacks nothing.
    return info.vendor == "nvidia" if health.name == "nvml" else info.luid is not None
