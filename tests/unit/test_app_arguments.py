"""The window's command line, and what is looked at before Qt is loaded."""

from __future__ import annotations

import ctypes
import os
import socket
import struct
import sys
import threading
from pathlib import Path
from typing import NoReturn

import pytest

from gpumon_gui.app.arguments import Arguments, Screenshot, WrongUsage, parse
from gpumon_gui.app.display import display_refused
from gpumon_gui.app.libraries import missing_library, platform_refused


def test_without_options_the_real_machine_is_shown() -> None:
    assert parse([]) == Arguments()


def test_everything_at_once(tmp_path: Path) -> None:
    shot = tmp_path / "图.png"
    words = ["--demo", "--lang", "zh_CN", "--theme", "dark", "--page", "processes"]
    words += ["--screenshot", str(shot), "--after", "1.5", "--size", "1280x800", "--watch", "4711"]
    found = parse(words)
    assert found == Arguments(
        demo=True,
        language="zh_CN",
        theme="dark",
        page="processes",
        screenshot=Screenshot(shot, 1.5, (1280, 800)),
        watch=4711,
    )


@pytest.mark.skipif(sys.platform == "win32", reason="limits and links of POSIX")
@pytest.mark.parametrize("option", ["--replay", "--screenshot"])
def test_a_path_the_system_refuses_is_wrong_usage(option: str, tmp_path: Path) -> None:
    with pytest.raises(WrongUsage, match=r"\(File name too long\)\.$"):
        parse([option, str(tmp_path / ("a" * 300) / "x")])
    with pytest.raises(WrongUsage, match=r"is a folder"):
        parse([option, str(tmp_path)])


@pytest.mark.skipif(sys.platform == "win32" or os.geteuid() == 0, reason="root may look everywhere")
@pytest.mark.parametrize("option", ["--replay", "--screenshot"])
def test_a_closed_folder_is_wrong_usage(option: str, tmp_path: Path) -> None:
    tmp_path.chmod(0)
    try:
        with pytest.raises(WrongUsage, match=r"x: cannot be (read|written) \(Permission denied\)\.$"):
            parse([option, str(tmp_path / "x")])
    finally:
        tmp_path.chmod(0o700)


@pytest.mark.skipif(sys.platform == "win32", reason="links need rights there")
def test_a_link_to_itself_is_told(tmp_path: Path) -> None:
    link = tmp_path / "loop"
    link.symlink_to(link)
    with pytest.raises(WrongUsage, match=r"loop: cannot be read \(Too many levels of symbolic links\)"):
        parse(["--replay", str(link)])
    assert parse(["--screenshot", str(link)]).screenshot == Screenshot(link)  # told when it is written


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--demo", "--scenario", "healthy"], "not allowed with"),
        (["--replay", "no/such/file.gpumon"], f"there is no file {Path('no/such/file.gpumon')}"),
        (["--lang", "fr"], "invalid choice: 'fr'"),
        (["--theme", "pink"], "invalid choice"),
        (["--page", "wizard"], "invalid choice"),
        (["--after", "2"], "--after only makes sense with --screenshot"),
        (["--size", "800x600"], "--size only makes sense with --screenshot"),
        (["--screenshot", "no/such/folder/x.png"], "there is no folder"),
        (["--screenshot", "."], "is a folder"),
        (["--screenshot", "x.png", "--after", "soon"], "soon is not a number of seconds"),
        (["--screenshot", "x.png", "--after", "nan"], "nan is not a number of seconds"),
        (["--screenshot", "x.png", "--size", "wide"], "wide is not a size"),
        (["--screenshot", "x.png", "--size", "10x10"], "10x10 is not between"),
        (["--screenshot", "x.png", "--size", "99999x800"], "99999x800 is not between"),
        (["--watch", "python"], "“python” is no process id"),
        (["--watch", "0"], "“0” is no process id"),
        (["--frobnicate"], "--frobnicate"),
        (["--scre", "x.png"], "--scre"),
    ],
)
def test_wrong_usage_is_one_line_that_names_the_option(words: list[str], said: str) -> None:
    with pytest.raises(WrongUsage) as told:
        parse(words)
    assert said in str(told.value)
    assert "\n" not in str(told.value)


