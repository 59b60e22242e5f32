"""Knows: where GPUMon keeps what it writes, on each system and in the portable form. Must not know: what it writes.

Nothing is created here: who writes makes the folder and tells when it cannot.
"""

from __future__ import annotations

import sys
from dataclasses import dataclass
from pathlib import Path

import platformdirs

from gpumon_gui.core.errors import GpumonError
from gpumon_gui.core.messages import _

#: A frozen build beside which this file lies is portable: everything stays in ``data`` beside it.
PORTABLE_MARK = "portable.txt"
PORTABLE_FOLDER = "data"


@dataclass(frozen=True, slots=True)
class Folders:
    """Absolute paths; they need not exist."""

    config: Path  #: what the user set
    data: Path  #: recordings and history
    logs: Path
    state: Path  #: how the window was left
    is_portable: bool = False


def folders() -> Folders:
    """Those of this program and user. Windows: ``%LOCALAPPDATA%\\GPUMon``; Linux: the XDG base directories.

    Raises GpumonError for an account without a home.
    """
    beside = _portable_folder()
    if beside is not None:
        return Folders(beside, beside, beside / "logs", beside, is_portable=True)
    name = "GPUMon" if sys.platform == "win32" else "gpumon"
    # Not the roaming profile: figures of this machine say nothing on another.
    dirs = platformdirs.PlatformDirs(name, appauthor=False)
    try:
        return Folders(dirs.user_config_path, dirs.user_data_path, dirs.user_log_path, dirs.user_state_path)
    except RuntimeError as error:  # an account without an entry and without HOME: in containers
        raise GpumonError(_("This account has no home folder: set the environment variable HOME.")) from error


def _portable_folder() -> Path | None:
    if not getattr(sys, "frozen", False):
        return None
    home = Path(sys.executable).parent
    return home / PORTABLE_FOLDER if (home / PORTABLE_MARK).is_file() else None
