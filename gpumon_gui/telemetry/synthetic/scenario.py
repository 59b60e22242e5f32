"""Knows: what a scenario and a scripted machine are. Must not know: any one of them."""

from __future__ import annotations

import os
import shutil
import tempfile
import threading
import weakref
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from gpumon_gui.core.clock import Clock, FakeClock, Instant
from gpumon_gui.core.messages import _
from gpumon_gui.core.model import Demand, DeviceInfo, DeviceKey, DeviceSample, ProcessUse
from gpumon_gui.telemetry.base import Note, Source
from gpumon_gui.telemetry.nvml.bus import Bus
from gpumon_gui.telemetry.nvml.library import Library
from gpumon_gui.telemetry.nvml.source import NvmlSource
from gpumon_gui.telemetry.synthetic.host import SyntheticHost
from gpumon_gui.telemetry.synthetic.names import UnknownScenario
from gpumon_gui.telemetry.synthetic.nvml_library import Driver, NvmlStandIn


@dataclass(slots=True)
class Machine:
    """A scripted machine: real sources over stand-ins. ``nvml`` is the stand-in library, for whoever checks its use."""

    sources: Sequence[Source]
    host: SyntheticHost
    nvml: NvmlStandIn | None = None
    wakes: Callable[[], int] = lambda: 0


@dataclass(frozen=True, slots=True)
class Scenario:
    """One scripted machine.

    ``shows``: texts the user must see after ``watch_s`` seconds of watching; ``never``: texts that must not appear at
    any time. ``rows``: which well-known faults of other monitors it tries (numbers of the list in
    ``tests/unit/test_synthetic.py``).
    ``deadly``: it hangs or kills the process that reads it, so it runs in a sampler process only.
    """

    name: str
    description: str
    build: Callable[[Clock], Machine]
    rows: tuple[int, ...] = ()
    shows: tuple[str, ...] = ()
    never: tuple[str, ...] = ()
    watch_s: float = 4.0
    deadly: bool = False


class Tree:
    """A folder that stands for ``/``: kernel files that change as the machine does. It vanishes with this object.
    Raises UnknownScenario on Windows: PCI addresses have colons."""

    def __init__(self) -> None:
        if os.name == "nt":
            raise UnknownScenario(_("This scripted machine is made of files whose names Windows does not allow."))
        self.root = Path(tempfile.mkdtemp(prefix="gpumon-machine-"))
        self._now: dict[str, str] = {}
        weakref.finalize(self, shutil.rmtree, self.root, ignore_errors=True)

    def write(self, path: str, text: str) -> None:
        """Make or change a file."""
        if self._now.get(path) == text:
            return
        self._now[path] = text
        target = self.root / path
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text(text + "\n", encoding="utf-8")

    def link(self, path: str, target: str) -> None:
        """Make a symbolic link; a target that begins with ``/`` is only read, never followed."""
        place = self.root / path
        place.parent.mkdir(parents=True, exist_ok=True)
        if not place.is_symlink():
            place.symlink_to(target if target.startswith("/") else os.path.relpath(self.root / target, place.parent))

    def remove(self, path: str) -> None:
        """Take a folder or a link away."""
        place = self.root / path
        if place.is_symlink():
            place.unlink()
        else:
            shutil.rmtree(place, ignore_errors=True)
        self._now = {name: text for name, text in self._now.items() if not name.startswith(path)}


@dataclass(slots=True)
class Staged:
    """A source that lets the stage hands work before each read: kernel files move on with the clock."""

    source: Source
    act: Callable[[float], None]
    clock: Clock
    begin_s: float = field(init=False)

    def __post_init__(self) -> None:
        self.begin_s = self.clock.now().monotonic_s
        self.act(0.0)

    @property
    def name(self) -> str:
        """The source's."""
        return self.source.name

    @property
    def min_period_s(self) -> float:
        """The source's."""
        return self.source.min_period_s

    @property
    def budget_s(self) -> float:
        """Writing the files is not the source's work."""
        return self.source.budget_s + 1.0

    def open(self) -> None:
        """The source's."""
        self.source.open()

    def devices(self, now: Instant) -> tuple[DeviceInfo, ...]:
        """The machine moves on, then the source looks."""
        self.act(now.monotonic_s - self.begin_s)
        return self.source.devices(now)

    def read(self, now: Instant, demand: Demand) -> Mapping[DeviceKey, DeviceSample]:
        """The source's."""
        return self.source.read(now, demand)

    def read_processes(self, now: Instant, demand: Demand) -> tuple[ProcessUse, ...]:
        """The source's."""
        return self.source.read_processes(now, demand)

    def notes(self) -> tuple[Note, ...]:
        """The source's."""
        return self.source.notes()

    @property
    def remark(self) -> str:
        """The source's."""
        return self.source.remark

    def release(self) -> None:
        """The source's."""
        self.source.release()

    def close(self) -> None:
        """The source's."""
        self.source.close()


NOWHERE = Path(os.devnull)  #: a root without any file below it: no PCI bus, no sleep


def nvml_source(
    library: NvmlStandIn, root: Path = NOWHERE, platform: str = "linux", bus: Bus | None = None
) -> NvmlSource:
    """The real NVML source over a stand-in library."""
    return NvmlSource(lambda: Library(library, "stand-in"), root, platform, bus)


def nvidia_machine(
    clock: Clock, driver: Driver, host: SyntheticHost | None = None, *, root: Path = NOWHERE, platform: str = "linux"
) -> Machine:
    """A machine with NVIDIA cards only."""
    library = NvmlStandIn(driver, clock)
    return Machine([nvml_source(library, root, platform)], host or SyntheticHost(clock), library)


def pause(clock: Clock, seconds: float) -> None:
    """A call that takes long: the test's clock moves, a real one is waited for."""
    if isinstance(clock, FakeClock):
        clock.advance(seconds)
    else:
        threading.Event().wait(seconds)


def hang() -> None:
    """A call that never returns."""
    threading.Event().wait()
