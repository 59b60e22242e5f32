"""Knows: samples over a while as series per device and process. Must not know: what they mean, where they come from.

A series is a float64 array as long as ``times_s``; NaN is a missing value (never zero). Units are those of the metric
catalogue (fractions, bytes, watts, MHz, bytes per second).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from gpumon_gui.core.model import DeviceInfo, DeviceKey, DeviceState, ProcessSample
from gpumon_gui.core.values import number

Series = npt.NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class DeviceTrack:
    """One device. ``series`` has every numeric metric that had a value at least once (lasting numbers may stand in
    ``info.static`` instead: :meth:`lasting`); ``sources`` says which counter each series is from. ``engines`` are
    Windows' or DRM's engine series by the source's spelling (the busiest of those with one name), ``state`` is the last
    one seen."""

    info: DeviceInfo
    series: Mapping[str, Series]
    sources: Mapping[str, str]
    engines: Mapping[str, Series]
    state: DeviceState = DeviceState.OK

    def lasting(self, name: str) -> float | None:
        """A number that hardly changes, such as ``memory_total_bytes``: sources tell some of them once and others
        with every sample; then the last one counts."""
        told = number(self.info.static.get(name))
        if told is None and name in self.series:
            seen = self.series[name][~np.isnan(self.series[name])]
            return float(seen[-1]) if seen.size else None
        return None if told is None else float(told)


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


def _cut(series: Mapping[str, Series], part: slice) -> dict[str, Series]:
    return {name: values[part] for name, values in series.items()}
