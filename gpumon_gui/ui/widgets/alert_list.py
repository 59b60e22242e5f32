"""Knows: the bell in the tool row and the list of alerts below it. Must not know: when something is an alert."""

from __future__ import annotations

from PySide6.QtCore import (
    QDateTime,
    QEvent,
    QModelIndex,
    QPersistentModelIndex,
    QPoint,
    QRect,
    QRectF,
    QSize,
    Qt,
    Signal,
    Slot,
)
from PySide6.QtGui import QColor, QFont, QFontMetrics, QKeyEvent, QPainter, QPaintEvent
from PySide6.QtWidgets import (
    QFrame,
    QHBoxLayout,
    QLabel,
    QListWidget,
    QListWidgetItem,
    QMenu,
    QStyledItemDelegate,
    QStyleOptionViewItem,
    QVBoxLayout,
    QWidget,
)

from gpumon_gui.bridge.alerts import AlertCentre
from gpumon_gui.core.files import printable
from gpumon_gui.core.messages import _
from gpumon_gui.diagnosis.alerts.alert import VERDICT, Alert
from gpumon_gui.ui import moments
from gpumon_gui.ui.text_height import text_height
from gpumon_gui.ui.theme import M, S, Text, Theme
from gpumon_gui.ui.unbroken import unbroken
from gpumon_gui.ui.widgets.button import FlatButton
from gpumon_gui.ui.widgets.quiet_list import QuietList
from gpumon_gui.ui.widgets.rows import paint_row
from gpumon_gui.ui.widgets.section import wrapped

_WIDTH = 400
_HEIGHT = 420
_MOST_SHOWN = 9


class Bell(FlatButton):
    """How many alerts are unread, as a number on the bell.

    Signals:
        followed(object): the user chose an :class:`Alert` in the list.
        unwanted(object): the user wants no more alerts of the kind of this :class:`Alert`.
    """

    followed = Signal(object)
    unwanted = Signal(object)

    def __init__(self, theme: Theme, centre: AlertCentre, parent: QWidget | None = None) -> None:
        super().__init__(theme, "bell", "", parent)
        self._centre = centre
        self.panel = AlertPanel(theme, centre, self)
        self.panel.followed.connect(self.followed)
        self.panel.unwanted.connect(self.unwanted)
        self.clicked.connect(self.open)
        centre.changed.connect(self.retranslate)
        self.retranslate()

    @Slot()
    def retranslate(self) -> None:
        """Write every text again."""
        unread = self._centre.unread
        name = _("Alerts") if not unread else _("Alerts: {count} new").format(count=unread)
        self.setToolTip(name)
        self.setAccessibleName(name)
        self.panel.retranslate()
        self.update()

    def paintEvent(self, event: QPaintEvent) -> None:
        super().paintEvent(event)
        unread = self._centre.unread
        if not unread:
            return
        text = str(unread) if unread <= _MOST_SHOWN else f"{_MOST_SHOWN}+"
        colours = self._theme.colours
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        font = QFont(self._theme.font(Text.CAPTION))  # a copy: the theme's own is everybody's
        font.setPointSizeF(max(6.0, font.pointSizeF() * 0.8))
        painter.setFont(font)
        height = QFontMetrics(font).height()
        width = max(height, QFontMetrics(font).horizontalAdvance(text) + S)
        badge = QRectF(self.width() - width - 1, 1, width, height)
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(QColor(colours.bad))
        painter.drawRoundedRect(badge, height / 2, height / 2)
        painter.setPen(QColor(colours.window))
        painter.drawText(badge, Qt.AlignmentFlag.AlignCenter, text)
        painter.end()

    @Slot()
    def open(self) -> None:
        """Show the list; what is in it has been read."""
        self.panel.open_below(self)
        self._centre.mark_read()


