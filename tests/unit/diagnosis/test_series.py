"""Arithmetic with gaps: what is missing is never zero."""

from __future__ import annotations

import numpy as np

from gpumon_gui.diagnosis.behaviour import series

NAN = float("nan")


def test_without_values_there_is_no_figure() -> None:
    nothing = np.array([NAN, NAN])
    for figure in (series.mean, series.middle, series.variation):
        assert figure(nothing) is None
        assert figure(None) is None
    assert series.level(nothing, 0.5) is None
    assert series.share(None, 0.5) is None
    assert series.rounded(NAN) is None


def test_gaps_take_no_part() -> None:
    values = np.array([1.0, NAN, 3.0])
    assert series.mean(values) == 2.0
    assert series.share(values, 2.0) == 0.5
    assert series.total([values, np.array([1.0, NAN, NAN])], 3).tolist()[::2] == [2.0, 3.0]
    assert np.isnan(series.total([values, np.array([1.0, NAN, NAN])], 3)[1])
    assert series.highest([values, np.array([2.0, NAN, NAN])], 3).tolist()[::2] == [2.0, 3.0]


def test_smoothing_goes_by_time() -> None:
    times = np.array([0.0, 0.2, 0.4, 5.0])
    smooth = series.smooth(np.array([0.0, 3.0, NAN, 9.0]), times, 1.0)
    assert smooth.tolist() == [1.5, 1.5, 1.5, 9.0]
    assert np.isnan(series.smooth(np.array([NAN, 1.0]), np.array([0.0, 9.0]), 1.0)[0])


def test_variation_needs_something_to_vary() -> None:
    assert series.variation(np.zeros(9)) is None
    assert series.variation(np.array([1.0, 1.0, 1.0])) is None
    assert series.variation(np.array([1.0, 3.0, 1.0, 3.0])) == 0.5
