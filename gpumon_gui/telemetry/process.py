"""Knows: one sampler process from outside: start, messages, end. Must not know: when to restart it, what is shown.

Made and used by one thread that stays as long as the process shall (Linux ends the sampler with the *thread* that
started it); only :meth:`SamplerProcess.poke` may be called from another. A thread of its own turns the pipe into
messages; of frames only the newest is kept, and a sampler that floods is slowed by the full pipe.
"""

from __future__ import annotations

import contextlib
import logging
import os
import signal
import subprocess
import sys
import threading
import time
from collections import deque
from collections.abc import Mapping
from enum import StrEnum
from pathlib import Path
from typing import IO

from gpumon_gui.core.boot import VARIABLE as BOOT
from gpumon_gui.core.boot import boot_first
from gpumon_gui.core.model import Demand
from gpumon_gui.telemetry import winjob, wire
from gpumon_gui.telemetry.blackbox import Blackbox, Pulse
from gpumon_gui.telemetry.wire import Damaged, Ended, Message

_log = logging.getLogger("gpumon.sampler")

_CHUNK = 1 << 14
_TAIL_BYTES = 8000
_MAX_WAITING = 64  # messages besides frames; a sampler sends a handful in its life
# Frames that come faster than 200 a second or 4 MB a second (after a burst of 0.1 s) wait in the pipe: taking a large
# one apart costs 20 ms, and a flood must not take the CPU from the window.
_FRAME_S = 0.005
_BYTE_S = 1 / 4_000_000
_BURST_S = 0.1
_LONGEST_PAUSE_S = 0.25  # the messages behind are late by no more
_UNHEARD_DEMANDS = 16  # a sampler that does not read gets no more: a full pipe would block us
_LAST_WAIT_S = 1.0

# What ends a Windows process, winnt.h / ntstatus.h.
_NT_STATUS = {
    0xC0000005: "access violation",
    0xC0000017: "no memory",
    0xC000001D: "illegal instruction",
    0xC00000FD: "stack overflow",
    0xC0000142: "DLL initialisation failed",
    0xC0000374: "heap corruption",
    0xC0000409: "stack buffer overrun",
}


class StopOutcome(StrEnum):
    """How a sampler ended."""

    ENDED = "ended"  #: by itself
    TERMINATED = "terminated"
    KILLED = "killed"
    STUCK = "stuck"  #: killed, yet still there: a call in the kernel does not return


def sampler_command() -> tuple[str, ...]:
    """How this program starts its sampler."""
    if getattr(sys, "frozen", False):
        return (sys.executable, "--sampler-child")
    # -P: a file named like one of our modules in the user's folder must not be imported instead of it.
    return (sys.executable, "-P", "-m", "gpumon_gui", "--sampler-child")


def sampler_environment(environment: Mapping[str, str], *, frozen: bool) -> dict[str, str]:
    """The sampler's environment. A frozen one must unpack and find its libraries by itself, as if started by hand."""
    clean = dict(environment)
    if frozen:
        for name in [name for name in clean if name.startswith(("_PYI_", "_MEIPASS"))]:
            del clean[name]
        clean["PYINSTALLER_RESET_ENVIRONMENT"] = "1"
        for name in ("LD_LIBRARY_PATH", "DYLD_LIBRARY_PATH"):  # PyInstaller keeps the user's own beside its
            own = clean.pop(f"{name}_ORIG", None)
            clean.pop(name, None)
            if own:
                clean[name] = own
        return clean
    checkout = Path(__file__).resolve().parents[2]
    if (checkout / "pyproject.toml").is_file():  # not installed: the sampler must find the package from any folder
        clean["PYTHONPATH"] = os.pathsep.join(filter(None, (str(checkout), clean.get("PYTHONPATH", ""))))
    return clean


