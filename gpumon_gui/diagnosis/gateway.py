"""Knows: the only door from the diagnosis to the machine, as a contract. Must not know: what is behind the door.

Behind it is the machine itself (``live_gateway``) or a folder of what a machine answered (``recorded_gateway``), so a
saved diagnosis can be judged again anywhere. Nothing here raises for what the machine does: what is not there is None,
what went wrong is a :class:`Failure`.
"""

from __future__ import annotations

import fnmatch
import json
import ntpath
import posixpath
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from threading import Event
from types import ModuleType
from typing import Any, Final, Protocol

#: Stands in a command's words for the file that takes the result: see :attr:`Command.takes_result`.
RESULT: Final = "{result}"
#: Stands for the folder of the scripts that run in the user's interpreters.
SCRIPTS: Final = "{scripts}"


class Failure(StrEnum):
    """Why a command gave no proper answer."""

    NOT_FOUND = "not-found"
    NO_PERMISSION = "no-permission"
    NOT_STARTED = "not-started"  #: the file is there, the system cannot run it
    TIMED_OUT = "timed-out"
    TOO_MUCH_MEMORY = "too-much-memory"  #: it was ended before the system ran out
    CANCELLED = "cancelled"


@dataclass(frozen=True, slots=True)
class Command:
    """A program to run; never through a shell. ``words[0]`` is a path, or a name that PATH finds.

    ``changes`` sets variables on top of the user's own, or removes them (None). Of each of the two outputs
    ``limit_bytes`` are kept, half from the start and half from the end; the rest is read and dropped. With
    ``takes_result`` the word :data:`RESULT` becomes the path of an empty file of which up to ``limit_bytes`` come back.
    ``only_lines`` (a regular expression, case ignored) drops all other lines of standard output at the door, so that
    they are in no recording either.
    """

    words: tuple[str, ...]
    timeout_s: float = 20.0
    changes: Mapping[str, str | None] = field(default_factory=dict)
    input: str = ""
    cwd: str | None = None
    limit_bytes: int = 400_000
    takes_result: bool = False
    only_lines: str = ""


@dataclass(frozen=True, slots=True)
class Ran:
    """What became of a command. ``code`` is the exit code, negative for a signal (POSIX), None where it never ran or
    was ended by us (``failure``). ``dropped_bytes``: output beyond the limit."""

    code: int | None
    stdout: bytes = b""
    stderr: bytes = b""
    result: bytes = b""
    failure: Failure | None = None
    detail: str = ""
    seconds: float = 0.0
    dropped_bytes: int = 0

    @property
    def ok(self) -> bool:
        """Ran to its end and was content."""
        return self.code == 0 and self.failure is None

    @property
    def out(self) -> str:
        """Standard output as text. Some Windows tools (``wsl.exe``) write UTF-16 without a mark."""
        return decoded(self.stdout)

    @property
    def err(self) -> str:
        """Standard error as text."""
        return decoded(self.stderr)


class FileKind(StrEnum):
    """What stands at a path, links followed."""

    FILE = "file"
    FOLDER = "folder"
    DEVICE = "device"
    OTHER = "other"
    DANGLING = "dangling"  #: a link to nothing


@dataclass(frozen=True, slots=True)
class FileInfo:
    """``real_path`` has all links resolved; ``readable`` and ``writable`` are about this user."""

    kind: FileKind
    size_bytes: int
    modified_utc_s: float
    real_path: str
    readable: bool = True
    writable: bool = False


@dataclass(frozen=True, slots=True)
class RegistryKey:
    """Values and the names of the keys below. Binary data comes as hexadecimal text."""

    values: Mapping[str, Any] = field(default_factory=dict)
    subkeys: tuple[str, ...] = ()


class Gateway(Protocol):
    """The contract. All calls may come from several threads at once."""

    @property
    def platform(self) -> str:
        """``sys.platform`` of the machine."""
        ...

    def time_utc_s(self) -> float:
        """Seconds since 1970 there."""
        ...

    def run(self, command: Command, cancel: Event | None = None) -> Ran:
        """Run a command to its end, its time-out or the cancelling; no process of it is left."""
        ...

    def read(self, path: str, limit_bytes: int = 1_000_000) -> bytes | None:
        """The beginning of a regular file; None when it is not there or may not be read."""
        ...

    def info(self, path: str) -> FileInfo | None:
        """What stands at a path."""
        ...

    def listing(self, folder: str, pattern: str = "*") -> tuple[str, ...]:
        """The names in a folder that fit (``*`` and ``?``; case as the system has it), sorted; at most 10,000."""
        ...

    def variables(self) -> Mapping[str, str]:
        """The user's environment variables, as they were before this program touched any."""
        ...

    def registry(self, path: str) -> RegistryKey | None:
        """A registry key (``HKLM\\SOFTWARE\\…``, 64-bit view); None when it is not there."""
        ...

    def ask(self, question: str, argument: str = "") -> Any:
        """A fact that only a call into the operating system gives, as a JSON value; None when it gives none.

        The questions are the names in ``live_gateway.ANSWERS``.
        """
        ...