# -- the display


def _refusal(text: bytes) -> bytes:
    return struct.pack("<BBHHH", 0, len(text), 11, 0, (len(text) + 3) // 4) + text


def test_no_display_at_all() -> None:
    assert display_refused({}, "linux") == "DISPLAY not set"


@pytest.mark.parametrize("plugin", ["offscreen", "minimal", "vnc:size=800x600"])
def test_a_plugin_that_needs_no_display_is_taken_at_its_word(plugin: str) -> None:
    assert display_refused({"QT_QPA_PLATFORM": plugin}, "linux") is None


def test_windows_always_has_a_display() -> None:
    assert display_refused({}, "win32") is None


@pytest.mark.skipif(sys.platform == "win32", reason="X11 and Wayland")
def test_an_account_without_a_home_has_no_cookies(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("HOME", raising=False)
    monkeypatch.setattr("pwd.getpwuid", _no_entry)
    assert (display_refused({"DISPLAY": ":4093"}, "linux") or "").startswith("DISPLAY=:4093: ")


def _no_entry(uid: int) -> NoReturn:
    raise KeyError(uid)


@pytest.mark.skipif(sys.platform == "win32", reason="X11 and Wayland")
@pytest.mark.parametrize(
    ("environ", "refused"),
    [
        ({"QT_QPA_PLATFORM": "wayland", "DISPLAY": ":4093"}, "WAYLAND_DISPLAY=wayland-0: No such file or directory"),
        ({"QT_QPA_PLATFORM": "dxcb"}, "QT_QPA_PLATFORM=dxcb"),
        ({"QT_QPA_PLATFORM": "dxcb;xcb"}, "DISPLAY not set"),
        ({"QT_QPA_PLATFORM": "wayland;offscreen"}, None),
        ({"QT_QPA_PLATFORM": "dxcb", "QT_PLUGIN_PATH": "/opt/deepin"}, None),
        ({"QT_QPA_PLATFORM": ";"}, "DISPLAY not set"),
    ],
)
def test_every_plugin_named_must_fail_before_the_window_is_refused(
    environ: dict[str, str], refused: str | None, tmp_path: Path
) -> None:
    assert display_refused({"XDG_RUNTIME_DIR": str(tmp_path), **environ}, "linux") == refused


@pytest.mark.parametrize("name", [":4093", "nonsense", "127.0.0.1:4093"])
def test_a_display_that_is_not_there(name: str) -> None:
    refused = display_refused({"DISPLAY": name}, "linux")
    assert refused is not None
    assert refused.startswith(f"DISPLAY={name}")


def test_a_wayland_display_that_is_not_there(tmp_path: Path) -> None:
    environ = {"WAYLAND_DISPLAY": "wayland-7", "XDG_RUNTIME_DIR": str(tmp_path)}
    assert (display_refused(environ, "linux") or "").startswith("WAYLAND_DISPLAY=wayland-7")
    with socket.socket(socket.AF_UNIX) as server:
        server.bind(str(tmp_path / "wayland-7"))
        server.listen()
        assert display_refused(environ, "linux") is None


def test_a_display_that_refuses_says_why() -> None:
    with _XServer(_refusal(b"No protocol specified\n")) as server:
        refused = display_refused({"DISPLAY": server.display, "XAUTHORITY": "/none"}, "linux")
    assert refused == f"DISPLAY={server.display}: No protocol specified"


def test_a_display_that_accepts() -> None:
    with _XServer(b"\x01" + bytes(39)) as server:
        assert display_refused({"DISPLAY": server.display, "XAUTHORITY": "/none"}, "linux") is None


@pytest.mark.parametrize(("depth", "said"), [(8, "8-bit colours"), (24, None)])
def test_a_display_of_too_few_colours(depth: int, said: str | None) -> None:
    setup = struct.pack("<IIIIHHBBBBBBBBI", 1, 0, 0, 0, 5, 0, 1, 1, 0, 0, 0, 0, 0, 0, 0)  # a vendor of 5, one format
    setup += b"X.Org" + bytes(3) + bytes(8) + bytes(38) + bytes([depth, 0])
    with _XServer(struct.pack("<BxHHH", 1, 11, 0, len(setup) // 4) + setup) as server:
        refused = display_refused({"DISPLAY": server.display, "XAUTHORITY": "/none"}, "linux")
        assert refused == (said and f"DISPLAY={server.display}: {said}")


def test_a_display_that_hangs_up() -> None:
    with _XServer(b"") as server:
        refused = display_refused({"DISPLAY": server.display, "XAUTHORITY": "/none"}, "linux")
    assert refused == f"DISPLAY={server.display}: connection closed"


def test_each_cookie_of_the_display_is_tried(tmp_path: Path) -> None:
    def entry(number: bytes, cookie: bytes) -> bytes:
        fields = (b"host", number, b"MIT-MAGIC-COOKIE-1", cookie)
        return struct.pack(">H", 256) + b"".join(struct.pack(">H", len(field)) + field for field in fields)

    with _XServer(_refusal(b"Invalid key"), b"\x01" + bytes(39)) as server:
        number = server.display.rpartition(":")[2].encode()
        authority = tmp_path / "auth"
        authority.write_bytes(entry(b"99", b"x" * 16) + entry(number, b"a" * 16) + entry(number, b"b" * 16) + b"\x01")
        assert display_refused({"DISPLAY": server.display, "XAUTHORITY": str(authority)}, "linux") is None
    assert [b"a" * 16 in server.heard[0], b"b" * 16 in server.heard[1]] == [True, True]


class _XServer:
    """Answers each connection with the next of the given bytes."""

    def __init__(self, *answers: bytes) -> None:
        self.heard: list[bytes] = []
        self._answers = answers
        self._server = socket.create_server(("127.0.0.1", 0))
        self._server.settimeout(10)
        self.display = f"127.0.0.1:{self._server.getsockname()[1] - 6000}"
        self._thread = threading.Thread(target=self._serve)

    def _serve(self) -> None:
        for answer in self._answers:
            client, _address = self._server.accept()
            with client:
                self.heard.append(client.recv(4096))
                client.sendall(answer)

    def __enter__(self) -> _XServer:
        self._thread.start()
        return self

    def __exit__(self, *_details: object) -> None:
        self._thread.join(10)
        self._server.close()


# -- missing libraries


def test_a_missing_system_library_names_its_package() -> None:
    error = ImportError("libEGL.so.1: cannot open shared object file: No such file or directory")
    assert "apt install libegl1" in (missing_library(error) or "")
    other = OSError("libstrange.so.4: cannot open shared object file: No such file or directory")
    assert "libstrange.so.4 is missing" in (missing_library(other) or "")


@pytest.mark.skipif(sys.platform == "win32", reason="X11")
def test_an_x11_plugin_that_cannot_load_is_found_before_qt_aborts(monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("PySide6")

    def refuse(_path: str) -> None:
        raise OSError("libxcb-cursor.so.0: cannot open shared object file: No such file or directory")

    monkeypatch.setattr(ctypes, "CDLL", refuse)
    monkeypatch.setenv("QT_QPA_PLATFORM", "xcb")
    assert "apt install libxcb-cursor0" in (platform_refused() or "")
    monkeypatch.setenv("QT_QPA_PLATFORM", "offscreen")
    assert platform_refused() is None


def test_a_missing_package_names_the_command() -> None:
    error = ModuleNotFoundError("No module named 'PySide6'", name="PySide6")
    assert missing_library(error) == "PySide6 is not installed. Install it with: pip install 'gpumon-gui[gui]'"


def test_a_library_that_cannot_be_mapped_is_not_a_trace() -> None:
    error = ImportError("libQt6Gui.so.6: failed to map segment from shared object")  # no memory; Qt names no module
    assert "Qt cannot be loaded (libQt6Gui.so.6: failed to map" in (missing_library(error) or "")


def test_a_fault_of_our_own_is_not_called_a_missing_library() -> None:
    assert missing_library(ModuleNotFoundError("No module named 'gpumon_gui.ui.x'", name="gpumon_gui.ui.x")) is None
