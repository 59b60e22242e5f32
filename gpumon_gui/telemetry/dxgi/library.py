"""Knows: gdi32.dll's D3DKMT functions and struct layouts. Must not know: what is shown.

Layouts and numbers are those of d3dkmthk.h and d3dkmdt.h (learn.microsoft.com, windows-hardware/drivers/ddi/d3dkmthk);
``D3DKMTQueryAdapterInfo`` is documented, needs no rights and no COM. Fixed-width ctypes keep the layouts right on
every system. An adapter handle is a number of 32 bits, valid until the driver restarts.
"""

from __future__ import annotations

import ctypes
import sys
from ctypes import POINTER, Structure, c_int32, c_uint8, c_uint16, c_uint32, c_uint64, c_void_p
from typing import Any, ClassVar, NamedTuple, TypeVar

from gpumon_gui.core.model import SourceState
from gpumon_gui.telemetry.base import SourceUnavailable

# KMTQUERYADAPTERINFOTYPE
GETSEGMENTSIZE = 3
ADAPTERADDRESS = 6
ADAPTERREGISTRYINFO = 8
DRIVERVERSION = 13
ADAPTERTYPE = 15
UMD_DRIVER_VERSION = 18
NODEMETADATA = 25
PHYSICALADAPTERDEVICEIDS = 31
KMD_DRIVER_VERSION = 49
ADAPTERPERFDATA = 62
ADAPTERPERFDATA_CAPS = 63
WDDM_2_7_CAPS = 70

# Filter of EnumAdapters3: without it compute-only adapters (NPUs) and display-only ones are left out.
_INCLUDE_COMPUTE_ONLY = 1
_INCLUDE_DISPLAY_ONLY = 2

SUCCESS = 0x00000000
NOT_IMPLEMENTED = 0xC0000002
INVALID_HANDLE = 0xC0000008
INVALID_PARAMETER = 0xC000000D
BUFFER_TOO_SMALL = 0xC0000023
NOT_SUPPORTED = 0xC00000BB
#: This system or driver does not know the question.
UNKNOWN_QUESTION = frozenset({NOT_IMPLEMENTED, INVALID_PARAMETER, NOT_SUPPORTED})


class Luid(Structure):
    """LUID."""

    _fields_ = (("LowPart", c_uint32), ("HighPart", c_int32))


class AdapterInfo(Structure):
    """D3DKMT_ADAPTERINFO."""

    _fields_ = (
        ("hAdapter", c_uint32),
        ("AdapterLuid", Luid),
        ("NumOfSources", c_uint32),
        ("bPrecisePresentRegionsPreferred", c_int32),
    )


class EnumAdapters2(Structure):
    """D3DKMT_ENUMADAPTERS2."""

    _fields_ = (("NumAdapters", c_uint32), ("pAdapters", c_void_p))


class EnumAdapters3(Structure):
    """D3DKMT_ENUMADAPTERS3."""

    _fields_ = (("Filter", c_uint64), ("NumAdapters", c_uint32), ("pAdapters", c_void_p))


class QueryAdapterInfo(Structure):
    """D3DKMT_QUERYADAPTERINFO."""

    _fields_ = (
        ("hAdapter", c_uint32),
        ("Type", c_uint32),
        ("pPrivateDriverData", c_void_p),
        ("PrivateDriverDataSize", c_uint32),
    )


class CloseAdapter(Structure):
    """D3DKMT_CLOSEADAPTER."""

    _fields_ = (("hAdapter", c_uint32),)


class AdapterAddress(Structure):
    """D3DKMT_ADAPTERADDRESS. There is no domain."""

    _fields_ = (("BusNumber", c_uint32), ("DeviceNumber", c_uint32), ("FunctionNumber", c_uint32))


class AdapterRegistryInfo(Structure):
    """D3DKMT_ADAPTERREGISTRYINFO: four strings of 260 UTF-16 units."""

    _fields_ = (
        ("AdapterString", c_uint16 * 260),
        ("BiosString", c_uint16 * 260),
        ("DacType", c_uint16 * 260),
        ("ChipType", c_uint16 * 260),
    )


