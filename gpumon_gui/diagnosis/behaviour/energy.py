"""Knows: what energy the devices used between samples. Must not know: whose work it was."""

from __future__ import annotations

from typing import Final

from gpumon_gui.core.model import Sample
from gpumon_gui.core.values import number

#: Two readings further apart than this (the computer slept) say nothing about the power between them.
LONGEST_GAP_S: Final = 30.0


class Energy:
    """Joules per device: what its own counter rose by, else power times time."""

    def __init__(self) -> None:
        self._before: dict[str, tuple[float, float | None]] = {}  # time, watts
        self._counter: dict[str, tuple[float, float]] = {}  # first, last
        self._by_power: dict[str, float] = {}

    def add(self, sample: Sample) -> None:
        """Take a sample."""
        for info in sample.inventory:
            device = sample.devices.get(info.key)
            if device is None or info.parent is not None:
                continue
            name = f"GPU {info.index}"
            counted, power = number(device.values.get("energy_j")), number(device.values.get("power_w"))
            if counted is not None:
                first, last = self._counter.get(name, (counted, counted))
                self._counter[name] = (first if counted >= last else counted, counted)  # a driver that was reloaded
            before_s, before_w = self._before.get(name, (sample.monotonic_s, None))
            self._before[name] = (sample.monotonic_s, power)
            passed_s = sample.monotonic_s - before_s
            if power is not None and before_w is not None and passed_s <= LONGEST_GAP_S:
                spent = (power + before_w) / 2 * passed_s
                self._by_power[name] = self._by_power.get(name, 0.0) + spent

    @property
    def joules(self) -> dict[str, float]:
        """By device; one of which nothing is known is not there."""
        counted = {name: last - first for name, (first, last) in self._counter.items() if last > first}
        return {**self._by_power, **counted}
