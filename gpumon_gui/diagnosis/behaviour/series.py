"""Knows: arithmetic over series with missing values. Must not know: what a series is of.

NaN is a missing value: it takes no part, and a result without any value is None.
"""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from gpumon_gui.diagnosis.behaviour.window import Series


def known(values: Series | None) -> Series:
    """The values there are."""
    return np.zeros(0) if values is None else values[np.isfinite(values)]


def mean(values: Series | None) -> float | None:
    """The mean, None without a value."""
    there = known(values)
    return float(there.mean()) if len(there) else None


def middle(values: Series | None) -> float | None:
    """The median, None without a value."""
    return level(values, 0.5)


def level(values: Series | None, share: float) -> float | None:
    """The value that ``share`` (0..1) of the values do not exceed, None without a value."""
    there = known(values)
    if not len(there):
        return None
    # np.quantile with its checks takes ten times as long, and changes of the workload are looked for with thousands.
    place = share * (len(there) - 1)
    low = int(place)
    high = min(low + 1, len(there) - 1)
    parted = np.partition(there, (low, high))
    return float(parted[low] + (parted[high] - parted[low]) * (place - low))


def share(values: Series | None, least: float) -> float | None:
    """The share of the values that are at least ``least``."""
    there = known(values)
    return float((there >= least).mean()) if len(there) else None


def variation(values: Series | None) -> float | None:
    """Standard deviation over mean, None for fewer than four values or a mean of (nearly) zero."""
    there = known(values)
    if len(there) < 4 or there.mean() <= 1e-6:
        return None
    return float(there.std() / there.mean())


def smooth(values: Series, times_s: Series, seconds: float) -> Series:
    """The mean of what lies within half of ``seconds`` on both sides; NaN where nothing does."""
    if len(values) < 2:
        return values.copy()
    there = np.isfinite(values)
    sums = np.concatenate(([0.0], np.cumsum(np.where(there, values, 0.0))))
    counts = np.concatenate(([0], np.cumsum(there)))
    first = np.searchsorted(times_s, times_s - seconds / 2 - 1e-9, side="left")
    last = np.searchsorted(times_s, times_s + seconds / 2 + 1e-9, side="right")
    number = counts[last] - counts[first]
    return np.where(number > 0, (sums[last] - sums[first]) / np.maximum(number, 1), np.nan)


def total(parts: Iterable[Series], count: int) -> Series:
    """The sum of series at each time; NaN only where none has a value."""
    result = np.full(count, np.nan)
    for part in parts:
        result = np.where(np.isnan(result), part, result + np.nan_to_num(part))
    return result


def highest(parts: Iterable[Series], count: int) -> Series:
    """The highest of series at each time; NaN only where none has a value."""
    result = np.full(count, np.nan)
    for part in parts:
        result = np.fmax(result, part)
    return result


def rounded(value: float | None, digits: int = 3) -> float | None:
    """For facts: no false precision."""
    return None if value is None or not np.isfinite(value) else round(float(value), digits)
