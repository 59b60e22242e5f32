"""Knows: the History page: one device over hours to a year, its figures, markers, another span to compare with.
Must not know: SQLite, threads.

Its parts: what is asked (:class:`HistoryAsking`), how it is shown (:class:`HistoryFigures`), what stands above and
below, files (:class:`HistorySaving`). A hidden page asks and draws nothing.
"""

from __future__ import annotations

from PySide6.QtCore import QPoint, Qt, Signal, Slot
from PySide6.QtGui import QGuiApplication, QImage, QKeyEvent, QKeySequence, QResizeEvent, QShowEvent
from PySide6.QtWidgets import QStackedWidget, QVBoxLayout, QWidget

from gpumon_gui.bridge.feed import Feed
from gpumon_gui.bridge.history import History, HistoryStatus
from gpumon_gui.core.messages import _, sentences
from gpumon_gui.core.model import DeviceKey
from gpumon_gui.history.marker import Marker
from gpumon_gui.history.reading import Span
from gpumon_gui.ui.announce import announce
from gpumon_gui.ui.charts.history_stack import ZOOM, marker_tip
from gpumon_gui.ui.theme import TONES, L, S, Theme
from gpumon_gui.ui.widgets.history_asking import HistoryAsking
from gpumon_gui.ui.widgets.history_empty import HistoryEmpty
from gpumon_gui.ui.widgets.history_figures import HistoryFigures
from gpumon_gui.ui.widgets.history_foot import HistoryFoot
from gpumon_gui.ui.widgets.history_head import HistoryHead
from gpumon_gui.ui.widgets.history_menus import HistoryMenus
from gpumon_gui.ui.widgets.history_picture import titled
from gpumon_gui.ui.widgets.history_saving import HistorySaving
from gpumon_gui.ui.widgets.message_bar import MessageBar, Tone


