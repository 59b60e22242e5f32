"""Which part of what was seen a verdict is about: start-up and earlier work are left out, phases are not."""

from __future__ import annotations

import pytest

from gpumon_gui.diagnosis.behaviour.jobs import jobs_of
from gpumon_gui.diagnosis.behaviour.rolling import window_of
from gpumon_gui.diagnosis.behaviour.steady import steady_start
from tests.unit.diagnosis.workloads import H200, LAPTOP, Card, Now, Program, after, record, steps, then

BUSY = steps(0.19, 0.004, main=1.0)
STARVED = steps(0.05, 0.2, main=0.3, workers=(0.98,) * 4)


def skipped(program: Program, seconds: float, hertz: float = 5.0, card: Card = H200) -> float:
    """Seconds that are left out."""
    window = window_of(record(program, card, seconds=seconds, hertz=hertz))
    job = jobs_of(window)[0]
    return float(window.times_s[steady_start(window, job)] - window.times_s[0])


@pytest.mark.parametrize("hertz", [1.0, 2.0, 5.0, 10.0])
@pytest.mark.parametrize("card", [H200, LAPTOP], ids=["H200", "laptop"])
@pytest.mark.parametrize("work", [BUSY, STARVED], ids=["busy", "starved"])
def test_a_start_is_left_out(work: Program, card: Card, hertz: float) -> None:
    assert 9.0 <= skipped(after(10, work), 24, hertz, card) <= 14.0


def test_a_long_start_is_left_out_of_memory_that_is_only_held() -> None:
    assert 8.5 <= skipped(after(9, lambda _now_s: Now(held=6e10)), 15.2) <= 11.0


def test_a_first_touch_of_the_gpu_belongs_to_the_start() -> None:
    touch = then(BUSY, 1.0, after(12, BUSY))
    assert 12.0 <= skipped(touch, 25) <= 16.0


@pytest.mark.parametrize("hertz", [1.0, 5.0])
def test_earlier_work_is_left_out(hertz: float) -> None:
    assert 19.0 <= skipped(then(STARVED, 20, BUSY), 32, hertz) <= 23.0
    assert 19.0 <= skipped(then(BUSY, 20, STARVED), 34, hertz) <= 23.0


@pytest.mark.parametrize("hertz", [1.0, 5.0])
@pytest.mark.parametrize("seconds", [23, 30, 37, 44, 60])
def test_phases_are_kept(seconds: float, hertz: float) -> None:
    def phases(now_s: float) -> Now:
        return BUSY(now_s) if now_s % 10 < 6 else Now(main=4.0)

    assert skipped(phases, seconds, hertz) <= 6.0


@pytest.mark.parametrize("hertz", [1.0, 5.0])
@pytest.mark.parametrize("middle_s", [14, 20, 30])
@pytest.mark.parametrize("works", [(BUSY, STARVED), (STARVED, BUSY)], ids=["starved between", "busy between"])
def test_what_comes_back_after_long_is_a_change(works: tuple[Program, Program], middle_s: float, hertz: float) -> None:
    first, second = works
    change = 25.0 + middle_s
    run = then(first, 25, then(second, middle_s, first))
    assert change - 1 <= skipped(run, change + 13, hertz) <= change + 3


@pytest.mark.parametrize("hertz", [1.0, 5.0])
def test_what_was_there_twice_is_a_pattern(hertz: float) -> None:
    def phases(now_s: float) -> Now:
        return BUSY(now_s) if now_s % 28 < 14 else Now(main=4.0)

    for seconds in (60, 65, 70, 75, 80):  # the pause was there twice
        assert skipped(phases, seconds, hertz) <= 6.0


def test_a_pause_is_no_change_before_ten_seconds() -> None:
    assert skipped(then(BUSY, 15, lambda _now_s: Now(main=4.0)), 22) == 0.0


def test_work_that_does_not_change_is_kept_whole() -> None:
    assert skipped(BUSY, 20) == 0.0
    assert skipped(STARVED, 20) <= 1.5
    assert skipped(lambda _now_s: Now(held=2e9), 20) == 0.0
