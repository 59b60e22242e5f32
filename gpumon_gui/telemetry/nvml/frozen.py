"""Knows: when a power reading that never changes cannot be true. Must not know: NVML.

Drivers 581 to 595 give the same power for ever after the computer slept (LibreHardwareMonitor issue 2224). A reading
that stays the same to the milliwatt is not wrong by itself: it is once the clock or the temperature moved so far in
the meantime that the power must have changed too.
"""

from __future__ import annotations

FROZEN_S = 20.0  #: the same reading for so long, in at least
READINGS = 8
CLOCK_FACTOR = 2.0  #: from idle to boost the clock grows five times and more
HEATED_C = 8.0  #: no card warms so far at the power it idles with


class FrozenPower:
    """Watches one card. Almost every reading differs from the one before, so that path does next to nothing."""

    def __init__(self) -> None:
        self._power: float | None = None
        self._since_s = 0.0
        self._readings = 0
        self._clock: tuple[float, float] | None = None
        self._heat: tuple[float, float] | None = None

    def saw(self, now_s: float, power_w: float | None, clock_mhz: float | None, temperature_c: float | None) -> bool:
        """Take one sweep's readings; whether the power is frozen. 0 is how some cards say that they cannot measure."""
        if not power_w or power_w != self._power:
            self._power, self._since_s, self._readings = power_w, now_s, 1
            self._clock, self._heat = _widened(None, clock_mhz), _widened(None, temperature_c)
            return False
        self._readings += 1
        self._clock, self._heat = _widened(self._clock, clock_mhz), _widened(self._heat, temperature_c)
        if self._readings < READINGS or now_s - self._since_s < FROZEN_S:
            return False
        boosted = self._clock is not None and 0 < CLOCK_FACTOR * self._clock[0] <= self._clock[1]
        return boosted or (self._heat is not None and self._heat[1] - self._heat[0] >= HEATED_C)


def _widened(span: tuple[float, float] | None, value: float | None) -> tuple[float, float] | None:
    """The span from low to high with one more value in it."""
    if value is None:
        return span
    return (value, value) if span is None else (min(span[0], value), max(span[1], value))
