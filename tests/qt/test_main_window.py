"""The window around the pages: pages, speeds, colours, languages, the banner, the status line and the keys."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from functools import partial
from pathlib import Path

import pytest
from PySide6.QtCore import QEvent, QSize, Qt
from PySide6.QtGui import QImage, QScreen
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QAbstractButton, QApplication, QMessageBox, QWidget
from pytestqt.qtbot import QtBot

from gpumon_gui.app.arguments import PAGES as PAGE_NAMES
from gpumon_gui.bridge.feed import Feed, FeedState, FeedStatus
from gpumon_gui.bridge.translation import Translation
from gpumon_gui.core.messages import language
from gpumon_gui.core.model import Cost, Demand, Sample, SourceHealth, SourceState
from gpumon_gui.core.resources import resource_root
from gpumon_gui.core.values import Reading
from gpumon_gui.ui import icons
from gpumon_gui.ui.about import about_box, about_text
from gpumon_gui.ui.main_window import FRAME, MainWindow
from gpumon_gui.ui.page_shelf import PageShelf
from gpumon_gui.ui.pages.table import PAGES
from gpumon_gui.ui.theme import DARK, LIGHT, Scheme, Theme
from gpumon_gui.ui.widgets.button import FlatButton
from gpumon_gui.ui.widgets.text import FixedLabel
from tests.qt.samples import make_sample
from tests.qt.test_process_model import NOTEBOOK, TRAINING, sample_of

HEALTH = (
    SourceHealth("nvml", SourceState.OK, duration_s=0.0012, reads=7, implausible=2),
    SourceHealth("drm", SourceState.ABSENT),
    SourceHealth("host", SourceState.FAILED, "read-failed", "EIO"),
)


class RecordingOrigin:
    """Notes what the window asks for."""

    def __init__(self) -> None:
        self.demands: list[Demand] = []
        self.calls: list[str] = []

    def set_demand(self, demand: Demand) -> None:
        self.demands.append(demand)

    def pause(self) -> None:
        self.calls.append("pause")

    def resume(self) -> None:
        self.calls.append("resume")

    def toggle(self) -> None:
        self.calls.append("toggle")

    def refresh(self) -> None:
        self.calls.append("refresh")

    def retranslate(self) -> None:
        self.calls.append("retranslate")


@pytest.fixture
def feed(qapp: QApplication) -> Iterator[Feed]:
    made = Feed()
    made.set_status(FeedStatus(FeedState.LIVE))
    yield made
    made.deleteLater()


@pytest.fixture
def translation(qapp: QApplication) -> Iterator[Translation]:
    made = Translation()
    yield made
    made.set_language("en")
    made.deleteLater()


@pytest.fixture
def origin() -> RecordingOrigin:
    return RecordingOrigin()


@pytest.fixture
def theme(qapp: QApplication) -> Iterator[Theme]:
    made = Theme()
    made.set_scheme(Scheme.LIGHT)
    yield made
    made.set_scheme(Scheme.SYSTEM)
    made.deleteLater()


@pytest.fixture
def window(
    feed: Feed, theme: Theme, translation: Translation, origin: RecordingOrigin, qtbot: QtBot
) -> Iterator[MainWindow]:
    made = MainWindow(feed, theme, translation, origin)
    qtbot.addWidget(made)
    made.resize(1200, 800)
    made.show()
    made.activateWindow()
    qtbot.waitUntil(made.isActiveWindow, timeout=5000)  # keys go to the active window
    yield made
    assert made.close_down()


def full_sample(sequence: int = 1) -> Sample:
    cost = Cost(Reading(0.004, "own"), Reading(41 << 20, "own"), 0.0012)
    return replace(sample_of(TRAINING, NOTEBOOK, sequence=sequence), health=HEALTH, cost=cost)


def push(window: MainWindow, feed: Feed, qtbot: QtBot, sequence: int = 1) -> None:
    """Give a sample and wait until it is drawn."""
    with qtbot.waitSignal(window.ticker.due, timeout=5000):
        feed.push(full_sample(sequence))


# -- pages and what is read for them


def test_the_command_line_knows_the_pages() -> None:
    assert tuple(entry.name for entry in PAGES) == PAGE_NAMES


def test_every_drawing_is_listed_and_every_page_has_one() -> None:
    assert tuple(sorted(file.stem for file in (resource_root() / "icons").glob("*.svg"))) == icons.NAMES
    assert {entry.icon for entry in PAGES} <= set(icons.NAMES)


def test_keys_change_the_page_and_only_what_is_visible_is_read(window: MainWindow, origin: RecordingOrigin) -> None:
    assert window.page == "performance"
    assert origin.demands[-1] == Demand(1.0, details=True, processes=True, cpu_processes=False)
    QTest.keyClick(window, Qt.Key.Key_2, Qt.KeyboardModifier.ControlModifier)
    assert window.page == "processes"
    assert window.heading.text() == "Processes"
    assert origin.demands[-1] == Demand(1.0, details=False, processes=True, cpu_processes=True)
    assert window.pages["processes"].table.hasFocus()  # the arrow keys go through the rows
    QTest.keyClick(window, Qt.Key.Key_1, Qt.KeyboardModifier.ControlModifier)
    assert window.page == "performance"
    assert window.pages["performance"].adapters.view().hasFocus()
    for number, entry in enumerate(PAGES):
        QTest.keyClick(window, Qt.Key(Qt.Key.Key_1 + number), Qt.KeyboardModifier.ControlModifier)
        focus = window.focusWidget()
        assert focus is not None
        page = window.pages[entry.name]
        assert window.page == entry.name
        assert focus is page or page.isAncestorOf(focus)


@pytest.mark.parametrize(("room", "least"), [((320, 240), (304, 200)), ((1000, 400), (720, 360))])
def test_on_a_small_screen_the_window_is_no_larger_than_it(
    feed: Feed,
    theme: Theme,
    translation: Translation,
    origin: RecordingOrigin,
    qtbot: QtBot,
    monkeypatch: pytest.MonkeyPatch,
    room: tuple[int, int],
    least: tuple[int, int],
) -> None:
    monkeypatch.setattr(QScreen, "availableSize", lambda _screen: QSize(*room))
    made = MainWindow(feed, theme, translation, origin)
    qtbot.addWidget(made)
    assert made.minimumSize() == QSize(*least)
    assert made.size() == QSize(*room) - FRAME  # title bar and borders have room too
    assert made.close_down()


def test_find_goes_to_the_search_of_the_processes(window: MainWindow) -> None:
    QTest.keyClick(window, Qt.Key.Key_F, Qt.KeyboardModifier.ControlModifier)
    assert window.page == "processes"
    window.activateWindow()
    assert window.focusWidget() is window.pages["processes"].search


def test_hidden_nothing_is_drawn_and_little_is_read(
    window: MainWindow, origin: RecordingOrigin, feed: Feed, qtbot: QtBot
) -> None:
    push(window, feed, qtbot)
    window.hide()
    assert origin.demands[-1] == Demand(1.0, details=False, processes=False, cpu_processes=False)
    drawn: list[int] = []
    window.ticker.due.connect(lambda: drawn.append(1))
    feed.push(full_sample(2))
    feed.push(full_sample(3))
    assert not window.ticker.is_active
    assert drawn == []
    with qtbot.waitSignal(window.ticker.due, timeout=5000):
        window.show()
    assert origin.demands[-1].details


def test_many_samples_at_once_are_drawn_once(window: MainWindow, feed: Feed, qtbot: QtBot) -> None:
    push(window, feed, qtbot)
    drawn: list[int] = []
    window.ticker.due.connect(lambda: drawn.append(1))
    with qtbot.waitSignal(window.ticker.due, timeout=5000):
        for sequence in range(2, 60):
            feed.push(full_sample(sequence))
    assert drawn == [1]


# -- update speed


def test_a_page_that_cannot_be_made_leaves_the_one_on_show(
    window: MainWindow, feed: Feed, qtbot: QtBot, monkeypatch: pytest.MonkeyPatch
) -> None:
    def changed(entry: object) -> QWidget:
        raise ImportError("planted")

    def fault(entry: object) -> QWidget:
        raise ValueError("planted")

    with monkeypatch.context() as patched:
        patched.setattr(window.navigation, "_make", changed)
        window.rail.findChild(QAbstractButton, "history").setChecked(True)  # type: ignore[union-attr]
        window.show_page("history")
        assert window.message.text == (
            "History cannot be loaded. GPUMon may have been changed on disk: start it again."
        )
        patched.setattr(window.navigation, "_make", fault)
        with pytest.raises(ValueError, match="planted"):
            window.show_page("history")
    assert window.page == "performance"
    assert window.heading.text() == "Performance"
    assert window.rail.findChild(QAbstractButton, "performance").isChecked()  # type: ignore[union-attr]
    push(window, feed, qtbot)  # and it goes on
    window.show_page("history")  # the next try may do
    assert window.page == "history"


def test_who_fails_with_a_page_takes_it_from_nobody_else(monkeypatch: pytest.MonkeyPatch) -> None:
    told: list[object] = []
    monkeypatch.setattr("sys.excepthook", lambda _kind, error, _trace: told.append(error))
    shelf = PageShelf(("one",), str.upper)

    def fail(_page: object) -> None:
        raise ValueError("planted")

    seen: list[object] = []
    shelf.when_made("one", fail)
    shelf.when_made("one", seen.append)
    assert shelf.get("one") is None
    assert shelf["one"] == "ONE"
    assert seen == ["ONE"]
    assert [str(error) for error in told] == ["planted"]
    assert shelf.get("one") == "ONE"


def test_speeds_are_those_of_task_manager(window: MainWindow, origin: RecordingOrigin) -> None:
    for name, seconds in (("high", 0.5), ("low", 4.0), ("normal", 1.0)):
        window.pace.set_speed(name)
        assert origin.demands[-1].interval_s == seconds
    window.pace.set_speed("paused")
    window.pace.set_speed("high")
    assert [call for call in origin.calls if call != "retranslate"] == ["pause", "resume"]
    assert window.speed_button.text() == "High"


def test_space_pauses_and_f5_asks_for_a_sample(window: MainWindow, origin: RecordingOrigin) -> None:
    window.setFocus()
    QTest.keyClick(window, Qt.Key.Key_Space)
    assert window.speed_button.text() == "Paused"
    QTest.keyClick(window, Qt.Key.Key_Space)
    assert window.speed_button.text() == "Normal"
    QTest.keyClick(window, Qt.Key.Key_F5)
    assert [call for call in origin.calls if call != "retranslate"] == ["pause", "resume", "refresh"]


def test_a_recording_has_its_own_speed(
    feed: Feed, theme: Theme, translation: Translation, origin: RecordingOrigin, qtbot: QtBot
) -> None:
    window = MainWindow(feed, theme, translation, origin, recorded=True, subject="训练.gpumon")
    qtbot.addWidget(window)
    window.show()
    assert window.windowTitle() == "训练.gpumon – GPUMon"
    assert not window.speed_button.isVisible()
    window.setFocus()
    QTest.keyClick(window, Qt.Key.Key_Space)
    assert origin.calls[-1] == "toggle"
    window.close_down()


# -- colours and languages


def _has_back(window: MainWindow, colour: str) -> bool:
    return window.grab().toImage().pixelColor(300, 8).name() == colour


def test_colours_change_at_run_time(window: MainWindow, theme: Theme, feed: Feed, qtbot: QtBot) -> None:
    push(window, feed, qtbot)
    for scheme, colours in ((Scheme.DARK, DARK), (Scheme.LIGHT, LIGHT)):
        window.set_scheme(scheme)
        qtbot.waitUntil(partial(_has_back, window, colours.window), timeout=5000)


def test_the_language_changes_at_run_time_and_qts_own_dialogs_with_it(
    window: MainWindow, feed: Feed, qtbot: QtBot
) -> None:
    push(window, feed, qtbot)
    box = QMessageBox(window)
    cancel = box.addButton(QMessageBox.StandardButton.Cancel)
    assert cancel.text().replace("&", "") == "Cancel"
    window.set_language("zh_CN")
    assert language() == "zh_CN"
    assert window.heading.text() == "性能"
    assert "进程" in [button.accessibleName() for button in window.rail.findChildren(type(window.speed_button))]
    other = QMessageBox(window)
    assert other.addButton(QMessageBox.StandardButton.Cancel).text() == "取消"
    window.set_language("en")
    assert window.heading.text() == "Performance"
    assert QMessageBox(window).addButton(QMessageBox.StandardButton.Cancel).text().replace("&", "") == "Cancel"


# -- banner and status line


def test_the_banner_says_what_happened_while_the_sampler_is_silent(
    window: MainWindow, feed: Feed, qtbot: QtBot
) -> None:
    push(window, feed, qtbot)
    assert window.banner.text == ""
    assert window.status.age_text == "Update speed: Normal"
    (speed,) = (label for label in window.status.findChildren(FixedLabel) if label.text == window.status.age_text)
    assert speed.toolTip() == ""  # it is not cut
    with qtbot.waitSignal(window.ticker.due, timeout=5000):
        feed.set_status(FeedStatus(FeedState.STALE, "NVML did not answer for 5 s. GPUMon starts its sampler again.", 7))
    assert window.banner.text == "NVML did not answer for 5 s. GPUMon starts its sampler again."
    assert window.status.age_text == "Last reading 7 s ago"
    with qtbot.waitSignal(window.ticker.due, timeout=5000):
        feed.set_status(FeedStatus(FeedState.LIVE))
    assert window.banner.text == ""


def test_the_status_line_names_sources_and_own_cost(window: MainWindow, feed: Feed, qtbot: QtBot) -> None:
    push(window, feed, qtbot)
    assert window.status.dots.texts == ("NVML: working", "Linux DRM: not present", "OS: failed")
    assert window.status.cost_text.startswith("Reading: 0.4 % CPU, 1.2 ms, 41 MB · Window: ")
    assert window.status.dots.tip(HEALTH[2]).split("\n")[1] == "Reading failed; it is tried again. (EIO)"
    assert "2 values refused" in window.status.dots.tip(HEALTH[0])
    feed.set_status(FeedStatus(FeedState.STALE, "The NVIDIA driver does not answer.", 7.0))
    window.status.refresh(feed.latest, feed.status, "")
    assert set(window.status.dots.texts) == {"NVML: not known", "Linux DRM: not known", "OS: not known"}


def test_every_button_can_be_reached_and_named(window: MainWindow) -> None:
    for button in window.findChildren(type(window.speed_button)):
        assert button.accessibleName() or button.text(), button.objectName()
        assert button.focusPolicy() & Qt.FocusPolicy.TabFocus


def test_tab_goes_where_the_eye_goes(window: MainWindow, theme: Theme, feed: Feed, qtbot: QtBot) -> None:
    """The rail from top to bottom, the tool row from left to right, then the list, the page's own buttons, charts."""
    run = window.rail.add_action("diagnostics", "Run diagnostics")
    bell = FlatButton(theme, "bell", "", window)
    window.add_tool(bell)
    feed.push(make_sample(1))
    window.pages["performance"].refresh()
    page = window.pages["performance"]
    stops: list[QWidget | None] = []
    at: QWidget | None = window.rail.findChildren(FlatButton)[0]
    while at is not None and at not in stops:
        stops.append(at)
        at = at.nextInFocusChain()
    wanted = [
        *window.rail.findChildren(FlatButton),
        window.speed_button,
        bell,
        window.more_button,
        page.adapters.view(),
        page.watch_button,
        page.span_choice.findChildren(FlatButton)[0],
        page.engines.buttons[0],
    ]
    assert run in wanted
    assert [stop for stop in stops if stop in wanted] == wanted


