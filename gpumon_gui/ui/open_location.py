"""Knows: how the desktop is asked to show a file in its folder. Must not know: processes."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

from PySide6.QtCore import QUrl
from PySide6.QtGui import QDesktopServices
from PySide6.QtWidgets import QMessageBox

from gpumon_gui.core.messages import _


def open_location(file: Path) -> bool:
    """Open the folder of a file, with the file selected where the desktop can. False when nothing could be started."""
    if not file.parent.is_dir():
        return False
    if sys.platform == "win32":
        # One string: explorer does not understand a quoted /select,path argument.
        subprocess.Popen(f'explorer /select,"{file}"')
        return True
    return QDesktopServices.openUrl(QUrl.fromLocalFile(str(file.parent)))


def offer_log(box: QMessageBox, file: Path | None) -> None:
    """Name the program's log below what a dialog says, with a button that shows it in its folder; the dialog stays."""
    if file is None:
        return
    name = _("Log file: {file}").format(file=file)
    box.setInformativeText(f"{box.informativeText()}\n\n{name}")
    button = box.addButton(_("Open folder"), QMessageBox.ButtonRole.ActionRole)
    button.clicked.disconnect()  # it does not close

    def show() -> None:
        if not open_location(file):
            box.setInformativeText(_("The folder of {file} cannot be opened.").format(file=file))

    button.clicked.connect(show)
