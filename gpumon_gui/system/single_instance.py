"""Knows: how a second start finds the first one of the same user and session, and asks it. Must not know: Qt, what the
first one does.

A lock that the system lets go of when its process ends, however it ends, says who is first: ``flock`` on Linux, a
named mutex of the session on Windows. The first one then listens (``bridge.single_instance``) at a Unix socket or a
named pipe; a socket that a killed process left behind means nothing without its lock.
"""

from __future__ import annotations

import contextlib
import ctypes
import importlib
import json
import os
import re
import socket
import stat
import sys
import tempfile
import threading
import time
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

#: A request is one line of JSON, at most so long; the answer is this line.
MOST_BYTES = 4096
ANSWER = b"ok\n"
#: How long the first one gets to answer: it may be starting itself.
PATIENCE_S = 5.0
_STEP_S = 0.05
_IS_WINDOWS = sys.platform.startswith("win")  # not compared as type checkers do: both halves are checked everywhere
_ALREADY_EXISTS = 183  # ERROR_ALREADY_EXISTS
_ACCESS_DENIED = 5
_FOR_ANYBODY = -1  # ASFW_ANY
#: Qt platforms whose windows nobody sees; such a start neither asks nor is asked.
_UNSEEN = ("offscreen", "minimal", "vnc", "linuxfb", "eglfs")


@dataclass(frozen=True, slots=True)
class Place:
    """Where the first one of a user and session is found. ``lock`` is a file or the name of a mutex, ``address`` what
    a QLocalServer listens to."""

    lock: str
    address: str


@dataclass(frozen=True, slots=True)
class Request:
    """What a second start wants. ``show``: the window in front (not when it was started for the tray); ``page``: on
    this page; ``activation``: the token by which a Wayland desktop lets a window come to the front; ``watch``: the
    process to watch, 0 for none."""

    show: bool = True
    page: str = ""
    activation: str = ""
    watch: int = 0

    def encoded(self) -> bytes:
        """One line."""
        return json.dumps(asdict(self)).encode() + b"\n"


_FIELDS = {"show": bool, "page": str, "activation": str, "watch": int}


def decoded(line: bytes) -> Request | None:
    """The request in a line; None for anything else."""
    try:
        found = json.loads(line.decode())
    except (ValueError, RecursionError):
        return None
    if not isinstance(found, dict) or {name: type(value) for name, value in found.items()} != _FIELDS:
        return None
    return Request(**found)


class Claim:
    """Being the first. Held until :meth:`close` or the end of the process."""

    def __init__(self, place: Place, handle: int) -> None:
        self.place = place
        self._handle: int | None = handle

    def close(self) -> None:
        """Let the next one be first."""
        handle, self._handle = self._handle, None
        if handle is None:
            return
        if _IS_WINDOWS:
            _kernel32().CloseHandle(handle)
        else:
            os.close(handle)


def find_place(environ: Mapping[str, str] = os.environ) -> Place | None:
    """Where this user's first one in this session would be; None where there is no session or no safe place."""
    if environ.get("QT_QPA_PLATFORM", "").split(";")[0].split(":")[0] in _UNSEEN:
        return None
    if _IS_WINDOWS:
        return _windows_place()
    display = environ.get("WAYLAND_DISPLAY") or re.sub(r"(:\d+)\.\d+$", r"\1", environ.get("DISPLAY", ""))
    folder = _own_folder(environ)
    if not display or folder is None:
        return None
    name = "gpumon-" + re.sub(r"[^\w.-]", "_", display, flags=re.ASCII)
    return Place(str(folder / f"{name}.lock"), str(folder / f"{name}.socket"))


def claim(place: Place) -> Claim | None:
    """Become the first; None when somebody is. Raises OSError when that cannot be found out."""
    return _claim_mutex(place) if _IS_WINDOWS else _claim_file(place)


def ask_first(place: Place, request: Request, patience_s: float = PATIENCE_S) -> bool:
    """Send a request to the first one; whether it answered in that time."""
    line = request.encoded()
    if len(line) > MOST_BYTES:
        return False
    if not _IS_WINDOWS:
        return _ask_socket(place.address, line, patience_s)
    # Windows lets a window come to the front when the program that the user just started allows it.
    user32: Any = ctypes.WinDLL("user32")  # type: ignore[attr-defined,unused-ignore]
    user32.AllowSetForegroundWindow(_FOR_ANYBODY)
    answers: list[bool] = []
    asking = threading.Thread(target=_ask_pipe, args=(place.address, line, patience_s, answers), daemon=True)
    asking.start()
    asking.join(patience_s)  # reading from a pipe knows no time limit
    return bool(answers)


