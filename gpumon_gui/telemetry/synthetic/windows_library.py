"""Knows: pdh.dll's and gdi32.dll's functions from the inside, as far as GPUs go. Must not know: who calls them.

Stand-ins that offer the functions as attributes, take ctypes arguments and write raw structs. Layouts: pdh.h and
d3dkmthk.h (through ``telemetry.pdh.library`` and ``telemetry.dxgi.library``, which state them).
"""

from __future__ import annotations

import ctypes
import struct
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from gpumon_gui.core.clock import Clock
from gpumon_gui.telemetry.dxgi import library as kmt
from gpumon_gui.telemetry.dxgi.pnp import POWER_D0, POWER_D3, PnpDevice
from gpumon_gui.telemetry.pdh import status as pdh_status
from gpumon_gui.telemetry.synthetic.loads import Load
from gpumon_gui.telemetry.synthetic.nvml_library import NvmlStandIn

GIB = 1 << 30
DOZE_S = 10.0  #: a laptop's GPU is in D3 so long after its last use (omencore pull request 166)
_ITEM = struct.Struct("<QI4xq")
_ITEM_DOUBLE = struct.Struct("<QI4xd")


@dataclass(frozen=True, slots=True)
class Worker:
    """A process on an adapter: engine (its number on the adapter) → load; memory in GiB."""

    pid: int
    engines: Mapping[int, Load] = field(default_factory=dict)
    local_gib: float = 0.0
    non_local_gib: float = 0.0


@dataclass(frozen=True, slots=True)
class Adapter:
    """An adapter as Windows sees it. ``engines``: counters' engine types in the order of their numbers."""

    luid: int
    name: str
    vendor_id: int
    device_id: int
    type_bits: int
    address: tuple[int, int, int]
    dedicated_gib: float
    shared_gib: float
    engines: tuple[str, ...]
    workers: tuple[Worker, ...] = ()
    temperature_c: float = 0.0
    power_state: Callable[[], int | None] = lambda: POWER_D0

    @property
    def place(self) -> str:
        """How instance names spell the LUID."""
        return f"luid_0x{self.luid >> 32:08X}_0x{self.luid & 0xFFFFFFFF:08X}_phys_0"


