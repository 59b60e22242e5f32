"""Knows: the start of the Diagnostics page: the one button, and the results that are kept. Must not know: checks.

Made with the window: nothing of the diagnosis itself is loaded for it.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtCore import QSize, Qt, Signal, Slot
from PySide6.QtGui import QKeyEvent
from PySide6.QtWidgets import QHBoxLayout, QLabel, QListWidgetItem, QSizePolicy, QVBoxLayout, QWidget

from gpumon_gui.core.files import printable
from gpumon_gui.core.messages import _, ngettext
from gpumon_gui.ui import moments
from gpumon_gui.ui.theme import XL, XS, L, M, S, Text, Theme
from gpumon_gui.ui.widgets.accent_button import AccentButton
from gpumon_gui.ui.widgets.button import FlatButton
from gpumon_gui.ui.widgets.message_bar import MessageBar, Tone
from gpumon_gui.ui.widgets.questions import ask_to_delete
from gpumon_gui.ui.widgets.quiet_list import QuietList
from gpumon_gui.ui.widgets.report_buttons import ReportButtons
from gpumon_gui.ui.widgets.section import Card, set_text, wrapped
from gpumon_gui.ui.widgets.tab_order import put_behind

if TYPE_CHECKING:
    from gpumon_gui.diagnosis.ask import Result
    from gpumon_gui.diagnosis.results import Kept

_WIDEST = 860


class _Results(QuietList):
    """Signals:
    removed(): the user wants the current one away.
    """

    removed = Signal()

    def sizeHint(self) -> QSize:
        """As high as its rows."""
        height = sum(self.sizeHintForRow(row) + 2 * self.spacing() for row in range(self.count()))
        return QSize(super().sizeHint().width(), height + self.spacing())

    def minimumSizeHint(self) -> QSize:
        return QSize(super().minimumSizeHint().width(), min(3 * S + 60, self.sizeHint().height()))

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if event.key() == Qt.Key.Key_Delete:
            self.removed.emit()
        else:
            super().keyPressEvent(event)


class Overview(QWidget):
    """Signals:
    run_wanted(): start the wizard.
    open_wanted(object): show a kept result (a :class:`~gpumon_gui.diagnosis.results.Kept`).
    again_wanted(object): check a kept one again.
    forget_wanted(object): delete a kept one.
    """

    run_wanted = Signal()
    open_wanted = Signal(object)
    again_wanted = Signal(object)
    forget_wanted = Signal(object)

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._theme = theme
        self._kept: tuple[Kept, ...] = ()
        self._asked: Kept | None = None  #: to be deleted when the person says so
        self.message = MessageBar(theme, closable=True, parent=self)
        self._title = wrapped(theme, Text.TITLE, parent=self)
        self._text = wrapped(theme, muted=True, parent=self)
        self.run_button = AccentButton(theme, "diagnostics", "", self, large=True)
        self.run_button.clicked.connect(self.run_wanted)
        self._heading = QLabel(self)
        self._heading.setFont(theme.font(Text.SUBTITLE))
        self._empty = wrapped(theme, muted=True, parent=self)
        self.list = _Results(theme, self)
        self.list.setTextElideMode(Qt.TextElideMode.ElideRight)
        self.list.itemActivated.connect(self._on_open)
        self.list.currentRowChanged.connect(self._on_row)
        self.list.removed.connect(self._on_forget)
        self.open_button = FlatButton(theme, "", "", self, framed=True)
        self.again_button = FlatButton(theme, "", "", self, framed=True)
        self.forget_button = FlatButton(theme, "", "", self, framed=True)
        self.open_button.clicked.connect(self._on_open)
        self.again_button.clicked.connect(self._on_again)
        self.forget_button.clicked.connect(self._on_forget)
        self._reports = QVBoxLayout()
        self._reports.setSpacing(0)
        self._card = Card(theme, self)
        self._lay_out()
        self.retranslate()

    def show_kept(self, kept: Sequence[Kept]) -> None:
        """The results, newest first."""
        self._kept = tuple(kept)
        self._fill()

    def say(self, text: str, tone: Tone) -> None:
        """A line above all."""
        self.message.say(text, tone)

    @Slot()
    def retranslate(self) -> None:
        """Write every text again."""
        set_text(self._title, _("Does your code compute on the GPU?"))
        set_text(
            self._text,
            _(
                "GPUMon looks at the driver and at each Python environment, lets PyTorch, TensorFlow, JAX and CuPy "
                "compute for some seconds while it watches from outside, and says what is wrong and what to do. "
                "Nothing is changed on this machine, and nothing leaves it."
            ),
        )
        self.run_button.set_text(_("Run diagnostics"))
        self._heading.setText(_("Last results"))
        set_text(self._empty, _("Results stay here with their date. There are none yet."))
        self.open_button.set_text(_("Open"))
        self.again_button.set_text(_("Check again"))
        self.forget_button.set_text(_("Delete"))
        self.list.setAccessibleName(_("Last results"))
        self.message.retranslate()
        self._fill()

    def _lay_out(self) -> None:
        inner = QWidget(self)
        inner.setMaximumWidth(_WIDEST)
        buttons = QHBoxLayout()
        buttons.setSpacing(S)
        for button in (self.open_button, self.again_button, self.forget_button):
            buttons.addWidget(button)
        buttons.addStretch(1)
        box = QVBoxLayout(self._card)
        box.setContentsMargins(S, S, S, M)
        box.setSpacing(S)
        buttons.setContentsMargins(XS, 0, 0, 0)
        box.addWidget(self.list, 1)
        box.addLayout(buttons)
        box.addLayout(self._reports)
        column = QVBoxLayout(inner)
        column.setContentsMargins(L, M, L, L)
        column.setSpacing(S)
        column.addWidget(self.message)
        column.addWidget(self._title)
        column.addWidget(self._text)
        column.addSpacing(M)
        column.addWidget(self.run_button, 0, Qt.AlignmentFlag.AlignLeft)
        column.addSpacing(XL)
        column.addWidget(self._heading)
        column.addWidget(self._empty)
        self._card.setSizePolicy(QSizePolicy.Policy.Preferred, QSizePolicy.Policy.Maximum)
        column.addWidget(self._card, 1000)
        column.addStretch(1)
        outer = QHBoxLayout(self)
        outer.setContentsMargins(0, 0, 0, 0)
        outer.addWidget(inner, 1000)
        outer.addStretch(1)

    def _fill(self) -> None:
        row = max(0, self.list.currentRow())
        self.list.clear()
        for kept in self._kept:
            self.list.addItem(QListWidgetItem("\n".join(lines_of(kept.result))))
        has = bool(self._kept)
        self._card.setVisible(has)
        self._empty.setVisible(not has)
        self.list.updateGeometry()
        if has:
            self.list.setCurrentRow(min(row, len(self._kept) - 1))
        self._show_reports()

    def _current(self) -> Kept | None:
        row = self.list.currentRow()
        return self._kept[row] if 0 <= row < len(self._kept) else None

    def _show_reports(self) -> None:
        while (item := self._reports.takeAt(0)) is not None:
            widget = item.widget()
            if widget is not None:
                widget.hide()
                widget.deleteLater()
        current = self._current()
        last: QWidget = self.forget_button
        for name in current.result.reports if current is not None else ():
            row = _ReportRow(self._theme, Path(name), self._card)
            put_behind(last, row)
            self._reports.addWidget(row)
            last = row

    @Slot(int)
    def _on_row(self, _row: int) -> None:
        self._show_reports()

    @Slot()
    def _on_open(self) -> None:
        current = self._current()
        if current is not None:
            self.open_wanted.emit(current)

    @Slot()
    def _on_again(self) -> None:
        current = self._current()
        if current is not None:
            self.again_wanted.emit(current)

    @Slot()
    def _on_forget(self) -> None:
        self._asked = self._current()
        if self._asked is not None:
            more = _("A report that was saved of it stays. This cannot be undone.")
            said = "\n".join(lines_of(self._asked.result))
            ask_to_delete(self, _("Delete result"), _("Delete this result?"), f"{said}\n\n{more}", self._on_forget_it)

    @Slot()
    def _on_forget_it(self) -> None:
        if self._asked is not None:
            self.forget_wanted.emit(self._asked)


class _ReportRow(QWidget):
    def __init__(self, theme: Theme, file: Path, parent: QWidget) -> None:
        super().__init__(parent)
        label = wrapped(theme, Text.CAPTION, muted=True, parent=self)
        label.setText(_("Saved report: {file}").format(file=printable(str(file))))
        row = QHBoxLayout(self)
        row.setContentsMargins(0, 0, 0, 0)
        row.addWidget(label, 1)
        row.addWidget(ReportButtons(theme, self, file))


def lines_of(result: Result) -> tuple[str, str]:
    """A result in two lines: when and what was checked; what was found."""
    from gpumon_gui.diagnosis.report.words import FRAMEWORK  # only once there are results

    when = moments.moment(result.time_utc_s, seconds=False)
    count = len(result.ask.environments)
    parts = []
    if result.ask.machine:
        parts.append(ngettext("{count} environment", "{count} environments", count).format(count=count))
    given = result.ask.given
    files = [file for file in (given.facts, *given.logs, given.profile, *given.scripts) if file is not None]
    parts += [printable(file.name) for file in files]
    if given.log_text.strip():
        parts.append(_("pasted text"))
    words = {
        "proven": _("{framework}: proven"),
        "claimed": _("{framework}: not proven"),
        "fails": _("{framework}: cannot use the GPU"),
        "not_measured": _("{framework}: could not be measured"),
    }
    said = [
        words[verdict.verdict.value].format(framework=FRAMEWORK.get(verdict.framework, verdict.framework))
        for verdict in result.diagnosis.verdicts
        if verdict.verdict.value in words
    ]
    acting = sum(finding.severity.value != "info" for finding in result.diagnosis.findings)
    said.append(ngettext("{count} finding", "{count} findings", acting).format(count=acting))
    return f"{when}  ·  {_(', ').join(parts)}", " · ".join(dict.fromkeys(said))
