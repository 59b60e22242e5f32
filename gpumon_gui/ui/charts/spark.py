"""Knows: how a series is painted very small. Must not know: samples, devices."""

from __future__ import annotations

import numpy as np
from PySide6.QtCore import QPointF, QRectF
from PySide6.QtGui import QColor, QPainter, QPen, QPolygonF

from gpumon_gui.ui.charts.decimate import Array

POINTS = 60


def paint_spark(
    painter: QPainter, area: QRectF, values: Array, top: float, curve: QColor, back: QColor, border: QColor, alpha: int
) -> None:
    """Paint the newest :data:`POINTS` values into ``area``, newest at the right; NaN is a gap.

    ``top`` is the value at the upper edge. Higher values are cut at the edge.
    """
    painter.fillRect(area, back)
    fill = QColor(curve)
    fill.setAlpha(alpha)
    inner = area.adjusted(0, 0, -1, -1)  # the frame is drawn on these edges
    step = inner.width() / (POINTS - 1)
    newest = values[-POINTS:]
    left = inner.right() - step * (len(newest) - 1)
    painter.setRenderHint(QPainter.RenderHint.Antialiasing, True)
    for start, stop in _runs(np.isfinite(newest)):
        if stop - start < 2:
            continue
        heights = np.clip(newest[start:stop] / top, 0.0, 1.0)
        points = [
            QPointF(left + step * (start + n), inner.bottom() - float(height) * (inner.height() - 1))
            for n, height in enumerate(heights)
        ]
        ground = [QPointF(points[-1].x(), inner.bottom()), QPointF(points[0].x(), inner.bottom())]
        painter.setPen(QPen(QColor(0, 0, 0, 0)))
        painter.setBrush(fill)
        painter.drawPolygon(QPolygonF(points + ground))
        painter.setPen(QPen(curve, 1.0))
        painter.drawPolyline(QPolygonF(points))
    painter.setRenderHint(QPainter.RenderHint.Antialiasing, False)
    painter.setBrush(QColor(0, 0, 0, 0))
    painter.setPen(QPen(border, 1.0))
    painter.drawRect(inner)


def _runs(finite: np.ndarray[tuple[int], np.dtype[np.bool_]]) -> list[tuple[int, int]]:
    edges = np.flatnonzero(np.diff(np.r_[False, finite, False].astype(np.int8)))
    return [(int(a), int(b)) for a, b in zip(edges[::2], edges[1::2], strict=True)]