class PdhStandIn:
    """pdh.dll on a machine with these adapters. ``add_status``: what adding any counter answers (0: fine)."""

    def __init__(self, adapters: Sequence[Adapter], clock: Clock, *, add_status: int = 0) -> None:
        self._adapters = adapters
        self._clock = clock
        self._begin_s = clock.now().monotonic_s
        self._add_status = add_status
        self._paths: dict[int, str] = {}
        self._collects = 0
        self._next = 0x7FFA_0000_1000
        self.PdhOpenQueryW = _function(self._open)
        self.PdhAddEnglishCounterW = _function(self._add)
        self.PdhCollectQueryData = _function(self._collect)
        self.PdhGetFormattedCounterArrayW = _function(self._array)
        self.PdhCloseQuery = _function(self._close)

    def _open(self, _source: Any, _user: int, out: Any) -> int:
        self._next += 16
        self._collects = 0
        out._obj.value = self._next
        return 0

    def _add(self, _query: int, path: int, _user: int, out: Any) -> int:
        if self._add_status:
            return self._add_status
        self._next += 16
        self._paths[self._next] = _wide(path)
        out._obj.value = self._next
        return 0

    def _collect(self, _query: int) -> int:
        self._collects += 1
        return 0

    def _close(self, _query: int) -> int:
        self._paths.clear()
        return 0

    def _array(self, counter: int, flags: int, size: Any, count: Any, buffer: int | None) -> int:
        rows = self._rows(self._paths[counter], self._clock.now().monotonic_s - self._begin_s)
        if rows is None:
            return pdh_status.INVALID_DATA  # a rate after one look
        names = [name.encode("utf-16-le") + b"\0\0" for name, _value in rows]
        needed = 24 * len(rows) + sum(len(name) for name in names)
        room, size._obj.value, count._obj.value = size._obj.value, needed, len(rows)
        if buffer is None or room < needed:
            return pdh_status.MORE_DATA
        item, texts, place = b"", b"", buffer + 24 * len(rows)
        layout = _ITEM_DOUBLE if flags & 0x200 else _ITEM  # PDH_FMT_DOUBLE
        for name, (_name, value) in zip(names, rows, strict=True):
            item += layout.pack(place + len(texts), pdh_status.NEW_DATA, value if flags & 0x200 else int(value))
            texts += name
        ctypes.memmove(buffer, item + texts, needed)
        return 0

    def _rows(self, path: str, now_s: float) -> list[tuple[str, float]] | None:
        rows: list[tuple[str, float]] = []
        if "GPU Engine" in path:
            if self._collects < 2:
                return None
            for adapter in self._adapters:
                for worker in adapter.workers:
                    for number, engine in enumerate(adapter.engines):
                        busy = 100 * worker.engines[number](now_s) if number in worker.engines else 0.0
                        rows.append((f"pid_{worker.pid}_{adapter.place}_eng_{number}_engtype_{engine}", busy))
            return rows
        for adapter in self._adapters:
            if "Adapter Memory" in path:
                shared = "Shared" in path
                used = sum(worker.non_local_gib if shared else worker.local_gib for worker in adapter.workers)
                rows.append((adapter.place, used * GIB))
                continue
            for worker in adapter.workers:
                used = worker.non_local_gib if "Non Local" in path else worker.local_gib
                rows.append((f"pid_{worker.pid}_{adapter.place}", used * GIB))
        return rows


class KmtStandIn:
    """gdi32.dll's D3DKMT functions on a machine with these adapters."""

    def __init__(self, adapters: Sequence[Adapter]) -> None:
        self._adapters = {0x4000_0000 + 0x40 * number: adapter for number, adapter in enumerate(adapters)}
        self.D3DKMTEnumAdapters3 = _function(self._enumerate)
        self.D3DKMTQueryAdapterInfo = _function(self._query)
        self.D3DKMTCloseAdapter = _function(self._close)

    def _enumerate(self, reference: Any) -> int:
        request = reference._obj
        room, request.NumAdapters = request.NumAdapters, len(self._adapters)
        if not request.pAdapters:
            return kmt.SUCCESS
        if room < len(self._adapters):
            return kmt.BUFFER_TOO_SMALL
        infos = (kmt.AdapterInfo * room).from_address(request.pAdapters)
        for info, (handle, adapter) in zip(infos, self._adapters.items(), strict=False):
            info.hAdapter = handle
            info.AdapterLuid = kmt.Luid(adapter.luid & 0xFFFFFFFF, adapter.luid >> 32)
        return kmt.SUCCESS

    def _close(self, _reference: Any) -> int:
        return kmt.SUCCESS

    def _query(self, reference: Any) -> int:
        request = reference._obj
        adapter = self._adapters.get(request.hAdapter)
        if adapter is None:
            return kmt.INVALID_HANDLE
        answer = self._answer(adapter, request.Type, request.pPrivateDriverData)
        if answer is None:
            return kmt.INVALID_PARAMETER
        if len(answer) > request.PrivateDriverDataSize:
            return kmt.BUFFER_TOO_SMALL
        ctypes.memmove(request.pPrivateDriverData, answer, len(answer))
        return kmt.SUCCESS

    def _answer(self, adapter: Adapter, question: int, data: int) -> bytes | None:
        if question == kmt.ADAPTERTYPE:
            return struct.pack("<I", adapter.type_bits)
        if question == kmt.ADAPTERREGISTRYINFO:
            name = adapter.name.encode("utf-16-le")
            return name.ljust(ctypes.sizeof(kmt.AdapterRegistryInfo), b"\0")
        if question == kmt.ADAPTERADDRESS:
            return struct.pack("<III", *adapter.address)
        if question == kmt.GETSEGMENTSIZE:
            return struct.pack("<QQQ", int(adapter.dedicated_gib * GIB), 0, int(adapter.shared_gib * GIB))
        if question == kmt.PHYSICALADAPTERDEVICEIDS:
            return struct.pack("<7I", 0, adapter.vendor_id, adapter.device_id, 0, 0, 0, 4)
        if question == kmt.DRIVERVERSION:
            return struct.pack("<I", 3100)  # WDDM 3.1
        if question == kmt.KMD_DRIVER_VERSION:
            return struct.pack("<Q", 32 << 48 | 0 << 32 | 15 << 16 | 9186)
        if question == kmt.WDDM_2_7_CAPS:
            return struct.pack("<I", 0b11)
        if question == kmt.NODEMETADATA:
            return self._node(adapter, struct.unpack("<I", ctypes.string_at(data, 4))[0] & 0xFFFF)
        if question == kmt.ADAPTERPERFDATA:
            perf = kmt.AdapterPerfData(Temperature=int(10 * adapter.temperature_c), MemoryFrequency=7_001_000_000)
            return bytes(perf)
        return None

    @staticmethod
    def _node(adapter: Adapter, number: int) -> bytes | None:
        if number >= len(adapter.engines):
            return None
        text = adapter.engines[number].encode("utf-16-le")[:62].ljust(64, b"\0")
        return struct.pack("<II", number, 0) + text + struct.pack("<IBB", 0, 1, 0)


