"""Marks of the axes: round hours and days of the user's own time zone, also where the clocks change."""

from __future__ import annotations

import time
from collections.abc import Iterator
from datetime import datetime
from zoneinfo import ZoneInfo

import pytest

from gpumon_gui.ui.charts.axis import DAY_S, HOUR_S, MINUTE_S, time_ticks, value_top

GIB = 1 << 30

pytestmark = pytest.mark.skipif(not hasattr(time, "tzset"), reason="Windows' zone cannot be set for one test")


@pytest.fixture(params=["UTC", "Asia/Shanghai", "Europe/Berlin", "Asia/Kathmandu", "America/St_Johns"])
def zone(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Iterator[ZoneInfo]:
    monkeypatch.setenv("TZ", request.param)
    time.tzset()
    yield ZoneInfo(request.param)
    monkeypatch.undo()
    time.tzset()


def moments(zone: ZoneInfo, left: datetime, length_s: float, width: int = 1000) -> list[datetime]:
    begin = left.timestamp()
    return [datetime.fromtimestamp(tick.utc_s, zone) for tick in time_ticks(begin, begin + length_s, width)]


@pytest.mark.parametrize(
    "length_s", [30, 60, 600, HOUR_S, 6 * HOUR_S, DAY_S, 3 * DAY_S, 7 * DAY_S, 30 * DAY_S, 365 * DAY_S]
)
@pytest.mark.parametrize("width", [300, 1000, 3000])
def test_marks_are_round_ascending_and_not_too_many(zone: ZoneInfo, length_s: int, width: int) -> None:
    left = datetime(2026, 5, 13, 7, 41, 23, tzinfo=zone).timestamp()
    ticks = time_ticks(left, left + length_s, width)
    at = [tick.utc_s for tick in ticks]
    assert at == sorted(set(at))
    assert all(left <= second <= left + length_s for second in at)
    assert len(at) <= width / 60
    for tick in ticks:
        when = datetime.fromtimestamp(tick.utc_s, zone)
        seconds = when.hour * 3600 + when.minute * 60 + when.second
        assert seconds % min(tick.step_s, DAY_S) == 0 or (tick.step_s < DAY_S and seconds % tick.step_s == 0)


def test_a_day_has_midnight_and_every_few_hours(zone: ZoneInfo) -> None:
    found = moments(zone, datetime(2026, 5, 13, 12, 0, tzinfo=zone), DAY_S)
    assert [(one.hour, one.minute) for one in found].count((0, 0)) == 1
    assert {one.minute for one in found} == {0}


@pytest.mark.parametrize(("month", "day"), [(3, 29), (10, 25)])
def test_marks_stay_round_when_the_clocks_change(monkeypatch: pytest.MonkeyPatch, month: int, day: int) -> None:
    monkeypatch.setenv("TZ", "Europe/Berlin")
    time.tzset()
    zone = ZoneInfo("Europe/Berlin")
    found = moments(zone, datetime(2026, month, day, tzinfo=zone), DAY_S)
    hours = [one.hour for one in found if one.day == day]
    assert hours == list(range(0, 24, 3))
    days = moments(zone, datetime(2026, month, day - 5, tzinfo=zone), 10 * DAY_S)
    assert len(days) >= 5
    assert all((one.hour, one.minute) == (0, 0) for one in days)
    monkeypatch.undo()
    time.tzset()


def test_months_and_years(zone: ZoneInfo) -> None:
    year = moments(zone, datetime(2026, 2, 3, tzinfo=zone), 365 * DAY_S)
    assert all(one.day == 1 and one.hour == 0 for one in year)
    assert len(year) in (6, 12)


def test_seconds_have_their_own_marks() -> None:
    ticks = time_ticks(1_800_000_000.0, 1_800_000_030.0, 1000)
    assert {tick.step_s for tick in ticks} <= {2, 5}
    assert all(tick.step_s < MINUTE_S for tick in ticks)


@pytest.mark.parametrize(
    ("metric", "highest", "top"),
    [
        ("gpu_utilization", 0.02, 1.0),
        ("gpu_utilization", 1.0, 1.0),
        ("fan_ratio", 1.2, 1.5),
        ("memory_used_bytes", 0.0, 0.25 * GIB),
        ("memory_used_bytes", 19.4 * GIB, 24 * GIB),
        ("memory_used_bytes", 3000.0 * GIB, 4096 * GIB),
        ("power_w", 652.0, 800.0),
        ("temperature_c", 71.0, 100.0),
        ("clock_sm_mhz", 1980.0, 2000.0),
        ("pcie_rx_bytes_per_s", 5.2e9, 10e9),
        ("pcie_rx_bytes_per_s", float("nan"), 1.0),
    ],
)
def test_the_value_axis_ends_on_a_round_number(metric: str, highest: float, top: float) -> None:
    assert value_top(metric, highest) == top