# -- Linux


def _own_folder(environ: Mapping[str, str]) -> Path | None:
    """A folder that only this user can write to: that of the login, else one of ours in the temporary folder."""
    login = environ.get("XDG_RUNTIME_DIR", "")
    if login.startswith("/") and _is_own(Path(login)):
        return Path(login)
    ours = Path(tempfile.gettempdir()) / f"gpumon-{os.geteuid()}"
    with contextlib.suppress(FileExistsError):
        try:
            ours.mkdir(mode=0o700)
        except FileExistsError:
            raise
        except OSError:
            return None
    return ours if _is_own(ours) else None


def _is_own(folder: Path) -> bool:
    try:
        found = folder.lstat()
    except OSError:
        return False
    return stat.S_ISDIR(found.st_mode) and found.st_uid == os.geteuid() and not found.st_mode & 0o022


def _claim_file(place: Place) -> Claim | None:
    fcntl: Any = importlib.import_module("fcntl")  # by name: there is none on Windows
    handle = os.open(place.lock, os.O_RDWR | os.O_CREAT | getattr(os, "O_NOFOLLOW", 0), 0o600)
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        os.close(handle)
        return None
    except OSError:
        os.close(handle)
        raise
    return Claim(place, handle)


def _ask_socket(address: str, line: bytes, patience_s: float) -> bool:
    end_s = time.monotonic() + patience_s
    pause = threading.Event()
    while (left_s := end_s - time.monotonic()) > 0:
        try:
            with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as asking:
                asking.settimeout(left_s)
                asking.connect(address)
                asking.sendall(line)
                answer = b""
                while not answer.endswith(b"\n") and (more := asking.recv(64)):
                    answer += more
                return answer == ANSWER
        except TimeoutError:
            return False
        except OSError:  # not there yet, or left behind by a killed one
            pause.wait(_STEP_S)
    return False


# -- Windows


def _kernel32() -> Any:
    library = ctypes.WinDLL("kernel32", use_last_error=True)  # type: ignore[attr-defined,unused-ignore]
    library.CreateMutexW.restype = ctypes.c_void_p
    library.CreateMutexW.argtypes = [ctypes.c_void_p, ctypes.c_int, ctypes.c_wchar_p]
    library.CloseHandle.argtypes = [ctypes.c_void_p]
    return library


def _windows_place() -> Place | None:
    """Both names hold session and user: pipes are seen by all of them, mutexes by all users of a session."""
    library = _kernel32()
    session = ctypes.c_uint32()
    if not library.ProcessIdToSessionId(os.getpid(), ctypes.byref(session)):
        return None
    name, size = ctypes.create_unicode_buffer(257), ctypes.c_uint32(257)  # UNLEN + 1
    advapi32: Any = ctypes.WinDLL("advapi32")  # type: ignore[attr-defined,unused-ignore]
    if not advapi32.GetUserNameW(name, ctypes.byref(size)):
        return None
    ours = re.sub(r"[\\/:]", "_", f"GPUMon.{session.value}.{name.value}")
    return Place(f"Local\\{ours}", ours)


def _claim_mutex(place: Place) -> Claim | None:
    library = _kernel32()
    handle = library.CreateMutexW(None, 0, place.lock)
    error = ctypes.get_last_error()  # type: ignore[attr-defined,unused-ignore]
    if handle and error != _ALREADY_EXISTS:
        return Claim(place, handle)
    if handle:
        library.CloseHandle(handle)
    elif error != _ACCESS_DENIED:  # denied: it belongs to one that runs with more rights
        raise OSError(error, "CreateMutexW")
    return None


def _ask_pipe(name: str, line: bytes, patience_s: float, answers: list[bool]) -> None:
    end_s = time.monotonic() + patience_s
    pause = threading.Event()
    while time.monotonic() < end_s:
        try:
            with open(rf"\\.\pipe\{name}", "r+b", buffering=0) as asking:  # noqa: PTH123 - no file
                asking.write(line)
                if asking.read(len(ANSWER)) == ANSWER:
                    answers.append(True)
            return
        except OSError:  # not there yet, or busy
            pause.wait(_STEP_S)
