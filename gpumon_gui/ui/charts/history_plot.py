"""Knows: how one figure over a past span is drawn: mean, band from lowest to highest, a second span to compare with,
markers. Must not know: where the numbers come from, what is done by mouse or keyboard.

The picture is made once for each change of the data; the cross-hair is drawn above it. Making it takes some
milliseconds, so who sets several drawings has them made one by one.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from PySide6.QtCore import QLineF, QPointF, QRectF, QSize, Qt, Signal, Slot
from PySide6.QtGui import QColor, QImage, QPainter, QPainterPath, QPaintEvent, QPen, QPixmap, QPolygonF, QResizeEvent
from PySide6.QtWidgets import QSizePolicy, QWidget

from gpumon_gui.history.buckets import NO_SERIES, Floats, Series
from gpumon_gui.history.reading import Span
from gpumon_gui.ui.charts.plot import curve_path
from gpumon_gui.ui.theme import TONES, Text, Theme
from gpumon_gui.ui.theme import Series as Colour

#: Room for the labels of the value axis.
AXIS_WIDTH = 58
_ROWS = 4
_DENSE = 1.5
#: Opacity of the band and of the area below the mean, in parts of the theme's.
_BAND = 2.4
_AREA = 0.7
#: Half the width of the dot under the cross-hair, its edge included.
_DOT = 4.5
#: Half the width of a marker's flag.
FLAG = 7
#: Flags closer than this, on the average, are a crowd.
_CROWDED = 24


@dataclass(frozen=True, slots=True)
class Flag:
    """A marker on the axis: when, and the colour of its tone (``good``, ``info``, ``attention``, ``bad``)."""

    utc_s: float
    tone: str
    end_s: float | None = None


_NOTHING = Span(0.0, 1.0)


@dataclass(frozen=True, slots=True, eq=False)
class Drawing:
    """What one plot shows. ``other`` is drawn ``shift_s`` later than it was."""

    span: Span = _NOTHING
    series: Series = NO_SERIES
    other: Series = NO_SERIES
    shift_s: float = 0.0
    top: float = 1.0
    labels: tuple[str, ...] = ()  #: of the value axis, from the top down
    flags: tuple[Flag, ...] = ()
    ticks: tuple[float, ...] = ()  #: of the time axis, UTC seconds
    has_shapes: bool = True  #: the flags have their shapes here, and only lines in the plots below


class HistoryPlot(QWidget):
    """One plot with its value axis. Takes no mouse events: they belong to the stack around.

    Signals:
        stale(): :meth:`draw` is to be called soon.
    """

    stale = Signal()

    def __init__(self, theme: Theme, colour: Colour, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._theme = theme
        self._colour = colour
        self._drawing = Drawing()
        self._picture: QPixmap | None = None
        self._is_stale = True
        self._cursor_s: float | None = None
        self._selection: tuple[float, float] | None = None
        self.setFont(theme.font(Text.CAPTION))
        self.setAttribute(Qt.WidgetAttribute.WA_TransparentForMouseEvents)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Expanding)
        theme.changed.connect(self._redraw)

    @property
    def drawing(self) -> Drawing:
        """What it shows."""
        return self._drawing

    def set_drawing(self, drawing: Drawing) -> None:
        """Show something else, from the next :meth:`draw` on."""
        if drawing is not self._drawing:
            self._drawing = drawing
            self._redraw()

    def draw(self) -> bool:
        """Make the picture. False: it is there, or nobody would see it."""
        if not self._is_stale or self.visibleRegion().isEmpty():
            return False
        self._picture = self._draw()
        self._is_stale = False
        self.update()
        return True

    def set_cursor_at(self, utc_s: float | None) -> None:
        """Where the cross-hair stands; None for nowhere."""
        if utc_s != self._cursor_s:
            self._cursor_s = utc_s
            self.update()

    def set_selection(self, selection: tuple[float, float] | None) -> None:
        """The part (UTC seconds) that is being selected."""
        if selection != self._selection:
            self._selection = selection
            self.update()

    def area(self) -> QRectF:
        """The plot without its axis."""
        return QRectF(AXIS_WIDTH, 0, max(1, self.width() - AXIS_WIDTH), max(1, self.height()))

    def x_of(self, utc_s: float) -> float:
        """Where a moment stands, in pixels of this widget."""
        span, area = self._drawing.span, self.area()
        return area.left() + (utc_s - span.left_s) / span.length_s * area.width()

    def sizeHint(self) -> QSize:
        """Low: the page gives plots the height that is left."""
        return QSize(320, 92)

    def minimumSizeHint(self) -> QSize:
        """Two labels above each other."""
        return QSize(160, 48)

    # -- drawing

    @Slot()
    def _redraw(self) -> None:
        self._is_stale = True
        self.stale.emit()

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Another picture."""
        self._redraw()

    def paintEvent(self, event: QPaintEvent) -> None:
        """The picture, and what moves above it."""
        if self._picture is not None and self._picture.devicePixelRatio() != self.devicePixelRatioF():
            self._is_stale = True  # on another screen now
        if self._is_stale:  # what there is, until it is drawn
            self.stale.emit()
        painter = QPainter(self)
        colours = self._theme.colours
        area = self.area()
        if self._picture is None:
            painter.fillRect(area, QColor(colours.chart_back))
            painter.end()
            return
        if self._picture.size() == self._pixels():
            painter.drawPixmap(0, 0, self._picture)
        else:
            painter.drawPixmap(self.rect(), self._picture)
        if self._selection is not None:
            left, right = sorted(min(max(self.x_of(at), area.left()), area.right()) for at in self._selection)
            shade = QColor(colours.accent)
            shade.setAlpha(60)
            painter.fillRect(QRectF(left, area.top(), right - left, area.height()), shade)
        if self._cursor_s is not None:
            x = self.x_of(self._cursor_s)
            if area.left() <= x <= area.right():
                painter.setPen(QPen(QColor(colours.text), 1.0))
                painter.drawLine(QPointF(x, area.top()), QPointF(x, area.bottom()))
                self._draw_dot(painter, x)
        painter.end()

    def _draw_dot(self, painter: QPainter, x: float) -> None:
        series = self._drawing.series
        near = nearest(series, self._cursor_s or 0.0)
        if near is None or not np.isfinite(series.mean[near]):
            return
        colours, area = self._theme.colours, self.area()
        y = area.bottom() - float(series.mean[near]) / self._drawing.top * area.height()
        y = min(max(y, area.top() + _DOT), area.bottom() - _DOT)  # whole at both ends
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setPen(QPen(QColor(colours.chart_back), 1.5))
        painter.setBrush(self._theme.series(self._colour))
        painter.drawEllipse(QPointF(x, y), _DOT - 0.5, _DOT - 0.5)

    def _pixels(self) -> QSize:
        ratio = self.devicePixelRatioF()
        return QSize(round(self.width() * ratio), round(self.height() * ratio))

    def _draw(self) -> QPixmap:
        ratio = self.devicePixelRatioF()
        picture = QPixmap(self._pixels())
        picture.setDevicePixelRatio(ratio)
        picture.fill(Qt.GlobalColor.transparent)
        painter = QPainter(picture)
        area = self.area()
        painter.fillRect(area, QColor(self._theme.colours.chart_back))
        self._draw_grid(painter, area)
        self._draw_area(painter, area, ratio)
        painter.save()
        painter.setClipRect(area)
        self._draw_curves(painter, area, ratio)
        self._draw_flags(painter, area)
        painter.restore()
        pen = QPen(self._border(), 1.0)
        pen.setCosmetic(True)
        painter.setPen(pen)
        inset = 0.5 / ratio
        painter.drawRect(area.adjusted(inset, inset, -inset, -inset))
        painter.end()
        return picture

    def _draw_grid(self, painter: QPainter, area: QRectF) -> None:
        colours, drawing = self._theme.colours, self._drawing
        pen = QPen(QColor(colours.chart_grid), 1.0)
        pen.setCosmetic(True)
        painter.setPen(pen)
        lines = [self._upright(self.x_of(tick), area) for tick in drawing.ticks]
        for row in range(1, _ROWS):
            y = area.top() + row * area.height() / _ROWS
            lines.append(QLineF(area.left(), y, area.right(), y))
        painter.drawLines(lines)
        painter.setFont(self.font())
        painter.setPen(QColor(colours.muted))
        high = painter.fontMetrics().height()
        count = len(drawing.labels)
        for number, label in enumerate(drawing.labels):
            if number not in (0, count - 1) and area.height() < high * (count + 1):
                continue
            y = area.top() + (area.height() - high) * number / max(1, count - 1)
            room = QRectF(0, y, AXIS_WIDTH - 6, high)
            painter.drawText(room, Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter, label)

    def _draw_area(self, painter: QPainter, area: QRectF, ratio: float) -> None:
        """The area below the mean, and the band from lowest to highest above it, one pixel column after the other."""
        drawing = self._drawing
        series = drawing.series
        width, height = round(area.width() * ratio), round(area.height() * ratio)
        if len(series) < 2 or width < 1 or height < 1:
            return
        span = drawing.span
        centres = span.left_s + (np.arange(width, dtype=np.float64) + 0.5) * (span.length_s / width)
        low, mean, high = (
            _rows(series.time_s, each, centres, height, drawing.top) for each in (series.low, series.mean, series.high)
        )
        rows = np.arange(height, dtype=np.float32)[:, None]
        curve = self._theme.series(self._colour)
        alpha = self._theme.colours.fill_alpha
        pixels = np.multiply(rows >= mean, _premultiplied(curve, alpha * _AREA), dtype=np.uint32)
        if (high < low - 0.5).any():
            band = rows >= high
            band &= rows < low
            np.copyto(pixels, _premultiplied(curve, min(200.0, alpha * _BAND)), where=band)
        image = QImage(pixels.data, width, height, 4 * width, QImage.Format.Format_ARGB32_Premultiplied)
        image.setDevicePixelRatio(ratio)
        painter.drawImage(area.topLeft(), image)

    def _draw_curves(self, painter: QPainter, area: QRectF, ratio: float) -> None:
        drawing = self._drawing
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        other = self._theme.colours.muted
        for series, shift_s, colour, dashed in (
            (drawing.other, drawing.shift_s, QColor(other), True),
            (drawing.series, 0.0, self._theme.series(self._colour), False),
        ):
            if not len(series):
                continue
            pen = QPen(colour, 1.0)
            pen.setCosmetic(True)
            if dashed and len(series) < 300:  # a dense curve has no room for dashes
                pen.setStyle(Qt.PenStyle.DashLine)
            painter.setPen(pen)
            x = area.left() + (series.time_s + shift_s - drawing.span.left_s) / drawing.span.length_s * area.width()
            y = area.bottom() - series.mean / drawing.top * area.height()
            path = curve_path(x, y)
            painter.drawPath(path)
            if ratio >= _DENSE:  # two thin curves cost a tenth of a thick one
                painter.drawPath(path.translated(0.7 / ratio, 0.7 / ratio))
            self._draw_lone(painter, x, y, colour)

    @staticmethod
    def _draw_lone(painter: QPainter, x: Floats, y: Floats, colour: QColor) -> None:
        """Values between two gaps, which no line shows."""
        finite = np.isfinite(y)
        alone = finite & ~np.r_[False, finite[:-1]] & ~np.r_[finite[1:], False]
        painter.setBrush(colour)
        for number in np.flatnonzero(alone)[:500].tolist():
            painter.drawEllipse(QPointF(float(x[number]), float(y[number])), 1.5, 1.5)
        painter.setBrush(Qt.BrushStyle.NoBrush)

    def _draw_flags(self, painter: QPainter, area: QRectF) -> None:
        colours, drawing = self._theme.colours, self._drawing
        scale = area.width() / drawing.span.length_s
        # Many of them: no lines, which would cover the curves, and one flag for those side by side, the worst.
        is_crowded = len(drawing.flags) * _CROWDED > area.width()
        wide = 2 * FLAG + 2 if is_crowded else 3
        worst: dict[int, tuple[str, float]] = {}
        for flag in drawing.flags:
            tone = flag.tone if flag.tone in TONES else "info"
            x = area.left() + (flag.utc_s - drawing.span.left_s) * scale
            there = worst.get(int(x / wide))
            if there is None or TONES.index(tone) > TONES.index(there[0]):
                worst[int(x / wide)] = (tone, x)
            if flag.end_s is not None:
                shade = QColor(colours.tone(tone))
                shade.setAlpha(36)
                painter.fillRect(QRectF(x, area.top(), (flag.end_s - flag.utc_s) * scale, area.height()), shade)
        for tone in TONES:  # the worst last: nothing covers it
            places = [x for found, x in worst.values() if found == tone]
            if not places:
                continue
            pen = QPen(QColor(colours.tone(tone)), 1.0, Qt.PenStyle.DotLine)
            pen.setCosmetic(True)
            painter.setPen(pen)
            painter.setRenderHint(QPainter.RenderHint.Antialiasing, False)
            if not is_crowded:
                painter.drawLines([self._upright(x, area) for x in places])
            if not drawing.has_shapes:
                continue
            shapes = QPainterPath()
            for x in places:
                shapes.addPolygon(_flag_shape(tone, x, area.top()))
            painter.setRenderHint(QPainter.RenderHint.Antialiasing)
            painter.fillPath(shapes, QColor(colours.tone(tone)))

    @staticmethod
    def _upright(x: float, area: QRectF) -> QLineF:
        return QLineF(x, area.top(), x, area.bottom())

    def _border(self) -> QColor:
        back, curve = QColor(self._theme.colours.chart_back), self._theme.series(self._colour)
        return QColor.fromRgbF(
            *(0.55 * a + 0.45 * b for a, b in zip(curve.getRgbF()[:3], back.getRgbF()[:3], strict=True))  # type: ignore[index]
        )


