"""Alerts in the window: counted on the bell, listed, notified, followed by a click; muted by the settings."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication
from pytestqt.qtbot import QtBot

from gpumon_gui.app.alerts import Alerts
from gpumon_gui.bridge.feed import Feed, FeedState, FeedStatus
from gpumon_gui.bridge.history import History
from gpumon_gui.bridge.settings import Settings
from gpumon_gui.bridge.translation import Translation
from gpumon_gui.core.clock import FakeClock
from gpumon_gui.core.model import Sample
from gpumon_gui.diagnosis.alerts.alert import VERDICT, Alert
from gpumon_gui.history.retention import HistoryOptions
from gpumon_gui.settings.values import Values
from gpumon_gui.ui.main_window import MainWindow
from gpumon_gui.ui.theme import Text, Theme
from gpumon_gui.ui.tray.icon import Tray
from tests.behaviour_samples import DESKTOP, FULL, GIB, IDLE, LAPTOP, START_UTC_S, Program, story
from tests.qt.test_main_window import RecordingOrigin

HOUR_S = 3600.0
HOLDER = Program(9, command=("python", "notebook.py"), memory={0: 12 * GIB}, busy={0: 0.0}, cpu=0.0)


class Bench:
    def __init__(self, qtbot: QtBot) -> None:
        self.clock = FakeClock(START_UTC_S)
        self.feed, self.theme, self.translation = Feed(), Theme(), Translation()
        self.feed.set_status(FeedStatus(FeedState.LIVE))
        self.origin = RecordingOrigin()
        self.window = MainWindow(self.feed, self.theme, self.translation, self.origin)
        qtbot.addWidget(self.window)
        self.settings = Settings(None, Values())
        self.alerts = Alerts(self.window, self.feed, self.theme, self.translation, self.settings, clock=self.clock)
        self.raised: list[Alert] = []
        self.alerts.centre.raised.connect(self.raised.append)
        self.window.show()
        qtbot.waitExposed(self.window)

    def heat(self) -> None:
        for sample in story([LAPTOP], [replace(FULL, temperature=96.0)], seconds=30, hz=1):
            self.feed.push(sample)

    def push(self, *samples: Sample, later_s: float = 0.0) -> None:
        for sample in samples:
            self.feed.push(replace(sample, monotonic_s=sample.monotonic_s + later_s, utc_s=sample.utc_s + later_s))

    def follow(self) -> None:
        """Choose the newest alert in the list."""
        QTest.mouseClick(self.alerts.bell, Qt.MouseButton.LeftButton)
        QTest.keyClick(self.alerts.bell.panel.list, Qt.Key.Key_Home)
        QTest.keyClick(self.alerts.bell.panel.list, Qt.Key.Key_Return)

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


def test_the_list_is_as_high_as_its_alerts_the_first_time_too(bench: Bench) -> None:
    bench.heat()
    panel = bench.alerts.bell.panel
    for _ in range(2):
        QTest.mouseClick(bench.alerts.bell, Qt.MouseButton.LeftButton)
        last = panel.list.visualItemRect(panel.list.item(0))
        assert last.height() < panel.list.viewport().height() < last.height() + 30
        QTest.keyClick(panel.list, Qt.Key.Key_Escape)


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
    bench.push(*story([DESKTOP], [IDLE], [HOLDER], seconds=700, hz=0.5))
    assert [alert.kind for alert in bench.raised] == ["held_idle"]
    bench.follow()
    assert bench.window.page == "processes"
    page = bench.window.pages["processes"]
    page.table.clearSelection()
    page.search.setText("nobody is called so")
    bench.follow()
    row = page.selected()
    assert row is not None
    assert row.process.pid == 9
    assert bench.window.focusWidget() is page.table


@pytest.fixture
def history(bench: Bench, tmp_path: Path) -> Iterator[History]:
    kept = History(tmp_path / "history.db", bench.clock, HistoryOptions())
    bench.window.pages["history"].set_history(kept)
    bench.alerts.use_history(kept)
    yield kept
    bench.window.pages["history"].set_history(None)
    assert kept.close(5.0)
    kept.deleteLater()


def test_an_alert_of_hours_ago_leads_into_the_history(bench: Bench, history: History) -> None:
    bench.heat()
    (alert,) = bench.raised
    bench.push(*story([LAPTOP], [IDLE], seconds=5, hz=1), later_s=3 * HOUR_S)
    bench.clock.advance(3 * HOUR_S)
    bench.follow()
    assert bench.window.page == "history"
    page = bench.window.pages["history"]
    assert page.asked.span.left_s < alert.utc_s < page.asked.span.right_s
    assert page.asked.span.length_s <= HOUR_S
    assert "RTX 4060" in bench.window.message.text


def test_a_history_that_cannot_be_loaded_is_told(bench: Bench, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def changed(entry: object) -> object:
        raise ImportError("planted")

    kept = History(tmp_path / "history.db", bench.clock, HistoryOptions())
    bench.alerts.use_history(kept)
    monkeypatch.setattr(bench.window.navigation, "_make", changed)
    bench.heat()
    bench.push(*story([LAPTOP], [IDLE], seconds=5, hz=1), later_s=3 * HOUR_S)
    bench.clock.advance(3 * HOUR_S)
    bench.follow()
    assert bench.window.page == "performance"
    assert bench.window.message.text.startswith("History cannot be loaded.")
    assert kept.close(5.0)
    kept.deleteLater()


def test_a_recent_one_leads_to_charts_that_reach_so_far(bench: Bench, history: History) -> None:
    bench.heat()
    bench.push(*story([LAPTOP], [IDLE], seconds=5, hz=1), later_s=20 * 60.0)
    bench.follow()
    assert bench.window.page == "performance"
    assert bench.window.pages["performance"].span() == HOUR_S


def gone(samples: Sequence[Sample]) -> list[Sample]:
    return [replace(sample, processes=()) for sample in samples]


def another(samples: Sequence[Sample]) -> list[Sample]:
    """The number went to a program that began later."""
    return [
        replace(sample, processes=tuple(replace(p, started_utc_s=sample.utc_s + 702.0) for p in sample.processes))
        for sample in samples
    ]


@pytest.mark.parametrize("change", [gone, another])
@pytest.mark.parametrize("is_kept", [True, False])
def test_a_program_that_is_gone_is_said_and_its_time_shown(
    bench: Bench, history: History, change: Callable[[Sequence[Sample]], list[Sample]], is_kept: bool
) -> None:
    if not is_kept:
        bench.alerts.use_history(None)
    bench.push(*story([DESKTOP], [IDLE], [HOLDER], seconds=700, hz=0.5))
    bench.clock.advance(710)
    bench.push(*change(story([DESKTOP], [IDLE], [HOLDER], seconds=5, hz=1)), later_s=705.0)
    bench.follow()
    assert bench.window.page == ("history" if is_kept else "performance")
    assert "not on the GPU any more" in bench.window.message.text
    assert ("No history is kept" in bench.window.message.text) is not is_kept


def test_a_verdict_leads_to_its_panel_while_it_is_watched(bench: Bench, history: History) -> None:
    asked: list[int] = []

    def show(pid: int) -> bool:
        asked.append(pid)
        return len(asked) == 1  # then it is watched no longer

    bench.alerts.use_watches(show)
    bench.push(*story([DESKTOP], [IDLE], seconds=3, hz=1))
    values = {"program": "train.py", "verdict": "It hangs."}
    bench.alerts.centre.add(Alert(VERDICT, "pid 9", START_UTC_S, "A verdict", "{program}: {verdict}", values, None, 9))
    bench.window.show_page("settings")
    bench.follow()
    assert bench.window.page == "settings"  # who shows the panel changes the page
    bench.follow()
    assert asked == [9, 9]
    assert bench.window.page == "history"


def test_silence_is_told_also_where_only_the_tray_is_shown(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    told: list[tuple[str, str]] = []
    tray = Tray(bench.window, bench.feed, lambda: None)
    monkeypatch.setattr(tray.icon, "showMessage", lambda title, text, _icon: told.append((title, text)))
    monkeypatch.setattr(Tray, "is_shown", True)
    bench.alerts.use_tray(tray)
    bench.window.hide()
    bench.push(*story([DESKTOP], [IDLE], seconds=3, hz=1))
    for second in range(30):
        bench.clock.advance(1.0)
        bench.feed.set_status(FeedStatus(FeedState.STALE, "The NVIDIA driver does not answer.", float(second)))
    assert [alert.kind for alert in bench.raised] == ["lost"]
    ((title, text),) = told
    assert title == "GPUMon gets no readings"
    assert "The NVIDIA driver does not answer." in text
    tray.icon.messageClicked.emit()
    assert bench.window.page == "performance"
    tray.close()
    tray.deleteLater()


def test_of_several_gpus_it_is_said_which(bench: Bench) -> None:
    bench.push(*story([LAPTOP, LAPTOP], [IDLE, replace(FULL, temperature=96.0)], seconds=30, hz=1))
    assert "GPU 1 (NVIDIA GeForce RTX 4060 Laptop GPU): 96 °C" in bench.window.message.text


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


def test_of_several_notifications_the_user_chooses_in_the_list(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    """A tray does not say which of them was clicked."""
    tray = Tray(bench.window, bench.feed, lambda: None)
    monkeypatch.setattr(tray.icon, "showMessage", lambda *_words: None)
    monkeypatch.setattr(Tray, "is_shown", True)
    bench.alerts.use_tray(tray)
    panel, page = bench.alerts.bell.panel, bench.window.pages["performance"]
    bench.window.show_page("settings")
    bench.heat()
    bench.alerts.centre.add(replace(bench.raised[0], title="A second one"))
    tray.icon.messageClicked.emit()
    assert panel.isVisible()
    assert bench.window.page == "settings"
    panel.close()
    bench.alerts.centre.add(replace(bench.raised[0], title="Told after the list was looked at"))
    tray.icon.messageClicked.emit()
    assert not panel.isVisible()
    assert bench.window.page == "performance"
    assert bench.window.focusWidget() is page.adapters.view()
    tray.close()
    tray.deleteLater()


def test_a_kind_of_alert_is_switched_off_in_the_list_and_on_again_in_the_bar(bench: Bench) -> None:
    bench.heat()
    QTest.mouseClick(bench.alerts.bell, Qt.MouseButton.LeftButton)
    panel, bar = bench.alerts.bell.panel, bench.window.message
    panel.list.customContextMenuRequested.emit(panel.list.visualItemRect(panel.list.item(0)).center())
    assert panel.menu.isVisible()
    panel.menu.close()
    panel.unwanted_action.trigger()
    assert not bench.settings.values.flag("alerts.temperature.on")
    assert not panel.isVisible()
    assert bar.text == "Off now: “The GPU is hot”. It can be switched on again in the settings."
    QTest.mouseClick(bar.undo_button, Qt.MouseButton.LeftButton)
    assert bench.settings.values.flag("alerts.temperature.on")
    bench.alerts.centre.add(replace(bench.raised[0], kind=VERDICT))
    QTest.mouseClick(bench.alerts.bell, Qt.MouseButton.LeftButton)
    panel.list.customContextMenuRequested.emit(panel.list.visualItemRect(panel.list.item(0)).center())
    assert not panel.unwanted_action.isEnabled()  # there is no setting for it
    panel.menu.close()


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
