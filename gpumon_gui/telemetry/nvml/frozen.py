"""Knows: when a power reading that never changes cannot be true. Must not know: NVML.

Drivers 581 to 595 give the same power for ever after the computer slept (LibreHardwareMonitor issue 2224). A reading
that stays the same to the milliwatt is not wrong by itself: it is once the clock or the temperature moved so far in
the meantime that the power must have changed too.
"""

from __future__ import annotations

from dataclasses import dataclass

FROZEN_S = 20.0  #: the same reading for so long, in at least
READINGS = 8
CLOCK_FACTOR = 2.0  #: from idle to boost the clock grows five times and more
HEATED_C = 8.0  #: no card warms so far at the power it idles with


@dataclass(slots=True)
class _Span:
    low: float
    high: float

    def take(self, value: float | None) -> None:
        if value is not None:
            self.low, self.high = min(self.low, value), max(self.high, value)


class FrozenPower:
    """Watches one card."""

    def __init__(self) -> None:
        self._begin(None, 0.0)

    def _begin(self, power_w: float | None, now_s: float) -> None:
        self._power = power_w
        self._since_s = now_s
        self._readings = 0
        self._clock = _Span(float("inf"), 0.0)
        self._heat = _Span(float("inf"), float("-inf"))

    def saw(self, now_s: float, power_w: float | None, clock_mhz: float | None, temperature_c: float | None) -> bool:
        """Take one sweep's readings; whether the power is frozen. 0 is how some cards say that they cannot measure."""
        if power_w is None or power_w == 0 or power_w != self._power:
            self._begin(power_w, now_s)
        self._readings += 1
        self._clock.take(clock_mhz)
        self._heat.take(temperature_c)
        if power_w is None or self._readings < READINGS or now_s - self._since_s < FROZEN_S:
            return False
        boosted = 0 < CLOCK_FACTOR * self._clock.low <= self._clock.high
        return boosted or self._heat.high - self._heat.low >= HEATED_C
