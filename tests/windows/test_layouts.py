"""Sizes, offsets and numbers: those of mingw's headers, and for D3DKMT, which mingw has not, of Microsoft's pages."""

from __future__ import annotations

import ctypes
import subprocess

import pytest

from gpumon_gui.core import windows_job as winjob
from gpumon_gui.telemetry.dxgi import library as kmt
from gpumon_gui.telemetry.dxgi import pnp
from gpumon_gui.telemetry.pdh import library as pdh
from gpumon_gui.telemetry.pdh import status
from tests.windows.world import FOLDER


@pytest.fixture(scope="module")
def header() -> dict[str, int]:
    """What a C program says that was compiled with mingw's headers."""
    said = subprocess.run([str(FOLDER / "sizes.exe")], capture_output=True, text=True, check=True).stdout
    return {name: int(number) for name, number in (line.split() for line in said.splitlines())}


def test_pdh_structs(header: dict[str, int]) -> None:
    value, item = pdh.CounterValue, pdh.CounterValueItem
    assert ctypes.sizeof(value) == header["PDH_FMT_COUNTERVALUE"] == 16
    assert value.CStatus.offset == header["PDH_FMT_COUNTERVALUE.CStatus"]
    offsets = {header[f"PDH_FMT_COUNTERVALUE.{name}"] for name in ("longValue", "doubleValue", "largeValue")}
    assert {value.value.offset} == offsets == {8}
    assert ctypes.sizeof(item) == header["PDH_FMT_COUNTERVALUE_ITEM_W"] == pdh._ITEM_SIZE == pdh._DOUBLE_ITEM.size == 24
    assert item.szName.offset == header["PDH_FMT_COUNTERVALUE_ITEM_W.szName"]
    assert item.FmtValue.offset == header["PDH_FMT_COUNTERVALUE_ITEM_W.FmtValue"]


def test_pdh_handles_are_not_cut(header: dict[str, int]) -> None:
    arguments = {name: [ctypes.sizeof(kind) for kind in kinds] for name, (_, kinds) in pdh.PROTOTYPES.items()}
    assert arguments["PdhCollectQueryData"] == [header["PDH_HQUERY"]]
    assert arguments["PdhAddEnglishCounterW"] == [header["PDH_HQUERY"], 8, header["DWORD_PTR"], 8]
    assert all(ctypes.sizeof(result) == header["PDH_STATUS"] for result, _ in pdh.PROTOTYPES.values())


@pytest.mark.parametrize(
    "name",
    [
        *("NO_MACHINE", "NO_INSTANCE", "ITEM_NOT_VALIDATED", "NO_OBJECT", "NO_COUNTER", "VALID_DATA", "NEW_DATA"),
        *("MORE_DATA", "RETRY", "NO_DATA", "CALC_NEGATIVE_DENOMINATOR", "CALC_NEGATIVE_TIMEBASE"),
        *("CALC_NEGATIVE_VALUE", "MEMORY_ALLOCATION_FAILURE", "INVALID_HANDLE", "INVALID_ARGUMENT"),
        *("INSUFFICIENT_BUFFER", "INVALID_DATA", "CANNOT_READ_NAME_STRINGS", "ACCESS_DENIED"),
        *("QUERY_PERF_DATA_TIMEOUT", "CSTATUS_INVALID_DATA"),
    ],
)
def test_pdh_status_numbers(header: dict[str, int], name: str) -> None:
    spelled = f"PDH_CSTATUS_{name}" if f"PDH_CSTATUS_{name}" in header and name != "INVALID_DATA" else f"PDH_{name}"
    assert getattr(status, name) == header[spelled]


def test_pdh_format_flags(header: dict[str, int]) -> None:
    names = ("FMT_DOUBLE", "FMT_LARGE", "FMT_NOCAP100")
    assert [getattr(pdh, name) for name in names] == [header[f"PDH_{name}"] for name in names]


def test_plug_and_play(header: dict[str, int]) -> None:
    key = pnp.PropertyKey
    assert ctypes.sizeof(key) == header["DEVPROPKEY"]
    assert (key.fmtid.offset, key.pid.offset) == (header["DEVPROPKEY.fmtid"], header["DEVPROPKEY.pid"])
    assert (header["CM_POWER_DATA"], header["CM_POWER_DATA.PD_MostRecentPowerState"]) == (56, 4)  # read by hand
    assert header["CM_GETIDLIST_FILTER_PRESENT"] | header["CM_GETIDLIST_FILTER_CLASS"] == pnp._PRESENT_OF_CLASS
    assert (header["PowerDeviceD0"], header["PowerDeviceD3"]) == (pnp.POWER_D0, pnp.POWER_D3)


