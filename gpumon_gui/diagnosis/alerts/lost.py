"""Knows: a GPU that is lost and a driver that does not answer. Must not know: the other kinds."""

from __future__ import annotations

from collections.abc import Iterator

from gpumon_gui.core.messages import N_
from gpumon_gui.core.model import DeviceState, Sample
from gpumon_gui.diagnosis.alerts.alert import Limits, Sign, State

KIND = "lost"
TITLE = N_("A GPU does not answer")
TEXT = N_("{gpu}: the driver has lost it or does not answer. Programs on it fail; often only a restart helps.")


class Lost:
    """At once: there is nothing to wait for. A GPU that was never well in this run is not lost."""

    def __init__(self) -> None:
        self._well: set[str] = set()

    def look(self, sample: Sample, limits: Limits) -> Iterator[Sign]:
        """Each device."""
        for info in sample.inventory:
            device = sample.devices.get(info.key)
            subject = str(info.key)
            if device is None:
                continue
            if device.state in (DeviceState.LOST, DeviceState.NOT_ANSWERING):
                if subject in self._well:
                    yield Sign(subject, State.HOLDS, {"gpu": info.name}, info.key)
            else:
                self._well.add(subject)
                yield Sign(subject, State.OVER)
