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
from collections.abc import Callable, Iterator
from datetime import datetime
from pathlib import Path
from types import MappingProxyType
from typing import Final

from gpumon_gui.core.database import reading
from gpumon_gui.core.errors import UnreadableInput
from gpumon_gui.core.files import check_regular_file, printable, shown
from gpumon_gui.core.messages import _, ngettext
from gpumon_gui.core.model import Sample
from gpumon_gui.telemetry.recording.base import RecordedFile
from gpumon_gui.telemetry.recording.smi_cards import Card, Take, taker
from gpumon_gui.telemetry.recording.smi_fields import FIELDS, IDENTITIES, field_name, is_header, reason_bit

#: Real lines have some 100 characters; whole queries 2,000. Eight GPUs over a day at one look a second: 70 MB.
LONGEST_LINE: Final = 1 << 16
MOST_BYTES: Final = 1 << 30
#: More than a machine holds: rows of further ones are left out, and told as such.
_MOST_GPUS: Final = 128
#: How much of a file is looked at to tell what it is.
HEAD_BYTES: Final = 1 << 16

_STAMP = re.compile(r"\s*(\d{4}[/-]\d\d?[/-]\d\d?)[ T](\d\d?):(\d\d)(?::(\d\d(?:\.\d+)?))?\s*")
_VALUE_CELL = re.compile(r"\s*(?:-?\d+(?:\.\d+)?\s*(?:%|MiB|W|MHz)?|\[[^\]]*\]|P\d+)\s*")
#: Two GPUs of one look are asked a few milliseconds apart; a whole look takes nvidia-smi 36 ms and more.
_SAME_LOOK_S, _LONGEST_LOOK_S = 0.02, 0.5


def looks_like_log(head: bytes) -> bool:
    """Whether the beginning of a file may be such a log, with its header or without."""
    lines = [line for line in head.decode(_encoding(head), "replace").splitlines()[:50] if line.strip()]
    return any(is_header(line.split(",")) for line in lines) or (bool(lines) and _is_bare(lines[0]))


class SmiLog(RecordedFile):
    """A log opened for replay; whole in memory. ``meta``: ``program`` is ``nvidia-smi``; ``notice``: sentences on what
    was left out or assumed. ``complete`` is False when the last line was cut off."""

    def __init__(self, path: Path) -> None:
        super().__init__(path)
        check_regular_file(path)
        with reading(path), path.open("rb") as file:
            head = file.read(HEAD_BYTES)
        reader = _Reader(self.path)
        with reading(path), path.open(encoding=_encoding(head), errors="replace", newline=None) as lines:
            reader.read(lines.readline)
        self._cards = tuple(reader.cards.values())
        self._inventory = tuple(card.info(number) for number, card in enumerate(self._cards))
        self._utc_s = reader.times[0]
        meta = {"program": "nvidia-smi"}
        if reader.notices:
            meta["notice"] = " ".join(reader.notices)
        self._has(meta, reader.times, complete=not reader.is_cut)

    def sample(self, index: int) -> Sample:
        """One look. Raises IndexError."""
        if not 0 <= index < len(self):
            raise IndexError(index)
        time_s = float(self.times[index])
        devices = {
            info.key: found
            for card, info in zip(self._cards, self._inventory, strict=True)
            if (found := card.sample(info.key, index)) is not None
        }
        return Sample(
            sequence=index,
            monotonic_s=time_s,
            utc_s=self._utc_s + time_s,
            interval_s=time_s - float(self.times[index - 1]) if index else 0.0,
            inventory=self._inventory,
            devices=MappingProxyType(devices),
        )


class _Reader:
    """Takes lines; afterwards has ``times`` (UTC seconds, ascending), ``cards`` and ``notices``."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self.times: array[float] = array("d")
        self.cards: dict[tuple[str, ...], Card] = {}
        self.notices: list[str] = []
        self.is_cut = False
        self._width = 0
        self._takes: tuple[tuple[int, Take], ...] = ()
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
        if is_header(cells):
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
        names = [field_name(cell) for cell in cells]
        takes = [(at, take) for at, name in enumerate(names) if (take := taker(name, names)) is not None]
        if not any(name in FIELDS or reason_bit(name) for name in names):
            message = _(
                "{path}:{line}: none of these columns can be judged: {names}. Log utilization.gpu, power.draw …"
            )
            known = ", ".join(cell.strip() for cell in cells)
            raise UnreadableInput(message.format(path=shown(self._path), line=number, names=printable(known)))
        self._width = len(cells)
        self._takes = tuple(takes)
        self._stamp = names.index("timestamp") if "timestamp" in names else None
        self._ids = tuple(names.index(name) for name in IDENTITIES if name in names)[:1]
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

    def _place(self, cells: list[str], time_s: float | None) -> Card | None:
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
            card = self.cards[identity] = Card(len(self.cards))
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


def _is_bare(line: str) -> bool:
    """Whether a line is a row, as far as it can be told without a header."""
    cells = line.split(",")
    stamps = sum(_STAMP.fullmatch(cell) is not None for cell in cells)
    figures = sum(_VALUE_CELL.fullmatch(cell) is not None for cell in cells)
    return stamps + figures > 1 and 2 * (stamps + figures) >= len(cells)
