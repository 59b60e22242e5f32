"""Knows: the list of figures beside the charts of the history. Must not know: where they come from."""

from __future__ import annotations

from dataclasses import dataclass

from PySide6.QtCore import QEvent, QObject, QRectF, QSize, Qt
from PySide6.QtGui import QColor, QFocusEvent, QFontMetrics, QPainter, QPaintEvent
from PySide6.QtWidgets import QFrame, QScrollArea, QSizePolicy, QVBoxLayout, QWidget

from gpumon_gui.ui.focus_ring import paint_ring
from gpumon_gui.ui.theme import M, S, Series, Text, Theme
from gpumon_gui.ui.widgets.button import BY_KEYBOARD
from gpumon_gui.ui.widgets.section import SlimScrollBar
from gpumon_gui.ui.widgets.text import FixedLabel

WIDTH = 232
_BAR = 3


@dataclass(frozen=True, slots=True)
class Row:
    """A figure: its name, the lines below it (value and what stands right of it), and the colour of its chart, if it
    has one on show."""

    name: str
    lines: tuple[tuple[str, str], ...]
    colour: Series | None = None


class HistoryReadout(QWidget):
    """A heading and rows; the wheel scrolls them. Read by screen readers as one text."""

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._theme = theme
        self.heading = FixedLabel(theme, Text.STRONG, parent=self)
        self.second = FixedLabel(theme, Text.CAPTION, muted=True, parent=self)
        self.rows = _Rows(theme)
        self._scroll = QScrollArea(self)
        self._scroll.setWidgetResizable(True)
        self._scroll.setFrameShape(QFrame.Shape.NoFrame)
        self._scroll.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self._scroll.setVerticalScrollBar(SlimScrollBar(theme))
        self._scroll.setWidget(self.rows)
        box = QVBoxLayout(self)
        box.setContentsMargins(S, 3, 3, 3)  # room for the ring of the focus
        box.setSpacing(2)
        box.addWidget(self.heading)
        box.addWidget(self.second)
        box.addSpacing(S)
        box.addWidget(self._scroll, 1)
        self.setFixedWidth(WIDTH + S + 3)
        self._scroll.installEventFilter(self)

    _ring = False

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """The ring is for those who came by keyboard."""
        if isinstance(event, QFocusEvent):
            self._ring = event.gotFocus() and event.reason() in BY_KEYBOARD
            self.update()
        return False

    def paintEvent(self, event: QPaintEvent) -> None:
        """The ring of the focus."""
        if not self._ring:
            return
        painter = QPainter(self)
        paint_ring(painter, QRectF(self.rect()).adjusted(1, 1, -1, -1), self._theme.colours)
        painter.end()

    def show_rows(self, heading: str, second: str, rows: tuple[Row, ...]) -> None:
        """Say something else."""
        self.heading.set_text(heading)
        self.second.set_text(second)
        self.second.setVisible(bool(second))
        self.rows.show_rows(rows)
        spoken = self.text()
        if spoken != self._scroll.accessibleDescription():
            self._scroll.setAccessibleName(heading)
            self._scroll.setAccessibleDescription(spoken)

    def text(self) -> str:
        """Everything it says: a line for each row, parts apart by tabs."""
        return "\n".join((*(part for part in (self.heading.text, self.second.text) if part), *self.lines()))

    def lines(self) -> list[str]:
        """A line for each row."""
        return ["\t".join((row.name, *(part for line in row.lines for part in line if part))) for row in self.rows.rows]


class _Rows(QWidget):
    def __init__(self, theme: Theme) -> None:
        super().__init__()
        self._theme = theme
        self.rows: tuple[Row, ...] = ()
        self.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Minimum)
        theme.changed.connect(self.update)

    def show_rows(self, rows: tuple[Row, ...]) -> None:
        if rows != self.rows:
            count = sum(len(row.lines) for row in self.rows)
            self.rows = rows
            if sum(len(row.lines) for row in rows) != count:
                self.updateGeometry()
            self.update()

    def _heights(self) -> tuple[int, int]:
        small = QFontMetrics(self._theme.font(Text.CAPTION)).height()
        return small, QFontMetrics(self._theme.font(Text.BODY)).height()

    def sizeHint(self) -> QSize:
        small, line = self._heights()
        return QSize(WIDTH, sum(small + line * len(row.lines) + S for row in self.rows) + S)

    def minimumSizeHint(self) -> QSize:
        return self.sizeHint()

    def paintEvent(self, event: QPaintEvent) -> None:
        colours = self._theme.colours
        painter = QPainter(self)
        small, line = self._heights()
        top = 0.0
        width = self.width() - M - _BAR
        for row in self.rows:
            height = small + line * len(row.lines)
            if event.rect().intersects(QRectF(0, top, self.width(), height).toRect()):
                if row.colour is not None:
                    painter.fillRect(QRectF(0, top + 2, _BAR, height - 2), self._theme.series(row.colour))
                painter.setFont(self._theme.font(Text.CAPTION))
                painter.setPen(QColor(colours.muted))
                metrics = painter.fontMetrics()
                name = metrics.elidedText(row.name, Qt.TextElideMode.ElideRight, width)
                painter.drawText(QRectF(_BAR + S, top, width, small), Qt.AlignmentFlag.AlignVCenter, name)
                for number, (value, beside) in enumerate(row.lines):
                    room = QRectF(_BAR + S, top + small + number * line, width - S, line)
                    painter.setFont(self._theme.font(Text.BODY))
                    painter.setPen(QColor(colours.text))
                    painter.drawText(room, Qt.AlignmentFlag.AlignVCenter, value)
                    painter.setFont(self._theme.font(Text.CAPTION))
                    painter.setPen(QColor(colours.muted))
                    right = Qt.AlignmentFlag.AlignVCenter | Qt.AlignmentFlag.AlignRight
                    painter.drawText(room, right, beside)
            top += height + S
        painter.end()
