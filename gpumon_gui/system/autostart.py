"""Knows: how each system starts a program when the user logs in. Must not know: who asks for it.

Windows: a value below ``HKCU\\...\\Run``; what the user switches off in the Task Manager stands in ``StartupApproved``
beside it (12 bytes, the first is odd when off). Linux: a file in the XDG autostart folder, which a desktop's settings
switch off by ``Hidden`` or ``X-GNOME-Autostart-enabled``. Such a decision is never written over.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from enum import StrEnum
from pathlib import Path
from typing import Protocol

from gpumon_gui.core.errors import OutputFailed
from gpumon_gui.core.files import cannot_write, read_start, strerror
from gpumon_gui.core.messages import _
from gpumon_gui.system.user_registry import UserRegistry, WindowsUserRegistry

#: The option of the window for such starts: hidden, in the tray.
TRAY_OPTION = "--tray"
RUN = r"Software\Microsoft\Windows\CurrentVersion\Run"
APPROVED = r"Software\Microsoft\Windows\CurrentVersion\Explorer\StartupApproved\Run"
NAME = "GPUMon"
FILE_NAME = "gpumon.desktop"
#: Far more than a desktop entry has.
_MOST_BYTES = 64 << 10
_OFF_BY_DESKTOP = ("hidden=true", "x-gnome-autostart-enabled=false")


class StartState(StrEnum):
    """Whether GPUMon starts with the system."""

    OFF = "off"
    ON = "on"
    BLOCKED = "blocked"  #: entered, but the user switched it off in the Task Manager or the desktop's settings


class Autostart(Protocol):
    """One of the ways."""

    def state(self) -> StartState:
        """As it is now. An entry of another copy of the program counts as off."""
        ...

    def set_on(self, on: bool) -> StartState:
        """Enter or take away; the state after it. Raises OutputFailed."""
        ...


class RunKeyAutostart:
    """Windows."""

    def __init__(self, registry: UserRegistry, command: Sequence[str]) -> None:
        self._registry = registry
        self._text = windows_line(command)

    def state(self) -> StartState:
        found = self._registry.read(RUN, NAME)
        if not isinstance(found, str) or found.casefold() != self._text.casefold():
            return StartState.OFF
        approved = self._registry.read(APPROVED, NAME)
        is_off = isinstance(approved, bytes) and len(approved) > 0 and approved[0] & 1
        return StartState.BLOCKED if is_off else StartState.ON

    def set_on(self, on: bool) -> StartState:
        try:
            if on:
                self._registry.write(RUN, NAME, self._text)
            else:
                self._registry.delete(RUN, NAME)
        except OSError as error:
            raise OutputFailed(
                _("The start with Windows cannot be changed ({detail}).").format(detail=strerror(error))
            ) from error
        return self.state()


class XdgAutostart:
    """Linux. ``folder`` is ``autostart`` below the user's configuration."""

    def __init__(self, folder: Path, command: Sequence[str]) -> None:
        self._file = folder / FILE_NAME
        self._line = f"Exec={desktop_line(command)}"

    def state(self) -> StartState:
        try:
            lines = read_start(self._file, _MOST_BYTES).decode("utf-8", "replace").splitlines()
        except OSError:
            return StartState.OFF
        if self._line not in lines:
            return StartState.OFF
        is_off = any(line.replace(" ", "").casefold() in _OFF_BY_DESKTOP for line in lines)
        return StartState.BLOCKED if is_off else StartState.ON

    def set_on(self, on: bool) -> StartState:
        if self.state() is StartState.BLOCKED and on:
            return StartState.BLOCKED
        try:
            if on:
                self._file.parent.mkdir(parents=True, exist_ok=True)
                partial = self._file.with_suffix(".partial")
                partial.unlink(missing_ok=True)  # whatever lies there
                partial.write_text(self._content(), encoding="utf-8")
                partial.replace(self._file)
            else:
                self._file.unlink(missing_ok=True)
        except OSError as error:
            raise OutputFailed(cannot_write(self._file, error)) from error
        return self.state()

    def _content(self) -> str:
        lines = ("[Desktop Entry]", "Type=Application", "Name=GPUMon", "Icon=gpumon", self._line, "Terminal=false")
        return "\n".join(lines) + "\n"


def this_autostart() -> Autostart:
    """The way of this system, for this copy of the program."""
    if sys.platform == "win32":
        return RunKeyAutostart(WindowsUserRegistry(), start_command())
    config = os.environ.get("XDG_CONFIG_HOME", "")
    base = Path(config) if config.startswith("/") else Path.home() / ".config"
    return XdgAutostart(base / "autostart", start_command())


def start_command() -> tuple[str, ...]:
    """What starts this copy of the window in the tray, without a console, from any folder."""
    program = Path(sys.executable)
    if getattr(sys, "frozen", False):
        return (str(program.with_name("gpumon-gui" + program.suffix)), TRAY_OPTION)
    script = program.with_name("gpumon-gui.exe" if sys.platform == "win32" else "gpumon-gui")
    if script.is_file():  # installed by pip: the interpreter's path is no longer needed
        return (str(script), TRAY_OPTION)
    silent = program.with_name("pythonw.exe")
    return (str(silent if silent.is_file() else program), "-m", "gpumon_gui", TRAY_OPTION)


def windows_line(command: Sequence[str]) -> str:
    """A command line for the Run key: the program always in quotes, or Windows would try ``C:\\Program.exe`` first."""
    program, *rest = command
    return " ".join([f'"{program}"', *(f'"{word}"' if " " in word else word for word in rest)])


def desktop_line(command: Sequence[str]) -> str:
    """The value of ``Exec``: each word in quotes where needed, percent doubled, then escaped once more as every text of
    such a file is (Desktop Entry Specification 1.5, "The Exec key")."""
    words = []
    for word in command:
        text = word.replace("%", "%%")
        if not text or any(character in " \t\n\"'\\><~|&;$*?#()`" for character in text):
            for character in '\\"`$':
                text = text.replace(character, "\\" + character)
            text = f'"{text}"'
        words.append(text)
    return " ".join(words).replace("\\", "\\\\").replace("\n", "\\n")
