"""Knows: how equal cells fill the width there is. Must not know: what is in the cells."""

from __future__ import annotations

import math

from PySide6.QtCore import QRect, QSize, Qt
from PySide6.QtWidgets import QLayout, QLayoutItem, QWidget


class ResponsiveGrid(QLayout):
    """Cells of equal width, as many side by side as fit; hidden ones take no place.

    ``counts`` are the allowed numbers of columns, ascending (four charts: 1, 2 or 4, never 3 and 1). With ``share``
    the cells share all the width there is; otherwise a cell never gets wider for want of neighbours.
    """

    def __init__(
        self,
        cell_width: int,
        counts: tuple[int, ...],
        gap: int,
        row_gap: int,
        *,
        share: bool = False,
    ) -> None:
        super().__init__()
        self._cell_width = cell_width
        self._counts = counts
        self._gap = gap
        self._row_gap = row_gap
        self._filler: QWidget | None = None
        self._share = share
        self._items: list[QLayoutItem] = []
        self.setContentsMargins(0, 0, 0, 0)

    def add(self, widget: QWidget) -> None:
        """Add a cell at the end."""
        self.addWidget(widget)

    def add_filler(self, widget: QWidget) -> None:
        """Add the last cell, which is as wide as the rest of its row."""
        self.addWidget(widget)
        self._filler = widget

    def columns(self, width: int) -> int:
        """How many columns stand side by side on ``width`` pixels."""
        fitting = [count for count in self._counts if count * self._cell_width + (count - 1) * self._gap <= width]
        count = fitting[-1] if fitting else self._counts[0]
        if not self._share:
            return count
        cells = max(1, len(self._shown()))
        return math.ceil(cells / math.ceil(cells / count))  # as many rows, but no cell alone in the last one

    def addItem(self, item: QLayoutItem) -> None:
        """Qt hands over an item."""
        self._items.append(item)

    def count(self) -> int:
        """How many items there are, hidden ones included."""
        return len(self._items)

    def itemAt(self, index: int) -> QLayoutItem | None:
        """The item, or None past the end."""
        return self._items[index] if 0 <= index < len(self._items) else None

    def takeAt(self, index: int) -> QLayoutItem | None:
        """Remove an item."""
        return self._items.pop(index) if 0 <= index < len(self._items) else None

    def expandingDirections(self) -> Qt.Orientation:
        """Wide, never tall."""
        return Qt.Orientation.Horizontal

    def hasHeightForWidth(self) -> bool:
        """Fewer columns make more rows."""
        return True

    def heightForWidth(self, width: int) -> int:
        """Height of all rows."""
        heights = self._row_heights(width)
        return sum(heights) + self._row_gap * max(0, len(heights) - 1)

    def sizeHint(self) -> QSize:
        """Height for the widest number of columns."""
        width = self._counts[-1] * (self._cell_width + self._gap)
        return QSize(self._cell_width, self.heightForWidth(width))

    def minimumSize(self) -> QSize:
        """One cell wide."""
        return QSize(self._counts[0] * self._cell_width, self.sizeHint().height())

    def setGeometry(self, rect: QRect) -> None:
        """Place the cells."""
        super().setGeometry(rect)
        shown = self._shown()
        if not shown:
            return
        columns = self.columns(rect.width())
        heights = self._row_heights(rect.width())
        total = rect.width() - self._gap * (columns - 1)
        top = rect.top()
        for row, height in enumerate(heights):
            for column, item in enumerate(shown[row * columns : (row + 1) * columns]):
                left = rect.left() + column * self._gap + total * column // columns
                right = rect.left() + column * self._gap + total * (column + 1) // columns
                if item.widget() is self._filler:
                    right = rect.left() + rect.width()
                item.setGeometry(QRect(left, top, right - left, height))
            top += height + self._row_gap

    def _shown(self) -> list[QLayoutItem]:
        return [item for item in self._items if not item.isEmpty()]

    def _row_heights(self, width: int) -> list[int]:
        shown = self._shown()
        columns = self.columns(width)
        cell = max(1, (width - self._gap * (columns - 1)) // columns)
        heights = [_height(item, cell) for item in shown]
        if shown and shown[-1].widget() is self._filler:
            behind = (columns - len(shown) % columns) % columns
            heights[-1] = _height(shown[-1], cell * (behind + 1) + self._gap * behind)
        return [max(heights[n : n + columns]) for n in range(0, len(heights), columns)]


def _height(item: QLayoutItem, width: int) -> int:
    if item.hasHeightForWidth():
        return item.heightForWidth(width)
    return max(item.sizeHint().height(), item.minimumSize().height())
