"""What the user of the replay's controls relies on: they show what the replay does and it does what they say."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from PySide6.QtCore import QPoint, Qt
from PySide6.QtTest import QTest
from pytestqt.qtbot import QtBot

from gpumon_gui.bridge.feed import Feed
from gpumon_gui.bridge.replay import Replay, ReplayState
from gpumon_gui.core import messages
from gpumon_gui.core.clock import FakeClock
from gpumon_gui.telemetry.recording.writer import RecordingWriter
from gpumon_gui.ui.theme import Theme
from gpumon_gui.ui.widgets.replay_bar import SPEEDS, ReplayBar, clock_text, speed_text
from tests.unit.test_recording import make_sample


@pytest.fixture(scope="module")
def minute(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("minute") / "训练.gpumon"
    writer = RecordingWriter(path, {})
    for index in range(61):
        writer.append(make_sample(index))
    writer.close()
    return path


@pytest.fixture
def bar(qtbot: QtBot) -> Iterator[ReplayBar]:
    replay = Replay(Feed(), clock=FakeClock())
    theme = Theme()
    bar = ReplayBar(replay, theme)
    qtbot.addWidget(bar)
    bar.resize(900, 48)
    bar.show()
    yield bar
    assert replay.close(10)


def open_file(qtbot: QtBot, bar: ReplayBar, path: Path, start_s: float = 0.0, *, play: bool = False) -> None:
    bar._replay.open(path, play=play, start_s=start_s)
    qtbot.waitUntil(lambda: state(bar) in (ReplayState.PAUSED, ReplayState.PLAYING), timeout=20_000)


def state(bar: ReplayBar) -> ReplayState:
    return bar._replay.state


def settle(qtbot: QtBot, bar: ReplayBar) -> float:
    qtbot.waitUntil(lambda: not bar._replay._seeking, timeout=20_000)
    return bar._replay.position_s


def test_nothing_can_be_pressed_before_a_file_is_open(bar: ReplayBar) -> None:
    assert not bar.play_button.isEnabled()
    assert not bar.slider.isEnabled()
    assert bar.name_label.text == ""


def test_it_shows_file_position_and_length(qtbot: QtBot, bar: ReplayBar, minute: Path) -> None:
    open_file(qtbot, bar, minute, 40.0)
    assert bar.name_label.text == "训练.gpumon"
    assert str(minute) in bar.name_label.toolTip()
    assert (bar.position_label.text, bar.duration_label.text) == ("0:40", "1:00")
    assert (bar.slider.value(), bar.slider.maximum()) == (400, 600)
    assert bar.slider.accessibleDescription() == "0:40 of 1:00"
    assert bar.speed_button.text() == "1×"


def test_play_and_pause_with_the_mouse(qtbot: QtBot, bar: ReplayBar, minute: Path) -> None:
    open_file(qtbot, bar, minute)
    assert bar.play_button.accessibleName() == "Play (Space)"
    QTest.mouseClick(bar.play_button, Qt.MouseButton.LeftButton)
    assert state(bar) is ReplayState.PLAYING
    assert bar.play_button.accessibleName() == "Pause the replay (Space)"
    QTest.mouseClick(bar.play_button, Qt.MouseButton.LeftButton)
    assert state(bar) is ReplayState.PAUSED


def test_keys(qtbot: QtBot, bar: ReplayBar, minute: Path) -> None:
    open_file(qtbot, bar, minute, 30.0)
    shift = Qt.KeyboardModifier.ShiftModifier
    for key, modifier, expected in (
        (Qt.Key.Key_Right, Qt.KeyboardModifier.NoModifier, 35.0),
        (Qt.Key.Key_Left, Qt.KeyboardModifier.NoModifier, 30.0),
        (Qt.Key.Key_Right, shift, 31.0),
        (Qt.Key.Key_Left, shift, 30.0),
        (Qt.Key.Key_End, Qt.KeyboardModifier.NoModifier, 60.0),
        (Qt.Key.Key_Home, Qt.KeyboardModifier.NoModifier, 0.0),
    ):
        QTest.keyClick(bar.slider, key, modifier)
        assert settle(qtbot, bar) == expected
        assert bar.slider.value() == round(expected * 10)
    for expected_state in (ReplayState.PLAYING, ReplayState.PAUSED):
        QTest.keyClick(bar.slider, Qt.Key.Key_Space)
        assert state(bar) is expected_state


def test_a_press_goes_there_and_a_drag_shows_where(qtbot: QtBot, bar: ReplayBar, minute: Path) -> None:
    open_file(qtbot, bar, minute)
    width, middle = bar.slider.width(), bar.slider.height() // 2
    left, plain = Qt.MouseButton.LeftButton, Qt.KeyboardModifier.NoModifier
    QTest.mousePress(bar.slider, left, plain, QPoint(width // 2, middle))
    assert settle(qtbot, bar) == pytest.approx(30.0, abs=1.5)
    assert bar.slider.isSliderDown()
    QTest.mouseMove(bar.slider, QPoint(width - 1, middle))
    QTest.mouseRelease(bar.slider, left, plain, QPoint(width - 1, middle))
    assert settle(qtbot, bar) == 60.0
    assert bar.position_label.text == "1:00"


def test_the_replay_does_not_pull_a_held_handle(qtbot: QtBot, bar: ReplayBar, minute: Path) -> None:
    open_file(qtbot, bar, minute)
    bar.slider.setSliderDown(True)
    bar._replay.position_changed.emit(50.0)
    assert bar.slider.value() == 0
    bar.slider.setSliderDown(False)
    assert settle(qtbot, bar) == 0.0


def test_showing_the_position_is_not_a_seek(qtbot: QtBot, bar: ReplayBar, minute: Path) -> None:
    open_file(qtbot, bar, minute)
    sought: list[int] = []
    bar.slider.sought.connect(sought.append)
    bar._replay.position_changed.emit(12.0)
    assert bar.slider.value() == 120
    assert sought == []


def test_speed_menu(qtbot: QtBot, bar: ReplayBar, minute: Path) -> None:
    open_file(qtbot, bar, minute)
    assert [action.text() for action in bar._menu.actions()] == [speed_text(speed) for speed in SPEEDS]
    assert [action.text() for action in bar._menu.actions() if action.isChecked()] == ["1×"]
    bar._menu.actions()[4].trigger()
    assert bar._replay.speed == 4.0
    assert bar.speed_button.text() == "4×"
    bar._replay.set_speed(0.25)
    bar.retranslate()
    assert [action.text() for action in bar._menu.actions() if action.isChecked()] == ["0.25×"]


def test_every_control_has_a_name_and_can_be_reached_by_keyboard(bar: ReplayBar) -> None:
    for widget in (bar.play_button, bar.slider, bar.speed_button):
        assert widget.accessibleName()
        assert widget.toolTip()
        assert widget.focusPolicy() & Qt.FocusPolicy.TabFocus


def test_texts_follow_the_language(bar: ReplayBar, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(type(messages._state["catalogue"]), "gettext", lambda self, text: f"⟪{text}⟫")
    bar.retranslate()
    for widget in (bar, bar.play_button, bar.slider, bar.speed_button):
        assert widget.accessibleName().startswith("⟪")


@pytest.mark.parametrize(
    ("seconds", "text"), [(0.0, "0:00"), (7.9, "0:07"), (60.0, "1:00"), (3723.0, "1:02:03"), (86_400.0, "24:00:00")]
)
def test_positions_are_readable(seconds: float, text: str) -> None:
    assert clock_text(seconds) == text
