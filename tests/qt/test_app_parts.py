"""Parts of the application: faults are told once, F5 brings a reading at any speed, a missing demo is said."""

from __future__ import annotations

import logging
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from PySide6.QtWidgets import QApplication, QMessageBox, QWidget
from pytestqt.qtbot import QtBot

from gpumon_gui.app import replaying
from gpumon_gui.app.faults import Faults
from gpumon_gui.app.origins import LiveOrigin
from gpumon_gui.bridge.feed import Feed, FeedState
from gpumon_gui.core.clock import SystemClock
from gpumon_gui.core.errors import UnreadableInput
from gpumon_gui.core.model import Demand


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
    faults = Faults(window)
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
    assert len(caplog.records) == 3
    box.close()
    faults.close()
    assert sys.excepthook is before


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


def test_a_missing_demo_says_what_and_where(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(replaying, "resource_root", lambda: tmp_path)
    with pytest.raises(UnreadableInput) as told:
        replaying.demo_recording()
    assert str(tmp_path / "demo") in str(told.value)
