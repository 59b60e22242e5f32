"""Knows: what energy the devices used between samples. Must not know: whose work it was."""

from __future__ import annotations

from collections.abc import Container
from dataclasses import dataclass
from typing import Final

from gpumon_gui.core.model import DeviceKey, Sample
from gpumon_gui.core.values import number

#: Two readings further apart than this (the computer slept) say nothing about the power between them.
LONGEST_GAP_S: Final = 30.0


@dataclass(slots=True)
class _Account:
    """One device; ``name`` is for people. The counter may be read less often than samples come: it says what was used
    between two of its readings. Power times time says it before the first of them and after the last."""

    name: str
    at_s: float
    power_w: float | None
    counter_j: float | None
    is_fresh: bool = False
    until_counter_j: float = 0.0
    since_counter_j: float = 0.0
    is_known: bool = False

    def add(self, at_s: float, power_w: float | None, counter_j: float | None) -> None:
        passed_s = at_s - self.at_s
        if power_w is not None and self.power_w is not None and 0.0 < passed_s <= LONGEST_GAP_S:
            self.since_counter_j += (power_w + self.power_w) / 2 * passed_s
            self.is_known = True
        self.at_s, self.power_w = at_s, power_w
        if counter_j is None or counter_j == self.counter_j:
            return
        if self.counter_j is not None:
            rise_j = counter_j - self.counter_j  # falls where the driver was loaded again
            # How old the first reading was is not known.
            counts = rise_j > 0.0 and (self.is_fresh or not self.is_known)
            self.until_counter_j += rise_j if counts else self.since_counter_j
            self.since_counter_j = 0.0
            self.is_fresh = True
            self.is_known = self.is_known or counts
        self.counter_j = counter_j


class Energy:
    """Joules per device since the first sample: what its own counter rose by, else power times time."""

    def __init__(self) -> None:
        self._accounts: dict[DeviceKey, _Account] = {}

    def add(self, sample: Sample, only: Container[DeviceKey] | None = None) -> None:
        """Take a sample: of every device, or of ``only`` these."""
        for info in sample.inventory:
            device = sample.devices.get(info.key)
            if device is None or info.parent is not None or (only is not None and info.key not in only):
                continue
            power_w, counter_j = number(device.values.get("power_w")), number(device.values.get("energy_j"))
            account = self._accounts.get(info.key)
            if account is None:
                self._accounts[info.key] = _Account(f"GPU {info.index}", sample.monotonic_s, power_w, counter_j)
            else:
                account.add(sample.monotonic_s, power_w, counter_j)

    @property
    def joules(self) -> dict[DeviceKey, float]:
        """By device; one of which nothing is known is not there."""
        return {
            key: account.until_counter_j + account.since_counter_j
            for key, account in self._accounts.items()
            if account.is_known
        }

    @property
    def named(self) -> dict[str, float]:
        """The same for people: ``GPU 0``. Devices that had one number after another are added up."""
        found: dict[str, float] = {}
        for key, joules in self.joules.items():
            name = self._accounts[key].name
            found[name] = found.get(name, 0.0) + joules
        return found

    @property
    def total_j(self) -> float | None:
        """Of all devices together; None where one of them is not known."""
        known = self.joules
        return sum(known.values()) if known and len(known) == len(self._accounts) else None
