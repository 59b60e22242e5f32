"""Knows: sets of time intervals: their union, gaps and overlaps, in bounded memory. Must not know: what they are of.

All times are microseconds on one axis. A :class:`Collector` takes intervals in any order; a :class:`Set` is sorted
and disjoint.
"""

from __future__ import annotations

from array import array
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

Times = NDArray[np.float64]

#: Intervals that a collector keeps before it joins those that touch or overlap (16 bytes each).
_PENDING: Final = 1 << 19


@dataclass(frozen=True, slots=True)
class Set:
    """Disjoint intervals, sorted."""

    starts: Times
    ends: Times

    @property
    def total(self) -> float:
        """The length of all intervals together."""
        return float((self.ends - self.starts).sum())

    def covered_until(self, points: Times) -> Times:
        """For each point, how much of the time before it is covered."""
        if not len(self.starts):
            return np.zeros(len(points))
        sums = np.concatenate(([0.0], np.cumsum(self.ends - self.starts)))
        index = np.searchsorted(self.starts, points, side="right")
        inside = np.where(index > 0, np.maximum(self.ends[index - 1] - points, 0.0), 0.0)
        covered: Times = sums[index] - inside
        return covered

    def within(self, other: Set) -> Times:
        """For each interval of ``other``, how much of it is covered by this set."""
        covered: Times = self.covered_until(other.ends) - self.covered_until(other.starts)
        return covered

    def contains(self, points: Times) -> NDArray[np.bool_]:
        """For each point, whether it lies in an interval (its ends included)."""
        if not len(self.starts):
            return np.zeros(len(points), dtype=np.bool_)
        index = np.searchsorted(self.starts, points, side="right")
        inside: NDArray[np.bool_] = (index > 0) & (self.ends[index - 1] >= points)
        return inside

    def __or__(self, other: Set) -> Set:
        return union(np.concatenate((self.starts, other.starts)), np.concatenate((self.ends, other.ends)))

    def clipped(self, start: float, end: float) -> Set:
        """The part between two times."""
        starts, ends = np.clip(self.starts, start, end), np.clip(self.ends, start, end)
        keep = ends > starts
        return Set(starts[keep], ends[keep])

    def gaps(self, start: float, end: float) -> Set:
        """What is not covered between two times."""
        inner = self.clipped(start, end)
        starts, ends = np.concatenate(([start], inner.ends)), np.concatenate((inner.starts, [end]))
        keep = ends > starts
        return Set(starts[keep], ends[keep])


EMPTY: Final = Set(np.empty(0), np.empty(0))


def union(starts: Times, ends: Times) -> Set:
    """The union of intervals in any order."""
    if not len(starts):
        return EMPTY
    order = np.argsort(starts, kind="stable")
    starts, reached = starts[order], np.maximum.accumulate(ends[order])
    first = np.concatenate(([True], starts[1:] > reached[:-1]))
    last = np.concatenate((first[1:], [True]))
    return Set(starts[first], reached[last])


class Collector:
    """Takes intervals one by one. Beyond a million disjoint ones it closes the smallest gaps between them, so that its
    memory stays bounded; ``closed_us`` is the longest gap that was lost that way."""

    def __init__(self) -> None:
        self._starts: array[float] = array("d")
        self._ends: array[float] = array("d")
        self._joined = EMPTY
        self.closed_us = 0.0

    def add(self, start: float, end: float) -> None:
        """One interval; ``end`` is not before ``start``."""
        self._starts.append(start)
        self._ends.append(end)
        if len(self._starts) >= _PENDING:
            self._join()

    def result(self) -> Set:
        """The union of all."""
        self._join()
        return self._joined

    def _join(self) -> None:
        joined = self._joined | Set(_copied(self._starts), _copied(self._ends))
        del self._starts[:], self._ends[:]
        while len(joined.starts) > 2 * _PENDING:
            between = joined.starts[1:] - joined.ends[:-1]
            self.closed_us = max(self.closed_us, float(np.partition(between, len(between) // 2)[len(between) // 2]))
            keep = between > self.closed_us
            joined = Set(
                joined.starts[np.concatenate(([True], keep))],
                joined.ends[np.concatenate((keep, [True]))],
            )
        self._joined = joined


def _copied(values: array[Any]) -> Times:
    return np.array(values, dtype=np.float64)
