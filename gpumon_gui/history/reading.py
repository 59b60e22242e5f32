"""Knows: how a span of the history is read, from the level that fits. Must not know: who writes the file, Qt.

A span is read from the coarsest level that still gives a row for each column asked for. What this level has not taken
over yet is read from the finer ones, what it no longer has from the coarser ones.
"""

from __future__ import annotations

import logging
import sqlite3
import struct
import zlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from gpumon_gui.core.database import open_beside_writer, reading
from gpumon_gui.core.model import DeviceKey
from gpumon_gui.history.batch import Seconds, rows_of, take_batch
from gpumon_gui.history.buckets import (
    DamagedRow,
    Figures,
    Floats,
    Rows,
    Series,
    figures,
    join,
    series,
    united,
    unpack,
)
from gpumon_gui.history.marker import Marker, kind_of, unpacked
from gpumon_gui.history.schema import (
    DEVICE_METRICS,
    FORMAT,
    HOST_ID,
    HOST_METRICS,
    LEVELS,
    METRIC_NUMBERS,
    Level,
    chunk_id,
    start_of,
)

_log = logging.getLogger("gpumon.history")

#: More markers than this cannot be told apart on a screen.
MOST_MARKERS = 2000


@dataclass(frozen=True, slots=True)
class StoredDevice:
    """A device in the file; ``number`` is its row, ``first_s`` and ``last_s`` when it was seen (UTC)."""

    number: int
    key: DeviceKey
    name: str
    vendor: str
    kind: str
    pci: str
    uuid: str
    first_s: int
    last_s: int

    @property
    def is_host(self) -> bool:
        """Whether it is the machine itself."""
        return self.number == HOST_ID

    @property
    def metrics(self) -> tuple[str, ...]:
        """What may be kept of it."""
        return tuple((HOST_METRICS if self.is_host else DEVICE_METRICS).values())


@dataclass(frozen=True, slots=True)
class Contents:
    """What is in the file: the machine first, then devices by slot; the span (None: empty) and the bytes on disk."""

    devices: tuple[StoredDevice, ...] = ()
    first_s: int | None = None
    last_s: int | None = None
    size_bytes: int = 0


@dataclass(frozen=True, slots=True)
class Span:
    """Seconds of UTC, the right end excluded."""

    left_s: float
    right_s: float

    @property
    def length_s(self) -> float:
        """How long."""
        return self.right_s - self.left_s

    def moved(self, seconds: float) -> Span:
        """Later by so many seconds."""
        return Span(self.left_s + seconds, self.right_s + seconds)


@dataclass(frozen=True, slots=True)
class Reading:
    """One device over one span: points to draw and figures, by metric; metrics without any value are left out.

    ``step_s`` is the usual length of a bucket.
    """

    device: int
    span: Span
    step_s: int = 1
    series: Mapping[str, Series] = field(default_factory=dict)
    figures: Mapping[str, Figures] = field(default_factory=dict)


