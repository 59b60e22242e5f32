"""Knows: how the adapters stand in the list at the left. Must not know: feed, sources.

One view with a painting delegate, so that sixteen GPUs cost no more widgets than one, arrow keys work and a screen
reader hears each line.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
from PySide6.QtCore import (
    QAbstractListModel,
    QModelIndex,
    QPersistentModelIndex,
    QPoint,
    QRect,
    QRectF,
    QSize,
    Qt,
    Signal,
)
from PySide6.QtGui import QColor, QFontMetrics, QKeyEvent, QKeySequence, QPainter, QPaintEvent
from PySide6.QtWidgets import (
    QAbstractItemView,
    QFrame,
    QListView,
    QStyle,
    QStyledItemDelegate,
    QStyleOptionViewItem,
    QVBoxLayout,
    QWidget,
)

from gpumon_gui.core.files import printable
from gpumon_gui.core.messages import _
from gpumon_gui.core.model import DeviceKey
from gpumon_gui.ui.charts.decimate import Array
from gpumon_gui.ui.charts.spark import paint_spark
from gpumon_gui.ui.focus_ring import paint_ring
from gpumon_gui.ui.text_height import text_height
from gpumon_gui.ui.theme import RADIUS, XS, M, S, Series, Text, Theme
from gpumon_gui.ui.tips import plain
from gpumon_gui.ui.widgets.section import SlimScrollBar

AnyIndex = QModelIndex | QPersistentModelIndex
_SPARK = QSize(76, 50)


@dataclass(frozen=True, slots=True)
class Line:
    """One line of the list. ``badge`` is a state in a word (empty when all is well), ``mark`` its colour.
    ``full_name`` is what a tool tip and a screen reader say for ``name``."""

    title: str
    name: str
    figure: str
    badge: str = ""
    mark: str = ""
    dimmed: bool = False
    indent: bool = False
    full_name: str = ""


@dataclass(eq=False, slots=True)
class Entry:
    """An adapter of the list with its past (0..1, newest last)."""

    key: DeviceKey
    line: Line
    spark: Array = field(default_factory=lambda: np.empty(0))


class AdapterModel(QAbstractListModel):
    """The adapters; announces only the lines that changed."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._entries: list[Entry] = []

    @property
    def keys(self) -> list[DeviceKey]:
        """The adapters in order."""
        return [entry.key for entry in self._entries]

    def entry(self, row: int) -> Entry:
        """One line with its past."""
        return self._entries[row]

    def update(self, entries: Sequence[Entry]) -> bool:
        """Take new lines. Returns whether the adapters themselves are others (the selection is then gone)."""
        if [entry.key for entry in entries] != self.keys:
            self.beginResetModel()
            self._entries = list(entries)
            self.endResetModel()
            return True
        self._entries = list(entries)
        if entries:
            self.dataChanged.emit(self.index(0), self.index(len(entries) - 1))
        return False

    def rowCount(self, parent: AnyIndex = QModelIndex()) -> int:  # noqa: B008 - Qt's own default
        """How many adapters."""
        return 0 if parent.isValid() else len(self._entries)

    def data(self, index: AnyIndex, role: int = Qt.ItemDataRole.DisplayRole) -> object:
        """What a screen reader and a tool tip say; the delegate paints from :meth:`entry`."""
        if not index.isValid():
            return None
        line = self._entries[index.row()].line
        name = line.name if role == Qt.ItemDataRole.DisplayRole else line.full_name or line.name
        if role in (Qt.ItemDataRole.DisplayRole, Qt.ItemDataRole.AccessibleTextRole):
            return _(", ").join(part for part in (line.title, name, line.badge, line.figure) if part)
        if role == Qt.ItemDataRole.ToolTipRole:
            return plain(name)
        return None


