"""Knows: the standard streams, any of which may be closed, full or gone. Must not know: what is written to them."""

from __future__ import annotations

import contextlib
import errno
import os
import sys
from typing import TextIO

from gpumon_gui.core.errors import OutputFailed
from gpumon_gui.core.files import strerror
from gpumon_gui.core.messages import _

_STREAMS = (("stdin", "r"), ("stdout", "w"), ("stderr", "w"))


def provide(*, is_windowed: bool = False) -> None:
    """Put the null device in place of every standard stream that is closed. Call before anything is opened.

    Otherwise the next file or pipe would get the stream's number: whatever a library prints would go into it, and a
    child could not inherit it. ``is_windowed``: on Windows a program without a console is started like that, and shows
    its lines in a box (``sys.stderr`` stays None).
    """
    if os.name == "posix":
        for fd in range(3):
            try:
                os.fstat(fd)
            except OSError:
                null = os.open(os.devnull, os.O_RDWR)
                if null != fd:
                    os.dup2(null, fd)
                    os.close(null)
                os.set_inheritable(fd, True)
    elif is_windowed:
        return
    for name, mode in _STREAMS:
        if getattr(sys, name) is None:
            setattr(sys, name, open(os.devnull, mode, encoding="utf-8"))  # noqa: SIM115, PTH123 - stays to the end


def put(text: str) -> None:
    """The output of a command, with a line end. Raises OutputFailed, and BrokenPipeError when nobody reads on."""
    try:
        if os.name == "posix" and getattr(sys.stdout, "name", "") == os.devnull:  # see ``provide``
            raise OSError(errno.EBADF, os.strerror(errno.EBADF))
        print(text, flush=True)  # noqa: T201
    except BrokenPipeError:
        raise
    except OSError as error:
        if os.name == "nt" and error.errno == errno.EINVAL:  # so Windows calls a pipe that nobody reads
            raise BrokenPipeError from error
        abandon(sys.stdout)
        raise OutputFailed(_("the output cannot be written ({detail}).").format(detail=strerror(error))) from error


def say(line: str, end: str = "\n") -> None:
    """A line for the person, on standard error. One that cannot be written is lost: the work goes on."""
    try:
        print(f"{line}{end}", end="", file=sys.stderr, flush=True)  # noqa: T201 - at once: threads say something too
    except (OSError, ValueError):
        abandon(sys.stderr)


def abandon(stream: TextIO) -> None:
    """Write no more to a stream: what it still holds would fail once more at the end of the program."""
    with contextlib.suppress(OSError, ValueError):
        fd = stream.fileno()
        null = os.open(os.devnull, os.O_WRONLY)
        os.dup2(null, fd)
        os.close(null)


def attach() -> bool:
    """On Windows give a program without a console the one it was started from, so that its lines can be read there;
    whether there is one. Only for a program about to end: a console that is closed ends all who are attached."""
    if os.name != "nt" or sys.stderr is not None:
        return sys.stderr is not None
    import ctypes  # only here: a windowed program on Windows

    kernel32 = ctypes.WinDLL("kernel32")  # type: ignore[attr-defined,unused-ignore]
    if not kernel32.AttachConsole(-1):  # ATTACH_PARENT_PROCESS: refused when that one has none
        return False
    for name in ("stdout", "stderr"):
        if getattr(sys, name) is None:
            try:
                setattr(sys, name, open("CONOUT$", "w", encoding="utf-8", buffering=1))  # noqa: SIM115, PTH123
            except OSError:
                return False
    print(file=sys.stdout, flush=True)  # noqa: T201 - the shell's prompt stands in the line already
    return True
