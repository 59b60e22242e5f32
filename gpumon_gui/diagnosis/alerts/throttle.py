"""Knows: clocks held down by heat or by the power supply. Must not know: the other kinds.

The power cap is no alert: at full load it is normal.
"""

from __future__ import annotations

from collections.abc import Iterator

from gpumon_gui.core.formatters import throttle
from gpumon_gui.core.messages import N_
from gpumon_gui.core.metrics import ClockReason
from gpumon_gui.core.model import Sample
from gpumon_gui.core.values import number
from gpumon_gui.diagnosis.alerts.alert import Figure, Limits, Sign, State
from gpumon_gui.diagnosis.alerts.past import Past

KIND = "throttle"
TITLE = N_("The GPU lowers its clocks")
TEXT = N_("{gpu}: {reason}. It computes slower than it could.")

_BITS = ClockReason.HARDWARE_SLOWDOWN | ClockReason.HEAT | ClockReason.POWER_BRAKE
HOLD_S = 30.0
_HOLDS_SHARE = 0.5
_OVER_SHARE = 0.1


class Throttle:
    """Half of the time and more."""

    def __init__(self) -> None:
        self._past: dict[str, Past] = {}

    def look(self, sample: Sample, limits: Limits) -> Iterator[Sign]:
        """Each device that says what limits its clocks."""
        for info in sample.inventory:
            device = sample.devices.get(info.key)
            mask = None if device is None else number(device.values.get("throttle_reasons"))
            if mask is None:
                continue
            past = self._past.setdefault(str(info.key), Past(HOLD_S))
            bits = int(mask) & _BITS
            past.add(sample.monotonic_s, 1.0 if bits else 0.0)
            share = past.share() or 0.0
            if bits and share >= _HOLDS_SHARE and past.seconds >= HOLD_S * 0.8:
                yield Sign(str(info.key), State.HOLDS, {"gpu": info.name, "reason": Figure(throttle, bits)}, info.key)
            elif share <= _OVER_SHARE:
                yield Sign(str(info.key), State.OVER)
