"""Knows: how a page becomes a picture in a file. Must not know: pages, the window."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from PySide6.QtCore import QStandardPaths
from PySide6.QtWidgets import QWidget

from gpumon_gui.bridge.picture import encoded
from gpumon_gui.core.messages import _
from gpumon_gui.ui.widgets.questions import file_dialog


def ask_for_picture(parent: QWidget, name: str, chosen: Callable[[str], object]) -> None:
    """Ask where to save a picture of that name; ``chosen`` gets the file."""
    folder = QStandardPaths.writableLocation(QStandardPaths.StandardLocation.PicturesLocation) or "."
    dialog = file_dialog(parent, _("Save page as picture"), str(Path(folder) / f"gpumon-{name}.png"), saves=True)
    dialog.setNameFilter(_("PNG picture") + " (*.png)")
    dialog.setDefaultSuffix("png")
    dialog.fileSelected.connect(chosen)
    dialog.open()


def write_picture(widget: QWidget, file: Path) -> bool:
    """Write what a widget shows as PNG; False when the file cannot be written."""
    try:
        file.write_bytes(encoded(widget.grab()))
    except OSError:
        return False
    return True
