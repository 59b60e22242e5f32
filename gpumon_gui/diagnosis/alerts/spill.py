"""Knows: CUDA's memory that spills into shared memory on Windows. Must not know: the other kinds.

The program then runs about ten times slower, and nothing says so.
"""

from __future__ import annotations

from collections.abc import Iterator

from gpumon_gui.core.formatters import memory
from gpumon_gui.core.messages import N_
from gpumon_gui.core.model import Sample
from gpumon_gui.core.values import number
from gpumon_gui.diagnosis.alerts.alert import Limits, Sign, State
from gpumon_gui.diagnosis.spilling import FULL_SHARE, may_spill

KIND = "spill"
TITLE = N_("GPU memory spills into shared memory")
TEXT = N_("{gpu} is full, and {shared} went into the computer's memory since: much slower. Use a smaller batch.")

_NO_LONGER_FULL = 0.85
#: Windows itself keeps tens of MB there; a model takes hundreds.
GROWTH = 256 << 20


class Spill:
    """Shared memory that grows while the dedicated memory is full."""

    def __init__(self) -> None:
        self._shared_when_full: dict[str, float] = {}
        self._shared_before: dict[str, float] = {}

    def look(self, sample: Sample, limits: Limits) -> Iterator[Sign]:
        """Each card whose memory may spill."""
        for info in sample.inventory:
            device = sample.devices.get(info.key)
            if device is None or not may_spill(info):
                continue
            used, shared = (number(device.values.get(name)) for name in ("memory_used_bytes", "shared_used_bytes"))
            total = number(info.static.get("memory_total_bytes"))
            if used is None or shared is None or not total:
                continue
            subject = str(info.key)
            if used >= FULL_SHARE * total:
                base = self._shared_when_full.setdefault(subject, self._shared_before.get(subject, shared))
                if shared - base >= GROWTH:
                    values = {"gpu": info.name, "shared": memory(shared - base)}
                    yield Sign(subject, State.HOLDS, values, info.key)
            elif used <= _NO_LONGER_FULL * total:
                self._shared_when_full.pop(subject, None)
                yield Sign(subject, State.OVER)
            self._shared_before[subject] = shared
