"""Knows: the Diagnostics page: the overview, and the wizard in its place while it is used. Must not know: checks.

The wizard and with it all of the diagnosis is made when it is first wanted.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtCore import Qt, Signal, Slot
from PySide6.QtWidgets import QStackedWidget, QVBoxLayout, QWidget

from gpumon_gui.bridge.diagnosis_files import DiagnosisFiles, Stored
from gpumon_gui.bridge.diagnosis_job import DiagnosisJob
from gpumon_gui.bridge.feed import Feed
from gpumon_gui.bridge.settings import Settings
from gpumon_gui.core.messages import _
from gpumon_gui.core.redact import Private
from gpumon_gui.settings.option import MOST_TEXTS
from gpumon_gui.ui.pages.overview import Overview
from gpumon_gui.ui.theme import L, S, Theme
from gpumon_gui.ui.widgets.message_bar import Tone
from gpumon_gui.ui.widgets.section import Banner, wrapped

if TYPE_CHECKING:
    from gpumon_gui.diagnosis.ask import Result
    from gpumon_gui.diagnosis.results import Kept
    from gpumon_gui.ui.wizard.wizard import Wizard


_ADDED, _LEFT_OUT = "diagnostics.interpreters", "diagnostics.left_out"
#: Loaded beside the GUI thread before the wizard is made.
_PARTS = (
    "gpumon_gui.diagnosis.checking",
    "gpumon_gui.diagnosis.report.document",
    "gpumon_gui.ui.wizard.wizard",
)


class DiagnosticsPage(QWidget):
    """Signals:
    prepared(): everything that a diagnosis needs is loaded.
    """

    prepared = Signal()

    def __init__(self, feed: Feed, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._feed = feed
        self._theme = theme
        self._settings: Settings | None = None
        self._is_elsewhere = self._is_loaded = self._is_prepared = False
        self._waiting: list[Callable[[], None]] = []
        self._kept: tuple[Kept, ...] = ()
        self.job = DiagnosisJob(self)
        self.files = DiagnosisFiles(None, self)
        self.wizard: Wizard | None = None
        self.whose = Banner(theme, self)
        self.whose.setMinimumHeight(self.fontMetrics().height() + 2 * S)  # its hint is for a narrow column
        self.overview = Overview(theme, self)
        self.stack = QStackedWidget(self)
        self.stack.addWidget(self.overview)
        self._patience = wrapped(theme, muted=True, parent=self)
        self._patience.setAlignment(Qt.AlignmentFlag.AlignCenter)
        self.stack.addWidget(self._patience)
        box = QVBoxLayout(self)
        box.setContentsMargins(0, 0, 0, 0)
        bar = QVBoxLayout()
        bar.setContentsMargins(L, 0, L, 0)
        bar.addWidget(self.whose)
        box.addLayout(bar)
        box.addWidget(self.stack, 1)
        self.overview.run_wanted.connect(self.run)
        self.overview.open_wanted.connect(self._on_open)
        self.overview.again_wanted.connect(self._on_again)
        self.overview.forget_wanted.connect(self._on_forget)
        self._watch_job()
        self._watch_files()
        self.retranslate()

    # -- what others use

    def set_folder(self, folder: Path | None, *, private: Private | None = None) -> None:
        """Where results are kept (None: nowhere). Before the first use."""
        self.files.close()
        self.files.deleteLater()
        self.files = DiagnosisFiles(folder, self, private=private)
        self._watch_files()

    def set_job(self, job: DiagnosisJob) -> None:
        """What checks; the page owns it from now on. Before the first use."""
        self.job.deleteLater()
        self.job = job
        job.setParent(self)
        self._watch_job()

    def bind_settings(self, settings: Settings) -> None:
        """Interpreters added by hand and the limits of the proof come from there."""
        self._settings = settings
        settings.changed.connect(self._on_setting)

    @Slot()
    def run(self) -> None:
        """Start the wizard; a check that runs stays on show."""
        self.run_for(None, "")

    def run_for(self, pid: int | None, name: str) -> None:
        """Start the wizard with one process chosen."""
        self._when_ready(partial(self._begin, pid, name))

    @Slot()
    def show_overview(self) -> None:
        """Leave the wizard."""
        self.stack.setCurrentWidget(self.overview)
        self.overview.run_button.setFocus()

    # -- what the window calls

    def activate(self) -> None:
        """The page comes on show."""
        if not self._is_loaded:
            self._is_loaded = True
            self.files.load()
            self.job.prepare(_PARTS)
        self.refresh()

    def refresh(self) -> None:
        """Show the newest sample: of interest is which programs run."""
        sample = self._feed.latest
        if self.wizard is not None and sample is not None and not self._is_elsewhere:
            self.wizard.show_processes(sample.processes)

    def set_elsewhere(self) -> None:
        """The samples are not of this machine and moment: their processes cannot be diagnosed, and what stands here is
        of another machine."""
        self._is_elsewhere = True
        self._tell_whose()
        if self.wizard is not None:
            self.wizard.set_elsewhere()

    @Slot()
    def retranslate(self) -> None:
        """Write every text again."""
        self.overview.retranslate()
        self._patience.setText(_("Getting ready…"))
        self._tell_whose()
        if self.wizard is not None:
            self.wizard.retranslate()

    def close_tasks(self) -> bool:
        """End the threads; False when one does not end in time."""
        ended = (self.job.close(), self.files.close())
        return all(ended)

    # -- inside

    def _tell_whose(self) -> None:
        if self._is_elsewhere:
            self.whose.say(
                "info",
                _("What stands here is about the computer that GPUMon runs on, not about what the other pages show."),
            )

    def _when_ready(self, act: Callable[[], None]) -> None:
        """Do it with a wizard: at once, or when all that it needs is loaded."""
        if self.wizard is not None or self._is_prepared:
            act()
            return
        self._waiting = [act]
        self.stack.setCurrentWidget(self._patience)
        if not self._is_loaded:
            self.activate()

    @Slot()
    def _on_prepared(self) -> None:
        self._is_prepared = True
        self.prepared.emit()
        waiting, self._waiting = self._waiting, []
        if waiting:
            self.stack.setCurrentWidget(self.overview)  # it stays there if what was waited for cannot be loaded
        for act in waiting:
            act()

    def _begin(self, pid: int | None, name: str) -> None:
        wizard = self._made_wizard()
        self.stack.setCurrentWidget(wizard)
        wizard.begin(self._texts(_ADDED), pid, name, self._texts(_LEFT_OUT))
        self.refresh()

    def _open(self, result: Result) -> None:
        wizard = self._made_wizard()
        self.stack.setCurrentWidget(wizard)
        wizard.show_result(result)

    def _again(self, result: Result) -> None:
        wizard = self._made_wizard()
        self.stack.setCurrentWidget(wizard)
        wizard.check_again(result)

    def _made_wizard(self) -> Wizard:
        if self.wizard is None:
            from gpumon_gui.ui.wizard.wizard import Wizard

            wizard = self.wizard = Wizard(self._theme, self.job, self.files, self)
            wizard.closed.connect(self.show_overview)
            wizard.made.connect(self._on_made)
            wizard.interpreter_added.connect(self._on_interpreter)
            wizard.left_out.connect(self._on_left_out)
            if self._is_elsewhere:
                wizard.set_elsewhere()
            self.stack.addWidget(wizard)
            self._tell_proof()
        return self.wizard

    def _texts(self, key: str) -> tuple[str, ...]:
        return () if self._settings is None else self._settings.values.texts(key)

    def _tell_proof(self) -> None:
        if self.wizard is None or self._settings is None:
            return
        from gpumon_gui.diagnosis.ask import Proving

        values = self._settings.values
        seconds = values.number("diagnostics.proof_seconds")
        share = values.number("diagnostics.proof_memory_percent") / 100
        self.wizard.set_proving(values.flag("diagnostics.proof"), Proving(seconds, share))

    def _watch_job(self) -> None:
        self.job.prepared.connect(self._on_prepared)

    def _watch_files(self) -> None:
        self.files.stored.connect(self._on_stored)
        self.files.failed.connect(self._on_failed)

    def _file_of(self, result: Result) -> Path | None:
        return next((kept.file for kept in self._kept if kept.result.time_utc_s == result.time_utc_s), None)

    @Slot(str)
    def _on_setting(self, key: str) -> None:
        if key.startswith("diagnostics.proof"):
            self._tell_proof()

    @Slot(str)
    def _on_interpreter(self, path: str) -> None:
        if self._settings is not None:
            self._settings.set(_ADDED, (*self._texts(_ADDED), path))

    @Slot(tuple)
    def _on_left_out(self, paths: tuple[str, ...]) -> None:
        """The next check proposes what this one was about."""
        if self._settings is not None:
            self._settings.set(_LEFT_OUT, paths[:MOST_TEXTS])

    @Slot(object)
    def _on_stored(self, stored: Stored) -> None:
        self._kept = stored.kept
        self.overview.show_kept(stored.kept)
        if stored.faults:
            self.overview.say("\n".join(stored.faults), Tone.ATTENTION)

    @Slot(str)
    def _on_failed(self, text: str) -> None:
        self.overview.say(text, Tone.ATTENTION)
        if self.wizard is not None:
            self.wizard.message.say(text, Tone.ATTENTION)

    @Slot(object, object)
    def _on_made(self, result: Result, before: Result | None) -> None:
        """A part that was checked again takes the place of the whole it belongs to."""
        self.files.keep(result, None if before is None else self._file_of(before))

    @Slot(object)
    def _on_open(self, kept: Kept) -> None:
        self._when_ready(partial(self._open, kept.result))

    @Slot(object)
    def _on_again(self, kept: Kept) -> None:
        self._when_ready(partial(self._again, kept.result))

    @Slot(object)
    def _on_forget(self, kept: Kept) -> None:
        self.files.forget(kept.file)
