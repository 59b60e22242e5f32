"""Knows: how the history file is written: batches, packing, coarser levels, deleting. Must not know: threads, Qt.

Faults of the environment are raised as OutputFailed with one line for the user; what was not written stays in the
intake and is written by the next :meth:`HistoryStore.write` that works. Every step is one transaction.
"""

from __future__ import annotations

import logging
import os
import sqlite3
import struct
import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from datetime import datetime
from pathlib import Path

import numpy as np

from gpumon_gui.core import database
from gpumon_gui.core.database import Journal, create, open_for_writing, writing
from gpumon_gui.core.errors import OutputFailed
from gpumon_gui.core.files import cannot_write, shown
from gpumon_gui.core.messages import _
from gpumon_gui.core.model import DeviceInfo
from gpumon_gui.history import retention
from gpumon_gui.history.batch import Seconds, pack_batch, rows_of, take_batch
from gpumon_gui.history.buckets import DamagedRow, Rows, coarser, join, pack, united, unpack
from gpumon_gui.history.intake import HOST_INFO, Intake, Stretch, Table
from gpumon_gui.history.marker import LONGEST_TEXT, Marker, packed
from gpumon_gui.history.retention import HistoryOptions
from gpumon_gui.history.schema import (
    FORMAT,
    HOST_ID,
    LEVELS,
    MOST_DEVICES,
    Level,
    chunk_id,
    start_of,
)

_log = logging.getLogger("gpumon.history")

NAME = "history.db"
MOST_MARKERS = 100_000
#: Free pages worth giving back to the disk.
_SPARE_PAGES = 4096
#: How often somebody is asked whether to wait on for another program's lock.
_WAIT_MS = 250
_SECONDS = LEVELS[0]


