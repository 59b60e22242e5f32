"""Knows: a head that opens and closes what belongs to it, as a card of its own or as a line among others.
Must not know: its content."""

from __future__ import annotations

import math
from collections.abc import Callable

from PySide6.QtCore import QPointF, QRectF, QSize, Qt, Signal, Slot
from PySide6.QtGui import QColor, QFont, QFontMetrics, QPainter, QPaintEvent, QTextLayout, QTextOption
from PySide6.QtWidgets import QSizePolicy, QVBoxLayout, QWidget

from gpumon_gui.core.messages import _
from gpumon_gui.ui import icons
from gpumon_gui.ui.focus_ring import paint_ring
from gpumon_gui.ui.theme import RADIUS, XS, L, M, S, Text, Theme
from gpumon_gui.ui.unbroken import unbroken
from gpumon_gui.ui.widgets.button import FlatButton
from gpumon_gui.ui.widgets.section import Card, paint_mark
from gpumon_gui.ui.widgets.tab_order import put_behind

_MARK = 16
_SMALL_MARK = 14
_CHEVRON = 14


class FoldHead(FlatButton):
    """Mark, title, a muted line below and a badge; pressing it opens or closes."""

    def __init__(self, theme: Theme, parent: QWidget) -> None:
        super().__init__(theme, "", "", parent)
        self._mark, self._line, self._badge, self._badge_mark = "none", "", "", "info"
        self.setCheckable(True)
        self.setFont(theme.font(Text.STRONG))
        policy = QSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Preferred)
        policy.setHeightForWidth(True)
        self.setSizePolicy(policy)
        self.toggled.connect(self._say_state)

    @property
    def title(self) -> str:
        """What it says."""
        return self.text()

    @property
    def kind(self) -> str:
        """The mark at the left."""
        return self._mark

    @property
    def line(self) -> str:
        """What stands below the title."""
        return self._line

    @property
    def badge(self) -> str:
        """The word at the right."""
        return self._badge

    def say(self, mark: str, title: str, line: str = "") -> None:
        """What it says; ``mark`` as in :func:`paint_mark`, empty for none."""
        if (mark, title, line) != (self._mark, self.text(), self._line):
            self._mark, self._line = mark, line
            self.setText(title)
            self.updateGeometry()
        self._say_state()

    def set_badge(self, word: str, mark: str = "info") -> None:
        """A word at the right; empty for none."""
        if (word, mark) != (self._badge, self._badge_mark):
            self._badge, self._badge_mark = word, mark
            self.updateGeometry()  # the title has less room beside it
        self._say_state()

    def _say_state(self, *_on: bool) -> None:
        state = _("expanded") if self.isChecked() else _("collapsed")
        parts = [part for part in (self.text(), self._line, self._badge) if part]
        spoken = _("{name}, {state}").format(name=". ".join(parts), state=state)
        if spoken != self.accessibleName():
            self.setAccessibleName(spoken)
        self.update()

    def _room(self, width: int) -> int:
        badge = QFontMetrics(self._theme.font(Text.CAPTION)).horizontalAdvance(self._badge) + L if self._badge else 0
        return max(40, width - (L + _MARK + M) - (_CHEVRON + 2 * S) - badge)

    def heightForWidth(self, width: int) -> int:
        room = self._room(width)
        title = _wrapped_height(self.text(), self.font(), room)
        line = _wrapped_height(self._line, self._theme.font(Text.CAPTION), room) + 2 if self._line else 0
        return max(40, title + line + 2 * S)

    def sizeHint(self) -> QSize:
        return QSize(240, self.heightForWidth(max(self.width(), 240)))

    def minimumSizeHint(self) -> QSize:
        return QSize(120, 40)

    def paintEvent(self, event: QPaintEvent) -> None:
        colours = self._theme.colours
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        self._paint_hover(painter)
        left, room, top = L + _MARK + M, self._room(self.width()), S
        paint_mark(painter, QRectF(L, top + 1, _MARK, _MARK), self._mark, self._theme)
        caption = self._theme.font(Text.CAPTION)
        used = _paint_wrapped(painter, self.text(), QRectF(left, top, room, 0), self.font(), colours.text)
        _paint_wrapped(painter, self._line, QRectF(left, top + used + 2, room, 0), caption, colours.muted)
        right = self.width() - S - _CHEVRON
        self._paint_chevron(painter, right, self.height())
        if self._badge:
            painter.setPen(QColor(colours.tone(self._badge_mark, colours.info)))
            width = QFontMetrics(caption).horizontalAdvance(self._badge) + XS
            area = QRectF(right - S - width, 0, width, self.height())
            painter.drawText(area, Qt.AlignmentFlag.AlignVCenter, self._badge)
        painter.end()

    def _paint_chevron(self, painter: QPainter, left: float, height: float) -> None:
        name = "collapse" if self.isChecked() else "expand"
        area = QRectF(left, (height - _CHEVRON) / 2, _CHEVRON, _CHEVRON)
        icons.draw(painter, name, self._theme.colours.muted, area)

    def _paint_hover(self, painter: QPainter) -> None:
        """Pointer and focus."""
        colours = self._theme.colours
        rect = QRectF(self.rect()).adjusted(1, 1, -1, -1)
        if self._hover:
            painter.setPen(Qt.PenStyle.NoPen)
            painter.setBrush(QColor(colours.hover))
            painter.drawRoundedRect(rect, RADIUS, RADIUS)
        if self.hasFocus() and self._keyboard:
            paint_ring(painter, rect, colours)


