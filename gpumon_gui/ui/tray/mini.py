"""Knows: the mini monitor: a small window that stays in sight, a line per GPU and the busiest program. Must not know:
what is said of a GPU (``rows``), where the window stands (``placing``), the tray.

It paints itself: one widget, however many GPUs. Dragged anywhere, it remembers its place per screen.
"""

from __future__ import annotations

from typing import Final

from PySide6.QtCore import QEvent, QPoint, QRect, QRectF, QSize, Qt, Signal, Slot
from PySide6.QtGui import (
    QAction,
    QColor,
    QContextMenuEvent,
    QFontMetrics,
    QGuiApplication,
    QHelpEvent,
    QHideEvent,
    QKeyEvent,
    QMouseEvent,
    QMoveEvent,
    QPainter,
    QPaintEvent,
    QPen,
    QShowEvent,
)
from PySide6.QtWidgets import QMenu, QToolTip, QWidget

from gpumon_gui.bridge.feed import Feed, FeedState
from gpumon_gui.bridge.ticker import Ticker
from gpumon_gui.core.messages import _
from gpumon_gui.core.model import DeviceKey
from gpumon_gui.system.compositor import is_composited
from gpumon_gui.ui.charts.spark import paint_spark
from gpumon_gui.ui.focus_ring import paint_ring
from gpumon_gui.ui.text_height import text_height
from gpumon_gui.ui.theme import RADIUS, XS, M, S, Series, Text, Theme
from gpumon_gui.ui.tips import plain
from gpumon_gui.ui.tray.placing import corner
from gpumon_gui.ui.tray.reading import gpus_of, state_line
from gpumon_gui.ui.tray.rows import Row, row_of, top_process

WIDTH: Final = 320
_SPARK: Final = QSize(76, 40)
_BAR: Final = 4
#: With more GPUs than these, or than fit on the screen, the rest is counted.
MOST_GPUS: Final = 8


