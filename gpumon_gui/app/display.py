"""Knows: whether a window can be opened here. Must not know: Qt's classes, the window.

Qt ends the process with abort() when its platform plug-in cannot reach a display, so the display is tried first, with
a plain socket.
"""

from __future__ import annotations

import os
import re
import socket
import struct
import sys
from collections.abc import Mapping
from contextlib import closing
from pathlib import Path

from gpumon_gui.core.files import read_start

_X_DISPLAY = re.compile(r"^(?P<host>.*):(?P<number>\d+)(\.\d+)?$")
_TIMEOUT_S = 2.0
#: Fewer bits of colour and Qt draws nothing.
_LEAST_DEPTH = 15
#: Of an Xauthority file.
_MOST_BYTES = 1 << 20
#: Plug-ins that need no display.
_HEADLESS = ("offscreen", "minimal", "vnc", "linuxfb", "eglfs", "minimalegl", "vkkhrdisplay")
_WAYLAND = ("wayland", "wayland-egl", "wayland-brcm")
_PLUGIN_FOLDERS = ("QT_QPA_PLATFORM_PLUGIN_PATH", "QT_PLUGIN_PATH")


def display_refused(environ: Mapping[str, str] = os.environ, platform: str = sys.platform) -> str | None:
    """Why no window can be opened, as a technical word; None when one can (or nothing speaks against it).

    Only Linux and other X11/Wayland systems are looked at; a platform plug-in chosen by QT_QPA_PLATFORM that needs no
    display is taken at its word.
    """
    if platform in ("win32", "darwin"):
        return None
    # Qt tries the plug-ins named one after the other; without a choice X11 is what Wayland falls back to.
    chosen = [name.split(":")[0] for name in environ.get("QT_QPA_PLATFORM", "").split(";") if name]
    if not chosen:
        wayland, x11 = environ.get("WAYLAND_DISPLAY"), environ.get("DISPLAY")
        chosen = [*(["wayland"] if wayland else []), *(["xcb"] if x11 or not wayland else [])]
    reasons = [_refused(name, environ) for name in chosen]
    return None if None in reasons else reasons[-1]


def _refused(plugin: str, environ: Mapping[str, str]) -> str | None:
    """Why one of Qt's platform plug-ins cannot work."""
    if plugin in _HEADLESS:
        return None
    if plugin == "xcb":
        display = environ.get("DISPLAY", "")
        return _x_refused(display, environ) if display else "DISPLAY not set"
    if plugin in _WAYLAND:
        return _wayland_refused(environ.get("WAYLAND_DISPLAY") or "wayland-0", environ.get("XDG_RUNTIME_DIR", ""))
    if any(environ.get(name) for name in _PLUGIN_FOLDERS):  # it may lie there
        return None
    return f"QT_QPA_PLATFORM={plugin}"  # Qt would end the process with abort()


def _wayland_refused(name: str, runtime: str) -> str | None:
    path = Path(name) if name.startswith("/") else Path(runtime or "/run/user") / name
    return _connect_local(str(path), f"WAYLAND_DISPLAY={name}")


def _x_refused(display: str, environ: Mapping[str, str]) -> str | None:
    named = f"DISPLAY={display}"
    match = _X_DISPLAY.match(display)
    if match is None:
        return named
    host, number = match["host"], int(match["number"])
    cookies = _cookies(number, Path(environ.get("XAUTHORITY") or os.path.expanduser("~/.Xauthority")))  # noqa: PTH111
    try:
        if host in ("", "unix"):
            answer = _greet_local(number, cookies)
        else:
            probe = _open_internet((host.removeprefix("tcp/"), 6000 + number))
            answer = _greet(probe, cookies)
    except (OSError, EOFError) as error:
        return f"{named}: {getattr(error, 'strerror', None) or error}"
    return answer and f"{named}: {answer}"


def _greet_local(number: int, cookies: list[bytes]) -> str | None:
    path = f"/tmp/.X11-unix/X{number}"  # noqa: S108 - where every X server listens
    try:
        return _greet(_open_local("\0" + path), cookies)
    except OSError:
        return _greet(_open_local(path), cookies)


def _open_local(address: str) -> socket.socket:
    probe = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    try:
        probe.settimeout(_TIMEOUT_S)
        probe.connect(address)
    except OSError:
        probe.close()
        raise
    return probe


def _greet(probe: socket.socket, cookies: list[bytes]) -> str | None:
    """Open an X connection as libX11 would, with each of the cookies; the server's refusal or None.

    Connection setup of the X protocol 11.0: byte order, version, authorization name and data; the answer starts with
    0 (failed, byte 1 holds the length of the reason at byte 8), 1 (success) or 2 (authenticate further).
    """
    name = b"MIT-MAGIC-COOKIE-1" if cookies else b""
    peer = probe.getpeername()
    answer = b""
    for attempt, cookie in enumerate(cookies or [b""]):
        if attempt:
            probe = _open_internet(peer) if isinstance(peer, tuple) else _open_local(_text(peer))
        with closing(probe):
            head = struct.pack("<BxHHHHxx", ord("l"), 11, 0, len(name), len(cookie))
            probe.sendall(head + _padded(name) + _padded(cookie))
            answer = _receive(probe, 8)
            if answer[0] == 1:
                depth = _depth(_receive(probe, struct.unpack_from("<H", answer, 6)[0] * 4))
                return None if depth is None or depth >= _LEAST_DEPTH else f"{depth}-bit colours"
            answer += probe.recv(answer[1])
    return answer[8:].decode(errors="replace").strip() or "authorization"


def _depth(setup: bytes) -> int | None:
    """Bits of colour of the first screen's root window; None for an answer that is cut short.

    X protocol 11.0, connection setup after its first 8 bytes: the length of the vendor's name at 16, the number of
    formats at 21, from 32 on the name (padded to 4), 8 bytes for each format, the screens; a screen has its root depth
    at 38.
    """
    try:
        vendor = int.from_bytes(setup[16:18], "little")
        return setup[32 + (vendor + 3) // 4 * 4 + 8 * setup[21] + 38]
    except IndexError:
        return None


def _open_internet(address: tuple[str, int]) -> socket.socket:
    return socket.create_connection(address[:2], timeout=_TIMEOUT_S)


def _cookies(number: int, path: Path) -> list[bytes]:
    """The cookies in an Xauthority file for a display number, whatever host they are for.

    Entries are family (2 bytes), then address, number, name and data, each with a 2-byte big-endian length.
    """
    try:
        content = read_start(path, _MOST_BYTES)
    except OSError:
        return []
    found, at = [], 0
    try:
        while at < len(content):
            at += 2
            fields = []
            for _field in range(4):
                (length,) = struct.unpack_from(">H", content, at)
                fields.append(content[at + 2 : at + 2 + length])
                at += 2 + length
            if fields[1] in (b"", str(number).encode()) and fields[2] == b"MIT-MAGIC-COOKIE-1":
                found.append(fields[3])
    except struct.error:
        pass
    return found


def _receive(probe: socket.socket, size: int) -> bytes:
    data = b""
    while len(data) < size:
        part = probe.recv(size - len(data))
        if not part:
            raise EOFError("connection closed")
        data += part
    return data


def _padded(data: bytes) -> bytes:
    return data + bytes(-len(data) % 4)


def _text(address: str | bytes) -> str:
    return address if isinstance(address, str) else address.decode()


def _connect_local(path: str, named: str) -> str | None:
    try:
        _open_local(path).close()
    except OSError as error:
        return f"{named}: {error.strerror or error}"
    return None
