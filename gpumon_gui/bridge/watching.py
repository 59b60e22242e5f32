"""Knows: how programs are watched beside the window: samples in, verdicts out, in a thread of their own. Must not know:
widgets, rules, sentences.

Samples wait in a bounded queue; what is known of the past lies in the watchers. A verdict costs milliseconds and is
made for every second of what was seen, but takes no more than a fifth of a core, however fast a recording plays.
"""

from __future__ import annotations

import logging
import sys
import threading
import time
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, Final

from PySide6.QtCore import QObject, Qt, QTimer, Signal, Slot

from gpumon_gui.bridge.feed import Feed
from gpumon_gui.bridge.mailbox import Mailbox
from gpumon_gui.bridge.worker import LoopThread, Worker, assert_gui_thread
from gpumon_gui.core.model import SAME_START_S, DeviceKey, ProcessPresence, ProcessSample, Sample
from gpumon_gui.diagnosis.behaviour.energy import Energy

if TYPE_CHECKING:
    from gpumon_gui.diagnosis.behaviour.watcher import Verdict, Watcher

_log = logging.getLogger("gpumon.watch")

#: More are not watched at the same time: each costs a verdict a second.
MOST: Final = 4
#: NVML renews its utilization at most six times a second; four samples a second show a pause of a second well.
INTERVAL_S: Final = 0.25
#: A sweep may take this share of the time; with many GPUs and every detail it is read less often.
_SWEEP_SHARE: Final = 0.05
_SLOWEST_S: Final = 1.0
_SWEEPS: Final = 8
#: Between two verdicts, of what was seen.
JUDGE_S: Final = 1.0
#: Judging takes at most this share of a core.
SHARE: Final = 0.2
#: So long after a sample came it is judged: by then the window has drawn it. One interpreter runs both, so they would
#: hold each other up.
_DRAWN_MS: Final = 120
#: While a verdict is made the window gets the interpreter back after so long (Python's own 5 ms would add up).
_SWITCH_S: Final = 0.001
#: A program that is not listed for so long has ended: a slow sweep may lose one for a moment.
GONE_S: Final = 3.0
#: A minute at ten samples a second; a worker that is further behind loses samples, and says so.
CAPACITY: Final = 600
_IDLE_WAIT_S: Final = 5.0
_THERE: Final = (ProcessPresence.RUNNING, ProcessPresence.FOREIGN)


@dataclass(frozen=True, slots=True)
class Program:
    """A process to watch; ``started_utc_s`` pins the pid to this very one, whatever it is called by now."""

    pid: int
    started_utc_s: float | None
    name: str = field(compare=False)

    @classmethod
    def of(cls, process: ProcessSample) -> Program:
        """A listed process."""
        return cls(process.pid, process.started_utc_s, process.name)

    def is_same(self, process: ProcessSample) -> bool:
        """Whether a listed process is this one, and not another that got the same pid later."""
        return process.is_same(self.pid, self.started_utc_s)


@dataclass(frozen=True, slots=True)
class Watched:
    """What is known of a watched program now. ``verdict`` None: nothing can be said yet. ``seen_s``: how long it was
    watched. ``devices``: the GPUs it and what it started were seen on; ``energy_j``: what these used meanwhile, by all
    programs together (None: not known).

    ``ended``: it is not there any more; the verdict is the last one, ``run_s`` how long it ran (None: its start is
    not known). ``fault``: a technical word, GPUMon could not judge.
    """

    program: Program
    verdict: Verdict | None = None
    seen_s: float = 0.0
    devices: tuple[DeviceKey, ...] = ()
    energy_j: float | None = None
    ended: bool = False
    run_s: float | None = None
    fault: str = ""
    since_utc_s: float = 0.0


def can_be_watched(process: ProcessSample) -> bool:
    """Whether there is anything to watch."""
    return process.presence in _THERE


