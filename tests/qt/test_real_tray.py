"""A real tray on X11: the icon is in it, has a place on the screen, and a click on it shows the mini monitor."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest
from PySide6.QtCore import Qt
from PySide6.QtGui import QGuiApplication
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QSystemTrayIcon, QWidget
from pytestqt.qtbot import QtBot

from gpumon_gui.app.desktop import Desktop
from gpumon_gui.app.first import Entry
from gpumon_gui.bridge.feed import Feed, FeedState, FeedStatus
from gpumon_gui.bridge.settings import Settings
from gpumon_gui.bridge.translation import Translation
from gpumon_gui.settings.values import Values
from gpumon_gui.system.autostart import StartState
from gpumon_gui.ui.main_window import MainWindow
from gpumon_gui.ui.theme import Theme
from tests.qt.samples import make_sample
from tests.qt.test_main_window import RecordingOrigin

pytestmark = pytest.mark.skipif(
    os.environ.get("QT_QPA_PLATFORM") != "xcb" or shutil.which("trayer") is None,
    reason="needs X11 and trayer",
)


class NoAutostart:
    def state(self) -> StartState:
        return StartState.OFF

    def set_on(self, on: bool) -> StartState:
        return StartState.OFF


@pytest.fixture
def tray(qapp: QApplication, qtbot: QtBot) -> Iterator[None]:
    """trayer, from the moment it takes icons."""
    process = subprocess.Popen(
        ["trayer", "--edge", "bottom", "--align", "right", "--widthtype", "request", "--height", "32"],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    try:
        qtbot.waitUntil(QSystemTrayIcon.isSystemTrayAvailable, timeout=10_000)
        yield
    finally:
        process.terminate()
        process.wait()
        qtbot.waitUntil(lambda: not QSystemTrayIcon.isSystemTrayAvailable(), timeout=10_000)


@pytest.fixture
def desktop(tray: None, qtbot: QtBot, tmp_path: Path) -> Iterator[Desktop]:
    feed, theme, translation = Feed(), Theme(), Translation()
    feed.set_status(FeedStatus(FeedState.LIVE))
    feed.push(make_sample(compute=0.6))
    window = MainWindow(feed, theme, translation, RecordingOrigin())
    qtbot.addWidget(window)
    settings = Settings(None, Values(), window)
    made = Desktop(window, feed, theme, translation, Entry(), settings, autostart=NoAutostart())
    yield made
    made.close()
    window.quit()
    for part in (feed, theme, translation):
        part.deleteLater()


def icon_widget() -> QWidget | None:
    """Qt's own window inside the tray."""
    return next((one for one in QApplication.topLevelWidgets() if "SystemTray" in one.metaObject().className()), None)


def test_the_icon_lies_in_the_tray_and_a_click_opens_the_mini_monitor(desktop: Desktop, qtbot: QtBot) -> None:
    desktop.start(hidden=True)
    icon = desktop.tray.icon
    qtbot.waitUntil(lambda: icon.geometry().height() > 8, timeout=10_000)
    assert QGuiApplication.primaryScreen().geometry().contains(icon.geometry())
    widget = icon_widget()
    assert widget is not None
    QTest.mouseClick(widget, Qt.MouseButton.LeftButton)
    qtbot.waitUntil(desktop.mini.isVisible, timeout=5000)
    assert not desktop._window.isVisible()
    QTest.mouseDClick(widget, Qt.MouseButton.LeftButton)
    qtbot.waitUntil(desktop._window.isVisible, timeout=5000)


def test_closing_the_window_leaves_the_icon(desktop: Desktop, qtbot: QtBot) -> None:
    desktop.start(hidden=False)
    qtbot.waitUntil(lambda: desktop.tray.icon.geometry().height() > 8, timeout=10_000)
    desktop.stay.trigger()
    desktop._window.close()
    assert not desktop._window.isVisible()
    assert desktop.tray.is_shown
