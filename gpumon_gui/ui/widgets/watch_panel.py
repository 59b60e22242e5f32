"""Knows: how the verdict on a watched program is shown while it runs. Must not know: how it is made, the charts.

The verdict comes first, then what proves it, what to do, and what else there is. It changes every second while a
program runs, so only what differs is written, and nothing moves below the reader's hand.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import TYPE_CHECKING

from PySide6.QtCore import QCoreApplication, Qt, Signal, Slot
from PySide6.QtGui import QAction, QColor, QKeyEvent, QPainter, QPaintEvent, QWheelEvent
from PySide6.QtWidgets import (
    QFrame,
    QHBoxLayout,
    QMenu,
    QScrollArea,
    QScrollBar,
    QSizePolicy,
    QVBoxLayout,
    QWidget,
)

from gpumon_gui.bridge.watching import Program, Watched
from gpumon_gui.core.formatters import took
from gpumon_gui.core.messages import _, ngettext
from gpumon_gui.diagnosis.behaviour.spans import ENOUGH_S
from gpumon_gui.diagnosis.finding import Finding
from gpumon_gui.ui import moments
from gpumon_gui.ui.announce import announce
from gpumon_gui.ui.theme import XS, L, M, S, Text, Theme
from gpumon_gui.ui.widgets import watch_texts
from gpumon_gui.ui.widgets.button import FlatButton
from gpumon_gui.ui.widgets.fields import SlimBar
from gpumon_gui.ui.widgets.finding_block import FindingBlock
from gpumon_gui.ui.widgets.fold import Fold
from gpumon_gui.ui.widgets.help_page import HelpWindow, show_help
from gpumon_gui.ui.widgets.scroll_bar import use_thin_bars
from gpumon_gui.ui.widgets.section import Banner, Mark, set_text, wrapped
from gpumon_gui.ui.widgets.spoken_card import SpokenCard
from gpumon_gui.ui.widgets.tab_order import put_behind
from gpumon_gui.ui.widgets.text import FixedLabel

if TYPE_CHECKING:
    from gpumon_gui.diagnosis.behaviour.watcher import Verdict

Key = tuple[str, str]
#: Newest verdicts that are listed; more have passed by than anybody reads.
_MOST_TURNS = 30
_SCROLLS = {
    Qt.Key.Key_Up: QScrollBar.SliderAction.SliderSingleStepSub,
    Qt.Key.Key_Down: QScrollBar.SliderAction.SliderSingleStepAdd,
    Qt.Key.Key_PageUp: QScrollBar.SliderAction.SliderPageStepSub,
    Qt.Key.Key_PageDown: QScrollBar.SliderAction.SliderPageStepAdd,
    Qt.Key.Key_Home: QScrollBar.SliderAction.SliderToMinimum,
    Qt.Key.Key_End: QScrollBar.SliderAction.SliderToMaximum,
}


class VerdictCard(SpokenCard):
    """The sentence with its mark, what is still needed, and how the program ended."""

    def __init__(self, theme: Theme, parent: QWidget) -> None:
        super().__init__(theme, parent)
        self.mark = Mark(theme, self)
        self.sentence = wrapped(theme, Text.SUBTITLE, parent=self)
        self.status = FixedLabel(theme, Text.CAPTION, muted=True, parent=self)
        self.waiting = wrapped(theme, Text.CAPTION, parent=self)
        self.bar = SlimBar(theme, self)
        self.bar.setMaximum(1000)
        self.ending = wrapped(theme, Text.CAPTION, parent=self)
        column = QVBoxLayout()
        column.setSpacing(XS)
        for widget in (self.sentence, self.status, self.waiting, self.bar, self.ending):
            column.addWidget(widget)
        row = QHBoxLayout(self)
        row.setContentsMargins(M, S, M, S)
        row.setSpacing(S)
        row.addWidget(self.mark, 0, Qt.AlignmentFlag.AlignTop)
        row.addLayout(column, 1)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Maximum)
        theme.changed.connect(self._recolour)

    def show_watched(self, watched: Watched) -> None:
        """Write what is known."""
        kind, text = watch_texts.headline(watched)
        self.mark.set_kind(kind)
        set_text(self.sentence, text)
        status = watch_texts.status(watched)
        self.status.set_text(status)
        self.status.setVisible(bool(status))
        needed = watch_texts.waiting(watched)
        set_text(self.waiting, needed)
        self.waiting.setVisible(bool(needed))
        verdict = watched.verdict
        needs_s = ENOUGH_S if verdict is None else verdict.needs_s
        self.bar.setVisible(bool(needed))
        self.bar.setValue(round(1000 * watched.seen_s / max(1e-3, watched.seen_s + needs_s)))
        over = watch_texts.ending(watched)
        set_text(self.ending, over)
        self.ending.setVisible(bool(over))
        self.set_spoken(". ".join(part.rstrip(".") for part in (text, status, needed, over) if part))
        self._recolour()

    @Slot()
    def _recolour(self) -> None:
        colours, kind = self._theme.colours, self.mark.kind
        self.set_colours(colours.tone_back(kind), colours.tone(kind))


class _Lines(Fold):
    """A count, and opened lines of text, one below the other."""

    def __init__(self, theme: Theme) -> None:
        super().__init__(theme, self._make_body, quiet=True)
        self._label = wrapped(theme, parent=self)
        self._label.hide()

    @property
    def text(self) -> str:
        return self._label.text()

    def say(self, count: str, lines: Sequence[str]) -> None:
        self.setVisible(bool(lines))
        self.head.say("", count)
        set_text(self._label, "\n".join(lines))

    def _make_body(self, parent: QWidget) -> QWidget:
        self._label.setContentsMargins(L + S, 0, 0, 0)
        return self._label


class _Other(Fold):
    """A further finding: closed it is a line, open it has its evidence and advice, and its part is marked."""

    opened = Signal(object)

    def __init__(self, theme: Theme, parent: QWidget) -> None:
        super().__init__(theme, self._make_body, parent, quiet=True)
        self.finding: Finding | None = None
        self.block = FindingBlock(theme, self)
        self.block.hide()
        self.toggled.connect(self._on_opened)

    def show_finding(self, finding: Finding) -> None:
        self.finding = finding
        self.block.show_finding(watch_texts.shown(finding))
        self.head.say(watch_texts.tone(finding), watch_texts.sentence(finding))

    def _make_body(self, parent: QWidget) -> QWidget:
        self.block.setContentsMargins(L + S, 0, 0, S)
        return self.block

    @Slot(bool)
    def _on_opened(self, on: bool) -> None:
        self.opened.emit(self.finding if on else None)


def _key(finding: Finding) -> Key:
    return finding.code, finding.subject


class WatchPanel(QWidget):
    """The watched programs, one of them in full. Lives in the GUI thread.

    Signals:
        stop_wanted(object): no longer watch a :class:`Program`.
        chosen(object): another :class:`Program` is on show.
        finding_chosen(object): mark this finding (code and subject) on the charts; None: the verdict itself.
        folded(bool): collapsed to its verdict, or opened again.
        report_wanted(object): a report on this :class:`Watched` shall be saved.
    """

    stop_wanted = Signal(object)
    chosen = Signal(object)
    finding_chosen = Signal(object)
    folded = Signal(bool)
    report_wanted = Signal(object)

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._theme = theme
        self._watched: tuple[Watched, ...] = ()
        self._current: Program | None = None
        self._told: dict[Program, Key | None] = {}
        self._chosen: Key | None = None
        self._is_beside = False

        self._name = wrapped(theme, Text.STRONG, parent=self)
        self._time = FixedLabel(theme, muted=True, parent=self)
        self.choice = FlatButton(theme, "", "", self, framed=True)
        self._menu = QMenu(self)
        self._menu.triggered.connect(self._on_menu)
        self.choice.set_menu(self._menu)
        self.report_button = FlatButton(theme, "report", "", self)
        self.report_button.clicked.connect(self._on_report)
        self.stop_button = FlatButton(theme, "stop", "", self)
        self.stop_button.clicked.connect(self._on_stop)
        self.fold_button = FlatButton(theme, "collapse", "", self)
        self.fold_button.clicked.connect(self.toggle_fold)
        self.card = VerdictCard(theme, self)
        self.notice = Banner(theme, self)

        self.block = FindingBlock(theme)
        self.block.help_wanted.connect(self._on_help)
        self.show_button = FlatButton(theme, "performance", "", framed=True)
        self.show_button.clicked.connect(self._on_show)
        self.block.add_below_evidence(self.show_button)
        self._others: list[_Other] = []
        self._others_head = wrapped(theme, Text.STRONG)
        self._others_box = QVBoxLayout()
        self._others_box.setContentsMargins(0, 0, 0, 0)
        self._others_box.setSpacing(0)
        self.turns, self.not_evaluated = _Lines(theme), _Lines(theme)
        body = QWidget()
        column = QVBoxLayout(body)
        column.setContentsMargins(L, XS, L, M)
        column.setSpacing(M)
        column.addWidget(self.block)
        column.addWidget(self._others_head)
        column.addLayout(self._others_box)
        column.addWidget(self.turns)
        column.addWidget(self.not_evaluated)
        column.addStretch(1)
        self.body = QScrollArea(self)
        self.body.setWidget(body)
        self.body.setWidgetResizable(True)
        self.body.setFocusPolicy(Qt.FocusPolicy.NoFocus)  # what stands in it has it, and the keys scroll from anywhere
        self.body.setFrameShape(QFrame.Shape.NoFrame)
        self.body.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        use_thin_bars(self.body, theme)
        self.body.viewport().setAutoFillBackground(False)
        body.setAutoFillBackground(False)

        head = QHBoxLayout()
        head.setContentsMargins(L, S, S, 0)
        head.setSpacing(S)
        names = QVBoxLayout()
        names.setSpacing(0)
        names.addWidget(self._name)
        names.addWidget(self._time)
        head.addLayout(names, 1)
        head.addWidget(self.choice)
        head.addWidget(self.report_button)
        head.addWidget(self.stop_button)
        head.addWidget(self.fold_button)
        top = QVBoxLayout()
        top.setContentsMargins(L, XS, L, S)
        top.setSpacing(S)
        top.addWidget(self.notice)
        top.addWidget(self.card)
        box = QVBoxLayout(self)
        box.setContentsMargins(0, 0, 0, 0)
        box.setSpacing(0)
        box.addLayout(head)
        box.addLayout(top)
        box.addWidget(self.body, 1)
        theme.changed.connect(self.update)
        self.retranslate()

    # -- what others call

    @property
    def current(self) -> Program | None:
        """The program on show."""
        return self._current

    @property
    def is_folded(self) -> bool:
        """Whether only the verdict is on show."""
        return self.body.isHidden()

    @property
    def chosen_finding(self) -> Key | None:
        """The finding that is marked instead of the verdict."""
        return self._chosen

    @property
    def others(self) -> Sequence[_Other]:
        """The further findings."""
        return self._others

    @property
    def turn_text(self) -> str:
        """The verdicts so far, newest first."""
        return self.turns.text

    @property
    def open_text(self) -> str:
        """What could not be judged."""
        return self.not_evaluated.text

    def watched(self) -> Watched | None:
        """What is known of the program on show."""
        return next((one for one in self._watched if one.program == self._current), None)

    def choose(self, program: Program) -> None:
        """Show another of the programs."""
        if program != self._current:
            self._current = program
            self._mark(None)
            self._show()
            self.chosen.emit(program)

    def show_watched(self, watched: tuple[Watched, ...]) -> None:
        """What is known now. A program that is gone from the list gives way to the last one."""
        self._watched = watched
        if self.watched() is None:
            self._current = watched[-1].program if watched else None
            self._mark(None)
        self._announce()
        self._show()

    def set_notice(self, text: str) -> None:
        """A sentence above the verdict, such as that nothing is read; empty for none."""
        self.notice.say("info", text)

    def set_beside(self, beside: bool) -> None:
        """Whether it stands beside the charts instead of below."""
        if beside != self._is_beside:
            self._is_beside = beside
            self.update()

    @Slot()
    def toggle_fold(self) -> None:
        """Leave the verdict alone, or show everything again."""
        self.body.setVisible(self.body.isHidden())
        self._label_buttons()
        self.folded.emit(self.is_folded)

    def retranslate(self) -> None:
        """Write every text again."""
        self._label_buttons()
        self._others_head.setText(_("Also found"))
        self.setAccessibleName(_("Watch"))
        self.body.setAccessibleName(_("Evidence and advice"))
        self.block.retranslate()
        for other in self._others:
            other.block.retranslate()
        for window in self.findChildren(HelpWindow):
            window.retranslate()
        self._show()

    # -- inside

    def _label_buttons(self) -> None:
        self.stop_button.set_text(_("Stop"))
        self.stop_button.setToolTip(_("Stop watching this program"))
        self.stop_button.setAccessibleName(_("Stop watching"))
        fold = _("Show everything") if self.is_folded else _("Show the verdict alone")
        self.fold_button.set_icon_name("expand" if self.is_folded else "collapse")
        self.fold_button.setToolTip(fold)
        self.fold_button.setAccessibleName(fold)
        self.show_button.set_text(_("Show on the charts"))
        self.report_button.setToolTip(_("Save report"))
        self.report_button.setAccessibleName(_("Save report"))
        self.choice.setAccessibleName(_("Watched program"))

    def _show(self) -> None:
        watched = self.watched()
        if watched is None:
            return
        set_text(self._name, watch_texts.called(watched.program))
        self._time.set_text(_("watched for {time}").format(time=took(watched.seen_s)))
        self._show_choice()
        self.card.show_watched(watched)
        verdict = watched.verdict
        self.report_button.setEnabled(watch_texts.has_said(verdict))
        finding = watch_texts.said(verdict) if verdict is not None and watch_texts.has_said(verdict) else None
        self.block.setVisible(finding is not None)
        if finding is not None and verdict is not None:
            self.block.show_finding(watch_texts.shown(finding))
            self.show_button.setVisible(_key(finding) in {(span.code, span.subject) for span in verdict.spans})
        self._show_others(verdict, finding)
        self._show_turns(verdict)
        self._show_not_evaluated(verdict)

    def _show_choice(self) -> None:
        several = len(self._watched) > 1
        self.choice.setVisible(several)
        if not several:
            return
        names = [watch_texts.called(one.program) for one in self._watched]
        number = next((n for n, one in enumerate(self._watched, 1) if one.program == self._current), 1)
        self.choice.set_text(_("{number} of {count}").format(number=number, count=len(names)))
        if [action.text() for action in self._menu.actions()] != names:
            self._menu.clear()
            for one, name in zip(self._watched, names, strict=True):
                action = self._menu.addAction(name)
                action.setCheckable(True)
                action.setData(one.program)
        for action in self._menu.actions():
            action.setChecked(action.data() == self._current)

    def _show_others(self, verdict: Verdict | None, best: Finding | None) -> None:
        shown = best is not None or (verdict is not None and watch_texts.has_said(verdict))
        findings = verdict.behaviour.diagnosis.findings if verdict is not None and shown else ()
        others = [one for one in findings if best is None or (one.code, one.subject) != (best.code, best.subject)]
        while len(self._others) < len(others):
            other = _Other(self._theme, self)
            other.opened.connect(self._on_other)
            other.block.help_wanted.connect(self._on_help)
            put_behind(self._others[-1] if self._others else self.block, other)
            self._others.append(other)
            self._others_box.addWidget(other)
        for other, finding in zip(self._others, others, strict=False):
            if other.finding is None or other.finding.code != finding.code:
                other.set_open(False)
            other.show_finding(finding)
            other.show()
        for other in self._others[len(others) :]:
            other.set_open(False)
            other.hide()
        self._others_head.setVisible(bool(others))

    def _show_turns(self, verdict: Verdict | None) -> None:
        turns = verdict.history[-_MOST_TURNS:] if verdict is not None else ()
        lines = [f"{moments.clock(turn.utc_s)}  {watch_texts.turn_sentence(turn)}" for turn in reversed(turns)]
        count = ngettext("{count} verdict so far", "{count} verdicts so far", len(lines)).format(count=len(lines))
        self.turns.say(count, lines)

    def _show_not_evaluated(self, verdict: Verdict | None) -> None:
        is_over = verdict is not None and watch_texts.has_said(verdict)  # before, everything is still open
        entries = verdict.behaviour.diagnosis.not_evaluated if verdict is not None and is_over else ()
        texts = dict.fromkeys(watch_texts.not_evaluated(one) for one in entries)
        count = ngettext("{count} cause could not be judged", "{count} causes could not be judged", len(texts))
        self.not_evaluated.say(count.format(count=len(texts)), list(texts))

    def _announce(self) -> None:
        """A screen reader hears a verdict that is another one, when it has nothing more urgent to say."""
        known: dict[Program, Key | None] = {}
        for one in self._watched:
            verdict = one.verdict
            if verdict is None or not verdict.history:
                continue
            finding = verdict.history[-1].finding
            known[one.program] = None if finding is None else (finding.code, finding.subject)
            if one.program not in self._told or self._told[one.program] != known[one.program]:
                words = _("{program}: {verdict}").format(
                    program=watch_texts.called(one.program),
                    verdict=watch_texts.turn_sentence(verdict.history[-1]),
                )
                announce(self, words)
        self._told = known

    def _mark(self, key: Key | None) -> None:
        if key != self._chosen:
            self._chosen = key
            self.finding_chosen.emit(key)

    @Slot()
    def _on_show(self) -> None:
        """Mark the verdict's own part, again if need be: the charts may show something else by now."""
        verdict = None if (watched := self.watched()) is None else watched.verdict
        finding = None if verdict is None else watch_texts.said(verdict)
        if finding is not None:
            self._chosen = _key(finding)
            self.finding_chosen.emit(self._chosen)

    @Slot(object)
    def _on_other(self, finding: Finding | None) -> None:
        if finding is not None:
            for other in self._others:  # one at a time: its part is the one that is marked
                if other.finding is not finding and other.is_open:
                    other.set_open(False)
        self._mark(None if finding is None else _key(finding))

    @Slot(str)
    def _on_help(self, code: str) -> None:
        show_help(self._theme, code, self, partial(self._title_of, code))

    def _title_of(self, code: str) -> str:
        watched = self.watched()
        verdict = watched.verdict if watched is not None else None
        findings = () if verdict is None else verdict.behaviour.diagnosis.findings
        return next((_(one.title).format(**one.values) for one in findings if one.code == code), "")

    @Slot(QAction)
    def _on_menu(self, action: QAction) -> None:
        self.choose(action.data())

    @Slot()
    def _on_report(self) -> None:
        watched = self.watched()
        if watched is not None:
            self.report_wanted.emit(watched)

    @Slot()
    def _on_stop(self) -> None:
        if self._current is not None:
            self.stop_wanted.emit(self._current)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """What the keyboard is on need not be in what scrolls."""
        scroll = _SCROLLS.get(Qt.Key(event.key()))
        if scroll is None or self.is_folded:
            super().keyPressEvent(event)
        else:
            self.body.verticalScrollBar().triggerAction(scroll)

    def wheelEvent(self, event: QWheelEvent) -> None:
        """Over the verdict too."""
        if self.is_folded:
            super().wheelEvent(event)
        else:
            QCoreApplication.sendEvent(self.body.verticalScrollBar(), event)

    def paintEvent(self, event: QPaintEvent) -> None:
        colours = self._theme.colours
        painter = QPainter(self)
        painter.fillRect(self.rect(), QColor(colours.surface))
        painter.setPen(QColor(colours.border))
        if self._is_beside:
            painter.drawLine(0, 0, 0, self.height())
        else:
            painter.drawLine(0, 0, self.width(), 0)
        painter.end()