class FoldLine(FoldHead):
    """Chevron, mark and one sentence among others of the kind."""

    def __init__(self, theme: Theme, parent: QWidget) -> None:
        super().__init__(theme, parent)
        self.setFont(theme.font(Text.BODY))

    def heightForWidth(self, width: int) -> int:
        text = _wrapped_height(self.text(), self.font(), self._room(width))
        return text + S + XS

    def minimumSizeHint(self) -> QSize:
        return QSize(60, QFontMetrics(self.font()).height() + S + XS)

    def _left(self) -> int:
        return XS + _CHEVRON + S + (_SMALL_MARK + S if self._mark else 0)

    def _room(self, width: int) -> int:
        return max(40, width - self._left() - XS)

    def paintEvent(self, event: QPaintEvent) -> None:
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        self._paint_hover(painter)
        room = self._room(self.width())
        layout = _wrapped(self.text() or " ", self.font(), room)  # a line does not outlive it
        first = layout.lineAt(0).height() + S + XS  # of Chinese it is higher
        self._paint_chevron(painter, XS, first)
        if self._mark:
            area = QRectF(XS + _CHEVRON + S, (first - _SMALL_MARK) / 2, _SMALL_MARK, _SMALL_MARK)
            paint_mark(painter, area, self._mark, self._theme)
        area = QRectF(self._left(), (S + XS) / 2, room, 0)
        _paint_wrapped(painter, self.text(), area, self.font(), self._theme.colours.text)
        painter.end()


def _wrapped(text: str, font: QFont, room: float) -> QTextLayout:
    """Broken between words, and a path that has none anywhere."""
    option = QTextOption()
    option.setWrapMode(QTextOption.WrapMode.WrapAtWordBoundaryOrAnywhere)
    layout = QTextLayout(unbroken(text).replace("\n", "\u2028"), font)
    layout.setTextOption(option)
    layout.beginLayout()
    top = 0.0
    while (line := layout.createLine()).isValid():
        line.setLineWidth(room)
        line.setPosition(QPointF(0, top))
        top += line.height()
    layout.endLayout()
    return layout


def _wrapped_height(text: str, font: QFont, room: int) -> int:
    return math.ceil(_wrapped(text, font, room).boundingRect().height())


def _paint_wrapped(painter: QPainter, text: str, area: QRectF, font: QFont, colour: str) -> float:
    """Its height."""
    layout = _wrapped(text, font, area.width())
    painter.setPen(QColor(colour))
    layout.draw(painter, area.topLeft())
    return layout.boundingRect().height()


class Fold(Card):
    """``make_body`` is called with this widget when it is opened for the first time. ``quiet``: one line among others
    instead of a card.

    Signals:
        toggled(bool): opened or closed.
    """

    toggled = Signal(bool)

    def __init__(
        self,
        theme: Theme,
        make_body: Callable[[QWidget], QWidget],
        parent: QWidget | None = None,
        *,
        quiet: bool = False,
    ) -> None:
        super().__init__(theme, parent)
        self._make = make_body
        self._is_quiet = quiet
        self.body: QWidget | None = None
        self.head = FoldLine(theme, self) if quiet else FoldHead(theme, self)
        self._column = QVBoxLayout(self)
        edge = 0 if quiet else 1
        self._column.setContentsMargins(edge, edge, edge, edge)
        self._column.setSpacing(XS if quiet else 0)
        self._column.addWidget(self.head)
        self.head.toggled.connect(self._on_toggled)

    @property
    def is_open(self) -> bool:
        """Whether its content is on show."""
        return self.head.isChecked()

    def set_open(self, on: bool) -> None:
        """Open or close."""
        self.head.setChecked(on)

    @Slot(bool)
    def _on_toggled(self, on: bool) -> None:
        if on and self.body is None:
            self.body = self._make(self)
            self._column.addWidget(self.body)
            put_behind(self.head, self.body)
        if self.body is not None:
            self.body.setVisible(on)
        self.toggled.emit(on)

    def paintEvent(self, event: QPaintEvent) -> None:
        if not self._is_quiet:
            super().paintEvent(event)
