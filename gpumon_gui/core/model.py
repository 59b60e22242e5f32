"""Knows: devices, processes and samples as the rest of the program sees them. Must not know: any source.

Everything here is frozen: samples cross threads and processes.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from types import MappingProxyType
from typing import Final, NewType

from gpumon_gui.core.values import NOT_READ, Value

DeviceKey = NewType("DeviceKey", str)
"""Names one card for as long as it is plugged in: ``pci:00000000:01:00.0``, ``luid:…``, ``uuid:…``. Made by
:func:`gpumon_gui.core.identity.key_of`; never an index."""

EMPTY: Mapping[str, Value] = MappingProxyType({})

#: Two ways to tell when a process started differ by less (boot time and ticks on Linux).
SAME_START_S: Final = 2.0


class DeviceKind(StrEnum):
    """What sort of adapter it is."""

    DISCRETE = "discrete"
    INTEGRATED = "integrated"
    NPU = "npu"
    SOFTWARE = "software"  #: Microsoft Basic Render Driver and the like
    VIRTUAL = "virtual"  #: indirect displays, paravirtual adapters
    MIG = "mig"  #: one instance of a split card
    UNKNOWN = "unknown"


class DeviceState(StrEnum):
    """How a device is doing, as far as a source can tell."""

    OK = "ok"
    ASLEEP = "asleep"
    LOST = "lost"  #: the driver lost it (fell off the bus, hot unplug)
    SICK = "sick"  #: answers, but what it says cannot be
    NOT_ANSWERING = "not_answering"


class EngineKind(StrEnum):
    """What an engine is for; its name stays as the source spells it."""

    GRAPHICS = "3d"
    COMPUTE = "compute"
    COPY = "copy"
    VIDEO_DECODE = "video_decode"
    VIDEO_ENCODE = "video_encode"
    VIDEO_PROCESSING = "video_processing"
    NEURAL = "neural"
    OTHER = "other"


@dataclass(frozen=True, slots=True)
class DeviceInfo:
    """What is known of a device besides its changing values.

    ``vendor`` is lower case: ``nvidia``, ``amd``, ``intel`` …, a PCI id where no name is known.
    ``pci_address`` is ``dddddddd:bb:dd.f`` in lower case with an 8-digit domain (NVML's busId form), ``luid`` Windows'
    64-bit adapter id, ``uuid`` the vendor's; each may be unknown. ``index`` is the source's own order and is shown,
    never used as identity. ``parent`` is the card a MIG instance belongs to.
    """

    key: DeviceKey
    name: str
    vendor: str = ""
    kind: DeviceKind = DeviceKind.UNKNOWN
    index: int = 0
    pci_address: str | None = None
    luid: int | None = None
    uuid: str | None = None
    parent: DeviceKey | None = None
    sources: tuple[str, ...] = ()
    static: Mapping[str, Value] = field(default_factory=lambda: EMPTY)


@dataclass(frozen=True, slots=True)
class EngineSample:
    """Busy share of one engine. ``name`` is the source's spelling (``Compute_0``, ``3D``), ``id`` unique per device."""

    id: str
    name: str
    kind: EngineKind
    utilization: Value


@dataclass(frozen=True, slots=True)
class DeviceSample:
    """The changing values of one device: metric id → value."""

    key: DeviceKey
    state: DeviceState = DeviceState.OK
    detail: str = ""
    values: Mapping[str, Value] = field(default_factory=lambda: EMPTY)
    engines: tuple[EngineSample, ...] = ()


class UseKind(StrEnum):
    """How a process uses a device, as the driver lists it."""

    COMPUTE = "C"
    GRAPHICS = "G"
    BOTH = "C+G"
    UNKNOWN = "?"


@dataclass(frozen=True, slots=True)
class ProcessUse:
    """What one process does on one device, as one source sees it.

    Values are keyed by ``process_*`` metric ids. ``engine`` names the busiest engine where the source knows it.
    """

    pid: int
    device: DeviceKey
    kind: UseKind
    values: Mapping[str, Value] = field(default_factory=lambda: EMPTY)
    engine: str = ""


class ProcessPresence(StrEnum):
    """Whether the operating system knows the pid that a driver lists."""

    RUNNING = "running"
    ZOMBIE = "zombie"  #: exited, its parent has not collected it
    EXITED = "exited"  #: no such pid, yet the driver still holds memory for it
    FOREIGN = "foreign"  #: a pid of another namespace: container, WSL, other virtual machine


@dataclass(frozen=True, slots=True)
class ProcessSample:
    """One process with all its device uses. ``started_utc_s`` pins the pid to this very process (:meth:`is_same`)."""

    pid: int
    started_utc_s: float | None
    name: str
    presence: ProcessPresence
    ppid: int | None = None
    parents: tuple[str, ...] = ()
    command: tuple[str, ...] = ()
    executable: str = ""
    user: str = ""
    framework: str = ""
    environment: str = ""
    uses: tuple[ProcessUse, ...] = ()
    values: Mapping[str, Value] = field(default_factory=lambda: EMPTY)

    def is_same(self, pid: int, started_utc_s: float | None) -> bool:
        """Whether it is the process of that number which started then, and not another that got the number later. Where
        a start is unknown the number counts."""
        if self.pid != pid or self.started_utc_s is None or started_utc_s is None:
            return self.pid == pid
        return abs(self.started_utc_s - started_utc_s) <= SAME_START_S


@dataclass(frozen=True, slots=True)
class HostSample:
    """CPU and memory of the machine; ``cores`` are busy fractions per logical core."""

    values: Mapping[str, Value] = field(default_factory=lambda: EMPTY)
    cores: tuple[float, ...] = ()


class SourceState(StrEnum):
    """Whether a source works."""

    OK = "ok"
    ABSENT = "absent"  #: nothing of its kind on this machine; not a fault
    FAILED = "failed"
    SLOW = "slow"  #: over its budget three times: read less often
    RESTING = "resting"  #: let go of its devices so that they can sleep
    NOT_ANSWERING = "not_answering"  #: hung; the sampler was restarted without it


@dataclass(frozen=True, slots=True)
class SourceHealth:
    """How a source is doing. ``code`` selects the sentence shown (``core.reasons``), ``detail`` is technical."""

    name: str
    state: SourceState
    code: str = ""
    detail: str = ""
    duration_s: float = 0.0
    reads: int = 0
    failures: int = 0
    implausible: int = 0


@dataclass(frozen=True, slots=True)
class Cost:
    """What the sampler itself costs: CPU as a fraction of one core, resident bytes, seconds the last sweep took."""

    cpu: Value = NOT_READ
    rss_bytes: Value = NOT_READ
    sweep_s: float = 0.0


@dataclass(frozen=True, slots=True)
class Sample:
    """One sweep over all sources, merged.

    ``interval_s`` is the measured time since the sweep before (0 for the first). ``inventory`` is complete in every
    sample: a device that was lost keeps its entry.
    """

    sequence: int
    monotonic_s: float
    utc_s: float
    interval_s: float
    inventory: tuple[DeviceInfo, ...] = ()
    devices: Mapping[DeviceKey, DeviceSample] = field(default_factory=lambda: MappingProxyType({}))
    processes: tuple[ProcessSample, ...] = ()
    host: HostSample = HostSample()
    health: tuple[SourceHealth, ...] = ()
    cost: Cost = Cost()

    def info(self, key: DeviceKey) -> DeviceInfo | None:
        """The inventory entry of a device, or None."""
        return next((info for info in self.inventory if info.key == key), None)


@dataclass(frozen=True, slots=True)
class Demand:
    """What the consumer wants read. Cheap core metrics always are; the rest only when shown or needed by a watch.

    ``details``: GPM, field values, link traffic. ``processes``: who uses the GPU. ``cpu_processes``: also look for
    framework processes that do not use the GPU. ``pids``: these and all their descendants too, whatever they do.
    ``keep_awake``: read a laptop's GPU also where that wakes it or keeps it from falling asleep.
    """

    interval_s: float = 1.0
    details: bool = True
    processes: bool = True
    cpu_processes: bool = True
    pids: tuple[int, ...] = ()
    keep_awake: bool = False
