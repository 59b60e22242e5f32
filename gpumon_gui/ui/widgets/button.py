"""Knows: the flat button of tool rows, rail and bars. Must not know: what it does when pressed."""

from __future__ import annotations

from PySide6.QtCore import QEvent, QPointF, QRectF, QSize, Qt
from PySide6.QtGui import (
    QColor,
    QEnterEvent,
    QFocusEvent,
    QFontMetrics,
    QKeyEvent,
    QPainter,
    QPainterPath,
    QPaintEvent,
    QPen,
)
from PySide6.QtWidgets import QAbstractButton, QMenu, QSizePolicy, QWidget

from gpumon_gui.ui import icons
from gpumon_gui.ui.focus_ring import paint_ring
from gpumon_gui.ui.theme import RADIUS, XS, M, S, Text, Theme

ICON = 18
HEIGHT = 32
#: The ring is for those who came by keyboard.
BY_KEYBOARD = (
    Qt.FocusReason.TabFocusReason,
    Qt.FocusReason.BacktabFocusReason,
    Qt.FocusReason.ShortcutFocusReason,
)


class FlatButton(QAbstractButton):
    """Icon, text or both; with a menu it shows an arrow and opens it. Space, Enter and Down work as a click.

    ``icon_name`` names a drawing of :mod:`gpumon_gui.ui.icons`. A button without text needs an accessible name.
    """

    def __init__(
        self,
        theme: Theme,
        icon_name: str = "",
        text: str = "",
        parent: QWidget | None = None,
        *,
        framed: bool = False,
        link: bool = False,
    ) -> None:
        """``link``: it leads out of the program, in the colour that says so."""
        super().__init__(parent)
        self._framed = framed
        self._is_link = link
        self._theme = theme
        self._icon_name = icon_name
        self._menu: QMenu | None = None
        self._hover = False
        self.setText(text)
        self.setFont(theme.font(Text.BODY))
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.setSizePolicy(QSizePolicy.Policy.Fixed, QSizePolicy.Policy.Fixed)
        theme.changed.connect(self.update)

    def set_text(self, text: str) -> None:
        """Say something else; the width follows."""
        if text != self.text():
            self.setText(text)
            self.updateGeometry()

    def set_icon_name(self, name: str) -> None:
        """Show another drawing."""
        if name != self._icon_name:
            self._icon_name = name
            self.update()

    def set_menu(self, menu: QMenu) -> None:
        """Open a menu below when pressed. The button keeps no other action."""
        self._menu = menu
        self.clicked.connect(self._open_menu)

    def _open_menu(self) -> None:
        if self._menu is not None:
            corner = self.rect().bottomLeft()
            width = self._menu.sizeHint().width()
            if self.mapTo(self.window(), corner).x() + width > self.window().width():
                corner.setX(self.width() - width)
            self._menu.popup(self.mapToGlobal(corner))

    # -- look

    def sizeHint(self) -> QSize:
        width = 2 * S
        if self._icon_name:
            width += ICON
        if self.text():
            width += QFontMetrics(self.font()).horizontalAdvance(self.text()) + (S if self._icon_name else XS)
        if self._menu is not None and self.text():
            width += M + XS
        return QSize(max(width, HEIGHT), max(HEIGHT, QFontMetrics(self.font()).height() + S))

    def minimumSizeHint(self) -> QSize:
        return self.sizeHint()

    def paintEvent(self, event: QPaintEvent) -> None:
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        self.paint_back(painter)
        colours = self._theme.colours
        colour = (colours.accent if self._is_link else colours.text) if self.isEnabled() else colours.faint
        left = float(S if self.text() else (self.width() - ICON) // 2)
        if self._icon_name:
            icons.draw(painter, self._icon_name, colour, QRectF(left, (self.height() - ICON) / 2, ICON, ICON))
            left += ICON + S
        if self.text():
            left += 0 if self._icon_name else XS
            right = self.width() - S - (M if self._menu is not None else 0)
            painter.setPen(QColor(colour))
            painter.drawText(QRectF(left, 0, right - left, self.height()), Qt.AlignmentFlag.AlignVCenter, self.text())
            if self._menu is not None:
                self._arrow(painter, QPointF(self.width() - S - 5, self.height() / 2 + 1))
        painter.end()

    def paint_back(self, painter: QPainter) -> None:
        """Hover, press and focus."""
        colours = self._theme.colours
        rect = QRectF(self.rect()).adjusted(1, 1, -1, -1)
        if self.isDown() or self.isChecked():
            painter.setBrush(QColor(colours.selected))
        elif self._hover and self.isEnabled():
            painter.setBrush(QColor(colours.hover))
        else:
            painter.setBrush(Qt.BrushStyle.NoBrush)
        painter.setPen(QPen(QColor(colours.border), 1) if self._framed else QPen(Qt.PenStyle.NoPen))
        if self._framed and not (self.isDown() or self._hover):
            painter.setBrush(QColor(colours.surface))
        painter.drawRoundedRect(rect.adjusted(-0.5, -0.5, -0.5, -0.5), RADIUS, RADIUS)
        if self.hasFocus() and self._keyboard:
            paint_ring(painter, rect.adjusted(0.5, 0.5, -0.5, -0.5), colours)

    def _arrow(self, painter: QPainter, centre: QPointF) -> None:
        path = QPainterPath(centre + QPointF(-4, -2))
        path.lineTo(centre + QPointF(0, 2))
        path.lineTo(centre + QPointF(4, -2))
        painter.setBrush(Qt.BrushStyle.NoBrush)
        painter.setPen(QPen(QColor(self._theme.colours.muted), 1.3))
        painter.drawPath(path)

    # -- behaviour

    _keyboard = False

    def focusInEvent(self, event: QFocusEvent) -> None:
        self._keyboard = event.reason() in BY_KEYBOARD
        self.update()

    def focusOutEvent(self, event: QFocusEvent) -> None:
        self.update()

    def enterEvent(self, event: QEnterEvent) -> None:
        self._hover = True
        self.update()

    def leaveEvent(self, event: QEvent) -> None:
        self._hover = False
        self.update()

    def keyPressEvent(self, event: QKeyEvent) -> None:
        key = event.key()
        if key in (Qt.Key.Key_Return, Qt.Key.Key_Enter) or (key == Qt.Key.Key_Down and self._menu is not None):
            self.click()
        else:
            super().keyPressEvent(event)
