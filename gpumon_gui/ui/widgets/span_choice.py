"""Knows: the choice of how much time the charts show. Must not know: charts."""

from __future__ import annotations

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QButtonGroup, QHBoxLayout, QWidget

from gpumon_gui.core.messages import N_, _
from gpumon_gui.ui.theme import Theme
from gpumon_gui.ui.widgets.button import FlatButton
from gpumon_gui.ui.widgets.section import Card

SPANS: tuple[tuple[int, str], ...] = (
    (60, N_("60 s")),
    (300, N_("5 min")),
    (900, N_("15 min")),
    (3600, N_("1 h")),
)


class SpanChoice(Card):
    """Some buttons in a frame, one of them down; ``spans`` are seconds and untranslated labels.

    Signals:
        chosen(int): seconds.
    """

    chosen = Signal(int)

    def __init__(self, theme: Theme, parent: QWidget | None = None, spans: tuple[tuple[int, str], ...] = SPANS) -> None:
        super().__init__(theme, parent)
        self._spans = spans
        self._group = QButtonGroup(self)
        row = QHBoxLayout(self)
        row.setContentsMargins(1, 1, 1, 1)
        row.setSpacing(0)
        for seconds, _label in spans:
            button = FlatButton(theme, parent=self)
            button.setCheckable(True)
            self._group.addButton(button, seconds)
            row.addWidget(button)
        self._group.idClicked.connect(self.chosen)
        self.set_span(spans[0][0])
        self.retranslate()

    def set_span(self, seconds: int) -> None:
        """Mark a span as chosen, without a signal; none when there is no button for it."""
        if any(seconds == known for known, _label in self._spans):
            self._group.button(seconds).setChecked(True)
            return
        chosen = self._group.checkedId()
        if chosen >= 0:
            self._group.setExclusive(False)
            self._group.button(chosen).setChecked(False)
            self._group.setExclusive(True)

    def retranslate(self) -> None:
        """Texts in the user's language."""
        self.setAccessibleName(_("Time span of the charts"))
        for seconds, label in self._spans:
            button = self._group.button(seconds)
            if isinstance(button, FlatButton):
                button.set_text(_(label))
