"""Knows: how samples become a window, one by one and without starting over. Must not know: what the series mean.

A new sample costs what it holds; a window is made of views. Room that is not needed any more is given up by copying,
so that a window made before stays what it was.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Final

import numpy as np
import numpy.typing as npt

from gpumon_gui.core.model import DeviceInfo, DeviceKey, DeviceState, ProcessPresence, ProcessSample, Sample, UseKind
from gpumon_gui.core.values import Reading, Value
from gpumon_gui.diagnosis.behaviour.window import DeviceTrack, ProcessTrack, Series, Window

_LEAST_ROOM: Final = 64


def window_of(samples: Sequence[Sample]) -> Window:
    """The series of some samples, oldest first. Samples that go back in time are left out (a replay was rewound).
    Raises ValueError without a sample."""
    rolling = Rolling(len(samples))
    for sample in samples:
        rolling.add(sample)
    return rolling.window()


class Rolling:
    """The newest samples as series. ``room``: how many are expected."""

    def __init__(self, room: int = _LEAST_ROOM) -> None:
        self._room = max(room, _LEAST_ROOM)
        self._start = self._end = 0
        self._axis = _Columns()  # "times_s", "utc_s"
        self._host = _Columns()
        self._cores = np.full((0, 0), np.nan)
        self._devices: dict[DeviceKey, _Device] = {}
        self._processes: dict[tuple[int, float | None], _Process] = {}
        self._inventory: dict[DeviceKey, DeviceInfo] = {}
        self._inventory_of: tuple[DeviceInfo, ...] = ()
        self._last_s = -np.inf

    def __len__(self) -> int:
        """How many samples are kept."""
        return self._end - self._start

    @property
    def last_s(self) -> float:
        """The monotonic time of the newest sample; minus infinity before the first."""
        return self._last_s

    def add(self, sample: Sample) -> None:
        """Take a sample; one that is not newer than the last is left out."""
        if sample.monotonic_s <= self._last_s:
            return
        if self._end == self._room:
            self._move()
        index, room = self._end, self._room
        self._end += 1
        self._last_s = sample.monotonic_s
        self._axis.put("times_s", sample.monotonic_s, index, room)
        self._axis.put("utc_s", sample.utc_s, index, room)
        if sample.inventory is not self._inventory_of:
            self._inventory_of = sample.inventory
            self._inventory.update((info.key, info) for info in sample.inventory)
        for key, device in sample.devices.items():
            track = self._devices.get(key)
            if track is None:
                track = self._devices[key] = _Device()
            track.seen, track.state = index, device.state
            track.values.take(device.values, index, room)
            for engine in device.engines:
                if type(engine.utilization) is Reading and not isinstance(engine.utilization.value, str):
                    track.engines.put_highest(engine.name or engine.id, engine.utilization.value, index, room)
        for process in sample.processes:
            identity = (process.pid, process.started_utc_s)
            found = self._processes.get(identity)
            if found is None:
                found = self._processes[identity] = _Process(room)
            found.take(process, index, room)
        self._host.take(sample.host.values, index, room)
        self._take_cores(sample.host.cores, index)

    def forget_before(self, monotonic_s: float) -> None:
        """Drop older samples; the newest stays."""
        if not len(self):
            return
        times = self._axis.data["times_s"][self._start : self._end]
        self._start = min(self._start + int(np.searchsorted(times, monotonic_s)), self._end - 1)

    def window(self, since_s: float = -np.inf) -> Window:
        """What is kept, from a monotonic time on. Raises ValueError without a sample."""
        if not len(self):
            raise ValueError("no samples")
        times = self._axis.data["times_s"][self._start : self._end]
        start = min(self._start + int(np.searchsorted(times, since_s)), self._end - 1)
        cut = slice(start, self._end)
        cores = self._cores[cut] if self._cores.size else None
        if cores is not None and np.isnan(cores).all():
            cores = None
        return Window(
            self._axis.data["times_s"][cut],
            self._axis.data["utc_s"][cut],
            {
                key: DeviceTrack(
                    self._inventory[key],
                    track.values.views(cut),
                    dict(track.values.sources),
                    track.engines.views(cut),
                    track.state,
                )
                for key, track in self._devices.items()
                if key in self._inventory and track.seen >= start
            },
            tuple(process.track(cut) for process in self._processes.values() if process.seen >= start),
            self._host.views(cut),
            cores,
        )

    def _take_cores(self, cores: tuple[float, ...], index: int) -> None:
        if not cores:
            return
        if self._cores.shape[1] < len(cores) or self._cores.shape[0] < self._room:
            wider = np.full((self._room, max(len(cores), self._cores.shape[1])), np.nan)
            wider[: self._cores.shape[0], : self._cores.shape[1]] = self._cores
            self._cores = wider
        self._cores[index, : len(cores)] = cores

    def _move(self) -> None:
        """Make room: what is kept goes to the front of new arrays, twice as long where they are full."""
        kept = slice(self._start, self._end)
        count = len(self)
        self._room = max(_LEAST_ROOM, self._room if count <= self._room // 2 else 2 * self._room)
        self._devices = {key: track for key, track in self._devices.items() if track.seen >= self._start}
        self._processes = {key: track for key, track in self._processes.items() if track.seen >= self._start}
        for columns in self._all():
            columns.move(kept, self._room)
        for track in self._devices.values():
            track.seen -= self._start
        for process in self._processes.values():
            process.move(kept, self._room)
        if self._cores.size:
            cores = np.full((self._room, self._cores.shape[1]), np.nan)
            cores[:count] = self._cores[kept]
            self._cores = cores
        self._start, self._end = 0, count

    def _all(self) -> Iterator[_Columns]:
        yield self._axis
        yield self._host
        for track in self._devices.values():
            yield track.values
            yield track.engines


class _Columns:
    """Series by name; what never had a value in a part is not there."""

    __slots__ = ("data", "sources")

    def __init__(self) -> None:
        self.data: dict[str, Series] = {}
        self.sources: dict[str, str] = {}

    def put(self, name: str, value: float, index: int, room: int) -> None:
        column = self.data.get(name)
        if column is None:
            column = self.data[name] = np.full(room, np.nan)
        column[index] = value

    def put_highest(self, name: str, value: float, index: int, room: int) -> None:
        """Of several with one name in a sample."""
        before = self.data[name][index] if name in self.data else np.nan
        self.put(name, before if before > value else value, index, room)

    def take(self, values: Mapping[str, Value], index: int, room: int) -> None:
        for name, value in values.items():
            if type(value) is Reading and not isinstance(value.value, str):
                self.put(name, value.value, index, room)
                self.sources[name] = value.source

    def views(self, cut: slice) -> dict[str, Series]:
        return {name: part for name, column in self.data.items() if not np.isnan(part := column[cut]).all()}

    def move(self, kept: slice, room: int) -> None:
        for name, column in self.data.items():
            fresh = np.full(room, np.nan)
            fresh[: kept.stop - kept.start] = column[kept]
            self.data[name] = fresh


class _Device:
    __slots__ = ("engines", "seen", "state", "values")

    def __init__(self) -> None:
        self.values = _Columns()
        self.engines = _Columns()
        self.state = DeviceState.OK
        self.seen = 0


class _Process:
    __slots__ = ("_computes", "_last", "_own", "_present", "_uses", "seen")

    def __init__(self, room: int) -> None:
        self._own = _Columns()
        self._uses: dict[DeviceKey, _Columns] = {}
        self._present: npt.NDArray[np.bool_] = np.zeros(room, dtype=np.bool_)
        self._last: ProcessSample | None = None
        self._computes = False
        self.seen = 0

    def take(self, process: ProcessSample, index: int, room: int) -> None:
        self.seen = index
        self._present[index] = True
        # A process that has ended tells less of itself than it did before.
        if self._last is None or process.presence is ProcessPresence.RUNNING or not self._last.name:
            self._last = process
        self._own.take(process.values, index, room)
        for use in process.uses:
            columns = self._uses.get(use.device)
            if columns is None:
                columns = self._uses[use.device] = _Columns()
            columns.take(use.values, index, room)
            self._computes = self._computes or use.kind is not UseKind.GRAPHICS

    def move(self, kept: slice, room: int) -> None:
        present = np.zeros(room, dtype=np.bool_)
        present[: kept.stop - kept.start] = self._present[kept]
        self._present = present
        for columns in (self._own, *self._uses.values()):
            columns.move(kept, room)
        self.seen -= kept.start

    def track(self, cut: slice) -> ProcessTrack:
        assert self._last is not None  # made with its first sample
        uses = {key: columns.views(cut) for key, columns in self._uses.items()}
        return ProcessTrack(self._last, self._present[cut], self._own.views(cut), uses, self._computes)
