"""Knows: GPU memory that will be full soon at the speed it grows. Must not know: the other kinds."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from gpumon_gui.core.formatters import duration, memory
from gpumon_gui.core.messages import N_
from gpumon_gui.core.model import Sample
from gpumon_gui.core.values import number
from gpumon_gui.diagnosis.alerts.alert import Figure, Limits, Sign, State
from gpumon_gui.diagnosis.alerts.past import Past
from gpumon_gui.diagnosis.behaviour import trends

KIND = "memory_full"
TITLE = N_("GPU memory will soon be full")
TEXT = N_("{gpu}: {used} of {total} in use, and growing. Full in about {time}.")

#: A program takes its memory at the start: growth counts when it goes on for minutes.
KEPT_S = 300.0
_SEEN_S = 120.0
#: Mann-Kendall: nearly every part of the time lies above the one before. Steps of an allocator are such a rise too.
_TREND = 0.8
#: Growth below this share of the card in the time seen is the noise of a cache.
_LEAST_SHARE = 0.01
_EVERY_S = 5.0


class MemoryFull:
    """A steady rise that reaches the end within the user's time."""

    def __init__(self) -> None:
        self._past: dict[str, Past] = {}
        self._judged_s: dict[str, float] = {}

    def look(self, sample: Sample, limits: Limits) -> Iterator[Sign]:
        """Each device that has memory of its own; judged every few seconds."""
        for info in sample.inventory:
            device = sample.devices.get(info.key)
            used = None if device is None else number(device.values.get("memory_used_bytes"))
            total = number(info.static.get("memory_total_bytes"))
            if used is None or not total:
                continue
            subject = str(info.key)
            past = self._past.setdefault(subject, Past(KEPT_S))
            past.add(sample.monotonic_s, used)
            due_s = self._judged_s.get(subject, -np.inf) + _EVERY_S
            if past.seconds < _SEEN_S or sample.monotonic_s < due_s:
                continue
            self._judged_s[subject] = sample.monotonic_s
            left_s = _time_left(past, used, total)
            if left_s is None:
                yield Sign(subject, State.OVER)
            elif left_s <= limits.memory_full_s:
                values = {
                    "gpu": info.name,
                    "used": memory(used),
                    "total": memory(total),
                    "time": Figure(duration, left_s),
                }
                yield Sign(subject, State.HOLDS, values, info.key, seconds=past.seconds)
            elif left_s > 2 * limits.memory_full_s:
                yield Sign(subject, State.OVER)


def _time_left(past: Past, used: float, total: float) -> float | None:
    """Seconds until it is full; None when it does not grow."""
    times, values = np.array(past.pairs).T
    middles, levels = trends.binned(times, values)
    if trends.trend(levels) < _TREND or levels[-1] - levels[0] < _LEAST_SHARE * total:
        return None
    recent = len(levels) // 2  # what grew at the start and then stopped has no slope in its second half
    speed = trends.slope(middles[recent:], levels[recent:])
    return (total - used) / speed if speed > 0 else None
