"""Knows: how the evidence and the advice of one finding are shown. Must not know: how it was found."""

from __future__ import annotations

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QBoxLayout, QGridLayout, QLabel, QVBoxLayout, QWidget

from gpumon_gui.core.messages import _
from gpumon_gui.diagnosis.finding import Finding
from gpumon_gui.ui.theme import XS, L, M, Text, Theme
from gpumon_gui.ui.widgets import watch_texts
from gpumon_gui.ui.widgets.command_box import CommandBox
from gpumon_gui.ui.widgets.section import set_text, wrapped

#: From this width on evidence and advice stand side by side.
_WIDE = 620


class FindingBlock(QWidget):
    """Evidence with its figures, then what to do. New figures of the same finding change the texts alone, so that
    nothing jumps and what is selected stays."""

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._theme = theme
        self._finding: Finding | None = None
        self._built: tuple[object, ...] = ()
        self._evidence = QWidget(self)
        self._evidence_box = QVBoxLayout(self._evidence)
        self._advice = QWidget(self)
        self._advice_box = QVBoxLayout(self._advice)
        for box in (self._evidence_box, self._advice_box):
            box.setContentsMargins(0, 0, 0, 0)
            box.setSpacing(XS)
        self._heads = [QLabel(self._evidence), QLabel(self._advice)]
        for head, box in zip(self._heads, (self._evidence_box, self._advice_box), strict=True):
            head.setFont(theme.font(Text.STRONG))
            box.addWidget(head)
        self._lines: list[tuple[QLabel, QLabel]] = []
        self._steps: list[QLabel] = []
        self.commands: list[CommandBox] = []
        self._parts: list[QWidget] = []
        self._columns = QBoxLayout(QBoxLayout.Direction.TopToBottom, self)
        self._columns.setContentsMargins(0, 0, 0, 0)
        self._columns.setSpacing(M)
        self._columns.addWidget(self._evidence, 2, Qt.AlignmentFlag.AlignTop)
        self._columns.addWidget(self._advice, 3, Qt.AlignmentFlag.AlignTop)

    @property
    def finding(self) -> Finding | None:
        """What is on show."""
        return self._finding

    @property
    def text(self) -> str:
        """Everything it says, as lines of plain text."""
        lines = [f"{name.text()}: {figure.text()}" for name, figure in self._lines]
        steps = [step.text() for step in self._steps]
        return "\n".join([*lines, *steps, *(box.command for box in self.commands)])

    def show_finding(self, finding: Finding) -> None:
        """Show a finding, or its newest figures."""
        self._finding = finding
        built = (
            finding.code,
            finding.subject,
            tuple(one.what for one in finding.evidence),
            tuple((bool(step.command), step.command) for step in finding.advice),
        )
        if built != self._built:
            self._built = built
            self._build(finding)
        self._write()

    def set_wide(self, wide: bool) -> None:
        """Evidence and advice side by side, or one below the other."""
        way = QBoxLayout.Direction.LeftToRight if wide else QBoxLayout.Direction.TopToBottom
        if way != self._columns.direction():
            self._columns.setDirection(way)
            self._columns.setSpacing(L if wide else M)

    def retranslate(self) -> None:
        """Write every text again."""
        for box in self.commands:
            box.retranslate()
        self._write()

    def _write(self) -> None:
        finding = self._finding
        if finding is None:
            return
        seconds = watch_texts.when(finding.evidence)
        words = _("Evidence, of the last {time}").format(time=seconds) if seconds else _("Evidence")
        set_text(self._heads[0], words)
        set_text(self._heads[1], _("What to do"))
        for (name, figure), one in zip(self._lines, finding.evidence, strict=True):
            said, value = watch_texts.evidence(one)
            set_text(name, said)
            set_text(figure, value)
        for number, (label, step) in enumerate(zip(self._steps, finding.advice, strict=True), start=1):
            text = watch_texts.step(step)
            set_text(label, f"{number}. {text}" if len(self._steps) > 1 else text)

    def _build(self, finding: Finding) -> None:
        for part in self._parts:
            part.hide()
            part.deleteLater()
        self._parts, self._lines, self._steps, self.commands = [], [], [], []
        table = QWidget(self._evidence)
        grid = QGridLayout(table)
        grid.setContentsMargins(0, 0, 0, 0)
        grid.setHorizontalSpacing(M)
        grid.setVerticalSpacing(2)
        grid.setColumnStretch(0, 3)
        grid.setColumnStretch(1, 1)
        for row, _one in enumerate(finding.evidence):
            name = wrapped(self._theme, muted=True, parent=table)
            figure = wrapped(self._theme, parent=table)
            grid.addWidget(name, row, 0, Qt.AlignmentFlag.AlignTop)
            grid.addWidget(figure, row, 1, Qt.AlignmentFlag.AlignTop)
            self._lines.append((name, figure))
        self._evidence_box.addWidget(table)
        self._parts.append(table)
        self._evidence.setVisible(bool(finding.evidence))
        for step in finding.advice:
            label = wrapped(self._theme, parent=self._advice)
            self._advice_box.addWidget(label)
            self._steps.append(label)
            self._parts.append(label)
            if step.command:
                box = CommandBox(self._theme, step.command, self._advice)
                self._advice_box.addWidget(box)
                self.commands.append(box)
                self._parts.append(box)
        self._advice.setVisible(bool(finding.advice))

    def resizeEvent(self, event: object) -> None:
        """One column or two."""
        self.set_wide(self.width() >= _WIDE)
