"""Knows: what ``nvidia-smi --query-gpu=… --format=csv`` prints, line after line. Must not know: who plays it.

Form: a header (``timestamp, index, utilization.gpu [%], memory.used [MiB], power.draw [W]``), then a line per GPU and
look: ``2026/11/30 12:00:01.123, 0, 17 %, 1024 MiB, 172.41 W``; with ``nounits`` the cells are bare numbers. The header
may come again (a log that was appended to), with other columns too. ``[N/A]``, ``[Not Supported]``, ``[Unknown
Error]`` … are missing values. PowerShell's ``>`` writes UTF-16. Other lines (nvidia-smi's messages when the driver
fails) and a last line that was cut off are left out; ``meta["notice"]`` says so. Names and units:
``nvidia-smi --help-query-gpu``.

The time is local and without a zone: that of this machine is taken. Without ``timestamp`` one look a second is assumed.
A file is read once, front to back; what is kept are 4 bytes per figure.

Raises UnreadableInput with file and line for what is no such log, and for one without its header.
"""

from __future__ import annotations

import math
import re
from array import array
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from types import MappingProxyType
from typing import Final

import numpy as np

from gpumon_gui.core.database import reading
from gpumon_gui.core.errors import UnreadableInput
from gpumon_gui.core.files import check_regular_file, printable, shown
from gpumon_gui.core.identity import key_of, parse_pci_address
from gpumon_gui.core.messages import _, ngettext
from gpumon_gui.core.metrics import ClockReason
from gpumon_gui.core.model import DeviceInfo, DeviceKey, DeviceKind, DeviceSample, DeviceState, Sample
from gpumon_gui.core.values import Missing, Reading, Reason, Value, checked
from gpumon_gui.telemetry.recording.base import Times, index_at

SOURCE = "smi"
#: Real lines have some 100 characters; whole queries 2,000. Eight GPUs over a day at one look a second: 70 MB.
LONGEST_LINE: Final = 1 << 16
MOST_BYTES: Final = 1 << 30
#: More than a machine holds: rows of further ones are left out, and told as such.
_MOST_GPUS: Final = 128
#: How much of a file is looked at to tell what it is.
HEAD_BYTES: Final = 1 << 16

