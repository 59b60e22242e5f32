"""Knows: how a SQLite file is created, recognised, opened and closed. Must not know: what its tables hold.

Faults of the environment (disk full, locked, read-only, damaged, another program's file) become one translated line
that names the file: ``OutputFailed`` when writing, ``UnreadableInput`` when reading. Everything else that SQLite
reports (wrong SQL, misuse, constraints) is a bug of ours and is raised as it is.

**Journals.** A file that travels (a recording) uses a rollback journal (``Journal.SINGLE_FILE``): between two commits
there is exactly one file, complete in itself, readable from a read-only medium. A write-ahead log would keep the
newest commits, after a kill even hours of them, in a second file that is lost when the first is copied, and needs a
writable folder to be read. A writer killed in the middle of a commit leaves ``FILE-journal``; the next reader undoes
the half commit in place, or in a copy where it may not write. A file that stays (history) uses ``Journal.WAL``.

**Versions.** ``user_version`` is major + 65536 × minor: 1 is version 1.0. A reader accepts every minor of its major.
"""

from __future__ import annotations

import os
import shutil
import sqlite3
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from urllib.parse import quote

from gpumon_gui.core.errors import GpumonError, OutputFailed, UnreadableInput
from gpumon_gui.core.files import cannot_read, cannot_write, check_regular_file, shown
from gpumon_gui.core.messages import N_, _

MAGIC = b"SQLite format 3\0"
#: How long to wait for another program's commit.
BUSY_S = 3.0
#: No row of ours comes near this; a damaged length must not ask for gigabytes.
LONGEST_VALUE = 64 << 20
_SIDE_FILES = ("-journal", "-wal", "-shm")

# Result codes (sqlite3.h) that are the environment's doing → what to tell the user; a primary code for all of its kind.
_FAULTS: dict[int, str] = {
    sqlite3.SQLITE_FULL: N_("{path}: the disk is full."),
    sqlite3.SQLITE_IOERR: N_("{path}: the disk reported an error ({detail})."),
    sqlite3.SQLITE_BUSY: N_("{path}: in use by another program."),
    sqlite3.SQLITE_LOCKED: N_("{path}: in use by another program."),
    sqlite3.SQLITE_READONLY: N_("{path}: may not be written."),
    sqlite3.SQLITE_READONLY_DBMOVED: N_("{path}: was moved or deleted meanwhile."),
    sqlite3.SQLITE_PERM: N_("{path}: no permission."),
    sqlite3.SQLITE_AUTH: N_("{path}: no permission."),
    sqlite3.SQLITE_CANTOPEN: N_("{path}: cannot be opened."),
    sqlite3.SQLITE_CORRUPT: N_("{path}: damaged ({detail})."),
    sqlite3.SQLITE_NOTADB: N_("{path}: damaged ({detail})."),
    sqlite3.SQLITE_FORMAT: N_("{path}: damaged ({detail})."),
    sqlite3.SQLITE_TOOBIG: N_("{path}: damaged ({detail})."),
    sqlite3.SQLITE_PROTOCOL: N_("{path}: in use by another program."),
    sqlite3.SQLITE_NOLFS: N_("{path}: the file is too large for this disk."),
}


class Journal(StrEnum):
    """How a commit survives a kill; see the module's docstring."""

    SINGLE_FILE = "delete"
    WAL = "wal"


@dataclass(frozen=True, slots=True)
class Format:
    """A kind of database file. ``tables`` (name → columns) must all be there, more may be; ``statements`` create them.
    ``page_bytes``: a small page wastes less at the end of long rows (power of two, 512 to 65536). ``shrinks``: pages
    that became free can be given back to the disk (``PRAGMA incremental_vacuum``)."""

    application_id: int
    major: int
    minor: int
    tables: Mapping[str, tuple[str, ...]]
    statements: tuple[str, ...]
    page_bytes: int = 4096
    shrinks: bool = False

    @property
    def user_version(self) -> int:
        """What stands in the file's header."""
        return self.major | self.minor << 16


class Reader:
    """A connection for reading. ``minor`` is the minor version of the file. Texts come as bytes, since a damaged
    file may hold any."""

    def __init__(
        self, connection: sqlite3.Connection, minor: int, copy: tempfile.TemporaryDirectory[str] | None
    ) -> None:
        self.connection = connection
        self.minor = minor
        self._copy = copy

    def close(self) -> None:
        """Let go of the file."""
        self.connection.close()
        if self._copy is not None:
            self._copy.cleanup()
            self._copy = None


