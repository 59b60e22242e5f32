"""Knows: the table of indicators: now, normal range, what is seen, advice. Must not know: how they are judged."""

from __future__ import annotations

from PySide6.QtCore import Qt
from PySide6.QtGui import QFontMetrics, QResizeEvent
from PySide6.QtWidgets import QGridLayout, QLabel, QVBoxLayout, QWidget

from gpumon_gui.core.messages import N_, _
from gpumon_gui.core.values import number
from gpumon_gui.telemetry.derive.indicators import WINDOW_S, Indicator, Judgement, Past, indicators
from gpumon_gui.ui import formatters
from gpumon_gui.ui.theme import L, M, Text, Theme
from gpumon_gui.ui.widgets.section import Card, Mark, set_text, wrapped
from gpumon_gui.ui.widgets.subject import Subject
from gpumon_gui.ui.widgets.text import FixedLabel

_HEADS = (N_("Indicator"), N_("Now"), N_("Normal range"), N_("What is seen, and what to do"))
_MARKS = {
    Judgement.GOOD: "good",
    Judgement.NEUTRAL: "none",
    Judgement.ATTENTION: "attention",
    Judgement.BAD: "bad",
    Judgement.UNKNOWN: "none",
}
_WORDS = {
    Judgement.GOOD: N_("good"),
    Judgement.NEUTRAL: N_("nothing to judge"),
    Judgement.ATTENTION: N_("attention"),
    Judgement.BAD: N_("abnormal"),
    Judgement.UNKNOWN: N_("not known"),
}
ROWS = 5
#: Below this width four columns of text are too narrow to read.
_NARROW = 680
#: How much more of a wide page the sentences take than the figures beside them.
_TEXT = 7


class IndicatorTable(Card):
    """Five rows; the mark differs in shape as well as in colour."""

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(theme, parent)
        self._heads = [wrapped(theme, Text.CAPTION, muted=True, parent=self) for _head in _HEADS]
        self._rows = [_Row(theme, self) for _n in range(ROWS)]
        self._narrow = False
        grid = self._grid = QGridLayout(self)
        grid.setContentsMargins(M, M, M, M)
        grid.setHorizontalSpacing(L)
        grid.setVerticalSpacing(M)
        for column, (head, stretch) in enumerate(zip(self._heads, (1, 1, _TEXT, _TEXT), strict=True)):
            grid.addWidget(head, 0, column + 1)
            grid.setColumnStretch(column + 1, stretch)
        strong, body = QFontMetrics(theme.font(Text.STRONG)), QFontMetrics(theme.font(Text.BODY))
        grid.setColumnMinimumWidth(1, strong.horizontalAdvance("Power and clocks") + 2)
        grid.setColumnMinimumWidth(2, body.horizontalAdvance("140.0 / 140.0 GB") + 2)
        for number_, row in enumerate(self._rows, start=1):
            top = Qt.AlignmentFlag.AlignTop
            grid.addWidget(row.mark, number_, 0, top)
            grid.addWidget(row.label, number_, 1, top)
            grid.addWidget(row.now, number_, 2, top)
            grid.addWidget(row.normal, number_, 3, top)
            grid.addWidget(row.words, number_, 4)
        self.retranslate()

    def retranslate(self) -> None:
        """The heads; rows come with the next sample."""
        for head, text in zip(self._heads, _HEADS, strict=True):
            head.setText(_(text))

    def resizeEvent(self, event: QResizeEvent) -> None:
        """On a narrow page the normal range stands below the words."""
        narrow = event.size().width() < _NARROW
        if narrow != self._narrow:
            self._narrow = narrow
            self._heads[2].setVisible(not narrow)
            self._grid.setColumnStretch(3, 0 if narrow else _TEXT)
            for row in self._rows:
                row.set_narrow(narrow)

    def show_subject(self, subject: Subject) -> None:
        """Judge the newest half minute."""
        past = Past(lambda column: subject.mean(column, WINDOW_S), lambda column: subject.spread(column, WINDOW_S))
        found = indicators(subject.device, subject.adapter.info, past, subject.holds_memory)
        for row, indicator in zip(self._rows, found, strict=True):
            row.say(indicator, subject.dimmed)

    def texts(self) -> list[tuple[str, str, str, str]]:
        """Mark, label, now and words of each row."""
        return [(row.mark.kind, row.label.text(), row.now.text, row.words_text()) for row in self._rows]


class _Row:
    def __init__(self, theme: Theme, parent: QWidget) -> None:
        self.mark = Mark(theme, parent)
        self.label = wrapped(theme, Text.STRONG, parent=parent)
        self.now = FixedLabel(theme, Text.BODY, parent=parent)
        self.normal = wrapped(theme, muted=True, parent=parent)
        self._normal_below = wrapped(theme, muted=True, parent=parent)
        self._normal_below.hide()
        self._sign = wrapped(theme, parent=parent)
        self._advice = wrapped(theme, muted=True, parent=parent)
        self.words = QWidget(parent)
        box = QVBoxLayout(self.words)
        box.setContentsMargins(0, 0, 0, 0)
        box.setSpacing(2)
        box.addWidget(self._sign)
        box.addWidget(self._advice)
        box.addWidget(self._normal_below)
        box.addStretch(1)

    def say(self, indicator: Indicator, dimmed: bool) -> None:
        self.mark.set_kind("none" if dimmed else _MARKS[indicator.judgement])
        judged = _("not of now") if dimmed else _(_WORDS[indicator.judgement])
        if self.mark.toolTip() != judged:
            self.mark.setToolTip(judged)
            self.mark.setAccessibleName(judged)
        set_text(self.label, _(indicator.label))
        self.now.set_text(_now(indicator))
        self.now.set_tip(formatters.value_tip(indicator.metric, indicator.now))
        self.now.set_dimmed(dimmed)
        degrees = {name: formatters.celsius(value) for name, value in indicator.degrees.items()}
        normal = _text(indicator.normal, degrees)
        set_text(self.normal, normal)
        set_text(self._normal_below, _("Normal: {range}").format(range=normal))
        shares = {name: formatters.percent(round(share * 20) / 20) for name, share in indicator.params.items()}
        has_value = number(indicator.now) is not None
        self._set(self._sign, (_("An old value.") if has_value else "") if dimmed else _text(indicator.sign, shares))
        self._set(self._advice, "" if dimmed else _text(indicator.advice, shares))

    def set_narrow(self, narrow: bool) -> None:
        self.normal.setVisible(not narrow)
        self._normal_below.setVisible(narrow)

    def words_text(self) -> str:
        return " ".join(label.text() for label in (self._sign, self._advice) if label.text())

    @staticmethod
    def _set(label: QLabel, text: str) -> None:
        set_text(label, text)
        if label.isHidden() == bool(text):
            label.setVisible(bool(text))


def _text(message: str, figures: dict[str, str]) -> str:
    return _(message).format(**figures)


def _now(indicator: Indicator) -> str:
    if indicator.metric == "memory_used_bytes":
        return formatters.memory_pair(indicator.now, indicator.limit)
    if number(indicator.limit) is not None:
        return formatters.pair(indicator.now, indicator.limit, formatters.watts)
    return formatters.value_text(indicator.metric, indicator.now)
