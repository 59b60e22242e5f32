"""Knows: pyqtgraph. Must not know: samples, themes, what is drawn.

The one module that imports pyqtgraph; its missing types stay in here. Everything expensive that pyqtgraph does on its
own is off: axes, menus, mouse, automatic ranges, per-line grids.
"""

from __future__ import annotations

import os
from typing import Any

os.environ["PYQTGRAPH_QT_LIB"] = "PySide6"  # before the import: it would take any other Qt it finds

import numpy as np
import numpy.typing as npt
import pyqtgraph as pg
from PySide6.QtCore import QEvent, QPointF, QRectF, QSize, Qt
from PySide6.QtGui import QColor, QImage, QPainter, QPainterPath, QPen
from PySide6.QtWidgets import QWidget

from gpumon_gui.ui.charts.bands import PlacedBand, paint_bands
from gpumon_gui.ui.charts.decimate import Array, columns

_GRID_ROWS = 4
#: What lies above what; the curves are on top.
_Z_FILL, _Z_GRID, _Z_BANDS = -30.0, -20.0, -10.0
#: From this many device pixels to a layout pixel a curve of one device pixel is too thin to see well.
_DENSE = 1.5
#: A curve of more points than this is drawn thin: its strokes lie side by side anyway.
_TWIN_POINTS = 400


class _Fill(pg.GraphicsObject):  # type: ignore[misc] # pyqtgraph has no types
    """The area under a curve, one pixel column after the other, made as a picture by numpy.

    A translucent polygon under 60 points costs 0.7 ms and under 600 noisy ones 14 ms; this costs 0.1 ms for either.
    """

    def __init__(self) -> None:
        super().__init__()
        self._rect = QRectF()
        self._colour = 0
        self._image: QImage | None = None
        self._pixels: npt.NDArray[np.uint32] = np.empty((0, 0), np.uint32)

    def set_colour(self, colour: QColor, alpha: int) -> None:
        """Colour and opacity (0..255); 0 draws nothing."""
        parts = (alpha, *(round(part * alpha / 255) for part in (colour.red(), colour.green(), colour.blue())))
        self._colour = int.from_bytes(bytes(parts), "big")

    def set_area(self, rect: QRectF) -> None:
        """The visible range in the units of the data."""
        self.prepareGeometryChange()
        self._rect = rect

    def set_data(self, x: Array, y: Array, width: int, height: int, ratio: float) -> None:
        """Make the picture for ``width`` × ``height`` device pixels; NaN is a gap."""
        self.update()  # else only what the curve touched is painted anew: steady values have no area under them
        if not self._colour or len(x) < 2 or width < 1 or height < 1:
            self._image = None
            return
        if self._pixels.shape != (height, width):
            self._pixels = np.zeros((height, width), np.uint32)
        centres = self._rect.left() + (np.arange(width) + 0.5) * (self._rect.width() / width)
        # Between a number and NaN np.interp gives NaN, and no row is below NaN: a gap.
        tops = height * (1.0 - np.interp(centres, x, y, left=np.nan, right=np.nan) / self._rect.height())
        np.multiply(np.arange(height)[:, None] >= tops, np.uint32(self._colour), out=self._pixels)
        self._image = QImage(self._pixels.data, width, height, 4 * width, QImage.Format.Format_ARGB32_Premultiplied)
        self._image.setDevicePixelRatio(ratio)

    def boundingRect(self) -> QRectF:
        """The visible range."""
        return self._rect

    def paint(self, painter: QPainter, *_args: object) -> None:
        """Put the picture, pixel on pixel."""
        if self._image is not None:
            painter.save()
            painter.resetTransform()
            painter.drawImage(QPointF(0.0, 0.0), self._image)
            painter.restore()


