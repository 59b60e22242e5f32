"""Knows: when a sampler process is silent, hung or dead, and what is done about it. Must not know: Qt, pipes, sources.

Rules, all on the clock that is passed in (numbers in :class:`Limits`):

- A source that is being read for longer than 3 s, no frame within three intervals (at least 3 s) or no sign of life for
  3 s: **silent**. The consumer greys the values it has.
- A source that does not return within 10 s: **hung**. The process is killed and started without that source.
- No sign of life for 5 s, no frame for 10 s more than three intervals without any source at work, no start within 20 s,
  or something unreadable on the pipe: killed and started again, like a process that **died**, after a pause that grows
  with every death and is forgotten after a minute of health.
- A source that was being read at two deaths in a row is left out like a hung one.
- A source left out is tried again after 30, 60, 120 and then every 300 s *in a second sampler* beside the running one,
  which takes over with its first sample: a driver that is still hung disturbs nobody. While a process that was killed
  is still stuck in the kernel, its source is not tried: the next one would get stuck too.

Devices that only a left-out source knows stay in every sample, not answering, with their values missing.
A time in which nobody called :meth:`Supervisor.step` (a suspended laptop) counts against no one.
"""

from __future__ import annotations

import dataclasses
import logging
import threading
from collections.abc import Callable
from dataclasses import dataclass

from gpumon_gui import __version__
from gpumon_gui.core.clock import Clock
from gpumon_gui.core.model import Demand, Sample
from gpumon_gui.telemetry.child import interval
from gpumon_gui.telemetry.leftout import Known, known_from, with_known
from gpumon_gui.telemetry.process import StopOutcome, exit_text
from gpumon_gui.telemetry.sampler_run import Handle, Run
from gpumon_gui.telemetry.sampler_status import (
    CloseOutcome,
    Event,
    Limits,
    SampleReady,
    SamplerState,
    SamplerStatus,
    StatusChanged,
)
from gpumon_gui.telemetry.wire import Bye, Damaged, Ended, Fault, Frame, Hello, Message

_log = logging.getLogger("gpumon.sampler")


@dataclass(slots=True)
class _LeftOut:
    """A source the sampler goes on without, and what was known from it."""

    source: str
    code: str
    detail: str
    since_s: float
    retry_s: float
    known: Known
    stuck: Handle | None = None


