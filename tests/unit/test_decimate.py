"""What is drawn for a long series: extremes survive, gaps stay gaps."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from gpumon_gui.ui.charts.decimate import columns, top_step, window_mean, with_gaps


def test_few_samples_come_back_as_they_are() -> None:
    times, values = np.arange(-60.0, 1.0), np.linspace(0, 1, 61)
    x, y = columns(times, values, -60.0, 0.0, 400)
    assert x.tolist() == times.tolist()
    assert y.tolist() == values.tolist()


def test_one_sample_before_the_edge_is_kept() -> None:
    x, _y = columns(np.arange(-10.0, 1.0), np.zeros(11), -4.5, 0.0, 400)
    assert x[0] == -5.0


@given(st.lists(st.floats(0, 1) | st.just(float("nan")), min_size=200, max_size=900), st.integers(16, 60))
def test_extremes_survive(raw: list[float], pixels: int) -> None:
    values = np.array(raw)
    times = np.linspace(-3600.0, 0.0, len(values))
    x, y = columns(times, values, -3600.0, 0.0, pixels)
    assert len(x) == len(y) <= 2 * (pixels + 2)
    assert (np.diff(x) >= 0).all()
    if np.isfinite(values).any():
        assert np.nanmax(y) == np.nanmax(values)
        assert np.nanmin(y) == np.nanmin(values)
    else:
        assert np.isnan(y).all()


def test_a_column_without_a_value_is_a_gap() -> None:
    values = np.ones(1000)
    values[400:500] = np.nan
    x, y = columns(np.linspace(-100.0, 0.0, 1000), values, -100.0, 0.0, 100)
    inside = (x > -59.0) & (x < -51.0)
    assert inside.any()
    assert np.isnan(y[inside]).all()
    assert np.isfinite(y[~((x > -61.5) & (x < -48.5))]).all()


def test_a_pause_is_a_gap() -> None:
    times = np.array([0.0, 1.0, 2.0, 30.0, 31.0, 32.0])
    x, y = with_gaps(times, np.ones(6))
    assert np.flatnonzero(np.isnan(y)).tolist() == [3]
    assert x[3] == 16.0
    late = np.array([0.0, 1.0, 2.0, 6.0, 7.0])
    assert np.isfinite(with_gaps(late, np.ones(5))[1]).all()  # late is not a pause


def test_window_mean_needs_values() -> None:
    times = np.arange(10.0)
    assert window_mean(times, np.arange(10.0), 2.0) == 8.0
    assert window_mean(times, np.full(10, np.nan), 5.0) is None
    assert window_mean(np.empty(0), np.empty(0), 5.0) is None


def test_top_steps() -> None:
    assert [top_step(v, (1.0, 2.0, 4.0)) for v in (0.0, 1.0, 1.1, 4.0, 9.0)] == [1.0, 1.0, 2.0, 4.0, 16.0]


def test_a_pause_in_a_long_series_is_a_gap_and_nothing_else_is() -> None:
    times = np.concatenate([np.arange(-3600.0, -1800.0), np.arange(-1700.0, 1.0)])
    x, y = columns(times, np.ones(len(times)), -3600.0, 0.0, 400)
    holes = x[np.isnan(y)]
    assert len(holes)
    assert (holes > -1800.0).all()
    assert (holes < -1690.0).all()