class SegmentSizeInfo(Structure):
    """D3DKMT_SEGMENTSIZEINFO, bytes."""

    _fields_ = (
        ("DedicatedVideoMemorySize", c_uint64),
        ("DedicatedSystemMemorySize", c_uint64),
        ("SharedSystemMemorySize", c_uint64),
    )


class DeviceIds(Structure):
    """D3DKMT_QUERY_DEVICE_IDS."""

    _fields_ = (
        ("PhysicalAdapterIndex", c_uint32),
        ("VendorID", c_uint32),
        ("DeviceID", c_uint32),
        ("SubVendorID", c_uint32),
        ("SubSystemID", c_uint32),
        ("RevisionID", c_uint32),
        ("BusType", c_uint32),
    )


class AdapterPerfData(Structure):
    """D3DKMT_ADAPTER_PERFDATA. Frequencies in Hz, temperature in 0.1 °C, power in 0.1 % of the TDP."""

    _fields_ = (
        ("PhysicalAdapterIndex", c_uint32),
        ("MemoryFrequency", c_uint64),
        ("MaxMemoryFrequency", c_uint64),
        ("MaxMemoryFrequencyOC", c_uint64),
        ("MemoryBandwidth", c_uint64),
        ("PCIEBandwidth", c_uint64),
        ("FanRPM", c_uint32),
        ("Power", c_uint32),
        ("Temperature", c_uint32),
        ("PowerStateOverride", c_uint8),
    )


class AdapterPerfDataCaps(Structure):
    """D3DKMT_ADAPTER_PERFDATACAPS."""

    _fields_ = (
        ("PhysicalAdapterIndex", c_uint32),
        ("MaxMemoryBandwidth", c_uint64),
        ("MaxPCIEBandwidth", c_uint64),
        ("MaxFanRPM", c_uint32),
        ("TemperatureMax", c_uint32),
        ("TemperatureWarning", c_uint32),
    )


class NodeMetadata(Structure):
    """D3DKMT_NODEMETADATA: 78 bytes, since the header packs it without gaps."""

    _pack_ = 1
    _fields_ = (
        ("NodeOrdinalAndAdapterIndex", c_uint32),
        ("EngineType", c_uint32),
        ("FriendlyName", c_uint16 * 32),
        ("Flags", c_uint32),
        ("GpuMmuSupported", c_uint8),
        ("IoMmuSupported", c_uint8),
    )


class _Uint(Structure):
    _fields_ = (("value", c_uint32),)


class _Ulonglong(Structure):
    _fields_ = (("value", c_uint64),)


S = TypeVar("S", bound=Structure)

PROTOTYPES: dict[str, tuple[Any, tuple[Any, ...]]] = {
    "D3DKMTEnumAdapters3": (c_uint32, (POINTER(EnumAdapters3),)),  # Windows 10 2004 and later
    "D3DKMTEnumAdapters2": (c_uint32, (POINTER(EnumAdapters2),)),
    "D3DKMTQueryAdapterInfo": (c_uint32, (POINTER(QueryAdapterInfo),)),
    "D3DKMTCloseAdapter": (c_uint32, (POINTER(CloseAdapter),)),
}

# Adapters may be added between counting and listing.
_ATTEMPTS = 4
_MAX_ADAPTERS = 256


class KmtError(Exception):
    """A D3DKMT call failed. ``status`` is the unsigned NTSTATUS."""

    def __init__(self, function: str, status: int) -> None:
        super().__init__(f"{function}: 0x{status:08X}")
        self.status = status


class Opened(NamedTuple):
    """An adapter and the handle to it, to be closed by :meth:`D3dkmt.close`."""

    handle: int
    luid: int


class EngineNode(NamedTuple):
    """One engine as the driver describes it. ``engine_type`` is DXGK_ENGINE_TYPE; OTHER engines have a name."""

    engine_type: int
    name: str


