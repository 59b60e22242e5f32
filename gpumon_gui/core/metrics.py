"""Knows: every figure GPUMon handles, with unit, kind and physical bounds. Must not know: where figures come from.

Units below ``ui`` are canonical: fractions 0..1, bytes, watts, joules, degrees Celsius, megahertz.
Bounds are physical limits of the quantity, wide enough for hardware of the coming years: a value outside them is
rubbish from a driver, becomes ``Missing(IMPLAUSIBLE)`` and is counted. Where a bound has a source it stands beside it.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import IntFlag, StrEnum

from gpumon_gui.core.messages import N_

TIB = float(1 << 40)


class Unit(StrEnum):
    """Canonical unit of a metric."""

    RATIO = "ratio"
    BYTES = "bytes"
    BYTES_PER_S = "bytes/s"
    CELSIUS = "celsius"
    WATT = "watt"
    JOULE = "joule"
    MEGAHERTZ = "megahertz"
    COUNT = "count"
    BITMASK = "bitmask"
    TEXT = "text"


class Kind(StrEnum):
    """How a metric behaves over time."""

    GAUGE = "gauge"  #: the value now
    COUNTER = "counter"  #: grows; only differences mean something
    STATIC = "static"  #: read once or rarely: limits, names, link capability


@dataclass(frozen=True, slots=True)
class Metric:
    """One figure. ``low``/``high`` bound plausible values (both inclusive); text has none.

    A counter names in ``rate`` the gauge computed from it and in ``wraps_at`` the value at which it starts again
    from zero (0: it is 64 bits wide and does not wrap in practice).
    """

    id: str
    unit: Unit
    kind: Kind
    label: str
    help: str = ""
    low: float = 0.0
    high: float = float("inf")
    rate: str = ""
    wraps_at: int = 0


def _ratio(id_: str, label: str, help_: str = "", high: float = 1.0) -> Metric:
    return Metric(id_, Unit.RATIO, Kind.GAUGE, label, help_, 0.0, high)


def _bytes(id_: str, label: str, help_: str = "", kind: Kind = Kind.GAUGE) -> Metric:
    # 64 TiB: forty times the largest accelerator memory sold in 2026, far below all-ones (16 EiB).
    return Metric(id_, Unit.BYTES, kind, label, help_, 0.0, 64 * TIB)


def _speed(id_: str, label: str, help_: str = "") -> Metric:
    # 20 TB/s: above NVLink 5 with 18 links in both directions (1.8 TB/s) and HBM4.
    return Metric(id_, Unit.BYTES_PER_S, Kind.GAUGE, label, help_, 0.0, 20e12)


def _watt(id_: str, label: str, help_: str = "", kind: Kind = Kind.GAUGE) -> Metric:
    # 5 kW: three times the highest limit of one board in 2026.
    return Metric(id_, Unit.WATT, kind, label, help_, 0.0, 5000.0)


def _celsius(id_: str, label: str, help_: str = "", kind: Kind = Kind.GAUGE) -> Metric:
    # Silicon stops between 90 and 125 °C; 0 is kept (liquid cooling in the cold), below -40 no sensor is specified.
    return Metric(id_, Unit.CELSIUS, kind, label, help_, -40.0, 150.0)


def _mhz(id_: str, label: str, kind: Kind = Kind.GAUGE) -> Metric:
    return Metric(id_, Unit.MEGAHERTZ, kind, label, "", 0.0, 20_000.0)


def _count(id_: str, label: str, help_: str = "", high: float = 2**53, kind: Kind = Kind.GAUGE) -> Metric:
    return Metric(id_, Unit.COUNT, kind, label, help_, 0.0, high)


def _text(id_: str, label: str, help_: str = "") -> Metric:
    return Metric(id_, Unit.TEXT, Kind.STATIC, label, help_)


DEVICE_METRICS: tuple[Metric, ...] = (
    # -- activity
    _ratio(
        "gpu_utilization",
        N_("GPU utilization"),
        N_(
            "Share of the last sampling period in which at least one kernel was running. Says nothing about how much "
            "of the GPU that kernel used."
        ),
    ),
    _ratio(
        "memory_utilization",
        N_("Memory controller"),
        N_("Share of the last sampling period in which device memory was read or written. Not how full it is."),
    ),
    _ratio(
        "engine_utilization",
        N_("Busiest engine"),
        N_("Share of time in which the operating system saw work on the busiest engine."),
    ),
    _ratio("encoder_utilization", N_("Video Encode")),
    _ratio("decoder_utilization", N_("Video Decode")),
    _ratio("jpeg_utilization", N_("JPEG Decode")),
    _ratio("ofa_utilization", N_("Optical Flow")),
    _ratio(
        "graphics_activity",
        N_("Graphics/compute activity"),
        N_("Share of time in which the graphics or compute engines were active (hardware counter)."),
    ),
    _ratio(
        "sm_activity",
        N_("SM activity"),
        N_("Share of the streaming multiprocessors that had work, averaged over time (hardware counter)."),
    ),
    _ratio(
        "sm_occupancy",
        N_("SM occupancy"),
        N_("Resident warps as a share of the maximum, averaged over time (hardware counter)."),
    ),
    _ratio(
        "tensor_activity",
        N_("Tensor core activity"),
        N_("Share of time in which tensor cores were working (hardware counter)."),
    ),
    _ratio(
        "dram_activity", N_("Memory bandwidth"), N_("Share of the device memory bandwidth in use (hardware counter).")
    ),
    _ratio("fp64_activity", N_("FP64 activity")),
    _ratio("fp32_activity", N_("FP32 activity")),
    _ratio("fp16_activity", N_("FP16 activity")),
    # -- memory
    _bytes(
        "memory_used_bytes",
        N_("Dedicated GPU memory"),
        N_("Device memory in use, without what the driver keeps for itself."),
    ),
    _bytes("memory_free_bytes", N_("Free dedicated memory")),
    _bytes("memory_reserved_bytes", N_("Hardware reserved memory"), N_("Device memory the driver keeps for itself.")),
    _bytes("memory_total_bytes", N_("Dedicated GPU memory, total"), kind=Kind.STATIC),
    _bytes(
        "shared_used_bytes",
        N_("Shared GPU memory"),
        N_("System memory the GPU uses. A growing value beside full dedicated memory means that CUDA spills."),
    ),
    _bytes("shared_total_bytes", N_("Shared GPU memory, total"), kind=Kind.STATIC),
    _bytes("bar1_used_bytes", N_("BAR1 memory")),
    _bytes("bar1_total_bytes", N_("BAR1 memory, total"), kind=Kind.STATIC),
    # -- heat, power, clocks
    _celsius("temperature_c", N_("GPU temperature")),
    _celsius("memory_temperature_c", N_("Memory temperature")),
    _celsius("temperature_hotspot_c", N_("Hot spot temperature")),
    _celsius("temperature_slowdown_c", N_("Slowdown temperature"), kind=Kind.STATIC),
    _celsius("temperature_shutdown_c", N_("Shutdown temperature"), kind=Kind.STATIC),
    _celsius("temperature_max_operating_c", N_("Maximum operating temperature"), kind=Kind.STATIC),
    _watt("power_w", N_("Power"), N_("Board power. NVIDIA: average of one second on most cards since Ampere.")),
    _watt("power_instant_w", N_("Power, instantaneous")),
    _watt("power_average_w", N_("Power, average")),
    _watt("power_limit_w", N_("Power limit"), N_("The limit in force now.")),
    _watt("power_limit_default_w", N_("Default power limit"), kind=Kind.STATIC),
    _watt("power_limit_min_w", N_("Minimum power limit"), kind=Kind.STATIC),
    _watt("power_limit_max_w", N_("Maximum power limit"), kind=Kind.STATIC),
    Metric("energy_j", Unit.JOULE, Kind.COUNTER, N_("Energy since the driver was loaded"), rate="power_energy_w"),
    _watt("power_energy_w", N_("Power, from the energy counter")),
    _ratio("fan_ratio", N_("Fan"), N_("Fan speed the card asks for."), high=2.0),  # NVML: may exceed 100 %
    _count("fan_rpm", N_("Fan speed"), high=100_000),
    _mhz("clock_graphics_mhz", N_("Graphics clock")),
    _mhz("clock_sm_mhz", N_("SM clock")),
    _mhz("clock_memory_mhz", N_("Memory clock")),
    _mhz("clock_video_mhz", N_("Video clock")),
    _mhz("clock_graphics_max_mhz", N_("Maximum graphics clock"), Kind.STATIC),
    _mhz("clock_sm_max_mhz", N_("Maximum SM clock"), Kind.STATIC),
    _mhz("clock_memory_max_mhz", N_("Maximum memory clock"), Kind.STATIC),
    _mhz("clock_video_max_mhz", N_("Maximum video clock"), Kind.STATIC),
    Metric(
        "pstate",
        Unit.COUNT,
        Kind.GAUGE,
        N_("P-state"),
        N_("P0 is full performance, P8 the usual idle state, P15 the lowest."),
        0,
        15,
    ),  # nvml.h nvmlPstates_t
    Metric(
        "throttle_reasons",
        Unit.BITMASK,
        Kind.GAUGE,
        N_("Clock limited by"),
        N_("Why the clocks are not higher."),
        0,
        2**32 - 2,
    ),
    # -- links
    _count("pcie_gen", N_("PCIe generation"), high=9),
    _count("pcie_width", N_("PCIe lanes"), high=64),
    _count("pcie_gen_max", N_("PCIe generation, maximum"), high=9, kind=Kind.STATIC),
    _count("pcie_width_max", N_("PCIe lanes, maximum"), high=64, kind=Kind.STATIC),
    Metric(
        "pcie_tx_total_bytes",
        Unit.BYTES,
        Kind.COUNTER,
        N_("PCIe bytes sent"),
        rate="pcie_tx_bytes_per_s",
        wraps_at=2**32,
    ),
    Metric(
        "pcie_rx_total_bytes",
        Unit.BYTES,
        Kind.COUNTER,
        N_("PCIe bytes received"),
        rate="pcie_rx_bytes_per_s",
        wraps_at=2**32,
    ),
    _speed("pcie_tx_bytes_per_s", N_("PCIe sent"), N_("From the GPU to the host.")),
    _speed("pcie_rx_bytes_per_s", N_("PCIe received"), N_("From the host to the GPU.")),
    _count("pcie_replays", N_("PCIe replays")),
    _speed("nvlink_tx_bytes_per_s", N_("NVLink sent")),
    _speed("nvlink_rx_bytes_per_s", N_("NVLink received")),
    # -- health
    _count("ecc_corrected", N_("ECC errors corrected"), N_("Since the driver was loaded.")),
    _count("ecc_uncorrected", N_("ECC errors not corrected"), N_("Since the driver was loaded.")),
    _count("remapped_rows_pending", N_("Row remapping pending"), high=1),
    # -- who it is
    _text("driver_version", N_("Driver version")),
    _text("driver_date", N_("Driver date")),
    _text("cuda_driver_version", N_("CUDA version of the driver"), N_("The newest CUDA this driver can run.")),
    _text("vbios_version", N_("VBIOS version")),
    _text("compute_capability", N_("Compute capability")),
    _text("architecture", N_("Architecture")),
    _text("driver_model", N_("Driver model"), N_("WDDM, TCC or MCDM on Windows.")),
    _text("compute_mode", N_("Compute mode")),
    _text("persistence_mode", N_("Persistence mode")),
    _text(
        "mig_mode", N_("MIG mode"), N_("Multi-Instance GPU: the card is split, whole-card utilization is undefined.")
    ),
    _text("virtualization", N_("Virtualization")),
    _text("ecc_mode", N_("ECC mode")),
    _text("display_attached", N_("Display attached")),
    _text("directx_version", N_("DirectX version")),
    _text("hags", N_("Hardware-accelerated GPU scheduling")),
    _text("kernel_driver", N_("Kernel driver")),
    _count("core_count", N_("Shader cores"), high=10_000_000, kind=Kind.STATIC),
    _count("memory_bus_bits", N_("Memory bus width"), high=65_536, kind=Kind.STATIC),
)

PROCESS_METRICS: tuple[Metric, ...] = (
    _ratio("process_gpu_utilization", N_("GPU")),
    _ratio("process_memory_utilization", N_("Memory controller")),
    _ratio("process_encoder_utilization", N_("Video Encode")),
    _ratio("process_decoder_utilization", N_("Video Decode")),
    _bytes("process_memory_bytes", N_("Dedicated GPU memory")),
    _bytes("process_shared_bytes", N_("Shared GPU memory")),
    # One fraction per core: 1024 busy cores are the bound.
    _ratio("process_cpu", N_("CPU"), N_("1 core busy is 100 %."), high=1024.0),
    _bytes("process_rss_bytes", N_("Memory")),
    _count("process_threads", N_("Threads"), high=10_000_000),
    Metric("process_read_bytes", Unit.BYTES, Kind.COUNTER, N_("Bytes read"), rate="process_read_bytes_per_s"),
    Metric("process_write_bytes", Unit.BYTES, Kind.COUNTER, N_("Bytes written"), rate="process_write_bytes_per_s"),
    _speed("process_read_bytes_per_s", N_("Disk read")),
    _speed("process_write_bytes_per_s", N_("Disk write")),
)

HOST_METRICS: tuple[Metric, ...] = (
    _ratio("cpu_utilization", N_("CPU"), N_("All cores together.")),
    _bytes("ram_used_bytes", N_("Memory")),
    _bytes("ram_total_bytes", N_("Memory, total"), kind=Kind.STATIC),
    _bytes("swap_used_bytes", N_("Swap")),
    _bytes("swap_total_bytes", N_("Swap, total"), kind=Kind.STATIC),
)

METRICS: dict[str, Metric] = {m.id: m for m in (*DEVICE_METRICS, *PROCESS_METRICS, *HOST_METRICS)}


class ClockReason(IntFlag):
    """Bits of ``throttle_reasons``: nvml.h ``nvmlClocksEventReason*``."""

    IDLE = 0x001
    APPLICATION_CLOCKS = 0x002
    POWER_CAP = 0x004  #: normal at full load
    HARDWARE_SLOWDOWN = 0x008  #: heat or the power supply
    SYNC_BOOST = 0x010
    SOFTWARE_THERMAL = 0x020
    HARDWARE_THERMAL = 0x040
    POWER_BRAKE = 0x080  #: asked for by the power supply
    DISPLAY_CLOCKS = 0x100
    HEAT = SOFTWARE_THERMAL | HARDWARE_THERMAL
    POWER = POWER_CAP | POWER_BRAKE


THROTTLE_REASONS: tuple[tuple[ClockReason, str], ...] = (
    (ClockReason.IDLE, N_("GPU idle")),
    (ClockReason.APPLICATION_CLOCKS, N_("Application clocks")),
    (ClockReason.POWER_CAP, N_("Power cap")),
    (ClockReason.HARDWARE_SLOWDOWN, N_("Hardware slowdown")),
    (ClockReason.SYNC_BOOST, N_("Sync boost")),
    (ClockReason.SOFTWARE_THERMAL, N_("Thermal slowdown (software)")),
    (ClockReason.HARDWARE_THERMAL, N_("Thermal slowdown (hardware)")),
    (ClockReason.POWER_BRAKE, N_("Power brake")),
    (ClockReason.DISPLAY_CLOCKS, N_("Display clocks")),
)
