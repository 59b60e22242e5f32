"""Rows of the history against a naive reference: packing, joining, coarser levels, points to draw, figures."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gpumon_gui.history.buckets import (
    NO_ROWS,
    DamagedRow,
    Rows,
    coarser,
    figures,
    gaps,
    join,
    pack,
    series,
    united,
    unpack,
)

BASE_S = 1_800_000_000 - 1_800_000_000 % 900
NAN = float("nan")
#: What sensors give: powers of two are exact in 16 digits, so that nothing but the logic is compared.
VALUES = st.one_of(st.just(NAN), st.integers(0, 4000).map(lambda n: n / 4))


@st.composite
def seconds(draw: st.DrawFn, most: int = 120) -> Rows:
    """Seconds with a value each."""
    offsets = sorted(draw(st.sets(st.integers(0, 899), min_size=1, max_size=most)))
    mean = np.array(draw(st.lists(VALUES, min_size=len(offsets), max_size=len(offsets))))
    return Rows(BASE_S + np.array(offsets), mean, mean, mean, np.isfinite(mean).astype(float))


def as_table(rows: Rows) -> dict[int, tuple[float, ...]]:
    """Second → lowest, mean, highest, count; None for NaN, which is unlike itself."""
    columns = zip(rows.low, rows.mean, rows.high, rows.count, strict=True)
    return {
        int(start): tuple(-1.0 if math.isnan(v) else float(v) for v in column)
        for start, column in zip(rows.start, columns, strict=True)
    }


def naive(rows: Rows, step_s: int) -> dict[int, tuple[float, ...]]:
    """Buckets made one after the other in plain Python."""
    found: dict[int, list[tuple[float, float, float, float]]] = {}
    for start, *column in zip(rows.start, rows.low, rows.mean, rows.high, rows.count, strict=True):
        found.setdefault(int(start) // step_s * step_s, []).append(tuple(map(float, column)))  # type: ignore[arg-type]
    table: dict[int, tuple[float, ...]] = {}
    for start, parts in found.items():
        real = [part for part in parts if not math.isnan(part[1])]
        if not real:
            table[start] = (-1.0, -1.0, -1.0, 0.0)
            continue
        count = sum(part[3] for part in real)
        mean = math.fsum(part[1] * part[3] for part in real) / count
        table[start] = (min(p[0] for p in real), mean, max(p[2] for p in real), count)
    return table


def assert_same(rows: Rows, table: dict[int, tuple[float, ...]]) -> None:
    found = as_table(rows)
    assert found.keys() == table.keys()
    for start, expected in table.items():
        assert found[start] == pytest.approx(expected), start


@given(seconds())
def test_what_is_packed_comes_back(rows: Rows) -> None:
    assert as_table(unpack(pack(rows, BASE_S, 1), BASE_S, 1)) == as_table(rows)


@given(seconds(), st.sampled_from([10, 60]))
def test_coarser_rows_are_those_of_plain_python(rows: Rows, step_s: int) -> None:
    assert_same(coarser(rows, step_s), naive(rows, step_s))


@given(seconds())
def test_minutes_from_tens_are_minutes_from_seconds(rows: Rows) -> None:
    assert_same(coarser(coarser(rows, 10), 60), naive(rows, 60))


@given(seconds(), st.sampled_from([10, 60]))
def test_coarser_rows_survive_packing(rows: Rows, step_s: int) -> None:
    base = BASE_S - BASE_S % (step_s * 1440)
    made = coarser(rows, step_s)
    back = unpack(pack(made, base, step_s), base, step_s)
    assert back.start.tolist() == made.start.tolist()
    np.testing.assert_allclose(back.mean, made.mean, rtol=2**-16)
    finite = np.isfinite(back.mean)
    assert (back.low[finite] <= back.mean[finite]).all()
    assert (back.mean[finite] <= back.high[finite]).all()
    assert back.count.tolist() == made.count.tolist()


@given(seconds(60), seconds(60))
def test_two_parts_with_the_same_seconds_become_one(one: Rows, two: Rows) -> None:
    both = Rows(*(np.concatenate([getattr(one, n), getattr(two, n)]) for n in Rows.__slots__))
    made = united([one, two], 1)
    assert (np.diff(made.start) > 0).all()
    assert_same(made, naive(both, 1))


@given(seconds(200), st.integers(5, 40))
@settings(max_examples=60)
def test_points_hold_every_extreme_and_never_bridge_a_gap(rows: Rows, points: int) -> None:
    left, right = float(BASE_S), float(BASE_S + 900)
    made = series(rows, np.ones(len(rows)), left, right, points)
    assert (np.diff(made.time_s) >= 0).all()
    most = max(points, len(rows) if len(rows) <= points else 0) + 2 * len(gaps(rows.start, np.ones(len(rows))))
    assert len(made) <= most
    finite = np.isfinite(rows.mean)
    if finite.any():
        assert np.nanmax(made.high) == rows.high[finite].max()
        assert np.nanmin(made.low) == rows.low[finite].min()
        inside = np.isfinite(made.mean)
        assert (made.low[inside] <= made.mean[inside]).all()
        assert (made.mean[inside] <= made.high[inside]).all()
    else:
        assert not np.isfinite(made.mean).any()
    # Between two samples with a pause longer than usual there is a point without value.
    for hole in gaps(rows.start, np.ones(len(rows))):
        before, after = rows.start[hole] + 1, rows.start[hole + 1]
        between = (made.time_s >= before - 0.51) & (made.time_s <= after + 0.51)
        assert np.isnan(made.mean[between]).any()


def test_missing_is_neither_zero_nor_left_out() -> None:
    rows = Rows(BASE_S + np.arange(3), *(np.array([1.0, NAN, 3.0]),) * 3, np.array([1.0, 0.0, 1.0]))
    made = coarser(rows, 10)
    assert as_table(made) == {BASE_S: (1.0, 2.0, 3.0, 2.0)}
    assert as_table(coarser(rows.between(BASE_S + 1, BASE_S + 2), 10)) == {BASE_S: (-1.0, -1.0, -1.0, 0.0)}


def test_the_lowest_update_speed_makes_no_gaps_and_a_pause_does() -> None:
    width = np.ones(4)
    assert gaps(BASE_S + np.array([0, 4, 8, 12]), width).tolist() == []
    assert gaps(BASE_S + np.array([0, 4, 12, 16]), width).tolist() == [1]
    assert gaps(BASE_S + np.array([0, 10, 30, 40]), np.full(4, 10.0)).tolist() == [1]


def test_figures_weigh_by_time_and_give_the_energy() -> None:
    """A sample each 4 s, then one each second: each stands for the time until the next."""
    start = BASE_S + np.array([0, 4, 8, 9, 10])
    power = np.array([100.0, 100.0, 300.0, 300.0, 300.0])
    found = figures(Rows(start, power - 10, power, power + 10, np.ones(5)), np.ones(5))
    assert found.covered_s == 11.0
    assert found.integral == pytest.approx(100 * 8 + 300 * 3)
    assert found.mean == pytest.approx(found.integral / 11)
    assert (found.low, found.high) == (90.0, 310.0)


def test_figures_of_nothing_are_missing() -> None:
    rows = Rows(BASE_S + np.arange(2), *(np.array([NAN, NAN]),) * 3, np.zeros(2))
    found = figures(rows, np.ones(2))
    assert math.isnan(found.mean)
    assert math.isnan(found.integral)
    assert found.covered_s == 0.0


def test_a_gap_is_no_energy() -> None:
    start = BASE_S + np.array([0, 1, 500, 501])
    found = figures(Rows(start, *(np.full(4, 50.0),) * 3, np.ones(4)), np.ones(4))
    assert found.covered_s == 4.0
    assert found.integral == 200.0


@pytest.mark.parametrize("damage", [b"", b"\x01", b"\x07\x05\x00", b"\x01\x05\x00rubbish"])
def test_damage_is_told(damage: bytes) -> None:
    with pytest.raises(DamagedRow):
        unpack(damage, BASE_S, 1)


def test_a_cut_or_changed_row_is_told() -> None:
    rows = Rows(BASE_S + np.arange(50), *(np.linspace(0, 1, 50),) * 3, np.ones(50))
    data = pack(rows, BASE_S, 1)
    for broken in (data[:-4], data[:20] + b"\0\0\0" + data[23:], data[:1] + b"\x31\x00" + data[3:]):
        with pytest.raises(DamagedRow):
            unpack(broken, BASE_S, 1)


def test_nothing_stays_nothing() -> None:
    assert len(join([NO_ROWS, NO_ROWS])) == 0
    assert len(coarser(NO_ROWS, 10)) == 0
    assert len(series(NO_ROWS, np.empty(0), 0.0, 1.0, 10)) == 0


def test_a_large_memory_keeps_its_megabytes() -> None:
    value = np.array([141.7e9])
    rows = Rows(np.array([BASE_S]), value, value, value, np.ones(1))
    assert abs(unpack(pack(rows, BASE_S, 1), BASE_S, 1).mean[0] - value[0]) < 2.5e6
