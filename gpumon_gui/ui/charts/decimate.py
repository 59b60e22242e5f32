"""Knows: how a long series becomes as many points as there are pixels. Must not know: Qt, widgets, time zones.

NaN is a gap and stays one: a column of pixels without any finite value is NaN, and a pause between two samples that
is much longer than usual is a gap as well.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

Array = npt.NDArray[np.float64]

#: A pause of this many usual intervals is a gap, not a line.
GAP_INTERVALS = 3.5
#: Pauses shorter than this are never a gap: a busy machine samples late.
GAP_MIN_S = 5.0


def columns(times: Array, values: Array, left: float, right: float, pixels: int) -> tuple[Array, Array]:
    """Points to draw for ``left`` ≤ time ≤ ``right`` on ``pixels`` columns: smallest and largest value per column.

    With at most two samples per column the samples themselves come back. Times are ascending; both arrays have the
    same length. One sample before ``left`` is kept so that the curve reaches the edge.
    """
    first = max(0, int(np.searchsorted(times, left, side="left")) - 1)
    last = int(np.searchsorted(times, right, side="right"))
    times, values = with_gaps(times[first:last], values[first:last])
    if len(times) > 2 * pixels > 0:
        return _extremes(times, values, left, right, pixels)
    return times, values


def with_gaps(times: Array, values: Array) -> tuple[Array, Array]:
    """The series with a NaN put into every unusually long pause."""
    if len(times) < 3:
        return times, values
    steps = np.diff(times)
    limit = max(GAP_MIN_S, GAP_INTERVALS * float(np.median(steps)))
    holes = np.flatnonzero(steps > limit)
    if not len(holes):
        return times, values
    middle = (times[holes] + times[holes + 1]) / 2
    return np.insert(times, holes + 1, middle), np.insert(values, holes + 1, np.nan)


def _extremes(times: Array, values: Array, left: float, right: float, pixels: int) -> tuple[Array, Array]:
    width = (right - left) / pixels
    column = np.clip(((times - left) / width).astype(np.int64), -1, pixels)
    starts = np.flatnonzero(np.r_[True, column[1:] != column[:-1]])
    # fmin and fmax pass over NaN; a column of nothing but NaN stays NaN.
    low = np.fmin.reduceat(values, starts)
    high = np.fmax.reduceat(values, starts)
    centre = left + (column[starts] + 0.5) * width
    # Up in one column, down in the next: half the vertical strokes.
    points = np.empty(2 * len(starts))
    swap = np.arange(len(starts)) % 2 == 1
    points[0::2] = np.where(swap, high, low)
    points[1::2] = np.where(swap, low, high)
    return np.repeat(centre, 2), points


def window_mean(times: Array, values: Array, seconds: float, fewest: int = 3) -> float | None:
    """Mean of the finite values of the newest ``seconds``; None with fewer than ``fewest`` of them."""
    if not len(times):
        return None
    recent = values[int(np.searchsorted(times, times[-1] - seconds, side="left")) :]
    finite = recent[np.isfinite(recent)]
    return float(finite.mean()) if len(finite) >= fewest else None


def top_step(highest: float, steps: tuple[float, ...]) -> float:
    """The first step at or above the highest value, or the last one doubled as often as needed."""
    for step in steps:
        if highest <= step:
            return step
    top = steps[-1]
    while top < highest:
        top *= 2
    return top
