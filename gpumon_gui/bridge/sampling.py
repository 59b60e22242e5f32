"""Knows: how samples get from the sampler process to the feed, and what is said meanwhile. Must not know: widgets.

The GUI thread never waits here: a worker starts, watches and ends the process; its results come through mailboxes with
one queued signal at a time. Only :meth:`Sampling.close` waits, for a bounded time.
"""

from __future__ import annotations

import dataclasses
import logging
from collections.abc import Callable
from dataclasses import dataclass

from PySide6.QtCore import QObject, Qt, QTimer, Signal, Slot

from gpumon_gui.bridge.feed import Feed, FeedState, FeedStatus
from gpumon_gui.bridge.mailbox import Mailbox
from gpumon_gui.bridge.worker import LoopThread, Worker, assert_gui_thread
from gpumon_gui.core.clock import Clock
from gpumon_gui.core.model import Demand, Sample
from gpumon_gui.core.status_text import left_behind_text, stale_text, status_text
from gpumon_gui.telemetry.process import SamplerProcess
from gpumon_gui.telemetry.sampler_run import Handle
from gpumon_gui.telemetry.sampler_status import CloseOutcome, Limits, SampleReady, SamplerState, SamplerStatus
from gpumon_gui.telemetry.supervisor import Supervisor

_log = logging.getLogger("gpumon.sampler")

_TICK_MS = 1000
_STEP_S = 1.0
_CLOSE_SHARE = 0.7  # of the time to close, for ending the process; the rest is for the thread
_IS_GOOD = frozenset({SamplerState.LIVE, SamplerState.STARTING})


@dataclass(frozen=True, slots=True)
class SamplingEnd:
    """How closing went. ``text`` says what is left behind, empty when nothing is; with ``is_over`` False a thread is
    left too, so save and leave the process by ``os._exit``."""

    is_over: bool = True
    text: str = ""
    stuck_pids: tuple[int, ...] = ()


class _Watcher(Worker):
    """Runs the supervisor in its thread.

    Signals:
        posted(): one of the mailboxes is no longer empty.
    """

    posted = Signal()

    def __init__(self, supervisor: Supervisor) -> None:
        super().__init__()
        self._supervisor = supervisor
        self.samples: Mailbox[Sample] = Mailbox()
        self.statuses: Mailbox[SamplerStatus] = Mailbox()
        self.close_s = 2.0
        self.outcome: CloseOutcome | None = None

    def run(self) -> None:
        """See :meth:`Worker.run`."""
        try:
            while not self.stop_event.is_set():
                for event in self._supervisor.step(_STEP_S):
                    if isinstance(event, SampleReady):
                        is_news = self.samples.put(event.sample)
                    else:
                        is_news = self.statuses.put(event.status)
                    if is_news:
                        self.posted.emit()
        finally:
            self.outcome = self._supervisor.close(self.close_s)

    def wake(self) -> None:
        """See :meth:`Worker.wake`."""
        self._supervisor.poke()


class Sampling(QObject):
    """Lives in the GUI thread; fills a feed from a sampler process."""

    def __init__(
        self,
        feed: Feed,
        clock: Clock,
        *,
        start: Callable[[frozenset[str]], Handle] = SamplerProcess,
        demand: Demand | None = None,
        limits: Limits | None = None,
        parent: QObject | None = None,
    ) -> None:
        """``start`` makes the process, in the worker's thread, without the given sources."""
        super().__init__(parent)
        self._feed = feed
        self._clock = clock
        self._demand = demand or Demand()
        self._supervisor = Supervisor(start, clock, self._demand, limits)
        self._status = self._supervisor.status
        self._is_paused = False
        self._is_closed = False
        self._watcher = _Watcher(self._supervisor)
        self._watcher.posted.connect(self._on_posted, Qt.ConnectionType.QueuedConnection)
        self._watcher.crashed.connect(self._on_crashed, Qt.ConnectionType.QueuedConnection)
        self._thread = LoopThread(self._watcher, "sampling")
        self._timer = QTimer(self)
        self._timer.setInterval(_TICK_MS)
        self._timer.timeout.connect(self._show)

    @property
    def is_paused(self) -> bool:
        """Whether the user stopped the updates."""
        return self._is_paused

    @property
    def demand(self) -> Demand:
        """What is read while not paused."""
        return self._demand

    def start(self) -> None:
        """Start the process and the thread that watches it."""
        assert_gui_thread()
        self._show()
        self._thread.start()

    def set_demand(self, demand: Demand) -> None:
        """What to read from now on. Does not end a pause."""
        assert_gui_thread()
        self._demand = demand
        self._pass_demand()

    def pause(self) -> None:
        """Stop reading; the process stays."""
        self._set_paused(True)

    def resume(self) -> None:
        """Read on."""
        self._set_paused(False)

    def close(self, timeout_s: float = 3.0) -> SamplingEnd:
        """End the process and the thread; returns after ``timeout_s`` in any case."""
        assert_gui_thread()
        self._is_closed = True
        self._timer.stop()
        self._watcher.close_s = timeout_s * _CLOSE_SHARE
        is_over = self._thread.stop(timeout_s)
        outcome = self._watcher.outcome if is_over else None
        stuck = outcome.stuck_pids if outcome is not None else ()
        for pid in stuck:
            _log.error("%s", left_behind_text(pid))
        return SamplingEnd(is_over, left_behind_text(stuck[0]) if stuck else "", stuck)

    def _set_paused(self, paused: bool) -> None:
        assert_gui_thread()
        self._is_paused = paused
        self._pass_demand()
        self._show()

    def _pass_demand(self) -> None:
        wanted = dataclasses.replace(self._demand, interval_s=0.0) if self._is_paused else self._demand
        self._supervisor.set_demand(wanted)

    @Slot()
    def _on_posted(self) -> None:
        assert_gui_thread()
        status, sample = self._watcher.statuses.take(), self._watcher.samples.take()
        if self._is_closed:
            return
        if status is not None:
            self._status = status
        if sample is not None:
            self._feed.push(sample)
        self._show()

    @Slot(str)
    def _on_crashed(self, text: str) -> None:
        self._status = SamplerStatus(SamplerState.DEAD, "bug", detail=text, since_s=self._clock.now().monotonic_s)
        self._show()

    @Slot()
    def _show(self) -> None:
        """Say what the numbers on the screen are; each second as long as there is a time in it."""
        if self._is_closed:
            return
        status = self._feed_status()
        self._feed.set_status(status)
        is_ticking = status.state is not FeedState.LIVE or bool(status.text)
        if is_ticking != self._timer.isActive():
            if is_ticking:
                self._timer.start()
            else:
                self._timer.stop()

    def _feed_status(self) -> FeedStatus:
        status, now_s = self._status, self._clock.now().monotonic_s
        latest = self._feed.latest
        text = status_text(
            status.code,
            source=status.source,
            seconds=now_s - status.since_s,
            next_s=None if status.next_try_s is None else status.next_try_s - now_s,
            detail=status.detail,
        )
        age_s = 0.0 if latest is None else float(max(0, round(now_s - latest.monotonic_s)))
        if status.state in _IS_GOOD:
            if self._is_paused:
                return FeedStatus(FeedState.PAUSED, status_text("paused"), age_s)
            if latest is None or status.state is SamplerState.STARTING:
                return FeedStatus(FeedState.STARTING, text)
            return FeedStatus(FeedState.LIVE, text)
        if latest is None:
            return FeedStatus(FeedState.STARTING, text)
        return FeedStatus(FeedState.STALE, stale_text(text), age_s)
