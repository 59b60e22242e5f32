"""Knows: the thin scroll bar of lists, as Windows 11 draws it. Must not know: what scrolls."""

from __future__ import annotations

from PySide6.QtCore import QRectF, QSize, Qt
from PySide6.QtGui import QColor, QPainter, QPaintEvent
from PySide6.QtWidgets import QAbstractScrollArea, QScrollBar, QStyle, QStyleOptionSlider, QWidget

from gpumon_gui.ui.theme import Theme

WIDTH = 12
_THIN = 3.0


class ThinScrollBar(QScrollBar):
    """A rounded handle on nothing; it grows under the pointer."""

    def __init__(
        self, theme: Theme, orientation: Qt.Orientation, parent: QWidget | None = None, *, on_window: bool = False
    ) -> None:
        super().__init__(orientation, parent)
        self._theme = theme
        self._on_window = on_window
        self.setAttribute(Qt.WidgetAttribute.WA_Hover)
        theme.changed.connect(self.update)

    def sizeHint(self) -> QSize:
        size = super().sizeHint()
        return QSize(WIDTH, size.height()) if self._is_upright() else QSize(size.width(), WIDTH)

    def paintEvent(self, event: QPaintEvent) -> None:
        option = QStyleOptionSlider()
        self.initStyleOption(option)
        slider = self.style().subControlRect(
            QStyle.ComplexControl.CC_ScrollBar, option, QStyle.SubControl.SC_ScrollBarSlider, self
        )
        colours = self._theme.colours
        painter = QPainter(self)
        painter.fillRect(self.rect(), QColor(colours.window if self._on_window else colours.surface))
        if self.maximum() > self.minimum():
            wide = 2 * _THIN if self.underMouse() or self.isSliderDown() else _THIN
            rest = (WIDTH - wide) / 2
            rect = QRectF(slider)
            rect = rect.adjusted(rest, 1, -rest, -1) if self._is_upright() else rect.adjusted(1, rest, -1, -rest)
            painter.setRenderHint(QPainter.RenderHint.Antialiasing)
            painter.setPen(Qt.PenStyle.NoPen)
            painter.setBrush(QColor(colours.faint))
            painter.drawRoundedRect(rect, wide / 2, wide / 2)
        painter.end()

    def _is_upright(self) -> bool:
        return self.orientation() is Qt.Orientation.Vertical


def use_thin_bars(area: QAbstractScrollArea, theme: Theme, *, on_window: bool = False) -> None:
    """Give a scrolling widget thin bars in both directions; ``on_window``: it has the window's own background."""
    area.setVerticalScrollBar(ThinScrollBar(theme, Qt.Orientation.Vertical, area, on_window=on_window))
    area.setHorizontalScrollBar(ThinScrollBar(theme, Qt.Orientation.Horizontal, area, on_window=on_window))
