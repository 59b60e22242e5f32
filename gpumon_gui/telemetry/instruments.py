"""Knows: how a proof watches this machine: a sampler of its own, read in a thread. Must not know: what is proved.

Clocks, power limits and modes of the card are never touched: the sampler only reads.
"""

from __future__ import annotations

import logging
from collections import deque
from collections.abc import Sequence
from threading import Event, Lock, Thread

from gpumon_gui.core.clock import Clock, SystemClock
from gpumon_gui.core.model import Demand, Sample
from gpumon_gui.core.status_text import left_behind_text
from gpumon_gui.telemetry.process import SamplerProcess
from gpumon_gui.telemetry.sampler_status import SampleReady
from gpumon_gui.telemetry.supervisor import Supervisor

_log = logging.getLogger("gpumon.instruments")

#: Five times a second: NVML renews its utilization at most six times a second.
DEMAND = Demand(interval_s=0.2, details=True, processes=True, cpu_processes=False)
#: No framework's proof lasts so long: half an hour at five a second.
_MOST_SAMPLES = 10_000
_FIRST_SAMPLE_S = 15.0
_STEP_S = 0.1


class LiveInstruments:
    """The telemetry of this machine (or of a scripted one), read in a thread of its own."""

    def __init__(self, clock: Clock | None = None, scenario: str | None = None) -> None:
        self._clock = clock or SystemClock()
        self._scenario = scenario
        self._samples: deque[Sample] = deque(maxlen=_MOST_SAMPLES)
        self._end = Event()
        self._first = Event()
        self._lock = Lock()
        self._thread: Thread | None = None
        self._supervisor: Supervisor | None = None

    def start(self, cancel: Event) -> None:
        """Begin; the sampler goes on running until :meth:`close`, so that the next start is quick."""
        with self._lock:
            self._samples.clear()
            self._first.clear()
        if self._thread is None:
            supervisor = Supervisor(self._process, self._clock, DEMAND)
            self._supervisor = supervisor
            self._thread = Thread(target=self._read, args=(supervisor,), name="gpumon-proof-samples", daemon=True)
            self._thread.start()
        end_s = self._clock.now().monotonic_s + _FIRST_SAMPLE_S
        while not cancel.is_set() and self._clock.now().monotonic_s < end_s and not self._first.wait(_STEP_S):
            pass

    def samples(self) -> Sequence[Sample]:
        """All since the start."""
        with self._lock:
            return tuple(self._samples)

    def stop(self) -> None:
        """Nothing more is wanted for now."""

    def close(self) -> None:
        """End the sampler."""
        self._end.set()
        if self._thread is not None:
            self._thread.join()
            self._thread = None
        if self._supervisor is not None:
            for pid in self._supervisor.close().stuck_pids:
                _log.warning("%s", left_behind_text(pid))
            self._supervisor = None

    def _process(self, skip: frozenset[str]) -> SamplerProcess:
        return SamplerProcess(skip, scenario=self._scenario)

    def _read(self, supervisor: Supervisor) -> None:
        """Thread."""
        while not self._end.is_set():
            for event in supervisor.step(_STEP_S):
                if isinstance(event, SampleReady):
                    with self._lock:
                        self._samples.append(event.sample)
                        self._first.set()
