"""Knows: the figures of a log of nvidia-smi, per GPU and column, and how cells are read into them. Must not know:
lines, times.
"""

from __future__ import annotations

import math
from array import array
from collections.abc import Callable
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Final

from gpumon_gui.core.identity import key_of, parse_pci_address
from gpumon_gui.core.model import DeviceInfo, DeviceKey, DeviceKind, DeviceSample, DeviceState
from gpumon_gui.core.values import Missing, Reading, Reason, Value, checked
from gpumon_gui.telemetry.recording.smi_fields import (
    FIELDS,
    IDENTITIES,
    LASTING,
    LASTING_TEXTS,
    MIB,
    reason_bit,
    why_missing,
)

SOURCE: Final = "smi"


@dataclass(slots=True)
class _Column:
    """Figures of one metric as printed, NaN where there is none: ``usual`` says why, ``other`` where it differs."""

    factor: float
    values: array[float] = field(default_factory=lambda: array("f"))
    usual: tuple[Reason, str] | None = None
    other: dict[int, tuple[Reason, str]] = field(default_factory=dict)

    def put(self, index: int, value: float) -> None:
        values = self.values
        short = index - len(values)
        if short > 0:
            values.extend([math.nan] * short)
        if short >= 0:
            values.append(value)
        elif not math.isnan(value):
            values[index] = value  # an older spelling beside the newer one

    def lack(self, index: int, why: tuple[Reason, str]) -> None:
        if len(self.values) > index and not math.isnan(self.values[index]):
            return
        self.put(index, math.nan)
        if self.usual is None:
            self.usual = why
        elif why != self.usual:
            self.other[index] = why

    def value(self, metric: str, index: int) -> Value:
        raw = self.values[index] if index < len(self.values) else math.nan
        if math.isnan(raw):
            reason, detail = self.other.get(index) or self.usual or (Reason.NOT_READ, "")
            return Missing(reason, SOURCE, detail)
        number = round(raw, 2)  # nvidia-smi prints two digits; single precision has seven
        if metric in ("pstate", "throttle_reasons", "pcie_gen", "pcie_width") or self.factor == MIB:
            return checked(metric, int(number * self.factor), SOURCE)
        return checked(metric, round(number * self.factor, 6), SOURCE)


class Card:
    """One GPU of a log: ``columns`` of figures, ``lasting`` values, ``words`` (index, uuid, pci.bus_id, name)."""

    def __init__(self, number: int) -> None:
        self._number = number
        self.columns: dict[str, _Column] = {}
        self.present = bytearray()
        self.lasting: dict[str, Value] = {}
        self.words: dict[str, str] = {}

    def at(self, index: int) -> None:
        """It has a row in this look."""
        short = index - len(self.present)
        self.present.extend(b"\0" * short + b"\1")

    def info(self, number: int) -> DeviceInfo:
        """What lasts; ``number`` is its place where the log has no index."""
        pci = parse_pci_address(self.words.get("pci.bus_id", ""))
        uuid = self.words.get("uuid") or None
        index = self.words.get("index", "")
        return DeviceInfo(
            key=key_of(pci, None, uuid, f"nvidia-smi:{index or number}"),
            name=self.words.get("name") or "GPU",
            vendor="nvidia",
            kind=DeviceKind.UNKNOWN,
            index=int(index) if index.isdecimal() and len(index) <= 4 else number,
            pci_address=pci,
            uuid=uuid,
            sources=(SOURCE,),
            static=MappingProxyType(self.lasting),
        )

    def sample(self, key: DeviceKey, index: int) -> DeviceSample | None:
        """One look; None where it has no row."""
        if index >= len(self.present) or not self.present[index]:
            return None
        values = {metric: column.value(metric, index) for metric, column in self.columns.items()}
        if not isinstance(values.get("power_w"), Reading) and "power_average_w" in values:
            values["power_w"] = values["power_average_w"]  # what power.draw is on current drivers
        lost = any(isinstance(one, Missing) and one.reason is Reason.DEVICE_LOST for one in values.values())
        state = DeviceState.LOST if lost else DeviceState.OK
        return DeviceSample(key, state, values=MappingProxyType(values))


Take = Callable[[Card, int, str], None]
"""Reads a cell of a look into a card."""


def taker(name: str, names: list[str]) -> Take | None:
    """What is done with the cells of a column; None: nothing."""
    if name in FIELDS:
        return _figure(*FIELDS[name], _parser(name))
    if name in LASTING:
        return _lasting(*LASTING[name])
    if name in LASTING_TEXTS:
        return _lasting_text(LASTING_TEXTS[name])
    if name in (*IDENTITIES, "name"):
        return _word(name)
    bit = reason_bit(name)
    return _reason(bit) if bit and "clocks_event_reasons.active" not in names else None


def _parser(name: str) -> Callable[[str], float]:
    if name == "pstate":
        return lambda cell: float(cell.removeprefix("P"))
    if name.endswith("reasons.active"):
        return lambda cell: float(int(cell, 16))
    return lambda cell: float(cell.partition(" ")[0])


def _figure(metric: str, factor: float, parse: Callable[[str], float]) -> Take:
    def take(card: Card, index: int, cell: str) -> None:
        column = card.columns.get(metric)
        if column is None:
            column = card.columns[metric] = _Column(factor)
        try:
            column.put(index, parse(cell))
        except ValueError:
            column.lack(index, why_missing(cell))

    return take


def _reason(bit: int) -> Take:
    def take(card: Card, index: int, cell: str) -> None:
        column = card.columns.get("throttle_reasons")
        if column is None:
            column = card.columns["throttle_reasons"] = _Column(1)
        if cell not in ("Active", "Not Active"):
            column.lack(index, why_missing(cell))
            return
        before = column.values[index] if index < len(column.values) else math.nan
        mask = 0 if math.isnan(before) else int(before)
        column.put(index, float(mask | bit if cell == "Active" else mask))

    return take


def _word(name: str) -> Take:
    def take(card: Card, _index: int, cell: str) -> None:
        card.words.setdefault(name, cell)

    return take


def _lasting(metric: str, factor: float) -> Take:
    def take(card: Card, _index: int, cell: str) -> None:
        if metric in card.lasting:
            return
        try:
            number = float(cell.partition(" ")[0]) * factor
        except ValueError:
            return
        card.lasting[metric] = checked(metric, int(number) if factor == MIB else number, SOURCE)

    return take


def _lasting_text(metric: str) -> Take:
    def take(card: Card, _index: int, cell: str) -> None:
        if metric not in card.lasting and cell and not cell.startswith("["):
            card.lasting[metric] = Reading(cell, SOURCE)

    return take
