"""Knows: a text that the keyboard reaches: a screen reader reads it as a whole, Ctrl+C copies it.
Must not know: what it says."""

from __future__ import annotations

from PySide6.QtCore import QRectF, Qt
from PySide6.QtGui import QFocusEvent, QGuiApplication, QKeyEvent, QKeySequence, QPainter, QPaintEvent
from PySide6.QtWidgets import QWidget

from gpumon_gui.core.messages import _
from gpumon_gui.ui.announce import announce
from gpumon_gui.ui.focus_ring import paint_ring
from gpumon_gui.ui.theme import RADIUS, Theme
from gpumon_gui.ui.widgets.button import BY_KEYBOARD
from gpumon_gui.ui.widgets.section import Card


class SpokenCard(Card):
    """``bare``: without the card's surface and border."""

    def __init__(self, theme: Theme, parent: QWidget | None = None, *, bare: bool = False) -> None:
        super().__init__(theme, parent)
        self._is_bare = bare
        self._has_ring = False
        self._text = ""
        self.setFocusPolicy(Qt.FocusPolicy.TabFocus)

    def set_spoken(self, text: str, name: str = "") -> None:
        """What Ctrl+C copies, and what is read (if it is something else)."""
        self._text = text
        if (name or text) != self.accessibleName():
            self.setAccessibleName(name or text)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if event.matches(QKeySequence.StandardKey.Copy):
            QGuiApplication.clipboard().setText(self._text)
            announce(self, _("Copied"))
        else:
            super().keyPressEvent(event)

    def focusInEvent(self, event: QFocusEvent) -> None:
        super().focusInEvent(event)
        self._has_ring = event.reason() in BY_KEYBOARD
        self.update()

    def focusOutEvent(self, event: QFocusEvent) -> None:
        super().focusOutEvent(event)
        self.update()

    def paintEvent(self, event: QPaintEvent) -> None:
        if not self._is_bare:
            super().paintEvent(event)
        if self.hasFocus() and self._has_ring:
            painter = QPainter(self)
            inside = 1.0 if self._is_bare else 2.5
            area = QRectF(self.rect()).adjusted(inside, inside, -inside, -inside)
            paint_ring(painter, area, self._theme.colours, RADIUS - 2)
            painter.end()
