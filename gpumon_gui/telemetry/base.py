"""Knows: what a source is. Must not know: any one of them.

**The contract.** A source may read, cache handles, drop a broken handle and reopen at the next tick. It may not start
threads, sleep, log per tick, translate, run programs or know another source. It never lets one bad device hide the
healthy ones, and never returns a number for "unknown".

Order of calls: ``open`` → (``devices`` → ``read`` → ``read_processes``)* → ``close``. ``release`` may come at any time
between reads and is undone by the next read.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Protocol

from gpumon_gui.core.clock import Instant
from gpumon_gui.core.model import Demand, DeviceInfo, DeviceKey, DeviceSample, ProcessUse, SourceState


class SourceUnavailable(Exception):  # noqa: N818 - reads as a statement
    """A source cannot be used now.

    ``code`` is a key of ``core.reasons.SOURCE_TEXT``; ``detail`` the technical word (an error name, a path);
    ``state`` ABSENT when nothing is wrong (no such hardware), FAILED otherwise.
    """

    def __init__(self, code: str, detail: str = "", state: SourceState = SourceState.FAILED) -> None:
        super().__init__(f"{code}: {detail}" if detail else code)
        self.code = code
        self.detail = detail
        self.state = state


@dataclass(frozen=True, slots=True)
class Note:
    """Something a source wants said about itself while it works (``driver-restarted``, ``gpu-lost``, ``resting``)."""

    code: str
    detail: str = ""
    state: SourceState = SourceState.OK


class Source(Protocol):
    """One place where numbers come from."""

    @property
    def name(self) -> str:
        """Short and stable: ``nvml``, ``pdh``, ``dxgi``, ``drm``. Stands in every reading."""
        ...

    @property
    def min_period_s(self) -> float:
        """Reading faster than this gives no new values."""
        ...

    @property
    def budget_s(self) -> float:
        """A read that takes longer three times in a row is slowed."""
        ...

    def open(self) -> None:
        """Find the library or the files. Raises SourceUnavailable."""
        ...

    def devices(self, now: Instant) -> tuple[DeviceInfo, ...]:
        """All devices, lost and sleeping ones included. Cheap when nothing changed. Raises SourceUnavailable."""
        ...

    def read(self, now: Instant, demand: Demand) -> Mapping[DeviceKey, DeviceSample]:
        """All devices in one sweep. Counters stay counters: ``rates`` turns them into speeds. Raises
        SourceUnavailable when the whole source went away."""
        ...

    def read_processes(self, now: Instant, demand: Demand) -> tuple[ProcessUse, ...]:
        """Who uses which device. Called only when ``demand.processes``."""
        ...

    def notes(self) -> tuple[Note, ...]:
        """What the user should know about the source since the last read."""
        ...

    @property
    def remark(self) -> str:
        """Technical words on how the last read went, for whoever looks closely; mostly empty."""
        ...

    def release(self) -> None:
        """Let go of everything that keeps a device awake."""
        ...

    def close(self) -> None:
        """End for good; must not raise."""
        ...
