"""Intervals agree with a slow count of whole units."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gpumon_gui.diagnosis.profiles import intervals
from gpumon_gui.diagnosis.profiles.intervals import Collector, Set

SPANS = st.lists(st.tuples(st.integers(0, 60), st.integers(0, 12)), max_size=20)


def collected(spans: list[tuple[int, int]]) -> Set:
    collector = Collector()
    for start, length in spans:
        collector.add(start, start + length)
    return collector.result()


def units(spans: list[tuple[int, int]]) -> set[int]:
    return {unit for start, length in spans for unit in range(start, start + length)}


@given(SPANS)
def test_the_union_counts_each_unit_once(spans: list[tuple[int, int]]) -> None:
    joined = collected(spans)
    assert joined.total == len(units(spans))
    assert (joined.starts[1:] > joined.ends[:-1]).all()


@given(SPANS)
def test_gaps_are_what_is_not_covered(spans: list[tuple[int, int]]) -> None:
    gaps = collected(spans).gaps(5, 50)
    assert gaps.total == len(set(range(5, 50)) - units(spans))


@given(SPANS, SPANS)
def test_overlap_is_what_both_cover(one: list[tuple[int, int]], other: list[tuple[int, int]]) -> None:
    first, second = collected(one), collected(other)
    assert first.within(second).sum() == len(units(one) & units(other))
    assert (first | second).total == len(units(one) | units(other))


def test_ends_belong_to_an_interval() -> None:
    covered = collected([(10, 5), (30, 5)])
    assert covered.contains(np.array([9.9, 10, 12, 15, 15.1, 30])).tolist() == [False, True, True, True, False, True]


def test_memory_stays_bounded_and_says_what_it_lost(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(intervals, "_PENDING", 100)
    collector = Collector()
    for number in range(10_000):
        collector.add(number * 10, number * 10 + 5 + number % 3)
    covered = collector.result()
    assert len(covered.starts) <= 200
    assert 0 < collector.closed_us < 100_000
    assert covered.starts[0] == 0
    assert covered.ends[-1] == 99_990 + 5 + 9_999 % 3
