"""Knows: a command that can be copied, exactly as it is. Must not know: what it does."""

from __future__ import annotations

from PySide6.QtCore import Qt, QTimer, Slot
from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import QHBoxLayout, QWidget

from gpumon_gui.core.messages import _
from gpumon_gui.ui.theme import M, S, Theme
from gpumon_gui.ui.widgets.button import FlatButton
from gpumon_gui.ui.widgets.section import Card, wrapped

_SAID_MS = 2000


class CommandBox(Card):
    """Monospace text and a button that copies it."""

    def __init__(self, theme: Theme, command: str, parent: QWidget | None = None) -> None:
        super().__init__(theme, parent)
        self.command = command
        theme.changed.connect(self._recolour)
        self._label = wrapped(theme, parent=self)
        self._label.setFont(theme.code_font())
        self._label.setText(command)
        self.copy_button = FlatButton(theme, "copy", "", self)
        self.copy_button.clicked.connect(self.copy)
        self._said = QTimer(self)
        self._said.setSingleShot(True)
        self._said.setInterval(_SAID_MS)
        self._said.timeout.connect(self.retranslate)
        self._recolour()
        row = QHBoxLayout(self)
        row.setContentsMargins(M, S // 2, S // 2, S // 2)
        row.setSpacing(S)
        row.addWidget(self._label, 1)
        row.addWidget(self.copy_button, 0, Qt.AlignmentFlag.AlignTop)
        self.retranslate()

    @Slot()
    def retranslate(self) -> None:
        """Write every text again."""
        self.copy_button.set_text(_("Copy"))
        self.copy_button.setAccessibleName(_("Copy the command: {command}").format(command=self.command))

    @Slot()
    def _recolour(self) -> None:
        self.set_colours(self._theme.colours.chart_back)

    @Slot()
    def copy(self) -> None:
        """Put the command on the clipboard."""
        QGuiApplication.clipboard().setText(self.command)
        self.copy_button.set_text(_("Copied"))
        self._said.start()
