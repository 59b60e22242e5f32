"""Start with the system: what is entered, what the user switched off, and what cannot be written."""

from __future__ import annotations

import configparser
import os
import re
import sys
from pathlib import Path

import pytest

from gpumon_gui.core.errors import OutputFailed
from gpumon_gui.system import autostart
from gpumon_gui.system.autostart import APPROVED, NAME, RUN, RunKeyAutostart, StartState, XdgAutostart
from gpumon_gui.system.task_bar import is_task_bar_light
from gpumon_gui.system.user_registry import WindowsUserRegistry

PROGRAM = r"C:\Users\李 雷\AppData\Local\Programs\GPUMon\gpumon-gui.exe"
COMMAND = (PROGRAM, "--tray")
ENABLED = bytes([2, *[0] * 11])
DISABLED = bytes([3, *[0] * 3, *range(8)])


class FakeRegistry:
    """A registry in a dictionary; ``refused`` makes every write fail."""

    def __init__(self, values: dict[tuple[str, str], object] | None = None, *, refused: bool = False) -> None:
        self.values = dict(values or {})
        self._refused = refused

    def read(self, path: str, name: str) -> object | None:
        return self.values.get((path, name))

    def write(self, path: str, name: str, text: str) -> None:
        if self._refused:
            raise PermissionError(13, "Permission denied")
        self.values[path, name] = text

    def delete(self, path: str, name: str) -> None:
        if self._refused:
            raise PermissionError(13, "Permission denied")
        self.values.pop((path, name), None)


# -- Windows


def test_the_path_is_quoted_and_the_window_starts_in_the_tray() -> None:
    registry = FakeRegistry()
    start = RunKeyAutostart(registry, COMMAND)
    assert start.state() is StartState.OFF
    assert start.set_on(True) is StartState.ON
    assert registry.values == {(RUN, NAME): f'"{PROGRAM}" --tray'}
    assert start.set_on(False) is StartState.OFF
    assert registry.values == {}
    assert start.set_on(False) is StartState.OFF


@pytest.mark.parametrize(
    ("approved", "state"),
    [
        (ENABLED, StartState.ON),
        (bytes([6, *[0] * 11]), StartState.ON),
        (DISABLED, StartState.BLOCKED),
        (b"", StartState.ON),
        ("garbage", StartState.ON),
    ],
)
def test_what_the_task_manager_switched_off_is_told(approved: object, state: StartState) -> None:
    registry = FakeRegistry({(RUN, NAME): f'"{PROGRAM}" --tray', (APPROVED, NAME): approved})
    assert RunKeyAutostart(registry, COMMAND).state() is state


def test_a_decision_in_the_task_manager_is_not_written_over() -> None:
    registry = FakeRegistry({(APPROVED, NAME): DISABLED})
    start = RunKeyAutostart(registry, COMMAND)
    assert start.set_on(True) is StartState.BLOCKED
    assert start.set_on(False) is StartState.OFF
    assert registry.values == {(APPROVED, NAME): DISABLED}


@pytest.mark.parametrize("found", [r'"D:\Old\gpumon-gui.exe" --tray', 7, f'"{PROGRAM}"'])
def test_an_entry_of_another_copy_is_off_and_replaced(found: object) -> None:
    registry = FakeRegistry({(RUN, NAME): found})
    start = RunKeyAutostart(registry, COMMAND)
    assert start.state() is StartState.OFF
    assert start.set_on(True) is StartState.ON


def test_a_registry_that_refuses_is_one_line() -> None:
    start = RunKeyAutostart(FakeRegistry(refused=True), COMMAND)
    for on in (True, False):
        with pytest.raises(OutputFailed, match=r"start with Windows cannot be changed \(Permission denied\)"):
            start.set_on(on)


@pytest.mark.skipif(sys.platform != "win32", reason="the registry of Windows")
def test_the_registry_itself() -> None:
    registry = WindowsUserRegistry()
    before = registry.read(RUN, NAME)
    start = RunKeyAutostart(registry, COMMAND)
    try:
        assert start.set_on(True) is StartState.ON
        assert registry.read(RUN, NAME) == f'"{PROGRAM}" --tray'
        assert start.set_on(False) is StartState.OFF
        assert registry.read(RUN, NAME) is None
        registry.delete(r"Software\No such key of GPUMon", NAME)
    finally:
        if isinstance(before, str):
            registry.write(RUN, NAME, before)


@pytest.mark.parametrize(("value", "light"), [(1, True), (0, False), (None, False), ("1", False)])
def test_the_task_bar_has_its_own_setting(value: object, light: bool) -> None:
    key = r"Software\Microsoft\Windows\CurrentVersion\Themes\Personalize"
    registry = FakeRegistry({(key, "AppsUseLightTheme"): 0 if light else 1})
    if value is not None:
        registry.values[key, "SystemUsesLightTheme"] = value
    assert is_task_bar_light(registry) is light


# -- Linux


