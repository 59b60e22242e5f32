"""Knows: a GPU that is too hot. Must not know: the other kinds."""

from __future__ import annotations

from collections.abc import Iterator

from gpumon_gui.core.formatters import celsius
from gpumon_gui.core.messages import N_
from gpumon_gui.core.model import Sample
from gpumon_gui.core.values import number
from gpumon_gui.diagnosis.alerts.alert import Figure, Limits, Sign, State
from gpumon_gui.diagnosis.alerts.past import Past

KIND = "temperature"
TITLE = N_("The GPU is hot")
TEXT = N_("{gpu}: {temperature}. Check fans, dust and air flow.")

#: A single reading above the limit is a spike of the sensor.
HOLD_S = 10.0
#: So far below the limit it is over.
BACK_C = 5.0


class Temperature:
    """Over the limit for a while."""

    def __init__(self) -> None:
        self._past: dict[str, Past] = {}

    def look(self, sample: Sample, limits: Limits) -> Iterator[Sign]:
        """Each device that has a sensor."""
        for info in sample.inventory:
            device = sample.devices.get(info.key)
            degrees = None if device is None else number(device.values.get("temperature_c"))
            if degrees is None:
                continue
            past = self._past.setdefault(str(info.key), Past(HOLD_S))
            past.add(sample.monotonic_s, degrees)
            values = {"gpu": info.name, "temperature": Figure(celsius, degrees)}
            lowest = min(value for _time, value in past.pairs)
            if lowest >= limits.temperature_c and past.seconds >= HOLD_S * 0.8:
                yield Sign(str(info.key), State.HOLDS, values, info.key)
            elif degrees <= limits.temperature_c - BACK_C:
                yield Sign(str(info.key), State.OVER)