class _Delegate(QStyledItemDelegate):
    def __init__(self, theme: Theme, model: AdapterModel, parent: QWidget) -> None:
        super().__init__(parent)
        self._theme = theme
        self._model = model

    def sizeHint(self, option: QStyleOptionViewItem, index: AnyIndex) -> QSize:
        return QSize(160, line_height(self._theme))

    def paint(self, painter: QPainter, option: QStyleOptionViewItem, index: AnyIndex) -> None:
        entry = self._model.entry(index.row())
        state = option.state
        area: QRect = option.rect
        colours = self._theme.colours
        selected = bool(state & QStyle.StateFlag.State_Selected)
        hover = bool(state & QStyle.StateFlag.State_MouseOver)
        painter.save()
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        back = QRectF(area).adjusted(XS, 1, -XS, -1)
        if selected or hover:
            painter.setPen(Qt.PenStyle.NoPen)
            painter.setBrush(QColor(colours.selected if selected else colours.hover))
            painter.drawRoundedRect(back, RADIUS, RADIUS)
        if selected:
            painter.setPen(Qt.PenStyle.NoPen)
            painter.setBrush(QColor(colours.accent))
            painter.drawRoundedRect(QRectF(back.left(), back.center().y() - 10, 3, 20), 1.5, 1.5)
        if state & QStyle.StateFlag.State_HasFocus and state & QStyle.StateFlag.State_KeyboardFocusChange:
            paint_ring(painter, back.adjusted(1, 1, -1, -1), colours)
        painter.restore()
        paint_line(painter, area, self._theme, entry.line, entry.spark, Series.ENGINE)


def line_height(theme: Theme) -> int:
    """Height of one line for the fonts in use."""
    text = text_height(theme.font(Text.STRONG)) + 2 * text_height(theme.font(Text.CAPTION))
    return max(_SPARK.height() + 2 * S, text + 2 * S)


