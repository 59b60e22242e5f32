"""Knows: what D3DKMT's answers mean: kind, names, limits, versions. Must not know: when they are asked for.

Every question is asked on its own: an adapter that answers few of them (software, virtual and display-only adapters
do) is described by what it answers, and never hides another.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import TypeVar

from gpumon_gui.core.identity import key_of, pci_address
from gpumon_gui.core.model import DeviceInfo, DeviceKey, DeviceKind
from gpumon_gui.core.values import Missing, Reading, Reason, Value, checked
from gpumon_gui.telemetry.dxgi.library import (
    UNKNOWN_QUESTION,
    AdapterPerfData,
    AdapterPerfDataCaps,
    D3dkmt,
    EngineNode,
    KmtError,
)
from gpumon_gui.telemetry.dxgi.registry import ClassFacts, DirectxFacts

SOURCE = "dxgi"
T = TypeVar("T")

# Bits of D3DKMT_ADAPTERTYPE.
SOFTWARE_DEVICE = 1 << 2
HYBRID_DISCRETE = 1 << 4
HYBRID_INTEGRATED = 1 << 5
INDIRECT_DISPLAY_DEVICE = 1 << 6
PARAVIRTUALIZED = 1 << 7
COMPUTE_ONLY = 1 << 11

_NVIDIA = 0x10DE
_MICROSOFT = 0x1414
VENDORS = {
    _NVIDIA: "NVIDIA",
    0x1002: "AMD",
    0x1022: "AMD",
    0x8086: "Intel",
    _MICROSOFT: "Microsoft",
    0x5143: "Qualcomm",
    0x4D4F4351: "Qualcomm",  # "QCOM": the ACPI-style id of Snapdragon GPUs
    0x15AD: "VMware",
    0x1AF4: "Red Hat",
    0x80EE: "VirtualBox",
}

# Firmware sets up to this much aside for an integrated GPU by default; no discrete card that WDDM 2 drives has less.
_CARVE_OUT_BYTES = 512 * 1024 * 1024
_HAGS_SUPPORTED, _HAGS_ENABLED = 1, 2
_MAX_NODES = 64


@dataclass(frozen=True, slots=True)
class Adapter:
    """What one adapter answered; None where it did not. ``nodes`` are its engines in the counters' order."""

    luid: int
    name: str | None = None
    vendor_id: int | None = None
    device_id: int | None = None
    type_bits: int | None = None
    address: tuple[int, int, int] | None = None
    dedicated_bytes: int | None = None
    shared_bytes: int | None = None
    driver_version: int | None = None
    wddm_version: int | None = None
    hags_bits: int | None = None
    nodes: tuple[EngineNode, ...] = ()


def gather(kmt: D3dkmt, handle: int, luid: int) -> Adapter:
    """Ask an adapter everything that does not change. None of it wakes a sleeping GPU: Windows itself answers."""
    ids = _answer(lambda: kmt.device_ids(handle))
    segments = _answer(lambda: kmt.segments(handle))
    return Adapter(
        luid,
        _answer(lambda: kmt.name(handle)) or None,
        ids[0] if ids else None,
        ids[1] if ids else None,
        _answer(lambda: kmt.adapter_type(handle)),
        _answer(lambda: kmt.address(handle)),
        segments[0] if segments else None,
        segments[1] if segments else None,
        _answer(lambda: kmt.driver_version(handle)),
        _answer(lambda: kmt.wddm_version(handle)),
        _answer(lambda: kmt.scheduling(handle)),
        _nodes(kmt, handle),
    )


def _answer(question: Callable[[], T]) -> T | None:
    try:
        return question()
    except KmtError:
        return None


def _nodes(kmt: D3dkmt, handle: int) -> tuple[EngineNode, ...]:
    nodes: list[EngineNode] = []
    while len(nodes) < _MAX_NODES and (node := _answer(lambda: kmt.node(handle, len(nodes)))) is not None:
        nodes.append(node)
    return tuple(nodes)


