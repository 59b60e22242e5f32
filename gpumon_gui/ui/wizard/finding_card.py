"""Knows: one finding of a report: its head; opened, what proves it and what follows from it. Must not know: rules."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Any

from PySide6.QtCore import QDateTime, Qt, Signal, Slot
from PySide6.QtWidgets import QLabel, QVBoxLayout, QWidget

from gpumon_gui.core.files import printable
from gpumon_gui.core.messages import _
from gpumon_gui.diagnosis.compare import Change
from gpumon_gui.diagnosis.report import fact_words, text
from gpumon_gui.ui import moments
from gpumon_gui.ui.theme import XL, XS, L, M, S, Text, Theme
from gpumon_gui.ui.widgets.button import FlatButton
from gpumon_gui.ui.widgets.finding_block import MARK, FindingBlock, Line, Shown
from gpumon_gui.ui.widgets.fold import Fold
from gpumon_gui.ui.widgets.section import wrapped
from gpumon_gui.ui.widgets.spoken_card import SpokenCard

#: A value is shown up to here; all of it is in the saved report.
_LONGEST = 600


def change_badge(change: Change | None) -> tuple[str, str]:
    """The word and the mark of what became of a finding."""
    if change is Change.NEW:
        return _("new"), "bad"
    if change is Change.STILL:
        return _("still there"), "attention"
    if change is Change.GONE:
        return _("gone"), "good"
    return (_("not judged this time"), "info") if change is Change.UNKNOWN else ("", "info")


class FindingCard(Fold):
    """A finding of a report (its JSON form). ``symptoms`` are those that follow from it, ``about`` says of a finding in
    words what it is about, with a dot before. ``pasted`` are those that only a pasted text shows: there is nothing to
    look at again.

    Signals:
        help_wanted(str): the code whose page shall open.
        check_wanted(str): the subject to look at again.
    """

    help_wanted = Signal(str)
    check_wanted = Signal(str)
    block: FindingBlock  #: once it was opened

    def __init__(
        self,
        theme: Theme,
        finding: Mapping[str, Any],
        symptoms: Sequence[Mapping[str, Any]],
        changes: Mapping[tuple[str, str], Change],
        parent: QWidget | None = None,
        *,
        about: Callable[[Mapping[str, Any]], str],
        pasted: Collection[tuple[str, str]] = (),
    ) -> None:
        super().__init__(theme, self._make_body, parent)
        self.finding = finding
        self._symptoms = symptoms
        self._changes = changes
        self._about = about
        self._pasted = pasted
        self.symptom_cards: list[FindingCard] = []
        line = text.status({**finding, "symptom_of": None}) + about(finding)
        self.head.say(MARK.get(finding["severity"], "info"), finding["title"], line)
        self.head.set_badge(*change_badge(changes.get((finding["code"], finding["subject"]))))

    @property
    def code(self) -> str:
        """Of the rule."""
        return str(self.finding["code"])

    @property
    def subject(self) -> str:
        """What it is about."""
        return str(self.finding["subject"])

    @property
    def help_button(self) -> FlatButton:
        """Leads to how it was decided; once it was opened."""
        return self.block.help_button

    def _make_body(self, parent: QWidget) -> QWidget:
        body = QWidget(parent)
        column = QVBoxLayout(body)
        column.setContentsMargins(L + 16 + M - XS, 0, L, M)
        column.setSpacing(S)
        block = self.block = FindingBlock(self._theme, body, has_columns=False)
        block.show_finding(in_words(self.finding))
        block.help_wanted.connect(self.help_wanted)
        if (self.code, self.subject) not in self._pasted:
            self.check_button = FlatButton(self._theme, "", _("Check this again"), block, framed=True)
            self.check_button.clicked.connect(self._on_check)
            block.buttons.insertWidget(1, self.check_button)
        column.addWidget(block)
        if self._symptoms:
            column.addSpacing(S)
            title = QLabel(_("This follows from it"), body)
            title.setFont(self._theme.font(Text.STRONG))
            column.addWidget(title)
        for symptom in self._symptoms:
            card = FindingCard(self._theme, symptom, (), self._changes, body, about=self._about, pasted=self._pasted)
            card.help_wanted.connect(self.help_wanted)
            card.check_wanted.connect(self.check_wanted)
            self.symptom_cards.append(card)
            column.addWidget(card)
        return body

    @Slot()
    def _on_check(self) -> None:
        self.check_wanted.emit(self.subject)


class GoneCard(Fold):
    """A finding that was there before the last check and is not any more, or could not be judged this time."""

    def __init__(self, theme: Theme, title: str, subject: str, change: Change, parent: QWidget | None = None) -> None:
        super().__init__(theme, self._make_body, parent)
        self.change = change
        self.head.say("good" if change is Change.GONE else "none", title, subject)
        self.head.set_badge(*change_badge(change))

    def _make_body(self, parent: QWidget) -> QWidget:
        words = _("It was looked for again and is not there any more.")
        if self.change is Change.UNKNOWN:
            words = _("What decides it could not be found out this time.")
        body = SpokenCard(self._theme, parent, bare=True)
        body.set_spoken(words)
        label = wrapped(self._theme, muted=True, parent=body)
        label.setText(words)
        column = QVBoxLayout(body)
        column.setContentsMargins(XL + L, XS, L, M)
        column.addWidget(label)
        return body


def in_words(finding: Mapping[str, Any]) -> Shown:
    """What is shown of a finding of a report."""
    return Shown(
        str(finding["code"]),
        str(finding["subject"]),
        tuple(
            Line(printable(fact_words.label(str(one["what"]))), _shown_value(one), _source(one))
            for one in finding["evidence"]
        ),
        tuple((str(step["text"]), str(step["command"] or "")) for step in finding["advice"]),
    )


def _shown_value(evidence: Mapping[str, Any]) -> str:
    value = fact_words.figure(str(evidence["what"]), " ".join(str(evidence["value"]).split()))
    value = printable(value)
    return value if len(value) <= _LONGEST else value[:_LONGEST] + "…"


def _source(evidence: Mapping[str, Any]) -> str:
    """``nvidia-smi · 14:03:22`` or, where a line was read, its file or output and number."""
    parts = [printable(fact_words.place(evidence))]
    if "time_utc" in evidence:
        when = QDateTime.fromString(str(evidence["time_utc"]), Qt.DateFormat.ISODate)
        parts.append(moments.clock(float(when.toSecsSinceEpoch())))
    return " · ".join(parts)
