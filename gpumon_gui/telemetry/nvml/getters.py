"""Knows: which NVML function gives which metric. Must not know: how often it is called or what becomes of it.

One table line per figure. ``per`` is how many of NVML's units make one canonical unit (100 percent, 1000 milliwatts);
numbers that need no conversion stay integers.
Costs measured on an H200 (driver 580.159, Linux) decide the group: CORE calls take a few microseconds each and are
made in every sweep; the others are not.
"""

from __future__ import annotations

import ctypes
from dataclasses import dataclass
from enum import Enum
from typing import Any

#: How many of NVML's units make one canonical unit.
PERCENT = 100
MILLI = 1000


class Group(Enum):
    """How often a figure is read."""

    CORE = 0.0  #: every sweep
    RARE = 5.0  #: seconds between reads; fan, links, limits: they change slowly or cost 30-200 µs
    SLOW = 15.0  #: milliseconds each: energy, ECC


@dataclass(frozen=True, slots=True)
class Scalar:
    """One number. ``symbols``: newest generation first. ``arguments`` stand between the handle and the result."""

    metric: str
    symbols: tuple[str, ...]
    arguments: tuple[int, ...] = ()
    ctype: Any = ctypes.c_uint
    per: int = 1
    group: Group = Group.CORE
    extra_out: bool = False  #: a second unsigned result that is not used (the sampling period)


SCALARS: tuple[Scalar, ...] = (
    Scalar("temperature_c", ("nvmlDeviceGetTemperature",), (0,)),  # NVML_TEMPERATURE_GPU
    Scalar("power_w", ("nvmlDeviceGetPowerUsage",), per=MILLI),
    Scalar("clock_graphics_mhz", ("nvmlDeviceGetClockInfo",), (0,)),
    Scalar("clock_sm_mhz", ("nvmlDeviceGetClockInfo",), (1,)),
    Scalar("clock_memory_mhz", ("nvmlDeviceGetClockInfo",), (2,)),
    Scalar("clock_video_mhz", ("nvmlDeviceGetClockInfo",), (3,)),
    Scalar("pstate", ("nvmlDeviceGetPerformanceState",)),
    Scalar(
        "throttle_reasons",
        ("nvmlDeviceGetCurrentClocksEventReasons", "nvmlDeviceGetCurrentClocksThrottleReasons"),
        ctype=ctypes.c_ulonglong,
    ),
    Scalar("encoder_utilization", ("nvmlDeviceGetEncoderUtilization",), per=PERCENT, extra_out=True),
    Scalar("decoder_utilization", ("nvmlDeviceGetDecoderUtilization",), per=PERCENT, extra_out=True),
    Scalar("jpeg_utilization", ("nvmlDeviceGetJpgUtilization",), per=PERCENT, extra_out=True),
    Scalar("ofa_utilization", ("nvmlDeviceGetOfaUtilization",), per=PERCENT, extra_out=True),
    Scalar("power_limit_w", ("nvmlDeviceGetEnforcedPowerLimit",), per=MILLI, group=Group.RARE),
    Scalar("fan_ratio", ("nvmlDeviceGetFanSpeed",), per=PERCENT, group=Group.RARE),
    Scalar("pcie_gen", ("nvmlDeviceGetCurrPcieLinkGeneration",), group=Group.RARE),
    Scalar("pcie_width", ("nvmlDeviceGetCurrPcieLinkWidth",), group=Group.RARE),
    Scalar("pcie_replays", ("nvmlDeviceGetPcieReplayCounter",), group=Group.SLOW),
    Scalar("energy_j", ("nvmlDeviceGetTotalEnergyConsumption",), ctype=ctypes.c_ulonglong, per=MILLI, group=Group.SLOW),
    # NVML_MEMORY_ERROR_TYPE_CORRECTED 0 / UNCORRECTED 1, NVML_VOLATILE_ECC 0
    Scalar("ecc_corrected", ("nvmlDeviceGetTotalEccErrors",), (0, 0), ctypes.c_ulonglong, group=Group.SLOW),
    Scalar("ecc_uncorrected", ("nvmlDeviceGetTotalEccErrors",), (1, 0), ctypes.c_ulonglong, group=Group.SLOW),
)

