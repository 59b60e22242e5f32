"""Knows: what energy the devices used between samples. Must not know: whose work it was."""

from __future__ import annotations

from collections.abc import Container
from typing import Final

from gpumon_gui.core.model import DeviceKey, Sample
from gpumon_gui.core.values import number

#: Two readings further apart than this (the computer slept) say nothing about the power between them.
LONGEST_GAP_S: Final = 30.0


class Energy:
    """Joules per device since the first sample: what its own counter rose by, else power times time."""

    def __init__(self) -> None:
        self._before: dict[str, tuple[float, float | None]] = {}  # time, watts
        self._counter: dict[str, float] = {}
        self._by_counter: dict[str, float] = {}
        self._by_power: dict[str, float] = {}

    def add(self, sample: Sample, only: Container[DeviceKey] | None = None) -> None:
        """Take a sample: of every device, or of ``only`` these."""
        for info in sample.inventory:
            device = sample.devices.get(info.key)
            if device is None or info.parent is not None or (only is not None and info.key not in only):
                continue
            name = f"GPU {info.index}"
            counted, power = number(device.values.get("energy_j")), number(device.values.get("power_w"))
            if counted is not None:
                rise = counted - self._counter.get(name, counted)  # falls where the driver was loaded again
                self._counter[name] = counted
                self._by_counter[name] = self._by_counter.get(name, 0.0) + max(0.0, rise)
            before_s, before_w = self._before.get(name, (sample.monotonic_s, None))
            self._before[name] = (sample.monotonic_s, power)
            passed_s = sample.monotonic_s - before_s
            if power is not None and before_w is not None and passed_s <= LONGEST_GAP_S:
                spent = (power + before_w) / 2 * passed_s
                self._by_power[name] = self._by_power.get(name, 0.0) + spent

    @property
    def joules(self) -> dict[str, float]:
        """By device; one of which nothing is known is not there."""
        return {**self._by_power, **{name: joules for name, joules in self._by_counter.items() if joules > 0.0}}

    @property
    def total_j(self) -> float | None:
        """Of all devices together; None where nothing is known."""
        return sum(self.joules.values()) if self.joules else None