class _Followed:
    """One program in the worker's thread."""

    def __init__(self, program: Program, given: Callable[[Sample], Mapping[str, Any]]) -> None:
        self.program = program
        self._given = given
        self.start_over()

    def start_over(self) -> None:
        """Forget what was seen: a recording was sought."""
        self.state = Watched(self.program)
        self._watcher: Watcher | None = None
        self._energy = Energy()
        self._devices: dict[DeviceKey, None] = {}  # in order of appearance
        self._first_s = self._first_utc_s = self._last_s = self._last_utc_s = 0.0
        self.judged_s = 0.0
        self._missing_s: float | None = None  # since when it is not listed although it was, or has to be
        self._was_listed = False

    def add(self, sample: Sample) -> bool:
        """Take a sample; whether the state is another now."""
        if self.state.ended or self.state.fault:
            return False
        own = next((one for one in sample.processes if self.program.is_same(one)), None)
        if own is not None and own.presence in _THERE:
            self._was_listed, self._missing_s = True, None
        elif self._was_listed or self._had_begun(sample):  # what the GPU does without it says nothing of it
            return self._end(sample)
        if self._watcher is None:
            from gpumon_gui.diagnosis.behaviour.watcher import Watcher  # brings all rules: only who watches needs it

            started = self.program.started_utc_s
            self._watcher = Watcher(self.program.pid, self._given(sample), started_utc_s=started)
            self._first_s = self.judged_s = sample.monotonic_s
            self._first_utc_s = sample.utc_s
        self._last_s, self._last_utc_s = sample.monotonic_s, sample.utc_s
        self._watcher.add(sample)
        self._energy.add(sample)
        self._note_devices(sample)
        return False

    def is_due(self) -> bool:
        """Whether enough was seen since the last verdict."""
        over = self.state.ended or bool(self.state.fault)
        return self._watcher is not None and not over and self._last_s - self.judged_s >= JUDGE_S

    def judge(self) -> bool:
        """Make a verdict: the state is another now."""
        assert self._watcher is not None
        self.judged_s = self._last_s
        self.state = self._seen(self._watcher.verdict())
        return True

    def fail(self, error: Exception) -> None:
        """GPUMon itself is wrong: keep what is known and say so."""
        self.state = replace(self.state, fault=f"{type(error).__name__}: {error}")

    def _end(self, sample: Sample) -> bool:
        if self._missing_s is None:
            self._missing_s = self._last_s if self._was_listed else sample.monotonic_s
        if sample.monotonic_s - self._missing_s < GONE_S:
            return False
        if self._watcher is not None:
            self.judge()
        started = self.program.started_utc_s
        run_s = None if started is None or not self._was_listed else max(0.0, self._last_utc_s - started)
        self.state = replace(self.state, ended=True, run_s=run_s)
        return True

    def _had_begun(self, sample: Sample) -> bool:
        """Whether it ran before this sample: one that is not listed has ended already, or a recording was sought to
        where it had not begun."""
        started = self.program.started_utc_s
        return started is not None and started + SAME_START_S < sample.utc_s

    def _seen(self, verdict: Verdict | None) -> Watched:
        joules = self._energy.joules
        used = [joules[key] for key in self._devices if key in joules]
        return Watched(
            self.program,
            verdict,
            max(0.0, self._last_s - self._first_s),
            tuple(self._devices),
            sum(used) if used and len(used) == len(self._devices) else None,
            since_utc_s=self._first_utc_s,
        )

    def _note_devices(self, sample: Sample) -> None:
        mine = {self.program.pid}
        parents = {one.pid: one.ppid for one in sample.processes}
        for process in sample.processes:
            line, pid = [process.pid], process.ppid
            while pid is not None and pid in parents and pid not in line and pid not in mine:
                line.append(pid)
                pid = parents[pid]
            if pid in mine or process.pid in mine:
                mine.update(line)
                for use in process.uses:
                    if sample.info(use.device) is not None:
                        self._devices.setdefault(use.device)


@dataclass(frozen=True, slots=True)
class _Start:
    program: Program


@dataclass(frozen=True, slots=True)
class _Stop:
    program: Program


@dataclass(frozen=True, slots=True)
class _StartOver:
    epoch: int


_Thing = Sample | _Start | _Stop | _StartOver


