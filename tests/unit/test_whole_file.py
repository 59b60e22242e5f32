"""Files that people keep are there completely, or as they were before."""

from __future__ import annotations

import os
import sys
import threading
from pathlib import Path

import pytest

from gpumon_gui.core.errors import OutputFailed
from gpumon_gui.core.whole_file import write_whole


def test_a_file_is_replaced_as_a_whole(tmp_path: Path) -> None:
    path = tmp_path / "图 a.csv"
    path.write_bytes(b"before")
    write_whole(path, b"after")
    assert path.read_bytes() == b"after"
    assert [file.name for file in tmp_path.iterdir()] == [path.name]


@pytest.mark.skipif(sys.platform == "win32", reason="POSIX rights")
def test_the_file_can_be_read_by_whom_the_user_allows(tmp_path: Path) -> None:
    write_whole(tmp_path / "a.csv", b"")
    mask = os.umask(0)
    os.umask(mask)
    assert (tmp_path / "a.csv").stat().st_mode & 0o777 == 0o666 & ~mask


def test_what_cannot_be_written_is_one_line_and_leaves_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for path in (tmp_path / "no" / "x.csv", tmp_path):
        with pytest.raises(OutputFailed) as caught:
            write_whole(path, b"x")
        assert str(path) in str(caught.value)
        assert "\n" not in str(caught.value)

    def full(_fd: int) -> None:
        raise OSError(28, "No space left on device")

    (tmp_path / "x.csv").write_bytes(b"before")
    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(OutputFailed, match=r"x\.csv: cannot be written \(No space left on device\)"):
        write_whole(tmp_path / "x.csv", b"half")
    assert (tmp_path / "x.csv").read_bytes() == b"before"
    assert [file.name for file in tmp_path.iterdir()] == ["x.csv"]


@pytest.mark.skipif(sys.platform == "win32", reason="POSIX rights and links")
def test_private_files_and_links(tmp_path: Path) -> None:
    write_whole(tmp_path / "a", b"x", private=True)
    assert (tmp_path / "a").stat().st_mode & 0o077 == 0
    (tmp_path / "link").symlink_to(tmp_path / "a")
    write_whole(tmp_path / "link", b"y")
    assert (tmp_path / "link").is_symlink()
    assert (tmp_path / "a").read_bytes() == b"y"


@pytest.mark.skipif(os.name != "nt", reason="elsewhere an open file can be replaced")
def test_a_file_that_a_scanner_has_open_for_a_moment_is_replaced(tmp_path: Path) -> None:
    path = tmp_path / "settings.toml"
    path.write_bytes(b"old")
    scanner = path.open("rb")
    closing = threading.Timer(0.1, scanner.close)
    closing.start()
    write_whole(path, b"new")
    closing.join()
    assert path.read_bytes() == b"new"
    with path.open("rb"), pytest.raises(OutputFailed, match="cannot be written"):
        write_whole(path, b"newer")
    assert path.read_bytes() == b"new"
    assert list(tmp_path.iterdir()) == [path]
