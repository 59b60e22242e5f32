"""The mini monitor: what it says, where it stands, how it is left."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import pytest
from PySide6.QtCore import QPoint, QRect, QSize, Qt
from PySide6.QtGui import QGuiApplication, QHelpEvent
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QToolTip
from pytestqt.qtbot import QtBot

from gpumon_gui.bridge.feed import Feed, FeedState, FeedStatus
from gpumon_gui.core.model import DeviceState
from gpumon_gui.ui.theme import Scheme, Theme
from gpumon_gui.ui.tray.mini import MOST_GPUS, MiniMonitor
from gpumon_gui.ui.tray.placing import beside
from tests.qt.samples import device_key, make_device, make_info, make_sample


@pytest.fixture
def feed(qapp: QApplication) -> Iterator[Feed]:
    made = Feed()
    made.set_status(FeedStatus(FeedState.LIVE))
    yield made
    made.deleteLater()


@pytest.fixture
def mini(feed: Feed, qtbot: QtBot) -> Iterator[MiniMonitor]:
    theme = Theme()
    made = MiniMonitor(feed, theme)
    qtbot.addWidget(made)
    yield made
    made.close_down()
    theme.deleteLater()


def test_it_says_utilization_memory_and_temperature(mini: MiniMonitor, feed: Feed) -> None:
    feed.push(make_sample(compute=0.87))
    mini.refresh()
    assert "87 %" in mini.text()
    assert "GB" in mini.text()
    assert "°C" in mini.text()
    assert "87 %" in mini.accessibleName()


def test_it_says_which_counter_its_figure_is(mini: MiniMonitor, feed: Feed) -> None:
    feed.push(make_sample(gpus=2))
    mini.toggle()
    (words,) = {part.partition(": ")[2] for part in mini.accessibleDescription().split(", ")}
    assert words
    at = QPoint(mini.width() // 2, mini.height() // 4)
    QApplication.sendEvent(mini, QHelpEvent(QHelpEvent.Type.ToolTip, at, mini.mapToGlobal(at)))
    assert words in QToolTip.text()
    assert "Source: " in QToolTip.text()
    QToolTip.hideText()


def test_tips_and_screen_readers_have_the_whole_name(mini: MiniMonitor, feed: Feed) -> None:
    name = "NVIDIA GeForce RTX 4060 Laptop GPU"
    for sample in (make_sample(inventory=(make_info(0, name=name),)), make_sample(inventory=(), gpus=0)):
        feed.push(replace(sample, inventory=(make_info(0, name=name),)))
        mini.toggle()
        assert name in mini.accessibleName()
        at = QPoint(mini.width() // 2, mini.height() // 2)
        QApplication.sendEvent(mini, QHelpEvent(QHelpEvent.Type.ToolTip, at, mini.mapToGlobal(at)))
        assert name in QToolTip.text()
        QToolTip.hideText()
        mini.toggle()


def test_one_line_for_each_gpu_and_the_rest_counted(mini: MiniMonitor, feed: Feed) -> None:
    feed.push(make_sample(gpus=2))
    mini.refresh()
    two = mini.height()
    feed.push(make_sample(gpus=16))
    mini.refresh()
    assert mini.height() > two
    assert f"{16 - MOST_GPUS} more" in mini.text()


def test_without_a_gpu_and_before_the_first_sample(mini: MiniMonitor, feed: Feed) -> None:
    assert "GPU" in mini.text() or mini.text()
    feed.push(make_sample(gpus=0))
    mini.refresh()
    assert "No GPU" in mini.text()


def test_a_lost_gpu_and_a_silent_sampler(mini: MiniMonitor, feed: Feed) -> None:
    sample = make_sample()
    key = sample.inventory[0].key
    feed.push(replace(sample, devices={key: make_device(state=DeviceState.LOST)}))
    mini.refresh()
    assert "lost" in mini.text()
    feed.set_status(FeedStatus(FeedState.STALE, "", 12.0))
    mini.refresh()
    assert "12 s" in mini.text()


def test_it_draws_only_while_it_is_seen(mini: MiniMonitor, feed: Feed, qtbot: QtBot) -> None:
    drawn: list[str] = []
    mini._ticker.due.connect(lambda: drawn.append(mini.text()))
    feed.push(make_sample(compute=0.11))
    QApplication.processEvents()
    assert drawn == []
    mini.toggle()
    qtbot.waitExposed(mini)
    feed.push(make_sample(compute=0.42))
    qtbot.waitUntil(lambda: "42 %" in mini.text(), timeout=5000)
    QTest.keyClick(mini, Qt.Key.Key_Escape)
    assert not mini.isVisible()


def test_it_remembers_its_place(mini: MiniMonitor, feed: Feed, qtbot: QtBot) -> None:
    feed.push(make_sample())
    screen = QGuiApplication.primaryScreen()
    mini.set_place((screen.name(), "30", "40"))
    mini.toggle()
    assert mini.pos() - screen.availableGeometry().topLeft() == QPoint(30, 40)


@pytest.mark.parametrize("place", [("gone", "5000", "5000"), ("", "", ""), ("x",), ("offscreen", "a", "b")])
def test_a_place_that_is_gone_is_the_usual_one(mini: MiniMonitor, feed: Feed, place: tuple[str, ...]) -> None:
    feed.push(make_sample())
    mini.set_place(place)
    mini.toggle()
    area = QGuiApplication.primaryScreen().availableGeometry()
    assert area.contains(mini.geometry())


@pytest.mark.parametrize("far", ["99999", "99999999999999999999"])
def test_far_outside_is_moved_into_the_screen(mini: MiniMonitor, feed: Feed, far: str) -> None:
    feed.push(make_sample())
    screen = QGuiApplication.primaryScreen()
    mini.set_place((screen.name(), far, "-5"))
    mini.toggle()
    assert screen.availableGeometry().contains(mini.geometry())


@pytest.mark.parametrize(
    "icon",
    [QRect(600, 776, 22, 22), QRect(300, 2, 22, 22), QRect(776, 300, 22, 22), QRect(780, 780, 20, 20)],
    ids=["panel below", "panel above", "panel at the right", "corner"],
)
def test_it_opens_beside_the_icon_within_the_screen_unless_it_was_moved(
    mini: MiniMonitor, feed: Feed, icon: QRect
) -> None:
    feed.push(make_sample())
    area = QGuiApplication.primaryScreen().availableGeometry()
    mini.toggle(icon)
    assert area.contains(mini.geometry())
    assert not mini.geometry().intersects(icon)
    assert (
        mini.geometry().center() - icon.center()
    ).manhattanLength() < mini.width() / 2 + mini.height() + icon.width() + 24
    mini.toggle()
    mini.set_place((QGuiApplication.primaryScreen().name(), "40", "50"))
    mini.toggle(icon)
    assert mini.pos() == area.topLeft() + QPoint(40, 50)


@pytest.mark.parametrize("y", [2, 776])
def test_what_is_as_high_as_the_screen_opens_at_the_side_of_the_icon(y: int) -> None:
    area = QRect(0, 0, 800, 800)
    for x in (10, 760):
        icon = QRect(x, y, 22, 22)
        at = QRect(beside(icon, QSize(320, 770), area), QSize(320, 770))
        assert area.contains(at)
        assert not at.intersects(icon)


def test_on_a_low_screen_more_gpus_are_counted(mini: MiniMonitor, feed: Feed, monkeypatch: pytest.MonkeyPatch) -> None:
    class LowScreen:
        def availableGeometry(self) -> QRect:
            return QRect(0, 0, 640, 340)

    monkeypatch.setattr(mini, "screen", LowScreen)
    feed.push(make_sample(gpus=8))
    feed.set_status(FeedStatus(FeedState.PAUSED))
    mini.refresh()
    assert mini.height() <= 340
    shown = mini.text().count("GPU ")
    assert 1 < shown < 8
    assert f"{8 - shown} more" in mini.text()


def test_without_a_compositor_its_corners_are_square(feed: Feed, qtbot: QtBot, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("gpumon_gui.ui.tray.mini.QGuiApplication.platformName", lambda: "xcb")
    theme, corners = Theme(), []
    for composited in (True, False):
        monkeypatch.setattr("gpumon_gui.ui.tray.mini.is_composited", lambda on=composited: on)
        made = MiniMonitor(feed, theme)
        qtbot.addWidget(made)
        image = made.grab().toImage()
        corners.append(image.pixelColor(0, 0).alpha())
        made.close_down()
    theme.deleteLater()
    assert corners == [0, 255]


def test_double_click_and_return_want_the_window(mini: MiniMonitor, feed: Feed, qtbot: QtBot) -> None:
    feed.push(make_sample())
    mini.toggle()
    with qtbot.waitSignal(mini.wanted):
        QTest.mouseDClick(mini, Qt.MouseButton.LeftButton)
        QTest.mouseRelease(mini, Qt.MouseButton.LeftButton)  # QTest leaves it down
    with qtbot.waitSignal(mini.wanted) as asked:
        QTest.keyClick(mini, Qt.Key.Key_Return)
    assert asked.args == [None]


def test_it_has_the_keyboard_once_it_is_opened(mini: MiniMonitor, feed: Feed, qtbot: QtBot) -> None:
    feed.push(make_sample())
    mini.toggle()
    qtbot.waitUntil(mini.isActiveWindow, timeout=5000)
    assert mini.hasFocus()
    mini.top_action.trigger()
    qtbot.waitUntil(mini.isActiveWindow, timeout=5000)
    assert mini.hasFocus()


@pytest.mark.parametrize(
    ("keys", "index"),
    [
        ([Qt.Key.Key_Down], 0),
        ([Qt.Key.Key_Up], 2),
        ([Qt.Key.Key_Tab, Qt.Key.Key_Tab], 1),
        ([Qt.Key.Key_Down] * 4, 0),
        ([Qt.Key.Key_Down, Qt.Key.Key_Backtab], 2),
    ],
)
def test_the_keys_go_from_gpu_to_gpu_and_enter_opens_that_one(
    mini: MiniMonitor, feed: Feed, qtbot: QtBot, keys: list[Qt.Key], index: int
) -> None:
    feed.push(make_sample(gpus=3))
    mini.toggle()
    qtbot.waitUntil(mini.isActiveWindow, timeout=5000)
    everything, plain = mini.accessibleName(), mini.grab().toImage()
    for key in keys:
        QTest.keyClick(mini, key)
    assert mini.current == device_key(index)
    assert f"GPU {index}" in mini.accessibleName()
    assert mini.accessibleName() != everything
    assert mini.grab().toImage() != plain
    with qtbot.waitSignal(mini.wanted) as asked:
        QTest.keyClick(mini, Qt.Key.Key_Enter)
    assert asked.args == [device_key(index)]


def test_a_double_click_on_a_gpu_opens_that_one(mini: MiniMonitor, feed: Feed, qtbot: QtBot) -> None:
    feed.push(make_sample(gpus=2))
    mini.toggle()
    with qtbot.waitSignal(mini.wanted) as asked:
        QTest.mouseDClick(mini, Qt.MouseButton.LeftButton, pos=QPoint(mini.width() // 2, mini.height() - 40))
        QTest.mouseRelease(mini, Qt.MouseButton.LeftButton)  # QTest leaves it down
    assert asked.args == [device_key(1)]


def test_a_gpu_that_goes_takes_the_place_of_the_keys_along(mini: MiniMonitor, feed: Feed) -> None:
    feed.push(make_sample(gpus=2))
    mini.toggle()
    QTest.keyClick(mini, Qt.Key.Key_Up)
    feed.push(make_sample(2, gpus=1))
    mini.refresh()
    assert mini.current is None


def test_above_others_or_not(mini: MiniMonitor, feed: Feed) -> None:
    feed.push(make_sample())
    mini.toggle()
    for on in (True, False):
        mini.set_on_top(on)
        assert bool(mini.windowFlags() & Qt.WindowType.WindowStaysOnTopHint) is on
        assert mini.isVisible()
        assert mini.top_action.isChecked() is on


def test_dark_and_light_are_painted(feed: Feed, qtbot: QtBot) -> None:
    theme = Theme()
    made = MiniMonitor(feed, theme)
    qtbot.addWidget(made)
    feed.push(make_sample(compute=0.5))
    made.toggle()
    pictures = []
    for scheme in (Scheme.LIGHT, Scheme.DARK):
        theme.set_scheme(scheme)
        pictures.append(made.grab().toImage())
    theme.set_scheme(Scheme.SYSTEM)
    assert pictures[0] != pictures[1]
    made.close_down()
    theme.deleteLater()
