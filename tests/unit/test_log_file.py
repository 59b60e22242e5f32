"""The program's own log: what was said is in the file, and nothing that is wrong with the file stops anybody."""

from __future__ import annotations

import logging
import threading
from collections.abc import Iterator
from logging.handlers import RotatingFileHandler
from pathlib import Path

import pytest

from gpumon_gui.system import log_file
from gpumon_gui.system.log_file import LogFile

LOGGER = "gpumon.test_log_file"


@pytest.fixture
def opened(tmp_path: Path) -> Iterator[LogFile]:
    made = LogFile(tmp_path / "日志", LOGGER)
    made.open()
    yield made
    made.close()


def test_what_is_logged_is_in_the_file_and_in_memory(opened: LogFile) -> None:
    logging.getLogger(LOGGER).info("hello %s", "世界\udcff")
    opened.close()
    assert opened.file is not None
    assert "INFO gpumon.test_log_file: hello 世界" in opened.file.read_text(encoding="utf-8")
    assert opened.last_lines()[-1].endswith("hello 世界\udcff")


def test_the_file_is_turned_over(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(log_file, "MOST_BYTES", 10_000)
    monkeypatch.setattr(log_file, "END_S", 60.0)
    made = LogFile(tmp_path, LOGGER)
    made.open()
    for number in range(1000):
        logging.getLogger(LOGGER).info("line %d %s", number, "x" * 60)
    made.close()
    files = sorted(path.name for path in tmp_path.iterdir())
    assert files == ["gpumon.log", "gpumon.log.1", "gpumon.log.2", "gpumon.log.3"]
    assert all(path.stat().st_size <= 10_200 for path in tmp_path.iterdir())
    assert len(made.last_lines(10_000)) == log_file.KEPT_LINES


def test_no_folder_leaves_the_lines_in_memory(tmp_path: Path) -> None:
    (tmp_path / "logs").write_text("in the way")
    made = LogFile(tmp_path / "logs", LOGGER)
    made.open()
    logging.getLogger(LOGGER).warning("still here")
    assert made.file is None
    assert made.last_lines()[-1].endswith("still here")
    made.close()


def test_a_disk_that_is_full_loses_lines_and_nothing_else(
    opened: LogFile, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def full(_self: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(log_file._Quiet, "flush", full)
    logging.getLogger(LOGGER).error("lost")
    opened.close()
    assert capsys.readouterr().err == ""


def test_a_disk_that_does_not_answer_does_not_hold_up_the_end(opened: LogFile, monkeypatch: pytest.MonkeyPatch) -> None:
    asked, answer = threading.Event(), threading.Event()

    def hang(_self: object) -> None:
        asked.set()
        answer.wait(60)

    monkeypatch.setattr(log_file._Quiet, "flush", hang)
    logging.getLogger(LOGGER).info("waits")
    assert asked.wait(60)
    (writing,) = (thread for thread in threading.enumerate() if thread.name == "log file")
    assert not opened.close(0.0)
    assert writing.is_alive()
    answer.set()
    writing.join(60)
    assert not writing.is_alive()


def test_it_leaves_no_thread_and_no_handler(opened: LogFile) -> None:
    assert opened.close()
    assert logging.getLogger(LOGGER).handlers == []
    assert not [thread for thread in threading.enumerate() if thread.name == "log file"]


def test_what_did_not_fit_on_the_disk_is_written_with_the_next_line(
    opened: LogFile, monkeypatch: pytest.MonkeyPatch
) -> None:
    is_tried, write = threading.Event(), log_file._Quiet.flush

    def full_once(handler: log_file._Quiet) -> None:
        if not is_tried.is_set():
            is_tried.set()
            raise OSError(28, "No space left on device")
        write(handler)

    monkeypatch.setattr(log_file._Quiet, "flush", full_once)
    logging.getLogger(LOGGER).info("first")
    assert is_tried.wait(60)
    logging.getLogger(LOGGER).info("second")
    assert opened.close(60)
    assert opened.file is not None
    assert [line.rsplit(" ", 1)[1] for line in opened.file.read_text(encoding="utf-8").splitlines()] == [
        "first",
        "second",
    ]


def test_what_is_logged_while_the_disk_is_full_is_written_when_there_is_room(
    opened: LogFile, monkeypatch: pytest.MonkeyPatch
) -> None:
    is_tried = threading.Event()

    def full(*_given: object) -> None:
        raise OSError(28, "No space left on device")

    def tried(_handler: object, _record: object) -> None:
        is_tried.set()

    with monkeypatch.context() as patched:
        patched.setattr(log_file._Quiet, "flush", full)
        patched.setattr(RotatingFileHandler, "shouldRollover", full)
        patched.setattr(log_file._Quiet, "handleError", tried)
        logging.getLogger(LOGGER).warning("kept")
        assert is_tried.wait(60)
    assert opened.close(60)
    assert opened.file is not None
    assert opened.file.read_text(encoding="utf-8").endswith(" kept\n")
