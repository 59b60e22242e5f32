"""Knows: how kept results and reports are read and written beside the GUI thread. Must not know: widgets, rules.

A home folder can be on a network, and a report is made over many texts: neither may hold the window up.
"""

from __future__ import annotations

import os
from collections import deque
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from PySide6.QtCore import QObject, Qt, Signal, Slot

from gpumon_gui.bridge.worker import LoopThread, Worker, fault_text
from gpumon_gui.core.clock import Instant
from gpumon_gui.core.errors import GpumonError, OutputFailed
from gpumon_gui.core.files import shown
from gpumon_gui.core.messages import _
from gpumon_gui.core.redact import Private, Replaced

if TYPE_CHECKING:
    from gpumon_gui.diagnosis.ask import Result
    from gpumon_gui.diagnosis.results import Kept


@dataclass(frozen=True, slots=True)
class Preview:
    """A report as it would be written, redacted: ``text`` (or why there is none), and what was hidden: kind, word, what
    stands there instead, how often."""

    result: Result
    suffix: str
    text: str
    replaced: tuple[tuple[str, str, str, int], ...] = ()


@dataclass(frozen=True, slots=True)
class Saved:
    """How the writing of a report of ``result`` went: ``fault`` is empty or one translated line."""

    result: Result
    file: Path
    fault: str = ""


@dataclass(frozen=True, slots=True)
class Stored:
    """The kept results, newest first, and one line for each file that was passed over."""

    kept: tuple[Kept, ...] = ()
    faults: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class _Task:
    """``name`` says what; the rest is what it is done with."""

    name: str
    result: Result | None = None
    file: Path | None = None
    suffix: str = ""
    private: Private | None = None
    is_asked: bool = True  #: a person agreed to write over what is there


#: Tasks that are done also when nobody waits for them any more.
_LASTING = ("keep", "forget", "save", "note")


class _Clerk(Worker):
    previewed = Signal(object)
    saved = Signal(object)
    stored = Signal(object)
    failed = Signal(str)

    def __init__(self, folder: Path | None) -> None:
        super().__init__()
        self.tasks: deque[_Task] = deque()  #: the GUI thread adds, this one takes
        self._folder = folder

    @Slot()
    def work(self) -> None:
        """Do what waits, and say what came of it."""
        while self.tasks:
            task = self.tasks.popleft()
            if self.stop_event.is_set() and task.name not in _LASTING:
                continue
            try:
                getattr(self, f"_{task.name}")(task)
            except Exception as error:  # noqa: BLE001 - told; the next task is done all the same
                self._fail(task, error)

    def end(self) -> None:
        """What shall stay is still written."""
        self.work()

    def _fail(self, task: _Task, error: Exception) -> None:
        """Tell whoever waits for it; a fault of ours is also told as one."""
        if isinstance(error, GpumonError):
            text = str(error)
        else:
            self.tell_fault(error)
            text = fault_text(error)
        if task.name == "preview" and task.result is not None:
            self.previewed.emit(Preview(task.result, task.suffix, text))
        elif task.name == "save" and task.result is not None and task.file is not None:
            self.saved.emit(Saved(task.result, task.file, text))
        else:
            self.failed.emit(text)

    def _load(self, _task: _Task) -> None:
        from gpumon_gui.diagnosis import results

        if self._folder is None:
            return
        loaded = results.load(self._folder)
        self.stored.emit(Stored(loaded.kept, loaded.faults))

    def _keep(self, task: _Task) -> None:
        from gpumon_gui.diagnosis import results

        assert task.result is not None
        if self._folder is not None:
            results.keep(self._folder, task.result, task.file)
            self._load(task)

    def _forget(self, task: _Task) -> None:
        from gpumon_gui.diagnosis import results

        assert task.file is not None
        results.forget(task.file)
        self._load(task)

    def _preview(self, task: _Task) -> None:
        from gpumon_gui.diagnosis.report import saving

        assert task.result is not None
        replaced = Replaced()
        made = _made(task.result, task.private, replaced)
        text = saving.content(made, task.suffix)
        words = tuple((kind.value, word, instead, count) for (kind, word, instead), count in replaced.counts.items())
        self.previewed.emit(Preview(task.result, task.suffix, text, words))

    def _save(self, task: _Task) -> None:
        from gpumon_gui.diagnosis.report import saving

        assert task.result is not None
        assert task.file is not None
        if not task.is_asked and os.path.lexists(task.file):
            raise OutputFailed(_("{path}: is there already and was left alone.").format(path=shown(task.file)))
        saving.save(task.file, _made(task.result, task.private, None))
        self.saved.emit(Saved(task.result, task.file))
        self.tasks.appendleft(replace(task, name="note"))

    def _note(self, task: _Task) -> None:
        """The kept result knows what it was saved as. Read anew: what is asked of here may be older than the file."""
        from gpumon_gui.diagnosis import results

        assert task.result is not None
        assert task.file is not None
        if self._folder is None:
            return
        for kept in results.load(self._folder).kept:
            if kept.result.time_utc_s == task.result.time_utc_s:
                results.keep(self._folder, with_report(kept.result, task.file), kept.file)
                self._load(task)


