"""The last hour of a device's numbers: what was not given is a gap, whatever was there before."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gpumon_gui.history.ring import Ring

ROWS = st.lists(st.dictionaries(st.sampled_from("abc"), st.floats(0, 1), max_size=3), max_size=40)


@given(ROWS, st.integers(2, 7))
def test_reads_what_was_appended_and_gaps_elsewhere(rows: list[dict[str, float]], capacity: int) -> None:
    ring = Ring(capacity)
    for number, row in enumerate(rows):
        ring.append(float(number), row)
    kept = list(enumerate(rows))[-capacity:]
    assert len(ring) == len(kept)
    assert ring.times().tolist() == [float(number) for number, _row in kept]
    for name in "abcd":
        np.testing.assert_array_equal(ring.column(name), [row.get(name, math.nan) for _number, row in kept])
        np.testing.assert_array_equal(ring.column(name, 2), [row.get(name, math.nan) for _number, row in kept[-2:]])


@given(ROWS, ROWS)
def test_nothing_of_a_cleared_past_comes_back(before: list[dict[str, float]], after: list[dict[str, float]]) -> None:
    ring, fresh = Ring(5), Ring(5)
    for row in before:
        ring.append(1.0, row)
    ring.clear()
    assert len(ring) == 0
    assert ring.column("a").tolist() == []
    for number, row in enumerate(after):
        ring.append(float(number), row)
        fresh.append(float(number), row)
    for name in "abc":
        np.testing.assert_array_equal(ring.column(name), fresh.column(name))


def test_counts_the_rows_since_a_moment() -> None:
    ring = Ring(4)
    for number in range(6):
        ring.append(float(number), {})
    assert [ring.since(moment) for moment in (-1.0, 2.0, 3.5, 5.0, 9.0)] == [4, 4, 2, 1, 0]


def test_a_column_is_a_view_not_a_copy() -> None:
    ring = Ring(4)
    ring.append(1.0, {"a": 0.5})
    assert ring.column("a").base is not None
    assert ring.names == ("a",)


def test_a_ring_needs_room_for_two() -> None:
    with pytest.raises(ValueError, match="needs room for 2 rows, got 1"):
        Ring(1)
