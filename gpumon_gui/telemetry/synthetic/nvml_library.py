"""Knows: NVML's C interface from inside: argument order, struct layouts, return codes. Must not know: who calls it.

A stand-in for ``libnvidia-ml`` that offers its functions as attributes, as ``ctypes.CDLL`` does, takes the same ctypes
arguments and writes raw structs and bytes into them. So everything a driver can do wrong enters *below* the real
source. Layouts and ids follow ``nvml.h`` (through ``pynvml``); the three process structs are packed by hand.
"""

from __future__ import annotations

import ctypes
import struct
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final, TypeAlias

import pynvml

from gpumon_gui.core.clock import Clock

SUCCESS: Final = 0
UNINITIALIZED: Final = 1
INVALID_ARGUMENT: Final = 2
NOT_SUPPORTED: Final = 3
NO_PERMISSION: Final = 4
NOT_FOUND: Final = 6
INSUFFICIENT_SIZE: Final = 7
DRIVER_NOT_LOADED: Final = 9
GPU_IS_LOST: Final = 15
LIB_RM_VERSION_MISMATCH: Final = 18
ARGUMENT_VERSION_MISMATCH: Final = 25

ALL_ONES_32: Final = 0xFFFFFFFF
ALL_ONES_64: Final = 0xFFFFFFFFFFFFFFFF


@dataclass(frozen=True, slots=True)
class Code:
    """A return code in place of a value."""

    code: int


Answer: TypeAlias = "float | bytes | Code"
Figure: TypeAlias = "Answer | Callable[[float], Answer]"
"""A value, raw as NVML has it (per cent, milliwatt, bytes), or a function of the machine's seconds."""


@dataclass(frozen=True, slots=True)
class Client:
    """A process on a card. ``kind``: ``C``, ``G`` or ``CG``. Memory in bytes, utilization in per cent, both raw; with a
    code as ``sm`` the driver has no sample of it."""

    pid: int
    memory: Figure
    kind: str = "C"
    sm: Figure = 0
    memory_busy: Figure = 0
    encoder: Figure = 0
    decoder: Figure = 0
    begins_s: float = float("-inf")
    ends_s: float = float("inf")


@dataclass(frozen=True, slots=True)
class Instance:
    """A MIG instance."""

    gpu_instance: int
    uuid: bytes
    name: bytes
    figures: Mapping[str, Figure]
    clients: tuple[Client, ...] = ()


@dataclass(slots=True)
class Card:
    """A card as the driver sees it. ``figures``: one entry per name in the tables below; a missing one is "not
    supported". ``bus`` is NVML's busId; ``present`` says when it is plugged in; the driver loses it at ``lost_from_s``.
    """

    bus: str
    figures: dict[str, Figure]
    clients: tuple[Client, ...] = ()
    instances: tuple[Instance, ...] = ()
    present: Callable[[float], bool] = lambda _now_s: True
    lost_from_s: float = float("inf")


@dataclass(frozen=True, slots=True)
class Fault:
    """Something that happens in place of a call. ``symbol`` is a C function or ``*``; ``card`` its index or None (all).

    ``act`` may hang, kill the process, or return a code; None: let the call go on.
    """

    act: Callable[[], int | None]
    symbol: str = "*"
    card: int | None = None
    from_s: float = float("-inf")
    until_s: float = float("inf")