def nearest(series: Series, utc_s: float) -> int | None:
    """The point next to a moment; None without points. The point may be a gap."""
    if not len(series):
        return None
    after = int(np.searchsorted(series.time_s, utc_s))
    if after == 0:
        return 0
    if after == len(series):
        return after - 1
    return after if series.time_s[after] - utc_s < utc_s - series.time_s[after - 1] else after - 1


def _flag_shape(tone: str, x: float, top: float) -> QPolygonF:
    """Told apart by shape as well: a triangle for bad, a square for attention, a rhomb for the rest."""
    f = float(FLAG)
    if tone == "bad":
        points = [(x - f, top), (x + f, top), (x, top + 1.6 * f)]
    elif tone == "attention":
        points = [(x - f * 0.8, top), (x + f * 0.8, top), (x + f * 0.8, top + 1.4 * f), (x - f * 0.8, top + 1.4 * f)]
    else:
        points = [(x, top), (x + f, top + f), (x, top + 2 * f), (x - f, top + f)]
    return QPolygonF([QPointF(a, b) for a, b in points])


def _rows(time_s: Floats, values: Floats, centres: Floats, height: int, top: float) -> npt.NDArray[np.float32]:
    """The row of a value in each pixel column; NaN where there is none."""
    found = height * (1.0 - np.interp(centres, time_s, values, left=np.nan, right=np.nan) / top)
    return found.astype(np.float32)


def _premultiplied(colour: QColor, alpha: float) -> npt.NDArray[np.uint32] | np.uint32:
    parts = (round(alpha), *(round(part * alpha / 255) for part in (colour.red(), colour.green(), colour.blue())))
    return np.uint32(int.from_bytes(bytes(parts), "big"))
