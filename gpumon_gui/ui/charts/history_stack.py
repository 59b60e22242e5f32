"""Knows: charts above each other with one time axis, and how mouse and keys move in them. Must not know: where the
numbers come from, how far one may go.

Wheel: zoom at the pointer; sideways, or with Shift: pan. Drag: zoom to the part selected; with Shift or the middle
button: pan. Double click: back. Keys: + and - zoom, left and right pan, Shift with them moves the cross-hair, Home and
End go to both ends, M and Shift+M to the next and last marker, Escape puts the cross-hair away.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

from PySide6.QtCore import QEvent, QPointF, QRectF, Qt, QTimer, Signal, Slot
from PySide6.QtGui import (
    QFocusEvent,
    QHelpEvent,
    QKeyEvent,
    QMouseEvent,
    QPainter,
    QPaintEvent,
    QResizeEvent,
    QWheelEvent,
)
from PySide6.QtWidgets import QFrame, QScrollArea, QToolTip, QVBoxLayout, QWidget

from gpumon_gui.core.files import printable
from gpumon_gui.core.messages import _
from gpumon_gui.history.marker import Marker
from gpumon_gui.history.reading import Span
from gpumon_gui.ui import formatters, moments
from gpumon_gui.ui.charts.history_chart import HistoryChart, TimeAxis
from gpumon_gui.ui.charts.history_plot import AXIS_WIDTH, FLAG, Drawing
from gpumon_gui.ui.focus_ring import paint_ring
from gpumon_gui.ui.theme import M, Series, Theme
from gpumon_gui.ui.tips import plain
from gpumon_gui.ui.widgets.button import BY_KEYBOARD
from gpumon_gui.ui.widgets.section import SlimScrollBar

#: One step of the wheel, or one key.
ZOOM = 1.3
_PAN = 0.125
#: A press that moved less is a click.
_STILL = 4
_NEAR = 6
#: Between the plots and the scroll bar.
_RIGHT = 6


class HistoryStack(QWidget):
    """Charts of several metrics.

    Signals:
        span_wanted(object): the user moved to another :class:`Span`; nothing changes before ``set_span``.
        back_wanted(): to the range that was chosen.
        edge_wanted(int): to the beginning (-1) or to now (1).
        cursor_moved(object): UTC seconds under the cross-hair, or None.
        marker_chosen(object): a :class:`Marker` was clicked or reached by key.
    """

    span_wanted = Signal(object)
    back_wanted = Signal()
    edge_wanted = Signal(int)
    cursor_moved = Signal(object)
    marker_chosen = Signal(object)

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._theme = theme
        self._span = Span(0.0, 1.0)
        self._charts: dict[str, HistoryChart] = {}
        self._drawn = ""
        self._next = QTimer(self)
        self._next.setSingleShot(True)
        self._next.timeout.connect(self._draw_next)
        self._markers: tuple[Marker, ...] = ()
        self._cursor_s: float | None = None
        self._pressed: tuple[QPointF, float, Span] | None = None
        self._is_panning = False
        self._is_selecting = False
        self._by_keys = False
        self._canvas = QWidget()
        self._canvas.setMouseTracking(True)
        self._canvas.installEventFilter(self)
        self._column = QVBoxLayout(self._canvas)
        self._column.setContentsMargins(0, 0, _RIGHT, 0)
        self._column.setSpacing(M)
        self._scroll = QScrollArea(self)
        self._scroll.setWidgetResizable(True)
        self._scroll.setFrameShape(QFrame.Shape.NoFrame)
        self._scroll.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        self._scroll.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self._scroll.setVerticalScrollBar(SlimScrollBar(theme))
        self._scroll.setWidget(self._canvas)
        self.axis = TimeAxis(theme, self)
        box = QVBoxLayout(self)
        box.setContentsMargins(3, 3, 3, 0)
        box.setSpacing(2)
        box.addWidget(self._scroll, 1)
        box.addWidget(self.axis)
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        theme.changed.connect(self.update)

    # -- what is shown

    @property
    def charts(self) -> Mapping[str, HistoryChart]:
        """The charts by metric, from the top down."""
        return self._charts

    @property
    def canvas(self) -> QWidget:
        """What takes the mouse; as wide as the plots with their value axis."""
        return self._canvas

    @property
    def cursor_s(self) -> float | None:
        """The moment under the cross-hair (UTC seconds)."""
        return self._cursor_s

    @property
    def is_by_keys(self) -> bool:
        """Whether the cross-hair was moved by keys."""
        return self._by_keys

    def set_metrics(self, metrics: Mapping[str, Series]) -> None:
        """Show these, in this order, each in its colour."""
        if list(metrics) == list(self._charts):
            return
        for metric in [name for name in self._charts if name not in metrics]:
            chart = self._charts.pop(metric)
            self._column.removeWidget(chart)
            chart.hide()
            chart.deleteLater()
        made = {}
        for place, (metric, colour) in enumerate(metrics.items()):
            made[metric] = self._charts.get(metric) or self._make_chart(metric, colour)
            self._column.insertWidget(place, made[metric], 1)
        self._charts = made

    def _make_chart(self, metric: str, colour: Series) -> HistoryChart:
        chart = HistoryChart(self._theme, metric, colour, self._canvas)
        chart.setAttribute(Qt.WidgetAttribute.WA_TransparentForMouseEvents)
        chart.plot.set_cursor_at(self._cursor_s)
        chart.plot.stale.connect(self._next.start)
        return chart

    def set_span(self, span: Span) -> None:
        """The time axis; the drawings come with :meth:`set_drawing`."""
        self._span = span
        self.axis.set_span(span)
        if self._cursor_s is not None and not span.left_s <= self._cursor_s <= span.right_s:
            self.set_cursor_at(None)

    def set_drawing(self, metric: str, drawing: Drawing) -> None:
        """What the chart of a metric shows: soon, one chart after the other, so that no key or move waits for all."""
        self._charts[metric].plot.set_drawing(drawing)

    def finish(self) -> None:
        """Draw now what would be drawn soon."""
        for chart in self._charts.values():
            chart.plot.draw()

    @Slot()
    def _draw_next(self) -> None:
        metrics = list(self._charts)
        turn = metrics.index(self._drawn) + 1 if self._drawn in metrics else 0
        for metric in metrics[turn:] + metrics[:turn]:  # a move that comes on the way does not begin at the top again
            if self._charts[metric].plot.draw():
                self._drawn = metric
                self._next.start()
                return

    def set_markers(self, markers: tuple[Marker, ...]) -> None:
        """What can be pointed at; the drawings have their flags."""
        self._markers = markers

    def set_cursor_at(self, utc_s: float | None) -> None:
        """Move the cross-hair, or put it away."""
        if utc_s == self._cursor_s:
            return
        self._cursor_s = utc_s
        for chart in self._charts.values():
            chart.plot.set_cursor_at(utc_s)
        self.cursor_moved.emit(utc_s)

    def columns(self) -> int:
        """How many columns of pixels a plot has."""
        return max(100, self._canvas.width() - AXIS_WIDTH - _RIGHT)

    def utc_at(self, x: float) -> float:
        """The moment at a place of the canvas."""
        return self._span.left_s + (x - AXIS_WIDTH) / self.columns() * self._span.length_s

    def x_of(self, utc_s: float) -> float:
        """The place of a moment on the canvas."""
        return AXIS_WIDTH + (utc_s - self._span.left_s) / self._span.length_s * self.columns()

    # -- moves

    def zoom(self, factor: float, at_s: float | None = None) -> None:
        """Show ``factor`` times less time around a moment (None: the cross-hair, else the middle)."""
        span = self._span
        middle = (span.left_s + span.right_s) / 2
        if at_s is None:
            at_s = middle if self._cursor_s is None else self._cursor_s
        at_s = min(max(at_s, span.left_s), span.right_s)
        self.span_wanted.emit(
            Span(at_s - (at_s - span.left_s) / factor, at_s + (span.right_s - at_s) / factor),
        )

    def pan(self, share: float) -> None:
        """Move by a share of what is shown; positive is later."""
        self.span_wanted.emit(self._span.moved(share * self._span.length_s))

    def go_to_marker(self, step: int) -> None:
        """Put the cross-hair on the next (1) or last (-1) marker on show."""
        if not self._markers:
            return
        ordered = self._markers if step > 0 else tuple(reversed(self._markers))
        at = self._cursor_s
        found = next((m for m in ordered if at is None or (m.utc_s - at) * step > 0.001), ordered[0])
        self.set_cursor_at(found.utc_s)
        self.marker_chosen.emit(found)

    def marker_at(self, position: QPointF) -> Marker | None:
        """The marker whose flag is under a place of the canvas."""
        first = next(iter(self._charts.values()), None)
        if first is None:
            return None
        top = first.y() + first.plot.y()
        if not top - 2 <= position.y() <= top + 2 * FLAG + 3:
            return None
        near = [(abs(self.x_of(marker.utc_s) - position.x()), marker) for marker in self._markers]
        distance, marker = min(near, key=lambda pair: pair[0], default=(_NEAR + 1.0, None))
        return marker if distance <= _NEAR + 2 else None

    def tip_at(self, position: QPointF) -> str:
        """What is said at a place: of a marker on its flag, of a figure on its caption."""
        marker = self.marker_at(position)
        if marker is not None:
            return marker_tip(marker)
        for metric, chart in self._charts.items():
            if chart.y() <= position.y() < chart.y() + chart.plot.y():
                return formatters.value_tip(metric, None)
        return ""

    # -- mouse

    def eventFilter(self, watched: object, event: QEvent) -> bool:
        """What happens on the canvas."""
        if watched is not self._canvas:
            return False
        handler = self._handlers().get(event.type())
        return False if handler is None else bool(handler(event))

    def _handlers(self) -> dict[QEvent.Type, Callable[..., bool]]:
        kind = QEvent.Type
        return {
            kind.Resize: self._on_resize,
            kind.Wheel: self._on_wheel,
            kind.MouseButtonPress: self._on_press,
            kind.MouseMove: self._on_move,
            kind.MouseButtonRelease: self._on_release,
            kind.MouseButtonDblClick: self._on_double,
            kind.Leave: self._on_leave,
            kind.ToolTip: self._on_tip,
        }

    def _on_resize(self, event: QResizeEvent) -> bool:
        self.axis.set_room(self._canvas.width() - _RIGHT)
        return False

    def _on_wheel(self, event: QWheelEvent) -> bool:
        turned = event.angleDelta()
        sideways = turned.x() or (turned.y() if event.modifiers() & Qt.KeyboardModifier.ShiftModifier else 0)
        if sideways:
            self.pan(-_PAN * sideways / 120)
        elif turned.y():
            self.zoom(ZOOM ** (turned.y() / 120), self.utc_at(event.position().x()))
        return True

    def _on_press(self, event: QMouseEvent) -> bool:
        left = event.button() is Qt.MouseButton.LeftButton
        if not left and event.button() is not Qt.MouseButton.MiddleButton:
            return False
        self.setFocus(Qt.FocusReason.MouseFocusReason)
        shift = bool(event.modifiers() & Qt.KeyboardModifier.ShiftModifier)
        self._is_panning = not left or shift
        self._is_selecting = False
        self._pressed = (event.position(), self.utc_at(event.position().x()), self._span)
        return True

    def _on_move(self, event: QMouseEvent) -> bool:
        x = event.position().x()
        if self._pressed is None:
            self._by_keys = False
            self.set_cursor_at(self.utc_at(x) if x >= AXIS_WIDTH else None)
            over = self.marker_at(event.position()) is not None
            self._canvas.setCursor(Qt.CursorShape.PointingHandCursor if over else Qt.CursorShape.CrossCursor)
            return True
        begin, begin_s, span = self._pressed
        if self._is_panning:
            self.span_wanted.emit(span.moved((begin.x() - x) / self.columns() * span.length_s))
        elif self._is_selecting or abs(x - begin.x()) > _STILL:
            self._is_selecting = True
            self.set_cursor_at(None)
            self._select((begin_s, self.utc_at(x)))
        return True

    def _on_release(self, event: QMouseEvent) -> bool:
        if self._pressed is None:
            return False
        begin, begin_s, _span = self._pressed
        self._pressed = None
        self._select(None)
        if self._is_selecting:
            self._is_selecting = False
            left_s, right_s = sorted((begin_s, self.utc_at(event.position().x())))
            self.span_wanted.emit(Span(max(left_s, self._span.left_s), min(right_s, self._span.right_s)))
        elif not self._is_panning:
            marker = self.marker_at(begin)
            if marker is not None:
                self.set_cursor_at(marker.utc_s)
                self.marker_chosen.emit(marker)
        return True

    def _on_double(self, event: QMouseEvent) -> bool:
        self._pressed = None
        self.back_wanted.emit()
        return True

    def _on_leave(self, event: QEvent) -> bool:
        if self._pressed is None and not self._by_keys:
            self.set_cursor_at(None)
        return False

    def _on_tip(self, event: QHelpEvent) -> bool:
        tip = self.tip_at(QPointF(event.pos()))
        if tip:
            QToolTip.showText(event.globalPos(), plain(tip), self._canvas)
        else:
            QToolTip.hideText()
        return True

    def _select(self, selection: tuple[float, float] | None) -> None:
        for chart in self._charts.values():
            chart.plot.set_selection(selection)

    # -- keys

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """See the module."""
        key, shift = event.key(), bool(event.modifiers() & Qt.KeyboardModifier.ShiftModifier)
        if event.modifiers() & (Qt.KeyboardModifier.ControlModifier | Qt.KeyboardModifier.AltModifier):
            super().keyPressEvent(event)
            return
        if key in (Qt.Key.Key_Plus, Qt.Key.Key_Equal):
            self.zoom(ZOOM)
        elif key in (Qt.Key.Key_Minus, Qt.Key.Key_Underscore):
            self.zoom(1 / ZOOM)
        elif key in (Qt.Key.Key_Left, Qt.Key.Key_Right):
            self._step(-1 if key == Qt.Key.Key_Left else 1, cursor=shift)
        elif key in (Qt.Key.Key_PageUp, Qt.Key.Key_PageDown):
            self.pan(-1.0 if key == Qt.Key.Key_PageUp else 1.0)
        elif key in (Qt.Key.Key_Up, Qt.Key.Key_Down):
            bar = self._scroll.verticalScrollBar()
            bar.setValue(bar.value() + (-1 if key == Qt.Key.Key_Up else 1) * bar.singleStep())
        elif key == Qt.Key.Key_Home:
            self.edge_wanted.emit(-1)
        elif key == Qt.Key.Key_End:
            self.edge_wanted.emit(1)
        elif key == Qt.Key.Key_M:
            self._by_keys = True
            self.go_to_marker(-1 if shift else 1)
        elif key == Qt.Key.Key_Escape and self._cursor_s is not None:
            self._by_keys = False
            self.set_cursor_at(None)
        elif key == Qt.Key.Key_Backspace:
            self.back_wanted.emit()
        else:
            super().keyPressEvent(event)

    def _step(self, direction: int, *, cursor: bool) -> None:
        if not cursor:
            self.pan(direction * _PAN)
            return
        self._by_keys = True
        middle = (self._span.left_s + self._span.right_s) / 2
        at = middle if self._cursor_s is None else self._cursor_s + direction * self._span.length_s / 100
        self.set_cursor_at(min(max(at, self._span.left_s), self._span.right_s))

    # -- focus

    def focusInEvent(self, event: QFocusEvent) -> None:
        """The ring is for those who came by keyboard."""
        self._ring = event.reason() in BY_KEYBOARD
        self.update()

    _ring = False

    def focusOutEvent(self, event: QFocusEvent) -> None:
        """No ring any more."""
        self._ring = False
        if self._by_keys:
            self._by_keys = False
            self.set_cursor_at(None)
        self.update()

    def paintEvent(self, event: QPaintEvent) -> None:
        """The ring of the focus."""
        if not self._ring:
            return
        painter = QPainter(self)
        paint_ring(painter, QRectF(self.rect()).adjusted(1, 1, -1, -1), self._theme.colours)
        painter.end()

    @Slot()
    def retranslate(self) -> None:
        """Labels of the axis, and the keys for Shift+F1 and screen readers, in the user's language."""
        self.axis.update()
        self.setWhatsThis(
            _(
                "Keys: + and − zoom, Left and Right move in time, with Shift they move the cross-hair. Page Up and "
                "Page Down move by what is on show, Home goes to the beginning, End to now, Backspace back to the "
                "chosen range. M and Shift+M go to the next and the last mark. Escape puts the cross-hair away."
            )
        )


def marker_tip(marker: Marker) -> str:
    """What is said of a marker: the sentence, of whom, when."""
    lines = [printable(marker.sentence())]
    if marker.subject:
        lines.append(printable(marker.subject))
    lines.append(moments.moment(marker.utc_s))
    return "\n".join(lines)
