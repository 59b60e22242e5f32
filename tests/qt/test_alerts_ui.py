"""Alerts in the window: counted on the bell, listed, notified, followed by a click; muted by the settings."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication
from pytestqt.qtbot import QtBot

from gpumon_gui.app.alerts import Alerts
from gpumon_gui.bridge.feed import Feed, FeedState, FeedStatus
from gpumon_gui.bridge.settings import Settings
from gpumon_gui.bridge.translation import Translation
from gpumon_gui.diagnosis.alerts.alert import Alert
from gpumon_gui.settings.values import Values
from gpumon_gui.ui.main_window import MainWindow
from gpumon_gui.ui.theme import Text, Theme
from gpumon_gui.ui.tray.icon import Tray
from tests.behaviour_samples import DESKTOP, FULL, GIB, IDLE, LAPTOP, Program, story
from tests.qt.test_main_window import RecordingOrigin


class Bench:
    def __init__(self, qtbot: QtBot) -> None:
        self.feed, self.theme, self.translation = Feed(), Theme(), Translation()
        self.feed.set_status(FeedStatus(FeedState.LIVE))
        self.origin = RecordingOrigin()
        self.window = MainWindow(self.feed, self.theme, self.translation, self.origin)
        qtbot.addWidget(self.window)
        self.settings = Settings(None, Values())
        self.alerts = Alerts(self.window, self.feed, self.theme, self.translation, self.settings)
        self.raised: list[Alert] = []
        self.alerts.centre.raised.connect(self.raised.append)
        self.window.show()
        qtbot.waitExposed(self.window)

    def heat(self) -> None:
        for sample in story([LAPTOP], [replace(FULL, temperature=96.0)], seconds=30, hz=1):
            self.feed.push(sample)

    def close(self) -> None:
        self.settings.close()
        for part in (self.settings, self.feed, self.theme, self.translation):
            part.deleteLater()


@pytest.fixture
def bench(qtbot: QtBot, qapp: QApplication) -> Iterator[Bench]:
    made = Bench(qtbot)
    yield made
    made.window.close()
    made.close()


def test_an_alert_is_counted_told_and_listed(bench: Bench) -> None:
    bench.heat()
    assert [alert.kind for alert in bench.raised] == ["temperature"]
    assert "1" in bench.alerts.bell.accessibleName()
    assert "RTX 4060" in bench.window.message.text
    QTest.mouseClick(bench.alerts.bell, Qt.MouseButton.LeftButton)
    panel = bench.alerts.bell.panel
    assert panel.isVisible()
    assert panel.list.count() == 1
    assert "RTX 4060" in panel.list.item(0).text()
    assert bench.alerts.centre.unread == 0
    QTest.keyClick(panel.list, Qt.Key.Key_Escape)
    assert not panel.isVisible()


def test_the_number_on_the_bell_leaves_the_captions_as_large_as_they_are(bench: Bench) -> None:
    before = bench.theme.font(Text.CAPTION).pointSizeF()
    bench.heat()
    for _ in range(3):
        bench.alerts.bell.grab()
    assert bench.theme.font(Text.CAPTION).pointSizeF() == before


def test_a_click_leads_to_the_device(bench: Bench) -> None:
    bench.heat()
    bench.window.show_page("settings")
    QTest.mouseClick(bench.alerts.bell, Qt.MouseButton.LeftButton)
    panel = bench.alerts.bell.panel
    QTest.keyClick(panel.list, Qt.Key.Key_Down)
    QTest.keyClick(panel.list, Qt.Key.Key_Return)
    assert bench.window.page == "performance"
    assert not panel.isVisible()


def test_a_click_leads_to_the_program(bench: Bench) -> None:
    idle = Program(9, command=("python", "notebook.py"), memory={0: 12 * GIB}, busy={0: 0.0}, cpu=0.0)
    for sample in story([DESKTOP], [IDLE], [idle], seconds=700, hz=0.5):
        bench.feed.push(sample)
    assert [alert.kind for alert in bench.raised] == ["held_idle"]
    bench.alerts.bell.followed.emit(bench.raised[0])
    assert bench.window.page == "processes"


def test_muted_and_silent(bench: Bench) -> None:
    bench.settings.set("alerts.on", False)
    bench.heat()
    assert bench.window.message.isHidden()
    assert bench.alerts.centre.unread == 1
    bench.settings.set("alerts.temperature.on", False)
    for sample in story([DESKTOP], [replace(FULL, temperature=96.0)], seconds=30, hz=1):
        bench.feed.push(replace(sample, monotonic_s=sample.monotonic_s + 5000, utc_s=sample.utc_s + 5000))
    assert len(bench.raised) == 1


def test_the_limit_is_the_users(bench: Bench) -> None:
    bench.settings.set("alerts.temperature.celsius", 110)
    bench.heat()
    assert bench.raised == []


def test_a_notification_cannot_carry_markup(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    told: list[tuple[str, str]] = []
    tray = Tray(bench.window, bench.feed, lambda: None)
    monkeypatch.setattr(tray.icon, "showMessage", lambda title, text, _icon: told.append((title, text)))
    monkeypatch.setattr("gpumon_gui.ui.tray.icon.sys.platform", "linux")
    tray.notify("title", "<a href='x'>python</a> & co")
    assert told == [("title", "&lt;a href='x'&gt;python&lt;/a&gt; &amp; co")]
    tray.close()
    tray.deleteLater()


def test_alerts_need_the_processes_also_while_nobody_looks(bench: Bench) -> None:
    bench.window.hide()
    assert bench.origin.demands[-1].processes
    assert not bench.origin.demands[-1].details


def test_the_list_in_chinese(bench: Bench) -> None:
    bench.heat()
    bench.translation.set_language("zh_CN")
    assert bench.alerts.bell.panel.list.count() == 1
    bench.translation.set_language("en")
    bench.alerts.centre.clear()
    assert bench.alerts.bell.panel.list.count() == 0


def test_a_click_on_a_hint_is_no_click_on_an_older_alert(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    tray = Tray(bench.window, bench.feed, lambda: None)
    monkeypatch.setattr(tray.icon, "showMessage", lambda *_words: None)
    monkeypatch.setattr(Tray, "is_shown", True)
    bench.alerts.use_tray(tray)
    bench.heat()
    bench.window.show_page("settings")
    tray.notify("Still running", "GPUMon goes on here.")
    tray.icon.messageClicked.emit()
    assert bench.window.page == "settings"
    tray.close()
    tray.deleteLater()
