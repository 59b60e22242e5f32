"""Knows: how the evidence and the advice of one finding are shown, copied and explained. Must not know: how it was
found, where it is said."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from PySide6.QtCore import Qt, Signal, Slot
from PySide6.QtWidgets import QBoxLayout, QGridLayout, QHBoxLayout, QLabel, QVBoxLayout, QWidget

from gpumon_gui.core.messages import _
from gpumon_gui.ui.theme import XS, L, M, S, Text, Theme
from gpumon_gui.ui.widgets.button import FlatButton
from gpumon_gui.ui.widgets.command_box import CommandBox
from gpumon_gui.ui.widgets.section import set_text, wrapped
from gpumon_gui.ui.widgets.spoken_card import SpokenCard
from gpumon_gui.ui.widgets.tab_order import put_behind

#: Severity of a finding → its mark.
MARK: Final[dict[str, str]] = {"blocks": "bad", "crashes": "bad", "slows": "attention", "info": "info"}
#: From this width on evidence and advice stand side by side.
_WIDE = 540
#: Evidence has at most this share of the width then, and what long figures are called this share of theirs.
_MOST_EVIDENCE = 0.46
_NAME_BESIDE_LONG = 0.4
#: Figures of so many letters are long.
_LONG = 24


@dataclass(frozen=True, slots=True)
class Line:
    """One piece of evidence: what it is called, its figure, and where and when it is from."""

    name: str
    figure: str
    source: str


@dataclass(frozen=True, slots=True)
class Shown:
    """A finding in words: ``code`` of its rule, ``steps`` are advice and the command to it (empty for none)."""

    code: str
    subject: str
    evidence: tuple[Line, ...]
    steps: tuple[tuple[str, str], ...]


class FindingBlock(QWidget):
    """Evidence with its figures, what to do, and the way to how it was decided. New figures of the same finding change
    the texts alone, so that nothing jumps and what is selected stays.

    ``has_columns``: where there is room, evidence and advice stand side by side. ``buttons`` is for
    further buttons.

    Signals:
        help_wanted(str): how the rule with this code decides shall be shown.
    """

    help_wanted = Signal(str)

    def __init__(self, theme: Theme, parent: QWidget | None = None, *, has_columns: bool = True) -> None:
        super().__init__(parent)
        self._theme = theme
        self._has_columns = has_columns
        self._shown: Shown | None = None
        self._built: tuple[object, ...] = ()
        self.evidence, self.advice = SpokenCard(theme, self, bare=True), SpokenCard(theme, self, bare=True)
        self._boxes: list[QVBoxLayout] = []
        self._heads: list[QLabel] = []
        for part in (self.evidence, self.advice):
            box = QVBoxLayout(part)
            box.setContentsMargins(XS, XS, XS, XS)  # the ring stands around
            box.setSpacing(XS)
            head = QLabel(part)
            head.setFont(theme.font(Text.STRONG))
            box.addWidget(head)
            self._boxes.append(box)
            self._heads.append(head)
        self._grid: QGridLayout | None = None
        self._lines: list[tuple[QLabel, QLabel, QLabel]] = []
        self._steps: list[QLabel] = []
        self.commands: list[CommandBox] = []
        self._parts: list[QWidget] = []
        self.help_button = FlatButton(theme, "info", "", self, framed=True)
        self.help_button.clicked.connect(self._on_help)
        self._columns = QBoxLayout(QBoxLayout.Direction.TopToBottom)
        self._columns.setSpacing(S)
        self._columns.addWidget(self.evidence, 0, Qt.AlignmentFlag.AlignTop)
        self._columns.addWidget(self.advice, 0, Qt.AlignmentFlag.AlignTop)
        self.buttons = QHBoxLayout()
        self.buttons.setContentsMargins(XS, 0, 0, 0)
        self.buttons.setSpacing(S)
        self.buttons.addWidget(self.help_button)
        self.buttons.addStretch(1)
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(S)
        column.addLayout(self._columns)
        column.addLayout(self.buttons)
        self.retranslate()

    def add_below_evidence(self, widget: QWidget) -> None:
        """Something that leads on from the evidence."""
        self._boxes[0].addWidget(widget, 0, Qt.AlignmentFlag.AlignLeft)

    @property
    def text(self) -> str:
        """Everything it says, as lines of plain text."""
        return "\n".join(text for text in (self._evidence_text(), self._advice_text()) if text)

    def show_finding(self, shown: Shown) -> None:
        """Show a finding, or its newest figures."""
        self._shown = shown
        names, commands = tuple(one.name for one in shown.evidence), tuple(command for _text, command in shown.steps)
        built = (shown.code, shown.subject, len(names), commands)
        if built != self._built:
            self._built = built
            self._build(shown)
        self._write()

    @Slot()
    def retranslate(self) -> None:
        """Write every text again that is not the finding's."""
        self._heads[0].setText(_("Evidence"))
        self._heads[1].setText(_("What to do"))
        self.help_button.set_text(_("How this was decided"))
        for part in (self.evidence, self.advice):
            part.setAccessibleDescription(_("Ctrl+C copies this text."))
        for box in self.commands:
            box.retranslate()

    def _write(self) -> None:
        shown = self._shown
        if shown is None:
            return
        evidence = _by_source(shown.evidence)
        last = len(evidence) - 1
        for number, ((name, figure, source), one) in enumerate(zip(self._lines, evidence, strict=True)):
            set_text(name, one.name)
            set_text(figure, one.figure)
            set_text(source, one.source)
            is_told = number == last or evidence[number + 1].source != one.source
            source.setContentsMargins(0, 0, 0, 0 if number == last else S)
            source.setVisible(is_told and bool(one.source))
        self._fit()
        for number, (label, (text, _command)) in enumerate(zip(self._steps, shown.steps, strict=True), start=1):
            set_text(label, f"{number}. {text}" if len(self._steps) > 1 else text)
        for part, head, said in zip(
            (self.evidence, self.advice), self._heads, (self._evidence_text(), self._advice_text()), strict=True
        ):
            part.set_spoken(said, f"{head.text()}. {said}")

    def _evidence_text(self) -> str:
        shown = self._shown
        lines = [(f"{one.name}: {one.figure}", one.source) for one in shown.evidence] if shown is not None else []
        return "\n".join(f"{said} ({source})" if source else said for said, source in lines)

    def _advice_text(self) -> str:
        steps = self._shown.steps if self._shown is not None else ()
        return "\n".join(line for step in steps for line in step if line)

    def _build(self, shown: Shown) -> None:
        for part in self._parts:
            part.hide()
            part.deleteLater()
        self._parts, self._lines, self._steps, self.commands = [], [], [], []
        table = QWidget(self.evidence)
        grid = QGridLayout(table)
        grid.setContentsMargins(0, 0, 0, 0)
        grid.setHorizontalSpacing(M)
        grid.setVerticalSpacing(2)
        grid.setColumnStretch(1, 1)
        self._grid = grid
        for row in range(len(shown.evidence)):
            name = wrapped(self._theme, muted=True, parent=table)
            figure = wrapped(self._theme, parent=table)
            source = wrapped(self._theme, Text.CAPTION, muted=True, parent=table)
            grid.addWidget(name, 2 * row, 0, Qt.AlignmentFlag.AlignTop)
            grid.addWidget(figure, 2 * row, 1, Qt.AlignmentFlag.AlignTop)
            grid.addWidget(source, 2 * row + 1, 0, 1, 2, Qt.AlignmentFlag.AlignTop)
            self._lines.append((name, figure, source))
        self._boxes[0].insertWidget(1, table)
        self._parts.append(table)
        self.evidence.setVisible(bool(shown.evidence))
        for _text, command in shown.steps:
            label = wrapped(self._theme, parent=self.advice)
            self._boxes[1].addWidget(label)
            self._steps.append(label)
            self._parts.append(label)
            if command:
                box = CommandBox(self._theme, command, self.advice)
                self._boxes[1].addWidget(box)
                self.commands.append(box)
                self._parts.append(box)
        self.advice.setVisible(bool(shown.steps))
        put_behind(self.evidence, self.advice, self.help_button)

    @Slot()
    def _on_help(self) -> None:
        if self._shown is not None:
            self.help_wanted.emit(self._shown.code)

    def resizeEvent(self, event: object) -> None:
        """One column or two."""
        wide = self._has_columns and self.width() >= _WIDE
        way = QBoxLayout.Direction.LeftToRight if wide else QBoxLayout.Direction.TopToBottom
        if way != self._columns.direction():
            self._columns.setDirection(way)
            self._columns.setSpacing(L if wide else S)
        self._fit()

    def _fit(self) -> None:
        """The figures stand close to what they are called, in one line if they are short; evidence is no wider than it
        has to be beside the advice."""
        if self._grid is None or self._shown is None:
            return
        is_wide = self._columns.direction() == QBoxLayout.Direction.LeftToRight
        names, figures = (max((_width(line[column]) for line in self._lines), default=0) + 2 for column in (0, 1))
        is_long = any(len(one.figure) > _LONG for one in self._shown.evidence)
        room = self.width() - 2 * XS
        if is_wide:
            most = round(self.width() * _MOST_EVIDENCE)
            evidence = most if is_long else min(most, names + M + figures + 2 * XS)
            self._columns.setStretch(0, evidence)
            self._columns.setStretch(1, self.width() - L - evidence)
            room = evidence - 2 * XS
        width = min(names, round(room * _NAME_BESIDE_LONG) if is_long else room - M - figures)
        if width != self._grid.columnMinimumWidth(0):
            self._grid.setColumnMinimumWidth(0, width)


def _by_source(evidence: tuple[Line, ...]) -> list[Line]:
    """Those from one source together, so that it is said once below them."""
    order = list(dict.fromkeys(one.source for one in evidence))
    return sorted(evidence, key=lambda one: order.index(one.source))


def _width(label: QLabel) -> int:
    return label.fontMetrics().horizontalAdvance(label.text())
