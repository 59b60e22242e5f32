"""Knows: the way through the wizard: what to check, running, findings, report, and the buttons below.
Must not know: what the pages show, where results are kept."""

from __future__ import annotations

from collections.abc import Iterable
from functools import partial
from pathlib import Path

from PySide6.QtCore import QEvent, QObject, QStandardPaths, Qt, Signal, Slot
from PySide6.QtGui import QKeyEvent
from PySide6.QtWidgets import QHBoxLayout, QLabel, QStackedWidget, QVBoxLayout, QWidget

from gpumon_gui.bridge.diagnosis_files import DiagnosisFiles, Preview, Saved, with_report
from gpumon_gui.bridge.diagnosis_job import DiagnosisJob, Environments, Outcome
from gpumon_gui.core.files import printable
from gpumon_gui.core.messages import N_, _, ngettext
from gpumon_gui.core.model import ProcessSample
from gpumon_gui.diagnosis.ask import Proving, Result
from gpumon_gui.diagnosis.checking import Step
from gpumon_gui.ui.announce import announce
from gpumon_gui.ui.theme import L, S, Text, Theme
from gpumon_gui.ui.widgets.accent_button import AccentButton
from gpumon_gui.ui.widgets.button import FlatButton
from gpumon_gui.ui.widgets.help_page import HelpPage
from gpumon_gui.ui.widgets.message_bar import MessageBar, Tone
from gpumon_gui.ui.widgets.questions import file_dialog
from gpumon_gui.ui.wizard.choose_page import ChoosePage
from gpumon_gui.ui.wizard.findings_page import FindingsPage
from gpumon_gui.ui.wizard.report_page import ReportPage
from gpumon_gui.ui.wizard.running_page import RunningPage

CHOOSE, RUNNING, FINDINGS, REPORT, HELP = range(5)
_TITLES = (N_("What to check"), N_("Checking"), N_("Findings"), N_("Report"), N_("How this was decided"))
_STEPS = 4
_CANCELLED = N_("Cancelled. Nothing of it is left running.")
_ENDING = N_("Cancelled. Its last step still runs to its end; nothing of it is used.")


