"""The ring of the focus stands out in every scheme and leaves the painter as it was."""

from __future__ import annotations

import pytest
from PySide6.QtCore import QRectF, Qt
from PySide6.QtGui import QColor, QImage, QPainter
from PySide6.QtWidgets import QApplication

from gpumon_gui.ui.focus_ring import paint_ring
from gpumon_gui.ui.theme import SCHEMES
from tests.qt.contrast import contrast


@pytest.mark.parametrize("on_accent", [False, True])
@pytest.mark.parametrize("name", sorted(SCHEMES))
def test_it_can_be_seen(qapp: QApplication, name: str, on_accent: bool) -> None:
    colours = SCHEMES[name]
    back = QColor(colours.accent if on_accent else colours.window)
    image = QImage(40, 40, QImage.Format.Format_RGB32)
    image.fill(back)
    painter = QPainter(image)
    painter.setPen(QColor("red"))
    painter.setBrush(QColor("red"))
    paint_ring(painter, QRectF(5, 5, 30, 30), colours, on_accent=on_accent)
    assert painter.pen().color() == QColor("red")
    assert painter.brush().style() is Qt.BrushStyle.SolidPattern
    painter.end()
    assert image.pixelColor(20, 20) == back  # hollow
    assert contrast(image.pixelColor(20, 5), back) >= 3  # WCAG 2.2, 1.4.11
