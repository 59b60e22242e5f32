"""A second start, as a process of its own, meets the first window."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
from collections.abc import Iterator
from functools import partial
from pathlib import Path

import pytest
from PySide6.QtWidgets import QApplication
from pytestqt.qtbot import QtBot

from gpumon_gui.app.arguments import Arguments
from gpumon_gui.app.desktop import Desktop
from gpumon_gui.app.first import Entry, enter
from gpumon_gui.bridge.feed import Feed
from gpumon_gui.bridge.single_instance import Doorman
from gpumon_gui.bridge.translation import Translation
from gpumon_gui.system.single_instance import MOST_BYTES, Claim, Place, Request, claim, find_place
from gpumon_gui.ui.main_window import MainWindow
from gpumon_gui.ui.theme import Theme
from tests.qt.test_main_window import RecordingOrigin

ROOT = Path(__file__).resolve().parents[2]
DISPLAY = ":4097"  # nobody's: a second start that needed it would say so
on_linux = pytest.mark.skipif(sys.platform != "linux", reason="Unix sockets")


@pytest.fixture
def session(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, qapp: QApplication) -> Path:
    """A session of its own for this process and those it starts; on Windows the one that is there."""
    tmp_path.chmod(0o700)
    monkeypatch.setenv("XDG_RUNTIME_DIR", str(tmp_path))
    monkeypatch.setenv("DISPLAY", DISPLAY)
    monkeypatch.delenv("WAYLAND_DISPLAY", raising=False)
    monkeypatch.delenv("QT_QPA_PLATFORM", raising=False)
    return tmp_path


@pytest.fixture
def place(session: Path) -> Place:
    found = find_place()
    assert found is not None
    return found


@pytest.fixture
def ours(place: Place) -> Iterator[Claim]:
    made = claim(place)
    assert made is not None
    yield made
    made.close()


def second(*words: str) -> subprocess.Popen[bytes]:
    """Another start of the window in this session."""
    return subprocess.Popen(
        [sys.executable, "-m", "gpumon_gui", *words],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
    )


def ended(process: subprocess.Popen[bytes], qtbot: QtBot) -> tuple[int, bytes]:
    """Its exit code and what it said, while this process goes on."""
    qtbot.waitUntil(lambda: process.poll() is not None, timeout=30_000)
    _out, errors = process.communicate()
    return process.returncode, errors


@pytest.fixture
def window(qapp: QApplication, qtbot: QtBot, ours: Claim) -> Iterator[tuple[MainWindow, Desktop]]:
    """The first window."""
    feed, theme, translation = Feed(), Theme(), Translation()
    made = MainWindow(feed, theme, translation, RecordingOrigin())
    qtbot.addWidget(made)
    desktop = Desktop(made, feed, theme, translation, Entry(claim=ours))
    yield made, desktop
    desktop.close()
    assert made.close_down()
    for part in (feed, theme, translation):
        part.deleteLater()


def test_a_second_start_shows_the_first_window(window: tuple[MainWindow, Desktop], qtbot: QtBot) -> None:
    first, _desktop = window
    assert not first.isVisible()
    assert ended(second("--page", "processes"), qtbot) == (0, b"")
    assert first.isVisible()
    assert first.page == "processes"
    first.showMinimized()
    assert ended(second(), qtbot) == (0, b"")
    assert not first.isMinimized()
    assert first.page == "processes"  # nothing said about pages: the one on show stays


def test_a_second_start_hands_over_what_is_to_be_watched(window: tuple[MainWindow, Desktop], qtbot: QtBot) -> None:
    first, desktop = window
    asked: list[int] = []
    desktop.watch_asked.connect(asked.append)
    assert ended(second("--watch", "4294967295"), qtbot) == (0, b"")
    assert first.isVisible()
    assert asked == [4294967295]


def test_a_second_start_for_the_tray_disturbs_nobody(window: tuple[MainWindow, Desktop], qtbot: QtBot) -> None:
    first, _desktop = window
    assert ended(second("--tray"), qtbot) == (0, b"")
    assert not first.isVisible()


@on_linux
@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({}, ("--demo",)),
        ({}, ("--scenario", "mig")),
        ({"DISPLAY": ":4098"}, ()),  # another session of the same user
    ],
)
def test_other_windows_and_sessions_are_left_alone(
    changes: dict[str, str],
    words: tuple[str, ...],
    window: tuple[MainWindow, Desktop],
    qtbot: QtBot,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    for name, value in changes.items():
        monkeypatch.setenv(name, value)
    code, said = ended(second(*words), qtbot)
    assert code == 2  # it went on to open its own window, on a display that is not there
    assert b"No display" in said
    assert not window[0].isVisible()


def test_a_socket_left_by_a_killed_window_is_taken_over(place: Place, qapp: QApplication, qtbot: QtBot) -> None:
    script = (
        "from PySide6.QtCore import QCoreApplication\n"
        "from gpumon_gui.bridge.single_instance import Doorman\n"
        "from gpumon_gui.system.single_instance import claim, find_place\n"
        "app = QCoreApplication([])\n"
        "held = claim(find_place()); doorman = Doorman(held.place)\n"
        "print(doorman.open(), flush=True)\n"
        "app.exec()\n"
    )
    killed = subprocess.Popen([sys.executable, "-c", script], stdout=subprocess.PIPE)
    assert killed.stdout is not None
    assert killed.stdout.readline().strip() == b"True"
    killed.kill()
    killed.communicate()
    assert sys.platform == "win32" or Path(place.address).exists()
    entry = enter(Arguments())
    assert entry.claim is not None
    doorman = Doorman(place)
    try:
        assert doorman.open()
        with qtbot.waitSignal(doorman.asked, timeout=30_000) as heard:
            process = second("--page", "processes")
        assert heard.args == [Request(page="processes")]
        assert ended(process, qtbot)[0] == 0
    finally:
        doorman.close()
        doorman.deleteLater()
        entry.claim.close()


@on_linux
def test_strange_callers_are_hung_up_on(ours: Claim, qapp: QApplication, qtbot: QtBot) -> None:
    doorman = Doorman(ours.place)
    asked: list[object] = []
    doorman.asked.connect(asked.append)
    assert doorman.open()
    assert Path(ours.place.address).stat().st_mode & 0o077 == 0
    try:
        for words in (b"\n", b"{}\n", b"x" * (MOST_BYTES + 1), b'{"show": "yes"}\n'):
            with socket.socket(socket.AF_UNIX) as caller:
                caller.connect(ours.place.address)
                caller.sendall(words)
                caller.setblocking(False)
                qtbot.waitUntil(partial(hung_up, caller), timeout=5000)
        assert asked == []
    finally:
        doorman.close()
        doorman.deleteLater()


def hung_up(caller: socket.socket) -> bool:
    """Whether the other end has closed."""
    try:
        return caller.recv(16) == b""
    except BlockingIOError:
        return False
    except ConnectionError:
        return True


def test_a_first_window_that_hangs_is_told(ours: Claim, qapp: QApplication, qtbot: QtBot) -> None:
    feed, theme, translation = Feed(), Theme(), Translation()
    made = MainWindow(feed, theme, translation, RecordingOrigin())
    qtbot.addWidget(made)
    desktop = Desktop(made, feed, theme, translation, Entry(is_alone=False))
    desktop.start(hidden=False)
    assert made.message.text == "Another window of GPUMon runs but does not answer. This is a second one."
    desktop.close()
    assert made.close_down()
    for part in (feed, theme, translation):
        part.deleteLater()
