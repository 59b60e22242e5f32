"""Knows: the on/off switch. Must not know: what it turns on."""

from __future__ import annotations

from PySide6.QtCore import QPointF, QRectF, QSize, Qt
from PySide6.QtGui import QColor, QPainter, QPaintEvent, QPen
from PySide6.QtWidgets import QCheckBox, QWidget

from gpumon_gui.ui.focus_ring import paint_ring
from gpumon_gui.ui.theme import Theme

_TRACK = QSize(40, 20)
_RING = 3


class Switch(QCheckBox):
    """A check box that looks like Windows 11's switch: knob at the left is off, at the right is on. Keys and screen
    readers know it as the check box it is."""

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._theme = theme
        theme.changed.connect(self.update)

    def sizeHint(self) -> QSize:
        return _TRACK + QSize(2 * _RING, 2 * _RING)

    def minimumSizeHint(self) -> QSize:
        return self.sizeHint()

    def hitButton(self, pos: object) -> bool:
        return True

    def paintEvent(self, event: QPaintEvent) -> None:
        colours = self._theme.colours
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        left = (self.width() - _TRACK.width()) / 2
        track = QRectF(left, (self.height() - _TRACK.height()) / 2, _TRACK.width(), _TRACK.height())
        track.adjust(0.5, 0.5, -0.5, -0.5)
        on, enabled = self.isChecked(), self.isEnabled()
        line = colours.muted if enabled else colours.faint
        if on:
            line = colours.accent if enabled else colours.faint
        painter.setPen(QPen(QColor(line), 1.2))
        painter.setBrush(QColor(line) if on else Qt.BrushStyle.NoBrush)
        painter.drawRoundedRect(track, track.height() / 2, track.height() / 2)
        radius = 7.0 if self.underMouse() and enabled else 6.0
        centre = QPointF(track.right() - 10 if on else track.left() + 10, track.center().y())
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(QColor(colours.on_accent if on else line))
        painter.drawEllipse(centre, radius, radius)
        if self.hasFocus():
            paint_ring(painter, track.adjusted(-2, -2, 2, 2), colours, track.height() / 2 + 2)
        painter.end()
