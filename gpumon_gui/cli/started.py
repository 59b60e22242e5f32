"""Knows: how the user's own program is started, gets the signals and ends. Must not know: what is seen of it.

It has our terminal: standard input and output are inherited untouched, and Ctrl+C reaches it from the terminal like
us. It is not ended when we are: it is the user's program, not a helper of ours.
"""

from __future__ import annotations

import contextlib
import os
import shutil
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from types import FrameType

import psutil

from gpumon_gui.cli.sampling import say
from gpumon_gui.core.errors import GpumonError
from gpumon_gui.core.files import printable, strerror
from gpumon_gui.core.messages import _
from gpumon_gui.diagnosis.children import own, users_variables

#: Asked so often to end, a person means it.
_IMPATIENT = 3


class Started:
    """A program started by us. ``quiet_stdout``: what it prints goes to standard error, since standard output is for
    our document. Raises GpumonError when it cannot be started."""

    is_ours = True

    def __init__(self, words: Sequence[str], *, quiet_stdout: bool = False) -> None:
        self._words = tuple(words)
        try:
            variables = users_variables(os.environ, own())
            with _own_libraries_hidden():
                self._process = subprocess.Popen(
                    _resolved(self._words, variables), env=variables, stdout=2 if quiet_stdout else None
                )
        except (OSError, ValueError) as error:
            message = _("{program}: cannot be started ({detail}).")
            raise GpumonError(message.format(program=printable(self._words[0]), detail=strerror(error))) from error
        self.pid = self._process.pid
        self.started_utc_s = _started(self.pid)
        self._asked = 0

    @property
    def name(self) -> str:
        """``python (pid 4711)``, to speak of it."""
        details = _("pid {pid}").format(pid=self.pid)
        return _("{name} ({details})").format(name=printable(Path(self._words[0]).name), details=details)

    @property
    def exit_code(self) -> int | None:
        """Its exit code, negative for a signal; None while it runs."""
        return self._process.poll()

    def ended(self) -> bool:
        """Whether it came to its end; what it started may go on."""
        return self.exit_code is not None

    def wait(self, timeout_s: float) -> bool:
        """Whether it ends within so many seconds."""
        with contextlib.suppress(subprocess.TimeoutExpired):
            self._process.wait(timeout_s)
        return self.ended()

    @contextlib.contextmanager
    def passing_signals_on(self, grace_s: float) -> Iterator[threading.Event]:
        """Signals to us are for the program; we end when it does. The event is set when it does not: so many seconds
        after an end that is not Ctrl+C was asked for, or Ctrl+C for the third time. What a signal does is said."""
        unheard = threading.Event()
        patience = threading.Timer(grace_s, unheard.set)
        patience.daemon = True

        def pass_on(number: int, _frame: FrameType | None) -> None:
            self._pass_on(number)
            # Twice Ctrl+C is what people press while a program saves its work.
            is_final = number != signal.SIGINT or self._asked >= _IMPATIENT
            # Not said here: the signal may have come in the middle of another line.
            threading.Thread(target=self._tell, args=(self._asked, grace_s, is_final), daemon=True).start()
            if is_final and patience.ident is None:
                patience.start()

        before = {number: signal.signal(number, pass_on) for number in _numbers()}
        try:
            yield unheard
        finally:
            patience.cancel()
            for number, handler in before.items():
                signal.signal(number, handler)

    def _tell(self, asked: int, grace_s: float, is_final: bool) -> None:
        if is_final:
            message = _("{program} was asked to end; if it still runs in {seconds} s, it is left running.")
        elif asked + 1 < _IMPATIENT:
            message = _("Ctrl+C is for {program}; GPUMon ends with it.")
        else:
            message = _("{program} still runs. Press Ctrl+C once more to leave it running.")
        say(message.format(program=self.name, seconds=f"{grace_s:g}"))

    def _pass_on(self, number: int) -> None:
        self._asked += 1
        # The terminal sends Ctrl+C to everybody in the foreground. Twice would break off the program's own end; asked
        # again and again, it gets it from us too.
        if number == signal.SIGINT and self._asked < _IMPATIENT and (sys.platform == "win32" or _in_foreground()):
            return
        with contextlib.suppress(OSError):
            self._process.send_signal(signal.SIGTERM if sys.platform == "win32" else number)


def _resolved(words: tuple[str, ...], variables: Mapping[str, str]) -> tuple[str, ...]:
    """With the program that the shell would have started: Windows itself looks beside our own first, where another
    ``python`` may lie, and knows no ``conda.bat``."""
    if os.name != "nt":
        return words
    return (shutil.which(words[0], path=variables.get("PATH")) or words[0], *words[1:])


@contextlib.contextmanager
def _own_libraries_hidden() -> Iterator[None]:
    """On Windows a frozen program's folder is searched for DLLs, and children inherit that: they would load ours."""
    _search_dlls_in(None)
    try:
        yield
    finally:
        _search_dlls_in(getattr(sys, "_MEIPASS", None))


def _search_dlls_in(folder: str | None) -> None:
    if sys.platform == "win32" and hasattr(sys, "_MEIPASS"):
        import ctypes  # only here: a frozen program on Windows

        ctypes.WinDLL("kernel32").SetDllDirectoryW(folder)


def _numbers() -> list[int]:
    numbers: list[int] = [signal.SIGINT, signal.SIGTERM]
    if sys.platform == "win32":
        numbers.append(signal.SIGBREAK)
    elif signal.getsignal(signal.SIGHUP) != signal.SIG_IGN:  # ignored: under nohup
        numbers.append(signal.SIGHUP)
    return numbers


def _in_foreground() -> bool:
    """Whether a terminal sends its Ctrl+C to us, and so to the program."""
    if sys.platform == "win32":
        return True
    for fd in range(3):
        try:
            if os.tcgetpgrp(fd) == os.getpgrp():
                return True
        except OSError:
            continue
    return False


def _started(pid: int) -> float | None:
    try:
        return psutil.Process(pid).create_time()
    except psutil.Error:
        return None
