"""Knows: the wizard's third page: verdicts, findings by rank, what could not be judged, what was not found.
Must not know: rules, threads."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any

from PySide6.QtCore import Qt, QTimer, Signal, Slot
from PySide6.QtWidgets import QFrame, QLabel, QPlainTextEdit, QVBoxLayout, QWidget

from gpumon_gui.core.clock import Instant
from gpumon_gui.core.messages import _, ngettext, sentences
from gpumon_gui.diagnosis.ask import Result
from gpumon_gui.diagnosis.compare import Change, Changed, compare, is_pasted
from gpumon_gui.diagnosis.facts import MACHINE
from gpumon_gui.diagnosis.finding import Finding
from gpumon_gui.diagnosis.report import environments, fact_words, tables, text, words
from gpumon_gui.diagnosis.report.document import report
from gpumon_gui.diagnosis.rules.table import RULES
from gpumon_gui.ui import moments
from gpumon_gui.ui.theme import XL, L, M, S, Text, Theme
from gpumon_gui.ui.tips import plain
from gpumon_gui.ui.widgets.fold import Fold
from gpumon_gui.ui.widgets.message_bar import MessageBar, Tone
from gpumon_gui.ui.widgets.scroll_bar import use_thin_bars
from gpumon_gui.ui.widgets.scroll_column import Content, ScrollColumn
from gpumon_gui.ui.widgets.section import wrapped
from gpumon_gui.ui.widgets.tab_order import put_behind
from gpumon_gui.ui.wizard.finding_card import FindingCard, GoneCard
from gpumon_gui.ui.wizard.verdicts import VerdictBanner

WIDEST = 1000
#: Of a group's text; more scrolls within it.
_HIGHEST = 320


class FindingsPage(QWidget):
    """Shows one result; after a check again also what has changed.

    Signals:
        help_wanted(str): the page of that rule shall open.
        check_wanted(str): look at that subject again.
    """

    help_wanted = Signal(str)
    check_wanted = Signal(str)

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._theme = theme
        self.result: Result | None = None
        self._before: Result | None = None
        self._subject: str | None = None
        self._open: set[tuple[str, str]] = set()
        self._names: dict[str, str] = {}  #: path → name of an environment
        self._count = ""  #: of the findings, in words
        self.banners: list[VerdictBanner] = []
        self.cards: list[FindingCard] = []
        self.gone: list[GoneCard] = []
        self.groups: dict[str, Fold] = {}
        self._when = QLabel(self)
        self._when.setFont(theme.font(Text.CAPTION))
        self.message = MessageBar(theme, closable=True, parent=self)
        self.area = ScrollColumn(theme, self)
        self._to_open: list[Fold] = []
        self._where = 0
        self._opener = QTimer(self)
        self._opener.setSingleShot(True)
        self._opener.timeout.connect(self._open_next)
        outer = QVBoxLayout(self)
        outer.setContentsMargins(0, 0, 0, 0)
        outer.setSpacing(0)
        above = QVBoxLayout()
        above.setContentsMargins(L, 0, L, S)
        above.setSpacing(S)
        above.addWidget(self._when)
        above.addWidget(self.message)
        outer.addLayout(above)
        outer.addWidget(self.area, 1)

    # -- what the wizard calls

    def show_result(self, result: Result, before: Result | None = None, subject: str | None = None) -> None:
        """Show a result. ``before``: what it is compared with, where ``subject`` (None: everything) was looked at."""
        if before is None:
            self._open = {_key(finding) for finding in result.diagnosis.findings[:1]}
        self.result, self._before, self._subject = result, before, subject
        self._build()
        if before is None:
            self.message.hide()
            self._where = 0
            self.area.verticalScrollBar().setValue(0)

    @property
    def summary(self) -> str:
        """The verdicts and how many findings there are, for who does not see them."""
        return ". ".join([*(banner.text.split("\n")[0].rstrip(".") for banner in self.banners), self._count])

    def title_of(self, code: str) -> str:
        """The title of the finding with that code, in the language on show."""
        findings = () if self.result is None else self.result.diagnosis.findings
        return next((_(one.title).format(**one.values) for one in findings if one.code == code), "")

    def focus_first(self, reason: Qt.FocusReason) -> None:
        """Put the focus on the first finding."""
        first = next(iter([*self.gone, *self.cards, *self.groups.values()]), None)
        if first is not None:
            where = self.area.verticalScrollBar().value()
            first.head.setFocus(reason)
            if reason == Qt.FocusReason.OtherFocusReason:  # nobody looks for it
                self.area.verticalScrollBar().setValue(where)

    @Slot()
    def retranslate(self) -> None:
        """Write every text again."""
        self.message.retranslate()
        if self.result is not None:
            self._build()

    # -- building

    def _build(self) -> None:
        assert self.result is not None
        where = self.area.verticalScrollBar().value()
        open_groups = {name for name, group in self.groups.items() if group.is_open}
        self._to_open = []
        made = report(self.result.document, self.result.diagnosis, RULES, Instant(0.0, self.result.time_utc_s), None)
        changed = self._changes()
        changes = {_key(one.finding): one.change for one in changed}
        self.cards, self.gone, self.banners, self.groups = [], [], [], {}
        content = Content(WIDEST)
        column = content.column
        column.setContentsMargins(L, 0, L, XL)
        column.setSpacing(S)
        if text.machine(made):
            machine = wrapped(self._theme, Text.CAPTION, muted=True, parent=content)
            machine.setText(text.machine(made))
            column.addWidget(machine)
        self._names = environments.names(made)
        for verdict in text.verdicts(made):
            banner = VerdictBanner(self._theme, verdict["verdict"], verdict["text"], content)
            banner.setToolTip(plain("\n".join(path for path, name in self._names.items() if name in verdict["text"])))
            self.banners.append(banner)
            column.addWidget(banner)
        self._add_findings(column, made, changed, changes, content)
        self._add_sections(column, made, content)
        self._add_groups(column, made, content)
        column.addStretch(1)
        self._to_open += [group for name, group in self.groups.items() if name in open_groups]
        self._when.setText(_("Checked on {time}").format(time=moments.moment(self.result.time_utc_s, seconds=False)))
        self.area.setWidget(content)
        put_behind(self.message, content)
        self._where = where
        self._open_next()
        if self._before is not None:
            has_pasted = any(is_pasted(finding, self.result) for finding in self.result.diagnosis.findings)
            self.message.say(_change_text(changed, has_pasted), _tone(changed))

    @Slot()
    def _open_next(self) -> None:
        """One card at a time: making the content of all at once would hold the window up."""
        if self._to_open:
            self._to_open.pop(0).set_open(True)
        if self._to_open:
            self._opener.start(0)
        elif self._where:
            self.area.verticalScrollBar().setValue(self._where)

    def _changes(self) -> tuple[Changed, ...]:
        if self._before is None or self.result is None:
            return ()
        subjects = None if self._subject is None else (self._subject, MACHINE)
        return compare(self._before, self.result, subjects)

    def _add_findings(
        self,
        column: QVBoxLayout,
        made: Mapping[str, Any],
        changed: Sequence[Changed],
        changes: Mapping[tuple[str, str], Change],
        content: QWidget,
    ) -> None:
        assert self.result is not None
        findings = made["findings"]
        pasted = {_key(one) for one in self.result.diagnosis.findings if is_pasted(one, self.result)}
        causes, symptoms = folded(findings)
        acting = [finding for finding in findings if finding["severity"] != "info"]
        title = _("No finding needs action")
        if acting:
            count = len(acting)
            title = ngettext("{count} finding needs action", "{count} findings need action", count)
            title = title.format(count=count)
        column.addSpacing(S)
        column.addWidget(self._heading(title, content))
        self._count = title
        if not acting:
            summary = _plain_summary(made)
            if summary:
                said = wrapped(self._theme, muted=True, parent=content)
                said.setText(summary)
                column.addWidget(said)
        for one in changed:
            if one.change in (Change.GONE, Change.UNKNOWN):
                name = _(one.finding.title).format(**one.finding.values)
                subject = self._gone_subject(one.finding, made)
                gone = GoneCard(self._theme, name, subject, one.change, content)
                self.gone.append(gone)
                column.addWidget(gone)
        for finding in causes:
            card = FindingCard(
                self._theme,
                finding,
                symptoms.get(_key_of(finding), ()),
                changes,
                content,
                about=partial(text.about, report=made),
                pasted=pasted,
            )
            if text.subject(card.subject) in self._names:
                card.head.setToolTip(plain(card.subject))
            card.help_wanted.connect(self.help_wanted)
            card.check_wanted.connect(self.check_wanted)
            if _key_of(finding) in self._open:
                self._to_open.append(card)
            card.toggled.connect(partial(self._on_toggled, _key_of(finding)))
            self.cards.append(card)
            column.addWidget(card)

    def _gone_subject(self, finding: Finding, made: Mapping[str, Any]) -> str:
        sources = {evidence.origin.source for evidence in finding.evidence}
        return text.subject_of(finding.subject, sources, made)

    def _add_sections(self, column: QVBoxLayout, made: Mapping[str, Any], content: QWidget) -> None:
        for number, section in enumerate(made.get("sections", ())):
            block = "\n\n".join(tables.terminal([section])[0:])
            self._add_group(column, f"section-{number}", "info", section["title"], "", block, content, fixed=True)

    def _add_groups(self, column: QVBoxLayout, made: Mapping[str, Any], content: QWidget) -> None:
        answered = {entry["code"] for entry in (*made["clear"], *made["findings"])}
        unknown: dict[str, set[str]] = {}
        for entry in made["not_evaluated"]:
            if entry["code"] not in answered:
                unknown.setdefault(entry["code"], set()).update(entry["missing"])
        assert self.result is not None
        if self.result.document.log_given:  # one environment's; the others lack it, and nobody could give it to them
            unknown = {code: facts - {"log"} or facts for code, facts in unknown.items()}
        clear = sorted({entry["code"] for entry in made["clear"]} - {entry["code"] for entry in made["findings"]})
        what = {rule.code: rule.help.what for rule in RULES}
        column.addSpacing(M)
        if unknown:
            count = len(unknown)
            title = ngettext("{count} cause could not be judged", "{count} causes could not be judged", count)
            facts_unknown = {fact for facts in unknown.values() for fact in facts if not _is_known(fact, made)}
            if self.result.document.log_given:
                facts_unknown.discard("log")
            topics = sorted({_topic(fact) for fact in facts_unknown})
            line = _("Too little is known of: {facts}").format(facts=_(", ").join(topics)) if topics else ""
            if not self.result.ask.machine:
                title, line = _("Of other causes, what was given says too little"), ""
            rows = [
                _("{what}\nMissing: {facts}").format(
                    what=_(what.get(code, code)),
                    facts=_(", ").join(dict.fromkeys(fact_words.label(fact) for fact in sorted(facts))),
                )
                for code, facts in sorted(unknown.items())
            ]
            self._add_group(column, "unknown", "none", title.format(count=count), line, "\n\n".join(rows), content)
        if clear:
            count = len(clear)
            title = ngettext(
                "{count} cause was looked for and is not there",
                "{count} causes were looked for and are not there",
                count,
            )
            rows = [f"✓ {_(what.get(code, code))}" for code in clear]
            self._add_group(column, "clear", "good", title.format(count=count), "", "\n\n".join(rows), content)
        if made["bugs"]:
            rows = [f"{bug['code']} ({text.subject(bug['subject'])}): {bug['error']}" for bug in made["bugs"]]
            title = _("Faults of GPUMon while judging (please report them)")
            self._add_group(column, "bugs", "attention", title, "", "\n".join(rows), content)

    def _add_group(
        self,
        column: QVBoxLayout,
        name: str,
        kind: str,
        title: str,
        line: str,
        block: str,
        content: QWidget,
        *,
        fixed: bool = False,
    ) -> None:
        group = Fold(self._theme, partial(self._block, title, block, fixed), content)
        group.head.say(kind, title, line)
        self.groups[name] = group
        column.addWidget(group)

    def _block(self, title: str, block: str, fixed: bool, parent: QWidget) -> QWidget:
        """One text that lays out what is seen of it: labels for a hundred rows would hold the window up."""
        holder = QWidget(parent)
        box = QPlainTextEdit(holder)
        box.setReadOnly(True)
        box.setAccessibleName(title)
        box.setTabChangesFocus(True)
        box.setFrameShape(QFrame.Shape.NoFrame)
        use_thin_bars(box, self._theme)
        if fixed:
            box.setFont(self._theme.code_font(Text.CAPTION))
            box.setLineWrapMode(QPlainTextEdit.LineWrapMode.NoWrap)
        box.setPlainText(block)
        lines = block.count("\n") + 2
        box.setFixedHeight(min(_HIGHEST, lines * box.fontMetrics().lineSpacing() + 2 * M))
        column = QVBoxLayout(holder)
        column.setContentsMargins(L + 16, 0, S, S)
        column.addWidget(box)
        return holder

    def _heading(self, title: str, parent: QWidget) -> QLabel:
        label = QLabel(title, parent)
        label.setFont(self._theme.font(Text.SUBTITLE))
        return label

    def _on_toggled(self, key: tuple[str, str], is_open: bool) -> None:
        if is_open:
            self._open.add(key)
        else:
            self._open.discard(key)


def _key(finding: Any) -> tuple[str, str]:
    return finding.code, finding.subject


def _key_of(finding: Mapping[str, Any]) -> tuple[str, str]:
    return str(finding["code"]), str(finding["subject"])


def folded(
    findings: Sequence[Mapping[str, Any]],
) -> tuple[list[Mapping[str, Any]], dict[tuple[str, str], list[Mapping[str, Any]]]]:
    """Causes, and the symptoms below each: the cause of the same subject counts, else the machine's."""
    keys = {_key_of(finding) for finding in findings}
    causes: list[Mapping[str, Any]] = []
    symptoms: dict[tuple[str, str], list[Mapping[str, Any]]] = {}
    for finding in findings:
        code = finding["symptom_of"]
        places = [(str(code), str(finding["subject"])), (str(code), MACHINE)]
        key = next((place for place in places if place in keys), None) if code else None
        if key is None:
            causes.append(finding)
        else:
            symptoms.setdefault(key, []).append(finding)
    # A symptom of a symptom has no card of its own to stand below: it stands below the first cause.
    tops = {_key_of(finding) for finding in causes}
    for key in [key for key in symptoms if key not in tops]:
        above = next((top for top, below in symptoms.items() if key in [_key_of(one) for one in below]), None)
        if above is not None and above in tops:
            symptoms[above] += symptoms.pop(key)
        else:
            causes += symptoms.pop(key)
    return causes, symptoms


