"""Knows: what stands below the charts of the history: how large it is, and how it is deleted. Must not know: charts."""

from __future__ import annotations

from PySide6.QtCore import Signal, Slot
from PySide6.QtWidgets import QHBoxLayout, QWidget

from gpumon_gui.core.files import shown as shown_path
from gpumon_gui.core.messages import _
from gpumon_gui.ui import formatters, moments
from gpumon_gui.ui.theme import S, Text, Theme
from gpumon_gui.ui.widgets.button import FlatButton
from gpumon_gui.ui.widgets.history_asking import HistoryAsking
from gpumon_gui.ui.widgets.history_dialogs import ask_to_delete
from gpumon_gui.ui.widgets.text import FixedLabel


class HistoryFoot(QWidget):
    """One line.

    Signals:
        delete_wanted(): everything is to go; the question was answered with yes.
    """

    delete_wanted = Signal()

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.size_label = FixedLabel(theme, Text.CAPTION, muted=True, parent=self)
        self.delete_button = FlatButton(theme, "", "", self)
        self.delete_button.clicked.connect(self._on_delete)
        row = QHBoxLayout(self)
        row.setContentsMargins(0, 0, 0, 0)
        row.setSpacing(S)
        row.addWidget(self.size_label, 1)
        row.addWidget(self.delete_button)

    def show_asked(self, asked: HistoryAsking) -> None:
        """Say how large the history is."""
        history, first_s = asked.history, asked.contents.first_s
        text = ""
        if history is not None and first_s is not None:
            size = formatters.memory(float(asked.contents.size_bytes))
            text = _("History: {size}, since {when}").format(size=size, when=moments.moment(first_s, seconds=False))
            if history.is_written:
                most = formatters.memory(float(history.options.most_bytes))
                text = _("{size} (at most {most})").format(size=text, most=most)
            else:
                text = f"{text} · {history.path.name}"
        self.size_label.set_text(text)
        self.size_label.set_tip("" if history is None else shown_path(history.path))
        self.delete_button.setVisible(bool(text) and history is not None and history.is_written)

    def retranslate(self) -> None:
        """Write every text again, in the language now in use."""
        self.delete_button.set_text(_("Delete…"))
        self.delete_button.setAccessibleName(_("Delete the history"))
        self.delete_button.setToolTip(_("Delete the history"))

    @Slot()
    def _on_delete(self) -> None:
        ask_to_delete(self, self.delete_wanted)