#: C function → (figure, number of selecting arguments). The value goes into the last ``byref`` (or the first of two).
_NUMBERS: dict[str, tuple[str, int]] = {
    "nvmlDeviceGetTemperature": ("temperature", 1),
    "nvmlDeviceGetPowerUsage": ("power", 0),
    "nvmlDeviceGetClockInfo": ("clock", 1),
    "nvmlDeviceGetMaxClockInfo": ("clock_max", 1),
    "nvmlDeviceGetPerformanceState": ("pstate", 0),
    "nvmlDeviceGetCurrentClocksEventReasons": ("throttle", 0),
    "nvmlDeviceGetCurrentClocksThrottleReasons": ("throttle", 0),
    "nvmlDeviceGetEnforcedPowerLimit": ("power_limit", 0),
    "nvmlDeviceGetPowerManagementDefaultLimit": ("power_limit_default", 0),
    "nvmlDeviceGetFanSpeed": ("fan", 0),
    "nvmlDeviceGetCurrPcieLinkGeneration": ("pcie_gen", 0),
    "nvmlDeviceGetCurrPcieLinkWidth": ("pcie_width", 0),
    "nvmlDeviceGetMaxPcieLinkGeneration": ("pcie_gen_max", 0),
    "nvmlDeviceGetMaxPcieLinkWidth": ("pcie_width_max", 0),
    "nvmlDeviceGetPcieReplayCounter": ("pcie_replays", 0),
    "nvmlDeviceGetTotalEnergyConsumption": ("energy", 0),
    "nvmlDeviceGetTotalEccErrors": ("ecc", 2),
    "nvmlDeviceGetTemperatureThreshold": ("temperature_limit", 1),
    "nvmlDeviceGetNumGpuCores": ("cores", 0),
    "nvmlDeviceGetMemoryBusWidth": ("bus_width", 0),
    "nvmlDeviceGetArchitecture": ("architecture", 0),
    "nvmlDeviceGetComputeMode": ("compute_mode", 0),
    "nvmlDeviceGetPersistenceMode": ("persistence_mode", 0),
    "nvmlDeviceGetVirtualizationMode": ("virtualization", 0),
    "nvmlDeviceGetDisplayActive": ("display_active", 0),
}
#: The same with two results: the second is a sampling period, or a pending mode.
_PAIRS: dict[str, tuple[str, str]] = {
    "nvmlDeviceGetEncoderUtilization": ("encoder", "sampling_period"),
    "nvmlDeviceGetDecoderUtilization": ("decoder", "sampling_period"),
    "nvmlDeviceGetJpgUtilization": ("jpeg", "sampling_period"),
    "nvmlDeviceGetOfaUtilization": ("ofa", "sampling_period"),
    "nvmlDeviceGetPowerManagementLimitConstraints": ("power_limit_min", "power_limit_max"),
    "nvmlDeviceGetDriverModel": ("driver_model", "driver_model"),
    "nvmlDeviceGetDriverModel_v2": ("driver_model", "driver_model"),
    "nvmlDeviceGetEccMode": ("ecc_mode", "ecc_mode"),
    "nvmlDeviceGetMigMode": ("mig_mode", "mig_mode"),
    "nvmlDeviceGetCudaComputeCapability": ("cc_major", "cc_minor"),
}
_TEXTS: dict[str, str] = {
    "nvmlDeviceGetName": "name",
    "nvmlDeviceGetUUID": "uuid",
    "nvmlDeviceGetVbiosVersion": "vbios",
}
#: C function → (figure per member), struct of 64-bit or 32-bit members.
_STRUCTS: dict[str, dict[str, str]] = {
    "nvmlDeviceGetUtilizationRates": {"gpu": "utilization", "memory": "memory_utilization"},
    "nvmlDeviceGetMemoryInfo": {"total": "memory_total", "free": "memory_free", "used": "memory_used_v1"},
    "nvmlDeviceGetMemoryInfo_v2": {
        "total": "memory_total",
        "reserved": "memory_reserved",
        "free": "memory_free",
        "used": "memory_used",
    },
    "nvmlDeviceGetBAR1MemoryInfo": {"bar1Total": "bar1_total", "bar1Free": "bar1_free", "bar1Used": "bar1_used"},
}
_LISTS = {
    f"nvmlDeviceGet{kind}RunningProcesses{suffix}": (letter, suffix)
    for kind, letter in (("Compute", "C"), ("Graphics", "G"))
    for suffix in ("", "_v2", "_v3")
}
#: Field ids with a 64-bit unsigned value (the others answer 32-bit unsigned): PCIe byte counters.
_WIDE_FIELDS = (197, 198)