def test_the_copy_key_copies_the_figures_of_the_page_from_anywhere(
    window: MainWindow, feed: Feed, qtbot: QtBot
) -> None:
    feed.push(make_sample(1))
    window.pages["performance"].refresh()
    for widget in (window.rail, window.pages["performance"].adapters.view(), window):
        QApplication.clipboard().clear()
        QTest.keyClick(widget, Qt.Key.Key_C, Qt.KeyboardModifier.ControlModifier)
        assert "GPU memory\t" in QApplication.clipboard().text()


# -- files, about, end


def test_saving_the_page(window: MainWindow, feed: Feed, qtbot: QtBot, tmp_path: Path) -> None:
    push(window, feed, qtbot)
    file = tmp_path / "页面.png"
    assert window.save_page(file)
    assert QImage(str(file)).width() >= 600
    assert "页面.png" in window.message.text
    assert not window.save_page(tmp_path / "no" / "such.png")
    assert "cannot be written" in window.message.text


def test_about_names_version_licence_and_components() -> None:
    text = about_text()
    for word in ("GPL-3.0-or-later", "PySide6-Essentials", "LGPL-3.0", "pyqtgraph", "nvidia-ml-py"):
        assert word in text


def test_about_names_the_log_and_opens_its_folder(
    window: MainWindow, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    opened: list[Path] = []
    log, can = tmp_path / "gpumon.log", [True, False]

    def open_location(file: Path) -> bool:
        opened.append(file)
        return can.pop(0)

    monkeypatch.setattr("gpumon_gui.ui.open_location.open_location", open_location)
    box = about_box(window, log)
    assert str(log) in box.informativeText()
    (button,) = (one for one in box.buttons() if one.text() == "Open folder")
    box.open()
    button.click()
    assert opened == [log]
    assert box.isVisible()
    button.click()
    assert "cannot be opened" in box.informativeText()
    box.close()
    assert len(about_box(window).buttons()) == 1  # without a log only what closes it


def test_ctrl_q_closes(window: MainWindow, qtbot: QtBot) -> None:
    with qtbot.waitSignal(window.closing, timeout=5000):
        QTest.keyClick(window, Qt.Key.Key_Q, Qt.KeyboardModifier.ControlModifier)
    assert not window.isVisible()


def test_narrow_windows_show_icons_only(window: MainWindow) -> None:
    assert window.rail.is_wide
    window.resize(900, 600)
    QApplication.sendPostedEvents(window, QEvent.Type.LayoutRequest.value)
    assert not window.rail.is_wide
