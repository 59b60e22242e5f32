"""Knows: the one button of a page that leads on. Must not know: where to."""

from __future__ import annotations

from PySide6.QtCore import QRectF, QSize, Qt
from PySide6.QtGui import QColor, QFontMetrics, QPainter, QPaintEvent
from PySide6.QtWidgets import QWidget

from gpumon_gui.ui import icons
from gpumon_gui.ui.focus_ring import paint_ring
from gpumon_gui.ui.theme import RADIUS, XL, M, S, Text, Theme
from gpumon_gui.ui.widgets.button import ICON, FlatButton


class AccentButton(FlatButton):
    """Filled with the accent colour; ``large`` for the one thing an empty page is for."""

    def __init__(
        self, theme: Theme, icon_name: str = "", text: str = "", parent: QWidget | None = None, *, large: bool = False
    ) -> None:
        super().__init__(theme, icon_name, text, parent)
        self._large = large
        self.setFont(theme.font(Text.SUBTITLE if large else Text.STRONG))

    def sizeHint(self) -> QSize:
        metrics = QFontMetrics(self.font())
        width = metrics.horizontalAdvance(self.text()) + 2 * (XL if self._large else M)
        width += ICON + S if self._icon_name else 0
        return QSize(width, max(44 if self._large else 32, metrics.height() + 2 * S))

    def paintEvent(self, event: QPaintEvent) -> None:
        colours = self._theme.colours
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        back = QColor(colours.accent if self.isEnabled() else colours.selected)
        if self.isEnabled() and (self.isDown() or self._hover):
            back = back.darker(112) if not colours.dark else back.lighter(112)
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(back)
        rect = QRectF(self.rect()).adjusted(1, 1, -1, -1)
        painter.drawRoundedRect(rect, RADIUS, RADIUS)
        if self.hasFocus() and self._keyboard:
            paint_ring(painter, rect.adjusted(2.5, 2.5, -2.5, -2.5), colours, RADIUS - 2, on_accent=True)
        fore = colours.on_accent if self.isEnabled() else colours.faint
        width = QFontMetrics(self.font()).horizontalAdvance(self.text())
        left = (self.width() - width - (ICON + S if self._icon_name else 0)) / 2
        if self._icon_name:
            icons.draw(painter, self._icon_name, fore, QRectF(left, (self.height() - ICON) / 2, ICON, ICON))
            left += ICON + S
        painter.setPen(QColor(fore))
        painter.drawText(QRectF(left, 0, width + 2, self.height()), Qt.AlignmentFlag.AlignVCenter, self.text())
        painter.end()
