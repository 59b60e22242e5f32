"""Knows: how the desktop is asked to show a file in its folder. Must not know: processes."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

from PySide6.QtCore import QUrl
from PySide6.QtGui import QDesktopServices


def open_location(file: Path) -> bool:
    """Open the folder of a file, with the file selected where the desktop can. False when nothing could be started."""
    if not file.parent.is_dir():
        return False
    if sys.platform == "win32":
        # One string: explorer does not understand a quoted /select,path argument.
        subprocess.Popen(f'explorer /select,"{file}"')
        return True
    return QDesktopServices.openUrl(QUrl.fromLocalFile(str(file.parent)))
