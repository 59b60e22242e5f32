"""What files of ours promise: recognised by content, never half made, each fault one line that names the file."""

from __future__ import annotations

import os
import sqlite3
from pathlib import Path

import pytest

from gpumon_gui.core.database import (
    Format,
    Journal,
    create,
    open_for_reading,
    open_for_writing,
    reading,
    writing,
)
from gpumon_gui.core.errors import OutputFailed, UnreadableInput
from gpumon_gui.core.files import check_regular_file

posix_only = pytest.mark.skipif(os.name != "posix", reason="FIFOs, devices, fork")
NOTES = Format(0x47505454, 2, 1, {"note": ("text",)}, ("CREATE TABLE note (text TEXT)",))


def make(path: Path, format_: Format = NOTES, journal: Journal = Journal.SINGLE_FILE) -> Path:
    connection = create(path, format_, journal)
    connection.execute("INSERT INTO note VALUES ('写')")
    connection.close()
    return path


ODD_NAMES = ("a%20b&mode=ro#x.db", "quote'.db") if os.name == "nt" else ("a%20b?mode=ro#x.db", "quote'\".db")


@pytest.mark.parametrize("name", ["plain.db", "记录 一.db", *ODD_NAMES])
def test_any_file_name_works(tmp_path: Path, name: str) -> None:
    path = make(tmp_path / name)
    assert [path.name for path in tmp_path.iterdir()] == [name]
    reader = open_for_reading(path, NOTES)
    assert reader.connection.execute("SELECT text FROM note").fetchall() == [("写".encode(),)]
    assert reader.minor == 1
    reader.close()


@posix_only
def test_a_name_that_is_not_utf8_works_and_can_be_printed(tmp_path: Path) -> None:
    path = tmp_path / os.fsdecode(b"\xff\xfe.db")
    try:
        make(path)
    except OutputFailed:
        pytest.skip("this file system wants UTF-8 names")
    open_for_reading(path, NOTES).close()
    with pytest.raises(UnreadableInput) as caught:
        open_for_reading(path.with_suffix(".gone"), NOTES)
    str(caught.value).encode("utf-8")


@pytest.mark.parametrize("journal", list(Journal))
def test_both_journals(tmp_path: Path, journal: Journal) -> None:
    path = make(tmp_path / "x.db", journal=journal)
    connection = open_for_writing(path, NOTES, journal)
    assert connection.execute("PRAGMA journal_mode").fetchone() == (journal.value.encode(),)
    connection.close()


def test_newer_minor_is_read_newer_major_refused(tmp_path: Path) -> None:
    path = make(tmp_path / "x.db")
    connection = sqlite3.connect(path)
    connection.execute(f"PRAGMA user_version = {2 | 7 << 16}")
    reader = open_for_reading(path, NOTES)
    assert reader.minor == 7
    reader.close()
    connection.execute("PRAGMA user_version = 3")
    connection.close()
    with pytest.raises(
        UnreadableInput, match=r"x\.db: made by a newer GPUMon \(format 3\.0, this one reads up to 2\.x\)"
    ):
        open_for_reading(path, NOTES)
    with pytest.raises(OutputFailed, match="newer"):
        open_for_writing(path, NOTES, Journal.SINGLE_FILE)


def test_another_programs_file_is_neither_read_nor_replaced(tmp_path: Path) -> None:
    path = tmp_path / "other.db"
    connection = sqlite3.connect(path)
    connection.execute("CREATE TABLE note (text)")
    connection.commit()
    connection.close()
    before = path.read_bytes()
    with pytest.raises(UnreadableInput, match="another program"):
        open_for_reading(path, NOTES)
    with pytest.raises(OutputFailed, match="exists and was not made by this command"):
        create(path, NOTES)
    assert path.read_bytes() == before


def test_no_database_at_all(tmp_path: Path) -> None:
    path = tmp_path / "thesis.txt"
    path.write_bytes(b"years of work" * 20)
    with pytest.raises(UnreadableInput, match=r"thesis\.txt: is no SQLite file"):
        open_for_reading(path, NOTES)
    with pytest.raises(OutputFailed, match="exists"):
        create(path, NOTES)
    assert path.read_bytes() == b"years of work" * 20


def test_ones_own_file_and_an_empty_one_are_replaced(tmp_path: Path) -> None:
    path = make(tmp_path / "x.db")
    create(path, NOTES).close()
    reader = open_for_reading(path, NOTES)
    assert reader.connection.execute("SELECT count(*) FROM note").fetchone() == (0,)
    reader.close()
    empty = tmp_path / "empty.db"
    empty.touch()
    make(empty)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["empty.db", "x.db"]


