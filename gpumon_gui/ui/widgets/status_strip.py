"""Knows: the line at the foot of the window: sources, own cost, age. Must not know: pages."""

from __future__ import annotations

import os
import time
from collections.abc import Sequence

from PySide6.QtCore import QEvent, QPointF, QRectF, QSize, Qt
from PySide6.QtGui import QColor, QFontMetrics, QHelpEvent, QPainter, QPaintEvent, QPen, QPolygonF
from PySide6.QtWidgets import QHBoxLayout, QSizePolicy, QToolTip, QWidget

from gpumon_gui.bridge.feed import FeedState, FeedStatus
from gpumon_gui.core.messages import _
from gpumon_gui.core.model import Cost, Sample, SourceHealth, SourceState
from gpumon_gui.core.reasons import SOURCE_STATE_TEXT, health_text
from gpumon_gui.core.values import number
from gpumon_gui.telemetry.provenance import source_name
from gpumon_gui.ui import formatters
from gpumon_gui.ui.theme import L, S, Text, Theme
from gpumon_gui.ui.update_speeds import SPEEDS
from gpumon_gui.ui.widgets.text import FixedLabel

DOT = 9
#: Shorter than this a measurement of the window's own processor time is noise.
OWN_CPU_S = 2.0


class SourceDots(QWidget):
    """Each source with a mark and a word. The marks differ in shape: disc, ring, triangle, cross."""

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._theme = theme
        self._health: tuple[SourceHealth, ...] = ()
        self._words: list[tuple[SourceHealth, str]] = []
        self._is_stale = False
        self.setFont(theme.font(Text.CAPTION))
        self.setSizePolicy(QSizePolicy.Policy.Preferred, QSizePolicy.Policy.Fixed)
        theme.changed.connect(self.update)

    @property
    def texts(self) -> tuple[str, ...]:
        """What it says, one text per source."""
        return tuple(words for _health, words in self._words)

    def show_health(self, health: Sequence[SourceHealth], is_stale: bool = False) -> None:
        """Show sources that changed their state; measured times alone change nothing on the screen. ``is_stale``: what
        they said is of before, and nobody knows how they are now."""
        now = tuple(health)
        before = [(one.name, one.state, one.code, one.detail) for one in self._health]
        changed = is_stale != self._is_stale or before != [(one.name, one.state, one.code, one.detail) for one in now]
        self._health, self._is_stale = now, is_stale
        if changed:
            self.retranslate()

    def retranslate(self) -> None:
        """Write the texts again."""
        self._words = []
        for one in self._health:
            state = _("not known") if self._is_stale else _(SOURCE_STATE_TEXT[one.state])
            words = _("{source}: {state}").format(source=source_name(one.name), state=state)
            self._words.append((one, words))
        self.setAccessibleName(_("Sources"))
        self.setAccessibleDescription("; ".join(self.texts))
        self.updateGeometry()
        self.update()

    def tip(self, one: SourceHealth) -> str:
        """What the tool tip of a source says."""
        lines = [source_name(one.name), health_text(one) or _(SOURCE_STATE_TEXT[one.state])]
        if not one.code and one.detail:
            lines.append(one.detail)
        if one.reads:
            lines.append(
                _(
                    "Last reading took {ms} ms; {reads} readings, {failures} failed, {implausible} values refused"
                ).format(
                    ms=f"{one.duration_s * 1000:.1f}",
                    reads=f"{one.reads:,}",
                    failures=f"{one.failures:,}",
                    implausible=f"{one.implausible:,}",
                )
            )
        return "\n".join(lines)

    def sizeHint(self) -> QSize:
        metrics = QFontMetrics(self.font())
        width = sum(DOT + S + metrics.horizontalAdvance(words) + L for _one, words in self._words)
        return QSize(width, metrics.height() + S)

    def minimumSizeHint(self) -> QSize:
        return QSize(0, self.sizeHint().height())

    def paintEvent(self, event: QPaintEvent) -> None:
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setFont(self.font())
        for one, words, rect in self._places():
            state = SourceState.ABSENT if self._is_stale else one.state
            self._mark(painter, state, QRectF(rect.x(), (self.height() - DOT) / 2, DOT, DOT))
            painter.setPen(QColor(self._theme.colours.muted))
            place = rect.adjusted(DOT + S, 0, 0, 0)
            line = painter.fontMetrics().elidedText(words, Qt.TextElideMode.ElideRight, int(place.width()) + 1)
            painter.drawText(place, Qt.AlignmentFlag.AlignVCenter, line)
        painter.end()

    def event(self, event: QEvent) -> bool:
        if isinstance(event, QHelpEvent):
            for one, _words, rect in self._places():
                if rect.contains(event.pos()):
                    QToolTip.showText(event.globalPos(), self.tip(one), self)
                    return True
            QToolTip.hideText()
        return super().event(event)

    def _places(self) -> list[tuple[SourceHealth, str, QRectF]]:
        """Where each source stands. Names without words when there is no room for both."""
        metrics = QFontMetrics(self.font())
        short = self.sizeHint().width() > self.width()
        places, left = [], 0.0
        for one, words in self._words:
            if short and (self._is_stale or one.state in (SourceState.OK, SourceState.ABSENT)):
                words = source_name(one.name)
            width = min(DOT + S + metrics.horizontalAdvance(words) + 1.0, max(0.0, self.width() - left))
            if width > DOT + S:
                places.append((one, words, QRectF(left, 0, width, self.height())))
            left += width + L
        return places

    def _mark(self, painter: QPainter, state: SourceState, rect: QRectF) -> None:
        colours = self._theme.colours
        colour = {
            SourceState.OK: colours.good,
            SourceState.ABSENT: colours.faint,
            SourceState.FAILED: colours.bad,
            SourceState.SLOW: colours.attention,
            SourceState.RESTING: colours.info,
            SourceState.NOT_ANSWERING: colours.bad,
        }[state]
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(QColor(colour))
        if state is SourceState.OK:
            painter.drawEllipse(rect)
        elif state is SourceState.SLOW:
            painter.drawPolygon(
                QPolygonF([QPointF(rect.center().x(), rect.top()), rect.bottomRight(), rect.bottomLeft()])
            )
        elif state in (SourceState.FAILED, SourceState.NOT_ANSWERING):
            painter.setPen(QPen(QColor(colour), 2.2))
            inner = rect.adjusted(1, 1, -1, -1)
            painter.drawLine(inner.topLeft(), inner.bottomRight())
            painter.drawLine(inner.topRight(), inner.bottomLeft())
        else:
            painter.setBrush(Qt.BrushStyle.NoBrush)
            painter.setPen(QPen(QColor(colour), 1.6))
            painter.drawEllipse(rect.adjusted(0.8, 0.8, -0.8, -0.8))


