"""Knows: what a GPUMon that was itself killed has left: foreign programs that still run, folders with their answers.
Must not know: how programs are started.

Our own scripts end with their parent; an interpreter that is none (a wrapper, a shell script) does not have to. What
was started bears a mark that names who started it, so the next GPUMon knows what nobody waits for any more.
"""

from __future__ import annotations

import os
import shutil
import signal
import sys
import tempfile
from collections.abc import Iterator
from contextlib import suppress
from functools import cache
from pathlib import Path

MARK = "GPUMON_CHILD"


def new_mark() -> str:
    """The value of :data:`MARK` for one program that this process starts."""
    return f"{os.getpid()}-{_born_of('self')}-{os.urandom(8).hex()}"


def folder_prefix() -> str:
    """How temporary folders of this process begin. Containers can share the place: numbers mean something in one
    namespace only."""
    return f"gpumon-{_namespace('self')}-{os.getpid()}-"


def marked(mark: str) -> list[int]:
    """Processes (not zombies) with that mark in their environment; empty where there is no /proc."""
    return [pid for pid, found in _marks() if found == mark]


@cache
def end_orphans() -> None:
    """Kill and remove what is left of processes that are gone, as far as this user may. Once in a process; in any
    thread, and in two at once it does no harm."""
    if not sys.platform.startswith("linux"):
        return  # on Windows a job ends what was started
    here = _namespace("self")
    for pid, mark in _marks():
        if pid == os.getpid():  # started by what an orphan started
            continue
        owner, _, rest = mark.partition("-")
        born = rest.partition("-")[0]
        if not here or _namespace(str(pid)) != here:
            continue  # the number of its owner is one of another namespace
        if owner.isdecimal() and born.isdecimal() and _is_gone(owner, born):
            with suppress(OSError):
                os.kill(pid, signal.SIGKILL)
    try:
        folders = list(Path(tempfile.gettempdir()).glob(f"gpumon-{here or '?'}-*-*"))
    except OSError:  # a full disk has no place for temporary files
        return
    for folder in folders:
        owner = folder.name.split("-")[2]
        with suppress(OSError):  # others may put there, and take away, what they like
            if owner.isdecimal() and folder.stat().st_uid == os.getuid() and _is_gone(owner):
                shutil.rmtree(folder, ignore_errors=True)


def _marks() -> Iterator[tuple[int, str]]:
    wanted = f"{MARK}=".encode()
    with suppress(OSError):
        for entry in Path("/proc").iterdir():
            if not entry.name.isdecimal():
                continue
            try:
                environ = (entry / "environ").read_bytes()  # empty for a zombie
            except OSError:
                continue
            if wanted in environ:
                for variable in environ.split(b"\0"):
                    if variable.startswith(wanted):
                        yield int(entry.name), variable.removeprefix(wanted).decode("ascii", "replace")


def _namespace(pid: str) -> str:
    """The number of a process's pid namespace. Empty: unknown."""
    try:
        return "".join(letter for letter in str(Path(f"/proc/{pid}/ns/pid").readlink()) if letter.isdecimal())
    except OSError:
        return ""


def _is_gone(pid: str, born: str = "") -> bool:
    """Whether there is no such process, or only a younger one with its number. What cannot be looked at (another
    user's, too many open files) is there."""
    try:
        os.kill(int(pid), 0)  # signal 0 only asks
    except ProcessLookupError:
        return True
    except (OSError, OverflowError):
        pass
    found = _born_of(pid)
    return "" not in (found, born) and found != born


def _born_of(pid: str) -> str:
    """When a process was started, in the kernel's ticks; it pins the number to this very process. Empty: unknown."""
    try:
        return Path(f"/proc/{pid}/stat").read_text(encoding="utf-8", errors="replace").rpartition(")")[2].split()[19]
    except (OSError, IndexError):
        return ""