class Wizard(QWidget):
    """Lives in the GUI thread; uses a job and files that belong to the page.

    Signals:
        closed(): the person is done with it.
        made(object, object): a new result, and the one that it was made from by checking a part of it again (or None).
        left_out(tuple): a check begins; the paths of the environments that are not ticked.
        interpreter_added(str): a path to keep in the settings.
    """

    closed = Signal()
    made = Signal(object, object)
    left_out = Signal(tuple)
    interpreter_added = Signal(str)

    def __init__(self, theme: Theme, job: DiagnosisJob, files: DiagnosisFiles, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._theme = theme
        self._job = job
        self._files = files
        self._pythons: tuple[str, ...] = ()
        self._started_from = CHOOSE
        self._reason = Qt.FocusReason.OtherFocusReason  #: the ring is for those who work by keyboard
        self._title = QLabel(self)
        self._title.setFont(theme.font(Text.SUBTITLE))
        self._step = QLabel(self)
        self._step.setFont(theme.font(Text.CAPTION))
        self.message = MessageBar(theme, closable=True, parent=self)
        self.choose = ChoosePage(theme, self)
        self.running = RunningPage(theme, self)
        self.findings = FindingsPage(theme, self)
        self.report = ReportPage(theme, self)
        self.help = HelpPage(theme, self)
        self.stack = QStackedWidget(self)
        for page in (self.choose, self.running, self.findings, self.report, self.help):
            self.stack.addWidget(page)
        self.back_button = FlatButton(theme, "", "", self, framed=True)
        self.again_button = FlatButton(theme, "", "", self, framed=True)
        self.next_button = AccentButton(theme, "", "", self)
        self.back_button.clicked.connect(self.go_back)
        self.again_button.clicked.connect(self._on_again)
        self.next_button.clicked.connect(self.go_on)
        for button in (self.back_button, self.again_button, self.next_button):
            button.installEventFilter(self)
        self._lay_out()
        self._connect()
        self._show(CHOOSE)

    # -- what the page calls

    @property
    def page(self) -> int:
        """Which page is on show: CHOOSE …"""
        return self.stack.currentIndex()

    def begin(
        self, pythons: tuple[str, ...], pid: int | None = None, name: str = "", left_out: tuple[str, ...] = ()
    ) -> None:
        """A new round: everything that is found is proposed but ``left_out`` (paths), or the environment of one
        process."""
        if self._job.is_running:
            self._show(RUNNING)
            return
        self._pythons = pythons
        self.message.hide()
        self.choose.begin(pid, name, left_out)
        self._job.find(pythons)
        self._show(CHOOSE)

    def set_proving(self, is_on: bool, proving: Proving) -> None:
        """What the settings say of the proof."""
        self.choose.set_proving(is_on, proving)

    def show_result(self, result: Result) -> None:
        """Open a result that was kept."""
        self.message.hide()
        self.findings.show_result(result)
        self._show(FINDINGS)

    def check_again(self, result: Result, subject: str | None = None) -> None:
        """Look again at what a result is about, or at one subject of it."""
        if self._job.is_running:
            self._show(RUNNING)
            return
        if self.findings.result is not result:
            self.findings.show_result(result)
        self._begin_running(FINDINGS)
        self.running.begin(result.ask)
        self._job.check_again(result, subject)

    def show_processes(self, processes: Iterable[ProcessSample]) -> None:
        """The programs that run now."""
        if self.page == CHOOSE:
            self.choose.show_processes(processes)

    def set_elsewhere(self) -> None:
        """The window shows another machine or another time."""
        self.choose.set_elsewhere()

    @Slot()
    def retranslate(self) -> None:
        """Write every text again."""
        for page in (self.choose, self.running, self.findings, self.report, self.help):
            page.retranslate()
        self.message.retranslate()
        self._label()
        if self.page == REPORT:
            self._preview()

    # -- buttons

    @Slot()
    def go_on(self) -> None:
        """The button that leads on."""
        if self.page == CHOOSE:
            self.start()
        elif self.page == FINDINGS:
            self.report.begin()
            self._show(REPORT)
            self._preview()
        elif self.page == REPORT:
            self._ask_file()

    @Slot()
    def go_back(self) -> None:
        """One page back, or out."""
        if self.page in (REPORT, HELP):
            self._show(FINDINGS)
        elif self.page == FINDINGS or self.page == CHOOSE:
            self.closed.emit()
        else:
            self._cancel()

    def start(self) -> None:
        """Begin the check of what is chosen."""
        ask = self.choose.ask
        if ask.is_empty or not self.choose.given.is_sorted or self._job.is_running:
            return
        self.message.hide()
        self._begin_running(CHOOSE)
        self.running.begin(ask)
        if ask.environments:
            self.left_out.emit(self.choose.left_out())
        self._job.check(ask)

    @Slot()
    def _on_again(self) -> None:
        if self.findings.result is not None:
            self.check_again(self.findings.result)

    @Slot(str)
    def _on_check_wanted(self, subject: str) -> None:
        if self.findings.result is not None:
            self.check_again(self.findings.result, subject)

    def _cancel(self) -> None:
        if self._job.is_running:
            self.running.show_cancelling()
            self.back_button.setEnabled(False)
            self._job.cancel()

    def _begin_running(self, started_from: int) -> None:
        self._started_from = started_from
        self._show(RUNNING)

    # -- what comes back

    @Slot(object)
    def _on_found(self, environments: Environments) -> None:
        self.choose.show_environments(environments)

    @Slot(object)
    def _on_stepped(self, step: Step) -> None:
        self.running.show_step(step)

    @Slot(object)
    def _on_ended(self, outcome: Outcome) -> None:
        self.running.end()
        if outcome.result is not None:
            self.findings.show_result(outcome.result, outcome.before, outcome.subject)
            self._show(FINDINGS)
            if outcome.before is None and self.isVisible():
                announce(self, self.findings.summary)
            self.made.emit(outcome.result, outcome.before if outcome.subject is not None else None)
            return
        self._show(self._started_from)
        if outcome.fault:
            self.message.say(outcome.fault, Tone.BAD)
        elif outcome.is_ending:
            self.message.say(_(_ENDING), Tone.INFO)
        else:
            self.message.say(_(_CANCELLED), Tone.INFO)
        if self._started_from == CHOOSE and not self.choose.is_whole:
            self._on_search()  # the check had to interrupt it

    @Slot()
    def _on_settled(self) -> None:
        if self.message.text == _(_ENDING):
            self.message.say(_(_CANCELLED), Tone.INFO)

    @Slot(str)
    def _on_help(self, code: str) -> None:
        self.help.show_rule(code, partial(self.findings.title_of, code))
        self._show(HELP)

    @Slot()
    def _on_search(self) -> None:
        self.choose.show_searching()
        self._job.find(self._pythons)

    @Slot(str)
    def _on_added(self, path: str) -> None:
        self._pythons = tuple(dict.fromkeys((*self._pythons, path)))
        self.interpreter_added.emit(path)
        self._on_search()

    @Slot(tuple)
    def _on_files_added(self, paths: tuple[Path, ...]) -> None:
        self._job.sort(paths)

    @Slot(object, str)
    def _on_file_sorted(self, path: Path, kind: str) -> None:
        before = self.choose.given.set_kind(path, kind)
        if before is not None:
            said = _("{file} is judged instead of {other}: of this kind only one file at a time can be.")
            self.message.say(said.format(file=printable(path.name), other=printable(before.name)), Tone.ATTENTION)

    @Slot(object, str)
    def _on_file_refused(self, path: Path, fault: str) -> None:
        if self.choose.given.refuse(path):
            self.message.say(fault, Tone.BAD)

    @Slot()
    def _on_choice(self) -> None:
        if self.page == CHOOSE:
            self._label()

    # -- the report

    @Slot(str)
    def _on_form(self, _suffix: str) -> None:
        self._preview()

    def _preview(self) -> None:
        if self.findings.result is not None:
            self._files.preview(self.findings.result, self.report.suffix)

    @Slot(object)
    def _on_previewed(self, preview: Preview) -> None:
        if self._is_on_show(preview.result):
            self.report.show_preview(preview)

    def _ask_file(self) -> None:
        folder = QStandardPaths.writableLocation(QStandardPaths.StandardLocation.DocumentsLocation) or "."
        suffix = self.report.suffix
        dialog = file_dialog(self, _("Save report"), str(Path(folder) / f"gpumon-report{suffix}"), saves=True)
        dialog.setDefaultSuffix(suffix.removeprefix("."))
        dialog.setNameFilter(f"{suffix.removeprefix('.').upper()} (*{suffix})")
        dialog.fileSelected.connect(self.save_as)
        dialog.open()

    @Slot(str)
    def save_as(self, name: str) -> None:
        """Write the report; the form is the one chosen, whatever the name ends in."""
        if self.findings.result is None:
            return
        self._files.save(self.findings.result, Path(name), (self.report.suffix,))

    @Slot(object)
    def _on_saved(self, saved: Saved) -> None:
        if self._is_on_show(saved.result):
            self.report.tell_saved(str(saved.file), saved.fault)
            if not saved.fault and self.findings.result is not None:
                self.findings.result = with_report(self.findings.result, saved.file)
        elif saved.fault:
            self.message.say(saved.fault, Tone.BAD)
        else:
            self.message.say(_("Saved as {file}.").format(file=printable(str(saved.file))), Tone.GOOD)

    def _is_on_show(self, result: Result) -> bool:
        """An answer may be late: it is about the result that it was asked for, known by its time."""
        shown = self.findings.result
        return shown is not None and shown.time_utc_s == result.time_utc_s

    # -- frame

    def _lay_out(self) -> None:
        head = QHBoxLayout()
        head.setContentsMargins(L, 0, L, 0)
        head.addWidget(self._title)
        head.addStretch(1)
        head.addWidget(self._step)
        bars = QVBoxLayout()
        bars.setContentsMargins(L, 0, L, 0)
        bars.addWidget(self.message)
        foot = QHBoxLayout()
        foot.setContentsMargins(L, S, L, S)
        foot.setSpacing(S)
        foot.addWidget(self.back_button)
        foot.addStretch(1)
        foot.addWidget(self.again_button)
        foot.addWidget(self.next_button)
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(S)
        column.addLayout(head)
        column.addLayout(bars)
        column.addWidget(self.stack, 1)
        column.addLayout(foot)

    def _connect(self) -> None:
        self._job.found.connect(self._on_found)
        self._job.stepped.connect(self._on_stepped)
        self._job.ended.connect(self._on_ended)
        self._job.settled.connect(self._on_settled)
        self._job.file_sorted.connect(self._on_file_sorted)
        self._job.file_refused.connect(self._on_file_refused)
        self._files.previewed.connect(self._on_previewed)
        self._files.saved.connect(self._on_saved)
        self.choose.changed.connect(self._on_choice)
        self.choose.search_wanted.connect(self._on_search)
        self.choose.interpreter_added.connect(self._on_added)
        self.choose.given.files_added.connect(self._on_files_added)
        self.findings.help_wanted.connect(self._on_help)
        self.findings.check_wanted.connect(self._on_check_wanted)
        self.report.form_chosen.connect(self._on_form)

    def _show(self, page: int) -> None:
        self.stack.setCurrentIndex(page)
        self.next_button.setEnabled(True)
        self.back_button.setEnabled(True)
        self._label()
        if not self.isVisible():
            return
        if page == CHOOSE:
            self.next_button.setFocus(self._reason)
        elif page == RUNNING:  # not the Cancel: Enter is hit twice as a button is
            by_keyboard = self._reason is Qt.FocusReason.TabFocusReason
            (self.running.tree if by_keyboard else self.running).setFocus(self._reason)
        elif page == FINDINGS:
            self.findings.focus_first(self._reason)
        elif page == REPORT:
            self.report.forms[self.report.suffix].setFocus(self._reason)
        else:
            self.help.setFocus(self._reason)

    def _label(self) -> None:
        page = self.page
        self._title.setText(_(_TITLES[page]))
        number = min(page, FINDINGS if page == HELP else page) + 1
        self._step.setText(_("Step {number} of {count}").format(number=number, count=_STEPS))
        backs = {CHOOSE: _("Overview"), FINDINGS: _("Overview"), RUNNING: _("Cancel")}
        self.back_button.set_text(backs.get(page, _("Back")))
        self.again_button.setVisible(page == FINDINGS)
        self.again_button.set_text(_("Check again"))
        # Cancel stands elsewhere: a second click on the button that starts must not be one.
        self.next_button.setVisible(page not in (RUNNING, HELP))
        if page == CHOOSE:
            self.next_button.set_text(self._start_text())
            self.next_button.setEnabled(self.choose.given.is_sorted)
        else:
            labels = {FINDINGS: _("Save report…"), REPORT: _("Save…")}
            self.next_button.set_text(labels.get(page, ""))

    def _start_text(self) -> str:
        ask = self.choose.ask
        count = len(ask.environments)
        if not ask.machine:
            return _("Judge what is given")
        if not count:
            return _("Check this machine") if ask.pid is None else _("Check the program's environment")
        return ngettext("Check {count} environment", "Check {count} environments", count).format(count=count)

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """Whether a page is left by a key or by the mouse."""
        if event.type() == QEvent.Type.KeyPress:
            self._reason = Qt.FocusReason.TabFocusReason
        elif event.type() == QEvent.Type.MouseButtonPress:
            self._reason = Qt.FocusReason.OtherFocusReason
        return super().eventFilter(watched, event)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        self._reason = Qt.FocusReason.TabFocusReason
        if event.key() == Qt.Key.Key_Escape and not event.modifiers():
            self.go_back()
        elif event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter) and self.page == CHOOSE:
            self.start()
        else:
            super().keyPressEvent(event)
