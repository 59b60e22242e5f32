"""Knows: the pattern of a job's work over time: level, variation, phases without the GPU. Must not know: rules."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from gpumon_gui.diagnosis.behaviour.jobs import Job
from gpumon_gui.diagnosis.behaviour.scene import Scene
from gpumon_gui.diagnosis.behaviour.series import level, mean, rounded, share, smooth, total, variation
from gpumon_gui.diagnosis.behaviour.window import Series, Window
from gpumon_gui.diagnosis.behaviour.work import Work, busy_anywhere, work_of

#: NVML's utilization looks back up to a second: what is shorter is smeared and belongs to the steps of the work.
_WINDOW_S: Final = 1.0
#: Pauses are looked for in less smoothed figures: what NVML's window and another one leave of two seconds is no pause.
_STEP_S: Final = 0.5
#: From so far apart on readings may miss what happens between them; power at rest against that at work.
_FAR_APART_S, _FALLS_TO = 0.5, 0.8
#: A pause that a user sees in a graph; shorter ones are steps.
LEAST_GAP_S: Final = 1.5
#: Of the usual level: a pause goes so low and ends above that. Beside one that does, what goes nearly as low is one
#: too: a desktop draws now a little more and now a little less.
_RESTS, _NEARLY, _WORKS = 0.15, 0.25, 0.4
#: Pauses that return: none is further than this many periods from the next one and from both ends of what was seen.
_RETURNS: Final = 1.25


def of_job(scene: Scene) -> Mapping[str, Any]:
    """``variation``: standard deviation over mean of the busy share, smoothed over a second; ``idle``: share of samples
    below 5 %, ``high``: share above 80 %; ``low_level``, ``high_level``: its 10 % and 90 % levels; ``turns``: how often
    the busy share went from the lower third between its 10 % and 90 % levels to the upper one or back.

    Pauses of 1.5 s and more without the GPU between phases of work: ``gaps`` how many, ``gap_s`` their usual length,
    ``gap_share`` of the time (of whole periods), ``period_s`` from start to start, ``active``: busy share between
    them; ``cpu_in_gaps``, ``cpu_in_work``: cores of the job in both, ``workers_in_gaps``, ``workers_in_work``: of its
    helpers, ``write_in_gaps``, ``read_in_gaps`` bytes per second.
    """
    if scene.job is None:
        return {}
    works = work_of(scene.window, scene.job, scene.others)
    if not works or len(scene.window) < 4:
        return {}
    window, job = scene.window, scene.job
    busy = busy_anywhere(works)
    slow = smooth(busy, window.times_s, _WINDOW_S)
    idle = share(busy, 0.05)
    facts: dict[str, Any] = {
        "variation": rounded(variation(slow)),
        "idle": rounded(None if idle is None else 1.0 - idle),
        "high": rounded(share(busy, 0.8)),
        "low_level": rounded(level(slow, 0.1)),
        "high_level": rounded(level(slow, 0.9)),
        "turns": _turns(busy),
    }
    resting = _resting(smooth(busy, window.times_s, _STEP_S), window.times_s)
    resting = _seen_in_power(window, works, resting)
    gaps = _runs(resting, window.times_s)
    if not gaps:
        return {**facts, "gaps": 0}
    enclosed = [(a, b) for a, b in gaps if a > 0 and b < len(slow)]
    starts = [float(window.times_s[a]) for a, _ in gaps if a > 0]
    lengths = [_length(window.times_s, a, b) for a, b in enclosed or gaps]
    return facts | {
        "gaps": len(gaps),
        "gaps_enclosed": len(enclosed),
        "gap_s": rounded(float(np.median(lengths)), 1),
        "gap_share": rounded(_share(resting, window.times_s, [a for a, _ in gaps if a > 0])),
        "period_s": rounded(float(np.median(np.diff(starts))), 1) if len(starts) > 1 else None,
        "active": rounded(_between(busy, resting, window.times_s)),
        **_in_both(window, job, resting),
    }


def _seen_in_power(window: Window, works: Sequence[Work], resting: npt.NDArray[np.bool_]) -> npt.NDArray[np.bool_]:
    """Without the pauses that only chance shows: readings far apart look at a fraction of their second each, while the
    power of a board is the average of one and falls with a pause."""
    power = works[0].of_device("power_w")
    if window.interval_s < _FAR_APART_S or power is None:
        return resting
    real = resting.copy()
    at_work = mean(power[~resting])
    for a, b in _runs(resting, window.times_s, 0.0):
        there = mean(power[a:b])
        if at_work is not None and there is not None and there > _FALLS_TO * at_work:
            real[a:b] = False
    return real


def _turns(busy: Series) -> int:
    low, high = level(busy, 0.1), level(busy, 0.9)
    if low is None or high is None or high - low < 0.05:
        return 0
    third = (high - low) / 3
    sides = [value > high - third for value in busy if np.isfinite(value) and not low + third < value <= high - third]
    return int(sum(one != other for one, other in pairwise(sides)))


def _resting(slow: Series, times_s: Series) -> npt.NDArray[np.bool_]:
    """Where the GPU rests for long enough. Lost samples belong to what was before."""
    high = level(slow, 0.9) or 0.0
    if high <= 0.1:  # never at work: nothing is a pause
        return np.zeros(len(slow), dtype=np.bool_)
    deep = _below(slow, times_s, max(0.03, _RESTS * high), _WORKS * high)
    return _below(slow, times_s, max(0.03, _NEARLY * high), _WORKS * high) if deep.any() else deep


def _below(slow: Series, times_s: Series, low: float, end: float) -> npt.NDArray[np.bool_]:
    """From where it is at most ``low`` until it is above ``end``, for long enough."""
    below = np.zeros(len(slow), dtype=np.bool_)
    state = False
    for index, value in enumerate(slow):
        if np.isfinite(value):
            state = value <= (end if state else low)
        below[index] = state
    for a, b in _runs(below, times_s, 0.0):
        if _length(times_s, a, b) < LEAST_GAP_S:
            below[a:b] = False
    return below


def _share(resting: npt.NDArray[np.bool_], times_s: Series, starts: Sequence[int]) -> float:
    """The share of the time; of whole periods where pauses return, or it would depend on how many happen to be seen."""
    if len(starts) < 2:
        return float(resting.mean())
    at = times_s[list(starts)]
    reach_s = _RETURNS * float(np.median(np.diff(at)))
    distances = np.diff(np.concatenate((times_s[:1], at, times_s[-1:])))
    return float((resting[starts[0] : starts[-1]] if (distances <= reach_s).all() else resting).mean())


def _between(busy: Series, resting: npt.NDArray[np.bool_], times_s: Series) -> float | None:
    """The busy share between pauses, without the seconds in which the instruments still show the pause."""
    inner = ~resting
    for index in np.flatnonzero(resting):
        inner &= np.abs(times_s - times_s[index]) > _WINDOW_S
    return mean(busy[inner]) if inner.any() else mean(busy[~resting])


def _runs(mask: npt.NDArray[np.bool_], times_s: Series, least_s: float = LEAST_GAP_S) -> list[tuple[int, int]]:
    edges = np.flatnonzero(np.diff(np.concatenate(([0], mask.astype(np.int8), [0]))))
    pairs = list(zip(edges[::2].tolist(), edges[1::2].tolist(), strict=True))
    return [(a, b) for a, b in pairs if _length(times_s, a, b) >= least_s]


def _length(times_s: Series, a: int, b: int) -> float:
    """Seconds of samples ``a`` up to ``b``: each stands for the time since the one before."""
    before = times_s[a - 1] if a else times_s[a]
    return float(times_s[b - 1] - before)


def _in_both(window: Window, job: Job, resting: npt.NDArray[np.bool_]) -> dict[str, float | None]:
    length = len(window)
    helpers = [track for track in job.processes if not track.uses]

    def during(tracks: list[Any], name: str, mask: npt.NDArray[np.bool_], digits: int) -> float | None:
        parts = [track.series[name] for track in tracks if name in track.series]
        return rounded(mean(total(parts, length)[mask]), digits) if parts else None

    everybody = list(job.processes)
    return {
        "cpu_in_gaps": during(everybody, "process_cpu", resting, 2),
        "cpu_in_work": during(everybody, "process_cpu", ~resting, 2),
        "workers_in_gaps": during(helpers, "process_cpu", resting, 2),
        "workers_in_work": during(helpers, "process_cpu", ~resting, 2),
        "write_in_gaps": during(everybody, "process_write_bytes_per_s", resting, 0),
        "read_in_gaps": during(everybody, "process_read_bytes_per_s", resting, 0),
    }
