"""Knows: one sampler process and when it last did something. Must not know: what follows from that."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Protocol

from gpumon_gui.core.model import Demand
from gpumon_gui.telemetry.blackbox import Pulse
from gpumon_gui.telemetry.process import StopOutcome
from gpumon_gui.telemetry.wire import Message


class Handle(Protocol):
    """A sampler process (:class:`gpumon_gui.telemetry.process.SamplerProcess`)."""

    @property
    def pid(self) -> int:
        """The process id."""
        ...

    def send(self, demand: Demand) -> None:
        """Ask for samples; must not block."""
        ...

    def receive(self, timeout_s: float) -> tuple[Message, ...]:
        """What came; waits up to ``timeout_s`` for something."""
        ...

    def poke(self) -> None:
        """Let :meth:`receive` return. From any thread."""
        ...

    def pulse(self) -> Pulse:
        """Signs of life and the source being read."""
        ...

    def exit_code(self) -> int | None:
        """None while it runs."""
        ...

    def tail(self) -> str:
        """The end of its standard error."""
        ...

    def stop(self, timeout_s: float = 2.0) -> StopOutcome:
        """Ask it to end, then make it."""
        ...

    def kill(self, timeout_s: float = 0.5) -> StopOutcome:
        """End it."""
        ...


@dataclass(slots=True)
class Run:
    """One process and when it last did something; all moments on the monotonic clock.

    ``skip``: the sources it leaves out. ``busy_s``: since when it is where ``pulse`` says. ``live_s``: since when it
    has delivered without a break. ``offset`` makes the numbers of its samples go on from the process before.
    """

    handle: Handle
    skip: frozenset[str]
    started_s: float
    frame_s: float
    beat_s: float
    busy_s: float
    live_s: float = 0.0
    pulse: Pulse = field(default_factory=Pulse)
    is_greeted: bool = False
    frames: int = 0
    offset: int = 0
    fault: str = ""

    @classmethod
    def begun(cls, handle: Handle, skip: frozenset[str], now_s: float) -> Run:
        """A process that was started just now."""
        return cls(handle, skip, started_s=now_s, frame_s=now_s, beat_s=now_s, busy_s=now_s)

    def observe(self, now_s: float) -> None:
        """Look for signs of life."""
        pulse = self.handle.pulse()
        if pulse.beats != self.pulse.beats:
            self.beat_s = now_s
        if pulse.serial != self.pulse.serial:
            self.busy_s = now_s
        self.pulse = pulse

    def shift(self, seconds: float, now_s: float) -> None:
        """Nobody looked for some seconds: they do not count."""
        self.started_s = min(now_s, self.started_s + seconds)
        self.frame_s = min(now_s, self.frame_s + seconds)
        self.beat_s = min(now_s, self.beat_s + seconds)
        self.busy_s = min(now_s, self.busy_s + seconds)

    def busy_for(self, now_s: float) -> float:
        """Seconds in the present source; 0 between two."""
        return now_s - self.busy_s if self.pulse.busy else 0.0
