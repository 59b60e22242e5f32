"""Knows: questions that several pages ask, in a dialog that holds nothing up. Must not know: what follows."""

from __future__ import annotations

from typing import Any

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QFileDialog, QMessageBox, QWidget

from gpumon_gui.core.messages import _


def ask_to_delete(parent: QWidget, title: str, question: str, more: str, slot: Any) -> None:
    """Ask whether something is to go; ``slot`` is called when it is. Enter and Escape keep it."""
    box = QMessageBox(parent)
    box.setIcon(QMessageBox.Icon.Question)
    box.setWindowTitle(title)
    box.setText(question)
    box.setTextFormat(Qt.TextFormat.PlainText)
    box.setInformativeText(more)
    delete = box.addButton(_("Delete"), QMessageBox.ButtonRole.DestructiveRole)
    box.setDefaultButton(box.addButton(_("Keep"), QMessageBox.ButtonRole.RejectRole))
    box.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
    delete.clicked.connect(slot)
    box.open()


def ask_for_interpreter(parent: QWidget, slot: Any) -> None:
    """Ask for a Python interpreter; ``slot`` gets its path as text."""
    dialog = QFileDialog(parent, _("Python interpreter"))
    dialog.setFileMode(QFileDialog.FileMode.ExistingFile)
    dialog.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
    dialog.fileSelected.connect(slot)
    dialog.open()
