"""Knows: what a person asked to be checked, and what came of it. Must not know: how it is checked, where it is kept."""

from __future__ import annotations

from dataclasses import dataclass, field

from gpumon_gui.diagnosis.environments.base import Environment
from gpumon_gui.diagnosis.facts import Document
from gpumon_gui.diagnosis.finding import Diagnosis
from gpumon_gui.diagnosis.given import Given


@dataclass(frozen=True, slots=True)
class Proving:
    """Limits of the proof: seconds for each GPU, share (0..1) of the free memory."""

    seconds: float = 10.0
    memory_share: float = 0.25


@dataclass(frozen=True, slots=True)
class Ask:
    """``machine``: look at this machine and at ``environments``; otherwise only what is ``given`` is judged. ``pid`` is
    a running process whose environment is meant (with ``process_name``). ``runs_in`` is the interpreter that what is
    given belongs to. ``proving`` None: nothing is computed."""

    machine: bool = True
    environments: tuple[Environment, ...] = ()
    pid: int | None = None
    process_name: str = ""
    given: Given = field(default_factory=Given)
    runs_in: str | None = None
    proving: Proving | None = field(default_factory=Proving)

    @property
    def is_empty(self) -> bool:
        """Whether there is nothing to check."""
        return self.given.is_empty and not self.machine


@dataclass(frozen=True, slots=True)
class Result:
    """What a check found, at ``time_utc_s`` (seconds since 1970). ``reports`` are the files it was saved as."""

    ask: Ask
    document: Document
    diagnosis: Diagnosis
    time_utc_s: float
    reports: tuple[str, ...] = ()