_MIB = float(1 << 20)
#: nvidia-smi's field → metric and factor to canonical units. Where two give the same metric the later one counts.
_FIELDS: Final[Mapping[str, tuple[str, float]]] = {
    "utilization.gpu": ("gpu_utilization", 0.01),
    "utilization.memory": ("memory_utilization", 0.01),
    "utilization.encoder": ("encoder_utilization", 0.01),
    "utilization.decoder": ("decoder_utilization", 0.01),
    "utilization.jpeg": ("jpeg_utilization", 0.01),
    "utilization.ofa": ("ofa_utilization", 0.01),
    "memory.used": ("memory_used_bytes", _MIB),
    "memory.free": ("memory_free_bytes", _MIB),
    "memory.reserved": ("memory_reserved_bytes", _MIB),
    "temperature.gpu": ("temperature_c", 1),
    "temperature.memory": ("memory_temperature_c", 1),
    "power.draw": ("power_w", 1),
    "power.draw.average": ("power_average_w", 1),
    "power.draw.instant": ("power_instant_w", 1),
    "power.limit": ("power_limit_w", 1),
    "enforced.power.limit": ("power_limit_w", 1),
    "fan.speed": ("fan_ratio", 0.01),
    "clocks.current.graphics": ("clock_graphics_mhz", 1),
    "clocks.current.sm": ("clock_sm_mhz", 1),
    "clocks.current.memory": ("clock_memory_mhz", 1),
    "clocks.current.video": ("clock_video_mhz", 1),
    "pcie.link.gen.current": ("pcie_gen", 1),
    "pcie.link.width.current": ("pcie_width", 1),
    "pstate": ("pstate", 1),
    "clocks_event_reasons.active": ("throttle_reasons", 1),
    "ecc.errors.corrected.volatile.total": ("ecc_corrected", 1),
    "ecc.errors.uncorrected.volatile.total": ("ecc_uncorrected", 1),
}
#: What lasts: field → metric and factor; the first value counts.
_LASTING: Final[Mapping[str, tuple[str, float]]] = {
    "memory.total": ("memory_total_bytes", _MIB),
    "clocks.max.graphics": ("clock_graphics_max_mhz", 1),
    "clocks.max.sm": ("clock_sm_max_mhz", 1),
    "clocks.max.memory": ("clock_memory_max_mhz", 1),
    "power.default_limit": ("power_limit_default_w", 1),
    "power.min_limit": ("power_limit_min_w", 1),
    "power.max_limit": ("power_limit_max_w", 1),
    "pcie.link.gen.max": ("pcie_gen_max", 1),
    "pcie.link.width.max": ("pcie_width_max", 1),
}
_LASTING_TEXTS: Final[Mapping[str, str]] = {
    "driver_version": "driver_version",
    "vbios_version": "vbios_version",
    "compute_cap": "compute_capability",
    "driver_model.current": "driver_model",
}
#: Columns of single reasons → their bit in ``throttle_reasons``.
_REASON_BITS: Final[Mapping[str, ClockReason]] = {
    "gpu_idle": ClockReason.IDLE,
    "applications_clocks_setting": ClockReason.APPLICATION_CLOCKS,
    "sw_power_cap": ClockReason.POWER_CAP,
    "hw_slowdown": ClockReason.HARDWARE_SLOWDOWN,
    "sync_boost": ClockReason.SYNC_BOOST,
    "sw_thermal_slowdown": ClockReason.SOFTWARE_THERMAL,
    "hw_thermal_slowdown": ClockReason.HARDWARE_THERMAL,
    "hw_power_brake_slowdown": ClockReason.POWER_BRAKE,
}
#: Short and older spellings.
_ALIASES: Final[Mapping[str, str]] = {
    "clocks.gr": "clocks.current.graphics",
    "clocks.sm": "clocks.current.sm",
    "clocks.mem": "clocks.current.memory",
    "clocks.video": "clocks.current.video",
    "clocks.max.gr": "clocks.max.graphics",
    "clocks.max.mem": "clocks.max.memory",
    "pcie.link.gen.gpucurrent": "pcie.link.gen.current",
    "pcie.link.gen.gpumax": "pcie.link.gen.max",
    "gpu_name": "name",
    "gpu_uuid": "uuid",
    "gpu_bus_id": "pci.bus_id",
}
_IDENTITIES: Final = ("index", "uuid", "pci.bus_id")
_HEADER_CELL = re.compile(r"\s*([A-Za-z_]+(?:\.[A-Za-z_0-9]+)*)\s*(?:\[[^\]]*\])?\s*")
_STAMP = re.compile(r"\s*(\d{4}[/-]\d\d?[/-]\d\d?)[ T](\d\d?):(\d\d)(?::(\d\d(?:\.\d+)?))?\s*")
_VALUE_CELL = re.compile(r"\s*(?:-?\d+(?:\.\d+)?\s*(?:%|MiB|W|MHz)?|\[[^\]]*\]|P\d+)\s*")
#: Two GPUs of one look are asked a few milliseconds apart; a whole look takes nvidia-smi 36 ms and more.
_SAME_LOOK_S, _LONGEST_LOOK_S = 0.02, 0.5
_MISSING: Final[tuple[tuple[str, Reason], ...]] = (
    ("permission", Reason.NO_PERMISSION),
    ("lost", Reason.DEVICE_LOST),
    ("reset", Reason.DEVICE_LOST),
    ("not supported", Reason.NOT_SUPPORTED),
    ("n/a", Reason.NOT_SUPPORTED),
    ("deprecated", Reason.NOT_SUPPORTED),
)


def looks_like_log(head: bytes) -> bool:
    """Whether the beginning of a file may be such a log, with its header or without."""
    lines = [line for line in head.decode(_encoding(head), "replace").splitlines()[:50] if line.strip()]
    return any(_is_header(line.split(",")) for line in lines) or (bool(lines) and _is_bare(lines[0]))


