"""Knows: the last values that a device gave before it was lost, slept or did not answer. Must not know: widgets."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from gpumon_gui.bridge.feed import Feed
from gpumon_gui.core.metrics import METRICS
from gpumon_gui.core.model import DeviceKey, DeviceSample, DeviceState, Sample
from gpumon_gui.core.values import Reading, Value
from gpumon_gui.history.ring import Ring


@dataclass(frozen=True, slots=True)
class Good:
    """The last good values of a device and when they were read (monotonic seconds)."""

    device: DeviceSample
    read_s: float


class LastGood:
    """Remembers them; after a seek in a replay they are taken from the feed's history."""

    def __init__(self, feed: Feed) -> None:
        self._feed = feed
        self._good: dict[DeviceKey, Good] = {}

    def remember(self, sample: Sample) -> None:
        """A new sample."""
        for key, device in sample.devices.items():
            if device.state is DeviceState.OK:
                self._good[key] = Good(device, sample.monotonic_s)

    def forget(self) -> None:
        """The feed begins anew."""
        self._good.clear()

    def of(self, key: DeviceKey) -> Good | None:
        """Those of a device; None when it never gave any."""
        ring = self._feed.ring(key)
        if key not in self._good and ring is not None and (good := _from_history(key, ring)) is not None:
            self._good[key] = good
        return self._good.get(key)


def _from_history(key: DeviceKey, ring: Ring) -> Good | None:
    columns = {name: ring.column(name) for name in ring.names if name in METRICS}
    finite = {name: np.flatnonzero(np.isfinite(column)) for name, column in columns.items()}
    rows = {name: int(found[-1]) for name, found in finite.items() if len(found)}
    if not rows:
        return None
    values: dict[str, Value] = {name: Reading(float(columns[name][row]), "") for name, row in rows.items()}
    return Good(DeviceSample(key, values=values), float(ring.times()[max(rows.values())]))
