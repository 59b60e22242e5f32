"""Moments as the wall clock here showed them, whatever the clock of the machine says."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from gpumon_gui.core.clock import local_midnight_s, local_moment


@pytest.mark.parametrize("utc_s", [-1e9, -3600.0, 0.0, 86400.0, 200_000.5, 1_800_000_000.0])
def test_a_moment_is_the_same_one_here(utc_s: float) -> None:
    """A machine whose clock lost its battery is in 1970, and a chart's left end before it: Windows has no such time."""
    moment = local_moment(utc_s)
    assert moment.tzinfo is not None
    assert moment.timestamp() == pytest.approx(utc_s)


@pytest.mark.parametrize("day", [(1969, 12, 31), (1970, 1, 1), (1970, 1, 3), (2026, 11, 30)])
def test_a_day_begins_at_midnight_here(day: tuple[int, int, int]) -> None:
    moment = local_moment(local_midnight_s(*day))
    assert (moment.year, moment.month, moment.day, moment.hour, moment.minute) == (*day, 0, 0)


def test_summer_and_winter_have_their_own_offsets() -> None:
    for month in (1, 7):
        utc = datetime(2026, month, 1, 12, tzinfo=UTC)
        assert local_moment(utc.timestamp()).utcoffset() == utc.astimezone().utcoffset()