class SmiLog:
    """A log opened for replay; whole in memory."""

    def __init__(self, path: Path) -> None:
        check_regular_file(path)
        self._path = path.absolute()
        with reading(path), path.open("rb") as file:
            head = file.read(HEAD_BYTES)
        reader = _Reader(self._path)
        with reading(path), path.open(encoding=_encoding(head), errors="replace", newline=None) as lines:
            reader.read(lines.readline)
        self._cards = tuple(reader.cards.values())
        times = np.array(reader.times, dtype=np.float64)
        self._utc_s = float(times[0])
        self._times: Times = times - times[0]
        self._times.setflags(write=False)
        self._inventory = tuple(card.info(number) for number, card in enumerate(self._cards))
        self._complete = not reader.is_cut
        meta = {"program": "nvidia-smi"}
        if reader.notices:
            meta["notice"] = " ".join(reader.notices)
        self._meta = MappingProxyType(meta)

    @property
    def path(self) -> Path:
        """The file."""
        return self._path

    @property
    def meta(self) -> Mapping[str, str]:
        """``program`` is ``nvidia-smi``; ``notice``: sentences on what was left out or assumed."""
        return self._meta

    @property
    def times(self) -> Times:
        """Seconds from the first look."""
        return self._times

    @property
    def complete(self) -> bool:
        """False when the last line was cut off."""
        return self._complete

    def __len__(self) -> int:
        return len(self._times)

    def sample(self, index: int) -> Sample:
        """One look. Raises IndexError."""
        if not 0 <= index < len(self):
            raise IndexError(index)
        time_s = float(self._times[index])
        devices = {
            info.key: found
            for card, info in zip(self._cards, self._inventory, strict=True)
            if (found := card.sample(info.key, index)) is not None
        }
        return Sample(
            sequence=index,
            monotonic_s=time_s,
            utc_s=self._utc_s + time_s,
            interval_s=time_s - float(self._times[index - 1]) if index else 0.0,
            inventory=self._inventory,
            devices=MappingProxyType(devices),
        )

    def index_at(self, time_s: float) -> int:
        """The last look not later than ``time_s`` seconds from the start."""
        return index_at(self._times, time_s)

    def close(self) -> None:
        """Nothing is held."""


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
        if metric in ("pstate", "throttle_reasons", "pcie_gen", "pcie_width") or self.factor == _MIB:
            return checked(metric, int(number * self.factor), SOURCE)
        return checked(metric, round(number * self.factor, 6), SOURCE)


class _Card:
    """One GPU of the log."""

    def __init__(self, number: int) -> None:
        self._number = number
        self.columns: dict[str, _Column] = {}
        self.present = bytearray()
        self.lasting: dict[str, Value] = {}
        self.words: dict[str, str] = {}  # index, uuid, pci.bus_id, name

    def at(self, index: int) -> None:
        short = index - len(self.present)
        self.present.extend(b"\0" * short + b"\1")

    def info(self, number: int) -> DeviceInfo:
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
        if index >= len(self.present) or not self.present[index]:
            return None
        values = {metric: column.value(metric, index) for metric, column in self.columns.items()}
        if not isinstance(values.get("power_w"), Reading) and "power_average_w" in values:
            values["power_w"] = values["power_average_w"]  # what power.draw is on current drivers
        lost = any(isinstance(one, Missing) and one.reason is Reason.DEVICE_LOST for one in values.values())
        state = DeviceState.LOST if lost else DeviceState.OK
        return DeviceSample(key, state, values=MappingProxyType(values))


_Take = Callable[[_Card, int, str], None]


