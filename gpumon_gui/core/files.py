"""Knows: how a path is shown, and which files can be opened without hanging. Must not know: what is in them."""

from __future__ import annotations

import errno
import stat
import unicodedata
from pathlib import Path

from gpumon_gui.core.errors import UnreadableInput
from gpumon_gui.core.messages import _

# Control characters would break the line or steer the terminal; lone surrogates cannot be encoded. Format characters
# (Cf) stay, since they join the parts of an emoji, but for those that turn the text around ("exe.png" for "gnp.exe").
_UNPRINTABLE = ("Cc", "Cs", "Zl", "Zp")
_TURNING = frozenset("\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069")


def printable(text: str) -> str:
    r"""The text as part of one line: control characters, line ends, lone surrogates and turned directions as ``\n``,
    ``\x1b``, ``\udcff``.

    For whatever others have named: files, processes, cards.
    """
    if text.isprintable():
        return text
    return "".join(
        character.encode("unicode_escape").decode("ascii")
        if unicodedata.category(character) in _UNPRINTABLE or character in _TURNING
        else character
        for character in text
    )


def shown(path: Path) -> str:
    """The path as text that can be printed: names on Linux may hold line ends and bytes that are not UTF-8."""
    return printable(str(path))


def check_regular_file(path: Path) -> None:
    """Raises UnreadableInput for what is missing, not permitted, a folder, or no regular file (opening those hangs)."""
    try:
        mode = path.stat().st_mode
    except (OSError, ValueError) as error:
        raise UnreadableInput(cannot_read(path, error)) from error
    if stat.S_ISDIR(mode):
        raise UnreadableInput(_("{path}: is a folder.").format(path=shown(path)))
    if not stat.S_ISREG(mode):
        raise UnreadableInput(_("{path}: is not a regular file.").format(path=shown(path)))


def read_start(path: Path, most_bytes: int) -> bytes:
    """The first bytes of a file of ours. What lies at its place may be a pipe or a device by mistake: those are not
    opened, since that hangs or never ends. Raises OSError."""
    mode = path.stat().st_mode
    if not stat.S_ISREG(mode) and not stat.S_ISDIR(mode):  # of a folder the system says it best
        raise OSError(errno.EINVAL, "not a regular file", str(path))
    with path.open("rb") as file:
        return file.read(most_bytes)


def read_whole(path: Path, most_bytes: int) -> bytes:
    """A file of ours, whole. Raises OSError as :func:`read_start`, ValueError for a larger one."""
    content = read_start(path, most_bytes + 1)
    if len(content) > most_bytes:
        raise ValueError("too large")
    return content


def cannot_read(path: Path, error: Exception) -> str:
    """One line for a file that the system does not let us read."""
    return _("{path}: cannot be read ({detail}).").format(path=shown(path), detail=strerror(error))


def cannot_write(path: Path, error: Exception) -> str:
    """One line for a file that the system does not let us write."""
    return _("{path}: cannot be written ({detail}).").format(path=shown(path), detail=strerror(error))


def strerror(error: Exception) -> str:
    """The system's words, without the number and the path."""
    return str(getattr(error, "strerror", None) or error)
