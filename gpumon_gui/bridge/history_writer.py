"""Knows: how samples reach the history file in a thread of their own, and what happens when it cannot be written.
Must not know: widgets, how the file is laid out.
"""

from __future__ import annotations

import contextlib
import logging
import queue
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path

from PySide6.QtCore import Signal

from gpumon_gui.bridge.worker import Worker
from gpumon_gui.core.clock import Clock
from gpumon_gui.core.errors import OutputFailed
from gpumon_gui.core.model import Sample
from gpumon_gui.history.intake import Intake
from gpumon_gui.history.marker import Marker
from gpumon_gui.history.retention import ClockGuard, HistoryOptions
from gpumon_gui.history.store import HistoryStore, aside_text, move_aside

_log = logging.getLogger("gpumon.history")

#: A minute at the fastest update speed.
CAPACITY = 120
#: What a killed program loses at most.
BATCH_S = 10.0
#: Between two tries while the file cannot be written.
RETRY_S = 30.0
_MOST_WAITING_MARKERS = 1000


class WriterState(StrEnum):
    """What the writer is doing."""

    WAITING = "waiting"  #: nothing to write came yet
    ON = "on"
    OFF = "off"  #: the user switched it off
    FAILED = "failed"  #: the file cannot be written; it is tried again


@dataclass(frozen=True, slots=True)
class WriterStatus:
    """``reason`` is one translated line why it fails, ``note`` one on what was done about a damaged file."""

    state: WriterState = WriterState.WAITING
    reason: str = ""
    note: str = ""


class Order(StrEnum):
    """What else the writer can do."""

    CLEAR = "clear"  #: delete everything
    CHECK = "check"  #: somebody found damage: read the whole file
    FLUSH = "flush"  #: write what is new now