class OwnCpu:
    """Processor time of this process as a fraction of one core, measured over at least :data:`OWN_CPU_S`."""

    def __init__(self) -> None:
        self._wall, self._cpu = time.perf_counter(), time.process_time()
        self._share: float | None = None

    def share(self) -> float | None:
        """The last measurement; None before the first is complete."""
        wall, cpu = time.perf_counter(), time.process_time()
        if wall - self._wall >= OWN_CPU_S:
            self._share = (cpu - self._cpu) / (wall - self._wall)
            self._wall, self._cpu = wall, cpu
        return self._share


class StatusStrip(QWidget):
    """Source health at the left; GPUMon's own cost and the age of the newest sample at the right."""

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._theme = theme
        self._own = OwnCpu()
        self._cost = Cost()
        self._status = FeedStatus()
        self._speed = ""
        self._dots = SourceDots(theme, self)
        end = Qt.AlignmentFlag.AlignRight
        self._cost_label = FixedLabel(theme, Text.CAPTION, muted=True, align=end, parent=self)
        self._age_label = FixedLabel(theme, Text.CAPTION, muted=True, align=end, parent=self)
        for label in (self._cost_label, self._age_label):
            label.setSizePolicy(QSizePolicy.Policy.Minimum, QSizePolicy.Policy.Fixed)
        layout = QHBoxLayout(self)
        layout.setContentsMargins(L, 2, L, 2)
        layout.setSpacing(L)
        layout.addWidget(self._dots, 1)
        layout.addWidget(self._cost_label)
        layout.addWidget(self._age_label)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        theme.changed.connect(self.update)
        self.retranslate()

    @property
    def dots(self) -> SourceDots:
        """The sources."""
        return self._dots

    @property
    def cost_text(self) -> str:
        """What is said about GPUMon's own cost."""
        return self._cost_label.text

    @property
    def age_text(self) -> str:
        """What is said about the age of the numbers."""
        return self._age_label.text

    def refresh(self, sample: Sample | None, status: FeedStatus, speed: str) -> None:
        """Show a sample; ``speed`` is the update speed in words."""
        self._status, self._speed = status, speed
        self._cost = Cost() if sample is None else sample.cost
        self._dots.show_health(() if sample is None else sample.health, status.state is FeedState.STALE)
        self._write()

    def retranslate(self) -> None:
        """Write the texts again."""
        self._dots.retranslate()
        self._cost_label.set_sample(self._cost_words(9.99, 99.9, 999 << 20, 9.99))
        words = (
            _("Last reading {age} ago").format(age=formatters.duration(88)),
            *(_("Update speed: {speed}").format(speed=_(label)) for _name, label, _seconds in SPEEDS),
        )
        self._age_label.set_sample(max(words, key=QFontMetrics(self._age_label.font()).horizontalAdvance))
        self._write()

    def _write(self) -> None:
        replay = self._status.state is FeedState.REPLAY
        cost, sampler = self._cost, number(self._cost.cpu)
        own = self._own.share()
        if replay:
            self._cost_label.set_text(
                "" if own is None else _("GPUMon uses {cpu} CPU").format(cpu=formatters.percent(own, 1))
            )
        elif cost == Cost():
            self._cost_label.set_text("")
        else:
            self._cost_label.set_text(self._cost_words(sampler, cost.sweep_s * 1000, number(cost.rss_bytes), own))
        self._cost_label.set_tip(
            _("What GPUMon costs: processor time (100 % is one core), one reading of all sources, memory")
            + "\n"
            + _("Process {pid}").format(pid=os.getpid())
        )
        self._age_label.set_text(self._age_words())

    def _cost_words(self, sampler: float | None, sweep_ms: float, rss: float | None, own: float | None) -> str:
        return _("Reading: {cpu} CPU, {ms} ms, {memory} · Window: {own} CPU").format(
            cpu=formatters.DASH if sampler is None else formatters.percent(sampler, 1),
            ms=f"{sweep_ms:.1f}",
            memory=formatters.DASH if rss is None else formatters.memory(rss),
            own=formatters.DASH if own is None else formatters.percent(own, 1),
        )

    def _age_words(self) -> str:
        state = self._status.state
        if state is FeedState.STARTING:
            return _("Starting")
        if state is FeedState.STALE:
            return _("Last reading {age} ago").format(age=formatters.duration(self._status.age_s))
        if state is FeedState.PAUSED:
            return _("Paused")
        if state is FeedState.REPLAY:
            return _("Replay")
        return _("Update speed: {speed}").format(speed=self._speed)

    def paintEvent(self, event: QPaintEvent) -> None:
        painter = QPainter(self)
        painter.setPen(QColor(self._theme.colours.border))
        painter.drawLine(0, 0, self.width(), 0)
        painter.end()
