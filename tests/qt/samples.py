"""Knows: how to make samples for tests of the window. Must not know: any source.

``make_sample(gpus=2, compute=0.87)`` is a whole machine; ``device_values`` and ``make_device`` make parts of it.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from gpumon_gui.core.identity import key_of, pci_address
from gpumon_gui.core.model import (
    DeviceInfo,
    DeviceKey,
    DeviceKind,
    DeviceSample,
    DeviceState,
    EngineKind,
    EngineSample,
    HostSample,
    ProcessPresence,
    ProcessSample,
    ProcessUse,
    Sample,
    SourceHealth,
    SourceState,
    UseKind,
)
from gpumon_gui.core.values import Missing, Reading, Reason, Value

GIB = 1 << 30
START_S = 1000.0
START_UTC_S = 1_800_000_000.0

#: Engines of a GeForce under Windows, as the counters spell them.
WINDOWS_ENGINES: tuple[tuple[str, EngineKind], ...] = (
    ("3D", EngineKind.GRAPHICS),
    ("Compute_0", EngineKind.COMPUTE),
    ("Copy", EngineKind.COPY),
    ("Copy", EngineKind.COPY),
    ("VideoDecode", EngineKind.VIDEO_DECODE),
    ("VideoEncode", EngineKind.VIDEO_ENCODE),
    ("Cuda", EngineKind.COMPUTE),
    ("JPEG_Decode_0", EngineKind.OTHER),
    ("OFA_0", EngineKind.OTHER),
)


def device_key(index: int = 0) -> DeviceKey:
    """The key of the nth made-up GPU."""
    return key_of(pci=pci_address(0, 0x10 + index, 0))


def make_info(
    index: int = 0, name: str = "NVIDIA H200", kind: DeviceKind = DeviceKind.DISCRETE, vendor: str = "nvidia"
) -> DeviceInfo:
    """One inventory entry with the static values of a data-centre card."""
    pci = pci_address(0, 0x10 + index, 0)
    static: dict[str, Value] = {
        "memory_total_bytes": Reading(140 * GIB, "nvml"),
        "power_limit_default_w": Reading(700.0, "nvml"),
        "clock_sm_max_mhz": Reading(1980.0, "nvml"),
        "temperature_slowdown_c": Reading(95.0, "nvml"),
        "pcie_gen_max": Reading(5, "nvml"),
        "pcie_width_max": Reading(16, "nvml"),
        "driver_version": Reading("580.159.04", "nvml"),
        "cuda_driver_version": Reading("13.0", "nvml"),
        "architecture": Reading("Hopper", "nvml"),
        "compute_capability": Reading("9.0", "nvml"),
        "mig_mode": Reading("disabled", "nvml"),
        "directx_version": Missing(Reason.NOT_SUPPORTED),
    }
    return DeviceInfo(
        key=device_key(index),
        name=name,
        vendor=vendor,
        kind=kind,
        index=index,
        pci_address=pci,
        uuid=f"GPU-{index:08d}",
        sources=("nvml",),
        static=static,
    )


def device_values(
    compute: float = 0.87, *, memory_gib: float = 61.2, details: bool = True, **changed: Value
) -> dict[str, Value]:
    """The values of a card that computes at ``compute`` (0..1). ``changed`` replaces values by metric id."""
    values: dict[str, Value] = {
        "gpu_utilization": Reading(compute, "nvml"),
        "memory_utilization": Reading(compute * 0.5, "nvml"),
        "encoder_utilization": Reading(0.0, "nvml"),
        "decoder_utilization": Reading(0.0, "nvml"),
        "jpeg_utilization": Reading(0.0, "nvml"),
        "ofa_utilization": Reading(0.0, "nvml"),
        "memory_used_bytes": Reading(memory_gib * GIB, "nvml"),
        "memory_reserved_bytes": Reading(0.6 * GIB, "nvml"),
        "bar1_used_bytes": Reading(0.1 * GIB, "nvml"),
        "temperature_c": Reading(57.0, "nvml"),
        "memory_temperature_c": Reading(61.0, "nvml"),
        "power_w": Reading(120.0 + 540.0 * compute, "nvml"),
        "power_limit_w": Reading(700.0, "nvml"),
        "clock_sm_mhz": Reading(1980.0, "nvml"),
        "clock_graphics_mhz": Reading(1980.0, "nvml"),
        "clock_memory_mhz": Reading(3201.0, "nvml"),
        "pstate": Reading(0, "nvml"),
        "throttle_reasons": Reading(0, "nvml"),
        "fan_ratio": Missing(Reason.NOT_SUPPORTED, "nvml"),
        "pcie_gen": Reading(5, "nvml"),
        "pcie_width": Reading(16, "nvml"),
        "ecc_uncorrected": Reading(0, "nvml"),
    }
    if details:
        values |= {
            "sm_activity": Reading(compute * 0.92, "nvml"),
            "sm_occupancy": Reading(compute * 0.4, "nvml"),
            "tensor_activity": Reading(compute * 0.14, "nvml"),
            "dram_activity": Reading(compute * 0.48, "nvml"),
            "pcie_rx_bytes_per_s": Reading(55e6, "nvml"),
            "pcie_tx_bytes_per_s": Reading(12e6, "nvml"),
        }
    return values | changed


def make_device(
    index: int = 0,
    values: Mapping[str, Value] | None = None,
    engines: tuple[EngineSample, ...] = (),
    state: DeviceState = DeviceState.OK,
    detail: str = "",
) -> DeviceSample:
    """The changing part of the nth GPU."""
    return DeviceSample(device_key(index), state, detail, device_values() if values is None else values, engines)


def windows_engines(busy: Mapping[str, float] | None = None) -> tuple[EngineSample, ...]:
    """The engines Windows lists for a GeForce; ``busy`` gives shares by name (the first of equal names)."""
    left = dict(busy or {})
    return tuple(
        EngineSample(f"phys_0_eng_{number}", name, kind, Reading(left.pop(name, 0.0), "pdh"))
        for number, (name, kind) in enumerate(WINDOWS_ENGINES)
    )


def make_process(pid: int = 4242, device: DeviceKey | None = None, memory_gib: float = 12.0) -> ProcessSample:
    """A Python process that computes on one GPU."""
    key = device_key(0) if device is None else device
    use = ProcessUse(pid, key, UseKind.COMPUTE, {"process_memory_bytes": Reading(memory_gib * GIB, "nvml")})
    return ProcessSample(pid, START_UTC_S, "python", ProcessPresence.RUNNING, framework="PyTorch", uses=(use,))


def make_host(cpu: float = 0.31, ram_gib: float = 42.0) -> HostSample:
    """CPU and memory of the machine."""
    return HostSample(
        {
            "cpu_utilization": Reading(cpu, "host"),
            "ram_used_bytes": Reading(ram_gib * GIB, "host"),
            "ram_total_bytes": Reading(256 * GIB, "host"),
        },
        cores=(cpu,) * 8,
    )


def make_sample(
    sequence: int = 1,
    *,
    gpus: int = 1,
    compute: float = 0.87,
    devices: Iterable[DeviceSample] | None = None,
    inventory: Iterable[DeviceInfo] | None = None,
    processes: tuple[ProcessSample, ...] = (),
    health: tuple[SourceHealth, ...] | None = None,
    interval_s: float = 1.0,
) -> Sample:
    """A whole sample; number ``sequence`` was taken ``sequence * interval_s`` seconds after the start."""
    made = tuple(make_device(n, device_values(compute)) for n in range(gpus)) if devices is None else tuple(devices)
    known = tuple(make_info(n) for n in range(gpus)) if inventory is None else tuple(inventory)
    return Sample(
        sequence=sequence,
        monotonic_s=START_S + sequence * interval_s,
        utc_s=START_UTC_S + sequence * interval_s,
        interval_s=interval_s,
        inventory=known,
        devices={device.key: device for device in made},
        processes=processes,
        host=make_host(),
        health=(SourceHealth("nvml", SourceState.OK),) if health is None else health,
    )