#: Read once: limits and capabilities. ``group`` is not looked at.
STATIC_SCALARS: tuple[Scalar, ...] = (
    Scalar("power_limit_default_w", ("nvmlDeviceGetPowerManagementDefaultLimit",), per=MILLI),
    Scalar("clock_graphics_max_mhz", ("nvmlDeviceGetMaxClockInfo",), (0,)),
    Scalar("clock_sm_max_mhz", ("nvmlDeviceGetMaxClockInfo",), (1,)),
    Scalar("clock_memory_max_mhz", ("nvmlDeviceGetMaxClockInfo",), (2,)),
    Scalar("clock_video_max_mhz", ("nvmlDeviceGetMaxClockInfo",), (3,)),
    Scalar("pcie_gen_max", ("nvmlDeviceGetMaxPcieLinkGeneration",)),
    Scalar("pcie_width_max", ("nvmlDeviceGetMaxPcieLinkWidth",)),
    # NVML_TEMPERATURE_THRESHOLD_SHUTDOWN 0, SLOWDOWN 1, GPU_MAX 3
    Scalar("temperature_shutdown_c", ("nvmlDeviceGetTemperatureThreshold",), (0,)),
    Scalar("temperature_slowdown_c", ("nvmlDeviceGetTemperatureThreshold",), (1,)),
    Scalar("temperature_max_operating_c", ("nvmlDeviceGetTemperatureThreshold",), (3,)),
    Scalar("core_count", ("nvmlDeviceGetNumGpuCores",)),
    Scalar("memory_bus_bits", ("nvmlDeviceGetMemoryBusWidth",)),
)


@dataclass(frozen=True, slots=True)
class Field:
    """One entry of a field-value batch (``nvmlDeviceGetFieldValues``)."""

    metric: str
    field_id: int
    per: int = 1


#: NVML_FI_DEV_MEMORY_TEMP 82, POWER_INSTANT 186, PCIE_COUNT_TX/RX_BYTES 197/198. POWER_AVERAGE (185) is left out: it
#: takes 3 ms and ``nvmlDeviceGetPowerUsage`` already is that average on cards since Ampere.
FIELDS: tuple[Field, ...] = (
    Field("memory_temperature_c", 82),
    Field("power_instant_w", 186, MILLI),
)
#: Only where GPM does not give the speeds itself.
PCIE_FIELDS: tuple[Field, ...] = (
    Field("pcie_tx_total_bytes", 197),
    Field("pcie_rx_total_bytes", 198),
)


@dataclass(frozen=True, slots=True)
class GpmMetric:
    """One GPM figure (``nvmlGpmMetricId_t``)."""

    metric: str
    gpm_id: int
    scale: float = 0.01


MIB_PER_S = float(1 << 20)

GPM_METRICS: tuple[GpmMetric, ...] = (
    GpmMetric("graphics_activity", 1),
    GpmMetric("sm_activity", 2),
    GpmMetric("sm_occupancy", 3),
    GpmMetric("tensor_activity", 5),
    GpmMetric("dram_activity", 10),
    GpmMetric("fp64_activity", 11),
    GpmMetric("fp32_activity", 12),
    GpmMetric("fp16_activity", 13),
    GpmMetric("pcie_tx_bytes_per_s", 20, MIB_PER_S),
    GpmMetric("pcie_rx_bytes_per_s", 21, MIB_PER_S),
    GpmMetric("nvlink_rx_bytes_per_s", 60, MIB_PER_S),
    GpmMetric("nvlink_tx_bytes_per_s", 61, MIB_PER_S),
)
