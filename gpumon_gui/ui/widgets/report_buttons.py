"""Knows: the buttons that lead to a report that was saved. Must not know: where they stand."""

from __future__ import annotations

from pathlib import Path

from PySide6.QtCore import QUrl, Slot
from PySide6.QtGui import QDesktopServices
from PySide6.QtWidgets import QHBoxLayout, QWidget

from gpumon_gui.core.messages import _
from gpumon_gui.ui.open_location import open_location
from gpumon_gui.ui.theme import S, Theme
from gpumon_gui.ui.widgets.button import FlatButton


class ReportButtons(QWidget):
    """Opens the file, or its folder."""

    def __init__(self, theme: Theme, parent: QWidget, file: Path | None = None) -> None:
        super().__init__(parent)
        self.file = file
        self.open_button, self.folder_button = (FlatButton(theme, "", "", self) for _each in range(2))
        self.open_button.clicked.connect(self._on_open)
        self.folder_button.clicked.connect(self._on_folder)
        row = QHBoxLayout(self)
        row.setContentsMargins(0, 0, 0, 0)
        row.setSpacing(S)
        row.addWidget(self.open_button)
        row.addWidget(self.folder_button)
        self.retranslate()

    @Slot()
    def retranslate(self) -> None:
        """Write every text again."""
        self.open_button.set_text(_("Open report"))
        self.folder_button.set_text(_("Open folder"))

    @Slot()
    def _on_open(self) -> None:
        QDesktopServices.openUrl(QUrl.fromLocalFile(str(self.file)))

    @Slot()
    def _on_folder(self) -> None:
        if self.file is not None:
            open_location(self.file)