def test_jobs(header: dict[str, int]) -> None:
    limits = winjob.ExtendedLimits
    assert ctypes.sizeof(winjob.BasicLimits) == header["JOBOBJECT_BASIC_LIMIT_INFORMATION"]
    assert winjob.BasicLimits.limit_flags.offset == header["JOBOBJECT_BASIC_LIMIT_INFORMATION.LimitFlags"]
    assert ctypes.sizeof(limits) == header["JOBOBJECT_EXTENDED_LIMIT_INFORMATION"]
    assert limits.io_counters.offset == header["JOBOBJECT_EXTENDED_LIMIT_INFORMATION.IoInfo"]
    assert limits.process_memory_limit.offset == header["JOBOBJECT_EXTENDED_LIMIT_INFORMATION.ProcessMemoryLimit"]
    assert limits.peak_job_memory.offset == header["JOBOBJECT_EXTENDED_LIMIT_INFORMATION.PeakJobMemoryUsed"]
    assert header["JOB_OBJECT_LIMIT_KILL_ON_JOB_CLOSE"] == winjob._KILL_ON_JOB_CLOSE


def test_luid(header: dict[str, int]) -> None:
    assert ctypes.sizeof(kmt.Luid) == header["LUID"]
    assert (kmt.Luid.LowPart.offset, kmt.Luid.HighPart.offset) == (header["LUID.LowPart"], header["LUID.HighPart"])
    assert kmt.Luid(0, -1).HighPart == -1  # a signed LONG


# d3dkmthk.h, d3dkmdt.h (learn.microsoft.com, windows-hardware/drivers/ddi/d3dkmthk): 64 bits.
D3DKMT: dict[type[ctypes.Structure], tuple[int, dict[str, int]]] = {
    kmt.AdapterInfo: (20, {"hAdapter": 0, "AdapterLuid": 4, "NumOfSources": 12, "bPrecisePresentRegionsPreferred": 16}),
    kmt.EnumAdapters2: (16, {"NumAdapters": 0, "pAdapters": 8}),
    kmt.EnumAdapters3: (24, {"Filter": 0, "NumAdapters": 8, "pAdapters": 16}),
    kmt.QueryAdapterInfo: (24, {"hAdapter": 0, "Type": 4, "pPrivateDriverData": 8, "PrivateDriverDataSize": 16}),
    kmt.CloseAdapter: (4, {"hAdapter": 0}),
    kmt.AdapterAddress: (12, {"BusNumber": 0, "DeviceNumber": 4, "FunctionNumber": 8}),
    kmt.AdapterRegistryInfo: (2080, {"AdapterString": 0, "BiosString": 520, "DacType": 1040, "ChipType": 1560}),
    kmt.SegmentSizeInfo: (24, {"DedicatedVideoMemorySize": 0, "SharedSystemMemorySize": 16}),
    kmt.AdapterPerfData: (
        64,
        {"MemoryFrequency": 8, "MaxMemoryFrequency": 16, "MaxMemoryFrequencyOC": 24, "MemoryBandwidth": 32}
        | {"PCIEBandwidth": 40, "FanRPM": 48, "Power": 52, "Temperature": 56, "PowerStateOverride": 60},
    ),
    kmt.AdapterPerfDataCaps: (40, {"MaxMemoryBandwidth": 8, "MaxPCIEBandwidth": 16, "MaxFanRPM": 24}),
    kmt.NodeMetadata: (78, {"NodeOrdinalAndAdapterIndex": 0, "EngineType": 4, "FriendlyName": 8}),
}


@pytest.mark.parametrize("struct", D3DKMT, ids=lambda struct: struct.__name__)
def test_d3dkmt_structs(struct: type[ctypes.Structure]) -> None:
    size, offsets = D3DKMT[struct]
    assert ctypes.sizeof(struct) == size
    assert {name: getattr(struct, name).offset for name in offsets} == offsets


def test_d3dkmt_question_numbers() -> None:
    numbers = (kmt.GETSEGMENTSIZE, kmt.ADAPTERADDRESS, kmt.ADAPTERREGISTRYINFO, kmt.DRIVERVERSION, kmt.ADAPTERTYPE)
    assert numbers == (3, 6, 8, 13, 15)
    later = (kmt.UMD_DRIVER_VERSION, kmt.NODEMETADATA, kmt.PHYSICALADAPTERDEVICEIDS, kmt.KMD_DRIVER_VERSION)
    assert later == (18, 25, 31, 49)
    assert (kmt.ADAPTERPERFDATA, kmt.ADAPTERPERFDATA_CAPS, kmt.WDDM_2_7_CAPS) == (62, 63, 70)