class _AlertDelegate(QStyledItemDelegate):
    """The title with the time at its right, and below it what happened, in as many lines as it takes."""

    def __init__(self, theme: Theme, parent: QListWidget) -> None:
        super().__init__(parent)
        self._theme = theme
        self._list = parent

    def sizeHint(self, option: QStyleOptionViewItem, index: QModelIndex | QPersistentModelIndex) -> QSize:
        width = self._list.viewport().width() - 2 * self._list.spacing()
        title, text = self._theme.font(Text.STRONG), QFontMetrics(self._theme.font(Text.BODY))
        room = QRect(0, 0, width - 2 * S, 10_000)
        head, _when, words = self._words(index)
        height = text.boundingRect(room, int(Qt.TextFlag.TextWordWrap), words).height()
        return QSize(width, text_height(title, head) + 2 + height + 2 * S)

    def paint(
        self, painter: QPainter, option: QStyleOptionViewItem, index: QModelIndex | QPersistentModelIndex
    ) -> None:
        shown = QStyleOptionViewItem(option)
        self.initStyleOption(shown, index)
        colours = self._theme.colours
        painter.save()
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        paint_row(painter, shown, self._theme)
        title, when, words = self._words(index)
        room = shown.rect.adjusted(S, S, -S, -S)
        font, quiet, body = (self._theme.font(role) for role in (Text.STRONG, Text.CAPTION, Text.BODY))
        line = text_height(font, title)
        head = QRect(room.left(), room.top(), room.width(), line)
        painter.setFont(quiet)
        painter.setPen(QColor(colours.muted))
        painter.drawText(head, Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter, when)
        head.setWidth(head.width() - QFontMetrics(quiet).horizontalAdvance(when) - M)
        painter.setFont(font)
        painter.setPen(QColor(colours.text))
        fitting = QFontMetrics(font).elidedText(title, Qt.TextElideMode.ElideRight, head.width())
        painter.drawText(head, Qt.AlignmentFlag.AlignVCenter, fitting)
        painter.setFont(body)
        painter.setPen(QColor(colours.muted))
        painter.drawText(room.adjusted(0, line + 2, 0, S), int(Qt.TextFlag.TextWordWrap), words)
        painter.restore()

    @staticmethod
    def _words(index: QModelIndex | QPersistentModelIndex) -> tuple[str, str, str]:
        alert = index.data(Qt.ItemDataRole.UserRole)
        return _(alert.title), time_text(alert), unbroken(alert_text(alert))


