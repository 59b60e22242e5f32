"""Knows: how the charts of a device share the page. Must not know: what they show.

Two rows wherever the page is wide enough: the engines two by two, memory beside them. On a narrow page memory stands
below. No cell stays empty: a chart without a neighbour takes its place too.
"""

from __future__ import annotations

from dataclasses import dataclass

from PySide6.QtCore import QRect, QSize, Qt
from PySide6.QtWidgets import QLayout, QLayoutItem, QWidget

from gpumon_gui.ui.theme import L, M

#: Height of a row with captions: never less, and no more of what others could use.
LOWEST = 124
HIGHEST = 300
#: A row is not higher than this share of the width of a chart, unless height is left over.
SHAPE = 0.62
#: Widths of a chart below which three, and two, do not stand side by side.
_CELL = 222
_NARROW_CELL = 160


@dataclass(frozen=True, slots=True)
class Place:
    """Where a chart stands, in cells."""

    column: int
    row: int
    columns: int = 1
    rows: int = 1


def places(engines: int, memories: int, widest: int) -> list[Place]:
    """The places of up to four engine charts, then of up to two memory charts; ``widest`` columns at most (1 to 3)."""
    count = engines + memories
    if count <= widest or widest == 1:
        columns = max(1, min(widest, count))
        return [Place(number % columns, number // columns) for number in range(count)]
    if count == 4:
        return _pairs(count, 0)
    if widest == 2 or memories == 0:
        return _pairs(engines, 0) + _pairs(memories, (engines + 1) // 2)
    beside = [Place(2, 0, rows=2)] if memories == 1 else [Place(2, 0), Place(2, 1)]
    return _pairs(engines, 0) + beside


def _pairs(count: int, top: int) -> list[Place]:
    """Two by two from row ``top`` on; a last one alone is twice as wide."""
    found = [Place(number % 2, top + number // 2) for number in range(count)]
    if count % 2:
        found[-1] = Place(0, found[-1].row, columns=2)
    return found


class ChartGrid(QLayout):
    """Places engine and memory charts; hidden ones take no place. Rows share the height there is."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__()
        self._engines: list[QLayoutItem] = []
        self._memories: list[QLayoutItem] = []
        self._into = self._engines
        self._room = 0
        self.setContentsMargins(0, 0, 0, 0)
        if parent is not None:
            parent.setLayout(self)

    def add_engine(self, widget: QWidget) -> None:
        """Add an engine chart after the others."""
        self._into = self._engines
        self.addWidget(widget)

    def add_memory(self, widget: QWidget) -> None:
        """Add a memory chart after the others."""
        self._into = self._memories
        self.addWidget(widget)

    def set_room(self, height: int) -> None:
        """The height the charts may have so that what else belongs on the first screen stays in sight."""
        if height != self._room:
            self._room = height
            self.invalidate()

    def addItem(self, item: QLayoutItem) -> None:
        """Qt hands over an item."""
        self._into.append(item)

    def count(self) -> int:
        """How many items there are, hidden ones included."""
        return len(self._engines) + len(self._memories)

    def itemAt(self, index: int) -> QLayoutItem | None:
        """The item, or None past the end."""
        items = [*self._engines, *self._memories]
        return items[index] if 0 <= index < len(items) else None

    def takeAt(self, index: int) -> QLayoutItem | None:
        """Remove an item."""
        item = self.itemAt(index)
        if item is not None:
            (self._engines if item in self._engines else self._memories).remove(item)
        return item

    def expandingDirections(self) -> Qt.Orientation:
        """Charts use all the room there is."""
        return Qt.Orientation.Horizontal | Qt.Orientation.Vertical

    def hasHeightForWidth(self) -> bool:
        """Fewer columns make more rows."""
        return True

    def heightForWidth(self, width: int) -> int:
        """Between the lowest useful height and the room there is."""
        found = self._places(width)
        rows, columns = _extent(found)
        cell = (width - L * (columns - 1)) / max(1, columns)
        highest = max(LOWEST, min(HIGHEST, round(cell * SHAPE)))
        gaps = M * max(0, rows - 1)
        return max(rows * LOWEST + gaps, min(self._room, rows * highest + gaps))

    def row_ends(self, width: int) -> list[int]:
        """Where each row ends at the least that a row needs."""
        rows, _columns = _extent(self._places(width))
        return [row * LOWEST + (row - 1) * M for row in range(1, rows + 1)]

    def sizeHint(self) -> QSize:
        """Three columns of two rows."""
        width = 3 * _CELL + 2 * L
        return QSize(width, self.heightForWidth(width))

    def minimumSize(self) -> QSize:
        """Two narrow columns."""
        return QSize(2 * _NARROW_CELL + L, LOWEST)

    def setGeometry(self, rect: QRect) -> None:
        """Place the charts."""
        super().setGeometry(rect)
        found = self._places(rect.width())
        rows, columns = _extent(found)
        for item, place in zip(self._shown(), found, strict=True):
            left, right = _share(rect.width(), L, columns, place.column, place.columns)
            top, bottom = _share(rect.height(), M, rows, place.row, place.rows)
            item.setGeometry(QRect(rect.left() + left, rect.top() + top, right - left, bottom - top))

    def _shown(self) -> list[QLayoutItem]:
        return [item for item in (*self._engines, *self._memories) if not item.isEmpty()]

    def _places(self, width: int) -> list[Place]:
        engines, memories = (sum(not i.isEmpty() for i in items) for items in (self._engines, self._memories))
        widest = 3 if width >= 3 * _CELL + 2 * L else 2 if width >= 2 * _NARROW_CELL + L else 1
        return places(engines, memories, widest)


def _extent(found: list[Place]) -> tuple[int, int]:
    rows = max((place.row + place.rows for place in found), default=0)
    return rows, max((place.column + place.columns for place in found), default=1)


def _share(length: int, gap: int, count: int, first: int, span: int) -> tuple[int, int]:
    """Begin and end of ``span`` of ``count`` equal parts with gaps between them."""
    parts = length - gap * (count - 1)
    return first * gap + parts * first // count, (first + span - 1) * gap + parts * (first + span) // count
