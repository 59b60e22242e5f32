"""Knows: how two readings of a counter become a speed. Must not know: which source counts.

A counter's rate is the difference over the *measured* time. The first sample has no rate. A counter that went back has
wrapped (if the catalogue says at which value, and the rate that follows is possible) or was reset: then there is no
rate for one sample. A reading that is the very same object as before was not read again in this sweep (figures that
are dear are read every few seconds), so the last rate stands.
"""

from __future__ import annotations

from collections.abc import Hashable, Mapping

from gpumon_gui.core.metrics import METRICS, Kind
from gpumon_gui.core.values import Missing, Reading, Reason, Value, checked

_COUNTERS: Mapping[str, str] = {m.id: m.rate for m in METRICS.values() if m.kind is Kind.COUNTER and m.rate}


class Rates:
    """Remembers the last reading of every counter of every owner (a device, a process)."""

    def __init__(self) -> None:
        self._last: dict[tuple[Hashable, str], tuple[Reading, float, Value]] = {}

    def extend(self, owner: Hashable, values: Mapping[str, Value], now_s: float) -> Mapping[str, Value]:
        """The values with the rates of the counters among them added.

        A rate the source gave itself is kept. A missing counter gives a rate missing for the same reason.
        """
        found = []
        for counter, rate in _COUNTERS.items():
            if counter not in values:  # not read for a while: a counter may wrap several times meanwhile
                self._last.pop((owner, counter), None)
            elif rate not in values:
                found.append((counter, rate))
        if not found:
            return values
        extended = dict(values)
        for counter, rate in found:
            extended[rate] = self._rate(owner, counter, rate, values[counter], now_s)
        return extended

    def forget(self, owners: set[Hashable]) -> None:
        """Keep only these owners: processes end, devices go."""
        for key in [key for key in self._last if key[0] not in owners]:
            del self._last[key]

    def _rate(self, owner: Hashable, counter: str, rate: str, value: Value, now_s: float) -> Value:
        key = (owner, counter)
        if isinstance(value, Missing):
            self._last.pop(key, None)
            return value
        before = self._last.get(key)
        if before is None:
            speed: Value = Missing(Reason.FIRST_SAMPLE, value.source)
        elif before[0] is value:
            return before[2]
        else:
            speed = _difference(counter, rate, before[0], value, now_s - before[1])
        self._last[key] = (value, now_s, speed)
        return speed


def _difference(counter: str, rate: str, before: Reading, now: Reading, seconds: float) -> Value:
    if seconds <= 0:
        return Missing(Reason.FIRST_SAMPLE, now.source)
    delta = float(now.value) - float(before.value)
    if delta >= 0:
        return checked(rate, delta / seconds, now.source)
    wraps_at = METRICS[counter].wraps_at
    if wraps_at and float(before.value) < wraps_at:
        wrapped = (delta + wraps_at) / seconds
        # After a reset the "wrapped" difference is nearly the whole range; a true wrap starts near its end.
        if float(before.value) > wraps_at / 2 and wrapped <= METRICS[rate].high:
            return checked(rate, wrapped, now.source)
    return Missing(Reason.FIRST_SAMPLE, now.source, "counter was reset")
