"""GPUMon on Windows' desktop: title bar, tray, a second start, the console of the shell that started it."""

from __future__ import annotations

import ctypes
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import psutil
import pytest
from pytestqt.qtbot import QtBot

from tests.windows.conftest import ROOT, gpumon
from tests.windows.world import FOLDER, World

PATIENCE_MS = 60_000
WM_CLOSE = 0x10

TITLE_BARS = """
import ctypes, sys
compositor = ctypes.WinDLL(sys.argv[1])  # before Qt, which then gets this one
from PySide6.QtWidgets import QApplication, QDialog, QWidget
from gpumon_gui.ui.theme import Scheme, Theme

app = QApplication([])
if sys.argv[2]:
    app.setStyle(sys.argv[2])
theme = Theme()
theme.set_scheme(Scheme.DARK)
theme.apply(app)
window = QWidget()
dialog = QDialog(window)
window.show()
dialog.show()
compositor.DwmNoted.argtypes = [ctypes.c_void_p, ctypes.c_uint32]
for scheme in (None, Scheme.LIGHT, Scheme.DARK, Scheme.SYSTEM):
    if scheme is not None:
        theme.set_scheme(scheme)
    app.processEvents()
    print(*(compositor.DwmNoted(int(one.winId()), 20) for one in (window, dialog)))
"""

#: Runs in a console of its own; what the program left on it goes into the file.
CONSOLE = """
import ctypes, pathlib, subprocess, sys
program = pathlib.Path(sys.executable).with_name("pythonw.exe")
code = subprocess.Popen([str(program), "-m", "gpumon_gui", *sys.argv[2:]]).wait(60)
kernel32 = ctypes.WinDLL("kernel32")
kernel32.CreateFileW.restype = ctypes.c_void_p
screen = kernel32.CreateFileW("CONOUT$", 0xC0000000, 3, None, 3, 0, None)
text, length = ctypes.create_unicode_buffer(8000), ctypes.c_uint32()
read = kernel32.ReadConsoleOutputCharacterW
read.argtypes = [ctypes.c_void_p, ctypes.c_wchar_p, ctypes.c_uint32, ctypes.c_uint32, ctypes.c_void_p]
assert read(screen, text, 8000, 0, ctypes.byref(length))
lines = [str(code), *(text[at : at + 80].rstrip() for at in range(0, length.value, 80))]
pathlib.Path(sys.argv[1]).write_text("\\n".join(line for line in lines if line), encoding="utf-8")
"""


@pytest.mark.parametrize("style", ["", "windows11", "windowsvista"])
def test_the_title_bar_follows_the_theme(style: str) -> None:
    done = subprocess.run(
        [sys.executable, "-c", TITLE_BARS, str(FOLDER / "dwmapi.dll"), style],
        capture_output=True,
        text=True,
        cwd=ROOT,
        timeout=60,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines() == ["1 1", "0 0", "1 1", "0 0"]  # DWMWA_USE_IMMERSIVE_DARK_MODE


@pytest.mark.parametrize(
    ("words", "code", "said"),
    [
        (("--theme", "dark", "--help"), 0, "usage: gpumon-gui "),
        (("--theme", "dark", "--version"), 0, "gpumon-gui "),
        (("--no-such-option",), 2, "gpumon-gui: unrecognized arguments: --no-such-option"),
    ],
)
def test_a_windowed_program_is_read_on_the_console_it_was_started_from(
    words: tuple[str, ...], code: int, said: str, tmp_path: Path
) -> None:
    script = tmp_path / "inside.py"
    script.write_text(CONSOLE, encoding="utf-8")
    file = tmp_path / "screen.txt"
    new_console = 0x10  # CREATE_NEW_CONSOLE
    process = subprocess.Popen([sys.executable, str(script), str(file), *words], creationflags=new_console)
    assert process.wait(90) == 0
    found, *lines = file.read_text(encoding="utf-8").splitlines()
    assert found == str(code)
    assert lines[0].startswith(said)


@pytest.fixture
def hidden(world: World) -> Iterator[subprocess.Popen[bytes]]:
    """A window that was started with the system."""
    process = subprocess.Popen([sys.executable, "-m", "gpumon_gui", "--tray"], cwd=ROOT)
    yield process
    children = psutil.Process(process.pid).children()
    process.kill()
    process.wait(30)
    psutil.wait_procs(children, timeout=30)


def test_it_starts_hidden_and_a_second_start_shows_it(hidden: subprocess.Popen[bytes], qtbot: QtBot) -> None:
    def until(condition: Callable[[], object]) -> None:
        qtbot.waitUntil(lambda: bool(condition()), timeout=PATIENCE_MS)

    until(lambda: [window for window in windows_of(hidden.pid) if "TrayIcon" in window.kind])
    assert not visible(hidden.pid)
    assert gpumon("--tray").returncode == 0  # a second one that starts with the system disturbs nobody
    assert not visible(hidden.pid)

    assert gpumon("--page", "processes").returncode == 0
    until(lambda: visible(hidden.pid))
    (window,) = visible(hidden.pid)
    assert window.title == "GPUMon"

    ctypes.WinDLL("user32").PostMessageW(window.handle, WM_CLOSE, 0, 0)  # type: ignore[attr-defined,unused-ignore]
    until(lambda: not visible(hidden.pid))
    assert hidden.poll() is None
    assert gpumon("--theme", "dark").returncode == 0
    until(lambda: visible(hidden.pid))


class Window:
    """A top-level window."""

    def __init__(self, handle: int) -> None:
        user32: Any = ctypes.WinDLL("user32")  # type: ignore[attr-defined,unused-ignore]
        title, kind = ctypes.create_unicode_buffer(256), ctypes.create_unicode_buffer(256)
        user32.GetWindowTextW(ctypes.c_void_p(handle), title, 256)
        user32.GetClassNameW(ctypes.c_void_p(handle), kind, 256)
        self.handle = ctypes.c_void_p(handle)
        self.title, self.kind = title.value, kind.value
        self.is_visible = bool(user32.IsWindowVisible(self.handle))


def windows_of(pid: int) -> list[Window]:
    """All top-level windows of a process."""
    user32: Any = ctypes.WinDLL("user32")  # type: ignore[attr-defined,unused-ignore]
    found: list[Window] = []
    kind = ctypes.WINFUNCTYPE(ctypes.c_int, ctypes.c_void_p, ctypes.c_void_p)  # type: ignore[attr-defined,unused-ignore]

    def look(handle: int, _more: int | None) -> int:
        owner = ctypes.c_uint32()
        user32.GetWindowThreadProcessId(ctypes.c_void_p(handle), ctypes.byref(owner))
        if owner.value == pid:
            found.append(Window(handle))
        return 1

    user32.EnumWindows(kind(look), None)
    return found


def visible(pid: int) -> list[Window]:
    """Those that can be seen."""
    return [window for window in windows_of(pid) if window.is_visible]
