"""Knows: a line that opens and closes what belongs to it. Must not know: its content."""

from __future__ import annotations

from PySide6.QtCore import QRectF, QSize, Qt, Signal, Slot
from PySide6.QtGui import QColor, QFontMetrics, QPainter, QPaintEvent, QPen
from PySide6.QtWidgets import QSizePolicy, QVBoxLayout, QWidget

from gpumon_gui.core.messages import _
from gpumon_gui.ui import icons
from gpumon_gui.ui.theme import RADIUS, XS, S, Text, Theme
from gpumon_gui.ui.widgets.button import FlatButton
from gpumon_gui.ui.widgets.section import paint_mark

_CHEVRON, _MARK = 14, 14


class FoldLine(FlatButton):
    """Chevron, mark and one line of text, as wide as there is room; what does not fit stands in the tool tip."""

    def __init__(self, theme: Theme, parent: QWidget) -> None:
        super().__init__(theme, "", "", parent)
        self._mark = ""
        self.setCheckable(True)
        self.setFont(theme.font(Text.BODY))
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)

    def set_line(self, text: str, mark: str) -> None:
        """What it says; ``mark`` as in :func:`paint_mark`, empty for none."""
        if (text, mark) != (self.text(), self._mark):
            self._mark = mark
            self.setText(text)
            self.setToolTip(text)
            self.update()
        self.say_state()

    def say_state(self) -> None:
        """What a screen reader hears."""
        state = _("expanded") if self.isChecked() else _("collapsed")
        spoken = _("{name}, {state}").format(name=self.text(), state=state)
        if spoken != self.accessibleName():
            self.setAccessibleName(spoken)

    def sizeHint(self) -> QSize:
        metrics = QFontMetrics(self.font())
        return QSize(120, metrics.height() + S + XS)

    def minimumSizeHint(self) -> QSize:
        return QSize(60, self.sizeHint().height())

    def paintEvent(self, event: QPaintEvent) -> None:
        colours = self._theme.colours
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        if self._hover:
            painter.setPen(Qt.PenStyle.NoPen)
            painter.setBrush(QColor(colours.hover))
            painter.drawRoundedRect(QRectF(self.rect()), RADIUS, RADIUS)
        middle = self.height() / 2
        name = "collapse" if self.isChecked() else "expand"
        icons.draw(painter, name, colours.muted, QRectF(XS, middle - _CHEVRON / 2, _CHEVRON, _CHEVRON))
        left = XS + _CHEVRON + S
        if self._mark:
            paint_mark(painter, QRectF(left, middle - _MARK / 2, _MARK, _MARK), self._mark, self._theme)
            left += _MARK + S
        painter.setPen(QColor(colours.text))
        painter.setFont(self.font())
        room = self.width() - left - XS
        line = painter.fontMetrics().elidedText(self.text(), Qt.TextElideMode.ElideRight, room)
        painter.drawText(QRectF(left, 0, room, self.height()), Qt.AlignmentFlag.AlignVCenter, line)
        if self.hasFocus() and self._keyboard:
            painter.setBrush(Qt.BrushStyle.NoBrush)
            painter.setPen(QPen(QColor(colours.text), 1.6))
            painter.drawRoundedRect(QRectF(self.rect()).adjusted(1, 1, -1, -1), RADIUS, RADIUS)
        painter.end()


class Fold(QWidget):
    """A line and what is below it when open.

    Signals:
        toggled(bool): the user opened or closed it.
    """

    toggled = Signal(bool)

    def __init__(self, theme: Theme, content: QWidget, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.line = FoldLine(theme, self)
        self.content = content
        content.setParent(self)
        box = QVBoxLayout(self)
        box.setContentsMargins(0, 0, 0, 0)
        box.setSpacing(XS)
        box.addWidget(self.line)
        box.addWidget(content)
        content.hide()
        self.line.toggled.connect(self._on_toggled)

    @property
    def is_open(self) -> bool:
        """Whether its content is on show."""
        return self.line.isChecked()

    def set_open(self, on: bool) -> None:
        """Open or close."""
        self.line.setChecked(on)

    def set_line(self, text: str, mark: str = "") -> None:
        """What the line says."""
        self.line.set_line(text, mark)

    @Slot(bool)
    def _on_toggled(self, on: bool) -> None:
        self.content.setVisible(on)
        self.line.say_state()
        self.toggled.emit(on)
