"""Knows: how what a watch found becomes a report in a file. Must not know: panels, how a report is written."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from PySide6.QtCore import QObject, QStandardPaths, Slot

from gpumon_gui.bridge.diagnosis_files import DiagnosisFiles, Saved
from gpumon_gui.bridge.watching import Watched
from gpumon_gui.core.files import printable
from gpumon_gui.core.messages import _
from gpumon_gui.ui.main_window import MainWindow
from gpumon_gui.ui.widgets import watch_texts
from gpumon_gui.ui.widgets.message_bar import Tone
from gpumon_gui.ui.widgets.questions import file_dialog

if TYPE_CHECKING:
    from gpumon_gui.diagnosis.ask import Result
    from gpumon_gui.diagnosis.behaviour.watcher import Verdict


def result_of(watched: Watched, verdict: Verdict) -> Result:
    """What is known now, in the form that reports are made from."""
    from gpumon_gui.diagnosis.ask import Ask, Result  # only for who saves a report
    from gpumon_gui.diagnosis.report.watch import turn_facts

    facts: dict[str, Any] = {
        "mode": "pid",
        "pid": watched.program.pid,
        "ended": watched.ended,
        "seconds": round(watched.seen_s, 2),
        "stable": verdict.stable,
        "steady_s": round(verdict.steady_s, 2),
        "turns": [turn_facts(turn, watched.since_utc_s, watch_texts.turn_sentence(turn)) for turn in verdict.history],
    }
    if watched.run_s is not None:
        facts["run_s"] = round(watched.run_s, 1)
    behaviour = verdict.behaviour
    document = replace(behaviour.document, facts={**behaviour.document.facts, "watch": facts})
    return Result(Ask(), document, behaviour.diagnosis, watched.since_utc_s + watched.seen_s)


class WatchReport(QObject):
    """Asks for a file and has it written. Lives in the GUI thread."""

    def __init__(self, window: MainWindow) -> None:
        super().__init__(window)
        self._window = window
        self._result: Result | None = None
        self._files = DiagnosisFiles(None, self)
        self._files.saved.connect(self._on_saved)
        window.add_closer(self._files.close)

    @Slot(object)
    def ask(self, watched: Watched) -> None:
        """Ask where to save the report on what is known of a program at this moment."""
        if watched.verdict is None:
            return
        from gpumon_gui.diagnosis.report.saving import FORMATS

        self._result = result_of(watched, watched.verdict)
        folder = QStandardPaths.writableLocation(QStandardPaths.StandardLocation.DocumentsLocation) or "."
        name = f"gpumon-watch-{watched.program.pid}{FORMATS[0]}"
        dialog = file_dialog(self._window, _("Save report"), str(Path(folder) / name), saves=True)
        dialog.setDefaultSuffix(FORMATS[0].removeprefix("."))
        dialog.setNameFilters([f"{suffix.removeprefix('.').upper()} (*{suffix})" for suffix in FORMATS])
        dialog.fileSelected.connect(self.save_as)
        dialog.open()

    @Slot(str)
    def save_as(self, name: str) -> None:
        """Write it, in the form that the name ends in; else in the first one."""
        if self._result is not None:
            from gpumon_gui.diagnosis.report.saving import FORMATS

            self._files.save(self._result, Path(name), FORMATS)

    @Slot(object)
    def _on_saved(self, saved: Saved) -> None:
        if saved.fault:
            self._window.message.say(saved.fault, Tone.BAD)
        else:
            self._window.message.say(_("Saved as {file}.").format(file=printable(str(saved.file))), Tone.GOOD)