class WatchWorker(Worker):
    """Judges in its thread.

    Signals:
        posted(): ``results`` is no longer empty.

    Attributes:
        results: the epoch (how often everything was started over) and what is known of every program.
        missed: samples that came while the queue was full.
    """

    posted = Signal()

    def __init__(self, given: Callable[[Sample], Mapping[str, Any]], share: float = SHARE) -> None:
        """``given`` tells what is known of the machine besides; it is asked in the worker's thread. ``share`` of a core
        that judging may take."""
        super().__init__()
        self.results: Mailbox[tuple[int, tuple[Watched, ...]]] = Mailbox()
        self._epoch = 0
        self.missed = 0
        self._given = given
        self._rest = max(0.0, 1.0 / share - 1.0)
        self._ready = threading.Condition()
        self._queue: list[_Thing] = []
        self._followed: list[_Followed] = []
        self._rests_until_s = 0.0

    def offer(self, thing: _Thing) -> None:
        """Leave a sample or an order; any thread. Returns at once. A sample that finds no room is lost, an order not:
        there are few."""
        with self._ready:
            if isinstance(thing, Sample) and len(self._queue) >= CAPACITY:
                self.missed += 1
                return
            self._queue.append(thing)
            self._ready.notify()

    def run(self) -> None:
        """See :meth:`Worker.run`."""
        while not self.stop_event.is_set():
            with self._ready:
                if not self._queue and not self.stop_event.is_set():
                    self._ready.wait(_IDLE_WAIT_S)
                things, self._queue = self._queue, []
            for thing in things:
                if self.stop_event.is_set():
                    return
                if self._take(thing):
                    self._post()

    def wake(self) -> None:
        """See :meth:`Worker.wake`."""
        with self._ready:
            self._ready.notify_all()

    def _take(self, thing: _Thing) -> bool:
        """Whether anything is another now."""
        if isinstance(thing, Sample):
            return self._add(thing)
        if isinstance(thing, _Start):
            self._followed.append(_Followed(thing.program, self._given))
        elif isinstance(thing, _Stop):
            self._followed = [one for one in self._followed if one.program != thing.program]
        else:
            self._epoch = thing.epoch
            for one in self._followed:
                one.start_over()
        return True

    def _add(self, sample: Sample) -> bool:
        changed = False
        for one in self._followed:
            changed = self._careful(one, one.add, sample) or changed
        # Who has waited longest comes first: there may be time for one verdict only.
        for one in sorted(self._followed, key=_waits_since):
            begin_s = time.perf_counter()
            if begin_s < self._rests_until_s:
                break
            if one.is_due():
                changed = self._careful(one, one.judge) or changed
                now_s = time.perf_counter()
                self._rests_until_s = now_s + (now_s - begin_s) * self._rest
        return changed

    def _careful(self, one: _Followed, work: Callable[..., bool], *arguments: Sample) -> bool:
        try:
            return work(*arguments)
        except Exception as error:  # noqa: BLE001 - told and logged; the other programs go on
            _log.error("watching %s failed", one.program)
            self.tell_fault(error)
            one.fail(error)
            return True

    def _post(self) -> None:
        if self.results.put((self._epoch, tuple(one.state for one in self._followed))):
            self.posted.emit()


def _waits_since(one: _Followed) -> float:
    return one.judged_s