class AlertPanel(QFrame):
    """The list, as a popup that a click beside it or Escape closes.

    Signals:
        followed(object): the user chose an :class:`Alert`.
        unwanted(object): the user wants no more alerts of the kind of this :class:`Alert`.
    """

    followed = Signal(object)
    unwanted = Signal(object)

    def __init__(self, theme: Theme, centre: AlertCentre, parent: QWidget) -> None:
        super().__init__(parent, Qt.WindowType.Popup)
        self.setFrameShape(QFrame.Shape.StyledPanel)
        self._theme = theme
        self._centre = centre
        self._title = QLabel(self)
        self._title.setFont(theme.font(Text.SUBTITLE))
        self._empty = wrapped(theme, muted=True, parent=self)
        self._empty.setContentsMargins(S + 2, 0, S, S)
        self._clear = FlatButton(theme, "", "", self)
        self._clear.clicked.connect(centre.clear)
        self.list = QuietList(theme, self)
        self.list.setItemDelegate(_AlertDelegate(theme, self.list))
        self.list.itemActivated.connect(self._on_chosen)
        self.list.itemClicked.connect(self._on_chosen)
        self.list.setContextMenuPolicy(Qt.ContextMenuPolicy.CustomContextMenu)
        self.list.customContextMenuRequested.connect(self._open_menu)
        self.menu = QMenu(self)
        self.unwanted_action = self.menu.addAction("")
        self.unwanted_action.triggered.connect(self._on_unwanted)
        head = QHBoxLayout()
        head.setContentsMargins(S + 2, 0, 0, 0)
        head.addWidget(self._title)
        head.addStretch(1)
        head.addWidget(self._clear)
        box = QVBoxLayout(self)
        box.setContentsMargins(S, S, S, S)
        box.setSpacing(S)
        box.addLayout(head)
        box.addWidget(self._empty)
        box.addWidget(self.list, 1)
        self._box = box
        centre.changed.connect(self._fill)
        self._fill()

    def open_below(self, widget: QWidget) -> None:
        """Show the list at the right edge of a widget, within the screen."""
        corner = widget.mapToGlobal(QPoint(widget.width(), widget.height()))
        area = widget.screen().availableGeometry()
        left = max(area.left(), min(corner.x() - _WIDTH, area.right() - _WIDTH))
        self.setGeometry(left, corner.y(), _WIDTH, _HEIGHT)
        self.show()  # how high its lines are is known once it has its width
        height = self._height()
        self.setGeometry(left, min(corner.y(), area.bottom() - height), _WIDTH, height)
        self.list.setFocus()

    def _height(self) -> int:
        """As high as the alerts, up to a point."""
        if not self.list.count():
            return self._box.totalHeightForWidth(_WIDTH)
        rows = sum(self.list.sizeHintForRow(row) + 2 * self.list.spacing() for row in range(self.list.count()))
        return min(_HEIGHT, rows + self.height() - self.list.viewport().height() + S)

    @Slot()
    def retranslate(self) -> None:
        """Write every text again."""
        self._title.setText(_("Alerts"))
        self._clear.set_text(_("Clear"))
        self.unwanted_action.setText(_("Do not tell of this again"))
        self._empty.setText(_("Nothing has happened since GPUMon was started."))
        self.list.setAccessibleName(_("Alerts"))
        self._fill()

    @Slot()
    def _fill(self) -> None:
        alerts = self._centre.alerts
        self.list.clear()
        for alert in alerts:
            item = QListWidgetItem(f"{time_text(alert)}  {_(alert.title)}\n{alert_text(alert)}")
            item.setData(Qt.ItemDataRole.UserRole, alert)
            self.list.addItem(item)
        self.list.setVisible(bool(alerts))
        self._empty.setVisible(not alerts)
        self._clear.setVisible(bool(alerts))

    @Slot(QListWidgetItem)
    def _on_chosen(self, item: QListWidgetItem) -> None:
        alert = item.data(Qt.ItemDataRole.UserRole)
        self.close()
        if isinstance(alert, Alert):
            self.followed.emit(alert)

    @Slot(QPoint)
    def _open_menu(self, at: QPoint) -> None:
        """By the mouse for the line below it, by the keyboard for the current one."""
        item = self.list.itemAt(at)
        if item is None:
            return
        self.list.setCurrentItem(item)
        # A verdict has no setting: it is told as long as the program is watched.
        self.unwanted_action.setEnabled(item.data(Qt.ItemDataRole.UserRole).kind != VERDICT)
        self.menu.popup(self.list.viewport().mapToGlobal(at))

    @Slot()
    def _on_unwanted(self) -> None:
        item = self.list.currentItem()
        if item is not None:
            self.close()
            self.unwanted.emit(item.data(Qt.ItemDataRole.UserRole))

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if event.key() == Qt.Key.Key_Escape:
            self.close()
        else:
            super().keyPressEvent(event)

    def changeEvent(self, event: QEvent) -> None:
        super().changeEvent(event)
        if event.type() == QEvent.Type.PaletteChange:
            self.update()


def alert_text(alert: Alert) -> str:
    """What happened, in a sentence or two; names of others cannot break the line."""
    return printable(_(alert.text).format(**alert.values)).strip()


def time_text(alert: Alert) -> str:
    """The time of day; with the date where it is not today's."""
    return moments.moment_or_clock(alert.utc_s, QDateTime.currentSecsSinceEpoch())
