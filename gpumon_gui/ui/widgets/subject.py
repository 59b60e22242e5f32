"""Knows: what the parts of the Performance page show: one device at one moment. Must not know: widgets."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from gpumon_gui.core.model import DeviceSample
from gpumon_gui.core.values import Missing, Reason, Value
from gpumon_gui.history.ring import Ring
from gpumon_gui.telemetry.derive.adapters import Adapter
from gpumon_gui.ui.charts.decimate import Array, window_mean

#: Reasons for which a figure is folded away: it will not come.
NEVER = frozenset({Reason.NOT_SUPPORTED, Reason.NOT_OFFERED_IN_VM, Reason.DRIVER_MODEL})


@dataclass(frozen=True, slots=True)
class Subject:
    """One device as the page shows it.

    ``device`` is the newest sample or, for a device that was lost, the last good one; ``dimmed`` says that it is not
    of now. ``now_s`` and ``now_utc_s`` are the two clocks at the right edge of the charts.
    """

    adapter: Adapter
    title: str
    device: DeviceSample
    ring: Ring | None
    now_s: float
    now_utc_s: float
    span_s: float
    dimmed: bool = False
    holds_memory: bool = False

    def value(self, metric: str) -> Value | None:
        """The changing value, else the fixed one; None when no source ever gave it."""
        found = self.device.values.get(metric)
        return self.adapter.info.static.get(metric) if found is None else found

    def offered(self, metric: str) -> bool:
        """Whether the figure exists on this device, now or later."""
        value = self.value(metric)
        return value is not None and not (isinstance(value, Missing) and value.reason in NEVER)

    def series(self, column: str) -> tuple[Array, Array]:
        """Times and values to draw: the span and one sample before it."""
        if self.ring is None:
            return np.empty(0), np.empty(0)
        rows = self.ring.since(self.now_s - self.span_s) + 1
        return self.ring.times(rows), self.ring.column(column, rows)

    def mean(self, column: str, seconds: float) -> float | None:
        """Mean of the newest seconds; None with fewer than three values."""
        if self.ring is None:
            return None
        rows = self.ring.since(self.now_s - seconds)
        return window_mean(self.ring.times(rows), self.ring.column(column, rows), seconds)

    def spread(self, column: str, seconds: float) -> float | None:
        """Largest minus smallest value of the newest seconds; None with fewer than three values."""
        if self.ring is None:
            return None
        values = self.ring.column(column, self.ring.since(self.now_s - seconds))
        finite = values[np.isfinite(values)]
        return float(finite.max() - finite.min()) if len(finite) >= 3 else None
