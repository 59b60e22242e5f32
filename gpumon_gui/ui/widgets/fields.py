"""Knows: how boxes with a value look: a choice, a number, the frame around a text or a table and its head, a bar.
Must not know: values.

The style's own have gradients and, on dark and in high contrast, borders that cannot be seen. The wheel scrolls the
page until a box has the focus.
"""

from __future__ import annotations

from PySide6.QtCore import QEvent, QObject, QPointF, QRect, QRectF, QSize, Qt, Slot
from PySide6.QtGui import QColor, QFontMetrics, QPainter, QPaintEvent, QPalette, QPen, QPolygonF, QWheelEvent
from PySide6.QtWidgets import (
    QComboBox,
    QDoubleSpinBox,
    QHeaderView,
    QProgressBar,
    QStyle,
    QStyleOptionSpinBox,
    QVBoxLayout,
    QWidget,
)

from gpumon_gui.ui.theme import RADIUS, XS, M, S, Text, Theme
from gpumon_gui.ui.widgets.section import Card

HEIGHT = 30
_ARROW = 4.0


class Combo(QComboBox):
    """A choice from a list."""

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._theme = theme
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.setAttribute(Qt.WidgetAttribute.WA_Hover)
        theme.changed.connect(self.update)

    def sizeHint(self) -> QSize:
        size = super().sizeHint()
        return QSize(size.width() + 2 * S, max(HEIGHT, size.height()))  # more room around the text than the style's

    def minimumSizeHint(self) -> QSize:
        return QSize(super().minimumSizeHint().width() + 2 * S, self.sizeHint().height())

    def paintEvent(self, event: QPaintEvent) -> None:
        painter = QPainter(self)
        _paint_box(painter, self, self._theme)
        colours = self._theme.colours
        painter.setPen(QColor(colours.text if self.isEnabled() else colours.faint))
        room = self.rect().adjusted(S + 2, 0, -(S + 2 * M), 0)
        text = QFontMetrics(self.font()).elidedText(self.currentText(), Qt.TextElideMode.ElideRight, room.width())
        painter.drawText(room, Qt.AlignmentFlag.AlignVCenter, text)
        _paint_arrow(painter, self._theme, QPointF(self.width() - M - _ARROW, self.height() / 2), up=False)
        painter.end()

    def wheelEvent(self, event: QWheelEvent) -> None:
        super().wheelEvent(event) if self.hasFocus() else event.ignore()


class Spin(QDoubleSpinBox):
    """A number; whole unless :meth:`setDecimals` says otherwise."""

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._theme = theme
        self.setDecimals(0)
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.setAttribute(Qt.WidgetAttribute.WA_Hover)
        line = self.lineEdit()
        palette = QPalette(line.palette())
        palette.setColor(QPalette.ColorRole.Base, QColor(0, 0, 0, 0))  # the box is painted behind it
        line.setPalette(palette)
        line.setTextMargins(XS, 0, 0, 0)
        theme.changed.connect(self.update)

    def sizeHint(self) -> QSize:
        size = super().sizeHint()
        return QSize(size.width() + S, max(HEIGHT, size.height()))

    def paintEvent(self, event: QPaintEvent) -> None:
        option = QStyleOptionSpinBox()
        self.initStyleOption(option)
        painter = QPainter(self)
        _paint_box(painter, self, self._theme)
        for part, up in ((QStyle.SubControl.SC_SpinBoxUp, True), (QStyle.SubControl.SC_SpinBoxDown, False)):
            place = self.style().subControlRect(QStyle.ComplexControl.CC_SpinBox, option, part, self)
            _paint_arrow(painter, self._theme, QRectF(place).center(), up=up, size=3.0)
        painter.end()

    def wheelEvent(self, event: QWheelEvent) -> None:
        super().wheelEvent(event) if self.hasFocus() else event.ignore()