def test_a_file_in_use_is_not_replaced(tmp_path: Path) -> None:
    path = make(tmp_path / "x.db")
    connection = open_for_writing(path, NOTES, Journal.SINGLE_FILE)
    connection.execute("BEGIN IMMEDIATE")
    with pytest.raises(OutputFailed, match=r"x\.db: in use by another program"):
        create(path, NOTES)
    open_for_reading(path, NOTES).close()
    connection.execute("COMMIT")
    connection.close()


def test_places_that_cannot_hold_a_file(tmp_path: Path) -> None:
    with pytest.raises(OutputFailed, match="no such folder"):
        create(tmp_path / "no" / "x.db", NOTES)
    with pytest.raises(OutputFailed, match="is a folder"):
        create(tmp_path, NOTES)
    with pytest.raises(OutputFailed, match="not a regular file"):
        create(Path(os.devnull), NOTES)


@posix_only
def test_what_cannot_be_opened_is_refused_without_hanging(tmp_path: Path) -> None:
    fifo = tmp_path / "pipe"
    os.mkfifo(fifo)
    for path, words in (
        (fifo, "not a regular file"),
        (Path("/dev/zero"), "not a regular file"),
        (tmp_path, "is a folder"),
        (tmp_path / "gone", "No such file"),
        (tmp_path / "nul\0", "cannot be read"),
        (tmp_path / ("x" * 5000), "cannot be read"),
    ):
        with pytest.raises(UnreadableInput, match=words):
            check_regular_file(path)


@posix_only
def test_an_interrupted_commit_is_undone_also_where_nothing_may_be_written(tmp_path: Path) -> None:
    path = make(tmp_path / "x.db")
    child = os.fork()
    if child == 0:  # die in the middle of a commit: journal synced, pages of the database written
        connection = open_for_writing(path, NOTES, Journal.SINGLE_FILE)
        connection.execute("PRAGMA cache_size = 2")
        connection.execute("PRAGMA cache_spill = ON")
        connection.execute("BEGIN")
        connection.execute("UPDATE note SET text = 'half'")
        connection.executemany("INSERT INTO note VALUES (?)", [("x" * 3000,)] * 200)
        os._exit(0)
    os.waitpid(child, 0)
    assert (tmp_path / "x.db-journal").is_file()
    folder = tmp_path / "medium"
    folder.mkdir()
    for name in ("x.db", "x.db-journal"):
        (folder / name).write_bytes((tmp_path / name).read_bytes())

    reader = open_for_reading(path, NOTES)
    assert reader.connection.execute("SELECT text FROM note").fetchall() == [("写".encode(),)]
    reader.close()
    assert not (tmp_path / "x.db-journal").exists()

    mount_read_only(folder)
    try:
        with pytest.raises(OSError, match="Read-only"):
            (folder / "y").touch()
        reader = open_for_reading(folder / "x.db", NOTES)
        assert reader.connection.execute("SELECT text FROM note").fetchall() == [("写".encode(),)]
        reader.close()
        assert (folder / "x.db-journal").is_file()
    finally:
        unmount(folder)


def test_a_truncated_copy_says_so(tmp_path: Path) -> None:
    path = make(tmp_path / "x.db")
    whole = path.read_bytes()
    path.write_bytes(whole[: len(whole) - 1000])
    with pytest.raises(UnreadableInput, match=rf"x\.db: cut off after {len(whole) - 1000} of {len(whole)} bytes"):
        open_for_reading(path, NOTES)


def test_bugs_stay_bugs(tmp_path: Path) -> None:
    path = make(tmp_path / "x.db")
    reader = open_for_reading(path, NOTES)
    with pytest.raises(sqlite3.OperationalError, match="syntax"), reading(path):
        reader.connection.execute("SELEKT")
    reader.close()
    with pytest.raises(sqlite3.ProgrammingError), writing(path):
        reader.connection.execute("SELECT 1")


def mount_read_only(folder: Path) -> None:
    if os.name != "posix" or os.geteuid() != 0:
        pytest.skip("needs root")
    if os.system(f"mount --bind '{folder}' '{folder}' 2>/dev/null && mount -o remount,ro,bind '{folder}' 2>/dev/null"):
        os.system(f"umount '{folder}' 2>/dev/null")
        pytest.skip("this container may not mount")


def unmount(folder: Path) -> None:
    os.system(f"umount '{folder}'")
