"""Knows: a plot of the history with its caption, and the time axis below all of them. Must not know: mouse, keys."""

from __future__ import annotations

from PySide6.QtCore import QRectF, QSize, Qt
from PySide6.QtGui import QColor, QFontMetrics, QPainter, QPaintEvent
from PySide6.QtWidgets import QHBoxLayout, QSizePolicy, QVBoxLayout, QWidget

from gpumon_gui.core.clock import local_moment
from gpumon_gui.history.reading import Span
from gpumon_gui.ui import moments
from gpumon_gui.ui.charts.axis import DAY_S, MINUTE_S, Tick, time_ticks
from gpumon_gui.ui.charts.history_plot import AXIS_WIDTH, HistoryPlot
from gpumon_gui.ui.theme import XS, S, Series, Text, Theme
from gpumon_gui.ui.widgets.text import FixedLabel

LOWEST = 80


class HistoryChart(QWidget):
    """Caption left, figures right, the plot below."""

    def __init__(self, theme: Theme, metric_id: str, colour: Series, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.metric_id = metric_id
        self.caption = FixedLabel(theme, Text.CAPTION, muted=True, parent=self)
        self.figure = FixedLabel(theme, Text.CAPTION, align=Qt.AlignmentFlag.AlignRight, parent=self)
        self.plot = HistoryPlot(theme, colour, self)
        head = QHBoxLayout()
        head.setContentsMargins(AXIS_WIDTH, 0, 0, 0)
        head.setSpacing(S)
        head.addWidget(self.caption, 2)
        head.addWidget(self.figure, 3)
        box = QVBoxLayout(self)
        box.setContentsMargins(0, 0, 0, 0)
        box.setSpacing(XS)
        box.addLayout(head)
        box.addWidget(self.plot, 1)
        self.setMinimumHeight(LOWEST)
        for label in (self.caption, self.figure):
            label.setAttribute(Qt.WidgetAttribute.WA_TransparentForMouseEvents)

    def set_texts(self, caption: str, figure: str, spoken: str) -> None:
        """Caption, the figures at the right, and what a screen reader says."""
        self.caption.set_text(caption)
        self.figure.set_text(figure)
        if self.accessibleName() != spoken:
            self.setAccessibleName(spoken)


class TimeAxis(QWidget):
    """The labels below the plots. ``set_room`` keeps it in line with them."""

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._theme = theme
        self._span: Span | None = None
        self._width = 0
        self.setFont(theme.font(Text.CAPTION))
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        theme.changed.connect(self.update)

    def set_span(self, span: Span) -> None:
        """The span of the plots."""
        if span != self._span:
            self._span = span
            self.update()

    def set_room(self, width: int) -> None:
        """How wide the plots are, their value axis included."""
        if width != self._width:
            self._width = width
            self.update()

    def labels(self) -> list[tuple[float, str]]:
        """Where each label's middle stands (pixels), and the label."""
        if self._span is None:
            return []
        width = max(1, self._width - AXIS_WIDTH)
        left_s, length_s = self._span.left_s, self._span.length_s
        return [
            (AXIS_WIDTH + (tick.utc_s - left_s) / length_s * width, tick_text(tick))
            for tick in time_ticks(left_s, self._span.right_s, width)
        ]

    def sizeHint(self) -> QSize:
        """One line."""
        return QSize(100, QFontMetrics(self.font()).height() + XS)

    def paintEvent(self, event: QPaintEvent) -> None:
        """Labels that do not touch each other."""
        painter = QPainter(self)
        painter.setFont(self.font())
        painter.setPen(QColor(self._theme.colours.muted))
        metrics = painter.fontMetrics()
        free_from = 0.0
        for x, text in self.labels():
            wide = metrics.horizontalAdvance(text)
            left = min(x - wide / 2, self._width - wide)
            if left >= free_from:
                painter.drawText(QRectF(left, 0, wide + 2, self.height()), Qt.AlignmentFlag.AlignVCenter, text)
                free_from = left + wide + S
        painter.end()


def tick_text(tick: Tick) -> str:
    """A label as fine as the marks are far apart, in the user's own time."""
    if tick.step_s >= 30 * DAY_S:
        return moments.month(tick.utc_s)
    when = local_moment(tick.utc_s)
    if tick.step_s >= DAY_S or (tick.step_s >= MINUTE_S and (when.hour, when.minute) == (0, 0)):
        return moments.day_of_year(tick.utc_s)
    return moments.clock(tick.utc_s, seconds=tick.step_s < MINUTE_S)
