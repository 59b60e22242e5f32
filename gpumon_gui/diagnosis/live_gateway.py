"""Knows: how this machine answers the diagnosis. Must not know: what is asked, and why.

Every answer is bounded: time for commands, bytes for files, entries for folders. Regular files only are opened, since
a pipe or a device could block.
"""

from __future__ import annotations

import importlib
import os
import stat
import sys
import tempfile
from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path
from threading import Event
from typing import Any

from gpumon_gui.core.clock import Clock, SystemClock
from gpumon_gui.diagnosis import children, probe_scripts, windows_answers
from gpumon_gui.diagnosis.gateway import (
    RESULT,
    SCRIPTS,
    Command,
    FileInfo,
    FileKind,
    Ran,
    RegistryKey,
    fitting,
    lines_of,
)
from gpumon_gui.diagnosis.orphans import folder_prefix

_MAX_ENTRIES = 10_000
_PROCESS_VARIABLES = 200


class LiveGateway:
    """This machine. ``environ`` stands for the environment of this program."""

    def __init__(
        self,
        environ: Mapping[str, str] | None = None,
        mine: children.Own | None = None,
        clock: Clock | None = None,
    ) -> None:
        self._clock = clock or SystemClock()
        self._own = mine or children.own()
        self._variables = children.users_variables(os.environ if environ is None else environ, self._own)

    @property
    def platform(self) -> str:
        """``sys.platform``."""
        return sys.platform

    def time_utc_s(self) -> float:
        """Seconds since 1970."""
        return self._clock.now().utc_s

    def run(self, command: Command, cancel: Event | None = None) -> Ran:
        """Run a command with the user's variables, not ours."""
        if not command.takes_result:
            return self._run(command, "", cancel)
        with tempfile.TemporaryDirectory(prefix=folder_prefix(), ignore_cleanup_errors=True) as folder:
            result = Path(folder, "result")
            result.touch()
            ran = self._run(command, str(result), cancel)
            return replace(ran, result=self.read(str(result), command.limit_bytes) or b"")

    def _run(self, command: Command, result: str, cancel: Event | None) -> Ran:
        variables = dict(self._variables)
        for name, value in command.changes.items():
            variables.pop(name, None)
            if value is not None:
                variables[name] = value
        scripts = str(Path(probe_scripts.__file__).parent)
        ran = children.run_child(
            [word.replace(RESULT, result).replace(SCRIPTS, scripts) for word in command.words],
            variables,
            timeout_s=command.timeout_s,
            limit_bytes=command.limit_bytes,
            given=command.input.encode(),
            cwd=command.cwd or _neutral_folder(),
            cancel=cancel,
            frozen=self._own.bundle is not None,
        )
        return replace(ran, stdout=lines_of(ran.stdout, command.only_lines)) if command.only_lines else ran

    def read(self, path: str, limit_bytes: int = 1_000_000) -> bytes | None:
        """The beginning of a regular file."""
        try:
            if not stat.S_ISREG(os.stat(path).st_mode):  # noqa: PTH116
                return None
            with open(path, "rb") as file:  # noqa: PTH123 - a path of any system as it was given
                return file.read(limit_bytes)
        except (OSError, ValueError):
            return None

    def info(self, path: str) -> FileInfo | None:
        """What stands at a path."""
        try:
            status = os.stat(path)  # noqa: PTH116 - raises ValueError for a NUL instead of hiding it
        except (OSError, ValueError):
            return FileInfo(FileKind.DANGLING, 0, 0.0, path) if _is_link(path) else None
        mode = status.st_mode
        kind = FileKind.OTHER
        if stat.S_ISREG(mode):
            kind = FileKind.FILE
        elif stat.S_ISDIR(mode):
            kind = FileKind.FOLDER
        elif stat.S_ISCHR(mode) or stat.S_ISBLK(mode):
            kind = FileKind.DEVICE
        return FileInfo(
            kind,
            status.st_size,
            status.st_mtime,
            os.path.realpath(path),
            os.access(path, os.R_OK),
            os.access(path, os.W_OK),
        )

    def listing(self, folder: str, pattern: str = "*") -> tuple[str, ...]:
        """The names in a folder that fit."""
        names = []
        try:
            with os.scandir(folder) as entries:
                for entry in entries:
                    names.append(entry.name)
                    if len(names) >= _MAX_ENTRIES:
                        break
        except (OSError, ValueError):
            return ()
        return fitting(names, pattern, windows=sys.platform == "win32")

    def variables(self) -> Mapping[str, str]:
        """The user's environment variables."""
        return self._variables

    def registry(self, path: str) -> RegistryKey | None:
        """A registry key; None on other systems."""
        return windows_answers.registry_key(path) if sys.platform == "win32" else None

    def ask(self, question: str, argument: str = "") -> Any:
        """See :data:`ANSWERS`."""
        try:
            return ANSWERS[question](argument)
        except (OSError, ValueError, AttributeError, ImportError):
            return None


