"""Parts of the application: faults are told once, F5 brings a reading at any speed, a missing demo is said."""

from __future__ import annotations

import logging
import sys
import threading
import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import pytest
from PySide6.QtWidgets import QApplication, QMessageBox, QWidget
from pytestqt.qtbot import QtBot

from gpumon_gui.app import replaying, shutdown
from gpumon_gui.app.arguments import Arguments
from gpumon_gui.app.faults import Faults
from gpumon_gui.app.keeping import Keeping
from gpumon_gui.app.origins import LiveOrigin
from gpumon_gui.app.preferences import Preferences
from gpumon_gui.bridge.feed import Feed, FeedState
from gpumon_gui.bridge.settings import Settings
from gpumon_gui.bridge.translation import Translation
from gpumon_gui.bridge.worker import LoopThread, Worker, stuck_threads
from gpumon_gui.core.clock import SystemClock
from gpumon_gui.core.errors import UnreadableInput
from gpumon_gui.core.model import Demand
from gpumon_gui.settings.values import Values
from gpumon_gui.ui.main_window import MainWindow
from gpumon_gui.ui.theme import Theme
from tests.qt.samples import make_sample


@pytest.fixture
def feed(qapp: QApplication) -> Iterator[Feed]:
    made = Feed()
    yield made
    made.deleteLater()


def _raise() -> None:
    raise RuntimeError("planted")


def test_a_fault_in_a_slot_is_logged_and_told_once(qtbot: QtBot, caplog: pytest.LogCaptureFixture) -> None:
    window = QWidget()
    qtbot.addWidget(window)
    before = sys.excepthook
    faults = Faults(window, log=Path("/logs/gpumon.log"))
    with caplog.at_level(logging.ERROR, "gpumon.faults"):
        for _time in range(3):
            try:
                _raise()
            except RuntimeError as error:
                sys.excepthook(RuntimeError, error, error.__traceback__)
    qtbot.waitUntil(lambda: bool(window.findChildren(QMessageBox)), timeout=5000)
    (box,) = window.findChildren(QMessageBox)
    assert "please report it" in box.text()
    assert "planted" in box.detailedText()
    assert str(Path("/logs/gpumon.log")) in box.informativeText()
    assert len(caplog.records) == 3
    box.close()
    faults.close()
    assert sys.excepthook is before


class _Broken(Worker):
    def run(self) -> None:
        raise LookupError("in a thread")


def test_a_fault_in_any_workers_thread_is_told(qtbot: QtBot) -> None:
    window = QWidget()
    qtbot.addWidget(window)
    faults = Faults(window)
    thread = LoopThread(_Broken(), "broken")
    thread.start()
    qtbot.waitUntil(lambda: bool(window.findChildren(QMessageBox)), timeout=5000)
    (box,) = window.findChildren(QMessageBox)
    assert "LookupError: in a thread" in box.detailedText()
    assert "line" in box.detailedText()  # where it was
    box.close()
    faults.close()
    assert thread.stop(10)


def test_f5_brings_a_reading_at_low_speed_and_while_paused(feed: Feed, qtbot: QtBot) -> None:
    origin = LiveOrigin(feed, SystemClock(), "one-gpu-training")
    with qtbot.waitSignal(feed.sample_arrived, timeout=20_000):
        origin.start()
    origin.set_demand(Demand(interval_s=3600.0))
    for paused in (False, True):
        if paused:
            origin.pause()
            qtbot.waitUntil(lambda: feed.status.state is FeedState.PAUSED, timeout=5000)
        seen = feed.latest
        with qtbot.waitSignal(feed.sample_arrived, timeout=5000):
            origin.refresh()
        assert feed.latest is not seen
    assert feed.status.state is FeedState.PAUSED
    end = origin.close(5.0)
    assert (end.is_over, end.text) == (True, "")
    origin.deleteLater()


def test_what_a_page_needs_besides_is_read_at_once(feed: Feed, qtbot: QtBot) -> None:
    def sees_processes() -> bool:
        return feed.latest is not None and bool(feed.latest.processes)

    origin = LiveOrigin(feed, SystemClock(), "one-gpu-training")
    settings = Demand(interval_s=3600.0, details=False, processes=False, cpu_processes=False)
    with qtbot.waitSignal(feed.sample_arrived, timeout=20_000):
        origin.start()
    origin.set_demand(settings)
    origin.refresh()
    qtbot.waitUntil(lambda: feed.latest is not None and not feed.latest.processes, timeout=5000)
    origin.pause()
    origin.set_demand(replace(settings, processes=True))
    origin.set_demand(settings)
    origin.resume()
    assert not sees_processes()
    origin.set_demand(replace(settings, processes=True))
    qtbot.waitUntil(sees_processes, timeout=5000)
    assert origin.close(5.0).is_over
    origin.deleteLater()


def test_a_missing_demo_says_what_and_where(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(replaying, "resource_root", lambda: tmp_path)
    with pytest.raises(UnreadableInput) as told:
        replaying.demo_recording()
    assert str(tmp_path / "demo") in str(told.value)


def test_what_hangs_is_waited_for_together_and_named(
    feed: Feed,
    tmp_path: Path,
    qtbot: QtBot,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    """No disk answers: neither that of the settings nor that of the history nor that of the results."""
    asked, free = threading.Event(), threading.Event()

    def hang(*_things: object) -> SimpleNamespace:
        asked.set()
        free.wait(60)
        return SimpleNamespace(kept=(), faults=())

    for place in ("settings.store.save", "history.store.HistoryStore.finish", "diagnosis.results.load"):
        monkeypatch.setattr(f"gpumon_gui.{place}", hang)
    monkeypatch.setattr(shutdown, "TIMEOUT_S", 3.0)
    monkeypatch.setattr("gpumon_gui.app.keeping.folders", lambda: SimpleNamespace(data=tmp_path))
    theme, translation, settings = Theme(), Translation(), Settings(tmp_path, Values())
    origin = LiveOrigin(feed, SystemClock(), None)
    window = MainWindow(feed, theme, translation, origin)
    qtbot.addWidget(window)
    preferences = Preferences(settings, window)
    keeping = Keeping(window, feed, settings, Arguments())
    window.pages["diagnostics"].set_folder(tmp_path)
    window.pages["diagnostics"].files.load()
    assert asked.wait(60)
    settings.set("general.theme", "dark")
    feed.push(make_sample(1))
    begin = time.monotonic()
    ended = shutdown.shut_down(window, preferences, origin, keeping)
    assert not ended.is_over
    assert time.monotonic() - begin < 6.0  # one after the other they would take 2 + 3 + 3 s
    assert len(stuck_threads()) == 3
    assert "settings could not be saved: the disk does not answer" in capsys.readouterr().err
    free.set()
    assert keeping.close(60)
    assert preferences.close(60).is_over
    qtbot.waitUntil(lambda: stuck_threads() == (), timeout=60_000)
    for part in (origin, theme, translation):
        part.deleteLater()
