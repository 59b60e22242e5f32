"""How the window was left: a file that is read whole or not at all, and never in the way."""

from __future__ import annotations

import json
import logging
import os
import sys
from pathlib import Path

import pytest

from gpumon_gui.core.errors import OutputFailed
from gpumon_gui.settings.window_state import MOST_BYTES, NAME, WindowState, load, save

LEFT = WindowState(b"\x01\xd9\x00\xff", b"\x00\x00\xfe", "NAME PID", 900, mini=True, watch_beside=420)


def written(**wrong: object) -> bytes:
    """A file with these in place of what is right."""
    right = {"geometry": "", "columns": "", "columns_of": "", "span_s": 60, "mini": False}
    return json.dumps({**right, "watch_beside": 0, "watch_below": 0, "columns_asked": "", **wrong}).encode()


def test_what_was_left_is_there_at_the_next_start(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    folder = tmp_path / "a folder that is not there 图"
    assert load(folder) == WindowState()
    save(folder, LEFT)
    assert load(folder) == LEFT
    assert [file.name for file in folder.iterdir()] == [NAME]
    assert not caplog.records


def test_what_is_right_is_read(tmp_path: Path) -> None:
    (tmp_path / NAME).write_bytes(written(watch_below=612))
    assert load(tmp_path) == WindowState(span_s=60, watch_below=612)


def test_what_an_older_version_left_is_read(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    (tmp_path / NAME).write_text('{"span_s": 300, "mini": true}')
    assert load(tmp_path) == WindowState(span_s=300, mini=True)
    assert not caplog.records


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"\xff\xfe{}",
        b"[]",
        b"null",
        written(geometry=5),
        written(geometry="not base64!"),
        written(span_s=True),
        written(mini="no"),
        written(watch_beside=0.3),
        b"[" * 5000,
        b" " * MOST_BYTES + b"{}",
    ],
)
def test_a_damaged_file_means_the_usual_window_and_a_line_in_the_log(
    tmp_path: Path, content: bytes, caplog: pytest.LogCaptureFixture
) -> None:
    (tmp_path / NAME).write_bytes(content)
    with caplog.at_level(logging.WARNING, "gpumon"):
        assert load(tmp_path) == WindowState()
    (record,) = caplog.records
    assert NAME in record.getMessage()
    save(tmp_path, LEFT)
    assert load(tmp_path) == LEFT


def test_where_nothing_can_be_written_it_is_said(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(OutputFailed, match="file"):
        save(tmp_path / "file", LEFT)


@pytest.mark.skipif(sys.platform == "win32", reason="pipes of POSIX")
def test_a_pipe_in_its_place_holds_up_neither_the_start_nor_the_end(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / NAME)
    assert load(tmp_path) == WindowState()
    with pytest.raises(OutputFailed, match="is not a regular file"):
        save(tmp_path, WindowState())
