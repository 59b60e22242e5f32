"""A full disk, files that are locked, read-only, damaged, of others or of tomorrow: one line, and nothing is lost."""

from __future__ import annotations

import os
import sqlite3
from pathlib import Path

import psutil
import pytest

from gpumon_gui.core import database
from gpumon_gui.core.database import create
from gpumon_gui.core.errors import OutputFailed, UnreadableInput
from gpumon_gui.history.intake import Intake
from gpumon_gui.history.marker import Marker, MarkerKind
from gpumon_gui.history.reading import HistoryReader, Span
from gpumon_gui.history.schema import FORMAT
from gpumon_gui.history.store import HistoryStore, aside_text, move_aside
from tests.unit.test_database import mount_read_only, unmount
from tests.unit.test_history_store import START, contents, feed, means, sample_at


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "history.db"


@pytest.fixture
def short_wait(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(database, "BUSY_S", 0.05)


def fault_of(store: HistoryStore, intake: Intake) -> str:
    """What a write says when it fails."""
    try:
        store.write(intake, [])
    except OutputFailed as error:
        return str(error)
    return ""


def use(path: Path) -> bool:
    """Open the file, write to it and read all of it. False when a check finds damage. Raises OutputFailed."""
    store = HistoryStore(path)
    try:
        feed(store, range(START + 5000, START + 7000))
        return store.check()
    finally:
        store.close()


def filled(path: Path) -> Path:
    store = HistoryStore(path)
    feed(store, range(START, START + 2000))
    store.close()
    return path


@pytest.mark.skipif(os.name != "posix" or os.geteuid() != 0, reason="mounts a small disk")
def test_a_full_disk_is_told_and_goes_on_when_there_is_room(tmp_path: Path) -> None:
    disk = tmp_path / "disk"
    disk.mkdir()
    if os.system(f"mount -t tmpfs -o size=256k tmpfs '{disk}' 2>/dev/null"):
        pytest.skip("this container may not mount")
    try:
        store, intake = HistoryStore(disk / "history.db"), Intake()
        stuffing = disk / "stuffing"
        second, told = START, ""
        stuffing.write_bytes(b"x" * 60_000)
        markers = [Marker(float(START), MarkerKind.ALERT, "x", "y" * 900) for _number in range(10)]
        for _batch in range(200):
            for _second in range(10):
                intake.add(sample_at(second))
                second += 1
            try:
                store.write(intake, [*markers])
            except OutputFailed as error:
                told = str(error)
                break
        assert told == f"{disk / 'history.db'}: the disk is full."
        stuffing.unlink()
        store.write(intake, [])  # the same store, the same intake
        store.close()
        found = means(disk / "history.db", "power_w", Span(START, second))
        assert list(found) == list(range(START, second))
    finally:
        unmount(disk)


def test_a_full_disk_by_quota_of_pages(path: Path) -> None:
    """The same where nothing can be mounted: SQLite itself refuses more pages."""
    store, intake = HistoryStore(path), Intake()
    pages = store._pragma("page_count")
    store._connection.execute(f"PRAGMA max_page_count = {pages + 1}")
    told, second = "", START
    while not told and second < START + 20_000:
        intake.add(sample_at(second))
        second += 1
        if second % 10 == 0:
            told = fault_of(store, intake)
    assert told == f"{path}: the disk is full."
    store._connection.execute("PRAGMA max_page_count = 1000000")
    store.write(intake, [])
    assert list(means(path, "power_w", Span(START, second + 1))) == list(range(START, second))
    store.close()


def test_a_locked_file_is_told_and_written_later(path: Path, short_wait: None) -> None:
    store, intake = HistoryStore(path), Intake()
    other = sqlite3.connect(path, isolation_level=None)
    other.execute("BEGIN IMMEDIATE")
    intake.add(sample_at(START))
    with pytest.raises(OutputFailed, match=r"history\.db: in use by another program\."):
        store.write(intake, [])
    other.execute("ROLLBACK")
    other.close()
    store.write(intake, [])
    assert len(means(path, "power_w", Span(START, START + 1))) == 1
    store.close()


def test_a_program_that_ends_does_not_wait_for_a_locked_file(path: Path) -> None:
    asked: list[None] = []

    def is_over() -> bool:
        asked.append(None)
        return True

    store, intake = HistoryStore(path, is_over), Intake()
    other = sqlite3.connect(path, isolation_level=None)
    other.execute("BEGIN IMMEDIATE")
    intake.add(sample_at(START))
    with pytest.raises(OutputFailed, match=r"history\.db: in use by another program\."):
        store.finish(intake, [])
    assert len(asked) == 1
    other.close()
    store.close()


def test_two_programs_may_write_at_the_same_time(path: Path) -> None:
    one, two = HistoryStore(path), HistoryStore(path)
    first, second = Intake(), Intake()
    for number in range(20):
        (first if number % 2 else second).add(sample_at(START + number))
        one.write(first, [])
        two.write(second, [])
    one.finish(first, [])
    two.finish(second, [])
    one.close()
    two.close()
    assert list(means(path, "power_w", Span(START, START + 30))) == list(range(START, START + 20))


def test_a_read_only_medium_is_told_and_still_read(tmp_path: Path) -> None:
    folder = tmp_path / "medium"
    folder.mkdir()
    path = filled(folder / "history.db")
    mount_read_only(folder)
    try:
        with pytest.raises(OutputFailed) as caught:
            HistoryStore(path)
        assert str(caught.value).startswith(str(path))
        assert not caught.value.is_damage
        assert len(means(path, "power_w", Span(START, START + 3000))) == 2000
        with pytest.raises(OutputFailed, match=r"cannot be written|cannot be opened|Read-only"):
            HistoryStore(folder / "deeper" / "history.db")
    finally:
        unmount(folder)


@pytest.mark.parametrize(
    "damage",
    [
        pytest.param(lambda data: b"no database at all, but a letter" * 100, id="another content"),
        pytest.param(lambda data: data[:5000], id="cut off"),
        pytest.param(lambda data: data[:100] + os.urandom(4000) + data[4100:], id="first page"),
    ],
)
def test_a_damaged_file_is_kept_aside_and_a_new_one_begun(path: Path, damage: object) -> None:
    filled(path)
    content = path.read_bytes()
    broken = damage(content)  # type: ignore[operator]
    path.write_bytes(broken)
    with pytest.raises(OutputFailed) as caught:
        use(path)
    assert caught.value.is_damage
    target = move_aside(path)
    assert target.name.startswith("history-corrupt-")
    assert target.suffix == ".db"
    assert target.read_bytes() == broken  # nothing is lost
    assert target.name in aside_text(target)
    store = HistoryStore(path)
    feed(store, range(START, START + 10))
    store.close()
    assert len(means(path, "power_w", Span(START, START + 10))) == 10


@pytest.mark.parametrize("damage", [b"no database at all" * 100, b"SQLite format 3\0" + b"x" * 4000])
def test_who_cannot_read_a_file_lets_go_of_it(path: Path, damage: bytes) -> None:
    """Windows would not let it be moved aside."""
    path.write_bytes(damage)
    with pytest.raises(UnreadableInput) as caught:
        HistoryReader(path)
    assert str(path) not in [file.path for file in psutil.Process().open_files()]
    assert caught.value.is_damage


def test_a_second_damaged_file_of_the_same_second_gets_another_name(path: Path) -> None:
    names = set()
    for _number in range(3):
        path.write_bytes(b"x")
        names.add(move_aside(path).name)
    assert len(names) == 3


def test_damage_in_old_pages_is_found_by_a_check(path: Path) -> None:
    filled(path)
    data = bytearray(path.read_bytes())
    connection = sqlite3.connect(path)
    page = connection.execute("SELECT rootpage FROM sqlite_master WHERE name = 'marker_time'").fetchone()[0]
    connection.close()
    data[(page - 1) * 4096 : page * 4096] = b"\x0a\xff" * 2048  # nobody reads it when the file is opened
    path.write_bytes(bytes(data))
    store = HistoryStore(path)
    assert not store.check()
    store.close()


def test_a_file_of_a_newer_program_is_left_alone(path: Path) -> None:
    filled(path)
    connection = sqlite3.connect(path)
    connection.execute("PRAGMA user_version = 2")
    connection.close()
    before = path.read_bytes()
    with pytest.raises(OutputFailed, match=r"made by a newer GPUMon \(format 2\.0.*Update GPUMon") as caught:
        HistoryStore(path)
    assert not caught.value.is_damage
    with pytest.raises(UnreadableInput, match="made by a newer GPUMon"):
        HistoryReader(path)
    assert path.read_bytes() == before


def test_a_newer_minor_version_is_written_on(path: Path) -> None:
    filled(path)
    connection = sqlite3.connect(path)
    connection.execute(f"PRAGMA user_version = {1 | 9 << 16}")
    connection.execute("ALTER TABLE device ADD COLUMN later TEXT NOT NULL DEFAULT ''")
    connection.close()
    store = HistoryStore(path)
    feed(store, range(START + 3000, START + 3010))
    store.close()
    assert len(means(path, "power_w", Span(START, START + 4000))) == 2010


def test_another_programs_database_is_not_touched(path: Path) -> None:
    connection = sqlite3.connect(path)
    connection.execute("CREATE TABLE thesis (text)")
    connection.commit()
    connection.close()
    before = path.read_bytes()
    with pytest.raises(OutputFailed, match="another program") as caught:
        HistoryStore(path)
    assert not caught.value.is_damage
    assert path.read_bytes() == before


def test_a_folder_in_the_way_and_a_file_in_the_way_of_the_folder(tmp_path: Path) -> None:
    (tmp_path / "history.db").mkdir()
    (tmp_path / "file").touch()
    for path in (tmp_path / "history.db", tmp_path / "file" / "history.db"):
        with pytest.raises(OutputFailed) as caught:
            HistoryStore(path)
        assert not caught.value.is_damage


def test_a_file_that_was_deleted_meanwhile_is_made_again(path: Path) -> None:
    filled(path)
    for suffix in ("", "-wal", "-shm"):
        path.with_name(path.name + suffix).unlink(missing_ok=True)
    assert contents_or_none(path) is None
    store = HistoryStore(path)
    feed(store, range(START, START + 10))
    store.close()
    assert contents(path).last_s == START + 9


def contents_or_none(path: Path) -> object:
    try:
        return contents(path)
    except UnreadableInput:
        return None


def test_an_empty_file_is_filled(path: Path) -> None:
    path.touch()
    store = HistoryStore(path)
    feed(store, range(START, START + 3))
    store.close()
    assert len(means(path, "power_w", Span(START, START + 10))) == 3


def test_an_older_file_of_ours_with_a_missing_table_is_damage(path: Path) -> None:
    connection = create(path, FORMAT)
    connection.execute("DROP TABLE roll")
    connection.close()
    with pytest.raises(OutputFailed, match="no table roll") as caught:
        HistoryStore(path)
    assert caught.value.is_damage


def test_a_column_of_another_type_does_not_stop_the_history(path: Path) -> None:
    filled(path)
    with sqlite3.connect(path) as connection:
        connection.execute("UPDATE device SET last_s = 'abc'")
    connection.close()
    reader = HistoryReader(path)
    assert reader.contents().devices == ()
    reader.close()
    store = HistoryStore(path)
    assert store.newest_s is not None
    feed(store, range(START + 5000, START + 5010))
    store.close()
    reader = HistoryReader(path)
    assert reader.contents().last_s == START + 5009
    reader.close()
