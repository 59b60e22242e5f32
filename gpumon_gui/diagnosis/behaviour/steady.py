"""Knows: which part of a window a verdict is about. Must not know: what the verdict is.

Three signals are looked at: how busy the job's devices are, their power, and the CPU time of the job. The part before
the last change for good is cut off: start-up, or another kind of work. A change is for good when the levels before and
after it do not overlap: work that alternates between two levels shows both before and after any cut.

Work may also come back to a level it had before. That is a change too when what lay between lasted and came once;
what was there twice is a pattern of the work, and is kept whole.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import numpy as np

from gpumon_gui.diagnosis.behaviour.jobs import Job
from gpumon_gui.diagnosis.behaviour.series import highest, level, middle, smooth, total
from gpumon_gui.diagnosis.behaviour.window import Series, Window
from gpumon_gui.diagnosis.behaviour.work import busy_anywhere, work_of

#: NVML's utilization looks back up to a second, and so does the power of most boards (NVML's documentation): after a
#: change the old level is still in the figures for so long.
SETTLE_S: Final = 1.0
#: Shorter parts say nothing before or after a change.
_BEFORE_S: Final = 1.5
_AFTER_RISE_S: Final = 2.0
#: Less work than before may be a pause (evaluation, a checkpoint): it must last until it counts as a change.
_AFTER_FALL_S: Final = 10.0
#: What lasted for so long between two stretches of another level is work of its own, not a pause: evaluations and
#: checkpoints within a minute are shorter, and four verdicts would fit in.
_LASTED_S: Final = 12.5
#: The same where the GPU rests all the time: then only the CPU can pause, and programs that loop on it do not for long.
_AFTER_FALL_IDLE_S: Final = 5.0
_MOST_CUTS: Final = 4
#: A work that comes in bursts reaches its level in two or three readings in a row by chance, when they are a second
#: apart and each shows a fraction of it.
_BEFORE_SAMPLES, _AFTER_SAMPLES = 3, 5
#: Places that are tried for a cut: with more samples, every n-th of the smoothed ones.
_MOST_PLACES: Final = 150
#: Levels of busy share, of power over its limit, and of CPU (as a share of the higher level) that differ. A fifth of
#: the whole scale is more than workloads drift, and less than from idle to any load worth judging.
_BUSY, _POWER, _CPU = 0.2, 0.15, 0.4
#: What comes before the first pause is a first touch of the GPU when it is short beside the pause.
_TOUCH: Final = 0.2
#: Quantiles that stand for lowest and highest, so that a few odd samples do not hide a change.
_LOW, _HIGH = 0.1, 0.9


def steady_start(window: Window, job: Job | None, others: Sequence[Job] = ()) -> int:
    """The index of the first sample of the steady part; 0 when everything is."""
    if job is None or len(window) < 4:
        return 0
    signals = _signals(window, job, others)
    works = _works(signals)
    start = _first_work(window.times_s, signals[0][0]) if works else _memory_there(window, job)
    for _ in range(_MOST_CUTS):
        change = _last_change(window.times_s, signals, start, _AFTER_FALL_S if works else _AFTER_FALL_IDLE_S)
        if change is None:
            break
        start = change
    return _settled(window.times_s, start) if start else 0


def _signals(window: Window, job: Job, others: Sequence[Job]) -> list[tuple[Series, float]]:
    """Series scaled so that a difference that matters is 1, smoothed over a second."""
    works = work_of(window, job, others)
    found: list[tuple[Series, float]] = []
    if works:
        found.append((busy_anywhere(works), _BUSY))
        powers = []
        for work in works:
            power, limit = work.of_device("power_w"), middle(work.track.series.get("power_limit_w"))
            if power is not None and limit:
                powers.append(power / limit)
        if powers:
            found.append((highest(powers, len(window)), _POWER))
    cpu = total([t.series["process_cpu"] for t in job.processes if "process_cpu" in t.series], len(window))
    top = level(cpu, _HIGH)
    if top is not None and top > 0.5 and not works:
        found.append((cpu, max(top * _CPU, 0.5)))
    return [(smooth(values, window.times_s, SETTLE_S), unit) for values, unit in found]


def _works(signals: Sequence[tuple[Series, float]]) -> bool:
    return any((level(values, _HIGH) or 0.0) > 0.1 * unit for values, unit in signals[:1])


def _first_work(times_s: Series, busy: Series) -> int:
    """Where the first pause ends, if it is the longest by far: work that pauses again and again began with one. A first
    touch of the GPU may come before it."""
    idle = busy <= 0.15 * (level(busy, _HIGH) or 0.0)
    edges = np.flatnonzero(np.diff(np.concatenate(([0], idle.astype(np.int8), [0])))).tolist()
    pauses = [
        (first, stop, float(times_s[min(stop, len(times_s) - 1)] - times_s[first]))
        for first, stop in zip(edges[::2], edges[1::2], strict=True)
    ]
    if not pauses:
        return 0
    first, stop, length = max(pauses, key=lambda pause: pause[2])
    others = [pause[2] for pause in pauses if pause[0] != first]
    if times_s[first] - times_s[0] > _TOUCH * length or any(other > length / 2 for other in others):
        return 0
    if stop > len(times_s) - _AFTER_SAMPLES or times_s[-1] - times_s[stop] < _AFTER_RISE_S or idle[stop:].mean() > 0.5:
        return 0  # a burst now and then, as far as can be seen
    return int(stop)


def _last_change(times_s: Series, signals: Sequence[tuple[Series, float]], start: int, fall_s: float) -> int | None:
    """The index after ``start`` that parts the levels best; None when nothing parts them. Less work must last for
    ``fall_s``."""
    best: tuple[float, int] | None = None
    step = max(1, (len(times_s) - start) // _MOST_PLACES)
    for values, unit in signals:
        # Busy shares of a few percent against none at all: half of the usual level is a change too.
        usual = level(values[start:], 0.75) or 0.0
        unit = min(unit, max(usual * 0.5, 0.02))
        for index in range(start + 1, len(times_s) - 1, step):
            before_s, after_s = times_s[index] - times_s[start], times_s[-1] - times_s[index]
            if before_s < _BEFORE_S or after_s < _AFTER_RISE_S:
                continue
            if index - start < _BEFORE_SAMPLES or len(times_s) - index < _AFTER_SAMPLES:
                continue
            after = _ends(values[index::step])
            gap = _parted(_ends(values[start:index:step]), after, after_s >= fall_s) / unit
            if gap < 1.0 and before_s > _LASTED_S:
                near = int(np.searchsorted(times_s, times_s[index] - _LASTED_S))
                gap = _parted(_ends(values[near:index:step]), after, after_s >= fall_s) / unit
                if gap >= 1.0 and _came_before(times_s[start:index], values[start:index], values[near:], index - near):
                    continue
            if gap >= 1.0 and (best is None or gap > best[0]):
                best = (gap, index)
    return best[1] if best else None


def _ends(values: Series) -> tuple[float, float]:
    """The lowest and the highest level; infinite where there is no value. Sorting once
    is faster than looking for each: changes are looked for with thousands."""
    there = np.sort(values)  # missing values come last
    count = len(there) - int(np.isnan(there).sum()) if np.isnan(there[-1]) else len(there)
    if not count:
        return np.inf, -np.inf
    return _between(there, _LOW * (count - 1)), _between(there, _HIGH * (count - 1))


def _between(there: Series, place: float) -> float:
    low = int(place)
    if low == place:
        return float(there[low])
    return float(there[low] + (there[low + 1] - there[low]) * (place - low))


def _parted(before: tuple[float, float], after: tuple[float, float], lasts: bool) -> float:
    """By how much all of what came after a change lies above, or below, all that was before; negative when they
    overlap. Less work counts when it ``lasts``."""
    if not (np.isfinite(before[0]) and np.isfinite(after[0])):
        return -np.inf
    rise, fall = after[0] - before[1], before[0] - after[1]
    return max(rise, fall) if lasts else rise


def _came_before(times_s: Series, values: Series, near: Series, change: int) -> bool:
    """Whether the level before a change was there in an earlier stretch too, with the level after it between.
    ``near``: the values around the change, which is at that index."""
    before, after = level(near[:change], 0.5), level(near[change:], 0.5)
    if before is None or after is None:
        return False
    # Readings without a value belong to what was before them.
    there = np.isfinite(values)
    alike = np.abs(values[there] - before) < np.abs(values[there] - after)
    edges = np.flatnonzero(np.diff(np.concatenate(([0], alike.astype(np.int8), [0])))).tolist()
    times = np.append(times_s[there], times_s[-1])
    stretches = 0
    end_s = -np.inf
    for first, stop in zip(edges[::2], edges[1::2], strict=True):
        # Single steps may reach the other level; that is no stretch of it.
        if times[stop] - times[first] >= _BEFORE_S:
            stretches += times[first] - end_s >= _BEFORE_S
            end_s = times[stop]
    return stretches > 1


def _memory_there(window: Window, job: Job) -> int:
    """For a job that does not compute: when its memory reached half of what it has now."""
    name = "process_memory_bytes"
    parts = [uses[name] for track in job.processes for uses in track.uses.values() if name in uses]
    memory = total(parts, len(window))
    usual = middle(memory[-len(memory) // 3 :])
    if not usual:
        return 0
    there = int(np.argmax(np.nan_to_num(memory) >= usual / 2))
    left_s = float(window.times_s[-1] - window.times_s[there])
    return there if left_s >= _AFTER_FALL_IDLE_S else min(there, len(window) // 2)


def _settled(times_s: Series, start: int) -> int:
    """After the settling time, where enough is left."""
    later = int(np.searchsorted(times_s, times_s[start] + SETTLE_S))
    return later if later < len(times_s) and times_s[-1] - times_s[later] >= _AFTER_RISE_S / 2 else start
