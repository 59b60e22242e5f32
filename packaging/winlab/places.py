"""Knows: where the lab keeps its things and where Wine is. Must not know: how they got there."""

from __future__ import annotations

import hashlib
import os
import re
import subprocess
from collections.abc import Iterable
from pathlib import Path

HERE = Path(__file__).resolve().parent
_BASE = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
CACHE = Path(os.environ.get("GPUMON_LAB") or _BASE / "gpumon-lab")
DOWNLOADS = CACHE / "downloads"
TREE = CACHE / "debian13"  # only where the host's own Wine is too old
PYTHON = CACHE / "python"
DISK = CACHE / "disk"  # a WINEPREFIX
LOCK = CACHE / "lock"
PYTHON_VERSION = "3.11.9"  # pins/python.txt
OLDEST_WINE = 10  # frozen programs hang in Wine 8


class LabError(Exception):
    """The lab itself cannot do its work; the message says why."""


def host_has_wine() -> bool:
    """Whether the host's own Wine is new enough."""
    try:
        said = subprocess.run(["wine", "--version"], capture_output=True, text=True, stdin=subprocess.DEVNULL).stdout
    except OSError:
        return False
    found = re.match(r"wine-(\d+)", said)
    return found is not None and int(found[1]) >= OLDEST_WINE


def tree_has_wine() -> bool:
    """Whether there is a Debian 13 tree with Wine. Its ``bin/wine`` is a link that means something only inside."""
    return (TREE / "usr/bin/wine").is_symlink() or (TREE / "usr/bin/wine").is_file()


def root() -> Path:
    """The root of the system that has Wine: ``/`` or the tree. Raises LabError when there is none."""
    if host_has_wine():
        return Path("/")
    if tree_has_wine():
        return TREE
    raise LabError("the Windows lab is not set up here; run: python3 packaging/winlab/lab.py setup")


def wine_dlls() -> Path:
    """Wine's own Windows DLLs."""
    return root() / "usr/lib/x86_64-linux-gnu/wine/x86_64-windows"


def windows_path(path: Path | str) -> str:
    """How a Windows program in the lab names a file of this side."""
    return "Z:" + str(Path(path).absolute()).replace("/", "\\")


def digest(files: Iterable[Path], *more: str) -> str:
    """What a step was made from: it is done again when this changes."""
    found = hashlib.sha256()
    for file in sorted(files):
        found.update(file.read_bytes())
    for text in more:
        found.update(text.encode())
    return found.hexdigest()


def is_made(step: str, made_from: str) -> bool:
    """Whether the step was done from the same things."""
    stamp = CACHE / f"{step}.made"
    return stamp.is_file() and stamp.read_text(encoding="ascii") == made_from


def set_made(step: str, made_from: str) -> None:
    """Say that it was done."""
    (CACHE / f"{step}.made").write_text(made_from, encoding="ascii")