#: What a driver of 2016 (R375) lacks: everything that came later.
BEFORE_2017: Final = frozenset(
    {
        "nvmlDeviceGetMemoryInfo_v2",
        "nvmlDeviceGetPciInfo_v3",
        "nvmlInitWithFlags",
        "nvmlDeviceGetCurrentClocksEventReasons",
        "nvmlDeviceGetDriverModel_v2",
        "nvmlDeviceGetJpgUtilization",
        "nvmlDeviceGetOfaUtilization",
        "nvmlDeviceGetTotalEnergyConsumption",
        "nvmlDeviceGetFieldValues",
        "nvmlDeviceGetProcessUtilization",
        "nvmlDeviceGetNumGpuCores",
        "nvmlDeviceGetMemoryBusWidth",
        "nvmlDeviceGetArchitecture",
        "nvmlDeviceGetMigMode",
        "nvmlDeviceGetMaxMigDeviceCount",
        "nvmlDeviceGetMigDeviceHandleByIndex",
        "nvmlDeviceGetGpuInstanceId",
        "nvmlSystemGetCudaDriverVersion_v2",
        *(name for name in _LISTS if name.endswith(("_v2", "_v3"))),
        "nvmlGpmQueryDeviceSupport",
        "nvmlGpmSampleAlloc",
        "nvmlGpmSampleFree",
        "nvmlGpmSampleGet",
        "nvmlGpmMigSampleGet",
        "nvmlGpmMetricsGet",
    }
)


@dataclass(slots=True)
class Driver:
    """The driver as a whole. ``init``: code of nvmlInit. ``outages``: (from, until) seconds in which it is gone;
    afterwards every handle is a new one. ``process_bytes``: size of the process struct of the ``_v3`` functions (24, or
    32 in some R535). ``missing``: functions this version lacks."""

    cards: Sequence[Card]
    version: Figure = b"580.159.03"
    cuda: Figure = 13000
    init: Figure = SUCCESS
    outages: tuple[tuple[float, float], ...] = ()
    process_bytes: int = 24
    missing: frozenset[str] = frozenset()
    faults: tuple[Fault, ...] = ()
    refused_structs: bool = False  #: the ``_v2`` structs are there and refused
    fixed_count: bool = False  #: the number of devices is that of the session's begin (Linux) or of now
    absurd_count: bool = False  #: process lists claim all the room there is
    list_code: Figure = SUCCESS
    utilization_code: Figure = SUCCESS
    #: (pid, sm %, age in s) of extra utilization samples: what drivers keep of dead processes.
    stale_samples: tuple[tuple[int, int, float], ...] = ()


@dataclass(slots=True)
class _Session:
    """From init to shutdown."""

    epoch: int
    cards: list[Card]
    attaches_all: bool
    handles: dict[int, Card | tuple[Card, Instance]] = field(default_factory=dict)


