"""Knows: how a row of a list with two lines looks: what it is, and below it, quieter, the rest; maybe with a tick box.
Must not know: what the rows are."""

from __future__ import annotations

from PySide6.QtCore import QModelIndex, QPersistentModelIndex, QRect, QRectF, QSize, Qt
from PySide6.QtGui import QColor, QFontMetrics, QPainter
from PySide6.QtWidgets import QStyle, QStyledItemDelegate, QStyleOptionViewItem, QWidget

from gpumon_gui.ui.focus_ring import paint_ring
from gpumon_gui.ui.text_height import text_height
from gpumon_gui.ui.theme import RADIUS, XS, S, Text, Theme
from gpumon_gui.ui.widgets.ticks import TICK, paint_tick


class RowDelegate(QStyledItemDelegate):
    """Draws the text before the first line break as usual and what follows as a caption; the selection is rounded."""

    def __init__(self, theme: Theme, parent: QWidget) -> None:
        super().__init__(parent)
        self._theme = theme

    def sizeHint(self, option: QStyleOptionViewItem, index: QModelIndex | QPersistentModelIndex) -> QSize:
        fonts = [self._theme.font(role) for role in (Text.BODY, Text.CAPTION)]
        first, second = (QFontMetrics(font) for font in fonts)
        lines = str(index.data(Qt.ItemDataRole.DisplayRole)).split("\n", 1)
        width = max(first.horizontalAdvance(lines[0]), second.horizontalAdvance(lines[-1]) if lines[1:] else 0)
        height = sum(text_height(font, line) for font, line in zip(fonts, lines, strict=False)) + 2 * len(lines[1:])
        return QSize(width + 2 * S + TICK + S, height + 2 * XS + 2)

    def paint(
        self, painter: QPainter, option: QStyleOptionViewItem, index: QModelIndex | QPersistentModelIndex
    ) -> None:
        shown = QStyleOptionViewItem(option)
        self.initStyleOption(shown, index)
        widget, colours = self.parent(), self._theme.colours
        assert isinstance(widget, QWidget)
        painter.save()
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        area: QRect = shown.rect
        paint_row(painter, shown, self._theme)
        left = area.left() + S
        tick = index.data(Qt.ItemDataRole.CheckStateRole)
        if tick is not None:
            place = widget.style().subElementRect(QStyle.SubElement.SE_ItemViewItemCheckIndicator, shown, widget)
            centre = QRectF(place).center()
            box = QRectF(centre.x() - TICK / 2 + XS, centre.y() - TICK / 2, TICK, TICK)
            paint_tick(painter, box, self._theme, on=Qt.CheckState(tick) is Qt.CheckState.Checked)
            left = round(box.right()) + S
        lines = str(index.data(Qt.ItemDataRole.DisplayRole)).split("\n", 1)
        room = QRect(left, area.top() + XS + 1, area.right() - S - left, area.height() - 2 * XS - 2)
        for line, role, colour in zip(lines, (Text.BODY, Text.CAPTION), (colours.text, colours.muted), strict=False):
            font = self._theme.font(role)
            metrics = QFontMetrics(font)
            painter.setFont(font)
            painter.setPen(QColor(colour))
            text = metrics.elidedText(line, shown.textElideMode, room.width())
            height = text_height(font, line)
            painter.drawText(QRect(room.left(), room.top(), room.width(), height), 0, text)
            room.setTop(room.top() + height + 2)
        painter.restore()


def paint_row(painter: QPainter, shown: QStyleOptionViewItem, theme: Theme) -> None:
    """What lies behind a row: chosen, under the pointer, with the focus of those who came by keyboard."""
    colours, state = theme.colours, shown.state
    row = QRectF(shown.rect).adjusted(1, 1, -1, -1)
    painter.setPen(Qt.PenStyle.NoPen)
    if state & (QStyle.StateFlag.State_Selected | QStyle.StateFlag.State_MouseOver):
        is_chosen = bool(state & QStyle.StateFlag.State_Selected)
        painter.setBrush(QColor(colours.selected if is_chosen else colours.hover))
        painter.drawRoundedRect(row, RADIUS - 2, RADIUS - 2)
    if state & QStyle.StateFlag.State_HasFocus and state & QStyle.StateFlag.State_KeyboardFocusChange:
        paint_ring(painter, row.adjusted(0.5, 0.5, -0.5, -0.5), colours, RADIUS - 2)
