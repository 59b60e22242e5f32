"""Knows: a label whose text changes every second. Must not know: what it says."""

from __future__ import annotations

from PySide6.QtCore import QEvent, QSize, Qt
from PySide6.QtGui import QColor, QFontMetrics, QPainter, QPaintEvent
from PySide6.QtWidgets import QSizePolicy, QWidget

from gpumon_gui.core.files import printable
from gpumon_gui.ui.text_height import text_height
from gpumon_gui.ui.theme import Text, Theme
from gpumon_gui.ui.tips import plain

#: So few letters of a short form tell nothing.
_LEAST = 4


class FixedLabel(QWidget):
    """One line of text. New text repaints this widget only: a QLabel would lay the whole page out again.

    ``sample`` is the longest usual text; the label asks for its width once, whatever it says later. Text that does
    not fit gives way to its short form where it has one, is else cut with an ellipsis, and stands in the tool tip.
    """

    def __init__(
        self,
        theme: Theme,
        role: Text = Text.BODY,
        *,
        muted: bool = False,
        align: Qt.AlignmentFlag = Qt.AlignmentFlag.AlignLeft,
        sample: str = "",
        parent: QWidget | None = None,
    ) -> None:
        super().__init__(parent)
        self._theme = theme
        self._muted = muted
        self._dimmed = False
        self._colour = ""
        self._align = align | Qt.AlignmentFlag.AlignVCenter
        self._text = self._short = ""
        self._shown = ""
        self._tip = ""
        self._sample = sample
        self.setFont(theme.font(role))
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)

    @property
    def text(self) -> str:
        """What it says."""
        return self._text

    def set_text(self, text: str, short: str = "") -> None:
        """Say something else; ``short`` where there is no room for it."""
        text, short = printable(text), printable(short)
        if (text, short) != (self._text, self._short):
            self._text, self._short = text, short
            if not self.accessibleName() or self.accessibleName() == self._shown:
                self.setAccessibleName(text)
            self._shown = text
            self._set_tip()
            self.update()

    def set_tip(self, tip: str) -> None:
        """The tool tip; the full text comes first when it is cut."""
        if tip != self._tip:
            self._tip = tip
            self._set_tip()

    def set_dimmed(self, dimmed: bool) -> None:
        """Grey: not of now."""
        if dimmed != self._dimmed:
            self._dimmed = dimmed
            self.update()

    def set_colour(self, colour: str) -> None:
        """A colour of its own (``#rrggbb``); empty for that of the theme."""
        if colour != self._colour:
            self._colour = colour
            self.update()

    def set_sample(self, sample: str) -> None:
        """Ask for the width of another text."""
        if sample != self._sample:
            self._sample = sample
            self.updateGeometry()

    def sizeHint(self) -> QSize:
        """Room for the sample."""
        metrics = QFontMetrics(self.font())
        return QSize(metrics.horizontalAdvance(self._sample) + 2 if self._sample else 0, text_height(self.font()))

    def minimumSizeHint(self) -> QSize:
        """As the hint: the sample is never cut."""
        return self.sizeHint()

    def paintEvent(self, event: QPaintEvent) -> None:
        """Draw the line."""
        if not self._text:
            return
        colours = self._theme.colours
        colour = self._colour or (colours.muted if self._muted else colours.text)
        painter = QPainter(self)
        painter.setFont(self.font())
        painter.setPen(QColor(colours.faint if self._dimmed else colour))
        painter.drawText(self.rect(), self._align, self.line())
        painter.end()

    def line(self) -> str:
        """What there is room for."""
        metrics = QFontMetrics(self.font())
        if metrics.horizontalAdvance(self._text) <= self.width():
            return self._text
        line = metrics.elidedText(self._short or self._text, Qt.TextElideMode.ElideRight, self.width())
        return "" if self._short not in ("", line) and len(line) <= _LEAST else line

    def resizeEvent(self, event: QEvent) -> None:
        """Cut or not cut."""
        self._set_tip()

    def changeEvent(self, event: QEvent) -> None:
        """The letters of another language may be higher."""
        super().changeEvent(event)
        if event.type() == QEvent.Type.LanguageChange:
            self.updateGeometry()

    def _set_tip(self) -> None:
        cut = QFontMetrics(self.font()).horizontalAdvance(self._text) > self.width()
        lines = ([self._text] if cut else []) + ([self._tip] if self._tip else [])
        tip = plain("\n".join(lines))
        if tip != self.toolTip():
            self.setToolTip(tip)