class Watching(QObject):
    """The programs that are watched. Lives in the GUI thread; its thread starts with the first program.

    Signals:
        changed(): :attr:`watched` is another: a new verdict, a program more or less.
        pids_changed(): other pids must be read, or at another pace.
    """

    changed = Signal()
    pids_changed = Signal()

    def __init__(
        self,
        feed: Feed,
        given: Callable[[Sample], Mapping[str, Any]],
        parent: QObject | None = None,
        *,
        share: float = SHARE,
    ) -> None:
        super().__init__(parent)
        self._given = given
        self._share = share
        self._thread: LoopThread | None = None
        self._worker: WatchWorker | None = None
        self._watched: tuple[Watched, ...] = ()
        self._epoch = 0
        self._switch_s = sys.getswitchinterval()
        self._waiting: list[Sample] = []
        self._drawn = QTimer(self)
        self._drawn.setSingleShot(True)
        self._drawn.setInterval(_DRAWN_MS)
        self._drawn.timeout.connect(self._on_drawn)
        self._sweeps: list[float] = []
        self._interval_s = INTERVAL_S
        feed.sample_taken.connect(self._on_sample)
        feed.cleared.connect(self._on_cleared)

    @property
    def watched(self) -> tuple[Watched, ...]:
        """Every program, in the order in which they were begun."""
        return self._watched

    @property
    def pids(self) -> tuple[int, ...]:
        """Of the programs that are still there."""
        return tuple(one.program.pid for one in self._watched if not one.ended)

    @property
    def interval_s(self) -> float:
        """How often they should be read: less often where a sweep takes long."""
        return self._interval_s

    def state(self, program: Program) -> Watched | None:
        """What is known of a program; None when it is not watched."""
        return next((one for one in self._watched if one.program == program), None)

    def start(self, program: Program) -> bool:
        """Watch a program; nothing happens to one that is watched. False: there are :data:`MOST` already that have not
        ended. One that has ended makes room."""
        assert_gui_thread()
        if self.state(program) is not None:
            return True
        if len(self._watched) >= MOST:
            ended = next((one for one in self._watched if one.ended), None)
            if ended is None:
                return False
            self.stop(ended.program)
        if self._worker is None:
            worker = self._worker = WatchWorker(self._given, self._share)
            worker.posted.connect(self._on_posted, Qt.ConnectionType.QueuedConnection)
            self._thread = LoopThread(worker, "watching")
            self._thread.start()
        self._worker.offer(_Start(program))
        self._set((*self._watched, Watched(program)))
        return True

    def stop(self, program: Program) -> None:
        """Watch it no longer."""
        assert_gui_thread()
        if self._worker is not None and self.state(program) is not None:
            self._worker.offer(_Stop(program))
            self._set(one for one in self._watched if one.program != program)

    def close(self) -> bool:
        """Stop the thread; False when it does not end in time."""
        self._drawn.stop()
        sys.setswitchinterval(self._switch_s)
        thread, self._thread, self._worker = self._thread, None, None
        return thread is None or thread.stop()

    def _set(self, watched: Iterable[Watched]) -> None:
        before = self.pids
        self._watched = tuple(watched)
        if self.pids != before:
            sys.setswitchinterval(_SWITCH_S if self.pids else self._switch_s)
            if not self.pids:
                self._sweeps, self._interval_s = [], INTERVAL_S
            self.pids_changed.emit()
        self.changed.emit()

    @Slot(object)
    def _on_sample(self, sample: Sample) -> None:
        if self._worker is None or not self.pids:
            return
        if not self._drawn.isActive():
            self._drawn.start()
        self._waiting.append(sample)
        if len(self._sweeps) < _SWEEPS:
            self._sweeps.append(sample.cost.sweep_s)
            wanted_s = min(_SLOWEST_S, min(self._sweeps) / _SWEEP_SHARE)
            if len(self._sweeps) == _SWEEPS and wanted_s > self._interval_s:
                self._interval_s = wanted_s
                self.pids_changed.emit()

    @Slot()
    def _on_drawn(self) -> None:
        waiting, self._waiting = self._waiting, []
        if self._worker is not None:
            for sample in waiting:
                self._worker.offer(sample)

    @Slot()
    def _on_cleared(self) -> None:
        self._waiting.clear()
        if self._worker is not None and self._watched:
            self._epoch += 1
            self._worker.offer(_StartOver(self._epoch))
            self._set(Watched(one.program) for one in self._watched)

    @Slot()
    def _on_posted(self) -> None:
        assert_gui_thread()
        found = None if self._worker is None else self._worker.results.take()
        if found is None or found[0] != self._epoch:  # of before a seek
            return
        known = {one.program: one for one in found[1]}
        # What was begun or stopped since the worker looked stays as it is here.
        self._set(known.get(one.program, one) for one in self._watched)
