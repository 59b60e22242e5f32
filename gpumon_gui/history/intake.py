"""Knows: how samples become seconds, and which of them are not in the file yet. Must not know: the file.

Seconds are of UTC. A clock that steps back writes into seconds that are there already: both count. Nothing is written
for the time of a suspend: no row, a gap.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from gpumon_gui.core.model import DeviceInfo, DeviceKey, DeviceSample, Sample
from gpumon_gui.core.values import Value, number
from gpumon_gui.history.buckets import Rows
from gpumon_gui.history.schema import DEVICE_METRICS, HOST_METRICS, LEVELS

#: Stretches kept in memory while the file cannot be written: up to an hour.
MOST_STRETCHES = 4
_SECONDS = LEVELS[0].stretch_s
_NAN = float("nan")
#: 2001 to 5138: a clock outside of it is a fault, and the packed key ends.
_FIRST_S, _LAST_S = 1_000_000_000, 100_000_000_000

#: The machine itself, where a card would be.
HOST_INFO = DeviceInfo(DeviceKey("host"), "")


class Table:
    """Seconds of one device in one stretch. ``info`` is what was last known of the device."""

    def __init__(self, info: DeviceInfo, metrics: Mapping[int, str]) -> None:
        self.info = info
        self.numbers = tuple(metrics)
        self.names = tuple(metrics.values())
        shape = (len(metrics), _SECONDS)
        self._low = np.full(shape, np.nan, np.float32)
        self._high = np.full(shape, np.nan, np.float32)
        self._total = np.zeros(shape)
        self._count = np.zeros(shape, np.uint16)
        self._seen = np.zeros(_SECONDS, np.bool_)
        self._fresh: set[int] = set()

    def add(self, second: int, values: list[float]) -> None:
        """Take one value (NaN: missing) for each metric into a second of the stretch."""
        column = np.array(values)
        finite = np.isfinite(column)
        self._low[:, second] = np.fmin(self._low[:, second], column)
        self._high[:, second] = np.fmax(self._high[:, second], column)
        self._total[finite, second] += column[finite]
        self._count[finite, second] += 1
        self._seen[second] = True
        self._fresh.add(second)

    def extent(self) -> tuple[int, int]:
        """The first and the last second with a sample."""
        seen = np.flatnonzero(self._seen)
        return int(seen[0]), int(seen[-1])

    def rows(self, base_s: int) -> dict[int, Rows]:
        """Metric number → seconds; a metric that never had a value is left out."""
        seconds = np.flatnonzero(self._seen)
        start = base_s + seconds
        found = {}
        for row, metric in enumerate(self.numbers):
            count = self._count[row, seconds].astype(np.float64)
            if count.any():
                low, high = (side[row, seconds].astype(np.float64) for side in (self._low, self._high))
                with np.errstate(invalid="ignore"):
                    mean = np.clip(self._total[row, seconds] / count, low, high)
                found[metric] = Rows(start, low, mean, high, np.minimum(count, 1.0))
        return found

    def fresh(self) -> tuple[int, ...]:
        """The seconds that :meth:`settle` was not called for."""
        return tuple(sorted(self._fresh))

    def settle(self, seconds: tuple[int, ...]) -> None:
        """These are in the file."""
        self._fresh.difference_update(seconds)

    def columns(self, seconds: tuple[int, ...]) -> npt.NDArray[np.float32]:
        """Lowest, mean and highest value of some seconds: 3 × metrics × seconds."""
        at = list(seconds)
        with np.errstate(invalid="ignore"):
            mean = self._total[:, at] / self._count[:, at]
        return np.stack([self._low[:, at], mean.astype(np.float32), self._high[:, at]])


@dataclass(frozen=True, slots=True)
class Stretch:
    """What is known of one stretch of seconds: a table for each device, by key and UUID."""

    base_s: int
    tables: dict[tuple[DeviceKey, str], Table]


class Intake:
    """Takes samples, keeps what is not in the file.

    Attributes:
        stretches: oldest first; the last one is being filled.
        lost_s: seconds that were dropped because the file could not be written for too long.
    """

    def __init__(self) -> None:
        self.stretches: list[Stretch] = []
        self.lost_s = 0

    def add(self, sample: Sample) -> None:
        """Take a sample. One whose clock cannot be is passed over."""
        if not _FIRST_S <= sample.utc_s <= _LAST_S:
            return
        base_s, second = divmod(int(sample.utc_s), _SECONDS)
        base_s *= _SECONDS
        if not self.stretches or self.stretches[-1].base_s != base_s:
            self.stretches.append(Stretch(base_s, {}))
            for old in self.stretches[:-MOST_STRETCHES]:
                self.lost_s += max((len(table.fresh()) for table in old.tables.values()), default=0)
            del self.stretches[:-MOST_STRETCHES]
        tables = self.stretches[-1].tables
        for info in sample.inventory:
            device = sample.devices.get(info.key)
            if device is not None:
                _table(tables, info, DEVICE_METRICS).add(second, _device_values(device))
        _table(tables, HOST_INFO, HOST_METRICS).add(second, _values(sample.host.values, HOST_METRICS))

    def clear(self) -> None:
        """Forget everything that was taken."""
        self.stretches.clear()
        self.lost_s = 0


def _table(tables: dict[tuple[DeviceKey, str], Table], info: DeviceInfo, metrics: Mapping[int, str]) -> Table:
    identity = (info.key, info.uuid or "")
    table = tables.get(identity)
    if table is None:
        table = tables[identity] = Table(info, metrics)
    else:
        table.info = info
    return table


def _values(values: Mapping[str, Value], metrics: Mapping[int, str]) -> list[float]:
    return [_NAN if (found := number(values.get(name))) is None else float(found) for name in metrics.values()]


def _device_values(device: DeviceSample) -> list[float]:
    found = _values(device.values, DEVICE_METRICS)
    if "engine_utilization" not in device.values:
        busy = [value for engine in device.engines if (value := number(engine.utilization)) is not None]
        if busy:
            found[_ENGINE] = float(max(busy))
    return found


_ENGINE = tuple(DEVICE_METRICS.values()).index("engine_utilization")