def kind_of(adapter: Adapter) -> DeviceKind:
    """What sort of adapter it is.

    A GPU driven as a compute-only adapter (NVIDIA data-centre cards under MCDM) is not an NPU. Integrated GPUs are
    told by the hybrid bit, by sitting on PCI bus 0 (root-complex devices) or by having no more dedicated memory than
    firmware sets aside.
    """
    bits = adapter.type_bits or 0
    if bits & (INDIRECT_DISPLAY_DEVICE | PARAVIRTUALIZED):
        return DeviceKind.VIRTUAL
    if bits & SOFTWARE_DEVICE or adapter.vendor_id == _MICROSOFT:
        return DeviceKind.SOFTWARE
    if bits & COMPUTE_ONLY:
        return DeviceKind.DISCRETE if adapter.vendor_id == _NVIDIA else DeviceKind.NPU
    if bits & HYBRID_DISCRETE:
        return DeviceKind.DISCRETE
    if bits & HYBRID_INTEGRATED or (adapter.address is not None and adapter.address[0] == 0 and any(adapter.address)):
        return DeviceKind.INTEGRATED
    if adapter.dedicated_bytes is None:
        return DeviceKind.UNKNOWN
    return DeviceKind.INTEGRATED if adapter.dedicated_bytes <= _CARVE_OUT_BYTES else DeviceKind.DISCRETE


def pci_of(adapter: Adapter) -> str | None:
    """The PCI address, or None for adapters that are no PCI device (they answer all ones or 0:0.0, the host bridge)."""
    address = adapter.address
    bits = adapter.type_bits or 0
    if address is None or bits & INDIRECT_DISPLAY_DEVICE or kind_of(adapter) is DeviceKind.SOFTWARE:
        return None
    bus, device, function = address
    if not any(address) or bus > 0xFF or device > 0x1F or function > 7:
        return None
    return pci_address(0, bus, device, function)


def with_directx(adapter: Adapter, facts: DirectxFacts | None) -> Adapter:
    """The adapter with its gaps filled from what DirectX noted."""
    if facts is None:
        return adapter
    return replace(
        adapter,
        name=adapter.name or facts.description,
        vendor_id=adapter.vendor_id if adapter.vendor_id is not None else facts.vendor_id,
        device_id=adapter.device_id if adapter.device_id is not None else facts.device_id,
        driver_version=adapter.driver_version or facts.driver_version,
    )


def describe(
    adapters: list[Adapter],
    directx: dict[int, DirectxFacts],
    classes: dict[int, ClassFacts],
) -> dict[DeviceKey, tuple[Adapter, DeviceInfo]]:
    """All adapters in the order in which Task Manager numbers them, by key.

    GPUs come by PCI bus, device and function (stable over boots, unlike enumeration order), those without an address
    after them; software adapters last. NPUs are numbered on their own.
    """
    full = [with_directx(adapter, directx.get(adapter.luid)) for adapter in adapters]
    places = {adapter.luid: place for place, adapter in enumerate(full)}

    def order(adapter: Adapter) -> tuple[bool, bool, tuple[int, int, int], int]:
        software = kind_of(adapter) is DeviceKind.SOFTWARE
        located = pci_of(adapter) is not None and adapter.address is not None
        return software, not located, adapter.address or (0, 0, 0) if located else (0, 0, 0), places[adapter.luid]

    described: dict[DeviceKey, tuple[Adapter, DeviceInfo]] = {}
    numbered = {True: 0, False: 0}
    for adapter in sorted(full, key=order):
        is_npu = kind_of(adapter) is DeviceKind.NPU
        info = _info(adapter, numbered[is_npu], directx.get(adapter.luid), classes.get(adapter.luid, ClassFacts()))
        numbered[is_npu] += 1
        if info.key in described:  # two adapters that claim one address
            info = replace(info, key=key_of(luid=adapter.luid), pci_address=None)
        described[info.key] = adapter, info
    return described


def _info(adapter: Adapter, index: int, directx: DirectxFacts | None, classed: ClassFacts) -> DeviceInfo:
    pci = pci_of(adapter)
    vendor_id = adapter.vendor_id
    vendor = VENDORS.get(vendor_id, f"0x{vendor_id:04X}") if vendor_id is not None else ""
    return DeviceInfo(
        key_of(pci=pci, luid=adapter.luid),
        adapter.name or f"LUID 0x{adapter.luid:x}",
        vendor.lower(),
        kind_of(adapter),
        index,
        pci,
        adapter.luid,
        sources=(SOURCE,),
        static=_static(adapter, directx, classed),
    )


