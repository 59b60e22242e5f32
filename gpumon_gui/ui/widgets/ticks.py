"""Knows: how tick boxes and radio buttons look; the style's own have no visible border on dark.
Must not know: choices."""

from __future__ import annotations

from typing import Final

from PySide6.QtCore import QPointF, QRectF, QSize, Qt
from PySide6.QtGui import QColor, QFocusEvent, QFontMetrics, QPainter, QPaintEvent, QPen, QPolygonF
from PySide6.QtWidgets import QRadioButton, QWidget

from gpumon_gui.ui.focus_ring import paint_ring
from gpumon_gui.ui.theme import XS, S, Theme
from gpumon_gui.ui.widgets.button import BY_KEYBOARD

#: Side of a box, in device-independent pixels.
TICK: Final = 16


def paint_tick(painter: QPainter, area: QRectF, theme: Theme, *, on: bool) -> None:
    """A tick box in ``area`` (square)."""
    colours = theme.colours
    painter.setPen(QPen(QColor(colours.accent if on else colours.muted), 1.2))
    painter.setBrush(QColor(colours.accent if on else colours.surface))
    painter.drawRoundedRect(area.adjusted(0.6, 0.6, -0.6, -0.6), 3, 3)
    if on:
        pen = QPen(QColor(colours.on_accent), 1.8)
        pen.setCapStyle(Qt.PenCapStyle.RoundCap)
        painter.setPen(pen)
        scale = area.width() / 16
        points = [area.topLeft() + QPointF(x, y) * scale for x, y in ((4.4, 8.2), (6.9, 10.8), (11.6, 5.4))]
        painter.setBrush(Qt.BrushStyle.NoBrush)
        painter.drawPolyline(QPolygonF(points))


class Radio(QRadioButton):
    """A radio button with a border that can be seen, and the focus ring of the other buttons."""

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._theme = theme
        self._by_keyboard = False  # the ring is for those who came by it
        theme.changed.connect(self.update)

    def focusInEvent(self, event: QFocusEvent) -> None:
        self._by_keyboard = event.reason() in BY_KEYBOARD
        super().focusInEvent(event)

    def sizeHint(self) -> QSize:
        metrics = QFontMetrics(self.font())
        return QSize(TICK + S + metrics.horizontalAdvance(self.text()) + 2 * XS, max(28, metrics.height() + S))

    def minimumSizeHint(self) -> QSize:
        return self.sizeHint()

    def paintEvent(self, event: QPaintEvent) -> None:
        colours = self._theme.colours
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        on = self.isChecked()
        centre = QPointF(XS + TICK / 2, self.height() / 2)
        painter.setPen(QPen(QColor(colours.accent if on else colours.muted), 1.2))
        painter.setBrush(QColor(colours.accent if on else colours.surface))
        painter.drawEllipse(centre, TICK / 2 - 0.6, TICK / 2 - 0.6)
        if on:
            painter.setPen(Qt.PenStyle.NoPen)
            painter.setBrush(QColor(colours.on_accent))
            painter.drawEllipse(centre, 3.2, 3.2)
        painter.setPen(QColor(colours.text))
        left = XS + TICK + S
        painter.drawText(
            QRectF(left, 0, self.width() - left, self.height()), Qt.AlignmentFlag.AlignVCenter, self.text()
        )
        if self.hasFocus() and self._by_keyboard:
            paint_ring(painter, QRectF(self.rect()).adjusted(1, 1, -1, -1), colours)
        painter.end()
