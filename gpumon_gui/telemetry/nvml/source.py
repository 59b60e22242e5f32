"""Knows: NVML as a source: sessions, restarts, sleep. Must not know: how a single figure is read."""

from __future__ import annotations

import contextlib
import os
import sys
from collections.abc import Callable, Mapping
from pathlib import Path

from gpumon_gui.core.clock import Instant
from gpumon_gui.core.model import Demand, DeviceInfo, DeviceKey, DeviceSample, DeviceState, ProcessUse, SourceState
from gpumon_gui.core.values import Reason, number
from gpumon_gui.telemetry.base import Note, SourceUnavailable
from gpumon_gui.telemetry.nvml.bus import Bus, LinuxBus, NoBus
from gpumon_gui.telemetry.nvml.library import Library, NvmlError, load
from gpumon_gui.telemetry.nvml.locate import candidates
from gpumon_gui.telemetry.nvml.rest import RestPolicy
from gpumon_gui.telemetry.nvml.session import UNNAMED, Session, gone, placeholder
from gpumon_gui.telemetry.runtime_pm import PowerState

BUS_SCAN_S = 30.0  #: how often the PCI bus is looked at for new cards
RETRY_S = 5.0  #: pause between attempts to start NVML again, and between counts of devices
LOST_RETRY_S = 15.0  #: a lost card may be back after a reset: only a new session sees it; doubles
LAST_LOST_RETRY_S = 600.0
#: The clock of people ahead of the one for arithmetic by this much (Linux), or no read for so long (Windows): the
#: computer slept. Sessions from before are known to give frozen power readings afterwards.
SUSPEND_S = 5.0
ABSENCE_S = 60.0


def load_system_library() -> Library:
    """The driver's own library. Raises SourceUnavailable."""
    return load(candidates(sys.platform, os.environ, None))


