"""Knows: how the user names a Python: by its file, or by the folder of its environment. Must not know: what follows."""

from __future__ import annotations

import sys
from typing import Any

from PySide6.QtCore import QDir, Slot
from PySide6.QtWidgets import QFileDialog, QMenu, QWidget

from gpumon_gui.core.messages import _
from gpumon_gui.ui.widgets.questions import file_dialog


class InterpreterMenu(QMenu):
    """For a button that adds one; ``slot`` gets the path as text. No dialog takes files and folders alike."""

    def __init__(self, slot: Any, parent: QWidget) -> None:
        super().__init__(parent)
        self._slot = slot
        self._file = self.addAction("")
        self._folder = self.addAction("")
        self._file.triggered.connect(self.ask_file)
        self._folder.triggered.connect(self.ask_folder)

    @Slot()
    def retranslate(self) -> None:
        """Write every text again."""
        self._file.setText(_("Interpreter (python)…"))
        self._folder.setText(_("Folder of an environment or a project…"))

    @Slot()
    def ask_file(self) -> None:
        """Ask for an interpreter."""
        dialog = self._dialog(_("Python interpreter"))
        dialog.setFileMode(QFileDialog.FileMode.ExistingFile)
        if sys.platform == "win32":
            dialog.setNameFilters(["python.exe (python*.exe)", "*.exe (*.exe)"])
        dialog.open()

    @Slot()
    def ask_folder(self) -> None:
        """Ask for a folder with one in it: a venv, a conda environment, a project with its ``.venv``."""
        dialog = self._dialog(_("Folder of an environment or a project"))
        dialog.setFileMode(QFileDialog.FileMode.Directory)
        dialog.setOption(QFileDialog.Option.ShowDirsOnly)
        dialog.open()

    def _dialog(self, title: str) -> QFileDialog:
        holder = self.parentWidget()
        assert holder is not None
        dialog = file_dialog(holder, title)
        dialog.setFilter(dialog.filter() | QDir.Filter.Hidden)  # environments like to be called .venv
        dialog.fileSelected.connect(self._slot)
        return dialog
