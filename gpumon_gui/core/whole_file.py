"""Knows: how a file is written so that it is there completely or as it was before. Must not know: what is in it."""

from __future__ import annotations

import os
import tempfile
import threading
from contextlib import suppress
from pathlib import Path

from gpumon_gui.core.errors import OutputFailed
from gpumon_gui.core.files import cannot_write, shown
from gpumon_gui.core.messages import _

PART = ".gpumon-"
#: Windows refuses to replace a file that is open: a virus scanner or an indexer reads each new one for a moment.
_TRIES, _PAUSE_S = 8, 0.05


def write_whole(path: Path, content: bytes, *, private: bool = False) -> None:
    """Write beside the file, then put it in its place; blocks until it is on the disk. Raises OutputFailed.

    A link stays a link. A pipe or a device is written as it is. ``private``: a file of ours, for its owner's eyes
    only (POSIX), and never a pipe or a device, since nobody may read there; otherwise the file is as readable as any
    that people save.
    """
    if path.is_dir():
        raise OutputFailed(_("{path}: is a folder.").format(path=shown(path)))
    part = ""
    try:
        target = path.resolve() if path.is_symlink() else path.absolute()
        if target.exists() and not target.is_file():  # nothing can be put in its place
            if private:
                raise OutputFailed(_("{path}: is not a regular file.").format(path=shown(path)))
            target.write_bytes(content)
            return
        with tempfile.NamedTemporaryFile(dir=target.parent, prefix=PART, suffix=".part", delete=False) as stream:
            part = stream.name
            stream.write(content)
            stream.flush()
            os.fsync(stream.fileno())
        if os.name == "posix" and not private:  # the temporary file is for its owner only
            mask = os.umask(0)
            os.umask(mask)
            Path(part).chmod(0o666 & ~mask)
        _put_in_place(Path(part), target)
    except OSError as error:
        if part:
            with suppress(OSError):
                Path(part).unlink()
        raise OutputFailed(cannot_write(path, error)) from error


def _put_in_place(part: Path, target: Path) -> None:
    for _try in range(_TRIES - 1 if os.name == "nt" and target.exists() else 0):
        try:
            part.replace(target)
        except PermissionError:
            threading.Event().wait(_PAUSE_S)
        else:
            return
    part.replace(target)
