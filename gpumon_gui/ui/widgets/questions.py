"""Knows: questions that several pages ask, in a dialog that holds nothing up. Must not know: what follows."""

from __future__ import annotations

from typing import Any, Final

from PySide6.QtCore import Qt
from PySide6.QtGui import QIcon
from PySide6.QtWidgets import QFileDialog, QMessageBox, QWidget

from gpumon_gui.core import messages
from gpumon_gui.core.messages import _
from gpumon_gui.ui import icons

_SIGN: Final = 40


def file_dialog(parent: QWidget, title: str, place: str = "", *, saves: bool = False) -> QFileDialog:
    """The dialog that asks for a file, not yet shown; every one comes from here. The system's own speaks the system's
    language: when another one is chosen, Qt's takes its place."""
    dialog = QFileDialog(parent, title, place)
    if not messages.is_of_system():
        dialog.setOption(QFileDialog.Option.DontUseNativeDialog)
    if saves:
        dialog.setAcceptMode(QFileDialog.AcceptMode.AcceptSave)
    dialog.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
    return dialog


def set_sign(box: QMessageBox) -> None:
    """The warning sign in the colour of the text, and buttons without the desktop's pictures: its icons know nothing of
    the theme. Call it when the buttons are there."""
    box.setIconPixmap(icons.icon("warning", box.palette().windowText().color().name()).pixmap(_SIGN, _SIGN))
    for button in box.buttons():
        button.setIcon(QIcon())


def ask_to_delete(parent: QWidget, title: str, question: str, more: str, slot: Any) -> None:
    """Ask whether something is to go; ``slot`` is called when it is. Enter and Escape keep it."""
    box = QMessageBox(parent)
    box.setWindowTitle(title)
    box.setText(question)
    box.setTextFormat(Qt.TextFormat.PlainText)
    box.setInformativeText(more)
    delete = box.addButton(_("Delete"), QMessageBox.ButtonRole.DestructiveRole)
    box.setDefaultButton(box.addButton(_("Keep"), QMessageBox.ButtonRole.RejectRole))
    set_sign(box)
    box.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
    delete.clicked.connect(slot)
    box.open()
