"""Knows: how it is shown that the keyboard is here. Must not know: who has it."""

from __future__ import annotations

from PySide6.QtCore import QRectF, Qt
from PySide6.QtGui import QColor, QPainter, QPen

from gpumon_gui.ui.theme import RADIUS, Colours


def paint_ring(
    painter: QPainter, area: QRectF, colours: Colours, radius: float = RADIUS, *, on_accent: bool = False
) -> None:
    """A line along ``area`` with round corners; ``on_accent``: upon the colour of the accent."""
    painter.save()
    painter.setRenderHint(QPainter.RenderHint.Antialiasing)
    painter.setBrush(Qt.BrushStyle.NoBrush)
    painter.setPen(QPen(QColor(colours.on_accent if on_accent else colours.text), 1.6))
    painter.drawRoundedRect(area, radius, radius)
    painter.restore()
