"""Knows: how what is on show of the history becomes a file. Must not know: how it is asked for or drawn."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from PySide6.QtCore import QObject, Slot
from PySide6.QtGui import QImage
from PySide6.QtWidgets import QWidget

from gpumon_gui.bridge.history import History
from gpumon_gui.bridge.history_reader import Exported, ExportForm, ExportOrder
from gpumon_gui.core.messages import _
from gpumon_gui.ui.widgets.history_asking import HistoryAsking
from gpumon_gui.ui.widgets.history_dialogs import ask_for_file, form_of
from gpumon_gui.ui.widgets.message_bar import MessageBar, Tone


class HistorySaving(QObject):
    """Asks where to, orders the file, and says in the message bar what came of it. ``picture`` draws what is on
    show; ``columns`` says how finely it is shown."""

    def __init__(
        self,
        asked: HistoryAsking,
        message: MessageBar,
        picture: Callable[[], QImage],
        columns: Callable[[], int],
        page: QWidget,
    ) -> None:
        super().__init__(page)
        self._asked = asked
        self._message = message
        self._picture = picture
        self._columns = columns
        self._page = page
        self._history: History | None = None

    def set_history(self, history: History | None) -> None:
        """Who writes the files."""
        if self._history is not None:
            self._history.exported.disconnect(self._on_exported)
        self._history = history
        if history is not None:
            history.exported.connect(self._on_exported)

    @Slot(object)
    def ask(self, form: ExportForm) -> None:
        """Ask where to write."""
        ask_for_file(self._page, form, self._on_file)

    def export(self, path: Path, form: ExportForm) -> None:
        """Write what is on show to a file."""
        if self._history is None or self._asked.device is None:
            return
        image = self._picture() if form is ExportForm.PNG else None
        self._history.export(ExportOrder(form, path, self._asked.device, self._asked.span, self._columns(), image))
        self._message.say(_("Writing {file} …").format(file=path.name), Tone.INFO)

    @Slot(str)
    def _on_file(self, file: str) -> None:
        self.export(Path(file), form_of(Path(file)))

    @Slot(object)
    def _on_exported(self, exported: Exported) -> None:
        if exported.fault:
            self._message.say(exported.fault, Tone.ATTENTION)
        else:
            self._message.say(_("Saved as {file}.").format(file=exported.path), Tone.GOOD)
