"""Knows: how the charts become a picture that says what it shows. Must not know: files."""

from __future__ import annotations

from PySide6.QtCore import QRectF, Qt
from PySide6.QtGui import QColor, QFontMetrics, QImage, QPainter

from gpumon_gui.ui.theme import L, M, Text, Theme


def titled(charts: QImage, title: str, theme: Theme) -> QImage:
    """The picture with a title above and a margin around, on the colour of the window."""
    ratio = charts.devicePixelRatio()
    font = theme.font(Text.STRONG)
    head = QFontMetrics(font).height() + M
    width, height = charts.width() / ratio, charts.height() / ratio
    whole = QImage(
        round((width + 2 * L) * ratio),
        round((height + head + 2 * L) * ratio),
        QImage.Format.Format_ARGB32_Premultiplied,
    )
    whole.setDevicePixelRatio(ratio)
    whole.fill(QColor(theme.colours.window))
    painter = QPainter(whole)
    painter.setFont(font)
    painter.setPen(QColor(theme.colours.text))
    line = painter.fontMetrics().elidedText(title, Qt.TextElideMode.ElideRight, round(width))
    painter.drawText(QRectF(L, L, width, head - M), Qt.AlignmentFlag.AlignVCenter, line)
    painter.drawImage(QRectF(L, L + head, width, height), charts)
    painter.end()
    return whole