def exit_text(code: int | None) -> str:
    """The technical word for how a process ended: ``SIGSEGV``, ``exit code 3``, ``0xc0000005 access violation``."""
    if code is None:
        return "closed its pipe"
    if code < 0:
        try:
            return signal.Signals(-code).name
        except ValueError:
            return f"signal {-code}"
    if code >= 0x80000000:
        return f"{code:#010x} {_NT_STATUS.get(code, '')}".rstrip()
    return f"exit code {code}"


class SamplerProcess:
    """A running sampler. Raises OSError when it cannot be started."""

    def __init__(
        self, skip: frozenset[str] = frozenset(), *, command: tuple[str, ...] = (), scenario: str | None = None
    ) -> None:
        arguments = [*(command or sampler_command()), "--parent", str(os.getpid())]
        if scenario is not None:
            arguments += ["--scenario", scenario]
        if skip:
            arguments += ["--skip", ",".join(sorted(skip))]
        environment = dict(os.environ)
        boot_utc_s = boot_first()
        if boot_utc_s is not None:  # the start of a process is the same one in every sampler
            environment[BOOT] = str(boot_utc_s)
        self._condition = threading.Condition()
        self._waiting: deque[Message] = deque(maxlen=_MAX_WAITING)
        self._frame: bytes | None = None
        self._ended: Ended | None = None
        self._is_poked = False
        self._is_closing = threading.Event()
        self._tail = bytearray()
        self._wanted: Demand | None = None
        self._unheard = 0
        self._beats_heard = -1
        self.frames_replaced = 0
        self._box = Blackbox.make()
        try:
            self._process = subprocess.Popen(
                [*arguments, "--box", self._box.address],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                bufsize=0,
                env=sampler_environment(environment, frozen=bool(getattr(sys, "frozen", False))),
                pass_fds=self._box.inherited_fds,
                creationflags=getattr(subprocess, "CREATE_NO_WINDOW", 0),
            )
        except BaseException:
            self._box.close()
            raise
        self._box.handed_over()
        if sys.platform == "win32":
            winjob.tie(int(self._process._handle))  # type: ignore[attr-defined]
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        assert self._process.stderr is not None
        self._stdin = self._process.stdin
        self._threads = (
            threading.Thread(target=self._read, args=(self._process.stdout,), name="gpumon-frames", daemon=True),
            threading.Thread(target=self._keep_tail, args=(self._process.stderr,), name="gpumon-stderr", daemon=True),
        )
        for thread in self._threads:
            thread.start()

    @property
    def pid(self) -> int:
        """The process id."""
        return self._process.pid

    def send(self, demand: Demand) -> None:
        """Ask for samples of this kind; the newest demand wins. Never blocks."""
        self._wanted = demand
        self._send_wanted()

    def receive(self, timeout_s: float) -> tuple[Message, ...]:
        """What came, the newest frame after all else, :class:`Ended` last. Waits up to ``timeout_s`` for something."""
        self._send_wanted()
        with self._condition:
            if not self._has_something():
                self._condition.wait(timeout_s)
            self._is_poked = False
            messages = list(self._waiting)
            self._waiting.clear()
            frame, self._frame = self._frame, None
            ended, self._ended = self._ended, None
        if frame is not None:
            messages.append(_parsed(wire.FRAME, frame))
        if ended is not None:
            messages.append(ended)
        return tuple(messages)

    def poke(self) -> None:
        """Let a :meth:`receive` that waits return. From any thread; never blocks."""
        with self._condition:
            self._is_poked = True
            self._condition.notify_all()

    def pulse(self) -> Pulse:
        """Signs of life and the source being read, also after the end."""
        return self._box.read()

    def exit_code(self) -> int | None:
        """None while it runs."""
        return self._process.poll()

    def tail(self) -> str:
        """The end of what it wrote to standard error."""
        return bytes(self._tail).decode("utf-8", "replace")

    def stop(self, timeout_s: float = 2.0) -> StopOutcome:
        """Ask, terminate, kill; returns after ``timeout_s`` in any case."""
        self._write(wire.stop())
        outcome = StopOutcome.ENDED
        if not self._waited(timeout_s / 2):
            outcome = StopOutcome.TERMINATED
            self._process.terminate()
            if not self._waited(timeout_s / 4):
                return self.kill(timeout_s / 4)
        self._let_go()
        return outcome

    def kill(self, timeout_s: float = 0.5) -> StopOutcome:
        """End it without asking; returns after ``timeout_s`` in any case."""
        if self._process.poll() is None:
            self._process.kill()
        is_over = self._waited(timeout_s)
        self._let_go()
        return StopOutcome.KILLED if is_over else StopOutcome.STUCK

    def _waited(self, timeout_s: float) -> bool:
        try:
            self._process.wait(timeout_s)
        except subprocess.TimeoutExpired:
            return False
        return True

    def _let_go(self) -> None:
        self._is_closing.set()
        self._box.close()
        with contextlib.suppress(OSError):
            self._stdin.close()
        if self._process.poll() is not None:  # else the threads wait for a pipe that a stuck process holds
            for thread in self._threads:
                thread.join(_LAST_WAIT_S)

    def _has_something(self) -> bool:
        return self._is_poked or bool(self._waiting) or self._frame is not None or self._ended is not None

    def _send_wanted(self) -> None:
        if self._wanted is None:
            return
        beats = self._box.read().beats
        if beats != self._beats_heard:
            self._beats_heard, self._unheard = beats, 0
        if self._unheard < _UNHEARD_DEMANDS:
            self._unheard += 1
            self._write(wire.demand(self._wanted))
            self._wanted = None

    def _write(self, data: bytes) -> None:
        with contextlib.suppress(OSError, ValueError):  # it is gone; the reading thread says so
            self._stdin.write(data)

    def _read(self, stdout: IO[bytes]) -> None:
        """Thread: the pipe into messages until it ends."""
        fd = stdout.fileno()
        splitter = wire.Splitter()
        paced_s = 0.0  # when the frames read so far would have come at the highest pace
        size = 0
        is_sound = True
        while True:
            try:
                data = os.read(fd, _CHUNK)
            except OSError:
                break
            if not data:
                break
            size += len(data)
            frames = self._take(splitter.feed(data)) if is_sound else 1
            if splitter.damage and is_sound:
                is_sound = False  # read on only so that the process does not block until it is ended
                self._post(Damaged(splitter.damage))
            if not frames:
                continue
            now_s = time.monotonic()
            paced_s = max(paced_s, now_s) + frames * _FRAME_S + size * _BYTE_S
            size = 0
            if paced_s - now_s > _BURST_S:
                paced_s = min(paced_s, now_s + _BURST_S + _LONGEST_PAUSE_S)
                self._is_closing.wait(paced_s - _BURST_S - now_s)
        stdout.close()
        self._waited(_LAST_WAIT_S)
        with self._condition:
            self._ended = Ended(self._process.poll())
            self._condition.notify_all()

    def _take(self, found: list[tuple[bytes, bytes]]) -> int:
        frames = 0
        for kind, body in found:
            if kind == wire.FRAME:
                frames += 1
                with self._condition:
                    self.frames_replaced += self._frame is not None
                    self._frame = body
                    self._condition.notify_all()
            else:
                self._post(_parsed(kind, body))
        return frames

    def _post(self, message: Message) -> None:
        with self._condition:
            self._waiting.append(message)
            self._condition.notify_all()

    def _keep_tail(self, stderr: IO[bytes]) -> None:
        """Thread: the end of standard error."""
        fd = stderr.fileno()
        while True:
            try:
                data = os.read(fd, 4096)
            except OSError:
                break
            if not data:
                break
            self._tail += data
            del self._tail[:-_TAIL_BYTES]
        stderr.close()


def _parsed(kind: bytes, body: bytes) -> Message:
    try:
        return wire.parse(kind, body)
    except wire.DamagedStream as error:
        return Damaged(str(error))
