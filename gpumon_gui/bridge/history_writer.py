"""Knows: how samples reach the history file in a thread of their own, and what happens when it cannot be written.
Must not know: widgets, how the file is laid out.
"""

from __future__ import annotations

import logging
import os
import threading
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path

from PySide6.QtCore import Signal

from gpumon_gui.bridge.worker import Worker, fault_text
from gpumon_gui.core.clock import Clock
from gpumon_gui.core.errors import OutputFailed
from gpumon_gui.core.messages import N_, _, sentences
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
_STILL_THERE = N_("What shall be deleted is still there; it is tried again.")


class WriterState(StrEnum):
    """What the writer is doing."""

    WAITING = "waiting"  #: nothing to write came yet
    ON = "on"
    OFF = "off"  #: the user switched it off
    FAILED = "failed"  #: the file cannot be written; it is tried again


@dataclass(frozen=True, slots=True)
class WriterStatus:
    """``reason`` is one translated line why it fails, ``note`` one on what was done about a damaged file or that what
    was to be deleted is still there."""

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
        self._capacity = capacity
        self._ready = threading.Condition()
        self._waiting: deque[Sample | Marker | HistoryOptions | Order] = deque()
        self._intake = Intake()
        self._markers: list[Marker] = []
        self._guard = ClockGuard()
        self._store: HistoryStore | None = None
        self._newest_s: float | None = None
        self._now_utc_s = 0.0
        self._due_s: float | None = None
        self._is_tidy = False
        self._aside = ""  #: what was done about a damaged file
        self._must_clear = False
        self._status = WriterStatus()
        self.dropped = 0

    def offer(self, thing: Sample | Marker | HistoryOptions | Order) -> bool:
        """Take something; returns at once. False, and counted: a sample finds no room. The others are few and always
        find it."""
        with self._ready:
            if isinstance(thing, Sample) and len(self._waiting) >= self._capacity:
                self.dropped += 1
                return False
            if isinstance(thing, Order) and thing in self._waiting:
                self._waiting.remove(thing)  # once for all that came before
            self._waiting.append(thing)
            self._ready.notify()
        return True

    def run(self) -> None:
        """Do what comes until asked to stop, then what is left."""
        if not self._options.is_on:
            self._say(WriterStatus(WriterState.OFF))
        while not self.stop_event.is_set():
            self._wait()
            self._guard_faults(self._take_next)
            if self._due_s is not None and self._now_s() >= self._due_s:
                self._guard_faults(self._write)
        while self._waiting:
            self._guard_faults(self._take_next)
        self._finish()

    def wake(self) -> None:
        """See :meth:`Worker.wake`."""
        with self._ready:
            self._ready.notify()

    # -- in the writer's thread

    def _now_s(self) -> float:
        return self._clock.now().monotonic_s

    def _wait(self) -> None:
        """Until something comes, a write is due or the end."""
        with self._ready:
            if not self._waiting and not self.stop_event.is_set():
                self._ready.wait(None if self._due_s is None else max(0.0, self._due_s - self._now_s()))

    def _guard_faults(self, work: Callable[[], None]) -> None:
        """A fault of ours stops nothing but what is done now; the rest is tried again later."""
        try:
            work()
        except Exception as error:  # noqa: BLE001 - told
            self.tell_fault(error)
            self._fail(OutputFailed(fault_text(error)))

    def _take_next(self) -> None:
        with self._ready:
            if not self._waiting:
                return
            thing = self._waiting.popleft()
        self._take(thing)

    def _take(self, thing: Sample | Marker | HistoryOptions | Order) -> None:
        if isinstance(thing, HistoryOptions):
            self._take_options(thing)
        elif thing is Order.CLEAR:
            self._clear()
        elif thing is Order.CHECK:
            self._check()
        elif thing is Order.FLUSH:
            if self._due_s is not None and self._status.state is WriterState.ON:
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
            self._say(WriterStatus(WriterState.OFF, note=self._status.note))
        elif options.is_on and not was_on:
            self._say(WriterStatus())

    def _write(self) -> None:
        """What is due: delete what is to be deleted, then write what is new."""
        self._due_s = None
        try:
            self._delete()
            if self._options.is_on:
                store = self._opened()
                is_stretch_over = store.write(self._intake, self._markers)
                self._say(WriterStatus(WriterState.ON, note=self._aside))
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
            store = HistoryStore(self._path, self.stop_event.is_set)
            self._store = store
            self._newest_s = store.newest_s
            if self._now_utc_s:
                now = self._clock.now()
                self._guard = ClockGuard()
                self._guard.note(now.monotonic_s, self._now_utc_s, store.newest_s)
        return self._store

    def _fail(self, error: OutputFailed) -> None:
        self._close_store()
        is_on = self._options.is_on
        if error.is_damage:
            try:
                target = move_aside(self._path)
            except OutputFailed as second:
                error = second
            else:
                _log.warning("history: %s; kept as %s", error, target.name)
                self._due_s = self._now_s()
                self._aside = aside_text(target)
                self._say(WriterStatus(WriterState.WAITING if is_on else WriterState.OFF, note=self._aside))
                return
        self._due_s = self._now_s() + RETRY_S
        note = sentences(self._aside, "" if is_on else str(error), _(_STILL_THERE) if self._must_clear else "")
        state, reason = (WriterState.FAILED, str(error)) if is_on else (WriterState.OFF, "")
        self._say(WriterStatus(state, reason, note))

    def _clear(self) -> None:
        self._intake.clear()
        self._markers.clear()
        self._aside = ""
        self._must_clear = True
        self._write()

    def _delete(self) -> None:
        """Delete everything where that was ordered and not done yet. Raises OutputFailed."""
        if not self._must_clear:
            return
        if os.path.lexists(self._path):
            self._opened().clear()
        self._must_clear = False
        if not self._options.is_on:
            self._close_store()
            self._say(WriterStatus(WriterState.OFF, note=self._aside))
        self.written.emit()

    def _check(self) -> None:
        if not self._options.is_on or self.stop_event.is_set():
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
        """The last writes before the end or before it is off."""
        try:
            self._delete()
            if self._intake.stretches or self._markers:
                self._opened().finish(self._intake, self._markers)
        except OutputFailed as error:
            _log.warning("history: %s", error)
        finally:
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
