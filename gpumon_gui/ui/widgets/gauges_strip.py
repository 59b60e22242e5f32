"""Knows: how the gauges stand side by side, and the sentence on why they differ. Must not know: how that is decided."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import QRectF, QSize, Qt
from PySide6.QtGui import QColor, QFontMetrics, QPainter, QPaintEvent
from PySide6.QtWidgets import QHBoxLayout, QSizePolicy, QVBoxLayout, QWidget

from gpumon_gui.core.messages import _
from gpumon_gui.core.model import DeviceState
from gpumon_gui.core.values import number
from gpumon_gui.telemetry.derive.gauges import WINDOW_S, Gauge, Level, Verdict, gauges, verdict
from gpumon_gui.ui import formatters
from gpumon_gui.ui.focus_ring import paint_ring
from gpumon_gui.ui.theme import RADIUS, XS, M, S, Series, Text, Theme
from gpumon_gui.ui.tips import plain
from gpumon_gui.ui.widgets.arrow_focus import ArrowFocus
from gpumon_gui.ui.widgets.engine_panel import spoken
from gpumon_gui.ui.widgets.responsive_grid import ResponsiveGrid
from gpumon_gui.ui.widgets.section import Card, Mark, set_text, wrapped
from gpumon_gui.ui.widgets.subject import Subject
from gpumon_gui.ui.widgets.text import FixedLabel

_MARKS = {Level.AGREE: "good", Level.DIFFER: "attention", Level.UNKNOWN: "none"}


class Bar(QWidget):
    """A fraction as a bar; without a value only the track."""

    HEIGHT = 4

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._theme = theme
        self._share: float | None = None
        self._dimmed = False
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)

    def sizeHint(self) -> QSize:
        """A thin line."""
        return QSize(40, self.HEIGHT)

    def show_share(self, share: float | None, dimmed: bool) -> None:
        """The fraction 0..1; None: no value."""
        if (share, dimmed) != (self._share, self._dimmed):
            self._share, self._dimmed = share, dimmed
            self.update()

    def paintEvent(self, event: QPaintEvent) -> None:
        """Track and bar."""
        colours = self._theme.colours
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(QColor(colours.selected))
        radius = self.HEIGHT / 2
        painter.drawRoundedRect(QRectF(self.rect()), radius, radius)
        if self._share:
            colour = QColor(colours.faint) if self._dimmed else self._theme.series(Series.ENGINE)
            painter.setBrush(colour)
            width = max(self.HEIGHT, self.width() * min(1.0, self._share))
            painter.drawRoundedRect(QRectF(0, 0, width, self.height()), radius, radius)
        painter.end()


class GaugeCard(Card):
    """One gauge: name, figure, bar, and what it measures."""

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(theme, parent)
        self.label = FixedLabel(theme, Text.CAPTION, muted=True, parent=self)
        self.figure = FixedLabel(theme, Text.VALUE, parent=self)
        self.bar = Bar(theme, self)
        self.measures = wrapped(theme, Text.CAPTION, muted=True, parent=self)
        self.measures.setAlignment(Qt.AlignmentFlag.AlignTop)
        box = QVBoxLayout(self)
        box.setContentsMargins(M, S, M, M)
        box.setSpacing(XS)
        box.addWidget(self.label)
        box.addWidget(self.figure)
        box.addWidget(self.bar)
        box.addSpacing(XS)
        box.addWidget(self.measures, 1)

    def show_gauge(self, gauge: Gauge, dimmed: bool) -> None:
        """Figure and texts of now."""
        self.label.set_text(f"{_(gauge.label)} · {gauge.detail}" if gauge.detail else _(gauge.label))
        if gauge.id == "power":
            figure = formatters.pair(gauge.shown, gauge.limit, formatters.watts)
            tip = formatters.value_tip(gauge.metric, gauge.shown)
        else:
            figure = formatters.value_text("engine_utilization", gauge.value)
            tip = formatters.value_tip(gauge.metric, gauge.value)
        self.figure.set_text(figure)
        self.figure.set_tip(tip)
        self.set_told(spoken("", self.label.text, figure), f"{tip}\n{_(gauge.measures)}")
        self.label.set_tip(tip)
        self.figure.set_dimmed(dimmed or number(gauge.value) is None)
        self.bar.show_share(number(gauge.value), dimmed)
        set_text(self.measures, _(gauge.measures))

    def set_told(self, name: str, about: str) -> None:
        """What a screen reader says, and what it adds."""
        if name != self.accessibleName():
            self.setAccessibleName(name)
        if about != self.accessibleDescription():
            self.setAccessibleDescription(about)
            self.setWhatsThis(plain(about))

    def paintEvent(self, event: QPaintEvent) -> None:
        """A ring with the focus."""
        super().paintEvent(event)
        if self.hasFocus():
            painter = QPainter(self)
            paint_ring(painter, QRectF(self.rect()).adjusted(2.5, 2.5, -2.5, -2.5), self._theme.colours, RADIUS - 2)
            painter.end()


class AbsenceCard(QWidget):
    """Stands where gauges would, and says why they are not there."""

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._head = wrapped(theme, Text.CAPTION, muted=True, parent=self)
        self._words = wrapped(theme, Text.CAPTION, muted=True, parent=self)
        self._words.setAlignment(Qt.AlignmentFlag.AlignTop)
        box = QVBoxLayout(self)
        box.setContentsMargins(M, S, M, S)
        box.setSpacing(XS)
        box.addWidget(self._head)
        box.addWidget(self._words, 1)

    @property
    def text(self) -> str:
        """The reasons, one a line."""
        return self._words.text()

    def say(self, words: str) -> None:
        """Show the reasons; nothing to say hides the card."""
        if self.isHidden() == bool(words):
            self.setVisible(bool(words))
        set_text(self._head, _("Not offered by this device"))
        set_text(self._words, words)


class GaugesStrip(QWidget):
    """The gauges, and whether they agree."""

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.cards = [GaugeCard(theme) for _n in range(5)]
        self._keys = ArrowFocus(self.cards, self)
        self._mark = Mark(theme, self)
        self._sentence = wrapped(theme, parent=self)
        # Room for two lines, so that nothing jumps when the verdict changes.
        self._sentence.setMinimumHeight(2 * QFontMetrics(self._sentence.font()).lineSpacing())
        self._sentence.setAlignment(Qt.AlignmentFlag.AlignTop)
        self._absent = AbsenceCard(theme)
        grid = ResponsiveGrid(148, (1, 2, 3, 5), S, S)
        for card in self.cards:
            grid.add(card)
        grid.add_filler(self._absent)
        row = QHBoxLayout()
        row.setContentsMargins(XS, 0, 0, 0)
        row.setSpacing(S)
        row.addWidget(self._mark, 0, Qt.AlignmentFlag.AlignTop)
        row.addWidget(self._sentence, 1)
        box = QVBoxLayout(self)
        box.setContentsMargins(0, 0, 0, 0)
        box.setSpacing(S)
        box.addLayout(grid)
        box.addLayout(row)

    @property
    def sentence(self) -> str:
        """The verdict in words."""
        return self._sentence.text()

    def texts(self) -> list[tuple[str, ...]]:
        """Name and figure of each gauge on show, then the verdict."""
        shown = [(card.label.text, card.figure.text) for card in self.cards if not card.isHidden()]
        return [*shown, (self.sentence,)]

    @property
    def absent(self) -> str:
        """What is said about gauges that the device has not; empty when it has all."""
        return "" if self._absent.isHidden() else self._absent.text

    def show_subject(self, subject: Subject) -> None:
        """Gauges and verdict of now."""
        info = subject.adapter.info
        missing = []
        for card, gauge in zip(self.cards, gauges(subject.device, info), strict=True):
            if card.isHidden() == gauge.offered:
                card.setVisible(gauge.offered)
            if gauge.offered:
                card.show_gauge(gauge, subject.dimmed)
            else:
                missing.append(gauge)
        self._keys.settle()
        self._absent.say(absences(missing))
        if subject.dimmed and subject.device.state is DeviceState.OK:
            self._mark.set_kind(_MARKS[Level.UNKNOWN])
            set_text(self._sentence, _("These are old values. The verdict comes back with new ones."))
            return
        found = verdict(subject.device, info, lambda column: subject.mean(column, WINDOW_S))
        self._mark.set_kind(_MARKS[found.level])
        set_text(self._sentence, verdict_text(found))


def absences(missing: Sequence[Gauge]) -> str:
    """Why a device has not these gauges: one paragraph for each reason."""
    names: dict[str, list[str]] = {}
    for gauge in missing:
        reason = _(gauge.absent) if gauge.absent else formatters.reason_text(gauge.value)
        names.setdefault(reason, []).append(_(gauge.label))
    return "\n".join(_("{name}: {why}").format(name=_(", ").join(who), why=why) for why, who in names.items())


def verdict_text(found: Verdict) -> str:
    """The verdict as a sentence in the user's language."""
    # Steps of 5 % in the sentence: it is about large gaps, and must not flicker.
    shares = {name: formatters.percent(round(share * 20) / 20) for name, share in found.params.items()}
    return _(found.message).format(**shares, **found.names)
