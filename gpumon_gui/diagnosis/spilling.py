"""Knows: whose memory may spill into the computer's, and from when on. Must not know: who asks, how it is said.

NVIDIA's driver for Windows (since 532) gives the computer's memory in place of an out-of-memory error.
"""

from __future__ import annotations

from typing import Final

from gpumon_gui.core.model import DeviceInfo, DeviceKind

#: Dedicated memory this full counts as full: the driver moves memory out before the last byte is taken. Shared memory
#: beside a card that is not full is a program's own (staging and pinned buffers).
FULL_SHARE: Final = 0.93


def may_spill(info: DeviceInfo) -> bool:
    """Whether shared memory of a device can be what had no room: a processor's own graphics have it by design."""
    return info.vendor == "nvidia" and info.kind is not DeviceKind.INTEGRATED
