"""Ticks neither drift nor burst."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gpumon_gui.core.deadline import Deadline


def test_the_first_tick_is_due_at_once() -> None:
    assert Deadline(1.0, start_s=100.0).remaining(100.0) == 0


def test_work_does_not_shift_the_next_tick() -> None:
    deadline = Deadline(1.0, start_s=100.0)
    for tick in range(1000):
        now = 100.0 + tick + 0.3  # each reading takes 0.3 s
        assert deadline.advance(now) == 0
        assert deadline.remaining(now) == pytest.approx(0.7)


def test_a_slow_reading_skips_what_it_missed() -> None:
    deadline = Deadline(1.0, start_s=100.0)
    assert deadline.advance(103.5) == 3  # 101, 102 and 103 are gone
    assert deadline.remaining(103.5) == pytest.approx(0.5)


def test_a_deadline_that_falls_on_now_is_passed_too() -> None:
    deadline = Deadline(1.0, start_s=100.0)
    assert deadline.advance(101.0) == 1
    assert deadline.remaining(101.0) == pytest.approx(1.0)


def test_after_a_night_asleep_there_is_one_tick_and_no_burst() -> None:
    deadline = Deadline(1.0, start_s=100.0)
    assert deadline.advance(100.1) == 0
    woken = 100.0 + 8 * 3600 + 0.25
    assert deadline.remaining(woken) == 0
    assert deadline.advance(woken) == 8 * 3600 - 1
    assert deadline.remaining(woken) == pytest.approx(0.75)
    assert deadline.advance(woken + 0.8) == 0


def test_a_shorter_period_counts_from_now() -> None:
    deadline = Deadline(60.0, start_s=100.0)
    deadline.advance(100.0)
    deadline.set_period(1.0, now_s=110.0)
    assert deadline.remaining(110.0) == pytest.approx(1.0)
    assert deadline.period_s == 1.0


def test_a_longer_period_keeps_the_tick_that_was_promised() -> None:
    deadline = Deadline(1.0, start_s=100.0)
    deadline.advance(100.0)
    deadline.set_period(60.0, now_s=100.2)
    assert deadline.remaining(100.2) == pytest.approx(0.8)


@pytest.mark.parametrize("period", [0.0, -1.0])
def test_a_period_must_be_positive(period: float) -> None:
    with pytest.raises(ValueError, match="positive"):
        Deadline(period, start_s=0.0)
    with pytest.raises(ValueError, match="positive"):
        Deadline(1.0, start_s=0.0).set_period(period, now_s=0.0)


@given(
    period=st.sampled_from([0.1, 0.5, 1.0, 2.5, 60.0]),
    steps=st.lists(st.floats(min_value=0, max_value=1e6), max_size=30),
)
def test_after_a_tick_the_next_is_at_most_one_period_away(period: float, steps: list[float]) -> None:
    deadline, now = Deadline(period, start_s=0.0), 0.0
    for step in steps:
        now += max(step, deadline.remaining(now))
        assert deadline.advance(now) >= 0
        assert 0 <= deadline.remaining(now) <= period * (1 + 1e-6)