def create(path: Path, format_: Format, journal: Journal = Journal.SINGLE_FILE) -> sqlite3.Connection:
    """Make a new database, replacing one of the same kind that nobody writes, and open it for writing.

    The new file takes its name only when it is complete: whoever is killed leaves the old file or the new one. The
    connection is in autocommit mode: use BEGIN and COMMIT. Raises OutputFailed: the file is there and of another
    kind, is in use, or cannot be written.
    """
    with writing(path):
        path = path.absolute()
        if path.is_dir():
            raise OutputFailed(_("{path}: is a folder.").format(path=shown(path)))
        if not path.parent.is_dir():
            raise OutputFailed(_("{path}: no such folder.").format(path=shown(path.parent)))
        if os.path.lexists(path):
            _check_replaceable(path, format_)
        unfinished = path.with_name(f"{path.name}.{os.getpid()}.new")
        try:
            unfinished.touch()  # the system says why not; SQLite would only say that it cannot
            connection = _connect(unfinished, "rw")
            try:
                connection.execute(f"PRAGMA page_size = {format_.page_bytes:d}")
                if format_.shrinks:
                    connection.execute("PRAGMA auto_vacuum = INCREMENTAL")
                connection.execute("BEGIN IMMEDIATE")
                connection.execute(f"PRAGMA application_id = {format_.application_id:d}")
                connection.execute(f"PRAGMA user_version = {format_.user_version:d}")
                for statement in format_.statements:
                    connection.execute(statement)
                connection.execute("COMMIT")
            finally:
                connection.close()
            # The journal of a file that is about to be replaced would be rolled back into the new one.
            for suffix in _SIDE_FILES:
                path.with_name(path.name + suffix).unlink(missing_ok=True)
            unfinished.replace(path)
        except BaseException:
            for suffix in ("", *_SIDE_FILES):
                with suppress(OSError):
                    unfinished.with_name(unfinished.name + suffix).unlink(missing_ok=True)
            raise
    return open_for_writing(path, format_, journal)


def open_for_writing(path: Path, format_: Format, journal: Journal) -> sqlite3.Connection:
    """Open an existing database of this kind for writing, in autocommit mode. Raises OutputFailed."""
    path = path.absolute()
    with writing(path):
        connection = _connect(path, "rw")
        try:
            _check_kind(connection, path, format_, OutputFailed)
            connection.execute(f"PRAGMA journal_mode = {journal.value}")
            # FULL: also a power cut leaves a sound file. One commit a second does not feel it.
            connection.execute(f"PRAGMA synchronous = {'NORMAL' if journal is Journal.WAL else 'FULL'}")
            connection.execute("PRAGMA foreign_keys = ON")
        except BaseException:
            connection.close()
            raise
        return connection


def open_for_reading(path: Path, format_: Format) -> Reader:
    """Open a database of this kind for reading and check that it is whole. Raises UnreadableInput.

    Never hangs: a FIFO or a device is refused before it is opened.
    """
    path = path.absolute()
    check_regular_file(path)
    with reading(path, foreign=True):
        _check_length(path)
        connection, copy = _connect_for_reading(path)
        try:
            minor = _check_kind(connection, path, format_, UnreadableInput)
            connection.execute("PRAGMA query_only = ON")
            row = connection.execute("PRAGMA quick_check(1)").fetchone()
            answer = _as_text(row[0]) if row else "?"
            if answer != "ok":
                raise _damaged(UnreadableInput, path, " ".join(answer.split()))
        except BaseException:
            connection.close()
            if copy is not None:
                copy.cleanup()
            raise
        return Reader(connection, minor, copy)