def _is_link(path: str) -> bool:
    try:
        return stat.S_ISLNK(os.lstat(path).st_mode)
    except (OSError, ValueError):
        return False


def _neutral_folder() -> str | None:
    """Where commands run: on Windows the current folder is searched for DLLs, and ours may be this program's own."""
    try:
        home = str(Path.home())
    except RuntimeError:  # an account without an entry and without HOME (a container)
        return None
    return home if os.path.isdir(home) else None  # noqa: PTH112


def _cwd(_argument: str) -> str:
    return str(Path.cwd())


def _cpu_count(_argument: str) -> int | None:
    return os.cpu_count()


def _usable_cpus(_argument: str) -> int | None:
    affinity = getattr(os, "sched_getaffinity", None)  # Linux only
    return len(affinity(0)) if affinity is not None else os.cpu_count()


def _groups(_argument: str) -> list[str] | None:
    """Names of the groups this user's processes are in."""
    if sys.platform == "win32":
        return None
    else:  # noqa: RET505 - so that the type checker leaves it out on Windows
        grp = importlib.import_module("grp")
        names = []
        for number in os.getgroups():
            try:
                names.append(str(grp.getgrgid(number).gr_name))
            except KeyError:
                names.append(str(number))
        return names


def _is_root(_argument: str) -> bool | None:
    if sys.platform == "win32":
        return None
    else:  # noqa: RET505
        return os.geteuid() == 0


def _uname(_argument: str) -> dict[str, str]:
    platform = importlib.import_module("platform")
    return {"system": platform.system(), "release": platform.release(), "machine": platform.machine()}


def _process(argument: str) -> dict[str, Any] | None:
    """Of a process by its number: ``exe``, ``cmdline``, ``cwd``, ``environ`` and the same of its parent's ``exe``.
    What this user may not see is left out; None when there is no such process."""
    psutil = importlib.import_module("psutil")
    try:
        process = psutil.Process(int(argument))
        facts: dict[str, Any] = {"pid": process.pid}
    except (psutil.Error, ValueError):
        return None
    for name in ("exe", "cmdline", "cwd", "environ"):
        try:
            facts[name] = getattr(process, name)()
        except (psutil.Error, OSError, RuntimeError):
            continue
    try:
        parent = process.parent()
        facts["parent_exe"] = parent.exe() if parent is not None else None
    except (psutil.Error, OSError):
        pass
    if isinstance(facts.get("environ"), dict):
        facts["environ"] = dict(list(facts["environ"].items())[:_PROCESS_VARIABLES])
    return facts


#: What can be asked; each takes an argument and gives a JSON value, or None.
ANSWERS: Mapping[str, Callable[[str], Any]] = {
    "cwd": _cwd,
    "cpu-count": _cpu_count,
    "usable-cpus": _usable_cpus,
    "groups": _groups,
    "is-root": _is_root,
    "uname": _uname,
    "process": _process,
    "windows-memory": windows_answers.memory,
    "windows-version": windows_answers.version,
    "file-version": windows_answers.file_version,
}
