"""Knows: what is told of a sampler process, and after how long. Must not know: who finds it out."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from gpumon_gui.core.model import Sample


@dataclass(frozen=True, slots=True)
class Limits:
    """How long GPUMon waits for what, in seconds."""

    silent_s: float = 3.0
    silent_intervals: float = 3.0
    hang_s: float = 10.0
    no_beat_s: float = 5.0
    start_s: float = 20.0  # a virus scanner's first look at a program takes seconds
    trial_s: float = 30.0  # disturbs nobody; nvmlInit on eight GPUs without persistence mode takes over 10
    healthy_s: float = 60.0
    pauses_s: tuple[float, ...] = (0.5, 1.0, 2.0, 5.0, 10.0, 30.0)
    retries_s: tuple[float, ...] = (30.0, 60.0, 120.0, 300.0)
    deaths_to_skip: int = 2
    step_s: float = 1.0


class SamplerState(StrEnum):
    """How the sampler is doing."""

    STARTING = "starting"
    LIVE = "live"
    SILENT = "silent"
    HUNG = "hung"
    DEAD = "dead"
    RESTARTING = "restarting"
    STOPPED = "stopped"


@dataclass(frozen=True, slots=True)
class SamplerStatus:
    """``code`` selects the sentence (``core.status_text.STATUS_TEXT``; empty: nothing to say), ``source`` the source it
    is about, ``detail`` is technical. ``since_s`` is the moment on the monotonic clock since which it is so,
    ``next_try_s`` the moment of the next try, if one is planned. LIVE with a code: it works, without that source."""

    state: SamplerState = SamplerState.STARTING
    code: str = "starting"
    source: str = ""
    detail: str = ""
    since_s: float = 0.0
    next_try_s: float | None = None


@dataclass(frozen=True, slots=True)
class SampleReady:
    """A new sample."""

    sample: Sample


@dataclass(frozen=True, slots=True)
class StatusChanged:
    """The sampler does better or worse than before."""

    status: SamplerStatus


Event = SampleReady | StatusChanged


@dataclass(frozen=True, slots=True)
class CloseOutcome:
    """How it ended. ``stuck_pids``: processes that are killed and yet still there, in a call of ``sources``."""

    stuck_pids: tuple[int, ...] = ()
    sources: tuple[str, ...] = ()
