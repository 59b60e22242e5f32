"""Knows: where the marks of a time axis and of a value axis stand. Must not know: Qt, widgets.

Times are the user's own: marks stand on round hours and days of their time zone, also across a change of summer time.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import timedelta

from gpumon_gui.core.clock import local_midnight_s, local_moment
from gpumon_gui.core.metrics import METRICS, Unit
from gpumon_gui.ui.charts.decimate import top_step

MINUTE_S, HOUR_S, DAY_S = 60, 3600, 86_400
_SHORT = (1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 900, 1800, 3600, 7200, 10_800, 21_600, 43_200)
_DAYS = (1, 2, 7, 14)
_MONTHS = (1, 2, 3, 6, 12)
#: A mark for each so many pixels, about.
_APART = 90
_GIB = float(1 << 30)


@dataclass(frozen=True, slots=True)
class Tick:
    """A mark at ``utc_s``. ``step_s`` tells how fine its label must be."""

    utc_s: float
    step_s: int


def time_ticks(left_s: float, right_s: float, width: int) -> list[Tick]:
    """The marks of an axis that is so many pixels wide."""
    fewest_s = (right_s - left_s) * _APART / max(1, width)
    for step in _SHORT:
        if step >= fewest_s:
            return [Tick(at, step) for at in _short_steps(left_s, right_s, step)]
    for days in _DAYS:
        if days * DAY_S >= fewest_s:
            return [Tick(at, days * DAY_S) for at in _day_steps(left_s, right_s, days)]
    months = next((count for count in _MONTHS if count * 30 * DAY_S >= fewest_s), _MONTHS[-1])
    return [Tick(at, months * 30 * DAY_S) for at in _month_steps(left_s, right_s, months)]


def _offset_s(utc_s: float) -> float:
    offset = local_moment(utc_s).utcoffset()
    return 0.0 if offset is None else offset.total_seconds()


def _short_steps(left_s: float, right_s: float, step: int) -> Iterator[float]:
    at = left_s
    while True:
        offset_s = _offset_s(at)
        found = math.ceil((at + offset_s) / step) * step - offset_s
        shift_s = offset_s - _offset_s(found)
        if shift_s and step > 1800:  # the clocks change on the way: the next round hour of after
            found += shift_s
            if found < at:
                found += step
        if found > right_s:
            return
        yield found
        at = found + step / 2


def _day_steps(left_s: float, right_s: float, days: int) -> Iterator[float]:
    day = local_moment(left_s).date()
    while True:
        at = local_midnight_s(day.year, day.month, day.day)
        if at > right_s:
            return
        if at >= left_s and day.toordinal() % days == 0:
            yield at
        day += timedelta(days=1)


def _month_steps(left_s: float, right_s: float, months: int) -> Iterator[float]:
    first = local_moment(left_s)
    number = first.year * 12 + first.month - 1
    while True:
        at = local_midnight_s(number // 12, number % 12 + 1, 1)
        if at > right_s:
            return
        if at >= left_s and number % months == 0:
            yield at
        number += 1


_POWERS = tuple(base * 10.0**exponent for exponent in range(13) for base in (1, 2, 5))
_STEPS: dict[Unit, tuple[float, ...]] = {
    Unit.RATIO: (1.0, 1.5, 2.0),
    Unit.CELSIUS: (100.0, 150.0),
    Unit.WATT: (10.0, 25.0, 50.0, 100.0, 150.0, 200.0, 300.0, 400.0, 500.0, 600.0, 800.0, 1000.0, 1500.0, 2000.0),
    Unit.MEGAHERTZ: (500.0, 1000.0, 1500.0, 2000.0, 2500.0, 3000.0, 4000.0, 6000.0),
    Unit.BYTES: tuple(
        size * _GIB for size in (0.25, 0.5, 1, 2, 4, 8, 12, 16, 24, 32, 48, 64, 96, 128, 160, 192, 256, 384, 512, 1024)
    ),
}


def value_top(metric: str, highest: float) -> float:
    """The upper end of the value axis: a round number above the highest value; shares always reach 100 %."""
    if not math.isfinite(highest):
        highest = 0.0
    return top_step(highest, _STEPS.get(METRICS[metric].unit, _POWERS))
