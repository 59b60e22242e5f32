"""Knows: how a command runs in the lab: alone, on a screen of its own, for a limited time. Must not know: what it does.

A session has mount and process namespaces of its own, so when it ends, in whichever way, nothing is left running or
mounted. Its Windows disk is a copy that is thrown away, unless it is to be kept; so sessions may run side by side.
"""

from __future__ import annotations

import fcntl
import os
import shutil
import subprocess
import sys
import tempfile
import threading
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO

import places
from places import LabError, windows_path

OUT_OF_TIME = 124
_DPI = {100: 96, 125: 120, 150: 144, 200: 192}
# What belongs to the Linux side's Python, Qt or desktop.
_NOT_FOR_WINE = (
    "PYTHON",
    "QT_",
    "XDG_",
    "LD_",
    "DBUS_",
    "WAYLAND_",
    "WINE",
    "DISPLAY",
    "TMPDIR",
    "VIRTUAL_ENV",
    "XAUTHORITY",
)


@dataclass(frozen=True)
class Session:
    """What a session is like."""

    seconds: int = 300  #: the command is ended after that, with exit code 124
    size: str = "1600x1000"  #: of the screen
    scale: int = 100  #: of the display, in percent
    windows: str = "win10"  #: or ``win11``
    locale: str = "C"  #: the user's language and formats, for example ``zh_CN``
    dlls: tuple[Path, ...] = ()  #: stand-ins for Windows' own, in system32 for this session
    keep: bool = False  #: work on the lab's own disk; sessions wait for each other then
    variables: Mapping[str, str] = field(default_factory=dict)  #: of the environment, besides the caller's

    def run(
        self,
        words: Sequence[str],
        *,
        stdin: int | IO[bytes] = subprocess.DEVNULL,
        stdout: int | IO[bytes] | None = None,
        stderr: int | IO[bytes] | None = None,
    ) -> subprocess.CompletedProcess[bytes]:
        """Run a Linux command that finds ``wine`` and a screen. Raises LabError when there is no lab."""
        with self._place() as (line, environment):
            process = subprocess.Popen(line + list(words), stdin=stdin, stdout=stdout, stderr=stderr, env=environment)
            try:
                out, err = process.communicate(timeout=self.seconds + 120)
            except subprocess.TimeoutExpired:
                process.kill()
                out, err = process.communicate()
            except BaseException:
                process.terminate()
                process.wait()
                raise
        return subprocess.CompletedProcess(list(words), process.returncode, out or b"", err or b"")

    def run_text(self, words: Sequence[str], *, stdin: int | IO[bytes] = subprocess.DEVNULL) -> int:
        """Run a command and pass on what it writes, without carriage returns; the exit code."""
        with self._place() as (line, environment):
            process = subprocess.Popen(
                line + list(words), stdin=stdin, stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=environment
            )
            assert process.stdout is not None
            assert process.stderr is not None
            pumps = [
                threading.Thread(target=_pass_on, args=pair)
                for pair in ((process.stdout, sys.stdout.buffer), (process.stderr, sys.stderr.buffer))
            ]
            for pump in pumps:
                pump.start()
            try:
                process.wait(self.seconds + 120)
            except BaseException as error:
                process.terminate()
                process.wait()
                if not isinstance(error, subprocess.TimeoutExpired):
                    raise
            for pump in pumps:
                pump.join()
        return process.returncode

    @contextmanager
    def _place(self) -> Iterator[tuple[list[str], dict[str, str]]]:
        """The words before the command, and the environment; cleans up after."""
        if os.geteuid() != 0:
            raise LabError("the Windows lab needs root (namespaces of its own, mounts)")
        root = places.root()
        places.CACHE.mkdir(parents=True, exist_ok=True)
        with places.LOCK.open("w") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX if self.keep else fcntl.LOCK_SH)
            folder = Path(tempfile.mkdtemp(prefix="session-", dir=places.CACHE))
            try:
                yield _line(), self._environment(root, folder)
            finally:
                shutil.rmtree(folder, ignore_errors=True)

    def _environment(self, root: Path, folder: Path) -> dict[str, str]:
        if self.scale not in _DPI:
            raise LabError(f"scale {self.scale}: one of {', '.join(map(str, _DPI))}")
        (folder / "dlls").mkdir()
        (folder / "copy").mkdir()
        for dll in self.dlls:
            shutil.copy(dll, folder / "dlls" / dll.name)
        found = {name: value for name, value in os.environ.items() if not name.startswith(_NOT_FOR_WINE)}
        found.update(
            HOME=str(places.CACHE / "home"),
            PATH="/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin",
            LANG=f"{self.locale}.UTF-8",
            LC_ALL=f"{self.locale}.UTF-8",
            PYTHONIOENCODING="utf-8",
            PYTHONPYCACHEPREFIX=windows_path(places.CACHE / "pycache"),  # not beside the sources: not Linux's
            WINEPREFIX=str(places.DISK),
            WINEDEBUG=os.environ.get("WINEDEBUG", "-all"),
            LAB_ROOT=str(root),
            LAB_COPY="" if self.keep else str(folder / "copy"),
            LAB_KEEP=str(int(self.keep)),
            LAB_FOLDER=str(folder),
            LAB_DLLS=str(folder / "dlls"),
            LAB_SECONDS=str(self.seconds),
            LAB_SIZE=self.size,
            LAB_DPI=str(_DPI[self.scale]),
            LAB_WINDOWS=self.windows,
            LAB_SCREEN=windows_path(folder / "Xvfb_screen0"),
        )
        if self.dlls:
            ours = ",".join(dll.stem for dll in self.dlls)
            found["WINEDLLOVERRIDES"] = f"{ours}=n,b"
        found.update(self.variables)
        return found


def python_words(arguments: Sequence[str]) -> list[str]:
    """Windows Python, as words for :meth:`Session.run`."""
    return ["wine", str(places.PYTHON / "python.exe"), *arguments]


def namespaces() -> list[str]:
    """Words before a command that give it namespaces which end with it and with us."""
    return ["setpriv", "--pdeathsig", "KILL", "unshare", "--mount", "--pid", "--fork", "--kill-child", "--mount-proc"]


def _line() -> list[str]:
    return [*namespaces(), "sh", str(places.HERE / "enter.sh"), "sh", str(places.HERE / "session.sh")]


def _pass_on(source: IO[bytes], target: IO[bytes]) -> None:
    for line in source:
        target.write(line.replace(b"\r\n", b"\n"))
        target.flush()