class HistoryReader:
    """The open file, for reading. One thread uses it; texts and numbers that are damaged are left out."""

    def __init__(self, path: Path, breathe: Callable[[], None] = lambda: None) -> None:
        """Open the file; ``breathe`` is called after each stretch that was read. Raises UnreadableInput."""
        self.path = path
        self._breathe = breathe
        self._connection: sqlite3.Connection = open_beside_writer(path, FORMAT)

    def close(self) -> None:
        """Let go of the file."""
        self._connection.close()

    def contents(self) -> Contents:
        """What there is. Raises UnreadableInput."""
        with reading(self.path):
            found = self._connection.execute(
                "SELECT id, key, name, vendor, kind, pci, uuid, first_s, last_s FROM device"
                " WHERE typeof(first_s) = 'integer' AND typeof(last_s) = 'integer' ORDER BY id != 0, pci, id"
            ).fetchall()
        devices = tuple(
            StoredDevice(
                number=int(row[0]),
                key=DeviceKey(_text(row[1])),
                name=_text(row[2]),
                vendor=_text(row[3]),
                kind=_text(row[4]),
                pci=_text(row[5]),
                uuid=_text(row[6]),
                first_s=int(row[7]),
                last_s=int(row[8]),
            )
            for row in found
        )
        size = 0
        for suffix in ("", "-wal"):
            try:
                size += self.path.with_name(self.path.name + suffix).stat().st_size
            except OSError:
                continue
        return Contents(
            devices,
            min((device.first_s for device in devices), default=None),
            max((device.last_s for device in devices), default=None),
            size,
        )

    def read(
        self,
        device: int,
        metrics: tuple[str, ...],
        span: Span,
        points: int,
        is_over: Callable[[], bool] = lambda: False,
    ) -> Reading | None:
        """Points and figures of some metrics; None when ``is_over`` said so. Raises UnreadableInput."""
        level = level_for(span.length_s, points)
        lines: dict[str, Series] = {}
        numbers: dict[str, Figures] = {}
        for metric, rows, width_s in self.rows(level, device, metrics, span):
            if is_over():
                return None
            if np.isfinite(rows.mean).any():
                lines[metric] = series(rows, width_s, span.left_s, span.right_s, points)
                numbers[metric] = figures(rows.between(span.left_s, span.right_s), _within(rows, width_s, span))
        return Reading(device, span, level.step_s, lines, numbers)

    def rows(
        self, level: Level, device: int, metrics: tuple[str, ...], span: Span
    ) -> Iterator[tuple[str, Rows, Floats]]:
        """For each metric the buckets of a span with their lengths, a bucket at each edge included; all of one state
        of the file. Raises UnreadableInput."""
        with reading(self.path), self._snapshot():
            fresh = self._fresh(device)
            for metric in metrics:
                number = METRIC_NUMBERS[metric]
                newest = fresh.get(number, [])
                parts = list(self._finer(level, device, number, span.left_s - level.step_s, span.right_s, newest))
                begin_s = self._first(level, device, number)
                limit_s = span.right_s if begin_s is None else min(span.right_s, begin_s)
                parts += self._coarser(level.number + 1, device, number, span.left_s, limit_s)
                parts.sort(key=lambda part: part[1].start[0])
                widths = [float(one.step_s) for one, _part in parts]
                yield metric, join([part for _one, part in parts]), np.repeat(widths, [len(p) for _one, p in parts])

    def markers(self, span: Span) -> tuple[Marker, ...]:
        """The newest markers in or across a span, oldest first. Raises UnreadableInput."""
        with reading(self.path):
            found = self._connection.execute(
                "SELECT utc_s, end_s, kind, code, tone, device, subject, text, parameters FROM marker"
                " WHERE utc_s < ? AND coalesce(end_s, utc_s) >= ? ORDER BY utc_s DESC LIMIT ?",
                (span.right_s, span.left_s, MOST_MARKERS),
            ).fetchall()
        return tuple(
            Marker(
                utc_s=float(row[0]),
                kind=kind_of(_text(row[2])),
                code=_text(row[3]),
                text=_text(row[7]),
                parameters=unpacked(_text(row[8])),
                subject=_text(row[6]),
                device=DeviceKey(_text(row[5])) if row[5] else None,
                tone=_text(row[4]),
                end_utc_s=None if row[1] is None else float(row[1]),
            )
            for row in reversed(found)
        )

    # -- levels

    @contextmanager
    def _snapshot(self) -> Iterator[None]:
        self._connection.execute("BEGIN")
        try:
            yield
        finally:
            with suppress(sqlite3.Error):
                self._connection.execute("COMMIT")

    def _finer(
        self, level: Level, device: int, metric: int, left_s: float, right_s: float, fresh: list[Rows]
    ) -> Iterator[tuple[Level, Rows]]:
        """This level as far as it is made, then the finer ones; ``fresh``: seconds that are not packed yet."""
        if level.number == 0:
            yield from self._stored(level, device, metric, left_s, right_s, fresh)
            return
        until_s = min(right_s, self._rolled_until(level))
        if left_s < until_s:
            yield from self._stored(level, device, metric, left_s, until_s)
        if until_s < right_s:
            finer = LEVELS[level.number - 1]
            yield from self._finer(finer, device, metric, max(left_s, until_s), right_s, fresh)

    def _coarser(
        self, number: int, device: int, metric: int, left_s: float, right_s: float
    ) -> Iterator[tuple[Level, Rows]]:
        """What is only in coarser levels any more: before ``right_s``, where the finer one begins."""
        if number >= len(LEVELS) or left_s >= right_s:
            return
        level = LEVELS[number]
        until_s = min(right_s, self._rolled_until(level))
        yield from self._stored(level, device, metric, left_s - level.step_s, until_s)
        begin_s = self._first(level, device, metric)
        limit_s = right_s if begin_s is None else min(right_s, begin_s)
        yield from self._coarser(number + 1, device, metric, left_s, limit_s)

    def _stored(
        self, level: Level, device: int, metric: int, left_s: float, right_s: float, fresh: Sequence[Rows] = ()
    ) -> Iterator[tuple[Level, Rows]]:
        if right_s <= max(0.0, left_s):
            return
        first, last = (chunk_id(level, device, metric, max(0, int(at))) for at in (left_s, right_s))
        parts = []
        for key, data in self._connection.execute(
            "SELECT id, data FROM chunk WHERE id >= ? AND id <= ? ORDER BY id", (first, last)
        ):
            self._breathe()
            try:
                parts.append(unpack(data, start_of(level, key), level.step_s))
            except (DamagedRow, TypeError) as error:
                _log.warning("history: a damaged row was left out (%s)", error)
        rows = united([*parts, *fresh], level.step_s) if fresh else join(parts)
        rows = rows.between(left_s, right_s)
        if len(rows):
            yield level, rows

    def _fresh(self, device: int) -> dict[int, list[Rows]]:
        """Metric → the seconds that are not packed yet."""
        found: dict[int, Seconds] = {}
        for base_s, data in self._connection.execute(
            "SELECT start_s, data FROM fresh WHERE device = ? ORDER BY id", (device,)
        ):
            try:
                take_batch(found.setdefault(int(base_s), {}), data)
            except (ValueError, TypeError, struct.error, zlib.error):
                _log.warning("history: a damaged batch was left out")
        rows: dict[int, list[Rows]] = {}
        for base_s, metrics in found.items():
            for metric, seconds in metrics.items():
                rows.setdefault(metric, []).append(rows_of(base_s, seconds))
        return rows

    def _first(self, level: Level, device: int, metric: int) -> int | None:
        """Where the level's rows of a series begin."""
        row = self._connection.execute(
            "SELECT id FROM chunk WHERE id >= ? AND id < ? ORDER BY id LIMIT 1",
            (chunk_id(level, device, metric, 0), chunk_id(level, device, metric + 1, 0)),
        ).fetchone()
        return None if row is None else start_of(level, int(row[0]))

    def _rolled_until(self, level: Level) -> int:
        row = self._connection.execute("SELECT until_s FROM roll WHERE level = ?", (level.number,)).fetchone()
        return 0 if row is None else int(row[0])


def level_for(length_s: float, points: int) -> Level:
    """The coarsest level whose buckets are not wider than a column."""
    fitting = [level for level in LEVELS if level.step_s <= length_s / max(1, points)]
    return fitting[-1] if fitting else LEVELS[0]


def _within(rows: Rows, width_s: Floats, span: Span) -> Floats:
    first, last = (int(n) for n in np.searchsorted(rows.start, (span.left_s, span.right_s), side="left"))
    return width_s[first:last]


def _text(value: object) -> str:
    return value.decode("utf-8", "replace") if isinstance(value, bytes) else str(value)