class _Bands(pg.GraphicsObject):  # type: ignore[misc] # pyqtgraph has no types
    """Marked parts of the time, behind the curve; made when there is one for the first time."""

    def __init__(self, view: QWidget) -> None:
        super().__init__()
        self._view = view
        self._rect = QRectF()
        self._bands: tuple[PlacedBand, ...] = ()
        self.setZValue(_Z_BANDS)

    def set_area(self, rect: QRectF) -> None:
        """The visible range in the units of the data."""
        self.prepareGeometryChange()
        self._rect = rect

    def set_bands(self, bands: tuple[PlacedBand, ...]) -> None:
        """Mark these parts."""
        if bands != self._bands:
            self._bands = bands
            self.update()

    def boundingRect(self) -> QRectF:
        """The visible range."""
        return self._rect

    def paint(self, painter: QPainter, *_args: object) -> None:
        """In pixels: strips and edges have the same width whatever the range."""
        if self._bands:
            painter.save()
            painter.resetTransform()
            paint_bands(painter, self._bands, self._rect.width(), QRectF(self._view.rect()))
            painter.restore()


class Plot(pg.GraphicsView):  # type: ignore[misc] # pyqtgraph has no types
    """A bare plot: background, grid, filled curve. x is seconds before now (negative), y in the caller's unit."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent, useOpenGL=False, background=None)
        self.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        self.setAntialiasing(False)
        self.setMinimumSize(40, 24)
        self._box: Any = pg.ViewBox(enableMouse=False, enableMenu=False, defaultPadding=0.0)
        self._box.disableAutoRange()
        self.setCentralItem(self._box)
        self._border = QPen()
        self._fill = _Fill()
        self._fill.setZValue(_Z_FILL)
        self._box.addItem(self._fill, ignoreBounds=True)
        self._grid: Any = pg.PlotCurveItem(connect="pairs", antialias=False, skipFiniteCheck=True)
        self._grid.setZValue(_Z_GRID)
        self._box.addItem(self._grid, ignoreBounds=True)
        self._curve: Any = pg.PlotCurveItem(connect="finite", antialias=True)
        self._box.addItem(self._curve, ignoreBounds=True)
        self._twin: Any = pg.PlotCurveItem(connect="finite", antialias=True)
        self._box.addItem(self._twin, ignoreBounds=True)
        self._bands: _Bands | None = None
        self._cursor: float | None = None
        self._mark: QColor | None = None
        self._span = 0.0
        self._top = 0.0
        self.set_range(60.0, 1.0)

    def set_colours(self, back: QColor, border: QColor, grid: QColor, curve: QColor, alpha: int) -> None:
        """Colours of everything; ``alpha`` (0..255) is the opacity of the area below the curve."""
        self.setBackground(back)
        self._border = _pen(border)
        self._grid.setPen(_pen(grid))
        self._curve.setPen(_pen(curve))
        self._twin.setPen(_pen(curve))
        self._fill.set_colour(curve, alpha)

    def set_range(self, span_s: float, top: float) -> None:
        """The visible range: ``span_s`` seconds up to now, 0 to ``top``. Nothing happens when it is unchanged."""
        if span_s == self._span and top == self._top:
            return
        self._span, self._top = span_s, top
        self._box.setRange(xRange=(-span_s, 0.0), yRange=(0.0, top), padding=0.0, disableAutoRange=True)
        self._fill.set_area(QRectF(-span_s, 0.0, span_s, top))
        if self._bands is not None:
            self._bands.set_area(QRectF(-span_s, 0.0, span_s, top))
        # Whole steps: 10 s, 1 min, 3 min, 10 min.
        x = np.linspace(-span_s, 0.0, (6 if span_s in (60.0, 3600.0) else 5) + 1)[1:-1]
        y = np.linspace(0.0, top, _GRID_ROWS + 1)[1:-1]
        self._grid.setData(
            np.concatenate([np.repeat(x, 2), np.tile([-span_s, 0.0], len(y))]),
            np.concatenate([np.tile([0.0, top], len(x)), np.repeat(y, 2)]),
        )

    def set_data(self, ago: Array, values: Array) -> None:
        """Show a series: ``ago`` is ascending seconds before now (≤ 0). NaN is a gap."""
        ratio = self.devicePixelRatioF()
        width, height = round(self.viewport().width() * ratio), round(self.viewport().height() * ratio)
        # Columns of the layout's pixels, not the device's: at 200 % the curve would cost twice as much.
        x, y = columns(ago, values, -self._span, 0.0, max(16, self.viewport().width()))
        self._fill.set_data(x, y, width, height, ratio)
        self._curve.setData(x, y)
        twin = ratio >= _DENSE and len(x) <= _TWIN_POINTS
        if twin:  # a pen of two device pixels costs ten times as much as two curves of one
            shift = 0.7 / max(1, height) * self._top
            self._twin.setData(x + 0.7 / max(1, width) * self._span, y - shift)
        self._twin.setVisible(twin)

    def set_bands(self, bands: tuple[PlacedBand, ...]) -> None:
        """Mark parts of the time; none costs nothing."""
        if self._bands is None:
            if not bands:
                return
            self._bands = _Bands(self.viewport())
            self._bands.set_area(QRectF(-self._span, 0.0, self._span, self._top))
            self._box.addItem(self._bands, ignoreBounds=True)
        self._bands.set_bands(bands)

    def set_cursor(self, ago: float | None) -> None:
        """Where the cross-hair stands, in seconds before now (≤ 0); None for nowhere."""
        if ago != self._cursor:
            self._cursor = ago
            self.viewport().update()

    def set_mark(self, colour: QColor | None) -> None:
        """The colour of cross-hair and frame while the keyboard is here; None: it is elsewhere."""
        if colour != self._mark:
            self._mark = colour
            self.viewport().update()

    def in_sight(self) -> bool:
        """Whether any pixel of the plot is on the screen: not in a hidden page, not scrolled away."""
        return self.isVisible() and not self.viewport().visibleRegion().isEmpty()

    def sizeHint(self) -> QSize:
        """Low: pages give charts the height that is left."""
        return QSize(200, 92)

    def drawForeground(self, painter: QPainter, rect: QRectF) -> None:
        """The frame, on whole pixels at every edge."""
        painter.save()
        painter.resetTransform()
        area = QRectF(self.viewport().rect())
        if self._mark is not None:
            painter.setPen(_pen(self._mark))
            if self._cursor is not None:
                x = area.width() * (1.0 + self._cursor / self._span)
                painter.drawLine(QPointF(x, area.top()), QPointF(x, area.bottom()))
            painter.drawRect(area.adjusted(1.5, 1.5, -1.5, -1.5))
        else:
            painter.setPen(self._border)
        inset = 0.5 / self.devicePixelRatioF()
        painter.drawRect(area.adjusted(inset, inset, -inset, -inset))
        painter.restore()

    def viewportEvent(self, event: QEvent) -> bool:
        """Hover, wheel and context menu belong to the widget around."""
        if event.type() in _PASS_ON:
            event.ignore()
            return False
        return bool(super().viewportEvent(event))


def curve_path(x: Array, y: Array) -> QPainterPath:
    """A line through points, made without a Python call per point; NaN is a gap."""
    path: QPainterPath = pg.functions.arrayToQPath(x, y, connect="finite")
    return path


_PASS_ON = frozenset(
    {
        QEvent.Type.Wheel,
        QEvent.Type.ContextMenu,
        QEvent.Type.MouseButtonPress,
        QEvent.Type.MouseButtonRelease,
        QEvent.Type.MouseButtonDblClick,
        QEvent.Type.MouseMove,
        QEvent.Type.ToolTip,
    }
)


def _pen(colour: QColor) -> QPen:
    # One device pixel with antialiasing is nearly free; two cost ten times as much.
    pen = QPen(colour, 1.0)
    pen.setCosmetic(True)
    return pen
