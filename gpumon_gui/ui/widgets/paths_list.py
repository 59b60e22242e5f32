"""Knows: a short list of interpreters that grows by a dialog and shrinks by a key. Must not know: what they are for."""

from __future__ import annotations

from PySide6.QtCore import QSize, Qt, Signal, Slot
from PySide6.QtGui import QFocusEvent, QKeyEvent
from PySide6.QtWidgets import QHBoxLayout, QVBoxLayout, QWidget

from gpumon_gui.core.files import printable
from gpumon_gui.core.messages import _
from gpumon_gui.ui.theme import S, Theme
from gpumon_gui.ui.widgets.button import FlatButton
from gpumon_gui.ui.widgets.fields import Framed
from gpumon_gui.ui.widgets.interpreter_menu import InterpreterMenu
from gpumon_gui.ui.widgets.quiet_list import QuietList

_LINES = 3


class _List(QuietList):
    removed = Signal()

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if event.key() in (Qt.Key.Key_Delete, Qt.Key.Key_Backspace):
            self.removed.emit()
        else:
            super().keyPressEvent(event)

    def sizeHint(self) -> QSize:
        return QSize(200, self.fontMetrics().height() * _LINES + 4 * S)


class PathsList(QWidget):
    """Files by their full paths.

    Signals:
        edited(tuple): the user changed the list; all paths as they are now.
    """

    edited = Signal(tuple)

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._paths: tuple[str, ...] = ()
        self.list = _List(theme, self)
        self.list.removed.connect(self._on_remove)
        self.list.currentRowChanged.connect(self._on_row)
        self.add_button = FlatButton(theme, "", "", self, framed=True)
        self.remove_button = FlatButton(theme, "", "", self, framed=True)
        self.interpreters = InterpreterMenu(self.add, self)
        self.add_button.set_menu(self.interpreters)
        self.remove_button.clicked.connect(self._on_remove)
        self.remove_button.setEnabled(False)
        buttons = QHBoxLayout()
        buttons.setSpacing(S)
        buttons.addWidget(self.add_button)
        buttons.addWidget(self.remove_button)
        buttons.addStretch(1)
        box = QVBoxLayout(self)
        box.setContentsMargins(0, 0, 0, 0)
        box.setSpacing(S)
        box.addWidget(Framed(theme, self.list, self))
        box.addLayout(buttons)
        self.setFocusProxy(self.list)

    def set_paths(self, paths: tuple[str, ...]) -> None:
        """Show these."""
        if paths == self._paths:
            return
        self._paths = paths
        self.list.clear()
        self.list.addItems([printable(path) for path in paths])

    @Slot()
    def retranslate(self) -> None:
        """Write every text again."""
        self.add_button.set_text(_("Add…"))
        self.interpreters.retranslate()
        self.remove_button.set_text(_("Remove"))

    def setAccessibleName(self, name: str) -> None:
        super().setAccessibleName(name)
        self.list.setAccessibleName(name)

    def focusInEvent(self, event: QFocusEvent) -> None:
        self.list.setFocus(event.reason())

    @Slot(str)
    def add(self, path: str) -> None:
        """One more at the end, unless it is there."""
        if path and path not in self._paths:
            paths = (*self._paths, path)
            self.set_paths(paths)
            self.edited.emit(paths)

    @Slot(int)
    def _on_row(self, row: int) -> None:
        self.remove_button.setEnabled(row >= 0)

    @Slot()
    def _on_remove(self) -> None:
        row = self.list.currentRow()
        if row >= 0:
            paths = self._paths[:row] + self._paths[row + 1 :]
            self.set_paths(paths)
            self.list.setCurrentRow(min(row, len(paths) - 1))
            self.edited.emit(paths)
