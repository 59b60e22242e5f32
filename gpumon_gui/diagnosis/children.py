"""Knows: how a foreign program is run without harm: bounded time, output and memory, no process of it left.
Must not know: which program, and what its output means.

POSIX: a session of its own, whose group is killed; on Linux whatever left the group is found by a mark in its
environment. Windows: a job, which the process joins before its first instruction.
"""

from __future__ import annotations

import ctypes
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from threading import Event
from typing import IO, Any

from gpumon_gui.core.windows_job import Job
from gpumon_gui.diagnosis.child_memory import bound_bytes, taken_bytes
from gpumon_gui.diagnosis.gateway import Failure, Ran
from gpumon_gui.diagnosis.orphans import MARK, end_orphans, marked, new_mark

_FIRST_WAIT_S, _LONGEST_WAIT_S = 0.002, 0.05
#: Between two looks at the memory it takes.
_LOOK_S = 0.2
#: For the readers, once all processes are dead; a process that cannot die (a driver holds it) keeps its pipe.
_DRAIN_S = 2.0
_CHUNK = 65536
_CREATE_SUSPENDED = 0x4  # winbase.h

_starting = threading.Lock()


@dataclass(frozen=True, slots=True)
class Own:
    """What this program put into its own environment: ``bundle`` is the folder of a frozen build, ``prefixes`` the
    Python installation it runs in, ``code`` the folder its own modules are imported from."""

    bundle: str | None = None
    prefixes: tuple[str, ...] = ()
    code: str | None = None


def own() -> Own:
    """The facts about this very process."""
    bundle = getattr(sys, "_MEIPASS", None)
    code = None if bundle else str(Path(__file__).resolve().parents[2])
    return Own(bundle, (sys.prefix, sys.base_prefix), code)


def users_variables(environ: Mapping[str, str], mine: Own) -> dict[str, str]:
    """The variables as the user has them.

    A frozen program runs with its own folder on LD_LIBRARY_PATH (the old value is kept in LD_LIBRARY_PATH_ORIG) and
    on PATH, and with variables of the packer; a child that inherited them would load our libraries instead of its own.
    PYTHONHOME and entries of PYTHONPATH that point into our own Python or code are ours too.
    """
    variables = dict(environ)
    if mine.bundle is not None:
        for name in ("LD_LIBRARY_PATH", "DYLD_LIBRARY_PATH", "LIBPATH"):
            original = variables.pop(f"{name}_ORIG", None)
            if original is not None:
                variables[name] = original
            elif _within(variables.get(name, ""), mine.bundle):
                del variables[name]
        for name in [key for key in variables if key.upper().startswith(("_MEI", "_PYI", "PYINSTALLER_"))]:
            del variables[name]
        for name, value in list(variables.items()):
            if mine.bundle.casefold() in value.casefold():
                kept = [part for part in value.split(os.pathsep) if not _within(part, mine.bundle)]
                variables[name] = os.pathsep.join(kept)
                if not kept:
                    del variables[name]
    variables.pop("__PYVENV_LAUNCHER__", None)  # a Windows venv's way to tell the base interpreter who it is
    if variables.get("PYTHONHOME") in mine.prefixes:
        del variables["PYTHONHOME"]
    if "PYTHONPATH" in variables:
        roots = [root for root in (mine.code, *mine.prefixes) if root]
        entries = variables["PYTHONPATH"].split(os.pathsep)
        kept = [part for part in entries if not any(_within(part, root) for root in roots)]
        variables["PYTHONPATH"] = os.pathsep.join(kept)
        if not any(kept):
            del variables["PYTHONPATH"]
    return variables


def _within(path: str, root: str) -> bool:
    if not path:
        return False
    full, folder = _comparable(path), _comparable(root)
    return full == folder or full.startswith(folder.rstrip("/\\") + os.sep)


def _comparable(path: str) -> str:
    """An entry of a variable may be relative or differ in case; no link is followed."""
    return os.path.normcase(os.path.abspath(path))  # noqa: PTH100