class HistoryWriter(Worker):
    """Takes samples from the GUI thread, writes them in its own: a batch each :data:`BATCH_S`.

    Attributes:
        dropped: samples that did not fit into the queue because the disk was too slow.

    Signals:
        status_changed(object): a new :class:`WriterStatus`.
        written(): there is something new in the file.
    """

    status_changed = Signal(object)
    written = Signal()

    def __init__(self, path: Path, options: HistoryOptions, clock: Clock, capacity: int = CAPACITY) -> None:
        super().__init__()
        self._path = path
        self._options = options
        self._clock = clock
        self._waiting: queue.Queue[Sample | Marker | HistoryOptions | Order | None] = queue.Queue(capacity)
        self._intake = Intake()
        self._markers: list[Marker] = []
        self._guard = ClockGuard()
        self._store: HistoryStore | None = None
        self._newest_s: float | None = None
        self._now_utc_s = 0.0
        self._due_s: float | None = None
        self._is_tidy = False
        self._status = WriterStatus()
        self.dropped = 0

    def offer(self, thing: Sample | Marker | HistoryOptions | Order) -> bool:
        """Take something; False, and counted, when there is no room. Never blocks."""
        try:
            self._waiting.put_nowait(thing)
        except queue.Full:
            self.dropped += 1
            return False
        return True

    def run(self) -> None:
        """Write what comes until asked to stop, then what is left."""
        if not self._options.is_on:
            self._say(WriterStatus(WriterState.OFF))
        while not self.stop_event.is_set():
            wait_s = None if self._due_s is None else max(0.0, self._due_s - self._now_s())
            thing = None
            with contextlib.suppress(queue.Empty):
                thing = self._waiting.get(timeout=wait_s)
            if thing is not None:
                self._take(thing)
            if self._due_s is not None and self._now_s() >= self._due_s:
                self._write()
        while True:
            try:
                thing = self._waiting.get_nowait()
            except queue.Empty:
                break
            if isinstance(thing, Sample | Marker):
                self._take(thing)
        self._finish()

    def wake(self) -> None:
        """See :meth:`Worker.wake`."""
        with contextlib.suppress(queue.Full):  # then there is enough to wake up for
            self._waiting.put_nowait(None)

    # -- in the writer's thread

    def _now_s(self) -> float:
        return self._clock.now().monotonic_s

    def _take(self, thing: Sample | Marker | HistoryOptions | Order) -> None:
        if isinstance(thing, HistoryOptions):
            self._take_options(thing)
        elif thing is Order.CLEAR:
            self._clear()
        elif thing is Order.CHECK:
            self._check()
        elif thing is Order.FLUSH:
            if self._due_s is not None and self._status.state is not WriterState.FAILED:
                self._due_s = self._now_s()
        elif self._options.is_on:
            if isinstance(thing, Sample):
                self._intake.add(thing)
                self._now_utc_s = thing.utc_s
                self._guard.note(thing.monotonic_s, thing.utc_s, self._newest_s)
            elif isinstance(thing, Marker) and len(self._markers) < _MOST_WAITING_MARKERS:
                self._markers.append(thing)
            if self._due_s is None:
                # The first batch at once: what is wrong with the file is known when the page opens.
                waits = self._status.state is not WriterState.WAITING
                self._due_s = self._now_s() + (BATCH_S if waits else 0.0)

    def _take_options(self, options: HistoryOptions) -> None:
        was_on, self._options = self._options.is_on, options
        self._is_tidy = False  # other times, another bound
        if was_on and not options.is_on:
            self._finish()
            self._due_s = None
            self._say(WriterStatus(WriterState.OFF))
        elif options.is_on and not was_on:
            self._say(WriterStatus())

    def _write(self) -> None:
        self._due_s = None
        try:
            store = self._opened()
            is_stretch_over = store.write(self._intake, self._markers)
            self._say(WriterStatus(WriterState.ON, note=self._status.note))
            self.written.emit()
            if is_stretch_over or not self._is_tidy:
                self._tidy(store)
        except OutputFailed as error:
            self._fail(error)

    def _tidy(self, store: HistoryStore) -> None:
        self._is_tidy = True
        store.tidy(
            self._options,
            self._now_utc_s or self._clock.now().utc_s,
            is_trusted=self._guard.is_trusted(),
            is_over=self.stop_event.is_set,
        )

    def _opened(self) -> HistoryStore:
        if self._store is None:
            store = HistoryStore(self._path)
            self._store = store
            self._newest_s = store.newest_s
            if self._now_utc_s:
                now = self._clock.now()
                self._guard = ClockGuard()
                self._guard.note(now.monotonic_s, self._now_utc_s, store.newest_s)
        return self._store

    def _fail(self, error: OutputFailed) -> None:
        self._close_store()
        if error.is_damage:
            try:
                target = move_aside(self._path)
            except OutputFailed as second:
                error = second
            else:
                _log.warning("history: %s; kept as %s", error, target.name)
                self._due_s = self._now_s()
                self._say(WriterStatus(WriterState.WAITING, note=aside_text(target)))
                return
        self._due_s = self._now_s() + RETRY_S
        self._say(WriterStatus(WriterState.FAILED, str(error), self._status.note))

    def _clear(self) -> None:
        self._intake.clear()
        self._markers.clear()
        try:
            self._opened().clear()
            self._say(WriterStatus(WriterState.ON if self._options.is_on else WriterState.OFF))
            self.written.emit()
            if not self._options.is_on:
                self._close_store()
        except OutputFailed as error:
            self._fail(error)

    def _check(self) -> None:
        if not self._options.is_on:
            return
        try:
            whole = self._opened().check()
        except OutputFailed as error:
            self._fail(error)
            return
        if not whole:
            damage = OutputFailed("quick_check")
            damage.is_damage = True
            self._fail(damage)

    def _finish(self) -> None:
        if not self._intake.stretches and not self._markers:
            self._close_store()
            return
        try:
            self._opened().finish(self._intake, self._markers)
        except OutputFailed as error:
            _log.warning("history: %s", error)
        self._close_store()

    def _close_store(self) -> None:
        if self._store is not None:
            self._store.close()
            self._store = None

    def _say(self, status: WriterStatus) -> None:
        if status != self._status:
            if status.state is WriterState.FAILED and status.reason != self._status.reason:
                _log.warning("history is off: %s", status.reason)
            self._status = status
            self.status_changed.emit(status)
