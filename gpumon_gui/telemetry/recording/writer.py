"""Knows: how samples get into a recording so that it can be read after a kill at any moment. Must not know: sources."""

from __future__ import annotations

import sqlite3
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

import msgspec

from gpumon_gui import __version__
from gpumon_gui.core.database import Journal, create, writing
from gpumon_gui.core.errors import OutputFailed
from gpumon_gui.core.model import DeviceInfo, Sample
from gpumon_gui.core.redact import Private, redact_text
from gpumon_gui.telemetry.codec import to_plain
from gpumon_gui.telemetry.recording.redact import redact_sample
from gpumon_gui.telemetry.recording.schema import RECORDING

#: A kill loses at most this much time, or this many samples.
BATCH_S = 1.0
BATCH_SAMPLES = 64
_encode = msgspec.json.Encoder().encode


class RecordingWriter:
    """Writes one recording. Use from one thread.

    After the first failure the writer is closed: what comes later is dropped and counted in ``dropped``, and the
    batches committed before stay readable.
    """

    def __init__(
        self, path: Path, meta: Mapping[str, str], *, redact: bool = False, private: Private | None = None
    ) -> None:
        """Create the file. ``redact`` hides user, home, host and ids (``private``: those of this machine).

        Raises OutputFailed: the file exists and is no recording, another program records into it, or it cannot be
        written.
        """
        with writing(path):  # a deleted working folder has no name
            self.path = path.absolute()
        self.written = 0
        self.dropped = 0
        self._private = (private or Private.of_this_machine()) if redact else None
        self._pending: list[Sample] = []
        self._committed_s = float("-inf")
        self._inventory: tuple[DeviceInfo, ...] | None = None
        self._inventory_id = 0
        self._connection: sqlite3.Connection | None = create(self.path, RECORDING, Journal.SINGLE_FILE)
        notes = {**meta, "program": f"GPUMon {__version__}", "format": f"{RECORDING.major}.{RECORDING.minor}"}
        if self._private is not None:
            notes = {key: redact_text(value, self._private) for key, value in notes.items()} | {"redacted": "yes"}
        self._commit(notes)

    @property
    def closed(self) -> bool:
        """Whether it was closed, or has failed."""
        return self._connection is None

    def append(self, sample: Sample) -> None:
        """Take a sample; commit when a batch is due. Raises OutputFailed, once."""
        if self._connection is None:
            self.dropped += 1
            return
        self._pending.append(sample)
        due = sample.monotonic_s - self._committed_s >= BATCH_S
        if due or len(self._pending) >= BATCH_SAMPLES:
            self.flush()

    def flush(self) -> None:
        """Commit what is waiting. Raises OutputFailed, once."""
        if self._connection is not None and self._pending:
            self._commit({})

    def close(self) -> None:
        """Commit the rest, note the proper end, close the file. Does nothing the second time. Raises OutputFailed."""
        if self._connection is None:
            return
        end = self._pending[-1].utc_s if self._pending else self._last_utc_s()
        self._commit({} if end is None else {"finished_utc_s": repr(end)})
        connection, self._connection = self._connection, None
        with writing(self.path):
            try:
                connection.execute("ROLLBACK")
            finally:
                connection.close()

    def _commit(self, notes: Mapping[str, str]) -> None:
        connection = self._connection
        assert connection is not None
        try:
            with writing(self.path):
                if not connection.in_transaction:
                    connection.execute("BEGIN IMMEDIATE")
                connection.executemany("INSERT OR REPLACE INTO meta VALUES (?, ?)", notes.items())
                for sample in self._pending:
                    self._insert(connection, sample)
                connection.execute("COMMIT")
                self.written += len(self._pending)
                self._committed_s = self._pending[-1].monotonic_s if self._pending else self._committed_s
                self._pending.clear()
                # Reserved between the commits too: a second recorder is refused, readers are not.
                connection.execute("BEGIN IMMEDIATE")
        except OutputFailed:
            self._fail(connection)
            raise

    def _insert(self, connection: sqlite3.Connection, sample: Sample) -> None:
        plain = to_plain(sample)
        if self._private is not None:
            plain = redact_sample(plain, self._private)
        if self._inventory != sample.inventory:
            cursor = connection.execute("INSERT INTO inventory (body) VALUES (?)", (_text(plain["inv"]),))
            self._inventory, self._inventory_id = sample.inventory, cursor.lastrowid or 0
        plain["inv"] = []
        connection.execute(
            "INSERT INTO sample (monotonic_s, utc_s, inventory, body) VALUES (?, ?, ?, ?)",
            (sample.monotonic_s, sample.utc_s, self._inventory_id, _text(plain)),
        )

    def _fail(self, connection: sqlite3.Connection) -> None:
        """Undo the half batch while its journal is at hand, so that the file is whole again."""
        self.dropped += len(self._pending)
        self._pending.clear()
        self._connection = None
        with suppress(sqlite3.Error):
            if connection.in_transaction:
                connection.execute("ROLLBACK")
        with suppress(sqlite3.Error):
            connection.close()

    def _last_utc_s(self) -> float | None:
        assert self._connection is not None
        with writing(self.path):
            row = self._connection.execute("SELECT utc_s FROM sample ORDER BY id DESC LIMIT 1").fetchone()
        return None if row is None else float(row[0])


def _text(plain: Any) -> str:
    return _encode(plain).decode("utf-8")