class _Kept:
    """The first and the last bytes of a stream."""

    def __init__(self, limit: int) -> None:
        self._half = max(1, limit // 2)
        self._head = bytearray()
        self._tail = bytearray()
        self.dropped = 0

    def take(self, data: bytes) -> None:
        room = self._half - len(self._head)
        if room > 0:
            self._head += data[:room]
            data = data[room:]
        self._tail += data
        extra = len(self._tail) - self._half
        if extra > 0:
            del self._tail[:extra]
            self.dropped += extra

    def data(self) -> bytes:
        gap = b"\n[... %d bytes left out ...]\n" % self.dropped if self.dropped else b""
        return bytes(self._head) + gap + bytes(self._tail)


def run_child(
    words: Sequence[str],
    variables: Mapping[str, str],
    *,
    timeout_s: float,
    limit_bytes: int,
    given: bytes = b"",
    cwd: str | None = None,
    cancel: Event | None = None,
    frozen: bool = False,
) -> Ran:
    """Run to the end, the time-out, the cancelling, or until it takes too much memory. Nothing it started lives on
    but what left both its group and its variables. Never raises for the program."""
    cancel = cancel or Event()
    if cancel.is_set():
        return Ran(None, failure=Failure.CANCELLED)
    end_orphans()
    begin = time.monotonic()
    memory_bytes = bound_bytes()
    mark = new_mark()
    try:
        process, job = _start(words, {**variables, MARK: mark}, cwd, frozen, bool(given))
    except FileNotFoundError as error:
        return Ran(None, failure=Failure.NOT_FOUND, detail=str(error))
    except PermissionError as error:
        return Ran(None, failure=Failure.NO_PERMISSION, detail=str(error))
    except (OSError, ValueError) as error:  # ValueError: a NUL in a word
        return Ran(None, failure=Failure.NOT_STARTED, detail=str(error))
    kept = (_Kept(limit_bytes), _Kept(limit_bytes))
    assert process.stdout is not None
    assert process.stderr is not None
    threads = [
        threading.Thread(target=_drain, args=(stream, keeper), name="gpumon-child-output", daemon=True)
        for stream, keeper in zip((process.stdout, process.stderr), kept, strict=True)
    ]
    if process.stdin is not None:
        threads.append(threading.Thread(target=_feed, args=(process.stdin, given), name="gpumon-child-in", daemon=True))
    for thread in threads:
        thread.start()
    failure = _wait(process, begin + timeout_s, memory_bytes, cancel)
    _end(process, job, mark)
    for thread in threads:
        thread.join(_DRAIN_S)
    code = None if failure else process.poll()
    return Ran(
        code,
        kept[0].data(),
        kept[1].data(),
        failure=failure,
        seconds=round(time.monotonic() - begin, 3),
        dropped_bytes=kept[0].dropped + kept[1].dropped,
    )


def _wait(process: subprocess.Popen[bytes], end_s: float, memory_bytes: int | None, cancel: Event) -> Failure | None:
    pause_s = _FIRST_WAIT_S
    look_s = time.monotonic() + _LOOK_S
    while process.poll() is None:
        now_s = time.monotonic()
        left_s = end_s - now_s
        if left_s <= 0:
            return Failure.TIMED_OUT
        if memory_bytes is not None and now_s >= look_s:
            look_s = now_s + _LOOK_S
            if taken_bytes(process.pid) > memory_bytes:
                return Failure.TOO_MUCH_MEMORY
        if cancel.wait(min(pause_s, left_s)):
            return Failure.CANCELLED
        pause_s = min(pause_s * 2, _LONGEST_WAIT_S)
    return None


def _start(
    words: Sequence[str], variables: Mapping[str, str], cwd: str | None, frozen: bool, feeds: bool
) -> tuple[subprocess.Popen[bytes], Job | None]:
    options: dict[str, Any] = {
        "stdin": subprocess.PIPE if feeds else subprocess.DEVNULL,
        "stdout": subprocess.PIPE,
        "stderr": subprocess.PIPE,
        "env": dict(variables),
        "cwd": cwd,
    }
    if sys.platform == "win32":
        # Suspended: nothing may be started before the job knows the process.
        flags = subprocess.CREATE_NO_WINDOW | _CREATE_SUSPENDED
        kernel32 = ctypes.WinDLL("kernel32")
        job = Job()
        try:
            with _starting:
                if frozen:
                    kernel32.SetDllDirectoryW(None)  # children inherit it, and would load our DLLs
                try:
                    process = subprocess.Popen(words, creationflags=flags, **options)
                finally:
                    if frozen:
                        kernel32.SetDllDirectoryW(getattr(sys, "_MEIPASS", None))
            handle = int(process.__dict__["_handle"])
            try:
                job.take(handle)
            finally:
                ctypes.WinDLL("ntdll").NtResumeProcess(ctypes.c_void_p(handle))
        except OSError:
            job.end()
            raise
        return process, job
    return subprocess.Popen(words, start_new_session=True, **options), None


def _end(process: subprocess.Popen[bytes], job: Job | None, mark: str) -> None:
    """Kill whatever is left of the tree, the process itself included."""
    if job is not None:
        job.end()
    elif sys.platform != "win32":
        with suppress(ProcessLookupError, PermissionError):  # all gone; macOS says "no permission" for zombies
            os.killpg(process.pid, signal.SIGKILL)
        for _ in range(5):  # one that forks faster than we look is met again
            left = marked(mark)
            if not left:
                break
            for pid in left:
                try:
                    os.kill(pid, signal.SIGKILL)
                except OSError:
                    continue
    with suppress(subprocess.TimeoutExpired):  # held in the kernel by a driver: it ends when the driver lets it go
        process.wait(_DRAIN_S)


def _drain(stream: IO[bytes], kept: _Kept) -> None:
    """Thread: read on even when nothing is kept, so that the child never waits for us."""
    fd = stream.fileno()
    with stream:
        while True:
            try:
                data = os.read(fd, _CHUNK)
            except OSError:
                break
            if not data:
                break
            kept.take(data)


def _feed(stream: IO[bytes], given: bytes) -> None:
    """Thread: standard input; a child that does not read it is no fault."""
    with suppress(OSError), stream:
        stream.write(given)