class Supervisor:
    """Keeps a sampler running. One thread calls :meth:`step` and :meth:`close`; :meth:`set_demand` and :meth:`poke` may
    come from any.

    ``start`` makes a process that leaves out the given sources; it may raise OSError.
    """

    def __init__(
        self,
        start: Callable[[frozenset[str]], Handle],
        clock: Clock,
        demand: Demand | None = None,
        limits: Limits | None = None,
    ) -> None:
        self._start = start
        self._clock = clock
        self._limits = limits or Limits()
        self._demand = demand or Demand()
        self._sent: Demand | None = None
        self._wake = threading.Event()
        self._events: list[Event] = []
        now_s = self._now()
        self.status = SamplerStatus(since_s=now_s)
        self._looked_s = now_s
        self._interval_s = now_s
        self._start_s = now_s
        self._run: Run | None = None
        self._trial: tuple[_LeftOut, Run] | None = None
        self._left_out: dict[str, _LeftOut] = {}
        self._retries: dict[str, int] = {}
        self._stuck: list[tuple[str, Handle]] = []
        self._deaths = 0
        self._killer = ("", 0)
        self._last: Sample | None = None
        self._logged = ("", "", "")
        self._is_closed = False

    def set_demand(self, demand: Demand) -> None:
        """What to read from now on; an interval of 0 pauses. From any thread; never blocks."""
        self._demand = demand
        self.poke()

    def poke(self) -> None:
        """Let a waiting :meth:`step` return. From any thread; never blocks."""
        self._wake.set()
        run = self._run
        if run is not None:
            run.handle.poke()

    def step(self, timeout_s: float) -> tuple[Event, ...]:
        """Wait up to ``timeout_s`` (at most a second) for something to happen, judge, act; what the consumer must know,
        oldest first."""
        if self._is_closed:
            return ()
        now_s = self._now()
        if self._run is None and now_s >= self._start_s:
            self._launch(now_s)
        self._pass_demand(now_s)
        messages = self._wait(min(timeout_s, self._limits.step_s), now_s)
        now_s = self._now()
        self._forgive(now_s)
        if self._run is not None:
            self._read(self._run, messages, now_s)
        self._mind_trial(now_s)
        events, self._events = tuple(self._events), []
        return events

    def close(self, timeout_s: float = 2.0) -> CloseOutcome:
        """End all processes; returns after about ``timeout_s`` in any case."""
        self._is_closed = True
        if self._trial is not None:
            left_out, run = self._trial
            self._end(run, left_out.source, 0.0, timeout_s / 4)
            self._trial = None
        if self._run is not None:
            run, self._run = self._run, None
            run.observe(self._now())
            polite_s = timeout_s / 2 if self.status.state is SamplerState.LIVE else 0.0
            self._end(run, run.pulse.busy, polite_s, timeout_s / 4)
        stuck = [(source, handle) for source, handle in self._stuck if handle.exit_code() is None]
        self.status = SamplerStatus(SamplerState.STOPPED, "stopped", since_s=self._now())
        return CloseOutcome(
            tuple(handle.pid for _source, handle in stuck),
            tuple(sorted({source for source, _handle in stuck if source})),
        )

    # --- one process -----------------------------------------------------------------------------------------------

    def _launch(self, now_s: float) -> None:
        skip = frozenset(self._left_out)
        try:
            handle = self._start(skip)
        except OSError as error:
            self._bury("start-failed", "", error.strerror or str(error), now_s, now_s)
            return
        self._run = Run.begun(handle, skip, now_s)
        self._sent = None
        if self._last is not None or self._deaths:
            self._set(SamplerState.RESTARTING, "restarting", since_s=now_s)

    def _pass_demand(self, now_s: float) -> None:
        demand = self._demand
        if self._run is None or demand == self._sent:
            return
        if self._sent is None or self._sent.interval_s != demand.interval_s:
            self._interval_s = now_s
        self._sent = demand
        self._run.handle.send(demand)

    def _wait(self, timeout_s: float, now_s: float) -> tuple[Message, ...]:
        if self._run is not None:
            return self._run.handle.receive(timeout_s)
        self._wake.wait(max(0.0, min(timeout_s, self._start_s - now_s)))
        self._wake.clear()
        return ()

    def _forgive(self, now_s: float) -> None:
        idle_s = now_s - self._looked_s
        self._looked_s = now_s
        if idle_s <= self._limits.silent_s:
            return
        lost_s = idle_s - self._limits.step_s
        self._interval_s = min(now_s, self._interval_s + lost_s)
        for run in (self._run, self._trial[1] if self._trial else None):
            if run is not None:
                run.shift(lost_s, now_s)

    def _read(self, run: Run, messages: tuple[Message, ...], now_s: float) -> None:
        run.observe(now_s)
        for message in messages:
            if isinstance(message, Hello):
                run.is_greeted = True
                run.beat_s = now_s
                if message.version != __version__:
                    self._lose(run, "other-version", message.version, now_s, now_s)
                    return
            elif isinstance(message, Fault):
                run.fault = _last_line(message.text)
                _log.error("the sampler reports a fault:\n%s", message.text)
            elif isinstance(message, Frame):
                self._take(run, message.sample, now_s)
            elif isinstance(message, Damaged):
                _log.error("damaged stream from the sampler: %s", message.detail)
                self._lose(run, "damaged", message.detail, now_s, now_s)
                return
            elif isinstance(message, Ended):
                why = exit_text(message.code)
                self._lose(run, "died", f"{why}, {run.fault}" if run.fault else why, now_s, now_s)
                return
            else:
                assert isinstance(message, Bye)  # its end follows
        self._judge(run, now_s)

    def _judge(self, run: Run, now_s: float) -> None:
        limits = self._limits
        if not run.is_greeted:
            if now_s - run.started_s > limits.start_s:
                self._lose(run, "start-timeout", "", run.started_s, now_s)
            return
        beatless_s = now_s - run.beat_s
        busy_s = run.busy_for(now_s)
        if beatless_s > limits.no_beat_s:
            self._lose(run, "stuck", "", run.beat_s, now_s)
            return
        if busy_s > limits.hang_s:
            self._hung(run, now_s)
            return
        interval_s = interval(self._demand)
        due_s = max(limits.silent_s, limits.silent_intervals * interval_s)
        frame_s = max(run.frame_s, self._interval_s)
        frameless_s = now_s - frame_s if interval_s else 0.0
        patience_s = due_s + (limits.healthy_s if run.fault else limits.hang_s)
        if frameless_s > patience_s and not busy_s:
            self._lose(run, "sweep-fails" if run.fault else "stuck", run.fault, frame_s, now_s)
        elif busy_s > limits.silent_s or (frameless_s > due_s and run.pulse.busy):
            self._silent(run, "source-silent", run.pulse.busy, run.busy_s, now_s)
        elif beatless_s > limits.silent_s:
            self._silent(run, "sampler-silent", "", run.beat_s, now_s)
        elif frameless_s > due_s:
            self._silent(run, "sweep-fails" if run.fault else "sampler-silent", "", frame_s, now_s)
        elif run.frames:
            self._live(run, now_s)

    def _take(self, run: Run, sample: Sample, now_s: float) -> None:
        if not run.frames:
            run.live_s = now_s
            if self._last is not None:
                run.offset = self._last.sequence + 1 - sample.sequence
        run.frames += 1
        run.frame_s = run.beat_s = now_s
        run.fault = ""
        shown = self._dressed(dataclasses.replace(sample, sequence=sample.sequence + run.offset))
        self._last = shown
        self._events.append(SampleReady(shown))

    def _live(self, run: Run, now_s: float) -> None:
        if now_s - run.live_s > self._limits.healthy_s:
            self._deaths = 0
            self._killer = ("", 0)
            for source in list(self._retries):
                if source not in self._left_out:
                    del self._retries[source]
        left_out = self._trial[0] if self._trial is not None else next(iter(self._left_out.values()), None)
        if left_out is None:
            self._set(SamplerState.LIVE, "", since_s=now_s)
        elif self._trial is not None:
            self._set(SamplerState.LIVE, "trying-again", left_out.source, left_out.detail, since_s=left_out.since_s)
        else:
            self._set(
                SamplerState.LIVE,
                left_out.code,
                left_out.source,
                left_out.detail,
                since_s=left_out.since_s,
                next_try_s=left_out.retry_s,
            )

    def _silent(self, run: Run, code: str, source: str, since_s: float, now_s: float) -> None:
        run.live_s = now_s
        self._set(SamplerState.SILENT, code, source, run.fault, since_s=since_s)

    def _hung(self, run: Run, now_s: float) -> None:
        source, since_s = run.pulse.busy, run.busy_s
        if source in run.skip:  # it was told to leave it out: not to be cured that way
            self._lose(run, "stuck", "", since_s, now_s)
            return
        _log.error("%s has not returned for %.0f s; the sampler is ended", source, now_s - since_s)
        handle = self._end(run, source, 0.0)
        self._run = None
        self._start_s = now_s
        left_out = self._leave_out(source, "skipped-hung", "", since_s, now_s, handle)
        self._set(SamplerState.HUNG, "hung", source, since_s=since_s, next_try_s=left_out.retry_s)

    def _lose(self, run: Run, code: str, detail: str, since_s: float, now_s: float) -> None:
        """End what is left of a process and plan the next one."""
        source = run.pulse.busy
        self._end(run, source, 0.0)
        what = (code, source, detail)
        level = logging.DEBUG if what == self._logged else logging.ERROR  # a sampler that dies all day fills no disk
        self._logged = what
        words = " ".join(filter(None, what))
        _log.log(level, "%s", f"the sampler ended: {words}\n{run.handle.tail()}".rstrip())
        self._run = None
        self._killer = (source, self._killer[1] + 1 if source == self._killer[0] else 1)
        if source and source not in run.skip and self._killer[1] >= self._limits.deaths_to_skip:
            self._leave_out(source, "skipped-crash", detail, now_s, now_s, None)
            self._killer = ("", 0)
            self._deaths = 0
        self._bury("died-in-source" if source and code == "died" else code, source, detail, since_s, now_s)

    def _bury(self, code: str, source: str, detail: str, since_s: float, now_s: float) -> None:
        pauses_s = self._limits.pauses_s
        self._start_s = now_s + pauses_s[min(self._deaths, len(pauses_s) - 1)]
        self._deaths += 1
        self._set(SamplerState.DEAD, code, source, detail, since_s=since_s, next_try_s=self._start_s)

    def _end(self, run: Run, source: str, polite_s: float, kill_s: float = 0.5) -> Handle | None:
        """End a process; the handle when it cannot be ended."""
        outcome = run.handle.stop(polite_s + kill_s) if polite_s else run.handle.kill(kill_s)
        if outcome is not StopOutcome.STUCK:
            return None
        _log.error("sampler %d is stuck in the kernel and cannot be ended", run.handle.pid)
        self._stuck.append((source, run.handle))
        return run.handle

    # --- sources left out ------------------------------------------------------------------------------------------

    def _leave_out(
        self, source: str, code: str, detail: str, since_s: float, now_s: float, stuck: Handle | None
    ) -> _LeftOut:
        left_out = _LeftOut(
            source, code, detail, since_s, self._next_retry(source, now_s), known_from(self._last, source), stuck
        )
        self._left_out[source] = left_out
        return left_out

    def _next_retry(self, source: str, now_s: float) -> float:
        retries_s = self._limits.retries_s
        tried = self._retries.get(source, 0)
        self._retries[source] = tried + 1
        return now_s + retries_s[min(tried, len(retries_s) - 1)]

    def _mind_trial(self, now_s: float) -> None:
        if self._trial is None:
            self._begin_trial(now_s)
        else:
            self._watch_trial(*self._trial, now_s)

    def _begin_trial(self, now_s: float) -> None:
        due = next((left_out for left_out in self._left_out.values() if left_out.retry_s <= now_s), None)
        if due is None or self._run is None or not self._run.frames or not interval(self._demand):
            return
        if due.stuck is not None and due.stuck.exit_code() is None:
            due.retry_s = self._next_retry(due.source, now_s)
            return
        due.stuck = None
        skip = frozenset(self._left_out) - {due.source}
        try:
            handle = self._start(skip)
        except OSError:
            due.retry_s = self._next_retry(due.source, now_s)
            return
        handle.send(self._demand)
        self._trial = (due, Run.begun(handle, skip, now_s))

    def _watch_trial(self, left_out: _LeftOut, run: Run, now_s: float) -> None:
        run.observe(now_s)
        messages = run.handle.receive(0.0)
        frame = next((message for message in messages if isinstance(message, Frame)), None)
        if any(map(_is_of_no_use, messages)):  # also one that died with its first sample
            self._trial_failed(left_out, run, now_s)
        elif frame is not None:
            self._take_over(left_out, run, frame.sample, now_s)
        elif now_s - run.started_s > self._limits.trial_s:
            self._trial_failed(left_out, run, now_s)

    def _take_over(self, left_out: _LeftOut, run: Run, sample: Sample, now_s: float) -> None:
        old, self._run, self._trial = self._run, run, None
        if old is not None:
            self._end(old, "", self._limits.step_s)
        # Also what the old one began to leave out meanwhile: the new one has read it.
        self._left_out = {source: one for source, one in self._left_out.items() if source in run.skip}
        _log.info("%s answers again", left_out.source)
        run.is_greeted = True
        run.observe(now_s)
        run.beat_s = run.busy_s = now_s
        self._sent = None  # the demand may have changed meanwhile
        self._take(run, sample, now_s)
        self._live(run, now_s)

    def _trial_failed(self, left_out: _LeftOut, run: Run, now_s: float) -> None:
        left_out.stuck = self._end(run, left_out.source, 0.0)
        left_out.retry_s = self._next_retry(left_out.source, now_s)
        self._trial = None

    def _dressed(self, sample: Sample) -> Sample:
        """The sample with what left-out sources knew."""
        for left_out in self._left_out.values():
            code = "hung" if left_out.code == "skipped-hung" else "crashed"
            sample = with_known(sample, left_out.known, code, left_out.detail)
        return sample

    # --- small things ----------------------------------------------------------------------------------------------

    def _set(
        self,
        state: SamplerState,
        code: str,
        source: str = "",
        detail: str = "",
        *,
        since_s: float,
        next_try_s: float | None = None,
    ) -> None:
        old = self.status
        if (state, code, source, detail, next_try_s) != (old.state, old.code, old.source, old.detail, old.next_try_s):
            self.status = SamplerStatus(state, code, source, detail, since_s, next_try_s)
            self._events.append(StatusChanged(self.status))

    def _now(self) -> float:
        return self._clock.now().monotonic_s


def _is_of_no_use(message: Message) -> bool:
    """Whether a process that says so cannot take over."""
    return isinstance(message, (Ended, Damaged)) or (isinstance(message, Hello) and message.version != __version__)


def _last_line(text: str) -> str:
    lines = text.strip().splitlines()
    return lines[-1].strip() if lines else ""
