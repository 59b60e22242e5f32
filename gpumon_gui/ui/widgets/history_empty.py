"""Knows: what stands in place of the history when there is none. Must not know: why (it is told)."""

from __future__ import annotations

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QHBoxLayout, QVBoxLayout, QWidget

from gpumon_gui.core.messages import _
from gpumon_gui.ui.theme import XL, M, Text, Theme
from gpumon_gui.ui.widgets.button import FlatButton
from gpumon_gui.ui.widgets.section import set_text, wrapped


class HistoryEmpty(QWidget):
    """A title and a few sentences.

    Signals:
        last_hour_wanted(): what the window remembers shall be shown.
    """

    last_hour_wanted = Signal()

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._title = wrapped(theme, Text.TITLE, parent=self)
        self._text = wrapped(theme, muted=True, parent=self)
        self.hour_button = FlatButton(theme, "", "", self, framed=True)
        self.hour_button.clicked.connect(self.last_hour_wanted)
        self.hour_button.hide()
        inner = QWidget(self)
        inner.setMaximumWidth(640)
        column = QVBoxLayout(inner)
        column.setSpacing(M)
        column.addStretch(2)
        column.addWidget(self._title)
        column.addWidget(self._text)
        column.addWidget(self.hour_button, 0, Qt.AlignmentFlag.AlignLeft)
        column.addStretch(3)
        box = QHBoxLayout(self)
        box.setContentsMargins(XL, XL, XL, XL)
        box.addStretch(1)
        box.addWidget(inner, 20)
        box.addStretch(1)

    def explain(self, reason: str, *, is_kept: bool, is_live: bool = False) -> None:
        """Say why there is nothing to see, and what will come. ``is_live``: the window has readings of its own."""
        self.hour_button.set_text(_("Show the last hour on Performance"))
        is_coming = is_kept and not reason
        self.hour_button.setVisible(is_live and not is_coming)
        if is_coming:
            set_text(self._title, _("No history yet"))
            set_text(
                self._text,
                _(
                    "GPUMon keeps what it measures while it runs, also in the tray: each second for two days, every "
                    "10 seconds for two weeks, every minute for a year, unless the settings say otherwise. The first "
                    "values appear here after some seconds."
                ),
            )
        else:
            set_text(self._title, _("No history"))
            set_text(self._text, reason or _("Nothing is kept of what is on show."))

    def text(self) -> str:
        """Everything it says; for tests."""
        return f"{self._title.text()}\n{self._text.text()}"
