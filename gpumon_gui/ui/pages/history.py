"""Knows: the History page: one device over hours to a year, its figures, markers, another span to compare with.
Must not know: SQLite, threads.

Asks :class:`~gpumon_gui.bridge.history.History` and draws the answer; a hidden page asks and draws nothing.
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

from PySide6.QtCore import QPoint, Qt, Slot
from PySide6.QtGui import QGuiApplication, QImage, QKeyEvent, QKeySequence, QResizeEvent, QShowEvent
from PySide6.QtWidgets import QHBoxLayout, QStackedWidget, QVBoxLayout, QWidget

from gpumon_gui.bridge.feed import Feed
from gpumon_gui.bridge.history import History, HistoryStatus
from gpumon_gui.bridge.history_reader import Answer, Exported, ExportForm, ExportOrder, Question
from gpumon_gui.core.files import shown as shown_path
from gpumon_gui.core.messages import N_, _
from gpumon_gui.core.model import DeviceKey, DeviceKind
from gpumon_gui.history.marker import Marker
from gpumon_gui.history.reading import Contents, Reading, Span, StoredDevice
from gpumon_gui.telemetry.derive.adapters import adapters, first_choice
from gpumon_gui.ui import formatters, moments
from gpumon_gui.ui.charts.axis import time_ticks, value_top
from gpumon_gui.ui.charts.history_plot import Drawing, Flag
from gpumon_gui.ui.charts.history_stack import ZOOM, HistoryStack, marker_tip
from gpumon_gui.ui.pages.performance import title_of
from gpumon_gui.ui.theme import L, M, S, Text, Theme
from gpumon_gui.ui.widgets import history_texts as texts
from gpumon_gui.ui.widgets.button import FlatButton
from gpumon_gui.ui.widgets.history_dialogs import ask_for_file, ask_to_delete, form_of
from gpumon_gui.ui.widgets.history_empty import HistoryEmpty
from gpumon_gui.ui.widgets.history_menus import BEFORE, KEPT, HistoryMenus
from gpumon_gui.ui.widgets.history_picture import titled
from gpumon_gui.ui.widgets.history_readout import HistoryReadout
from gpumon_gui.ui.widgets.message_bar import MessageBar, Tone
from gpumon_gui.ui.widgets.span_choice import SpanChoice
from gpumon_gui.ui.widgets.text import FixedLabel

HOUR_S, DAY_S = 3600, 86_400
RANGES: tuple[tuple[int, str], ...] = (
    (HOUR_S, N_("1 h")),
    (6 * HOUR_S, N_("6 h")),
    (DAY_S, N_("24 h")),
    (7 * DAY_S, N_("7 d")),
    (30 * DAY_S, N_("30 d")),
    (365 * DAY_S, N_("1 y")),
)
SHORTEST_S = 30.0
LONGEST_S = 400.0 * DAY_S
#: New data are looked for when they move the picture by a pixel, but not more often than this.
FOLLOW_S = 4.0
_KINDS_HIDDEN = frozenset({DeviceKind.SOFTWARE.value})


class HistoryPage(QWidget):
    """The page. ``set_history`` gives it something to show; without, it says that nothing is kept."""

    def __init__(self, feed: Feed, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._feed = feed
        self._theme = theme
        self._history: History | None = None
        self._why_none = ""
        self._contents = Contents()
        self._device: StoredDevice | None = None
        self._wanted: DeviceKey | None = None
        self._reading: Reading | None = None
        self._other: Reading | None = None
        self._markers: tuple[Marker, ...] = ()
        self._range_s = RANGES[0][0]
        self._length_s = float(self._range_s)
        self._span: Span | None = None  # None: so much up to now
        self._comparing: str = ""
        self._kept: tuple[StoredDevice, Span] | None = None
        self._chosen: dict[bool, tuple[str, ...]] = {}
        self._asked_utc_s = 0.0
        self._is_asking = self._is_stale = False
        self._fault = ""
        self._has_told_marker = False

        self.device_button = FlatButton(theme, "", "", self, framed=True)
        self.name = FixedLabel(theme, Text.BODY, muted=True, parent=self)
        self.range_choice = SpanChoice(theme, self, RANGES)
        self.span_label = FixedLabel(theme, Text.BODY, parent=self)
        self.zoom_out_button = FlatButton(theme, "", "−", self, framed=True)
        self.zoom_in_button = FlatButton(theme, "", "+", self, framed=True)
        self.now_button = FlatButton(theme, "", "", self, framed=True)
        self.metrics_button = FlatButton(theme, "", "", self, framed=True)
        self.compare_button = FlatButton(theme, "", "", self, framed=True)
        self.export_button = FlatButton(theme, "", "", self, framed=True)
        self.off_bar = MessageBar(theme, parent=self)
        self.message = MessageBar(theme, closable=True, parent=self)
        self.stack = HistoryStack(theme, self)
        self.readout = HistoryReadout(theme, self)
        self.empty = HistoryEmpty(theme, self)
        self.size_label = FixedLabel(theme, Text.CAPTION, muted=True, parent=self)
        self.delete_button = FlatButton(theme, "", "", self)
        self.menus = HistoryMenus(
            self, self.device_button, self.metrics_button, self.compare_button, self.export_button, self
        )
        self._lay_out()
        self._connect()
        self.retranslate()

    # -- what others use

    def set_history(self, history: History | None, why_none: str = "") -> None:
        """Where the past comes from; ``why_none`` (untranslated) says why there is none."""
        if self._history is not None:
            for signal, slot in self._wires(self._history):
                signal.disconnect(slot)
        self._history, self._why_none = history, why_none
        if history is not None:
            for signal, slot in self._wires(history):
                signal.connect(slot)
            if not history.is_written:  # a file to look at is more than an hour long
                self._range_s, self._length_s = DAY_S, float(DAY_S)
                self.range_choice.set_span(DAY_S)
        self._ask()

    def refresh(self) -> None:
        """Ask again when time has moved on far enough. Called by the ticker while the page is visible."""
        if not self.isVisible() or self._history is None:
            return
        if self._asked_utc_s == 0.0:
            self._ask()
        elif self._is_stale and self._is_following() and not self._is_asking:
            pixel_s = self._length_s / self.stack.columns()
            if self._now_s() - self._asked_utc_s >= max(FOLLOW_S, pixel_s):
                self._ask()

    def activate(self) -> None:
        """The page has come on show."""
        if self._history is not None:
            self._history.flush()
        self._ask()

    def show_span(self, left_utc_s: float, right_utc_s: float, device: DeviceKey | None = None) -> None:
        """Show a part of the past, of this device if it is known: where a finding or an alert leads to."""
        if device is not None:
            self._wanted = device
            self._device = self._found(device) or self._device
        self._set_span(Span(left_utc_s, right_utc_s))

    @property
    def span(self) -> Span:
        """What is on show, or will be with the next answer."""
        if self._span is not None:
            return self._span
        now_s = self._now_s()
        return Span(now_s - self._length_s, now_s)

    @property
    def device(self) -> StoredDevice | None:
        """Of which device."""
        return self._device

    @property
    def reading(self) -> Reading | None:
        """What is on show."""
        return self._reading

    @property
    def shown_metrics(self) -> tuple[str, ...]:
        """The metrics that have a chart, from the top down."""
        return tuple(self.stack.charts)

    @property
    def comparing(self) -> str:
        """The comparison in force: a name of :data:`BEFORE`, ``kept`` or empty."""
        return self._comparing

    def has_kept(self) -> bool:
        """Whether a span was kept to compare with."""
        return self._kept is not None

    @Slot(int)
    def set_range(self, seconds: int) -> None:
        """Show so much time up to now."""
        self._range_s = seconds
        self.range_choice.set_span(seconds)
        self._on_now()

    @Slot(object)
    def select(self, device: StoredDevice) -> None:
        """Show another device over the same span."""
        self._device = device
        self._wanted = device.key
        self._reading = self._other = None
        self._move()

    def set_metrics(self, metrics: tuple[str, ...]) -> None:
        """Show charts of these."""
        if self._device is not None and metrics:
            self._chosen[self._device.is_host] = metrics
            self._draw()

    @Slot(str)
    def compare(self, name: str) -> None:
        """Compare with one of :data:`BEFORE`, with the span that was kept (``kept``), or (empty) no more."""
        self._comparing = name
        if name != KEPT:
            self._kept = None
        if not name:
            self._other = None
        self._ask()
        self._draw()

    @Slot()
    def keep_span(self) -> None:
        """Keep what is on show, to compare with what is shown next."""
        if self._device is not None:
            self._kept = (self._device, self.span)
            self.compare(KEPT)

    def other(self) -> tuple[StoredDevice, Span] | None:
        """The device and span that are compared with; None when nothing is."""
        if self._comparing == KEPT:
            return self._kept
        earlier_s = next((seconds for name, _label, seconds in BEFORE if name == self._comparing), None)
        if earlier_s is None or self._device is None:
            return None
        span = self.span
        return self._device, span.moved(-(earlier_s or span.length_s))

    def copied_text(self) -> str:
        """What Ctrl+C copies."""
        return self.readout.text()

    def close_tasks(self) -> bool:
        """The window closes: ask nothing any more."""
        self.set_history(None)
        return True

    def retranslate(self) -> None:
        """Write every text again, in the language now in use."""
        self.range_choice.retranslate()
        self.range_choice.setAccessibleName(_("Time span of the history"))
        self.now_button.set_text(_("Now"))
        self.metrics_button.set_text(_("Charts"))
        self.compare_button.set_text(_("Compare"))
        self.export_button.set_text(_("Export"))
        self.delete_button.set_text(_("Delete…"))
        for button, name in (
            (self.device_button, _("Device")),
            (self.zoom_in_button, _("Zoom in")),
            (self.zoom_out_button, _("Zoom out")),
            (self.now_button, _("Go to now")),
            (self.metrics_button, _("Charts on show")),
            (self.compare_button, _("Compare with another time")),
            (self.export_button, _("Export what is on show")),
            (self.delete_button, _("Delete the history")),
        ):
            button.setAccessibleName(name)
            button.setToolTip(name)
        self.off_bar.retranslate()
        self.message.retranslate()
        self.stack.retranslate()
        self._draw()

    # -- construction

    def _lay_out(self) -> None:
        head = QHBoxLayout()
        head.setSpacing(M)
        head.addWidget(self.device_button)
        head.addWidget(self.name, 1)
        head.addWidget(self.range_choice)
        tools = QHBoxLayout()
        tools.setSpacing(S)
        tools.addWidget(self.span_label, 1)
        for button in (self.zoom_out_button, self.zoom_in_button, self.now_button):
            tools.addWidget(button)
        tools.addSpacing(S)
        for button in (self.metrics_button, self.compare_button, self.export_button):
            tools.addWidget(button)
        charts = QWidget()
        middle = QHBoxLayout(charts)
        middle.setContentsMargins(0, 0, 0, 0)
        middle.setSpacing(L)
        middle.addWidget(self.stack, 1)
        middle.addWidget(self.readout)
        self._picture = charts
        self._pages = QStackedWidget()
        self._pages.addWidget(charts)
        self._pages.addWidget(self.empty)
        foot = QHBoxLayout()
        foot.setSpacing(S)
        foot.addWidget(self.size_label, 1)
        foot.addWidget(self.delete_button)
        column = QVBoxLayout(self)
        column.setContentsMargins(L, S, L, S)
        column.setSpacing(S)
        column.addLayout(head)
        column.addLayout(tools)
        column.addWidget(self.off_bar)
        column.addWidget(self.message)
        column.addWidget(self._pages, 1)
        column.addLayout(foot)

    def _connect(self) -> None:
        self.menus.device_chosen.connect(self.select)
        self.menus.metric_toggled.connect(self._on_metric)
        self.menus.comparison_chosen.connect(self.compare)
        self.menus.keep_wanted.connect(self.keep_span)
        self.menus.export_wanted.connect(self._on_export)
        self.menus.copy_wanted.connect(self._on_copy)
        self.range_choice.chosen.connect(self.set_range)
        self.zoom_in_button.clicked.connect(self._on_zoom_in)
        self.zoom_out_button.clicked.connect(self._on_zoom_out)
        self.now_button.clicked.connect(self._on_now)
        self.delete_button.clicked.connect(self._on_delete)
        self.stack.span_wanted.connect(self._set_span)
        self.stack.back_wanted.connect(self._on_now)
        self.stack.edge_wanted.connect(self._on_edge)
        self.stack.cursor_moved.connect(self._show_figures)
        self.stack.marker_chosen.connect(self._on_marker)
        self.stack.setContextMenuPolicy(Qt.ContextMenuPolicy.CustomContextMenu)
        self.stack.customContextMenuRequested.connect(self._on_context_menu)
        self._theme.changed.connect(self.update)

    def _wires(self, history: History) -> tuple[tuple[Any, Any], ...]:
        return (
            (history.answered, self._on_answered),
            (history.exported, self._on_exported),
            (history.written, self._on_written),
            (history.status_changed, self._on_status),
        )

    # -- time

    def _now_s(self) -> float:
        """Now; in a file that is only looked at, its end."""
        history = self._history
        if history is None:
            return 0.0
        if not history.is_written and self._contents.last_s is not None:
            return float(self._contents.last_s + 1)
        return history.clock.now().utc_s

    def _is_following(self) -> bool:
        return self._span is None

    @Slot(object)
    def _set_span(self, span: Span) -> None:
        """Show this span, as far as it can be: neither too short nor too long, and not in the future."""
        now_s = self._now_s()
        length_s = min(max(span.length_s, SHORTEST_S), LONGEST_S)
        middle_s = (span.left_s + span.right_s) / 2
        right_s = min(middle_s + length_s / 2, now_s)
        first_s = self._contents.first_s
        if first_s is not None:  # what was before the beginning is of no use
            right_s = min(max(right_s, first_s + length_s / 4), now_s)
        self._length_s = length_s
        # Who looks at now goes on doing so.
        self._span = None if right_s >= now_s - length_s / 500 else Span(right_s - length_s, right_s)
        self._move()

    @Slot()
    def _on_now(self) -> None:
        self._span, self._length_s = None, float(self._range_s)
        self._move()

    @Slot(int)
    def _on_edge(self, edge: int) -> None:
        span = self.span
        if edge > 0:
            now_s = self._now_s()
            self._set_span(Span(now_s - span.length_s, now_s))
        elif self._contents.first_s is not None:
            first_s = float(self._contents.first_s)
            self._set_span(Span(first_s, first_s + span.length_s))

    @Slot()
    def _on_zoom_in(self) -> None:
        self.stack.zoom(ZOOM**2)

    @Slot()
    def _on_zoom_out(self) -> None:
        self.stack.zoom(1 / ZOOM**2)

    def _move(self) -> None:
        """Another span or device: what is known is drawn at once in its new place, the rest comes with the answer."""
        if self._has_told_marker:  # it may not be on show any more
            self._has_told_marker = False
            self.message.hide()
        self._ask()
        self._draw()

    # -- asking and answering

    def _ask(self) -> None:
        history = self._history
        if history is None or not self.isVisible():
            self._asked_utc_s = 0.0
            self._draw()
            return
        span = self.span
        self._asked_utc_s = self._now_s()
        self._is_asking, self._is_stale = True, False
        history.ask(Question(0, self._device, span, self.stack.columns(), self.other()))

    @Slot(object)
    def _on_answered(self, answer: Answer) -> None:
        self._is_asking = False
        if self._history is None or not self.isVisible():
            return
        if answer.reading is None and self._is_stale:  # the file was written meanwhile: perhaps there is something now
            self._ask()
            return
        self._fault = answer.fault
        if answer.fault:
            self._draw()
            return
        self._contents = answer.contents
        if self._device is None or self._found_number(self._device.number) is None:
            self._device = self._first_device()
            if self._device is not None:
                self._ask()
                return
        else:
            self._device = self._found_number(self._device.number)
        self._reading, self._other = answer.reading, answer.other
        self._markers = tuple(marker for marker in answer.markers if self._is_of_device(marker))
        self._draw()

    @Slot()
    def _on_written(self) -> None:
        self._is_stale = True
        if self.isVisible() and self._reading is None and not self._is_asking:
            self._ask()

    @Slot(object)
    def _on_status(self, status: HistoryStatus) -> None:
        self._draw()

    # -- devices

    def _is_of_device(self, marker: Marker) -> bool:
        """Whether a marker belongs to what is on show; the machine has those of all cards."""
        device = self._device
        return device is None or device.is_host or marker.device in (None, device.key)

    def devices(self) -> tuple[StoredDevice, ...]:
        """The devices to choose from: cards first, the machine last."""
        found = [d for d in self._contents.devices if not d.is_host and d.kind not in _KINDS_HIDDEN]
        return (*found, *(d for d in self._contents.devices if d.is_host))

    def _found(self, key: DeviceKey) -> StoredDevice | None:
        found = [device for device in self._contents.devices if device.key == key]
        return max(found, key=lambda device: device.last_s, default=None)

    def _found_number(self, number: int) -> StoredDevice | None:
        return next((device for device in self._contents.devices if device.number == number), None)

    def _first_device(self) -> StoredDevice | None:
        latest = self._feed.latest
        shown = () if latest is None or not self._is_own() else adapters(latest.inventory)
        keys = [self._wanted] if self._wanted is not None else []
        keys += [first_choice(shown).info.key] if shown else []
        found = [device for key in keys if (device := self._found(key)) is not None]
        return next(iter((*found, *self.devices())), None)

    def _is_own(self) -> bool:
        """Whether the history is of the machine on show."""
        return self._history is not None and self._history.is_written

    def title(self, device: StoredDevice) -> str:
        """``GPU 0``; what a card is called that is not in the machine now."""
        if device.is_host:
            return _("CPU and memory")
        latest = self._feed.latest
        if latest is not None and self._is_own():
            for adapter in adapters(latest.inventory):
                if adapter.info.key == device.key and (adapter.info.uuid or device.uuid) == device.uuid:
                    return title_of(adapter)
            return _("{name} (not here now)").format(name=device.name or device.key)
        number = [one.number for one in self.devices()].index(device.number)
        return _("GPU {number}").format(number=number)

    # -- drawing

    def _draw(self) -> None:
        """Everything, from what is known."""
        if not self.isVisible():
            return
        self._draw_frame()
        device, span = self._device, self.span
        is_empty = self._history is None or device is None
        self._pages.setCurrentIndex(1 if is_empty else 0)
        for widget in (
            self.device_button,
            self.range_choice,
            self.span_label,
            self.zoom_in_button,
            self.zoom_out_button,
            self.now_button,
            self.metrics_button,
            self.compare_button,
            self.export_button,
        ):
            widget.setVisible(not is_empty)
        if is_empty or device is None:
            self.name.set_text("")
            self.empty.explain(self._empty_reason(), is_kept=self._history is not None and self._history.status.is_kept)
            return
        title = self.title(device)
        self.device_button.set_text(title)
        self.device_button.setAccessibleName(_("Device: {name}").format(name=f"{title} {device.name}"))
        self.name.set_text(device.name)
        self.now_button.setEnabled(not self._is_following() or self._length_s != self._range_s)
        metrics = self._metrics(device)
        self.stack.set_metrics({metric: texts.colour_of(metric) for metric in metrics})
        self.stack.set_span(span)
        self.stack.set_markers(self._markers)
        self._draw_charts(title, span, metrics)
        self._show_figures()

    def _metrics(self, device: StoredDevice) -> tuple[str, ...]:
        chosen = self._chosen.get(device.is_host)
        return texts.usual(device, self._reading) if chosen is None else chosen

    def _draw_charts(self, title: str, span: Span, metrics: tuple[str, ...]) -> None:
        flags = tuple(Flag(marker.utc_s, marker.tone, marker.end_utc_s) for marker in self._markers)
        shift_s = self._shift_s()
        ticks = tuple(tick.utc_s for tick in time_ticks(span.left_s, span.right_s, self.stack.columns()))
        for metric in metrics:
            series = None if self._reading is None else self._reading.series.get(metric)
            other = None if self._other is None else self._other.series.get(metric)
            highest = max(texts.highest(self._reading, metric), texts.highest(self._other, metric))
            top = value_top(metric, highest)
            labels = tuple(texts.axis_label(metric, share * top) for share in (1.0, 0.5, 0.0))
            drawing = Drawing(
                span, shift_s=shift_s, top=top, labels=labels, flags=flags, ticks=ticks, has_shapes=metric == metrics[0]
            )
            if series is not None:
                drawing = replace(drawing, series=series)
            if other is not None:
                drawing = replace(drawing, other=other)
            self.stack.set_drawing(metric, drawing)
            figures = None if self._reading is None else self._reading.figures.get(metric)
            figure = "" if self._reading is None else texts.caption_figure(metric, figures)
            name = texts.label(metric)
            self.stack.charts[metric].set_texts(name, figure, f"{title} {name}: {figure}")

    def _shift_s(self) -> float:
        """How much later the other span is drawn than it was."""
        if self._reading is None or self._other is None:
            return 0.0
        return self._reading.span.left_s - self._other.span.left_s

    @Slot()
    def _show_figures(self) -> None:
        device, reading, other = self._device, self._reading, self._other
        if device is None or reading is None:
            self.readout.show_rows(_("Reading…") if self._is_asking else "", "", ())
            return
        shown, cursor_s = self.shown_metrics, self.stack.cursor_s
        if cursor_s is None:
            heading = _("In this span")
            rows = texts.rows_of_span(device, reading, shown, other)
        else:
            heading = moments.moment(cursor_s, seconds=reading.step_s < 60)
            rows = texts.rows_at(device, reading, shown, other, cursor_s, self._shift_s(), self.stack.columns())
        self.readout.show_rows(heading, self._second_line(cursor_s), rows)
        spoken = self.readout.text().replace("\t", " ").replace("\n", "; ")
        if spoken != self.stack.accessibleDescription():
            self.stack.setAccessibleDescription(spoken)

    def _second_line(self, cursor_s: float | None) -> str:
        compared = self.other()
        if compared is None or self._other is None or self._device is None:
            return _("Mean, lowest to highest")
        device, span = compared
        moment_s = span.left_s if cursor_s is None else cursor_s - self._shift_s()
        when = moments.moment(moment_s, seconds=False)
        if device.number != self._device.number:
            when = f"{self.title(device)}, {when}"
        return _("Second curve: {when}").format(when=when)

    def _draw_frame(self) -> None:
        """What stands around the charts: span, size, messages."""
        history, contents = self._history, self._contents
        span = self.span
        self.range_choice.set_span(round(span.length_s))
        step = "" if self._reading is None else texts.step_text(self._reading.step_s)
        self.span_label.set_text(" · ".join(part for part in (texts.span_text(span), step) if part))
        status = HistoryStatus() if history is None else history.status
        lines = [
            _("History is off: {reason}").format(reason=status.reason) if status.reason else "",
            self._fault if self._fault != status.reason else "",
            status.note,
            ""
            if history is None or not history.dropped
            else _("{count} readings were lost because the disk was too slow.").format(count=history.dropped),
        ]
        text = " ".join(line for line in lines if line)
        if text and history is not None:
            self.off_bar.say(text, Tone.ATTENTION if status.reason or self._fault else Tone.INFO)
        else:
            self.off_bar.hide()
        size = ""
        if history is not None and contents.first_s is not None:
            size = _("History: {size}, since {when}").format(
                size=formatters.memory(float(contents.size_bytes)), when=moments.moment(contents.first_s, seconds=False)
            )
            if history.is_written:
                most = formatters.memory(float(history.options.most_bytes))
                size = _("{size} (at most {most})").format(size=size, most=most)
            else:
                size = f"{size} · {history.path.name}"
        self.size_label.set_text(size)
        self.size_label.set_tip("" if history is None else shown_path(history.path))
        self.delete_button.setVisible(bool(size) and history is not None and history.is_written)
        self.stack.setAccessibleName(
            _("History of {name}, {span}").format(
                name="" if self._device is None else self.title(self._device), span=texts.span_text(span)
            )
        )

    def _empty_reason(self) -> str:
        if self._history is None:
            return _(self._why_none)
        return self._history.status.reason or self._fault

    # -- what the menus say

    @Slot(str)
    def _on_metric(self, metric: str) -> None:
        if self._device is None:
            return
        shown = set(self.shown_metrics) ^ {metric}
        order = self.shown_metrics + tuple(m for m in self._device.metrics if m not in self.shown_metrics)
        self.set_metrics(tuple(m for m in order if m in shown))

    @Slot(object)
    def _on_export(self, form: ExportForm) -> None:
        ask_for_file(self, form, self._on_export_file)

    @Slot(QPoint)
    def _on_context_menu(self, place: QPoint) -> None:
        self.menus.export.popup(self.stack.mapToGlobal(place))

    @Slot(str)
    def _on_export_file(self, file: str) -> None:
        self.export(Path(file), form_of(Path(file)))

    # -- export, markers, deleting

    def export(self, path: Path, form: ExportForm) -> None:
        """Write what is on show to a file; the message bar says what came of it."""
        if self._history is None or self._device is None:
            return
        image: QImage | None = None
        if form is ExportForm.PNG:
            image = titled(self._picture.grab().toImage(), self._picture_title(), self._theme)
        self._history.export(ExportOrder(form, path, self._device, self.span, self.stack.columns(), image))
        self.message.say(_("Writing {file} …").format(file=path.name), Tone.INFO)
        self._has_told_marker = False

    def _picture_title(self) -> str:
        device = self._device
        parts = [] if device is None else [self.title(device), device.name]
        return "  ·  ".join(part for part in (*parts, self.span_label.text) if part)

    @Slot(object)
    def _on_exported(self, exported: Exported) -> None:
        if exported.fault:
            self.message.say(exported.fault, Tone.ATTENTION)
        else:
            self.message.say(_("Saved as {file}.").format(file=exported.path), Tone.GOOD)

    @Slot()
    def _on_copy(self) -> None:
        QGuiApplication.clipboard().setText(self.copied_text())

    @Slot(object)
    def _on_marker(self, marker: Marker) -> None:
        tone = {"good": Tone.GOOD, "attention": Tone.ATTENTION, "bad": Tone.BAD}.get(marker.tone, Tone.INFO)
        self.message.say(marker_tip(marker).replace("\n", " · "), tone)
        self._has_told_marker = True

    @Slot()
    def _on_delete(self) -> None:
        ask_to_delete(self, self._delete)

    @Slot()
    def _delete(self) -> None:
        if self._history is not None:
            self._history.clear()
            self._contents = Contents()
            self._device = self._reading = self._other = None
            self._markers = ()
            self._draw()

    # -- Qt's events

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Ctrl+C copies the figures; Escape closes the message, then ends the comparison."""
        if event.matches(QKeySequence.StandardKey.Copy):
            self._on_copy()
        elif event.key() == Qt.Key.Key_Escape and not self.message.isHidden():
            self.message.hide()
        elif event.key() == Qt.Key.Key_Escape and self._comparing:
            self.compare("")
        else:
            super().keyPressEvent(event)

    def showEvent(self, event: QShowEvent) -> None:
        """What came meanwhile."""
        super().showEvent(event)
        self._ask()

    def resizeEvent(self, event: QResizeEvent) -> None:
        """More or fewer columns: asked for with the next refresh."""
        super().resizeEvent(event)
        self._asked_utc_s = min(self._asked_utc_s, 0.0)