class D3dkmt:
    """The calls the source needs, over a loaded gdi32.dll or a stand-in with the same functions."""

    #: DXGK_ENGINE_TYPE in words, spelled as the counters spell them.
    ENGINE_TYPES: ClassVar[tuple[str, ...]] = (
        "Other",
        "3D",
        "VideoDecode",
        "VideoEncode",
        "VideoProcessing",
        "SceneAssembly",
        "Copy",
        "Overlay",
        "Crypto",
        "VideoCodec",
    )

    def __init__(self, dll: Any) -> None:
        self._functions: dict[str, Any] = {}
        for name, (result, arguments) in PROTOTYPES.items():
            function = getattr(dll, name, None)
            if function is None:
                continue
            function.restype = result
            function.argtypes = arguments
            self._functions[name] = function
        self._enum3 = "D3DKMTEnumAdapters3" in self._functions

    def count(self) -> int:
        """How many adapters there are (or room for them), without opening any. Raises KmtError."""
        return self._enumerate(None, 0)

    def enumerate(self) -> list[Opened]:
        """All adapters, compute-only ones included where Windows can tell them; one handle each. Raises KmtError."""
        for _attempt in range(_ATTEMPTS):
            room = self._enumerate(None, 0)
            if room == 0:
                return []
            infos = (AdapterInfo * min(room + 4, _MAX_ADAPTERS))()
            try:
                found = self._enumerate(ctypes.addressof(infos), len(infos))
            except KmtError as error:
                if error.status == BUFFER_TOO_SMALL:
                    continue
                raise
            return [Opened(info.hAdapter, _luid(info.AdapterLuid)) for info in infos[:found]]
        raise KmtError("D3DKMTEnumAdapters", BUFFER_TOO_SMALL)

    def close(self, handle: int) -> None:
        """Give a handle back. Never raises: after a driver restart it is gone anyway."""
        self._functions["D3DKMTCloseAdapter"](ctypes.byref(CloseAdapter(handle)))

    def adapter_type(self, handle: int) -> int:
        """The bits of D3DKMT_ADAPTERTYPE. Raises KmtError, for a stale handle too."""
        return int(self._ask(handle, ADAPTERTYPE, _Uint()).value)

    def name(self, handle: int) -> str:
        """The adapter's name. Raises KmtError."""
        return _text(self._ask(handle, ADAPTERREGISTRYINFO, AdapterRegistryInfo()).AdapterString)

    def address(self, handle: int) -> tuple[int, int, int]:
        """PCI bus, device, function. Raises KmtError."""
        address = self._ask(handle, ADAPTERADDRESS, AdapterAddress())
        return address.BusNumber, address.DeviceNumber, address.FunctionNumber

    def segments(self, handle: int) -> tuple[int, int]:
        """Dedicated and shared memory in bytes. Raises KmtError."""
        sizes = self._ask(handle, GETSEGMENTSIZE, SegmentSizeInfo())
        return sizes.DedicatedVideoMemorySize, sizes.SharedSystemMemorySize

    def device_ids(self, handle: int) -> tuple[int, int]:
        """PCI vendor and device id. Raises KmtError."""
        ids = self._ask(handle, PHYSICALADAPTERDEVICEIDS, DeviceIds())
        return int(ids.VendorID), int(ids.DeviceID)

    def driver_version(self, handle: int) -> int:
        """Four times 16 bits. Raises KmtError."""
        try:
            return int(self._ask(handle, KMD_DRIVER_VERSION, _Ulonglong()).value)
        except KmtError:
            return int(self._ask(handle, UMD_DRIVER_VERSION, _Ulonglong()).value)

    def wddm_version(self, handle: int) -> int:
        """Driver model in thousandths: 3100 is WDDM 3.1. Raises KmtError."""
        return int(self._ask(handle, DRIVERVERSION, _Uint()).value)

    def scheduling(self, handle: int) -> int:
        """Bits of hardware-accelerated scheduling: 1 supported, 2 enabled, 4 enabled by default. Raises KmtError."""
        return int(self._ask(handle, WDDM_2_7_CAPS, _Uint()).value)

    def node(self, handle: int, ordinal: int, physical: int = 0) -> EngineNode:
        """One engine; its ordinal is the ``eng_<n>`` of the counters. Raises KmtError past the last one."""
        data = NodeMetadata(NodeOrdinalAndAdapterIndex=ordinal | physical << 16)
        try:
            node = self._ask(handle, NODEMETADATA, data)
        except KmtError as error:
            if error.status != BUFFER_TOO_SMALL:
                raise
            node = self._ask(handle, NODEMETADATA, data, ctypes.sizeof(data) + 2)  # compiled without packing
        known = node.EngineType < len(self.ENGINE_TYPES)
        name = _text(node.FriendlyName) or (self.ENGINE_TYPES[node.EngineType] if known else "")
        return EngineNode(node.EngineType, name)

    def perf_data(self, handle: int) -> AdapterPerfData:
        """Sensors, as the driver gives them: 0 where it gives none. Wakes a sleeping adapter. Raises KmtError."""
        return self._ask(handle, ADAPTERPERFDATA, AdapterPerfData())

    def perf_data_caps(self, handle: int) -> AdapterPerfDataCaps:
        """Limits of the sensors. Raises KmtError."""
        return self._ask(handle, ADAPTERPERFDATA_CAPS, AdapterPerfDataCaps())

    def _enumerate(self, infos: int | None, room: int) -> int:
        if self._enum3:
            listing = EnumAdapters3(_INCLUDE_COMPUTE_ONLY | _INCLUDE_DISPLAY_ONLY, room, infos)
            status = self._functions["D3DKMTEnumAdapters3"](ctypes.byref(listing))
            if status == SUCCESS:
                return int(listing.NumAdapters)
            if status not in UNKNOWN_QUESTION:
                raise KmtError("D3DKMTEnumAdapters3", status)
            self._enum3 = False
        older = EnumAdapters2(room, infos)
        function = self._functions.get("D3DKMTEnumAdapters2")
        status = NOT_IMPLEMENTED if function is None else function(ctypes.byref(older))
        if status != SUCCESS:
            raise KmtError("D3DKMTEnumAdapters2", status)
        return int(older.NumAdapters)

    def _ask(self, handle: int, question: int, data: S, size: int | None = None) -> S:
        size = size or ctypes.sizeof(data)
        buffer = (c_uint64 * (size // 8 + 1))()  # aligned, whatever the struct's packing
        ctypes.memmove(buffer, ctypes.addressof(data), ctypes.sizeof(data))
        query = QueryAdapterInfo(handle, question, ctypes.addressof(buffer), size)
        status = self._functions["D3DKMTQueryAdapterInfo"](ctypes.byref(query))
        if status != SUCCESS:
            raise KmtError(f"D3DKMTQueryAdapterInfo {question}", status)
        return type(data).from_buffer_copy(buffer)


def load_d3dkmt() -> D3dkmt:
    """Windows' own gdi32.dll. Raises SourceUnavailable."""
    if sys.platform != "win32":
        raise SourceUnavailable("not-on-this-system", sys.platform, SourceState.ABSENT)
    else:  # noqa: RET506 - mypy checks this branch for Windows only
        search_system32 = 0x00000800
        try:
            return D3dkmt(ctypes.WinDLL("gdi32.dll", winmode=search_system32))
        except OSError as error:
            raise SourceUnavailable("read-failed", str(error)) from error


def _luid(luid: Luid) -> int:
    # HighPart is signed; the 64-bit key holds its bit pattern, as the counters' instance names print it.
    return (int(luid.HighPart) & 0xFFFFFFFF) << 32 | int(luid.LowPart)


def _text(units: ctypes.Array[c_uint16]) -> str:
    return bytes(units).decode("utf-16-le", "replace").split("\0", 1)[0].strip()
