"""Knows: NVML as a source: sessions, restarts, sleep. Must not know: how a single figure is read."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Mapping
from pathlib import Path

from gpumon_gui.core.clock import Instant
from gpumon_gui.core.model import Demand, DeviceInfo, DeviceKey, DeviceSample, DeviceState, ProcessUse, SourceState
from gpumon_gui.core.values import Reason, number
from gpumon_gui.telemetry.base import Note, SourceUnavailable
from gpumon_gui.telemetry.nvml.library import Library, NvmlError, load
from gpumon_gui.telemetry.nvml.locate import candidates
from gpumon_gui.telemetry.nvml.rest import RestPolicy
from gpumon_gui.telemetry.nvml.session import Session, gone, placeholder
from gpumon_gui.telemetry.runtime_pm import PowerState, nvidia_devices, power_state

BUS_SCAN_S = 30.0  #: how often the PCI bus is looked at for new cards
RETRY_S = 5.0  #: pause between attempts to start NVML again, and between counts of devices
LOST_RETRY_S = 60.0  #: a lost card may be back after a reset: only a new session sees it


def load_system_library() -> Library:
    """The driver's own library. Raises SourceUnavailable."""
    return load(candidates(sys.platform, os.environ, None))


class NvmlSource:
    """The NVIDIA driver's management library.

    ``root`` is where sysfs and procfs are looked up, so that a recorded tree is a test; ``load_library`` gives the
    library, so that a stand-in can enter below this source.
    """

    name = "nvml"
    platforms = frozenset({"linux", "win32"})
    min_period_s = 0.1
    budget_s = 0.1

    def __init__(
        self,
        load_library: Callable[[], Library] = load_system_library,
        root: Path = Path("/"),
        platform: str = sys.platform,
    ) -> None:
        self._load_library = load_library
        self._root = root
        self._looks_at_power = platform == "linux"
        self._library: Library | None = None
        self._session: Session | None = None
        self._rest = RestPolicy()
        self._bus: list[tuple[str, str | None]] = []
        self._power: dict[str, PowerState] = {}
        self._bus_due_s = float("-inf")
        self._retry_s = float("-inf")
        self._count_due_s = 0.0
        self._lost_due_s = 0.0
        self._known: dict[DeviceKey, DeviceInfo] = {}
        self._inventory: tuple[DeviceInfo, ...] = ()
        self._seen: tuple[DeviceInfo, ...] = ()
        self._seen_bus: list[tuple[str, str | None]] = []
        self._notes: list[Note] = []
        self._refusal: SourceUnavailable | None = None

    def open(self) -> None:
        """Load the library; NVML itself starts when a device may be touched. Raises SourceUnavailable."""
        self._library = self._load_library()

    def devices(self, now: Instant) -> tuple[DeviceInfo, ...]:
        """All devices ever seen in this run; raises SourceUnavailable when NVML cannot be started."""
        self._look(now.monotonic_s)
        self._ensure(now.monotonic_s)
        inside = self._session.infos if self._session is not None else ()
        if inside != self._seen or self._bus is not self._seen_bus:
            self._seen, self._seen_bus = inside, self._bus
            self._learn(inside)
        if not self._inventory and self._refusal is not None:
            raise self._refusal
        return self._inventory

    def read(self, now: Instant, demand: Demand) -> Mapping[DeviceKey, DeviceSample]:
        """One sweep over all devices. Raises SourceUnavailable when the driver went away."""
        session = self._session
        if session is None:
            if self._refusal is not None:
                raise self._refusal
            return {key: self._without_session(info) for key, info in self._known.items()}
        try:
            samples = session.read(now.monotonic_s, details=demand.details)
        except NvmlError as error:
            self._end()
            self._note(Note("driver-restarted", str(error), SourceState.FAILED))
            return {key: gone(key, DeviceState.LOST, Reason.SOURCE_GONE, str(error)) for key in self._known}
        for key, info in self._known.items():
            if key not in samples:
                samples[key] = self._without_session(info)
        for key, word in session.lost.items():
            self._note(Note("gpu-lost", f"{self._known[key].name}: {word}" if key in self._known else word))
        self._maybe_rest(now.monotonic_s, samples)
        return samples

    def read_processes(self, now: Instant, demand: Demand) -> tuple[ProcessUse, ...]:
        """Who uses the devices; empty while the source rests."""
        if self._session is None:
            return ()
        try:
            return self._session.read_processes(utilization=demand.processes)
        except NvmlError as error:
            self._end()
            self._note(Note("driver-restarted", str(error), SourceState.FAILED))
            return ()

    def notes(self) -> tuple[Note, ...]:
        """What happened since the last call."""
        notes, self._notes = tuple(self._notes), []
        return notes

    def release(self) -> None:
        """End the NVML session: an open one keeps the devices awake."""
        self._end()

    def close(self) -> None:
        """End for good."""
        self._end()
        self._library = None

    def _learn(self, inside: tuple[DeviceInfo, ...]) -> None:
        """Bring the inventory up to date; a device once seen stays in it."""
        for info in inside:
            # A card lost before it could say who it is: the PCI bus knows it better where it can be read.
            nameless = info.pci_address is None and self._session is not None and info.key in self._session.lost
            if not (self._bus and nameless):
                self._known[info.key] = info
        for index, (address, name) in enumerate(self._bus):
            info = placeholder(address, name, index)
            self._known.setdefault(info.key, info)
        self._inventory = tuple(self._known.values())

    def _look(self, now_s: float) -> None:
        """Read the power states from the PCI bus, without touching a device."""
        if not self._looks_at_power:
            return
        if now_s >= self._bus_due_s:
            self._bus_due_s = now_s + BUS_SCAN_S
            self._bus = nvidia_devices(self._root)
            self._power = {address: power_state(self._root, address) for address, _name in self._bus}
        for address, power in self._power.items():
            if power.can_sleep or power.asleep:  # a card that may not sleep need not be asked in every sweep
                self._power[address] = power_state(self._root, address)

    def _ensure(self, now_s: float) -> None:
        """Start NVML if that is allowed now."""
        if self._session is not None:
            if now_s >= self._count_due_s:
                self._count_due_s = now_s + RETRY_S
                if self._session.count_changed():
                    self._end()
                    self._note(Note("driver-restarted", "number of devices changed"))
                elif self._session.lost and now_s >= self._lost_due_s:
                    self._end()
            if self._session is not None and not self._woken():
                return
            self._end()
        asleep = frozenset(address for address, power in self._power.items() if power.asleep)
        any_awake = len(asleep) < len(self._power) or not self._power
        if not self._rest.may_open(now_s, any_awake=any_awake):
            self._note(Note("asleep" if not any_awake else "resting", state=SourceState.RESTING))
            return
        if now_s < self._retry_s:
            return
        if self._library is None:
            raise SourceUnavailable("no-driver", state=SourceState.ABSENT)
        try:
            session = Session(self._library, self._root, asleep=asleep)
        except SourceUnavailable as refusal:
            self._refusal = refusal
            self._retry_s = now_s + RETRY_S
            raise
        if asleep:
            for index, (address, _name) in enumerate(self._bus):
                if address not in asleep:
                    session.add_address(address, index)
        self._session = session
        self._refusal = None
        self._count_due_s = now_s + RETRY_S
        self._lost_due_s = now_s + LOST_RETRY_S

    def _woken(self) -> bool:
        """Whether a card that slept when the session began is awake now: it needs a new session to be seen."""
        assert self._session is not None
        inside = {info.pci_address for info in self._session.infos}
        lost = bool(self._session.lost)
        return not lost and any(not power.asleep and address not in inside for address, power in self._power.items())

    def _maybe_rest(self, now_s: float, samples: Mapping[DeviceKey, DeviceSample]) -> None:
        """Let go of NVML when all its devices could sleep and nothing uses them."""
        assert self._session is not None
        inside = [info for info in self._session.infos if info.pci_address in self._power]
        if not inside or not all(self._power[info.pci_address or ""].can_sleep for info in inside):
            return
        idle = all(number(samples[info.key].values.get("gpu_utilization")) == 0 for info in inside)
        idle = idle and not self._session.read_processes(utilization=False)
        if self._rest.should_release(now_s, idle=idle):
            self._end()
            self._note(Note("resting", state=SourceState.RESTING))

    def _without_session(self, info: DeviceInfo) -> DeviceSample:
        power = self._power.get(info.pci_address or "")
        if power is not None and (power.asleep or self._rest.resting):
            return gone(info.key, DeviceState.ASLEEP, Reason.ASLEEP)
        return gone(info.key, DeviceState.LOST, Reason.DEVICE_LOST)

    def _end(self) -> None:
        if self._session is not None:
            self._session.close()
            self._session = None

    def _note(self, note: Note) -> None:
        if note not in self._notes:
            self._notes.append(note)
