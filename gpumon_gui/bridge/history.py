"""Knows: the history as the window uses it: what is kept, asked and exported. Must not know: widgets, SQLite.

Two threads: one writes, one reads. The GUI thread never waits for either but in :meth:`History.close`.
"""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass
from pathlib import Path

from PySide6.QtCore import QObject, Qt, Signal, Slot

from gpumon_gui.bridge.history_reader import Answer, Exported, ExportOrder, Question, Reader
from gpumon_gui.bridge.history_writer import HistoryWriter, Order, WriterState, WriterStatus
from gpumon_gui.bridge.worker import LoopThread, assert_gui_thread
from gpumon_gui.core.clock import Clock
from gpumon_gui.core.messages import N_, _
from gpumon_gui.core.model import Sample
from gpumon_gui.history.marker import Marker
from gpumon_gui.history.retention import HistoryOptions

SWITCHED_OFF = N_("It is switched off in the settings.")


@dataclass(frozen=True, slots=True)
class HistoryStatus:
    """``is_kept``: samples are written (or will be, with the first one). ``reason`` says why not, ``note`` what was
    done about a damaged file; each is one translated line or empty."""

    is_kept: bool = True
    reason: str = ""
    note: str = ""


class History(QObject):
    """Lives in the GUI thread.

    Signals:
        status_changed(object): a new :class:`HistoryStatus`.
        written(): there is something new to ask for.
        answered(object): an :class:`Answer` to the newest question.
        exported(object): an :class:`Exported`.
    """

    status_changed = Signal(object)
    written = Signal()
    answered = Signal(object)
    exported = Signal(object)
    _asked = Signal()
    _export_requested = Signal(object)

    def __init__(
        self,
        path: Path,
        clock: Clock,
        options: HistoryOptions | None = None,
        *,
        is_written: bool = True,
        parent: QObject | None = None,
    ) -> None:
        """``is_written`` False: the file is only looked at, whatever comes."""
        super().__init__(parent)
        self.path = path
        self.clock = clock
        self.status = HistoryStatus(is_kept=is_written)
        self._options = options or HistoryOptions()
        self._number = 0
        self._is_closed = False
        self._written = WriterStatus()
        self._writer: HistoryWriter | None = None
        self._writing: LoopThread | None = None
        if is_written:
            self._writer = HistoryWriter(path, self._options, clock)
            self._writer.status_changed.connect(self._on_status, Qt.ConnectionType.QueuedConnection)
            self._writer.written.connect(self._on_written, Qt.ConnectionType.QueuedConnection)
            self._writing = LoopThread(self._writer, "history-writer")
            if not self._options.is_on:
                self._written = WriterStatus(WriterState.OFF)
                self.status = self._status()
        self._reader = Reader(path, clock)
        self._asked.connect(self._reader.look, Qt.ConnectionType.QueuedConnection)
        self._export_requested.connect(self._reader.export, Qt.ConnectionType.QueuedConnection)
        self._reader.answered.connect(self._on_answered, Qt.ConnectionType.QueuedConnection)
        self._reader.exported.connect(self._on_exported, Qt.ConnectionType.QueuedConnection)
        self._reading = LoopThread(self._reader, "history-reader")

    @property
    def is_written(self) -> bool:
        """Whether this history takes samples; else the file is only looked at."""
        return self._writer is not None

    @property
    def options(self) -> HistoryOptions:
        """What the user chose."""
        return self._options

    @property
    def dropped(self) -> int:
        """Samples lost because the disk was too slow."""
        return 0 if self._writer is None else self._writer.dropped

    # -- writing

    @Slot(object)
    def offer(self, sample: Sample) -> None:
        """Keep a sample. Returns at once."""
        self._pass(sample)

    @Slot(object)
    def add_marker(self, marker: Marker) -> None:
        """Keep a marker. Returns at once."""
        self._pass(marker)

    def set_options(self, options: HistoryOptions) -> None:
        """Keep other times, another size, or nothing from now on. What is there is not deleted by switching off."""
        if options != self._options:
            self._options = options
            self._pass(options)

    def clear(self) -> None:
        """Delete everything that was kept; ``written`` follows."""
        self._pass(Order.CLEAR)

    def flush(self) -> None:
        """Write what is new now instead of in some seconds."""
        if self._writing is not None and self._writing.is_running:
            self._pass(Order.FLUSH)

    def _pass(self, thing: Sample | Marker | HistoryOptions | Order) -> None:
        assert_gui_thread()
        if self._writer is None or self._writing is None or self._is_closed:
            return
        if not self._writing.is_running:
            self._writing.start()
        self._writer.offer(thing)

    # -- reading

    def ask(self, question: Question) -> int:
        """Ask for what a page shows; its number. Only the newest question is answered."""
        assert_gui_thread()
        self._number += 1
        if self._is_closed:
            return self._number
        if not self._reading.is_running:
            self._reading.start()
        self._reader.newest = self._number
        if self._reader.questions.put(dataclasses.replace(question, number=self._number)):
            self._asked.emit()
        return self._number

    def export(self, order: ExportOrder) -> None:
        """Write a file; ``exported`` follows."""
        assert_gui_thread()
        if self._is_closed:
            return
        if not self._reading.is_running:
            self._reading.start()
        self._export_requested.emit(order)

    def retranslate(self) -> None:
        """Say again whether it is kept, in the language of now; what the system said stays as it was said."""
        if self._writer is not None:
            self._say(self._status())

    # -- the end

    def close(self, timeout_s: float = 2.0) -> bool:
        """Write what is left and end both threads. False: one of them does not end."""
        assert_gui_thread()
        self._is_closed = True
        threads = [self._reading] if self._writing is None else [self._reading, self._writing]
        for thread in threads:
            thread.request_stop()
        ended = [thread.stop(timeout_s) for thread in threads]
        return all(ended)

    # -- what the threads say

    @Slot(object)
    def _on_status(self, status: WriterStatus) -> None:
        self._written = status
        self._say(self._status())

    @Slot()
    def _on_written(self) -> None:
        self.written.emit()

    @Slot(object)
    def _on_answered(self, answer: Answer) -> None:
        if self._is_closed or answer.question.number != self._number:
            return
        if answer.is_damage:
            self._pass(Order.CHECK)
        self.answered.emit(answer)

    @Slot(object)
    def _on_exported(self, exported: Exported) -> None:
        if not self._is_closed:
            self.exported.emit(exported)

    def _status(self) -> HistoryStatus:
        written = self._written
        reason = _(SWITCHED_OFF) if written.state is WriterState.OFF else written.reason
        return HistoryStatus(is_kept=not reason, reason=reason, note=written.note)

    def _say(self, status: HistoryStatus) -> None:
        if status != self.status and not self._is_closed:
            self.status = status
            self.status_changed.emit(status)