class MiniMonitor(QWidget):
    """Hidden until asked for.

    Signals:
        wanted(object): the user wants the whole window, with this device; None: as it is.
        placed(tuple): it was moved: screen name, x and y from that screen's corner, as texts.
        on_top_chosen(bool): whether it stays above others, chosen in its menu.
    """

    wanted = Signal(object)
    placed = Signal(tuple)
    on_top_chosen = Signal(bool)

    def __init__(self, feed: Feed, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent, Qt.WindowType.Tool | Qt.WindowType.FramelessWindowHint)
        self._feed = feed
        self._theme = theme
        self._rows: tuple[Row, ...] = ()
        self._foot = ""
        self._head = ""
        self._place: tuple[str, ...] = ()
        self._beside = QRect()
        self._dragged_from: QPoint | None = None
        self._was_moved = self._is_pressed = False
        self._current: DeviceKey | None = None  # the keys have gone there
        # Without a compositor what is translucent is black: the corners are square there.
        self._is_round = QGuiApplication.platformName() != "xcb" or is_composited()
        self.setAttribute(Qt.WidgetAttribute.WA_TranslucentBackground, self._is_round)
        self.setAttribute(Qt.WidgetAttribute.WA_AlwaysShowToolTips)
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.setWindowTitle("GPUMon")
        self.menu = QMenu(self)
        self.open_action = QAction(self.menu)
        self.open_action.triggered.connect(self._on_open)
        self.top_action = QAction(self.menu)
        self.top_action.setCheckable(True)
        self.top_action.triggered.connect(self._on_top)
        self.close_action = QAction(self.menu)
        self.close_action.triggered.connect(self.hide)
        self.menu.addActions([self.open_action, self.top_action])
        self.menu.addSeparator()
        self.menu.addAction(self.close_action)
        self._ticker = Ticker(feed, self)
        self._ticker.due.connect(self.refresh)
        theme.changed.connect(self.update)
        self.retranslate()

    # -- what others call

    def set_on_top(self, on: bool) -> None:
        """Above other windows, where the desktop allows it (Wayland may not)."""
        self.top_action.setChecked(on)
        if bool(self.windowFlags() & Qt.WindowType.WindowStaysOnTopHint) == on:
            return
        if not self.testAttribute(Qt.WidgetAttribute.WA_WState_Created):
            self.setWindowFlag(Qt.WindowType.WindowStaysOnTopHint, on)
            return
        handle = self.windowHandle()
        # QWidget's own way hides the window, and with that it loses its place and the keyboard.
        handle.setFlag(Qt.WindowType.WindowStaysOnTopHint, on)
        self.overrideWindowFlags(handle.flags())

    def set_place(self, place: tuple[str, ...]) -> None:
        """Where it stood when it was last moved, as :attr:`placed` told it; anything else means the usual place."""
        self._place = place

    def toggle(self, beside: QRect | None = None) -> None:
        """Show, with the keyboard on it, or hide. ``beside``: the icon that was clicked, where that is known; it opens
        there unless it was moved before."""
        if self.isVisible():
            self.hide()
            return
        self._beside = QRect() if beside is None else beside
        self._open()
        self.raise_()
        self.activateWindow()
        self.setFocus(Qt.FocusReason.PopupFocusReason)

    def open_quietly(self) -> None:
        """Show, and leave the keyboard where it is."""
        self.setAttribute(Qt.WidgetAttribute.WA_ShowWithoutActivating)
        self._open()
        self.setAttribute(Qt.WidgetAttribute.WA_ShowWithoutActivating, False)

    def close_down(self) -> None:
        """No refresh any more."""
        self._ticker.stop()
        self.hide()

    @Slot()
    def retranslate(self) -> None:
        """Write every text again, in the language now in use."""
        self.open_action.setText(_("Open GPUMon"))
        self.top_action.setText(_("Always on top"))
        self.close_action.setText(_("Close"))
        self.refresh()

    @Slot()
    def refresh(self) -> None:
        """Show what the feed says now."""
        sample, status = self._feed.latest, self._feed.status
        dimmed = status.state in (FeedState.STALE, FeedState.PAUSED)
        gpus = () if sample is None else gpus_of(sample)
        most = self._most_rows()
        rows = () if sample is None else tuple(row_of(gpu, sample, self._feed, dimmed=dimmed) for gpu in gpus[:most])
        foot = _("{count} more").format(count=len(gpus) - most) if len(gpus) > most else ""
        self._foot = foot or ("" if sample is None else top_process(sample))
        self._head = state_line(status) or ("" if rows else _("No GPU"))
        self._rows = rows
        if self._current not in [row.key for row in rows]:
            self._current = None
        self._name()
        size = self.sizeHint()
        if size != self.size():
            self.setFixedSize(size)
            if self.isVisible() and not self._was_moved:
                self.move(corner(self.size(), self._place, self._beside))
        self.update()

    def text(self) -> str:
        """What it says, line by line."""
        return "\n".join(
            line
            for line in [self._head, *(f"{r.title}: {r.load}, {r.figures}" for r in self._rows), self._foot]
            if line
        )

    @property
    def current(self) -> DeviceKey | None:
        """The device that the keys have gone to; None: to none yet."""
        return self._current

    # -- content

    def _name(self) -> None:
        """A screen reader hears everything, or the GPU that the keys have gone to."""
        rows = [row for row in self._rows if self._current in (None, row.key)]
        around = (self._head, self._foot) if self._current is None else ("", "")
        parts = [around[0], *(f"{r.title} {r.full_name} {r.load} {r.figures}" for r in rows), around[1]]
        name = ". ".join(part for part in parts if part)
        if name != self.accessibleName():
            self.setAccessibleName(name)
        counters = dict.fromkeys(f"{r.title}: {r.counter}" for r in rows if r.counter)
        if (text := _(", ").join(counters)) != self.accessibleDescription():
            self.setAccessibleDescription(text)

    def _go(self, by: int) -> None:
        """To another GPU, round and round."""
        keys = [row.key for row in self._rows]
        if not keys:
            return
        at = keys.index(self._current) + by if self._current in keys else (0 if by > 0 else -1)
        self._current = keys[at % len(keys)]
        self._name()
        self.update()

    def _place_of(self, nth: int) -> QRect:
        """Where a row is painted."""
        line = text_height(self._theme.font(Text.CAPTION))
        top = M + (line + S if self._head else 0) + nth * (self._row_height() + S)
        return QRect(M, top, self.width() - 2 * M, self._row_height())

    def _row_at(self, at: QPoint) -> Row | None:
        return next((row for nth, row in enumerate(self._rows) if self._place_of(nth).contains(at)), None)

    # -- look

    def sizeHint(self) -> QSize:
        line = text_height(self._theme.font(Text.CAPTION))
        height = 2 * M + sum(1 for text in (self._head, self._foot) if text) * (line + S)
        height += len(self._rows) * self._row_height() + max(0, len(self._rows) - 1) * S
        return QSize(WIDTH, max(height, 2 * M + line))

    def _most_rows(self) -> int:
        line = text_height(self._theme.font(Text.CAPTION))
        room = self.screen().availableGeometry().height() - 2 * M  # of the screen's edges
        room -= 2 * M + 2 * (line + S) - S  # what stands around the rows
        return max(1, min(MOST_GPUS, room // (self._row_height() + S)))

    def _row_height(self) -> int:
        strong, caption = (text_height(self._theme.font(role)) for role in (Text.STRONG, Text.CAPTION))
        return max(_SPARK.height(), strong + caption + XS) + XS + _BAR

    def paintEvent(self, event: QPaintEvent) -> None:
        colours = self._theme.colours
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setPen(QPen(QColor(colours.accent if self.hasFocus() else colours.border), 1.0))
        painter.setBrush(QColor(colours.window))
        radius = RADIUS + 2 if self._is_round else 0
        painter.drawRoundedRect(QRectF(self.rect()).adjusted(0.5, 0.5, -0.5, -0.5), radius, radius)
        caption = self._theme.font(Text.CAPTION)
        line = text_height(caption)
        top = M
        if self._head:
            self._write(painter, QRect(M, top, self.width() - 2 * M, line), self._head, Text.CAPTION, colours.muted)
            top += line + S
        for nth, row in enumerate(self._rows):
            place = self._place_of(nth)
            if row.key == self._current and self.hasFocus():
                paint_ring(painter, QRectF(place).adjusted(-S, -XS, S, XS), colours)
            self._paint_row(painter, row, place)
            top = place.bottom() + 1 + S
        if self._foot:
            self._write(painter, QRect(M, top, self.width() - 2 * M, line), self._foot, Text.CAPTION, colours.muted)
        painter.end()

    def _paint_row(self, painter: QPainter, row: Row, area: QRect) -> None:
        colours = self._theme.colours
        spark = QRectF(area.left(), area.top(), _SPARK.width(), area.height() - _BAR - XS)
        curve = QColor(colours.faint) if row.dimmed else self._theme.series(Series.ENGINE)
        back, border = QColor(colours.chart_back), QColor(colours.border)
        paint_spark(painter, spark, row.spark, 1.0, curve, back, border, colours.fill_alpha)
        left = area.left() + _SPARK.width() + M
        width = area.right() - left
        strong = text_height(self._theme.font(Text.STRONG))
        load_width = QFontMetrics(self._theme.font(Text.STRONG)).horizontalAdvance("100 %") + S
        text = colours.faint if row.dimmed else colours.text
        quiet = colours.faint if row.dimmed else colours.muted
        first = QRect(left, area.top(), width - load_width, strong)
        self._write(painter, first, row.title, Text.STRONG, text)
        ascents = [QFontMetrics(self._theme.font(role)).ascent() for role in (Text.STRONG, Text.CAPTION)]
        first.adjust(painter.fontMetrics().horizontalAdvance(row.title) + S, ascents[0] - ascents[1], 0, 0)
        self._write(painter, first, row.name, Text.CAPTION, quiet)
        self._write(
            painter,
            QRect(left + width - load_width, area.top(), load_width, strong),
            row.load,
            Text.STRONG,
            text,
            Qt.AlignmentFlag.AlignRight,
        )
        second = QRect(left, area.top() + strong + XS, width, area.height() - strong - 2 * XS - _BAR)
        self._write(painter, second, row.figures, Text.CAPTION, quiet)
        bar = QRectF(area.left(), area.bottom() + 1 - _BAR, area.width(), _BAR)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(QColor(colours.selected))
        painter.drawRoundedRect(bar, _BAR / 2, _BAR / 2)
        if row.filling is not None:
            bar.setWidth(max(_BAR, bar.width() * min(1.0, row.filling)))
            painter.setBrush(QColor(colours.faint) if row.dimmed else self._theme.series(Series.MEMORY))
            painter.drawRoundedRect(bar, _BAR / 2, _BAR / 2)

    def _write(
        self,
        painter: QPainter,
        area: QRect,
        text: str,
        role: Text,
        colour: str,
        align: Qt.AlignmentFlag = Qt.AlignmentFlag.AlignLeft,
    ) -> None:
        painter.setFont(self._theme.font(role))
        painter.setPen(QColor(colour))
        cut = painter.fontMetrics().elidedText(text, Qt.TextElideMode.ElideRight, area.width())
        painter.drawText(area, align | Qt.AlignmentFlag.AlignTop, cut)

    # -- place

    def _open(self) -> None:
        self._current = None
        self.refresh()
        self.move(corner(self.size(), self._place, self._beside))
        self.show()

    @Slot()
    def _on_open(self) -> None:
        self.wanted.emit(self._current)

    @Slot(bool)
    def _on_top(self, on: bool) -> None:
        self.set_on_top(on)
        self.on_top_chosen.emit(on)

    # -- Qt's events

    def mousePressEvent(self, event: QMouseEvent) -> None:
        if event.button() is Qt.MouseButton.LeftButton:
            self._is_pressed = True
            handle = self.windowHandle()
            if handle is None or not handle.startSystemMove():
                self._dragged_from = event.globalPosition().toPoint() - self.pos()

    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        if self._dragged_from is not None:
            self.move(event.globalPosition().toPoint() - self._dragged_from)

    def mouseReleaseEvent(self, event: QMouseEvent) -> None:
        self._dragged_from = None

    def mouseDoubleClickEvent(self, event: QMouseEvent) -> None:
        hit = self._row_at(event.position().toPoint())
        self.wanted.emit(None if hit is None else hit.key)

    def moveEvent(self, event: QMoveEvent) -> None:
        if self.isVisible() and self._is_pressed:
            self._was_moved = True
            area = self.screen().availableGeometry()
            self._place = (
                self.screen().name(),
                str(self.x() - area.left()),
                str(self.y() - area.top()),
            )
            self.placed.emit(self._place)

    def contextMenuEvent(self, event: QContextMenuEvent) -> None:
        self.menu.popup(event.globalPos())

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if event.key() == Qt.Key.Key_Escape:
            self.hide()
        elif event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter):
            self.wanted.emit(self._current)
        elif event.key() in (Qt.Key.Key_Down, Qt.Key.Key_Up):
            self._go(1 if event.key() == Qt.Key.Key_Down else -1)
        elif event.key() == Qt.Key.Key_Menu:
            self.menu.popup(self.mapToGlobal(self.rect().center()))
        else:
            super().keyPressEvent(event)

    def event(self, event: QEvent) -> bool:
        """The tip of a GPU says which counter its figure is."""
        if event.type() == QEvent.Type.ToolTip and isinstance(event, QHelpEvent):
            row = self._row_at(event.pos())
            QToolTip.showText(event.globalPos(), "" if row is None else plain(row.tip), self)
            return True
        return super().event(event)

    def focusNextPrevChild(self, forward: bool) -> bool:
        """Tab goes from GPU to GPU: there is nothing else in this window."""
        self._go(1 if forward else -1)
        return True

    def showEvent(self, event: QShowEvent) -> None:
        super().showEvent(event)
        self._ticker.set_active(True)

    def hideEvent(self, event: QHideEvent) -> None:
        super().hideEvent(event)
        self._ticker.set_active(False)

    def changeEvent(self, event: QEvent) -> None:
        super().changeEvent(event)
        if event.type() in (QEvent.Type.ActivationChange, QEvent.Type.FontChange):
            self.update()
