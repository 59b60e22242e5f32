"""Knows: a head that opens and closes what belongs to it, as a card of its own or as a line among others.
Must not know: its content."""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtCore import QRectF, QSize, Qt, Signal, Slot
from PySide6.QtGui import QColor, QFontMetrics, QPainter, QPaintEvent, QPen
from PySide6.QtWidgets import QSizePolicy, QVBoxLayout, QWidget

from gpumon_gui.core.messages import _
from gpumon_gui.ui import icons
from gpumon_gui.ui.theme import RADIUS, XS, L, M, S, Text, Theme
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

    def _line_flags(self, width: int) -> int:
        """Between words; a path has none and breaks anywhere."""
        metrics = QFontMetrics(self._theme.font(Text.CAPTION))
        longest = max((metrics.horizontalAdvance(word) for word in self._line.split()), default=0)
        flag = Qt.TextFlag.TextWordWrap if longest <= self._room(width) else Qt.TextFlag.TextWrapAnywhere
        return int(flag)

    def heightForWidth(self, width: int) -> int:
        flags = int(Qt.TextFlag.TextWordWrap)
        title = QFontMetrics(self.font()).boundingRect(0, 0, self._room(width), 10000, flags, self.text())
        line = QFontMetrics(self._theme.font(Text.CAPTION)).boundingRect(
            0, 0, self._room(width), 10000, self._line_flags(width), self._line
        )
        return max(40, title.height() + (line.height() + 2 if self._line else 0) + 2 * S)

    def sizeHint(self) -> QSize:
        return QSize(240, self.heightForWidth(max(self.width(), 240)))

    def minimumSizeHint(self) -> QSize:
        return QSize(120, 40)

    def paintEvent(self, event: QPaintEvent) -> None:
        colours = self._theme.colours
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        self._paint_hover(painter)
        flags = int(Qt.TextFlag.TextWordWrap)
        left, room, top = L + _MARK + M, self._room(self.width()), S
        paint_mark(painter, QRectF(L, top + 1, _MARK, _MARK), self._mark, self._theme)
        painter.setFont(self.font())
        painter.setPen(QColor(colours.text))
        used = painter.boundingRect(QRectF(left, top, room, 10000), flags, self.text())
        painter.drawText(QRectF(left, top, room, used.height()), flags, self.text())
        caption = self._theme.font(Text.CAPTION)
        painter.setFont(caption)
        painter.setPen(QColor(colours.muted))
        painter.drawText(QRectF(left, top + used.height() + 2, room, 10000), self._line_flags(self.width()), self._line)
        right = self.width() - S - _CHEVRON
        self._paint_chevron(painter, right)
        if self._badge:
            painter.setPen(QColor(colours.tone(self._badge_mark, colours.info)))
            width = QFontMetrics(caption).horizontalAdvance(self._badge) + XS
            area = QRectF(right - S - width, 0, width, self.height())
            painter.drawText(area, Qt.AlignmentFlag.AlignVCenter, self._badge)
        painter.end()

    def _paint_chevron(self, painter: QPainter, left: float) -> None:
        name = "collapse" if self.isChecked() else "expand"
        area = QRectF(left, (self.height() - _CHEVRON) / 2, _CHEVRON, _CHEVRON)
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
            painter.setBrush(Qt.BrushStyle.NoBrush)
            painter.setPen(QPen(QColor(colours.text), 1.6))
            painter.drawRoundedRect(rect, RADIUS, RADIUS)


class FoldLine(FoldHead):
    """Chevron, mark and one line of text, as wide as there is room; what does not fit stands in the tool tip."""

    def __init__(self, theme: Theme, parent: QWidget) -> None:
        super().__init__(theme, parent)
        self.setFont(theme.font(Text.BODY))
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)

    def say(self, mark: str, title: str, line: str = "") -> None:
        super().say(mark, title, line)
        if self.toolTip() != title:
            self.setToolTip(title)

    def sizeHint(self) -> QSize:
        return QSize(120, QFontMetrics(self.font()).height() + S + XS)

    def minimumSizeHint(self) -> QSize:
        return QSize(60, self.sizeHint().height())

    def paintEvent(self, event: QPaintEvent) -> None:
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        self._paint_hover(painter)
        self._paint_chevron(painter, XS)
        left = XS + _CHEVRON + S
        if self._mark:
            area = QRectF(left, (self.height() - _SMALL_MARK) / 2, _SMALL_MARK, _SMALL_MARK)
            paint_mark(painter, area, self._mark, self._theme)
            left += _SMALL_MARK + S
        painter.setPen(QColor(self._theme.colours.text))
        painter.setFont(self.font())
        room = self.width() - left - XS
        line = painter.fontMetrics().elidedText(self.text(), Qt.TextElideMode.ElideRight, room)
        painter.drawText(QRectF(left, 0, room, self.height()), Qt.AlignmentFlag.AlignVCenter, line)
        painter.end()


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
