"""Knows: samples over a while as series per device and process. Must not know: what they mean, where they come from.

A series is a float64 array as long as ``times_s``; NaN is a missing value (never zero). Units are those of the metric
catalogue (fractions, bytes, watts, MHz, bytes per second).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from gpumon_gui.core.model import (
    DeviceInfo,
    DeviceKey,
    DeviceState,
    ProcessPresence,
    ProcessSample,
    Sample,
    UseKind,
)
from gpumon_gui.core.values import Reading, Value, number

Series = npt.NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class DeviceTrack:
    """One device. ``series`` has every numeric metric that had a value at least once (lasting numbers such as
    ``memory_total_bytes`` stand in ``info.static``); ``sources`` says which counter each series is from. ``engines``
    are Windows' or DRM's engine series by the source's spelling, ``state`` is the last one seen."""

    info: DeviceInfo
    series: Mapping[str, Series]
    sources: Mapping[str, str]
    engines: Mapping[str, Series]
    state: DeviceState = DeviceState.OK


@dataclass(frozen=True, slots=True)
class ProcessTrack:
    """One process, told apart by pid and start time. ``present`` says in which samples it was listed, ``uses`` its
    series per device (``process_gpu_utilization``, ``process_memory_bytes`` …), ``series`` its own (``process_cpu`` …).

    ``last`` is the newest sample of it: name, command, parents, framework, environment.
    """

    last: ProcessSample
    present: npt.NDArray[np.bool_]
    series: Mapping[str, Series]
    uses: Mapping[DeviceKey, Mapping[str, Series]]
    computes: bool

    @property
    def pid(self) -> int:
        """Its number."""
        return self.last.pid


@dataclass(frozen=True, slots=True)
class Window:
    """Samples in order. ``cores`` is samples x logical cores (busy fractions), None where unknown."""

    times_s: Series
    utc_s: Series
    devices: Mapping[DeviceKey, DeviceTrack]
    processes: tuple[ProcessTrack, ...]
    host: Mapping[str, Series]
    cores: npt.NDArray[np.float64] | None

    def __len__(self) -> int:
        """How many samples."""
        return len(self.times_s)

    @property
    def seconds(self) -> float:
        """From the first sample to the last."""
        return float(self.times_s[-1] - self.times_s[0]) if len(self) else 0.0

    @property
    def interval_s(self) -> float:
        """The usual time between two samples; 0 with fewer than two."""
        return float(np.median(np.diff(self.times_s))) if len(self) > 1 else 0.0

    def part(self, start: int, stop: int | None = None) -> Window:
        """The samples from ``start`` up to ``stop``; arrays are views of the same memory."""
        cut = slice(start, stop)
        return Window(
            self.times_s[cut],
            self.utc_s[cut],
            {
                key: DeviceTrack(
                    track.info, _cut(track.series, cut), track.sources, _cut(track.engines, cut), track.state
                )
                for key, track in self.devices.items()
            },
            tuple(
                ProcessTrack(
                    track.last,
                    track.present[cut],
                    _cut(track.series, cut),
                    {key: _cut(series, cut) for key, series in track.uses.items()},
                    track.computes,
                )
                for track in self.processes
            ),
            _cut(self.host, cut),
            None if self.cores is None else self.cores[cut],
        )


def window_of(samples: Sequence[Sample]) -> Window:
    """The series of some samples, oldest first. Samples that go back in time are left out (a replay was rewound)."""
    ordered: list[Sample] = []
    for sample in samples:
        if not ordered or sample.monotonic_s > ordered[-1].monotonic_s:
            ordered.append(sample)
    count = len(ordered)
    devices: dict[DeviceKey, _Builder] = {}
    states: dict[DeviceKey, DeviceState] = {}
    processes: dict[tuple[int, float | None], _ProcessBuilder] = {}
    host = _Builder(count)
    cores = _cores(ordered)
    for index, sample in enumerate(ordered):
        for key, device in sample.devices.items():
            builder = devices.setdefault(key, _Builder(count))
            states[key] = device.state
            builder.take(index, device.values)
            builder.take_engines(index, {engine.name or engine.id: engine.utilization for engine in device.engines})
        for process in sample.processes:
            identity = (process.pid, process.started_utc_s)
            processes.setdefault(identity, _ProcessBuilder(count)).take(index, process)
        host.take(index, sample.host.values)
    inventory = {info.key: info for sample in ordered for info in sample.inventory}
    return Window(
        np.array([sample.monotonic_s for sample in ordered], dtype=np.float64),
        np.array([sample.utc_s for sample in ordered], dtype=np.float64),
        {
            key: DeviceTrack(inventory[key], builder.series, builder.sources, builder.engines, states[key])
            for key, builder in devices.items()
            if key in inventory
        },
        tuple(builder.track() for builder in processes.values()),
        host.series,
        cores,
    )


class _Builder:
    """Fills series; what never had a value is not there."""

    def __init__(self, count: int) -> None:
        self._count = count
        self.series: dict[str, Series] = {}
        self.sources: dict[str, str] = {}
        self.engines: dict[str, Series] = {}

    def take(self, index: int, values: Mapping[str, Value]) -> None:
        for name, value in values.items():
            found = number(value)
            if found is not None and isinstance(value, Reading):
                if name not in self.series:
                    self.series[name] = np.full(self._count, np.nan)
                self.series[name][index] = found
                self.sources[name] = value.source

    def take_engines(self, index: int, engines: Mapping[str, Value]) -> None:
        for name, value in engines.items():
            found = number(value)
            if found is not None:
                if name not in self.engines:
                    self.engines[name] = np.full(self._count, np.nan)
                self.engines[name][index] = found


class _ProcessBuilder:
    def __init__(self, count: int) -> None:
        self._count = count
        self._own = _Builder(count)
        self._uses: dict[DeviceKey, _Builder] = {}
        self._present = np.zeros(count, dtype=np.bool_)
        self._last: ProcessSample | None = None
        self._computes = False

    def take(self, index: int, process: ProcessSample) -> None:
        self._present[index] = True
        # A process that has ended tells less of itself than it did before.
        if self._last is None or process.presence is ProcessPresence.RUNNING or not self._last.name:
            self._last = process
        self._own.take(index, process.values)
        for use in process.uses:
            self._uses.setdefault(use.device, _Builder(self._count)).take(index, use.values)
            self._computes |= use.kind is not UseKind.GRAPHICS

    def track(self) -> ProcessTrack:
        assert self._last is not None  # made with its first sample
        uses = {key: builder.series for key, builder in self._uses.items()}
        return ProcessTrack(self._last, self._present, self._own.series, uses, self._computes)


def _cores(samples: Sequence[Sample]) -> npt.NDArray[np.float64] | None:
    width = max((len(sample.host.cores) for sample in samples), default=0)
    if not width:
        return None
    cores = np.full((len(samples), width), np.nan)
    for index, sample in enumerate(samples):
        cores[index, : len(sample.host.cores)] = sample.host.cores
    return cores


def _cut(series: Mapping[str, Series], part: slice) -> dict[str, Series]:
    return {name: values[part] for name, values in series.items()}