class HistoryPage(QWidget):
    """The page. ``set_history`` gives it something to show; without, it says that nothing is kept.

    Signals:
        last_hour_wanted(): what the window remembers shall be shown.
    """

    last_hour_wanted = Signal()

    def __init__(self, feed: Feed, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._theme = theme
        self._feed = feed
        self._told = ""  # of a marker
        self._is_to_say = False
        self._was_off = False
        self.head = HistoryHead(theme, self)
        self.off_bar = MessageBar(theme, parent=self)
        self.message = MessageBar(theme, closable=True, parent=self)
        self.figures = HistoryFigures(theme, self)
        self.stack = self.figures.stack
        self.setFocusProxy(self.stack)
        self.empty = HistoryEmpty(theme, self)
        self.foot = HistoryFoot(theme, self)
        self.asked = HistoryAsking(feed, self.stack.columns, self)
        self.saving = HistorySaving(self.asked, self.message, self._picture, self.stack.columns, self)
        self.menus = HistoryMenus(self.asked, self.figures, self.head, self)
        self._pages = QStackedWidget(self)
        self._pages.addWidget(self.figures)
        self._pages.addWidget(self.empty)
        column = QVBoxLayout(self)
        column.setContentsMargins(L, S, L, S)
        column.setSpacing(S)
        column.addWidget(self.head)
        column.addWidget(self.off_bar)
        column.addWidget(self.message)
        column.addWidget(self._pages, 1)
        column.addWidget(self.foot)
        self._connect()
        self.retranslate()

    def _connect(self) -> None:
        asked, head, stack, menus = self.asked, self.head, self.stack, self.menus
        asked.changed.connect(self._draw)
        asked.moved.connect(self._on_moved)
        asked.answered.connect(self._on_answered)
        head.range_choice.chosen.connect(asked.set_range)
        head.zoom_in_button.clicked.connect(self._on_zoom_in)
        head.zoom_out_button.clicked.connect(self._on_zoom_out)
        head.now_button.clicked.connect(asked.go_to_now)
        stack.span_wanted.connect(asked.set_span)
        stack.back_wanted.connect(asked.go_to_now)
        stack.edge_wanted.connect(asked.go_to_edge)
        stack.marker_chosen.connect(self._on_marker)
        stack.setContextMenuPolicy(Qt.ContextMenuPolicy.CustomContextMenu)
        stack.customContextMenuRequested.connect(self._on_context_menu)
        menus.device_chosen.connect(asked.select)
        menus.metric_toggled.connect(self._on_metric)
        menus.comparison_chosen.connect(asked.compare)
        menus.keep_wanted.connect(asked.keep_span)
        menus.export_wanted.connect(self.saving.ask)
        menus.copy_wanted.connect(self._on_copy)
        self.foot.delete_wanted.connect(asked.forget)
        self.empty.last_hour_wanted.connect(self.last_hour_wanted)
        self._feed.inventory_changed.connect(self._draw)  # now there is something of this hour
        self._theme.changed.connect(self.update)

    # -- what others use

    def set_history(self, history: History | None, why_none: str = "") -> None:
        """Where the past comes from; ``why_none`` (untranslated) says why there is none."""
        if history is not None:
            history.retranslate()  # the language may be another since it said why it is off
        self.saving.set_history(history)
        self.asked.set_history(history, why_none)

    def refresh(self) -> None:
        """Ask again when time has moved on far enough. Called by the ticker while the page is visible."""
        self.asked.refresh()

    def activate(self) -> None:
        """The page has come on show."""
        if self.asked.history is not None:
            self.asked.history.flush()
        self.asked.ask()

    def show_span(self, left_utc_s: float, right_utc_s: float, device: DeviceKey | None = None) -> None:
        """Show a part of the past, of this device if it is known: where a finding or an alert leads to."""
        if device is not None:
            self.asked.want(device)
        self.asked.set_span(Span(left_utc_s, right_utc_s))

    def copied_text(self) -> str:
        """What Ctrl+C copies."""
        return self.figures.copied_text()

    def close_tasks(self) -> bool:
        """The window closes: ask nothing any more."""
        self.set_history(None)
        return True

    def retranslate(self) -> None:
        """Write every text again, in the language now in use."""
        self.head.retranslate()
        self.foot.retranslate()
        self.off_bar.retranslate()
        self.message.retranslate()
        self.stack.retranslate()
        if self.asked.history is not None:
            self.asked.history.retranslate()
        self._draw()

    # -- drawing

    @Slot()
    def _draw(self) -> None:
        """Everything, from what is known."""
        if not self.isVisible():
            return
        asked, device = self.asked, self.asked.device
        self._say_state()
        self.foot.show_asked(asked)
        is_empty = asked.history is None or device is None
        self._pages.setCurrentIndex(1 if is_empty else 0)
        self.head.setVisible(not is_empty)
        if is_empty or device is None:
            is_kept = asked.history is not None and asked.history.status.is_kept
            is_live = self._feed.latest is not None and (asked.history is None or asked.history.is_written)
            self.empty.explain(self._empty_reason(), is_kept=is_kept, is_live=is_live)
            return
        self.head.show_asked(asked)
        self.figures.show_asked(asked, device)

    def _say_state(self) -> None:
        """Whether history is kept, and what went wrong."""
        history, fault = self.asked.history, self.asked.fault
        status = HistoryStatus() if history is None else history.status
        lines = [
            _("History is off: {reason}").format(reason=status.reason) if status.reason else "",
            fault if fault != status.reason else "",
            status.note,
            ""
            if history is None or not history.dropped
            else _("{count} readings were lost because the disk was too slow.").format(count=history.dropped),
        ]
        if self._was_off and history is not None and status.is_kept:
            self.message.say(_("History is kept again."), Tone.GOOD)
        self._was_off = bool(status.reason)
        text = sentences(*lines)
        if text and history is not None:
            self.off_bar.say(text, Tone.ATTENTION if status.reason or fault else Tone.INFO)
        else:
            self.off_bar.hide()

    def _empty_reason(self) -> str:
        history = self.asked.history
        return _(self.asked.why_none) if history is None else history.status.reason or self.asked.fault

    def _picture(self) -> QImage:
        device = self.asked.device
        parts = [] if device is None else [self.asked.title(device), device.name]
        title = "  ·  ".join(part for part in (*parts, self.head.span_label.text) if part)
        self.stack.finish()
        return titled(self.figures.grab().toImage(), title, self._theme)

    # -- what happens

    @Slot()
    def _on_moved(self) -> None:
        if self._told and self.message.text == self._told:  # the marker may not be on show any more
            self.message.hide()
        self._is_to_say = True

    @Slot()
    def _on_answered(self) -> None:
        if self._is_to_say:
            self._is_to_say = False
            announce(self.stack, self.figures.span_said())

    @Slot()
    def _on_zoom_in(self) -> None:
        self.stack.zoom(ZOOM**2)

    @Slot()
    def _on_zoom_out(self) -> None:
        self.stack.zoom(1 / ZOOM**2)

    @Slot(str)
    def _on_metric(self, metric: str) -> None:
        if self.asked.device is not None:
            self.figures.toggle(self.asked.device, metric)
            self._draw()

    @Slot(QPoint)
    def _on_context_menu(self, place: QPoint) -> None:
        self.menus.export.popup(self.stack.mapToGlobal(place))

    @Slot()
    def _on_copy(self) -> None:
        QGuiApplication.clipboard().setText(self.copied_text())

    @Slot(object)
    def _on_marker(self, marker: Marker) -> None:
        tone = Tone(marker.tone) if marker.tone in TONES else Tone.INFO
        self._told = marker_tip(marker).replace("\n", " · ")
        self.message.say(self._told, tone)

    # -- Qt's events

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Ctrl+C copies the figures; Escape closes the message, then ends the comparison. The keys of the charts work
        wherever the focus is on the page."""
        if event.matches(QKeySequence.StandardKey.Copy):
            self._on_copy()
        elif event.key() == Qt.Key.Key_Escape and not self.message.isHidden():
            self.message.hide()
        elif event.key() == Qt.Key.Key_Escape and self.asked.comparison.name:
            self.asked.compare("")
        else:
            self.stack.keyPressEvent(event)

    def showEvent(self, event: QShowEvent) -> None:
        """What came meanwhile."""
        super().showEvent(event)
        self.asked.ask()

    def resizeEvent(self, event: QResizeEvent) -> None:
        """More or fewer columns."""
        super().resizeEvent(event)
        self.asked.ask_soon()
