"""Knows: how the reason for an empty table looks. Must not know: any reason."""

from __future__ import annotations

from PySide6.QtCore import QRect, Qt
from PySide6.QtGui import QColor, QPainter, QPaintEvent
from PySide6.QtWidgets import QWidget

from gpumon_gui.ui.theme import XL, L, S, Text, Theme


class EmptyNotice(QWidget):
    """Lies over the rows of an empty table and says why it is empty."""

    def __init__(self, theme: Theme, parent: QWidget) -> None:
        super().__init__(parent)
        self._theme = theme
        self._title, self._words = "", ""
        self.setAttribute(Qt.WidgetAttribute.WA_TransparentForMouseEvents)
        theme.changed.connect(self.update)

    @property
    def text(self) -> str:
        """What it says, title first."""
        return f"{self._title}\n{self._words}" if self._words else self._title

    def say(self, title: str, words: str) -> None:
        """Show a reason."""
        if (title, words) != (self._title, self._words):
            self._title, self._words = title, words
            self.setAccessibleName(self.text)
            self.update()

    def paintEvent(self, event: QPaintEvent) -> None:
        painter = QPainter(self)
        width = min(self.width() - 2 * L, 560)
        left = (self.width() - width) // 2
        title_font, body_font = self._theme.font(Text.SUBTITLE), self._theme.font(Text.BODY)
        flags = Qt.AlignmentFlag.AlignHCenter | Qt.TextFlag.TextWordWrap
        painter.setFont(title_font)
        top = max(L, self.height() // 3 - XL)
        rect = QRect(left, top, width, self.height())
        painter.setPen(QColor(self._theme.colours.text))
        used = painter.boundingRect(rect, int(flags), self._title)
        painter.drawText(rect, int(flags), self._title)
        painter.setFont(body_font)
        painter.setPen(QColor(self._theme.colours.muted))
        painter.drawText(rect.adjusted(0, used.height() + S, 0, 0), int(flags), self._words)
        painter.end()