class _Reader:
    """Takes lines; afterwards has ``times`` (UTC seconds, ascending), ``cards`` and ``notices``."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self.times: array[float] = array("d")
        self.cards: dict[tuple[str, ...], _Card] = {}
        self.notices: list[str] = []
        self.is_cut = False
        self._width = 0
        self._takes: tuple[tuple[int, _Take], ...] = ()
        self._stamp: int | None = None
        self._ids: tuple[int, ...] = ()
        self._by_name: int | None = None
        self._seen: set[tuple[str, ...]] = set()
        self._look_s = self._row_s = -math.inf
        self._shift_s = 0.0
        self._hours: dict[str, float] = {}
        self._strange = 0
        self._first_strange: tuple[int, str] = (0, "")
        self._rows = 0

    def read(self, readline: Callable[[int], str]) -> None:
        """All lines. Raises UnreadableInput."""
        held: tuple[int, str] | None = None  # a line is taken when it is known whether it was the last one
        for number, line in _lines(readline, self._path):
            if held is not None:
                self._line(*held)
            held = (number, line)
        if held is not None:
            number, line = held
            if line.endswith("\n") or (not self._rows and len(line.split(",")) == self._width):
                self._line(number, line)
            elif line.strip():
                self.is_cut = True
                self.notices.append(_("Line {line}, the last one, is cut off and was left out.").format(line=number))
        if not self._width:
            raise UnreadableInput(_("{path}: no log of nvidia-smi --query-gpu.").format(path=shown(self._path)))
        if not self._rows:
            message = _("{path}: a log of nvidia-smi without a single figure.")
            raise UnreadableInput(message.format(path=shown(self._path)))
        if self._strange:
            words = ngettext(
                "{count} line that is no row was left out: line {line}, “{text}”.",
                "{count} lines that are no rows were left out; the first is line {line}, “{text}”.",
                self._strange,
            )
            line_number, text = self._first_strange
            self.notices.append(words.format(count=self._strange, line=line_number, text=printable(text[:80])))
        if self._stamp is None:
            self.notices.append(_("The log has no timestamp: one look a second is assumed."))

    def _line(self, number: int, line: str) -> None:
        if not line.strip():
            return
        cells = line.split(",")
        if _is_header(cells):
            self._head(number, cells)
        elif not self._width and _is_bare(line):
            example = ", ".join(cell.strip() for cell in cells[:4])
            message = _(
                "{path}:{line}: a log of nvidia-smi without its header: which of the {count} columns is what "
                "({example} …) cannot be known. Log with --format=csv, without noheader."
            )
            raise UnreadableInput(
                message.format(path=shown(self._path), line=number, count=len(cells), example=printable(example))
            )
        elif len(cells) != self._width or not self._row(cells):
            self._strange += 1
            if self._strange == 1:
                self._first_strange = (number, line.strip())

    def _head(self, number: int, cells: list[str]) -> None:
        names = [_name(cell) for cell in cells]
        takes = [(at, take) for at, name in enumerate(names) if (take := _taker(name, names)) is not None]
        if not any(name in _FIELDS or _reason_bit(name) for name in names):
            message = _(
                "{path}:{line}: none of these columns can be judged: {names}. Log utilization.gpu, power.draw …"
            )
            known = ", ".join(cell.strip() for cell in cells)
            raise UnreadableInput(message.format(path=shown(self._path), line=number, names=printable(known)))
        self._width = len(cells)
        self._takes = tuple(takes)
        self._stamp = names.index("timestamp") if "timestamp" in names else None
        self._ids = tuple(names.index(name) for name in _IDENTITIES if name in names)[:1]
        self._by_name = names.index("name") if not self._ids and "name" in names else None

    def _row(self, cells: list[str]) -> bool:
        if self._stamp is None:
            time_s: float | None = None
        else:
            time_s = self._time(cells[self._stamp])
            if time_s is None:
                return False
        card = self._place(cells, time_s)
        if card is None:
            return False
        index = len(self.times) - 1
        card.at(index)
        for at, take in self._takes:
            take(card, index, cells[at].strip())
        self._rows += 1
        return True

    def _place(self, cells: list[str], time_s: float | None) -> _Card | None:
        """The card of a row; begins another look where the row belongs to one. None beyond the most cards."""
        stamp_s = time_s if time_s is not None else self._row_s
        if self._ids:
            identity: tuple[str, ...] = (cells[self._ids[0]].strip(),)
            is_new = identity in self._seen or stamp_s - self._look_s > _LONGEST_LOOK_S
        else:
            name = cells[self._by_name].strip() if self._by_name is not None else ""
            is_new = time_s is None or stamp_s - self._row_s > _SAME_LOOK_S
            place = 0 if is_new else len(self._seen)
            identity = (name, str(place))
        if identity not in self.cards and len(self.cards) >= _MOST_GPUS:
            return None
        if is_new or not len(self.times):
            self._seen.clear()
            if time_s is None:
                time_s = self.times[-1] + 1.0 if len(self.times) else 0.0
            self.times.append(time_s)
            self._look_s = time_s
        self._row_s = time_s if time_s is not None else self._look_s
        self._seen.add(identity)
        card = self.cards.get(identity)
        if card is None:
            card = self.cards[identity] = _Card(len(self.cards))
        return card

    def _time(self, cell: str) -> float | None:
        """UTC seconds that never go back: a clock that was set back, or the end of summer time, is skipped over."""
        match = _STAMP.fullmatch(cell)
        if match is None:
            return None
        day, hour, minute, second = match.groups()
        base = self._hours.get(day + hour)
        if base is None:
            try:
                year, month, date = (int(part) for part in re.split("[/-]", day))
                base = datetime(year, month, date, int(hour)).astimezone().timestamp()
            except (ValueError, OverflowError, OSError):
                return None
            self._hours[day + hour] = base
        time_s = base + 60 * int(minute) + float(second or 0) + self._shift_s
        if time_s < self._row_s - _LONGEST_LOOK_S:
            back_s = self._row_s + 1.0 - time_s
            self._shift_s += back_s
            time_s += back_s
        return max(time_s, self._row_s)


def _lines(readline: Callable[[int], str], path: Path) -> Iterator[tuple[int, str]]:
    number = total = 0
    while True:
        number += 1
        line = readline(LONGEST_LINE + 1)
        if not line:
            return
        total += len(line)
        if len(line) > LONGEST_LINE or total > MOST_BYTES:
            message = _("{path}:{line}: {detail}")
            detail = _("too long for a log of nvidia-smi")
            raise UnreadableInput(message.format(path=shown(path), line=number, detail=detail))
        yield number, line


def _encoding(head: bytes) -> str:
    if head.startswith((b"\xff\xfe", b"\xfe\xff")):
        return "utf-16"
    if len(head) > 1 and head[1::2].count(0) > len(head) // 4:
        return "utf-16-le"
    return "utf-8-sig"  # all that counts is ASCII, in GBK too


def _name(cell: str) -> str:
    """The field's name without its unit, in the newest spelling; empty for no name."""
    match = _HEADER_CELL.fullmatch(cell)
    if match is None:
        return ""
    name = match.group(1).lower().replace("clocks_throttle_reasons.", "clocks_event_reasons.")
    return _ALIASES.get(name, name)


