"""Knows: trends of series with gaps and what two have in common, robust against outliers. Must not know: what a series
means.

NaN is a gap. A figure is None where too little was seen.
"""

from __future__ import annotations

import numpy as np

from gpumon_gui.diagnosis.behaviour.series import known
from gpumon_gui.diagnosis.behaviour.window import Series


def last(series: Series | None, count: int = 5) -> float | None:
    """The median of the last ``count`` values seen."""
    seen = known(series)
    return float(np.median(seen[-count:])) if seen.size else None


def binned(times_s: Series, series: Series, most: int = 12) -> tuple[Series, Series]:
    """Middles and medians of up to ``most`` equal parts of the time in which something was seen."""
    seen = ~np.isnan(series)
    times_s, series = times_s[seen], series[seen]
    count = min(most, len(series))
    if count < 2 or times_s[-1] <= times_s[0]:
        return times_s, series
    place = np.minimum(((times_s - times_s[0]) / (times_s[-1] - times_s[0]) * count).astype(int), count - 1)
    parts = [place == number for number in range(count) if np.any(place == number)]
    return (
        np.array([np.mean(times_s[part]) for part in parts]),
        np.array([np.median(series[part]) for part in parts]),
    )


def slope(times_s: Series, values: Series) -> float:
    """Theil and Sen's: the median of the slopes between all pairs, which a fourth of outliers does not move."""
    first, second = np.triu_indices(len(values), 1)
    spans = times_s[second] - times_s[first]
    usable = spans > 0
    return float(np.median((values[second] - values[first])[usable] / spans[usable])) if usable.any() else 0.0


def trend(values: Series) -> float:
    """Mann and Kendall's: -1 for ever falling, 1 for ever rising, 0 without a trend."""
    first, second = np.triu_indices(len(values), 1)
    return float(np.mean(np.sign(values[second] - values[first]))) if len(first) else 0.0


def correlation(one: Series, other: Series) -> float | None:
    """Pearson's, over the samples in which both were seen; None with fewer than 8 or where one does not vary."""
    both = ~np.isnan(one) & ~np.isnan(other)
    one, other = one[both], other[both]
    if len(one) < 8 or np.std(one) < 1e-9 or np.std(other) < 1e-9:
        return None
    return float(np.corrcoef(one, other)[0, 1])