def _static(adapter: Adapter, directx: DirectxFacts | None, classed: ClassFacts) -> dict[str, Value]:
    return {
        "memory_total_bytes": _bytes("memory_total_bytes", adapter.dedicated_bytes),
        "shared_total_bytes": _bytes("shared_total_bytes", adapter.shared_bytes),
        "memory_reserved_bytes": _reserved(adapter.dedicated_bytes, classed.memory_bytes),
        "driver_version": _text(version_text(adapter.driver_version) if adapter.driver_version else None),
        "driver_date": _text(classed.driver_date),
        "driver_model": _text(model_text(adapter)),
        "directx_version": _text(directx_text(directx) if directx else None),
        "hags": _text(hags_text(adapter.hags_bits)),
    }


def _bytes(metric_id: str, amount: int | None) -> Value:
    return Missing(Reason.NOT_SUPPORTED, SOURCE) if amount is None else checked(metric_id, amount, SOURCE)


def _reserved(dedicated: int | None, installed: int | None) -> Value:
    # What the driver withholds from Windows' memory manager; integrated GPUs have no figure for what is installed.
    if dedicated is None or installed is None or installed < dedicated:
        return Missing(Reason.NOT_SUPPORTED, SOURCE)
    return checked("memory_reserved_bytes", installed - dedicated, SOURCE)


def _text(text: str | None) -> Value:
    return Reading(text, SOURCE) if text else Missing(Reason.NOT_SUPPORTED, SOURCE)


def version_text(version: int) -> str:
    """``32.0.15.5244`` from four times 16 bits."""
    return ".".join(str(version >> shift & 0xFFFF) for shift in (48, 32, 16, 0))


def model_text(adapter: Adapter) -> str | None:
    """``WDDM 3.1``; MCDM for compute-only adapters. KMT_DRIVERVERSION is the version times 1000."""
    version = adapter.wddm_version
    if version is None or not 1000 <= version < 10_000:
        return None
    model = "MCDM" if (adapter.type_bits or 0) & COMPUTE_ONLY else "WDDM"
    return f"{model} {version // 1000}.{version % 1000 // 100}"


def directx_text(facts: DirectxFacts) -> str | None:
    """``12 (FL 12.1)`` as Task Manager writes it. A D3D_FEATURE_LEVEL has its digits in bits 12 to 15 and 8 to 11."""
    api, level = ("12", facts.d3d12_level) if facts.d3d12_level else ("11", facts.d3d11_level)
    return f"{api} (FL {level >> 12 & 0xF}.{level >> 8 & 0xF})" if level else None


def hags_text(bits: int | None) -> str | None:
    """``on`` or ``off``; None where hardware-accelerated scheduling does not exist."""
    if bits is None or not bits & _HAGS_SUPPORTED:
        return None
    return "on" if bits & _HAGS_ENABLED else "off"


SENSORS = ("temperature_c", "fan_rpm", "clock_memory_mhz")


def sensors(data: AdapterPerfData, caps: AdapterPerfDataCaps | None) -> dict[str, Value]:
    """Sensor values. A driver that has no sensor leaves 0, so 0 °C and 0 Hz are "not supported"; a fan may stand
    still, which is told by the driver knowing a highest speed."""
    fan_known = data.FanRPM > 0 or (caps is not None and caps.MaxFanRPM > 0)
    return {
        "temperature_c": _sensor("temperature_c", data.Temperature / 10.0, data.Temperature > 0),
        "fan_rpm": _sensor("fan_rpm", data.FanRPM, fan_known),
        "clock_memory_mhz": _sensor("clock_memory_mhz", data.MemoryFrequency / 1e6, data.MemoryFrequency > 0),
    }


def _sensor(metric_id: str, value: float, known: bool) -> Value:
    return checked(metric_id, value, SOURCE) if known else Missing(Reason.NOT_SUPPORTED, SOURCE)


def no_sensors(why: Missing) -> dict[str, Value]:
    """All sensor values missing for one reason."""
    return dict.fromkeys(SENSORS, why)


def sensor_fault(error: KmtError) -> Missing:
    """Why the sensors could not be read."""
    reason = Reason.NOT_SUPPORTED if error.status in UNKNOWN_QUESTION else Reason.ERROR
    return Missing(reason, SOURCE, f"0x{error.status:08X}")