def _plain_summary(made: Mapping[str, Any]) -> str:
    """The report's closing words without the counts, which stand in the groups, and without options of the command
    line. What is only good to know may be the whole answer."""
    said = text.summary(made).split("\n")[0]
    known = (words.NOTHING_WRONG, words.NOTHING_FOUND, words.NO_CAUSE_IN_PROFILE)
    return said if said in [_(word) for word in known] else ""


def _topic(fact: str) -> str:
    root = fact.partition(".")[0]
    return _(words.TOPIC.get(root, root))


def _is_known(fact: str, made: Mapping[str, Any]) -> bool:
    """Whether something of its kind is: naming PyTorch as unknown beside its own verdict would only puzzle."""
    root = fact.partition(".")[0]
    return root in made["facts"] or any(root in each for each in made["facts"].get("environments", ()))


def _change_text(changed: Sequence[Changed], has_pasted: bool) -> str:
    counts = {change: sum(one.change is change for one in changed) for change in Change}
    stays = [_("What the pasted text shows stays as it is.")] if has_pasted else []
    if not changed:
        return sentences(_("Checked again."), *stays) if stays else _("Checked again: nothing was found, as before.")
    parts = [
        (_("{count} gone"), counts[Change.GONE]),
        (_("{count} new"), counts[Change.NEW]),
        (_("{count} still there"), counts[Change.STILL]),
        (_("{count} could not be judged this time"), counts[Change.UNKNOWN]),
    ]
    told = _(", ").join(part.format(count=count) for part, count in parts if count)
    return sentences(_("Checked again: {changes}.").format(changes=told), *stays)


def _tone(changed: Sequence[Changed]) -> Tone:
    kinds = {one.change for one in changed}
    if Change.NEW in kinds:
        return Tone.ATTENTION
    return Tone.GOOD if Change.GONE in kinds and Change.STILL not in kinds else Tone.INFO