def paths(gateway: Gateway) -> ModuleType:
    """``ntpath`` or ``posixpath``: how the machine writes paths, wherever this runs."""
    return ntpath if is_windows(gateway) else posixpath


def is_windows(gateway: Gateway) -> bool:
    """Native Windows; WSL is Linux."""
    return gateway.platform == "win32"


def decoded(data: bytes) -> str:
    """Text of unknown encoding, as well as it goes."""
    if data.startswith((b"\xff\xfe", b"\xfe\xff")):
        return data.decode("utf-16", "replace")
    if len(data) > 1 and data[1::2].count(0) > len(data) // 4:
        return data.decode("utf-16-le", "replace")
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError:
        pass
    try:
        return data.decode("gb18030")  # what Chinese Windows writes
    except UnicodeDecodeError:
        return data.decode("utf-8", "replace")


def read_text(gateway: Gateway, path: str, limit_bytes: int = 1_000_000) -> str | None:
    """The beginning of a file as text; None when it is not there or may not be read."""
    data = gateway.read(path, limit_bytes)
    return None if data is None else decoded(data)


def json_of(text: str) -> Any:
    """The value that a foreign file or program states in JSON; None when it is none, or nested beyond reason."""
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return None


def is_file(gateway: Gateway, path: str) -> bool:
    """Whether a file stands at the path."""
    info = gateway.info(path)
    return info is not None and info.kind is FileKind.FILE


def is_folder(gateway: Gateway, path: str) -> bool:
    """Whether a folder stands at the path."""
    info = gateway.info(path)
    return info is not None and info.kind is FileKind.FOLDER


def matches(gateway: Gateway, folder: str, pattern: str) -> tuple[str, ...]:
    """Paths below a folder whose names fit a pattern of ``*``, one folder level per ``/``; sorted."""
    head, _, rest = pattern.partition("/")
    if "*" in head:
        found = tuple(paths(gateway).join(folder, name) for name in gateway.listing(folder, head))
    else:
        path = paths(gateway).join(folder, head)
        found = (path,) if gateway.info(path) is not None else ()
    if not rest:
        return found
    return tuple(path for each in found for path in matches(gateway, each, rest))


def fitting(names: Iterable[str], pattern: str, *, windows: bool) -> tuple[str, ...]:
    """The names that fit a pattern, sorted."""
    fits = re.compile(fnmatch.translate(pattern), re.IGNORECASE if windows else 0)
    return tuple(sorted(name for name in names if fits.match(name)))


def lines_of(output: bytes, pattern: str) -> bytes:
    """The lines of an output that a command wants to keep."""
    if not pattern:
        return output
    wanted = re.compile(pattern.encode(), re.IGNORECASE)
    return b"".join(line for line in output.splitlines(keepends=True) if wanted.search(line))


def variable(gateway: Gateway, name: str) -> str | None:
    """A variable's value; Windows does not tell upper from lower case. Empty counts as not set."""
    variables = gateway.variables()
    if is_windows(gateway):
        folded = name.upper()
        return next((value for key, value in variables.items() if key.upper() == folded), "") or None
    return variables.get(name) or None


def search_path(gateway: Gateway) -> tuple[str, ...]:
    """The folders of PATH in order, each once."""
    separator = ";" if is_windows(gateway) else ":"
    folders = (folder.strip().strip('"') for folder in (variable(gateway, "PATH") or "").split(separator))
    return tuple(dict.fromkeys(folder for folder in folders if folder))


def home(gateway: Gateway) -> str:
    """The user's home folder; empty when unknown."""
    return variable(gateway, "USERPROFILE" if is_windows(gateway) else "HOME") or ""


def which(gateway: Gateway, name: str) -> str | None:
    """The file that a bare name stands for by PATH."""
    for folder in search_path(gateway):
        path = str(paths(gateway).join(folder, name))
        if is_file(gateway, path):
            return path
    return None


def info_name(info: FileInfo | None) -> str | None:
    """The last part of the real path: what a link such as ``…/driver`` points to."""
    return info.real_path.rpartition("/")[2] if info is not None else None
