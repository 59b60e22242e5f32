"""What of the window is as it was left at the next start."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from PySide6.QtCore import QRect, Qt
from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import QApplication
from pytestqt.qtbot import QtBot

from gpumon_gui.app.remembering import Remembering
from gpumon_gui.bridge.feed import Feed
from gpumon_gui.bridge.translation import Translation
from gpumon_gui.core.errors import GpumonError
from gpumon_gui.settings.window_state import NAME, WindowState, load, save
from gpumon_gui.system.paths import Folders
from gpumon_gui.ui.main_window import MainWindow
from gpumon_gui.ui.models.process_model import Col
from gpumon_gui.ui.theme import Theme
from gpumon_gui.ui.tray.mini import MiniMonitor
from gpumon_gui.ui.widgets.process_table import ProcessTable
from tests.qt.test_main_window import RecordingOrigin

Start = Callable[[], tuple[MainWindow, MiniMonitor, Remembering]]


@pytest.fixture
def start(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, qtbot: QtBot) -> Iterator[Start]:
    """A start of the program; the one before has ended by then."""
    monkeypatch.setattr("gpumon_gui.app.remembering.folders", lambda: Folders(tmp_path, tmp_path, tmp_path, tmp_path))
    running: list[tuple[MainWindow, MiniMonitor]] = []
    before: list[tuple[MainWindow, MiniMonitor]] = []  # else Python may free them in the thread that writes
    feed, theme, translation = Feed(), Theme(), Translation()

    def end() -> None:
        window, mini = running.pop()
        before.append((window, mini))
        mini.close_down()
        assert window.close_down()

    def begin() -> tuple[MainWindow, MiniMonitor, Remembering]:
        while running:
            end()
        window = MainWindow(feed, theme, translation, RecordingOrigin())
        mini = MiniMonitor(feed, theme)
        for widget in (window, mini):
            qtbot.addWidget(widget)
        running.append((window, mini))
        return window, mini, Remembering(window, mini)

    yield begin
    while running:
        end()
    for part in (feed, theme, translation):
        part.deleteLater()


def table_of(window: MainWindow) -> ProcessTable:
    table: ProcessTable = window.pages["processes"].table
    return table


def test_the_next_start_is_as_this_one_was_left(start: Start) -> None:
    window, mini, remembering = start()
    window.setGeometry(17, 41, 760, 520)
    window.show()
    table = table_of(window)
    table.show_column(Col.SHARED, on=True)
    table.show_column(Col.FRAMEWORK, on=True)
    table.show_column(Col.USER, on=False)
    table.setColumnWidth(Col.NAME, 333)
    table.horizontalHeader().moveSection(3, 1)
    table.sortByColumn(Col.MEMORY, Qt.SortOrder.AscendingOrder)
    window.pages["performance"].set_span(900)
    window.pages["performance"].split.shares[True] = 0.42
    mini.toggle()
    remembering.keep()

    window, mini, _remembering = start()
    window.show()
    assert window.geometry() == QRect(17, 41, 760, 520)
    table = table_of(window)
    header = table.horizontalHeader()
    window.show_page("processes")
    assert table.isColumnHidden(Col.ENGINE)  # no room
    assert not table.isColumnHidden(Col.FRAMEWORK)  # asked for
    assert not table.isColumnHidden(Col.SHARED)
    table.setFixedWidth(1500)
    assert table.isColumnHidden(Col.USER)
    assert not table.isColumnHidden(Col.ENGINE)
    assert table.columnWidth(Col.NAME) == 333
    assert header.logicalIndex(1) == 3
    assert (header.sortIndicatorSection(), header.sortIndicatorOrder()) == (Col.MEMORY, Qt.SortOrder.AscendingOrder)
    assert table.model().sortColumn() == Col.MEMORY  # type: ignore[attr-defined]
    assert window.pages["performance"].span() == 900
    assert window.pages["performance"].split.shares == {True: 0.42}
    assert mini.isVisible()
    assert not mini.testAttribute(Qt.WidgetAttribute.WA_ShowWithoutActivating)


def test_a_maximised_window_is_so_again_and_has_its_size_below(start: Start) -> None:
    window, _mini, remembering = start()
    window.setGeometry(20, 30, 760, 500)
    window.showMaximized()
    remembering.keep()
    window, _mini, _remembering = start()
    window.show()
    assert window.isMaximized()
    assert window.normalGeometry().size().toTuple() == (760, 500)


def test_it_is_written_when_the_window_hides_and_when_the_program_ends(
    start: Start, tmp_path: Path, qapp: QApplication, qtbot: QtBot
) -> None:
    window, _mini, _remembering = start()
    window.show()
    assert not (tmp_path / NAME).exists()
    window.hide()
    qtbot.waitUntil((tmp_path / NAME).exists, timeout=5000)
    window.pages["performance"].set_span(300)
    qapp.aboutToQuit.emit()
    start()
    assert load(tmp_path).span_s == 300


def test_what_is_damaged_or_of_another_program_is_left_aside(
    start: Start, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    window, _mini, remembering = start()
    table_of(window).show_column(Col.PID, on=False)
    remembering.keep()
    window, _mini, _remembering = start()
    kept = load(tmp_path)
    save(tmp_path, WindowState(b"garbage", kept.columns, "OTHER COLUMNS", 77, False, -5, 4000))
    with caplog.at_level(logging.WARNING, "gpumon"):
        window, mini, _remembering = start()
    assert "place of the window" in caplog.text
    assert not table_of(window).isColumnHidden(Col.PID)
    assert window.pages["performance"].span() == 60
    assert window.pages["performance"].split.shares == {}
    assert not mini.isVisible()
    window.show()
    assert QGuiApplication.primaryScreen().geometry().intersects(window.frameGeometry())


def test_what_cannot_be_restored_does_not_stop_the_start(
    start: Start, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def fail(*_given: object) -> None:
        raise OverflowError("planted")

    start()
    save(tmp_path, WindowState(b"place", span_s=900, mini=True))
    monkeypatch.setattr(MainWindow, "restoreGeometry", fail)
    monkeypatch.setattr(MiniMonitor, "open_quietly", fail)
    with caplog.at_level(logging.WARNING, "gpumon"):
        window, _mini, _remembering = start()
    assert window.pages["performance"].span() == 900
    assert "planted" in caplog.text


def test_a_window_of_a_screen_that_is_gone_comes_onto_one(start: Start) -> None:
    window, _mini, remembering = start()
    window.setGeometry(9000, 7000, 800, 500)
    window.show()
    remembering.keep()
    window, _mini, _remembering = start()
    window.show()
    screen = QGuiApplication.primaryScreen().availableGeometry()
    assert screen.contains(window.geometry())


def test_without_a_home_folder_nothing_is_kept(
    start: Start, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, qapp: QApplication
) -> None:
    def none() -> Folders:
        raise GpumonError("This account has no home folder.")

    monkeypatch.setattr("gpumon_gui.app.remembering.folders", none)
    window, _mini, _remembering = start()
    window.show()
    window.hide()
    qapp.aboutToQuit.emit()
    assert not list(tmp_path.iterdir())