def test_a_file_in_the_autostart_folder(tmp_path: Path) -> None:
    folder = tmp_path / "not yet there" / "autostart"
    start = XdgAutostart(folder, ("/opt/gpumon/gpumon-gui", "--tray"))
    assert start.state() is StartState.OFF
    assert start.set_on(True) is StartState.ON
    (file,) = folder.iterdir()
    assert file.name == "gpumon.desktop"
    entry = configparser.RawConfigParser()
    entry.read(file, encoding="utf-8")
    assert dict(entry["Desktop Entry"]) == {
        "type": "Application",
        "name": "GPUMon",
        "icon": "gpumon",
        "exec": "/opt/gpumon/gpumon-gui --tray",
        "terminal": "false",
    }
    assert start.set_on(False) is StartState.OFF
    assert not file.exists()
    assert start.set_on(False) is StartState.OFF


@pytest.mark.parametrize("line", ["Hidden=true", "X-GNOME-Autostart-enabled=false", "Hidden = true"])
def test_what_the_desktop_switched_off_stays_off(line: str, tmp_path: Path) -> None:
    start = XdgAutostart(tmp_path, COMMAND)
    start.set_on(True)
    file = tmp_path / "gpumon.desktop"
    text = file.read_text(encoding="utf-8") + line + "\n"
    file.write_text(text, encoding="utf-8")
    assert start.state() is StartState.BLOCKED
    assert start.set_on(True) is StartState.BLOCKED
    assert file.read_text(encoding="utf-8") == text
    assert start.set_on(False) is StartState.OFF


def test_a_file_of_another_copy_is_off_and_replaced(tmp_path: Path) -> None:
    XdgAutostart(tmp_path, ("/old/gpumon-gui", "--tray")).set_on(True)
    start = XdgAutostart(tmp_path, ("/new/gpumon-gui", "--tray"))
    assert start.state() is StartState.OFF
    assert start.set_on(True) is StartState.ON


@pytest.mark.skipif(sys.platform == "win32", reason="pipes of POSIX")
def test_a_pipe_in_the_place_of_the_file_is_off_and_replaced(tmp_path: Path) -> None:
    for name in ("gpumon.desktop", "gpumon.partial"):
        os.mkfifo(tmp_path / name)
    start = XdgAutostart(tmp_path, COMMAND)
    assert start.state() is StartState.OFF
    assert start.set_on(True) is StartState.ON


def test_a_folder_that_cannot_be_made_is_one_line(tmp_path: Path) -> None:
    (tmp_path / "config").write_text("a file", encoding="utf-8")
    with pytest.raises(OutputFailed, match=r"gpumon\.desktop: cannot be written \(.+\)"):
        XdgAutostart(tmp_path / "config" / "autostart", COMMAND).set_on(True)


@pytest.mark.parametrize(
    "word", ["/plain/path", "/with space/李", '/a"b', "/a$b`c", "/back\\slash", "/50%", "/tab\tand'quote", "/a;b&c"]
)
def test_any_path_survives_the_two_quotings_of_a_desktop_file(word: str) -> None:
    text = autostart.desktop_line((word, "--tray"))
    assert "\n" not in text
    once = re.sub(r"\\(.)", lambda found: {"n": "\n"}.get(found[1], found[1]), text)  # as any text of such a file
    words = re.findall(r'"((?:[^"\\]|\\.)*)"|(\S+)', once)  # as its command line is
    read = [re.sub(r"\\(.)", r"\1", quoted) or plain for quoted, plain in words]
    assert [part.replace("%%", "%") for part in read] == [word, "--tray"]


@pytest.mark.skipif(sys.platform == "win32", reason="XDG")
def test_the_users_own_configuration_folder_is_used(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path))
    assert autostart.this_autostart().set_on(True) is StartState.ON
    assert (tmp_path / "autostart" / "gpumon.desktop").is_file()
    monkeypatch.setenv("XDG_CONFIG_HOME", "relative/is/ignored")
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    assert autostart.this_autostart().set_on(True) is StartState.ON
    assert (tmp_path / "home" / ".config" / "autostart" / "gpumon.desktop").is_file()


def test_the_command_of_each_kind_of_installation(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    end = ".exe" if os.name == "nt" else ""
    python = tmp_path / f"python{end}"
    monkeypatch.setattr(sys, "executable", str(python))
    assert autostart.start_command() == (str(python), "-m", "gpumon_gui", "--tray")
    (tmp_path / "pythonw.exe").touch()
    assert autostart.start_command()[0] == str(tmp_path / "pythonw.exe")
    script = tmp_path / f"gpumon-gui{end}"
    script.touch()
    assert autostart.start_command() == (str(script), "--tray")
    monkeypatch.setattr(sys, "frozen", True, raising=False)
    monkeypatch.setattr(sys, "executable", str(tmp_path / f"gpumon{end}"))
    assert autostart.start_command() == (str(script), "--tray")