class HistoryStore:
    """The open file, for writing. One thread uses it.

    Attributes:
        path: where it is.
        newest_s: the newest second that was in it when it was opened; None when it was empty.
    """

    def __init__(self, path: Path, is_over: Callable[[], bool] = bool) -> None:
        """Open the file, make it where there is none, and pack what a killed program left. Nobody waits long for
        another program's lock once ``is_over`` says so. Raises OutputFailed."""
        self.path = path
        self._is_over = is_over
        self._session = int.from_bytes(os.urandom(8)) >> 2
        self._connection = _opened(path)
        self._devices: dict[tuple[str, str], int] = {}
        try:
            with self._changing():
                self._recover()
            self.newest_s = self._newest()
        except BaseException:
            self._connection.close()
            raise

    def close(self) -> None:
        """Let go of the file."""
        with suppress(sqlite3.Error):
            self._connection.close()

    # -- writing

    def write(self, intake: Intake, markers: list[Marker]) -> bool:
        """Put what is new into the file: all of it or nothing. True when a stretch was completed. Raises OutputFailed.

        After it worked, finished stretches are gone from the intake and the markers from the list.
        """
        if not intake.stretches and not markers:
            return False
        finished, current = intake.stretches[:-1], intake.stretches[-1:]
        fresh: list[tuple[Table, tuple[int, ...]]] = []
        with self._changing():
            for stretch in finished:
                self._pack_stretch(stretch)
            for stretch in current:
                for table in stretch.tables.values():
                    seconds = table.fresh()
                    if seconds:
                        self._write_fresh(stretch.base_s, table, seconds)
                        fresh.append((table, seconds))
            self._write_markers(markers)
        for table, seconds in fresh:
            table.settle(seconds)
        del intake.stretches[:-1]
        markers.clear()
        return bool(finished)

    def finish(self, intake: Intake, markers: list[Marker]) -> None:
        """Write what is new as :meth:`write` does, and pack the stretch that is being filled. Raises OutputFailed."""
        with self._changing():
            for stretch in intake.stretches:
                self._pack_stretch(stretch)
            self._write_markers(markers)
        intake.clear()
        markers.clear()

    def tidy(self, options: HistoryOptions, now_s: float, *, is_trusted: bool, is_over: Callable[[], bool]) -> None:
        """Make coarser levels of what is complete, and delete what is too old or too much. Called after a stretch was
        completed; ends early, between two steps, when ``is_over`` says so. Raises OutputFailed."""
        self._roll_up(now_s, is_over)
        if is_trusted and not is_over():
            self._delete_old(options, now_s)
        self._fit(options, now_s, is_over)

    def clear(self) -> None:
        """Delete everything. Raises OutputFailed."""
        with self._changing():
            for table in ("chunk", "fresh", "roll", "marker", "device"):
                self._connection.execute(f"DELETE FROM {table}")  # noqa: S608 - fixed names
        self._devices.clear()
        with writing(self.path):
            self._give_back()
            self._connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchall()

    def check(self) -> bool:
        """Read the whole file; False when it is damaged. Raises OutputFailed when it cannot be read at all."""
        with writing(self.path):
            row = self._connection.execute("PRAGMA quick_check(1)").fetchone()
        return row is not None and row[0] in (b"ok", "ok")

    def used_bytes(self) -> int:
        """Bytes of the pages in use."""
        with writing(self.path):
            return (self._pragma("page_count") - self._pragma("freelist_count")) * self._pragma("page_size")

    # -- parts of a write

    @contextmanager
    def _changing(self) -> Iterator[None]:
        with writing(self.path):
            self._begin()
            try:
                yield
                self._connection.execute("COMMIT")
            except BaseException:
                self._devices.clear()  # rows made in here are gone again
                with suppress(sqlite3.Error):  # a full disk has rolled back by itself
                    self._connection.execute("ROLLBACK")
                raise

    def _begin(self) -> None:
        """As SQLite waits, but for an end meanwhile."""
        left_ms = round(database.BUSY_S * 1000)
        self._connection.execute(f"PRAGMA busy_timeout = {_WAIT_MS}")
        try:
            while True:
                try:
                    self._connection.execute("BEGIN IMMEDIATE")
                    return
                except sqlite3.OperationalError as error:
                    left_ms -= _WAIT_MS
                    is_locked = error.sqlite_errorcode & 0xFF == sqlite3.SQLITE_BUSY
                    if not is_locked or left_ms <= 0 or self._is_over():
                        raise
        finally:
            self._connection.execute(f"PRAGMA busy_timeout = {round(database.BUSY_S * 1000)}")

    def _pack_stretch(self, stretch: Stretch) -> None:
        for table in stretch.tables.values():
            first, last = (stretch.base_s + second for second in table.extent())
            device = self._device(table.info, first, last)
            self._merge(device, stretch.base_s, table.rows(stretch.base_s))
        self._connection.execute("DELETE FROM fresh WHERE session = ? AND start_s = ?", (self._session, stretch.base_s))

    def _merge(self, device: int, base_s: int, by_metric: dict[int, Rows]) -> None:
        """Put seconds beside those that are there: of a program that ended, or of a clock that stepped back."""
        for metric, rows in by_metric.items():
            key = chunk_id(_SECONDS, device, metric, base_s)
            there = self._rows(_SECONDS, key)
            self._put(_SECONDS, key, rows if there is None else united([there, rows], _SECONDS.step_s))
        self._mark_unrolled(base_s)

    def _mark_unrolled(self, base_s: int) -> None:
        for level in LEVELS[1:]:
            until_s = base_s - base_s % level.stretch_s
            self._connection.execute(
                "UPDATE roll SET until_s = min(until_s, ?) WHERE level = ?", (until_s, level.number)
            )

    def _write_fresh(self, base_s: int, table: Table, seconds: tuple[int, ...]) -> None:
        columns = table.columns(seconds)
        data = pack_batch(table.numbers, seconds, columns)
        device = self._device(table.info, base_s + seconds[0], base_s + seconds[-1])
        self._connection.execute(
            "INSERT INTO fresh (session, device, start_s, data) VALUES (?, ?, ?, ?)",
            (self._session, device, base_s, data),
        )

    def _write_markers(self, markers: list[Marker]) -> None:
        self._connection.executemany(
            "INSERT INTO marker (utc_s, end_s, kind, code, tone, device, subject, text, parameters)"
            " VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)",
            [
                (
                    marker.utc_s,
                    marker.end_utc_s,
                    marker.kind.value,
                    marker.code[:LONGEST_TEXT],
                    marker.tone,
                    marker.device or "",
                    marker.subject[:LONGEST_TEXT],
                    marker.text[:LONGEST_TEXT],
                    packed(marker.parameters),
                )
                for marker in markers
            ],
        )

    def _device(self, info: DeviceInfo, first_s: int, last_s: int) -> int:
        """The row of a device that was seen from a second to a second: the same card by UUID, else by key, else (a
        Windows LUID changes with each start) by name among those that have nothing better."""
        identity = (info.key, info.uuid or "")
        found = self._devices.get(identity)
        if found is None:
            found = self._find_device(info)
            if found is None:
                found = self._new_device(info, first_s)
            else:
                self._connection.execute(
                    "UPDATE device SET key = ?, name = ?, vendor = ?, kind = ?, pci = ?,"
                    " uuid = CASE WHEN ? = '' THEN uuid ELSE ? END WHERE id = ?",
                    (*_description(info), info.uuid or "", info.uuid or "", found),
                )
            self._devices[identity] = found
        self._connection.execute(
            "UPDATE device SET last_s = max(last_s, ?), first_s = min(first_s, ?) WHERE id = ?",
            (last_s, first_s, found),
        )
        return found

    def _find_device(self, info: DeviceInfo) -> int | None:
        if info is HOST_INFO:
            row = self._connection.execute("SELECT id FROM device WHERE id = ?", (HOST_ID,)).fetchone()
            return None if row is None else HOST_ID
        questions: list[tuple[str, tuple[str, ...]]] = []
        if info.uuid:
            questions.append(("uuid = ? AND vendor = ?", (info.uuid, info.vendor)))
            questions.append(("key = ? AND uuid = ''", (info.key,)))
        else:
            questions.append(("key = ?", (info.key,)))
        if info.key.startswith("luid:"):
            questions.append(("key LIKE 'luid:%' AND uuid = '' AND name = ? AND vendor = ?", (info.name, info.vendor)))
        for condition, values in questions:
            taken = set(self._devices.values()) if "LIKE" in condition else set()
            found = self._connection.execute(
                f"SELECT id FROM device WHERE {condition} AND id != 0 ORDER BY last_s DESC",  # noqa: S608 - fixed texts
                values,
            )
            for (number,) in found.fetchall():
                if number not in taken:
                    return int(number)
        return None

    def _new_device(self, info: DeviceInfo, second: int) -> int:
        if info is HOST_INFO:
            number = HOST_ID
        else:
            number = int(self._connection.execute("SELECT coalesce(max(id), 0) + 1 FROM device").fetchone()[0])
            if number >= MOST_DEVICES:  # a driver that invents cards: the oldest row is used again
                number = int(
                    self._connection.execute("SELECT id FROM device WHERE id != 0 ORDER BY last_s LIMIT 1").fetchone()[
                        0
                    ]
                )
                self._connection.execute("DELETE FROM device WHERE id = ?", (number,))
        self._connection.execute(
            "INSERT INTO device (id, key, name, vendor, kind, pci, uuid, first_s, last_s)"
            " VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)",
            (number, *_description(info), info.uuid or "", second, second),
        )
        return number

    # -- after a kill

    def _recover(self) -> None:
        """Pack the seconds of programs that did not end in peace."""
        found = self._connection.execute("SELECT device, start_s, data FROM fresh ORDER BY id").fetchall()
        stretches: dict[tuple[int, int], Seconds] = {}
        for device, base_s, data in found:
            try:
                take_batch(stretches.setdefault((int(device), int(base_s)), {}), data)
            except (ValueError, TypeError, struct.error, zlib.error):
                _log.warning("history: a damaged batch was left out")
        for (device, base_s), metrics in stretches.items():
            self._merge(device, base_s, {metric: rows_of(base_s, seconds) for metric, seconds in metrics.items()})
        self._connection.execute("DELETE FROM fresh")
        # A text is more than any number for SQLite, so max() would keep it for ever.
        self._connection.execute("UPDATE device SET last_s = first_s WHERE typeof(last_s) != 'integer'")

    # -- coarser levels

    def _roll_up(self, now_s: float, is_over: Callable[[], bool]) -> None:
        """Make the rows of each coarser level for every stretch whose seconds are complete."""
        newest_s = self._newest()
        if newest_s is None:
            return
        newest_s = min(newest_s, int(now_s))  # a clock that was ahead for a while has left seconds of the future
        complete_s = newest_s - newest_s % _SECONDS.stretch_s  # the stretch of the newest second may still be filled
        for level in LEVELS[1:]:
            finer = LEVELS[level.number - 1]
            limit_s = complete_s - complete_s % level.stretch_s
            if finer.number:
                limit_s = min(limit_s, self._rolled_until(finer))
                limit_s -= limit_s % level.stretch_s
            from_s = self._rolled_until(level)
            if from_s >= limit_s:
                continue
            work: dict[int, list[tuple[int, int]]] = {}
            for device, metric in self._owners(finer):
                for start_s in self._starts(finer, device, metric, from_s, limit_s):
                    stretch_s = start_s - start_s % level.stretch_s
                    owners = work.setdefault(stretch_s, [])
                    if not owners or owners[-1] != (device, metric):
                        owners.append((device, metric))
            for stretch_s in sorted(work):
                if is_over():
                    return
                with self._changing():
                    for device, metric in work[stretch_s]:
                        self._roll(level, finer, device, metric, stretch_s)
                    self._set_rolled(level, stretch_s + level.stretch_s)
            with self._changing():
                self._set_rolled(level, limit_s)

    def _roll(self, level: Level, finer: Level, device: int, metric: int, stretch_s: int) -> None:
        parts = [
            rows
            for start_s in self._starts(finer, device, metric, stretch_s, stretch_s + level.stretch_s)
            if (rows := self._rows(finer, chunk_id(finer, device, metric, start_s))) is not None
        ]
        if not parts:
            return
        made = coarser(join(parts), level.step_s)
        key = chunk_id(level, device, metric, stretch_s)
        there = self._rows(level, key)
        if there is not None:  # made anew after a step of the clock: new buckets instead of old ones, old ones stay
            old = ~np.isin(there.start, made.start)
            kept = Rows(*(getattr(there, name)[old] for name in Rows.__slots__))
            made = united([kept, made], level.step_s)
        self._put(level, key, made)

    def _rolled_until(self, level: Level) -> int:
        row = self._connection.execute("SELECT until_s FROM roll WHERE level = ?", (level.number,)).fetchone()
        return 0 if row is None else int(row[0])

    def _set_rolled(self, level: Level, until_s: int) -> None:
        self._connection.execute("INSERT OR REPLACE INTO roll VALUES (?, ?)", (level.number, until_s))

    # -- deleting

    def _delete_old(self, options: HistoryOptions, now_s: float) -> None:
        rolled = {level.number: self._rolled_until(level) for level in LEVELS[1:]}
        cutoffs = retention.cutoffs(options, now_s, rolled)
        with self._changing():
            for level in LEVELS:
                for device, metric in self._owners(level):
                    self._delete_before(level, device, metric, cutoffs[level.number])
            self._connection.execute("DELETE FROM marker WHERE utc_s < ?", (now_s - max(options.kept_s().values()),))
            self._connection.execute("DELETE FROM marker WHERE id <= (SELECT max(id) FROM marker) - ?", (MOST_MARKERS,))

    def _delete_before(self, level: Level, device: int, metric: int, cutoff_s: int) -> None:
        """Stretches that lie wholly before the cutoff."""
        if cutoff_s >= level.stretch_s:
            self._connection.execute(
                "DELETE FROM chunk WHERE id >= ? AND id < ?",
                (chunk_id(level, device, metric, 0), chunk_id(level, device, metric, cutoff_s)),
            )

    def _fit(self, options: HistoryOptions, now_s: float, is_over: Callable[[], bool]) -> None:
        """Delete, oldest first, until the file is as small as it must be; a stretch of one level at a time."""
        if self.used_bytes() <= options.most_bytes:
            return
        wanted = retention.wanted_bytes(options)
        while not is_over() and self.used_bytes() > wanted:
            oldest = {level.number: start for level in LEVELS if (start := self._oldest(level)) is not None}
            chosen = retention.first_to_go(options, oldest, now_s)
            if chosen is None:
                break
            level = LEVELS[chosen]
            with self._changing():
                for device, metric in self._owners(level):
                    self._delete_before(level, device, metric, oldest[chosen] + level.stretch_s)
        with writing(self.path):
            self._give_back()

    def _give_back(self) -> None:
        if self._pragma("freelist_count") > _SPARE_PAGES or self._pragma("page_count") < _SPARE_PAGES:
            # As a script: execute() takes one step of it, and each step frees one page.
            self._connection.executescript("PRAGMA incremental_vacuum")

    # -- small questions

    def _rows(self, level: Level, key: int) -> Rows | None:
        row = self._connection.execute("SELECT data FROM chunk WHERE id = ?", (key,)).fetchone()
        if row is None:
            return None
        try:
            return unpack(row[0], start_of(level, key), level.step_s)
        except DamagedRow as error:
            _log.warning("history: a damaged row was left out (%s)", error)
            return None

    def _put(self, level: Level, key: int, rows: Rows) -> None:
        data = pack(rows, start_of(level, key), level.step_s)
        self._connection.execute("INSERT OR REPLACE INTO chunk VALUES (?, ?)", (key, data))

    def _owners(self, level: Level) -> list[tuple[int, int]]:
        """Device and metric of every series of a level, by skipping from one to the next."""
        found: list[tuple[int, int]] = []
        key = chunk_id(level, 0, 0, 0)
        end = chunk_id(Level(level.number + 1, level.step_s, level.stretch_s), 0, 0, 0)
        while True:
            row = self._connection.execute(
                "SELECT id FROM chunk WHERE id >= ? AND id < ? ORDER BY id LIMIT 1", (key, end)
            ).fetchone()
            if row is None:
                return found
            head = int(row[0]) >> 32
            found.append((head >> 8 & 0xFFF, head & 0xFF))
            key = head + 1 << 32

    def _starts(self, level: Level, device: int, metric: int, from_s: int, until_s: int) -> list[int]:
        rows = self._connection.execute(
            "SELECT id FROM chunk WHERE id >= ? AND id < ? ORDER BY id",
            (chunk_id(level, device, metric, from_s), chunk_id(level, device, metric, until_s)),
        )
        return [start_of(level, row[0]) for row in rows]

    def _oldest(self, level: Level) -> int | None:
        return min(
            (
                start_of(level, row[0])
                for device, metric in self._owners(level)
                for row in self._connection.execute(
                    "SELECT id FROM chunk WHERE id >= ? ORDER BY id LIMIT 1", (chunk_id(level, device, metric, 0),)
                )
            ),
            default=None,
        )

    def _newest(self) -> int | None:
        with writing(self.path):
            # SQLite keeps any type in any column.
            row = self._connection.execute("SELECT max(last_s) FROM device WHERE typeof(last_s) = 'integer'").fetchone()
        return None if row[0] is None else int(row[0])

    def _pragma(self, name: str) -> int:
        return int(self._connection.execute(f"PRAGMA {name}").fetchone()[0])