class NvmlSource:
    """The NVIDIA driver's management library.

    ``root`` is where sysfs and procfs are looked up, so that a recorded tree is a test; ``load_library`` gives the
    library, so that a stand-in can enter below this source. ``bus`` says which cards there are and which of them sleep;
    without one Linux' own is looked at, and elsewhere no card is known to sleep.
    """

    name = "nvml"
    min_period_s = 0.1
    budget_s = 0.1

    def __init__(
        self,
        load_library: Callable[[], Library] = load_system_library,
        root: Path = Path("/"),
        platform: str = sys.platform,
        bus: Bus | None = None,
    ) -> None:
        self._load_library = load_library
        self._root = root
        self._clock_runs_in_sleep = platform == "win32"
        self._plugged: Bus = bus or (LinuxBus(root) if platform == "linux" else NoBus())
        self._library: Library | None = None
        self._session: Session | None = None
        self._rest = RestPolicy()
        self._keep_awake = False
        self._bus: list[tuple[str, str | None]] = []
        self._power: dict[str, PowerState] = {}
        self._restless: tuple[str, ...] = ()
        self._asleep: frozenset[str] = frozenset()
        self._bus_due_s = float("-inf")
        self._retry_s = float("-inf")
        self._count_due_s = 0.0
        self._lost_due_s = 0.0
        self._known: dict[DeviceKey, DeviceInfo] = {}
        self._inventory: tuple[DeviceInfo, ...] = ()
        self._learnt: tuple[tuple[DeviceInfo, ...], frozenset[str]] = ((), frozenset())
        self._tried: frozenset[str] = frozenset()
        self._lost_retry_s = LOST_RETRY_S
        self._before: Instant | None = None
        self._notes: list[Note] = []
        self._refusal: SourceUnavailable | None = None

    def open(self) -> None:
        """Load the library; NVML itself starts when a device may be touched. Raises SourceUnavailable."""
        self._library = self._load_library()

    def devices(self, now: Instant) -> tuple[DeviceInfo, ...]:
        """All devices ever seen in this run; raises SourceUnavailable when NVML cannot be started."""
        self._look(now.monotonic_s)
        if self._slept(now):
            self._end()
        self._ensure(now.monotonic_s)
        inside = self._session.infos if self._session is not None else ()
        if self._learnt != (found := (inside, self._asleep)):
            self._learnt = found
            self._learn(inside)
        if not self._inventory and self._refusal is not None:
            raise self._refusal
        return self._inventory

    def read(self, now: Instant, demand: Demand) -> Mapping[DeviceKey, DeviceSample]:
        """One sweep over all devices. Raises SourceUnavailable when the driver went away."""
        session = self._session
        self._keep_awake = demand.keep_awake
        if session is None:
            if self._refusal is not None:
                raise self._refusal
            return {key: self._without_session(info) for key, info in self._known.items()}
        try:
            samples = session.read(now.monotonic_s, details=demand.details)
            self._maybe_rest(now.monotonic_s, samples)
        except (NvmlError, OSError) as error:  # OSError: a crash inside the library, which ctypes catches on Windows
            self._restarted(error)
            return {key: gone(key, DeviceState.NOT_ANSWERING, Reason.SOURCE_GONE, str(error)) for key in self._known}
        if samples.keys() == self._known.keys() and not session.lost and not session.power_frozen:
            return samples
        for key, info in self._known.items():
            if key not in samples:
                samples[key] = self._without_session(info)
        for key, word in session.lost.items():
            self._note(Note("gpu-lost", f"{self._known[key].name}: {word}" if key in self._known else word))
        for name in session.power_frozen:
            self._note(Note("power-frozen", name))
        return {key: sample for key, sample in samples.items() if key in self._known}

    def read_processes(self, now: Instant, demand: Demand) -> tuple[ProcessUse, ...]:
        """Who uses the devices; empty while the source rests."""
        if self._session is None:
            return ()
        try:
            uses = self._session.read_processes(now.monotonic_s, utilization=demand.processes)
        except (NvmlError, OSError) as error:
            self._restarted(error)
            return ()
        if self._session.may_not_list:
            self._note(Note("processes-no-permission"))
        return tuple(use for use in uses if use.device in self._known)

    def notes(self) -> tuple[Note, ...]:
        """What happened since the last call."""
        notes, self._notes = tuple(self._notes), []
        return notes

    @property
    def remark(self) -> str:
        """Nothing."""
        return ""

    def release(self) -> None:
        """End the NVML session: an open one keeps the devices awake."""
        self._end()

    def close(self) -> None:
        """End for good."""
        self._end()
        self._library = None

    def _learn(self, inside: tuple[DeviceInfo, ...]) -> None:
        """Bring the inventory up to date; a device once seen stays in it."""
        if self._session is not None:  # instances of a split card end with the split; a card without a name got one
            self._known = {
                key: info for key, info in self._known.items() if info.parent is None and not key.startswith(UNNAMED)
            }
        # A card that was known and is lost now cannot say who it is any more; its place in NVML's order tells.
        listed = {info.key for info in inside}
        missing = {
            info.index
            for key, info in self._known.items()
            if info.parent is None and key not in listed and info.pci_address not in self._asleep
        }
        inside = tuple(info for info in inside if not (info.key.startswith(UNNAMED) and info.index in missing))
        waiting = [placeholder(address, name, index) for index, (address, name) in enumerate(self._bus)]
        here = {info.pci_address for info in inside}
        unseen = [info for info in waiting if info.pci_address not in here | self._asleep]
        unnamed = [info for info in inside if info.key.startswith(UNNAMED)]
        # Cards that were lost before they could say who they are: the PCI bus knows them, if there is no doubt. Other
        # cards on the bus that NVML does not list belong to somebody else (a container sees the whole bus).
        if len(unseen) != len(unnamed):
            unseen = []
        for info in inside:
            if not (unseen and info.key.startswith(UNNAMED)):
                self._known[info.key] = info
        for info in (*unseen, *(info for info in waiting if info.pci_address in self._asleep)):
            self._known.setdefault(info.key, info)
        self._inventory = tuple(self._known.values())

    def _look(self, now_s: float) -> None:
        """Read the power states from the PCI bus, without touching a device."""
        if now_s >= self._bus_due_s:
            self._bus_due_s = now_s + BUS_SCAN_S
            self._bus = self._plugged.cards()
            self._power = {address: self._plugged.power(address) for address, _name in self._bus}
        elif self._restless:
            self._power.update((address, self._plugged.power(address)) for address in self._restless)
        else:
            return
        # A card that may not sleep need not be asked in every sweep.
        self._restless = tuple(address for address, power in self._power.items() if power.can_sleep or power.asleep)
        self._asleep = frozenset(address for address in self._restless if self._power[address].asleep)

    def _ensure(self, now_s: float) -> None:
        """Start NVML if that is allowed now."""
        if self._session is not None:
            if now_s >= self._count_due_s:
                self._count_due_s = now_s + RETRY_S
                self._check(self._session, now_s)
            if self._session is not None and not self._woken():
                return
            self._end()
        asleep = frozenset[str]() if self._keep_awake else self._asleep
        any_awake = len(asleep) < len(self._power) or not self._power
        if not self._rest.may_open(now_s, any_awake=any_awake) and not self._keep_awake:
            self._note(Note("asleep" if not any_awake else "resting", state=SourceState.RESTING))
            return
        if now_s < self._retry_s:
            return
        if self._library is None:
            raise SourceUnavailable("no-driver", state=SourceState.ABSENT)
        try:
            session = self._begin(self._library, asleep)
        except SourceUnavailable as refusal:
            self._refusal = refusal
            self._retry_s = now_s + RETRY_S
            raise
        self._tried = frozenset(self._power) - asleep
        if asleep:
            for index, (address, _name) in enumerate(self._bus):
                if address not in asleep:
                    session.add_address(address, index)
        self._session = session
        self._refusal = None
        self._count_due_s = now_s + RETRY_S
        self._lost_due_s = now_s + self._lost_retry_s

    def _begin(self, library: Library, asleep: frozenset[str]) -> Session:
        try:
            return Session(library, self._root, asleep=asleep)
        except OSError as error:
            raise SourceUnavailable("read-failed", str(error)) from error

    def _check(self, session: Session, now_s: float) -> None:
        """End a session that does not fit the machine any more."""
        try:
            changed = session.count_changed()
        except (NvmlError, OSError) as error:
            self._restarted(error)
            return
        if changed or session.is_stale:
            self._end()
            self._note(Note("devices-changed"))
        elif not session.lost:
            self._lost_retry_s = LOST_RETRY_S
        elif now_s >= self._lost_due_s:
            self._lost_retry_s = min(2 * self._lost_retry_s, LAST_LOST_RETRY_S)
            self._end()

    def _restarted(self, error: NvmlError | OSError) -> None:
        self._end()
        self._note(Note("driver-restarted", str(error), SourceState.FAILED))

    def _slept(self, now: Instant) -> bool:
        """Whether the computer slept since the last read."""
        before, self._before = self._before, now
        if before is None:
            return False
        passed_s = now.monotonic_s - before.monotonic_s
        jumped = now.utc_s - before.utc_s - passed_s > SUSPEND_S
        return jumped or (self._clock_runs_in_sleep and passed_s > ABSENCE_S)

    def _woken(self) -> bool:
        """Whether a card is awake that slept, or was not there, when the session began: only a new one sees it."""
        return not self._power.keys() - self._asleep <= self._tried

    def _maybe_rest(self, now_s: float, samples: Mapping[DeviceKey, DeviceSample]) -> None:
        """Let go of NVML when all its devices could sleep and nothing uses them."""
        assert self._session is not None
        inside = [info for info in self._session.infos if info.pci_address in self._power]
        if self._keep_awake or not inside:
            return
        if not all(self._power[info.pci_address or ""].can_sleep for info in inside):
            return
        idle = all(number(samples[info.key].values.get("gpu_utilization")) == 0 for info in inside)
        idle = idle and not self._session.read_processes(now_s, utilization=False)
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
            with contextlib.suppress(OSError):  # a library that crashed may crash again
                self._session.close()
            self._session = None

    def _note(self, note: Note) -> None:
        if note not in self._notes:
            self._notes.append(note)
