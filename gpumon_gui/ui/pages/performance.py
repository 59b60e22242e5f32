"""Knows: the Performance page: adapters at the left, one of them in full at the right. Must not know: sources, pipes.

Reads from the feed when the ticker says so and does nothing when nothing changed. A device that was lost, sleeps or
does not answer keeps its last good values, greyed, with their age.
"""

from __future__ import annotations

from PySide6.QtCore import QEvent, QObject, QPoint, Qt, Signal, Slot
from PySide6.QtGui import (
    QAction,
    QActionGroup,
    QColor,
    QContextMenuEvent,
    QFontMetrics,
    QGuiApplication,
    QKeyEvent,
    QKeySequence,
    QPainter,
    QPaintEvent,
)
from PySide6.QtWidgets import QFrame, QHBoxLayout, QLabel, QMenu, QScrollArea, QVBoxLayout, QWidget

from gpumon_gui.bridge.feed import Feed, FeedState, FeedStatus
from gpumon_gui.bridge.watching import Program, can_be_watched
from gpumon_gui.core.files import printable
from gpumon_gui.core.messages import _, sentences
from gpumon_gui.core.model import DeviceKey, DeviceSample, DeviceState, Sample, UseKind
from gpumon_gui.core.reasons import DEVICE_STATE_TEXT
from gpumon_gui.core.values import number
from gpumon_gui.telemetry.derive.adapters import Adapter, adapters, first_choice, short_name_of
from gpumon_gui.telemetry.derive.python_program import is_python, program_label
from gpumon_gui.telemetry.derive.trouble import advice
from gpumon_gui.ui import formatters, moments
from gpumon_gui.ui.announce import announce
from gpumon_gui.ui.charts.bands import Band
from gpumon_gui.ui.charts.chart_grid import ChartGrid
from gpumon_gui.ui.formatters import title_of
from gpumon_gui.ui.last_good import LastGood
from gpumon_gui.ui.theme import L, M, S, Text, Theme
from gpumon_gui.ui.widgets import adapter_lines
from gpumon_gui.ui.widgets.adapter_lines import BADGES
from gpumon_gui.ui.widgets.adapter_list import AdapterList
from gpumon_gui.ui.widgets.button import FlatButton
from gpumon_gui.ui.widgets.empty_state import EmptyState
from gpumon_gui.ui.widgets.engine_panel import EnginePanel
from gpumon_gui.ui.widgets.gauges_strip import GaugesStrip
from gpumon_gui.ui.widgets.indicator_table import IndicatorTable
from gpumon_gui.ui.widgets.memory_panel import MemoryPanel
from gpumon_gui.ui.widgets.numbers_grid import NumbersGrid
from gpumon_gui.ui.widgets.page_text import page_text
from gpumon_gui.ui.widgets.section import Banner, Section, SlimScrollBar
from gpumon_gui.ui.widgets.span_choice import SPANS, SpanChoice
from gpumon_gui.ui.widgets.subject import Subject
from gpumon_gui.ui.widgets.tab_order import put_behind
from gpumon_gui.ui.widgets.text import FixedLabel
from gpumon_gui.ui.widgets.watch_split import WatchSplit

#: Programs offered to be watched: more would be a table.
_MOST_PROGRAMS = 10