def paint_line(painter: QPainter, area: QRect, theme: Theme, line: Line, spark: Array, series: Series) -> None:
    """Paint spark line, title, name and figure into ``area``."""
    colours = theme.colours
    left = area.left() + M + (M if line.indent else 0)
    place = QRect(QPoint(left, area.top() + (area.height() - _SPARK.height()) // 2), _SPARK)
    curve = QColor(colours.faint) if line.dimmed else theme.series(series)
    border = QColor(colours.border if line.dimmed else curve)
    alpha = 24 if line.dimmed else colours.fill_alpha
    paint_spark(painter, QRectF(place), spark, 1.0, curve, QColor(colours.chart_back), border, alpha)
    x = place.right() + M
    width = area.right() - x - S
    strong, caption = QFontMetrics(theme.font(Text.STRONG)), QFontMetrics(theme.font(Text.CAPTION))
    high, low = text_height(theme.font(Text.STRONG)), text_height(theme.font(Text.CAPTION))
    lines = 1 + bool(line.name)
    y = area.top() + (area.height() - high - lines * low) // 2
    badge_width = _paint_badge(painter, theme, line, area.right() - S, y, caption) if line.badge else 0

    def write(text: str, role: Text, colour: str, metrics: QFontMetrics, room: int) -> None:
        painter.setFont(theme.font(role))
        painter.setPen(QColor(colour))
        cut = metrics.elidedText(printable(text), Qt.TextElideMode.ElideRight, room)
        painter.drawText(QRect(x, y, room, high if role is Text.STRONG else low), Qt.AlignmentFlag.AlignVCenter, cut)

    write(line.title, Text.STRONG, colours.text, strong, width - badge_width)
    y += high
    if line.name:
        write(line.name, Text.CAPTION, colours.muted, caption, width)
        y += low
    write(line.figure, Text.CAPTION, colours.faint if line.dimmed else colours.text, caption, width)


def _paint_badge(painter: QPainter, theme: Theme, line: Line, right: int, top: int, metrics: QFontMetrics) -> int:
    colours = theme.colours
    colour = colours.tone(line.mark, colours.muted)
    back = colours.tone_back(line.mark, colours.hover)
    width = metrics.horizontalAdvance(line.badge) + 2 * S
    area = QRectF(right - width, top, width, metrics.height() + 2)
    painter.save()
    painter.setRenderHint(QPainter.RenderHint.Antialiasing)
    painter.setPen(QColor(colour))
    painter.setBrush(QColor(back))
    painter.drawRoundedRect(area.adjusted(0.5, 0.5, -0.5, -0.5), area.height() / 2, area.height() / 2)
    painter.setFont(theme.font(Text.CAPTION))
    painter.drawText(area, Qt.AlignmentFlag.AlignCenter, line.badge)
    painter.restore()
    return width + XS


class HostLine(QWidget):
    """CPU or memory of the machine, for comparison; looks like a line of the list."""

    def __init__(self, theme: Theme, series: Series, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._theme = theme
        self._series = series
        self._line = Line("", "", "")
        self._spark: Array = np.empty(0)
        self.setFixedHeight(line_height(theme))
        theme.changed.connect(self.update)

    def show_line(self, line: Line, spark: Array) -> None:
        """New figure and past."""
        if line != self._line:
            self._line = line
            self.setAccessibleName(f"{line.title}, {line.figure}")
        self._spark = spark
        self.update()

    @property
    def line(self) -> Line:
        """What it says."""
        return self._line

    def paintEvent(self, event: QPaintEvent) -> None:
        """Paint the line."""
        painter = QPainter(self)
        paint_line(painter, self.rect(), self._theme, self._line, self._spark, self._series)
        painter.end()


class _View(QListView):
    def keyPressEvent(self, event: QKeyEvent) -> None:
        if event.matches(QKeySequence.StandardKey.Copy):
            event.ignore()  # the page copies every figure, not the one line
        else:
            super().keyPressEvent(event)


class AdapterList(QWidget):
    """The list, and CPU and memory below it.

    Signals:
        chosen(object): the user selected the adapter with this key.
    """

    chosen = Signal(object)

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._theme = theme
        self.model = AdapterModel(self)
        self._view = _View(self)
        self._view.setModel(self.model)
        self._view.setItemDelegate(_Delegate(theme, self.model, self))
        self._view.setFrameShape(QFrame.Shape.NoFrame)
        self._view.setUniformItemSizes(True)
        self._view.setMouseTracking(True)
        self._view.setSelectionMode(QAbstractItemView.SelectionMode.SingleSelection)
        self._view.setVerticalScrollMode(QAbstractItemView.ScrollMode.ScrollPerPixel)
        self._view.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self._view.viewport().setAutoFillBackground(False)
        self._view.setVerticalScrollBar(SlimScrollBar(theme))
        self._view.setMinimumHeight(line_height(theme))
        self.cpu = HostLine(theme, Series.CPU, self)
        self.ram = HostLine(theme, Series.RAM, self)
        box = QVBoxLayout(self)
        box.setContentsMargins(0, S, 0, S)
        box.setSpacing(0)
        box.addWidget(self._view, 1)
        box.addWidget(_Rule(theme, self))
        box.addWidget(self.cpu)
        box.addWidget(self.ram)
        self.setFixedWidth(self._wanted_width())
        self._view.selectionModel().currentChanged.connect(self._current_changed)
        theme.changed.connect(self._view.viewport().update)

    def view(self) -> QListView:
        """The view itself, for tests and focus."""
        return self._view

    def set_entries(self, entries: Sequence[Entry], selected: DeviceKey | None) -> None:
        """Show these adapters; ``selected`` stays selected without a signal."""
        blocked = self._view.selectionModel().blockSignals(True)
        try:
            if self.model.update(entries) or self._selected() != selected:
                self.select(selected)
        finally:
            self._view.selectionModel().blockSignals(blocked)

    def select(self, key: DeviceKey | None) -> None:
        """Mark the line of an adapter."""
        keys = self.model.keys
        if key in keys:
            self._view.setCurrentIndex(self.model.index(keys.index(key)))
        self._view.viewport().update()

    def retranslate(self, name: str) -> None:
        """What a screen reader calls the list."""
        self._view.setAccessibleName(name)

    def _selected(self) -> DeviceKey | None:
        index = self._view.currentIndex()
        return self.model.entry(index.row()).key if index.isValid() else None

    def _current_changed(self, current: QModelIndex) -> None:
        if current.isValid():
            self.chosen.emit(self.model.entry(current.row()).key)

    def _wanted_width(self) -> int:
        metrics = QFontMetrics(self._theme.font(Text.CAPTION))
        return M + _SPARK.width() + M + metrics.horizontalAdvance("NVIDIA GeForce RTX") + L_SCROLL


#: Room for the scroll bar and the right margin.
L_SCROLL = 28


class _Rule(QWidget):
    def __init__(self, theme: Theme, parent: QWidget) -> None:
        super().__init__(parent)
        self._theme = theme
        self.setFixedHeight(S + 1)

    def paintEvent(self, event: QPaintEvent) -> None:
        painter = QPainter(self)
        painter.fillRect(QRect(M, S // 2, self.width() - 2 * M, 1), QColor(self._theme.colours.border))
        painter.end()
