"""Knows: the questions of the History page: where to export to, whether to delete. Must not know: what follows."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from PySide6.QtCore import QStandardPaths
from PySide6.QtWidgets import QWidget

from gpumon_gui.bridge.history_reader import ExportForm
from gpumon_gui.core.messages import _
from gpumon_gui.ui.widgets import questions


def ask_for_file(parent: QWidget, form: ExportForm, slot: Any) -> None:
    """Ask where to write; ``slot`` gets the name as text. Asks before a file is replaced."""
    place = QStandardPaths.StandardLocation
    folder = QStandardPaths.writableLocation(
        place.PicturesLocation if form is ExportForm.PNG else place.DocumentsLocation
    )
    file = str(Path(folder or ".") / f"gpumon-history.{form.value}")
    dialog = questions.file_dialog(parent, _("Export the history"), file, saves=True)
    dialog.setDefaultSuffix(form.value)
    dialog.setNameFilter(f"{form.name} (*.{form.value})")
    dialog.fileSelected.connect(slot)
    dialog.open()


def form_of(path: Path) -> ExportForm:
    """The form that a name's ending asks for; a table for any other."""
    forms = {form.value: form for form in ExportForm}
    return forms.get(path.suffix.lower().removeprefix("."), ExportForm.CSV)


def ask_to_delete(parent: QWidget, slot: Any) -> None:
    """Ask whether everything is to go; ``slot`` is called when it is. Enter and Escape keep it."""
    more = _("All values and markers that GPUMon has kept are deleted. This cannot be undone.")
    questions.ask_to_delete(parent, _("Delete the history"), _("Delete the whole history?"), more, slot)
