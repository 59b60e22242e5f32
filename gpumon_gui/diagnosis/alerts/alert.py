"""Knows: what an alert is and what a watch for one reports. Must not know: any single kind, how alerts are shown.

**The contract.** One file per kind, one line in ``table.py``. A watcher sees every sample in order and says of each
subject it knows something about whether the condition holds, is over, or cannot be told (then nothing changes). It
keeps what it needs of the past, asks nobody, contains no finished sentence. Hysteresis lies in the watcher (it says
*over* only when the condition is clearly over), quiet times lie in :mod:`gpumon_gui.diagnosis.alerts.alarm`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any, Final, Protocol

from gpumon_gui.core.messages import _
from gpumon_gui.core.model import DeviceKey, Sample

#: The kind of alert that a verdict of a watch is: no sample alone tells it.
VERDICT: Final = "verdict"
#: What is not seen for so long is over (a process has ended): a slow sweep may lose it for a moment.
GONE_S: Final = 5.0


@dataclass(frozen=True, slots=True)
class Limits:
    """What the user set. Seconds, fractions, °C."""

    run_s: float = 120.0
    held_idle_s: float = 600.0
    memory_full_s: float = 600.0
    temperature_c: float = 90.0
    quiet_s: float = 600.0
    muted: frozenset[str] = frozenset()


class State(StrEnum):
    """Of a condition."""

    HOLDS = "holds"
    OVER = "over"
    HAPPENED = "happened"  #: an event: it holds for this one sample only


@dataclass(frozen=True, slots=True)
class Figure:
    """A value that is written when it is shown: in the language and the units of that moment."""

    form: Callable[[Any], str]
    value: float

    def __str__(self) -> str:
        return self.form(self.value)


@dataclass(frozen=True, slots=True)
class Said:
    """A sentence (its message id) that is part of another one, likewise."""

    text: str
    values: Mapping[str, object] = field(default_factory=dict)

    def __str__(self) -> str:
        return _(self.text).format(**self.values)


@dataclass(frozen=True, slots=True)
class Sign:
    """What a watcher says of one subject. ``values`` go into the kind's texts: words, :class:`Figure`, :class:`Said`.
    ``device`` and ``pid`` tell where a click leads, ``seconds`` how long it has been going on: so much of the past is
    worth a look."""

    subject: str
    state: State
    values: Mapping[str, object] = field(default_factory=dict)
    device: DeviceKey | None = None
    pid: int | None = None
    seconds: float = 0.0


class Watch(Protocol):
    """One kind of alert at work."""

    def look(self, sample: Sample, limits: Limits) -> Iterable[Sign]:
        """Take a sample; what can be said after it."""
        ...


@dataclass(frozen=True, slots=True)
class Alert:
    """Something worth an interruption. ``kind`` is stable, ``title`` and ``text`` are message ids for ``values``;
    ``seconds`` is how long it had been going on then."""

    kind: str
    subject: str
    utc_s: float
    title: str
    text: str
    values: Mapping[str, object] = field(default_factory=dict)
    device: DeviceKey | None = None
    pid: int | None = None
    seconds: float = 0.0