class FlatHeader(QHeaderView):
    """Names of columns as captions above a hairline, aligned as :meth:`align` says."""

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(Qt.Orientation.Horizontal, parent)
        self._theme = theme
        self._right: frozenset[int] = frozenset()
        self.setFont(theme.font(Text.CAPTION))
        self.setMinimumSectionSize(2 * M)
        theme.changed.connect(self.viewport().update)

    def align(self, *right: int) -> None:
        """Columns of figures stand at the right."""
        self._right = frozenset(right)

    def sizeHint(self) -> QSize:
        return QSize(super().sizeHint().width(), QFontMetrics(self.font()).height() + 2 * XS)

    def paintEvent(self, event: QPaintEvent) -> None:
        super().paintEvent(event)
        rest = self.viewport().rect()  # right of the last column the style's own colour would show
        rest.setLeft(self.length() - self.offset())
        if rest.width() > 0:
            painter = QPainter(self.viewport())
            painter.fillRect(rest, QColor(self._theme.colours.surface))
            painter.setPen(QColor(self._theme.colours.border))
            painter.drawLine(rest.bottomLeft(), rest.bottomRight())
            painter.end()

    def paintSection(self, painter: QPainter, rect: QRect, logical: int) -> None:
        colours = self._theme.colours
        painter.save()
        painter.fillRect(rect, QColor(colours.surface))
        painter.setPen(QColor(colours.border))
        painter.drawLine(rect.bottomLeft(), rect.bottomRight())
        painter.setPen(QColor(colours.muted))
        painter.setFont(self.font())
        room = rect.adjusted(XS, 0, -XS, 0)
        side = Qt.AlignmentFlag.AlignRight if logical in self._right else Qt.AlignmentFlag.AlignLeft
        name = str(self.model().headerData(logical, Qt.Orientation.Horizontal) or "")
        name = QFontMetrics(self.font()).elidedText(name, Qt.TextElideMode.ElideRight, room.width())
        painter.drawText(room, Qt.AlignmentFlag.AlignVCenter | side, name)
        painter.restore()


class SlimBar(QProgressBar):
    """How far something is, without words."""

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._theme = theme
        self.setTextVisible(False)
        self.setFixedHeight(4)
        theme.changed.connect(self.update)

    def paintEvent(self, event: QPaintEvent) -> None:
        colours = self._theme.colours
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setPen(Qt.PenStyle.NoPen)
        area = QRectF(self.rect())
        painter.setBrush(QColor(colours.faint if colours.border == colours.text else colours.border))
        painter.drawRoundedRect(area, 2, 2)
        span = max(1, self.maximum() - self.minimum())
        area.setWidth(area.width() * max(0, self.value() - self.minimum()) / span)
        painter.setBrush(QColor(colours.accent))
        painter.drawRoundedRect(area, 2, 2)
        painter.end()


class Framed(Card):
    """A rounded frame around a widget that has none; in the accent's colour while that has the focus."""

    def __init__(self, theme: Theme, inside: QWidget, parent: QWidget | None = None) -> None:
        super().__init__(theme, parent)
        self._inside = inside
        inside.installEventFilter(self)
        box = QVBoxLayout(self)
        box.setContentsMargins(S, S // 2, 2, S // 2)
        box.addWidget(inside)
        theme.changed.connect(self._follow)
        self._follow()

    @Slot()
    def _follow(self) -> None:
        colours = self._theme.colours
        self.set_colours(colours.surface, colours.accent if self._inside.hasFocus() else "")

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        if event.type() in (QEvent.Type.FocusIn, QEvent.Type.FocusOut):
            self._follow()
        return super().eventFilter(watched, event)


def _paint_box(painter: QPainter, widget: QWidget, theme: Theme) -> None:
    colours = theme.colours
    painter.setRenderHint(QPainter.RenderHint.Antialiasing)
    focused = widget.hasFocus()
    edge = QColor(colours.accent if focused else colours.faint)
    if not focused:
        edge.setAlpha(255 if colours.border == colours.text else 150)  # high contrast: a full line
    painter.setPen(QPen(edge, 1.6 if focused else 1.0))
    hovered = widget.underMouse() and widget.isEnabled()
    painter.setBrush(QColor(colours.hover if hovered else colours.chart_back))
    painter.drawRoundedRect(QRectF(widget.rect()).adjusted(1, 1, -1, -1), RADIUS - 2, RADIUS - 2)


def _paint_arrow(painter: QPainter, theme: Theme, centre: QPointF, *, up: bool, size: float = _ARROW) -> None:
    painter.setPen(QPen(QColor(theme.colours.muted), 1.3))
    painter.setBrush(Qt.BrushStyle.NoBrush)
    turn = -1 if up else 1
    points = [centre + QPointF(x * size, y * size / 2 * turn) for x, y in ((-1, -1), (0, 1), (1, -1))]
    painter.drawPolyline(QPolygonF(points))