class PnpStandIn:
    """The plug-and-play manager: where the adapters sit and in which power state they are."""

    def __init__(self, adapters: Sequence[Adapter]) -> None:
        self._adapters = [adapter for adapter in adapters if any(adapter.address)]

    def devices(self) -> tuple[PnpDevice, ...]:
        """Display adapters present."""
        return tuple(
            PnpDevice(number, one.address, "", f"PCI\\VEN_{one.vendor_id:04X}&DEV_{one.device_id:04X}")
            for number, one in enumerate(self._adapters, 1)
        )

    def power_state(self, node: int) -> int | None:
        """DEVICE_POWER_STATE."""
        return self._adapters[node - 1].power_state()


class Doze:
    """Power state of a Windows laptop's second GPU: off when nobody used it for 10 s. ``wakes`` counts how often NVML
    was started on it while it was off."""

    def __init__(self, clock: Clock, library: NvmlStandIn, bus: str, used: Callable[[float], bool]) -> None:
        self._clock = clock
        self._begin_s = clock.now().monotonic_s
        self._library = library
        self._bus = bus
        self._used = used
        self._last_use_s = float("-inf")
        self._is_off = not used(0.0)
        self.wakes = 0

    def __call__(self) -> int:
        """DEVICE_POWER_STATE now."""
        now_s = self._clock.now().monotonic_s - self._begin_s
        held = self._bus in self._library.attached
        self.wakes += self._is_off and held
        if held or self._used(now_s):
            self._last_use_s = now_s
        self._is_off = now_s - self._last_use_s >= DOZE_S
        return POWER_D3 if self._is_off else POWER_D0


class EmptyRegistry:
    """A registry without the keys in question."""

    def subkeys(self, path: str) -> tuple[str, ...]:
        """None."""
        return ()

    def values(self, path: str) -> Mapping[str, object]:
        """None."""
        return {}


def _function(body: Callable[..., int]) -> Callable[..., int]:
    """A plain function, on which prototypes can be set as on a foreign one."""

    def call(*arguments: Any) -> int:
        return body(*arguments)

    return call


def _wide(address: int) -> str:
    raw = b""
    while not raw.endswith(b"\0\0") or len(raw) % 2:
        raw += ctypes.string_at(address + len(raw), 2)
    return raw[:-2].decode("utf-16-le")