def _is_header(cells: list[str]) -> bool:
    names = [_name(cell) for cell in cells]
    return all(names) and any(name in _KNOWN or _reason_bit(name) for name in names)


def _is_bare(line: str) -> bool:
    """Whether a line is a row, as far as it can be told without a header."""
    cells = line.split(",")
    stamps = sum(_STAMP.fullmatch(cell) is not None for cell in cells)
    figures = sum(_VALUE_CELL.fullmatch(cell) is not None for cell in cells)
    return stamps + figures > 1 and 2 * (stamps + figures) >= len(cells)


_KNOWN: Final = frozenset((*_FIELDS, *_LASTING, *_LASTING_TEXTS, *_IDENTITIES, "timestamp", "name", "count"))


def _reason_bit(name: str) -> int:
    return _REASON_BITS.get(name.removeprefix("clocks_event_reasons."), 0) if "_reasons." in name else 0


def _taker(name: str, names: list[str]) -> _Take | None:
    """What is done with the cells of a column; None: nothing."""
    if name in _FIELDS:
        return _figure(*_FIELDS[name], _parser(name))
    if name in _LASTING:
        return _lasting(*_LASTING[name])
    if name in _LASTING_TEXTS:
        return _lasting_text(_LASTING_TEXTS[name])
    if name in (*_IDENTITIES, "name"):
        return _word(name)
    bit = _reason_bit(name)
    return _reason(bit) if bit and "clocks_event_reasons.active" not in names else None


def _parser(name: str) -> Callable[[str], float]:
    if name == "pstate":
        return lambda cell: float(cell.removeprefix("P"))
    if name.endswith("reasons.active"):
        return lambda cell: float(int(cell, 16))
    return lambda cell: float(cell.partition(" ")[0])


def _figure(metric: str, factor: float, parse: Callable[[str], float]) -> _Take:
    def take(card: _Card, index: int, cell: str) -> None:
        column = card.columns.get(metric)
        if column is None:
            column = card.columns[metric] = _Column(factor)
        try:
            column.put(index, parse(cell))
        except ValueError:
            column.lack(index, _why(cell))

    return take


def _reason(bit: int) -> _Take:
    def take(card: _Card, index: int, cell: str) -> None:
        column = card.columns.get("throttle_reasons")
        if column is None:
            column = card.columns["throttle_reasons"] = _Column(1)
        if cell not in ("Active", "Not Active"):
            column.lack(index, _why(cell))
            return
        before = column.values[index] if index < len(column.values) else math.nan
        mask = 0 if math.isnan(before) else int(before)
        column.put(index, float(mask | bit if cell == "Active" else mask))

    return take


def _word(name: str) -> _Take:
    def take(card: _Card, _index: int, cell: str) -> None:
        card.words.setdefault(name, cell)

    return take


def _lasting(metric: str, factor: float) -> _Take:
    def take(card: _Card, _index: int, cell: str) -> None:
        if metric in card.lasting:
            return
        try:
            number = float(cell.partition(" ")[0]) * factor
        except ValueError:
            return
        card.lasting[metric] = checked(metric, int(number) if factor == _MIB else number, SOURCE)

    return take


def _lasting_text(metric: str) -> _Take:
    def take(card: _Card, _index: int, cell: str) -> None:
        if metric not in card.lasting and cell and not cell.startswith("["):
            card.lasting[metric] = Reading(cell, SOURCE)

    return take


def _why(cell: str) -> tuple[Reason, str]:
    words = cell.lower()
    reason = next((reason for mark, reason in _MISSING if mark in words), Reason.ERROR)
    return reason, "" if reason is Reason.NOT_SUPPORTED else cell.strip("[]")[:80]