def open_beside_writer(path: Path, format_: Format) -> sqlite3.Connection:
    """Open a database of this kind for reading while another connection writes it; only its head is checked, so it is
    open at once whatever its size. Raises UnreadableInput."""
    path = path.absolute()
    check_regular_file(path)
    with reading(path):
        connection = None
        for mode in ("ro", "ro&immutable=1"):  # the second: a medium on which no lock can be kept
            try:
                connection = _connect(path, mode)
                connection.execute("PRAGMA schema_version").fetchone()
                break
            except sqlite3.Error as error:
                if connection is not None:  # an open file could not be moved aside on Windows
                    connection.close()
                code = getattr(error, "sqlite_errorcode", 0) & 0xFF
                if mode != "ro" or code not in (sqlite3.SQLITE_READONLY, sqlite3.SQLITE_CANTOPEN):
                    raise
        assert connection is not None
        try:
            _check_kind(connection, path, format_, UnreadableInput)
            connection.execute("PRAGMA query_only = ON")
        except BaseException:
            connection.close()
            raise
        return connection


@contextmanager
def reading(path: Path, *, foreign: bool = False) -> Iterator[None]:
    """Faults of the environment inside become UnreadableInput.

    ``foreign``: the file comes from anywhere. SQLite's plain "error", else a sign of wrong SQL, is then blamed on the
    file too: a damaged schema has no code of its own.
    """
    try:
        yield
    except UnicodeDecodeError as error:  # sqlite3 cannot make its message: it quotes damaged bytes
        raise _damaged(UnreadableInput, path, _("bytes that are no text")) from error
    except (sqlite3.Error, OSError, MemoryError) as error:
        if foreign and getattr(error, "sqlite_errorcode", None) == sqlite3.SQLITE_ERROR:
            raise _damaged(UnreadableInput, path, str(error)) from error
        raise _explained(error, path, UnreadableInput) from error


@contextmanager
def writing(path: Path) -> Iterator[None]:
    """Faults of the environment inside become OutputFailed."""
    try:
        yield
    except (sqlite3.Error, OSError, MemoryError) as error:
        raise _explained(error, path, OutputFailed) from error


def _explained(error: Exception, path: Path, kind: type[GpumonError]) -> Exception:
    """The error as one line for the user, or itself when it is a bug."""
    if isinstance(error, OSError):
        text = cannot_read(path, error) if kind is UnreadableInput else cannot_write(path, error)
        return kind(text)
    if isinstance(error, MemoryError):  # a damaged length field; whoever writes is merely out of memory
        found = _damaged(kind, path, "out of memory")
        found.is_damage = kind is UnreadableInput
        return found
    code = getattr(error, "sqlite_errorcode", None)
    text = (_FAULTS.get(code) or _FAULTS.get(code & 0xFF, "")) if code is not None else ""
    if kind is UnreadableInput and isinstance(error, sqlite3.DataError):
        text = _FAULTS[sqlite3.SQLITE_CORRUPT]
    if text == _FAULTS[sqlite3.SQLITE_CORRUPT]:
        return _damaged(kind, path, str(error))
    return kind(_(text).format(path=shown(path), detail=error)) if text else error


def _damaged(kind: type[GpumonError], path: Path, detail: str) -> GpumonError:
    error = kind(_("{path}: damaged ({detail}).").format(path=shown(path), detail=detail))
    error.is_damage = True
    return error


def _as_text(value: object) -> str:
    return value.decode("utf-8", "replace") if isinstance(value, bytes) else str(value)


def _uri(path: Path, mode: str) -> str:
    name = os.fsencode(str(path).replace("\\", "/") if os.name == "nt" else str(path))
    # An empty authority first: //server/share would be taken for one, and C:/ needs a leading slash.
    return f"file://{'' if name.startswith(b'/') else '/'}{quote(name, safe='/:')}?mode={mode}"


def _connect(path: Path, mode: str) -> sqlite3.Connection:
    connection = sqlite3.connect(_uri(path, mode), uri=True, timeout=BUSY_S, isolation_level=None)
    try:
        connection.text_factory = bytes
        connection.setlimit(sqlite3.SQLITE_LIMIT_LENGTH, LONGEST_VALUE)
        connection.execute("PRAGMA trusted_schema = OFF")
        connection.execute("PRAGMA cell_size_check = ON")
    except BaseException:
        connection.close()
        raise
    return connection


