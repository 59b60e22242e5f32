"""Knows: how ``gpumon diagnose`` puts frameworks to the proof while the sampler watches. Must not know: verdicts.

Clocks, power limits and modes of the card are never touched: the sampler only reads, the script only computes.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from threading import Event, Lock, Thread

from gpumon_gui.cli.sampling import supervised
from gpumon_gui.core.clock import Clock, SystemClock
from gpumon_gui.core.model import Demand, Sample
from gpumon_gui.diagnosis.collect import Progress
from gpumon_gui.diagnosis.facts import Document
from gpumon_gui.diagnosis.gateway import Gateway
from gpumon_gui.diagnosis.proof.run import NoInstruments, Options, prove, targets_of, with_proofs
from gpumon_gui.telemetry.supervisor import SampleReady, Supervisor

#: Five times a second: NVML renews its utilization at most six times a second.
DEMAND = Demand(interval_s=0.2, details=True, processes=True, cpu_processes=False)
#: No framework's proof lasts so long: half an hour at five a second.
_MOST_SAMPLES = 10_000
_FIRST_SAMPLE_S = 15.0
_STEP_S = 0.1


class LiveInstruments:
    """The telemetry of this machine, read in a thread of its own."""

    def __init__(self, clock: Clock | None = None, scenario: str | None = None) -> None:
        self._clock = clock or SystemClock()
        self._scenario = scenario
        self._samples: deque[Sample] = deque(maxlen=_MOST_SAMPLES)
        self._end = Event()
        self._first = Event()
        self._lock = Lock()
        self._thread: Thread | None = None
        self._open = ExitStack()

    def start(self, cancel: Event) -> None:
        """Begin; the sampler goes on running until :meth:`close`, so that the next start is quick."""
        with self._lock:
            self._samples.clear()
            self._first.clear()
        if self._thread is None:
            supervisor = self._open.enter_context(supervised(self._scenario, DEMAND, self._clock))
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
        self._open.close()

    def _read(self, supervisor: Supervisor) -> None:
        """Thread."""
        while not self._end.is_set():
            for event in supervisor.step(_STEP_S):
                if isinstance(event, SampleReady):
                    with self._lock:
                        self._samples.append(event.sample)
                        self._first.set()


def proved(
    gateway: Gateway,
    document: Document,
    on_progress: Callable[[Progress], None],
    cancel: Event,
    options: Options | None = None,
) -> Document:
    """The document with a proof of each framework that could be imported."""
    targets = targets_of(document)
    if not targets or cancel.is_set():
        return document
    if not any(target.gpus for target in targets):  # nothing to watch: the processor is all they have
        return with_proofs(document, prove(gateway, targets, NoInstruments(), options, on_progress, cancel))
    instruments = LiveInstruments()
    try:
        return with_proofs(document, prove(gateway, targets, instruments, options, on_progress, cancel))
    finally:
        instruments.close()