class NvmlStandIn:
    """The library. ``calls`` counts what was asked, ``stale_calls`` uses of handles of a session that is over, and
    ``session_open`` says whether NVML is started (an open session keeps a Linux GPU awake)."""

    def __init__(self, driver: Driver, clock: Clock) -> None:
        self._driver = driver
        self._clock = clock
        self._begin_s = clock.now().monotonic_s
        self._session: _Session | None = None
        self._next_handle = 0x7F00_0000_1000
        self._samples: dict[int, tuple[float, Card, Instance | None] | None] = {}
        self.calls: dict[str, int] = {}
        self.stale_calls = 0
        self._functions: dict[str, Callable[..., int]] = self._offered()

    def __getattr__(self, name: str) -> Callable[..., int]:
        functions: dict[str, Callable[..., int]] = self.__dict__.get("_functions", {})
        if name in functions:
            return functions[name]
        raise AttributeError(f"undefined symbol: {name}")

    @property
    def session_open(self) -> bool:
        """Whether NVML is started."""
        return self._session is not None

    @property
    def attached(self) -> list[str]:
        """Bus ids of the cards that the session keeps awake."""
        if self._session is None:
            return []
        if self._session.attaches_all:
            return [card.bus for card in self._session.cards]
        return [card.bus for card in self._session.handles.values() if isinstance(card, Card)]

    @property
    def open_samples(self) -> int:
        """GPM sample buffers that were not given back."""
        return len(self._samples)

    def now_s(self) -> float:
        """Seconds since the machine was built."""
        return self._clock.now().monotonic_s - self._begin_s

    # -- the table of functions

    def _offered(self) -> dict[str, Callable[..., int]]:
        bodies: dict[str, Callable[..., int]] = {
            "nvmlInit_v2": self._init,
            "nvmlInitWithFlags": self._init,
            "nvmlShutdown": self._shutdown,
            "nvmlSystemGetDriverVersion": self._driver_version,
            "nvmlSystemGetCudaDriverVersion_v2": self._cuda_version,
            "nvmlDeviceGetCount_v2": self._count,
            "nvmlDeviceGetHandleByIndex_v2": self._by_index,
            "nvmlDeviceGetHandleByPciBusId_v2": self._by_bus,
            "nvmlGpmSampleAlloc": self._gpm_alloc,
            "nvmlGpmSampleFree": self._gpm_free,
            "nvmlGpmMetricsGet": self._gpm_metrics,
        }
        per_device: dict[str, Callable[..., int]] = {
            "nvmlDeviceGetPciInfo_v3": self._pci,
            "nvmlDeviceGetPciInfo_v2": self._pci,
            "nvmlDeviceGetFieldValues": self._fields,
            "nvmlDeviceGetProcessUtilization": self._process_utilization,
            "nvmlDeviceGetMaxMigDeviceCount": self._mig_slots,
            "nvmlDeviceGetMigDeviceHandleByIndex": self._mig_handle,
            "nvmlDeviceGetGpuInstanceId": self._mig_id,
            "nvmlGpmQueryDeviceSupport": self._gpm_support,
            "nvmlGpmSampleGet": self._gpm_sample,
            "nvmlGpmMigSampleGet": self._gpm_mig_sample,
        }
        for name in _NUMBERS:
            per_device[name] = self._number(name)
        for name in _PAIRS:
            per_device[name] = self._pair(name)
        for name in _TEXTS:
            per_device[name] = self._text(name)
        for name in _STRUCTS:
            per_device[name] = self._struct(name)
        for name in _LISTS:
            per_device[name] = self._list(name)
        table = {name: self._guarded(name, body) for name, body in bodies.items()}
        table.update({name: self._of_device(name, body) for name, body in per_device.items()})
        return {name: function for name, function in table.items() if name not in self._driver.missing}

    def _guarded(self, name: str, body: Callable[..., int]) -> Callable[..., int]:
        def call(*arguments: Any) -> int:
            self.calls[name] = self.calls.get(name, 0) + 1
            now_s = self.now_s()
            faulty = self._faulty(name, None, now_s)
            if faulty is not None:
                return faulty
            if body not in (self._init, self._shutdown) and not self._alive(now_s):
                return UNINITIALIZED
            return body(*arguments)

        return call

    def _of_device(self, name: str, body: Callable[..., int]) -> Callable[..., int]:
        def call(handle: Any, *arguments: Any) -> int:
            self.calls[name] = self.calls.get(name, 0) + 1
            now_s = self.now_s()
            target = self._session.handles.get(_address(handle)) if self._session is not None else None
            card = target[0] if isinstance(target, tuple) else target
            faulty = self._faulty(name, card, now_s)
            if faulty is not None:
                return faulty
            if not self._alive(now_s):
                return UNINITIALIZED
            if target is None or card is None:
                self.stale_calls += 1
                return INVALID_ARGUMENT
            if now_s >= card.lost_from_s or not card.present(now_s):
                return GPU_IS_LOST
            return body(target, *arguments)

        return call

    def _faulty(self, name: str, card: Card | None, now_s: float) -> int | None:
        for fault in self._driver.faults:
            if fault.symbol not in (name, "*") or not fault.from_s <= now_s < fault.until_s:
                continue
            if fault.card is not None and (card is None or card is not self._driver.cards[fault.card]):
                continue
            code = fault.act()
            if code is not None:
                return code
        return None

    # -- sessions

    def _epoch(self, now_s: float) -> int:
        return sum(begin <= now_s for begin, _end in self._driver.outages)

    def _is_out(self, now_s: float) -> bool:
        return any(begin <= now_s < end for begin, end in self._driver.outages)

    def _alive(self, now_s: float) -> bool:
        return self._session is not None and self._session.epoch == self._epoch(now_s)

    def _init(self, flags: Any = None) -> int:
        now_s = self.now_s()
        if self._is_out(now_s):
            return DRIVER_NOT_LOADED
        answer = _at(self._driver.init, now_s)
        code = answer.code if isinstance(answer, Code) else int(answer)
        if code == SUCCESS:
            cards = [card for card in self._driver.cards if card.present(now_s)]
            self._session = _Session(self._epoch(now_s), cards, flags is None or not flags.value & 2)  # NO_ATTACH
        return code

    def _shutdown(self) -> int:
        if self._session is None:
            return UNINITIALIZED
        self._session = None
        return SUCCESS

    def _handle(self, target: Card | tuple[Card, Instance], out: Any) -> int:
        assert self._session is not None
        self._next_handle += 0x1000  # never the same twice: a handle kept over a restart is found out
        self._session.handles[self._next_handle] = target
        return _put(out, self._next_handle)

    def _count(self, out: Any) -> int:
        assert self._session is not None
        if self._driver.fixed_count:
            return _put(out, len(self._session.cards))
        now_s = self.now_s()
        return _put(out, sum(card.present(now_s) for card in self._driver.cards))

    def _by_index(self, index: Any, out: Any) -> int:
        assert self._session is not None
        if index.value >= len(self._session.cards):
            return INVALID_ARGUMENT
        return self._get_handle(self._session.cards[index.value], out)

    def _by_bus(self, bus: bytes, out: Any) -> int:
        assert self._session is not None
        wanted = bus.decode().lower()
        found = next((card for card in self._session.cards if card.bus.lower() == wanted), None)
        return NOT_FOUND if found is None else self._get_handle(found, out)

    def _get_handle(self, card: Card, out: Any) -> int:
        now_s = self.now_s()
        if now_s >= card.lost_from_s or not card.present(now_s):
            return GPU_IS_LOST
        faulty = self._faulty("handle", card, now_s)  # a fault of this one card: it cannot even be opened
        return self._handle(card, out) if faulty is None else faulty

    def _driver_version(self, buffer: Any, size: Any) -> int:
        return _text_into(_at(self._driver.version, self.now_s()), buffer, size)

    def _cuda_version(self, out: Any) -> int:
        return _answer_into(_at(self._driver.cuda, self.now_s()), out)

    # -- one device

    def _figure(self, target: Card | tuple[Card, Instance], name: str) -> Answer:
        figures = target[1].figures if isinstance(target, tuple) else target.figures
        return _at(figures.get(name, Code(NOT_SUPPORTED)), self.now_s())

    def _number(self, symbol: str) -> Callable[..., int]:
        name, selectors = _NUMBERS[symbol]

        def body(target: Card | tuple[Card, Instance], *arguments: Any) -> int:
            key = ".".join((name, *(str(argument.value) for argument in arguments[:selectors])))
            return _answer_into(self._figure(target, key), arguments[selectors])

        return body

    def _pair(self, symbol: str) -> Callable[..., int]:
        first, second = _PAIRS[symbol]

        def body(target: Card | tuple[Card, Instance], out: Any, second_out: Any) -> int:
            code = _answer_into(self._figure(target, first), out)
            if code != SUCCESS:
                return code
            answer = self._figure(target, second)
            return _put(second_out, 0 if isinstance(answer, Code) else answer)

        return body

    def _text(self, symbol: str) -> Callable[..., int]:
        def body(target: Card | tuple[Card, Instance], buffer: Any, size: Any) -> int:
            if isinstance(target, tuple) and symbol != "nvmlDeviceGetVbiosVersion":
                raw = target[1].name if symbol == "nvmlDeviceGetName" else target[1].uuid
                return _text_into(raw, buffer, size)
            return _text_into(self._figure(target, _TEXTS[symbol]), buffer, size)

        return body

    def _struct(self, symbol: str) -> Callable[..., int]:
        members = _STRUCTS[symbol]

        def body(target: Card | tuple[Card, Instance], reference: Any) -> int:
            out = reference._obj
            refused = self._driver.refused_structs
            if symbol.endswith("_v2") and (refused or out.version != ctypes.sizeof(out) | 2 << 24):
                return ARGUMENT_VERSION_MISMATCH
            answers = {member: self._figure(target, figure) for member, figure in members.items()}
            for answer in answers.values():
                if isinstance(answer, Code):
                    return answer.code
            for member, answer in answers.items():
                setattr(out, member, int(_plain(answer)))
            return SUCCESS

        return body

    def _pci(self, target: Card | tuple[Card, Instance], reference: Any) -> int:
        if isinstance(target, tuple):
            return NOT_SUPPORTED
        answer = self._figure(target, "bus_id")
        if isinstance(answer, Code) and answer.code != NOT_SUPPORTED:
            return answer.code
        out = reference._obj
        raw = answer if isinstance(answer, bytes) else target.bus.encode()
        out.busId = raw
        out.busIdLegacy = raw[-12:]
        return SUCCESS

    def _fields(self, target: Card | tuple[Card, Instance], count: Any, reference: Any) -> int:
        batch = self._figure(target, "fields")
        if isinstance(batch, Code) and batch.code != NOT_SUPPORTED:
            return batch.code
        values = reference._obj
        for index in range(count.value):
            answer = self._figure(target, f"field.{values[index].fieldId}")
            if isinstance(answer, Code):
                values[index].nvmlReturn = answer.code
                continue
            values[index].nvmlReturn = SUCCESS
            wide = values[index].fieldId in _WIDE_FIELDS
            values[index].valueType = 3 if wide else 1  # NVML_VALUE_TYPE_UNSIGNED_LONG_LONG, _UNSIGNED_INT
            values[index].value.ullVal = int(_plain(answer)) & (ALL_ONES_64 if wide else ALL_ONES_32)
        return SUCCESS

    # -- processes

    def _clients(self, target: Card | tuple[Card, Instance]) -> list[tuple[Client, int]]:
        """Processes and the GPU instance they run in. A split card lists those of all its instances."""
        if isinstance(target, tuple):
            found = [(client, target[1].gpu_instance) for client in target[1].clients]
        else:
            found = [(client, ALL_ONES_32) for client in target.clients]
            found += [(c, instance.gpu_instance) for instance in target.instances for c in instance.clients]
        now_s = self.now_s()
        return [(client, where) for client, where in found if client.begins_s <= now_s < client.ends_s]

    def _list(self, symbol: str) -> Callable[..., int]:
        letter, suffix = _LISTS[symbol]

        def body(target: Card | tuple[Card, Instance], count: Any, buffer: Any) -> int:
            refused = _at(self._driver.list_code, self.now_s())
            code = refused.code if isinstance(refused, Code) else int(refused)
            if code != SUCCESS:
                return code
            if self._driver.absurd_count:
                count._obj.value = ALL_ONES_32
                return INSUFFICIENT_SIZE
            found = [(client, where) for client, where in self._clients(target) if letter in client.kind]
            room, count._obj.value = count._obj.value, len(found)
            if room < len(found):
                return INSUFFICIENT_SIZE
            size = 16 if not suffix else self._driver.process_bytes if suffix == "_v3" else 24
            for index, (client, where) in enumerate(found):
                entry = struct.pack("=I4xQ", client.pid, int(_plain(_at(client.memory, self.now_s()))) & ALL_ONES_64)
                entry += struct.pack("=II", where, ALL_ONES_32 if where == ALL_ONES_32 else 0) if size > 16 else b""
                entry += struct.pack("=Q", 0) if size == 32 else b""
                ctypes.memmove(ctypes.byref(buffer, index * size), entry, size)
            return SUCCESS

        return body

    def _process_utilization(
        self, target: Card | tuple[Card, Instance], samples: Any, count: Any, since_us: Any
    ) -> int:
        refused = _at(self._driver.utilization_code, self.now_s())
        code = refused.code if isinstance(refused, Code) else int(refused)
        if code != SUCCESS:
            return code
        now_us = int(self._clock.now().utc_s * 1e6)
        clients = [client for client, _where in self._clients(target)]
        sampled = [client for client in clients if not isinstance(_at(client.sm, self.now_s()), Code)]
        found = [(client.pid, now_us, self._shares(client)) for client in sampled]
        found = [entry for entry in found if any(entry[2])]  # nvml.h: those "that had some non-zero utilization"
        found += [(pid, now_us - int(age_s * 1e6), (sm, 0, 0, 0)) for pid, sm, age_s in self._driver.stale_samples]
        found = [entry for entry in found if entry[1] > since_us.value]
        if not found:
            return NOT_FOUND
        room, count._obj.value = count._obj.value, len(found)
        if room < len(found):
            return INSUFFICIENT_SIZE
        for index, (pid, time_us, shares) in enumerate(found):
            samples[index].pid, samples[index].timeStamp = pid, time_us
            samples[index].smUtil, samples[index].memUtil, samples[index].encUtil, samples[index].decUtil = shares
        return SUCCESS

    def _shares(self, client: Client) -> tuple[int, ...]:
        figures = (client.sm, client.memory_busy, client.encoder, client.decoder)
        return tuple(int(_plain(_at(figure, self.now_s()))) & ALL_ONES_32 for figure in figures)

    # -- MIG

    def _mig_slots(self, target: Card | tuple[Card, Instance], out: Any) -> int:
        if isinstance(target, tuple):
            return INVALID_ARGUMENT
        return _put(out, 7 if target.instances else 0)  # as on an A100 or H100

    def _mig_handle(self, target: Card | tuple[Card, Instance], index: Any, out: Any) -> int:
        if isinstance(target, tuple):
            return INVALID_ARGUMENT
        if index.value >= len(target.instances):
            return NOT_FOUND
        return self._handle((target, target.instances[index.value]), out)

    def _mig_id(self, target: Card | tuple[Card, Instance], out: Any) -> int:
        return _put(out, target[1].gpu_instance) if isinstance(target, tuple) else NOT_SUPPORTED

    # -- GPM

    def _gpm_support(self, target: Card | tuple[Card, Instance], reference: Any) -> int:
        reference._obj.isSupportedDevice = int(self._has_gpm(target))
        return SUCCESS

    def _has_gpm(self, target: Card | tuple[Card, Instance]) -> bool:
        figures = target[1].figures if isinstance(target, tuple) else target.figures
        return any(name.startswith("gpm.") for name in figures)

    def _gpm_alloc(self, out: Any) -> int:
        self._next_handle += 0x1000
        self._samples[self._next_handle] = None
        ctypes.c_void_p.from_address(ctypes.addressof(out._obj)).value = self._next_handle
        return SUCCESS

    def _gpm_free(self, sample: Any) -> int:
        return SUCCESS if self._samples.pop(_address(sample), 0) != 0 else INVALID_ARGUMENT

    def _gpm_sample(self, target: Card | tuple[Card, Instance], sample: Any) -> int:
        if isinstance(target, tuple) or not self._has_gpm(target):
            return NOT_SUPPORTED
        self._samples[_address(sample)] = (self.now_s(), target, None)
        return SUCCESS

    def _gpm_mig_sample(self, target: Card | tuple[Card, Instance], gpu_instance: Any, sample: Any) -> int:
        if isinstance(target, tuple):
            return INVALID_ARGUMENT
        found = next((i for i in target.instances if i.gpu_instance == gpu_instance.value), None)
        if found is None:
            return NOT_FOUND
        self._samples[_address(sample)] = (self.now_s(), target, found)
        return SUCCESS

    def _gpm_metrics(self, reference: Any) -> int:
        request = reference._obj
        if request.version != pynvml.NVML_GPM_METRICS_GET_VERSION:
            return ARGUMENT_VERSION_MISMATCH
        older, newer = (self._samples.get(_address(sample)) for sample in (request.sample1, request.sample2))
        if older is None or newer is None or newer[0] <= older[0]:
            return INVALID_ARGUMENT
        figures = newer[1].figures if newer[2] is None else newer[2].figures
        for index in range(request.numMetrics):
            metric = request.metrics[index]
            answer = _at(figures.get(f"gpm.{metric.metricId}", Code(NOT_SUPPORTED)), (older[0] + newer[0]) / 2)
            metric.nvmlReturn = answer.code if isinstance(answer, Code) else SUCCESS
            metric.value = 0.0 if isinstance(answer, Code) else float(_plain(answer))
        return SUCCESS


def _at(figure: Figure, now_s: float) -> Answer:
    return figure(now_s) if callable(figure) else figure


def _plain(answer: Answer) -> float:
    assert isinstance(answer, int | float), answer
    return answer


def _put(out: Any, raw: float | bytes) -> int:
    target = out._obj
    target.value = int(raw) & (1 << 8 * ctypes.sizeof(target)) - 1
    return SUCCESS


def _answer_into(answer: Answer, out: Any) -> int:
    return answer.code if isinstance(answer, Code) else _put(out, answer)


def _text_into(answer: Answer, buffer: Any, size: Any) -> int:
    if isinstance(answer, Code):
        return answer.code
    assert isinstance(answer, bytes), answer
    raw = answer[: size.value - 1] + b"\0"
    ctypes.memmove(buffer, raw, len(raw))
    return SUCCESS


def _address(pointer: Any) -> int:
    return ctypes.cast(pointer, ctypes.c_void_p).value or 0