def _connect_for_reading(path: Path) -> tuple[sqlite3.Connection, tempfile.TemporaryDirectory[str] | None]:
    """Read-only if the file is whole; else let SQLite undo a half commit, in place or in a copy."""
    for mode in ("ro", "rw"):
        connection = None
        try:
            connection = _connect(path, mode)
            connection.execute("PRAGMA schema_version").fetchone()
        except sqlite3.Error as error:
            if connection is not None:
                connection.close()
            code = getattr(error, "sqlite_errorcode", 0) & 0xFF
            if code not in (sqlite3.SQLITE_READONLY, sqlite3.SQLITE_CANTOPEN):
                raise
            if not _side_files(path):
                raise
        else:
            return connection, None
    copy = tempfile.TemporaryDirectory(prefix="gpumon-", ignore_cleanup_errors=True)
    try:
        target = Path(copy.name) / "copy"
        shutil.copyfile(path, target)
        for suffix in _side_files(path):
            shutil.copyfile(path.with_name(path.name + suffix), target.with_name(target.name + suffix))
        connection = _connect(target, "rw")
        connection.execute("PRAGMA schema_version").fetchone()
    except BaseException:
        copy.cleanup()
        raise
    return connection, copy


def _side_files(path: Path) -> tuple[str, ...]:
    return tuple(suffix for suffix in _SIDE_FILES[:2] if path.with_name(path.name + suffix).is_file())


def _check_kind(connection: sqlite3.Connection, path: Path, format_: Format, failure: type[GpumonError]) -> int:
    """The minor version, when application, major version and tables are as they must be."""
    application_id, version = (
        int(connection.execute(f"PRAGMA {name}").fetchone()[0]) for name in ("application_id", "user_version")
    )
    if application_id & 0xFFFFFFFF != format_.application_id:
        raise failure(_("{path}: a SQLite file of another program.").format(path=shown(path)))
    major, minor = version & 0xFFFF, version >> 16 & 0xFFFF
    if major > format_.major:
        raise failure(
            _("{path}: made by a newer GPUMon (format {found}, this one reads up to {known}). Update GPUMon.").format(
                path=shown(path), found=f"{major}.{minor}", known=f"{format_.major}.x"
            )
        )
    if major < format_.major:
        raise _damaged(failure, path, f"user_version {version}")
    for table, columns in format_.tables.items():
        row = connection.execute("SELECT type FROM sqlite_master WHERE name = ?", (table,)).fetchone()
        if row != (b"table",):
            raise _damaged(failure, path, f"no table {table}")
        present = {row[1] for row in connection.execute(f"PRAGMA table_info({table})")}
        for column in columns:
            if column.encode() not in present:
                raise _damaged(failure, path, f"no column {table}.{column}")
    return minor


def _check_length(path: Path) -> None:
    """What SQLite would not say in words of ours: no database at all, or a copy that was cut off."""
    with path.open("rb") as file:
        header = file.read(100)
    if header[:16] != MAGIC:
        text = _("{path}: is no SQLite file.") if header else _("{path}: the file is empty.")
        raise UnreadableInput(text.format(path=shown(path)))
    if _side_files(path):  # then the header may be out of date
        return
    size = path.stat().st_size
    page = int.from_bytes(header[16:18], "big")
    page = 65536 if page == 1 else page
    pages = int.from_bytes(header[28:32], "big")
    # The count is valid only when these two counters agree (file format, section 1.3.7).
    if len(header) == 100 and header[24:28] == header[92:96] and size < page * pages:
        raise UnreadableInput(
            _("{path}: cut off after {size} of {whole} bytes. Copy it again.").format(
                path=shown(path), size=size, whole=page * pages
            )
        )


def _check_replaceable(path: Path, format_: Format) -> None:
    """Only a database of the same kind that nobody writes, or an empty file, may be replaced."""
    try:
        check_regular_file(path)
    except UnreadableInput as error:
        raise OutputFailed(str(error)) from error
    with path.open("rb") as file:
        header = file.read(100)
    if not header:
        return
    if header[:16] != MAGIC or header[68:72] != format_.application_id.to_bytes(4, "big"):
        raise OutputFailed(
            _("{path}: exists and was not made by this command. Choose another name.").format(path=shown(path))
        )
    connection = _connect(path, "rw")
    try:
        connection.execute("PRAGMA busy_timeout = 0")
        connection.execute("BEGIN IMMEDIATE")
        connection.execute("ROLLBACK")
    except sqlite3.DatabaseError as error:
        # A damaged one of ours may go; one in use may not.
        if getattr(error, "sqlite_errorcode", 0) & 0xFF not in (sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB):
            raise
    finally:
        connection.close()