def move_aside(path: Path) -> Path:
    """Give a damaged file (with its log) another name beside it, so that nothing is lost. Raises OutputFailed."""
    stamp = datetime.now().astimezone().strftime("%Y%m%d-%H%M%S")
    target = path.with_name(f"{path.stem}-corrupt-{stamp}{path.suffix}")
    number = 1
    while os.path.lexists(target):
        number += 1
        target = path.with_name(f"{path.stem}-corrupt-{stamp}-{number}{path.suffix}")
    try:
        path.replace(target)
        for suffix in ("-wal", "-shm"):
            side = path.with_name(path.name + suffix)
            if side.exists():
                side.replace(target.with_name(target.name + suffix))
    except OSError as error:
        raise OutputFailed(cannot_write(path, error)) from error
    return target


def aside_text(target: Path) -> str:
    """What is said about it."""
    return _("The history file was damaged. It was kept as {path}, and a new one was begun.").format(path=shown(target))


def _opened(path: Path) -> sqlite3.Connection:
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        empty = not os.path.lexists(path) or (path.is_file() and path.stat().st_size == 0)
    except OSError as error:
        raise OutputFailed(cannot_write(path.parent, error)) from error
    return create(path, FORMAT, Journal.WAL) if empty else open_for_writing(path, FORMAT, Journal.WAL)


def _description(info: DeviceInfo) -> tuple[str, str, str, str, str]:
    return info.key, info.name, info.vendor, info.kind.value, info.pci_address or ""
