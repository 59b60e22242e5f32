"""Knows: the windows on the screen of a session, from inside it. Must not know: whose windows they are.

For Windows Python; only the standard library.
"""

from __future__ import annotations

import ctypes
import os
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

import picture

_user32 = ctypes.WinDLL("user32", use_last_error=True)  # type: ignore[attr-defined,unused-ignore]
_kernel32 = ctypes.WinDLL("kernel32", use_last_error=True)  # type: ignore[attr-defined,unused-ignore]
_EACH = ctypes.WINFUNCTYPE(ctypes.c_int, ctypes.c_void_p, ctypes.c_ssize_t)  # type: ignore[attr-defined,unused-ignore]
_WM_CLOSE = 0x10
_QUERY = 0x1000  # PROCESS_QUERY_LIMITED_INFORMATION
_DETACHED_PROCESS = 0x8
_OF_THE_DESKTOP = ("explorer.exe", "conhost.exe")
for _function in (_user32.IsWindowVisible, _user32.GetWindowThreadProcessId, _user32.GetWindowRect):
    _function.argtypes = [ctypes.c_void_p, ctypes.c_void_p][: 1 if _function is _user32.IsWindowVisible else 2]
_user32.PostMessageW.argtypes = [ctypes.c_void_p, ctypes.c_uint, ctypes.c_size_t, ctypes.c_ssize_t]
_user32.GetWindowTextW.argtypes = [ctypes.c_void_p, ctypes.c_wchar_p, ctypes.c_int]
_user32.GetClassNameW.argtypes = [ctypes.c_void_p, ctypes.c_wchar_p, ctypes.c_int]
_user32.EnumWindows.argtypes = [_EACH, ctypes.c_ssize_t]
_kernel32.OpenProcess.restype = ctypes.c_void_p
_kernel32.CloseHandle.argtypes = [ctypes.c_void_p]
_kernel32.QueryFullProcessImageNameW.argtypes = [ctypes.c_void_p, ctypes.c_uint32, ctypes.c_wchar_p, ctypes.c_void_p]


@dataclass(frozen=True)
class Window:
    """A visible top-level window."""

    handle: int
    process: int
    title: str
    kind: str  #: the window class
    width: int
    height: int

    def close(self) -> None:
        """As a click on its X does."""
        _user32.PostMessageW(self.handle, _WM_CLOSE, 0, 0)


def windows() -> list[Window]:
    """Those of all programs but the desktop itself and this one."""
    found: list[Window] = []

    def look(handle: int, _more: int) -> int:
        process = ctypes.c_uint32()
        area = (ctypes.c_int32 * 4)()
        if not _user32.IsWindowVisible(handle):
            return 1
        _user32.GetWindowThreadProcessId(handle, ctypes.byref(process))
        _user32.GetWindowRect(handle, ctypes.byref(area))
        width, height = area[2] - area[0], area[3] - area[1]
        if process.value != os.getpid() and width > 0 and height > 0 and program(process.value) not in _OF_THE_DESKTOP:
            title, kind = ctypes.create_unicode_buffer(512), ctypes.create_unicode_buffer(256)
            _user32.GetWindowTextW(handle, title, 512)
            _user32.GetClassNameW(handle, kind, 256)
            found.append(Window(handle, process.value, title.value, kind.value, width, height))
        return 1

    _user32.EnumWindows(_EACH(look), 0)
    return found


def program(process: int) -> str:
    """The file name of a process's program, in small letters; empty when it has gone."""
    handle = _kernel32.OpenProcess(_QUERY, 0, process)
    if not handle:
        return ""
    path, size = ctypes.create_unicode_buffer(1024), ctypes.c_uint32(1024)
    known = _kernel32.QueryFullProcessImageNameW(handle, 0, path, ctypes.byref(size))
    _kernel32.CloseHandle(handle)
    return path.value.rpartition("\\")[2].lower() if known else ""


def start(words: Sequence[str], *, detached: bool = False) -> subprocess.Popen[bytes]:
    """Start a program; ``detached`` as Explorer does: without console and standard handles."""
    if detached:
        return subprocess.Popen(words, creationflags=_DETACHED_PROCESS, close_fds=True)
    # Said in full: otherwise a windowed program gets none of them.
    return subprocess.Popen(words, stdin=subprocess.DEVNULL, stdout=sys.stdout, stderr=sys.stderr)


def wait_for(what: Callable[[], object], seconds: float) -> bool:
    """Whether it comes true in that time."""
    pause = threading.Event()
    end = time.monotonic() + seconds
    while not what():
        if time.monotonic() > end:
            return False
        pause.wait(0.05)
    return True


def photograph(file: Path) -> int:
    """Write a picture of the screen; the number of its colours."""
    return picture.write_png(Path(os.environ["LAB_SCREEN"]), file)