class PerformancePage(QWidget):
    """The main page. ``refresh`` is called by the ticker while the page is visible.

    Signals:
        watch_wanted(object): watch this :class:`Program`.
        diagnose_wanted(): the installation shall be diagnosed.
        program_diagnose_wanted(int, str): the environment of the process with that pid; how it is called.
    """

    watch_wanted = Signal(object)
    diagnose_wanted = Signal()
    program_diagnose_wanted = Signal(int, str)

    def __init__(self, feed: Feed, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._feed = feed
        self._theme = theme
        self._span_s = 60
        self._selected: DeviceKey | None = None
        self._good = LastGood(feed)
        self._sample: Sample | None = None
        self._status: FeedStatus | None = None
        self._bands: tuple[Band, ...] = ()
        self._band_devices: tuple[DeviceKey, ...] = ()

        self.adapters = AdapterList(theme)
        self.setFocusProxy(self.adapters.view())
        self.banner = Banner(theme)
        self._charts = QWidget()
        self._chart_grid = ChartGrid(self._charts)
        self.engines = EnginePanel(theme, self._chart_grid, self._charts)
        self.memory = MemoryPanel(theme, self._chart_grid, self._charts)
        self.numbers = NumbersGrid(theme, large=True)
        self.details = NumbersGrid(theme, large=False)
        self.gauges = GaugesStrip(theme)
        self.indicators = IndicatorTable(theme)
        self.empty = EmptyState(theme)
        self.span_choice = SpanChoice(theme)
        self.watch_button = FlatButton(theme, "watch", "", self)
        self._programs = QMenu(self)
        self._programs.aboutToShow.connect(self._offer_programs)
        self._programs.triggered.connect(self._on_program)
        self.watch_button.set_menu(self._programs)
        self._title = QLabel()
        self._title.setFont(theme.font(Text.TITLE))
        self._name = FixedLabel(theme, Text.SUBTITLE, muted=True)
        self._gauges_section = Section(theme, self.gauges)
        self._indicators_section = Section(theme, self.indicators)
        self._details_section = Section(theme, self.details)

        self._scroll = QScrollArea()
        self._scroll.setWidgetResizable(True)
        self._scroll.setFrameShape(QFrame.Shape.NoFrame)
        self._scroll.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self._scroll_bar = SlimScrollBar(theme)
        self._scroll.setVerticalScrollBar(self._scroll_bar)
        self._scroll.installEventFilter(self)
        self._scroll.setWidget(self._content())
        self._scroll.verticalScrollBar().valueChanged.connect(self._expose)
        self._scroll.viewport().installEventFilter(self)
        for sentence in self._scroll.findChildren(QLabel):
            sentence.installEventFilter(self)
        column = QVBoxLayout()
        column.setSpacing(0)
        self._head = QWidget(self)
        self._head.setLayout(self._header())
        column.addWidget(self._head)
        self.split = WatchSplit(theme, self._scroll)
        column.addWidget(self.split, 1)
        row = QHBoxLayout(self)
        row.setContentsMargins(0, 0, 0, 0)
        row.setSpacing(0)
        row.addWidget(self.adapters)
        self._divider = _Divider(theme)
        row.addWidget(self._divider)
        row.addLayout(column, 1)
        self._put_away: list[QWidget] = []
        self._is_empty = False
        self._set_empty(True)

        put_behind(self.adapters, self.watch_button, self.span_choice, self.split)
        self.adapters.chosen.connect(self.select)
        self.empty.diagnose_wanted.connect(self._on_diagnose)
        self.span_choice.chosen.connect(self.set_span)
        feed.sample_arrived.connect(self._good.remember)
        feed.cleared.connect(self._forget)
        theme.changed.connect(self._again)
        self.retranslate()

    # -- what others use

    def refresh(self) -> None:
        """Show the newest sample; free when nothing changed since the last call."""
        sample, status = self._feed.latest, self._feed.status
        if not self.isVisible() or (sample is self._sample and status == self._status):
            return
        self._sample, self._status = sample, status
        shown = () if sample is None else adapters(sample.inventory)
        self._set_empty(not shown)
        for widget in (self.adapters, self._divider):  # without a GPU there are processor and memory still
            if widget.isHidden() != (sample is None):
                widget.setVisible(sample is not None)
        if shown and self._selected not in [adapter.info.key for adapter in shown]:
            self._selected = first_choice(shown).info.key
        if sample is not None:
            self._show_list(sample, shown)
        if sample is None or not shown:
            self.empty.explain(sample, status.text)
            return
        adapter = next(adapter for adapter in shown if adapter.info.key == self._selected)
        self._show_device(self._subject(sample, adapter), sample)

    def select(self, key: DeviceKey) -> None:
        """Show this device from now on."""
        if key != self._selected:
            self._selected = key
            self._scroll.verticalScrollBar().setValue(0)
            self._again()

    def selected(self) -> DeviceKey | None:
        """The device on show; None before the first one."""
        return self._selected

    def set_span(self, seconds: int) -> None:
        """Length of the time axis."""
        if seconds != self._span_s:
            self._span_s = seconds
            self.span_choice.set_span(seconds)
            self._again()

    def span(self) -> int:
        """Length of the time axis, seconds."""
        return self._span_s

    def retranslate(self) -> None:
        """Say everything again in the language now in use."""
        self.watch_button.set_text(_("Watch"))
        self.watch_button.setToolTip(_("Find out what holds a program on this GPU back"))
        self._gauges_section.set_heading(_("Do the gauges agree?"))
        self._indicators_section.set_heading(_("Is this normal?"))
        self._details_section.set_heading(_("Details"))
        self.adapters.retranslate(_("Adapters"))
        self.span_choice.retranslate()
        self.engines.retranslate()
        self.memory.retranslate()
        self.indicators.retranslate()
        if self.split.panel is not None:
            self.split.panel.retranslate()
        self._again()

    def mark(self, bands: tuple[Band, ...], devices: tuple[DeviceKey, ...]) -> None:
        """Mark these parts of the time on the charts of these devices."""
        if (bands, devices) != (self._bands, self._band_devices):
            self._bands, self._band_devices = bands, devices
            self._show_bands()

    @property
    def bands(self) -> tuple[Band, ...]:
        """The parts of the time that are marked."""
        return self._bands

    def reach(self, utc_s: float) -> None:
        """Show the charts, with a time axis that is long enough for a moment."""
        self._scroll.verticalScrollBar().setValue(0)
        sample = self._feed.latest
        ago_s = 0.0 if sample is None else sample.utc_s - utc_s
        if ago_s > self._span_s:
            self.set_span(next((span for span, _label in SPANS if span >= ago_s), SPANS[-1][0]))

    def programs(self) -> list[Program]:
        """Who can be watched on the GPU on show, the busiest first."""
        sample = self._feed.latest
        found: list[tuple[bool, float, float, Program]] = []
        for process in sample.processes if sample is not None else ():
            uses = [use for use in process.uses if use.device == self._selected]
            if not uses or not can_be_watched(process):
                continue
            busy, held = (
                max(number(use.values.get(name)) or 0.0 for use in uses)
                for name in ("process_gpu_utilization", "process_memory_bytes")
            )
            computes = bool(process.framework) or any(use.kind is UseKind.COMPUTE for use in uses)
            found.append((computes, busy, held, Program.of(process)))
        found.sort(key=lambda entry: entry[:3], reverse=True)
        return [program for *_order, program in found[:_MOST_PROGRAMS]]

    def text(self) -> str:
        """Every figure on the page, in lines."""
        sample = self._sample
        if sample is None or self._is_empty:
            return self.empty.text()
        charts = [
            (button.text(), chart.figure.text)
            for button, chart in zip(self.engines.buttons, self.engines.charts, strict=True)
            if not chart.isHidden()
        ]
        return page_text(
            (self._title.text(), self._name.text, moments.moment(sample.utc_s), self.banner.text),
            (
                ("", charts),
                ("", self.numbers.texts().items()),
                (_("Do the gauges agree?"), self.gauges.texts()),
                (_("Is this normal?"), [row[1:] for row in self.indicators.texts()]),
                (_("Details"), self.details.texts().items()),
            ),
        )

    @Slot()
    def copy(self) -> None:
        """Put every figure on the clipboard."""
        QGuiApplication.clipboard().setText(self.text())
        announce(self, _("Copied"))

    def menu(self) -> QMenu:
        """The context menu of charts, figures and list."""
        menu = QMenu(self)
        copy = menu.addAction(_("Copy"), self.copy)
        copy.setShortcut(QKeySequence(QKeySequence.StandardKey.Copy))
        copy.setShortcutContext(Qt.ShortcutContext.WidgetShortcut)  # shown only: the keys are handled below
        if not self._is_empty:
            menu.addSeparator()
            spans = QActionGroup(menu)
            for seconds, label in SPANS:
                action = QAction(_(label), menu)
                action.setCheckable(True)
                action.setChecked(seconds == self._span_s)
                action.setData(seconds)
                spans.addAction(action)
                menu.addAction(action)
            spans.triggered.connect(self._on_span)
            menu.addSeparator()
            self._programs.setTitle(_("Watch"))
            menu.addMenu(self._programs)
        menu.addAction(_("Run diagnostics")).triggered.connect(self.diagnose_wanted)
        return menu

    # -- parts

    def _content(self) -> QWidget:
        content = QWidget()
        column = QVBoxLayout(content)
        column.setContentsMargins(L, 0, L, L)
        column.setSpacing(L)
        column.addWidget(self.banner)
        column.addWidget(self._charts, 1)
        column.addWidget(self.numbers)
        column.addWidget(self._gauges_section)
        column.addWidget(self._indicators_section)
        column.addWidget(self._details_section)
        column.addWidget(self.empty, 1)
        return content

    def _header(self) -> QHBoxLayout:
        header = QHBoxLayout()
        header.setContentsMargins(L, M, L, M)
        header.setSpacing(M)
        # Both on one base line: the smaller text has the shorter foot.
        title, name = (QFontMetrics(label.font()) for label in (self._title, self._name))
        names = QHBoxLayout()
        names.setSpacing(M)
        names.addWidget(self._title, 0, Qt.AlignmentFlag.AlignBottom)
        foot = QVBoxLayout()
        foot.setContentsMargins(0, 0, 0, max(0, title.descent() - name.descent()))
        foot.addStretch(1)
        foot.addWidget(self._name)
        names.addLayout(foot, 1)
        header.addLayout(names, 1)
        header.addWidget(self.watch_button)
        header.addWidget(self.span_choice)
        return header

    # -- refreshing

    def _set_empty(self, on: bool) -> None:
        """Without a GPU the reasons stand in place of its figures; a program that is watched keeps its panel."""
        if on == self._is_empty:
            return
        self._is_empty = on
        if on:
            figures = (self._charts, self.numbers, self._gauges_section, self._indicators_section)
            parts = (self._head, self.banner, *figures, self._details_section)
            self._put_away = [part for part in parts if not part.isHidden()]
        for part in self._put_away:
            part.setVisible(not on)
        self.empty.setVisible(on)

    def _show_list(self, sample: Sample, shown: tuple[Adapter, ...]) -> None:
        stale = self._is_stale()
        entries = [adapter_lines.entry(self._feed, sample, adapter, is_stale=stale) for adapter in shown]
        self.adapters.set_entries(entries, self._selected)
        self.adapters.cpu.show_line(*adapter_lines.cpu(self._feed, sample, is_stale=stale))
        self.adapters.ram.show_line(*adapter_lines.ram(self._feed, sample, is_stale=stale))

    def _subject(self, sample: Sample, adapter: Adapter) -> Subject:
        key = adapter.info.key
        device = sample.devices.get(key, DeviceSample(key, DeviceState.NOT_ANSWERING))
        shown = device
        if device.state is not DeviceState.OK and (last := self._good.of(key)) is not None:
            good = last.device
            shown = DeviceSample(key, device.state, device.detail, good.values, good.engines)
        return Subject(
            adapter=adapter,
            title=title_of(adapter),
            device=shown,
            ring=self._feed.ring(key),
            now_s=sample.monotonic_s,
            now_utc_s=sample.utc_s,
            span_s=float(self._span_s),
            dimmed=self._is_stale() or device.state is not DeviceState.OK,
            holds_memory=_holds_memory(sample, key),
        )

    def _show_device(self, subject: Subject, sample: Sample) -> None:
        if self._title.text() != subject.title:
            self._title.setText(subject.title)
        self._name.set_text(subject.adapter.info.name, short_name_of(subject.adapter))
        if self._scroll.accessibleName() != subject.title:
            self._scroll.setAccessibleName(subject.title)
        self.banner.say(*self._banner(subject, sample))
        self._show_bands()
        self.engines.show_subject(subject)
        self.memory.show_subject(subject)
        self.numbers.show_subject(subject)
        self.details.show_subject(subject)
        self.gauges.show_subject(subject)
        self.indicators.show_subject(subject)
        self._give_room()

    def _show_bands(self) -> None:
        bands = self._bands if self._selected in self._band_devices else ()
        for chart in (*self.engines.charts, *self.memory.charts):
            chart.set_bands(bands)

    @Slot()
    def _offer_programs(self) -> None:
        self._programs.clear()
        for program in self.programs():
            name = _("{name} (PID {pid})").format(name=printable(program.name) or "?", pid=program.pid)
            self._programs.addAction(name.replace("&", "&&")).setData(program)
        if self._programs.isEmpty():
            self._programs.addAction(_("No program is seen on this GPU.")).setEnabled(False)

    @Slot(QAction)
    def _on_program(self, action: QAction) -> None:
        if isinstance(action.data(), Program):
            self.watch_wanted.emit(action.data())

    @Slot()
    def _on_diagnose(self) -> None:
        """Of a program that is watched here, its own environment is what matters."""
        panel = self.split.panel
        program = panel.current if panel is not None and panel.isVisible() else None
        processes = () if self._sample is None else self._sample.processes
        process = next((one for one in processes if program is not None and program.is_same(one)), None)
        if process is not None and is_python(process):
            self.program_diagnose_wanted.emit(process.pid, program_label(process))
        else:
            self.diagnose_wanted.emit()

    @Slot(QAction)
    def _on_span(self, action: QAction) -> None:
        self.set_span(int(action.data()))

    def _give_room(self) -> None:
        """Charts take the height that is free, as long as figures and gauges stay on the first screen."""
        view = self._scroll.viewport()
        width = view.width() - 2 * L
        others = [widget for widget in (self.banner, self.numbers, self._gauges_section) if not widget.isHidden()]
        taken = sum(widget.heightForWidth(width) + L for widget in others)
        self._chart_grid.set_room(view.height() - taken - S)

    def _banner(self, subject: Subject, sample: Sample) -> tuple[str, str]:
        state = subject.device.state
        if state is not DeviceState.OK:
            words = _(DEVICE_STATE_TEXT[state])
            if subject.device.detail:
                words = f"{words} ({subject.device.detail})"
            good = self._good.of(subject.adapter.info.key)
            if good is not None:
                age = formatters.duration(sample.monotonic_s - good.read_s + self._stale_age_s())
                words = sentences(words, _("The greyed values are {age} old.").format(age=age))
            return BADGES[state][1], words
        # A silent sampler is told by the window, above every page.
        return "attention", advice(subject.adapter.info, sample.health)

    def _is_stale(self) -> bool:
        return self._feed.status.state is FeedState.STALE

    def _stale_age_s(self) -> float:
        return self._feed.status.age_s if self._is_stale() else 0.0

    def _forget(self) -> None:
        self._good.forget()
        self._again()

    def _again(self) -> None:
        """Draw at the next chance although the sample is the same."""
        self._sample = self._status = None
        self.refresh()

    def _expose(self) -> None:
        self.engines.expose()
        self.memory.expose()

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """The page has another size, or the keys that scroll it; a sentence of which nothing is selected is a part of
        the page."""
        if isinstance(watched, QLabel):
            return not watched.hasSelectedText() and self._is_for_page(event)
        if event.type() == QEvent.Type.Resize:
            self._give_room()
        elif event.type() in (QEvent.Type.FocusIn, QEvent.Type.FocusOut) and watched is self._scroll:
            self._scroll_bar.set_active(event.type() == QEvent.Type.FocusIn)
        return False

    def _is_for_page(self, event: QEvent) -> bool:
        if isinstance(event, QContextMenuEvent):
            self._open_menu(event.globalPos())
        elif event.type() == QEvent.Type.KeyPress and isinstance(event, QKeyEvent):
            if not event.matches(QKeySequence.StandardKey.Copy):
                return False
            self.copy()
        else:
            return False
        return True

    def _open_menu(self, position: QPoint) -> None:
        menu = self.menu()
        menu.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        menu.popup(position)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Copy, wherever on the page the keyboard is."""
        if event.matches(QKeySequence.StandardKey.Copy):
            self.copy()
        else:
            super().keyPressEvent(event)

    def contextMenuEvent(self, event: QContextMenuEvent) -> None:
        """The menu of the page; the panel of a watch has none."""
        panel, below = self.split.panel, self.childAt(event.pos())
        if panel is not None and below is not None and (below is panel or panel.isAncestorOf(below)):
            return
        self._open_menu(event.globalPos())

    def showEvent(self, event: object) -> None:
        """What arrived while hidden."""
        self._again()


class _Divider(QWidget):
    def __init__(self, theme: Theme) -> None:
        super().__init__()
        self._theme = theme
        self.setFixedWidth(1)

    def paintEvent(self, event: QPaintEvent) -> None:
        painter = QPainter(self)
        painter.fillRect(self.rect(), QColor(self._theme.colours.border))
        painter.end()


def _holds_memory(sample: Sample, key: DeviceKey) -> bool:
    """Whether a compute process uses the device. Windows lists every desktop program as compute and graphics; only
    pure compute, or a known framework, counts."""
    return any(
        use.device == key and (use.kind is UseKind.COMPUTE or process.framework)
        for process in sample.processes
        for use in process.uses
    )