def with_report(result: Result, file: Path) -> Result:
    """The result that knows of one more file it was saved as."""
    return replace(result, reports=tuple(dict.fromkeys((*result.reports, str(file)))))


def _made(result: Result, private: Private | None, replaced: Replaced | None) -> dict[str, Any]:
    from gpumon_gui.diagnosis.report.document import report
    from gpumon_gui.diagnosis.rules.table import RULES

    now = Instant(0.0, result.time_utc_s)
    hidden = private or Private.of_this_machine()
    return report(result.document, result.diagnosis, RULES, now, hidden, replaced)


class DiagnosisFiles(QObject):
    """Lives in the GUI thread; its thread starts with the first task. ``folder`` None: results are kept nowhere.

    Signals:
        stored(object): :class:`Stored`, after every change and after :meth:`load`.
        previewed(object): a :class:`Preview`.
        saved(object): a :class:`Saved`.
        failed(str): a result could not be kept or deleted; one translated line.
    """

    stored = Signal(object)
    previewed = Signal(object)
    saved = Signal(object)
    failed = Signal(str)
    _ordered = Signal()

    def __init__(self, folder: Path | None, parent: QObject | None = None, *, private: Private | None = None) -> None:
        """``private``: the words that reports hide (None: those of this account and machine)."""
        super().__init__(parent)
        self._folder = folder
        self._private = private
        self._thread: LoopThread | None = None
        self._clerk: _Clerk | None = None
        self._is_closed = False

    def load(self) -> None:
        """Read what is kept."""
        self._send(_Task("load"))

    def keep(self, result: Result, file: Path | None = None) -> None:
        """Keep a result; over the one in ``file`` if given."""
        self._send(_Task("keep", result, file))

    def forget(self, file: Path) -> None:
        """Delete a kept result."""
        self._send(_Task("forget", file=file))

    def preview(self, result: Result, suffix: str) -> None:
        """Make the report as it would be written with this suffix."""
        self._send(_Task("preview", result, suffix=suffix, private=self._private))

    def save(self, result: Result, file: Path, forms: tuple[str, ...] = ()) -> None:
        """Write the report, in the form that the name ends in. With another ending than ``forms`` (if there are any)
        the first of them is put behind it; a file of that new name is left alone: the dialog asked about the other."""
        is_asked = not forms or file.suffix.lower() in forms
        target = file if is_asked else file.with_name(file.name + forms[0])
        self._send(_Task("save", result, target, private=self._private, is_asked=is_asked))

    def close(self) -> bool:
        """End the thread after what is to be written; False when the file system does not answer."""
        self._is_closed = True
        thread, self._thread = self._thread, None
        return thread is None or thread.stop()

    def _send(self, task: _Task) -> None:
        if self._is_closed:
            return
        if self._clerk is None or self._thread is None:
            clerk = self._clerk = _Clerk(self._folder)
            queued = Qt.ConnectionType.QueuedConnection
            self._ordered.connect(clerk.work, queued)
            clerk.stored.connect(self.stored, queued)
            clerk.previewed.connect(self.previewed, queued)
            clerk.saved.connect(self.saved, queued)
            clerk.failed.connect(self.failed, queued)
            self._thread = LoopThread(clerk, "gpumon-diagnoses")
            self._thread.start()
        self._clerk.tasks.append(task)
        self._ordered.emit()
