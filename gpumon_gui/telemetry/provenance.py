"""Knows: which counter of which source each figure is. Must not know: how it is read or shown.

The names are those that the vendors document, so that a reader can look them up; they are not translated.
"""

from __future__ import annotations

#: What a source is called in the window. Proper names, not translated.
SOURCE_NAMES: dict[str, str] = {
    "nvml": "NVML",
    "pdh": "Windows",
    "dxgi": "DXGI",
    "drm": "Linux DRM",
    "host": "OS",
    "trace": "NVML trace",
    "smi": "nvidia-smi",
}

_NVML: dict[str, str] = {
    "gpu_utilization": "nvmlDeviceGetUtilizationRates: gpu",
    "memory_utilization": "nvmlDeviceGetUtilizationRates: memory",
    "encoder_utilization": "nvmlDeviceGetEncoderUtilization",
    "decoder_utilization": "nvmlDeviceGetDecoderUtilization",
    "jpeg_utilization": "nvmlDeviceGetJpgUtilization",
    "ofa_utilization": "nvmlDeviceGetOfaUtilization",
    "graphics_activity": "NVML GPM: NVML_GPM_METRIC_GRAPHICS_UTIL",
    "sm_activity": "NVML GPM: NVML_GPM_METRIC_SM_UTIL",
    "sm_occupancy": "NVML GPM: NVML_GPM_METRIC_SM_OCCUPANCY",
    "tensor_activity": "NVML GPM: NVML_GPM_METRIC_ANY_TENSOR_UTIL",
    "dram_activity": "NVML GPM: NVML_GPM_METRIC_DRAM_BW_UTIL",
    "fp64_activity": "NVML GPM: NVML_GPM_METRIC_FP64_UTIL",
    "fp32_activity": "NVML GPM: NVML_GPM_METRIC_FP32_UTIL",
    "fp16_activity": "NVML GPM: NVML_GPM_METRIC_FP16_UTIL",
    "memory_used_bytes": "nvmlDeviceGetMemoryInfo_v2: used",
    "memory_free_bytes": "nvmlDeviceGetMemoryInfo_v2: free",
    "memory_reserved_bytes": "nvmlDeviceGetMemoryInfo_v2: reserved",
    "memory_total_bytes": "nvmlDeviceGetMemoryInfo_v2: total",
    "bar1_used_bytes": "nvmlDeviceGetBAR1MemoryInfo: bar1Used",
    "bar1_total_bytes": "nvmlDeviceGetBAR1MemoryInfo: bar1Total",
    "temperature_c": "nvmlDeviceGetTemperature: NVML_TEMPERATURE_GPU",
    "memory_temperature_c": "nvmlDeviceGetFieldValues: NVML_FI_DEV_MEMORY_TEMP",
    "temperature_slowdown_c": "nvmlDeviceGetTemperatureThreshold: SLOWDOWN",
    "temperature_shutdown_c": "nvmlDeviceGetTemperatureThreshold: SHUTDOWN",
    "temperature_max_operating_c": "nvmlDeviceGetTemperatureThreshold: GPU_MAX",
    "power_w": "nvmlDeviceGetPowerUsage",
    "power_instant_w": "nvmlDeviceGetFieldValues: NVML_FI_DEV_POWER_INSTANT",
    "power_average_w": "nvmlDeviceGetFieldValues: NVML_FI_DEV_POWER_AVERAGE",
    "power_limit_w": "nvmlDeviceGetEnforcedPowerLimit",
    "power_limit_default_w": "nvmlDeviceGetPowerManagementDefaultLimit",
    "power_limit_min_w": "nvmlDeviceGetPowerManagementLimitConstraints: min",
    "power_limit_max_w": "nvmlDeviceGetPowerManagementLimitConstraints: max",
    "energy_j": "nvmlDeviceGetTotalEnergyConsumption",
    "power_energy_w": "nvmlDeviceGetTotalEnergyConsumption: Δ/Δt",
    "fan_ratio": "nvmlDeviceGetFanSpeed_v2",
    "fan_rpm": "nvmlDeviceGetFanSpeedRPM",
    "clock_graphics_mhz": "nvmlDeviceGetClockInfo: GRAPHICS",
    "clock_sm_mhz": "nvmlDeviceGetClockInfo: SM",
    "clock_memory_mhz": "nvmlDeviceGetClockInfo: MEM",
    "clock_video_mhz": "nvmlDeviceGetClockInfo: VIDEO",
    "clock_graphics_max_mhz": "nvmlDeviceGetMaxClockInfo: GRAPHICS",
    "clock_sm_max_mhz": "nvmlDeviceGetMaxClockInfo: SM",
    "clock_memory_max_mhz": "nvmlDeviceGetMaxClockInfo: MEM",
    "clock_video_max_mhz": "nvmlDeviceGetMaxClockInfo: VIDEO",
    "pstate": "nvmlDeviceGetPerformanceState",
    "throttle_reasons": "nvmlDeviceGetCurrentClocksEventReasons",
    "pcie_gen": "nvmlDeviceGetCurrPcieLinkGeneration",
    "pcie_width": "nvmlDeviceGetCurrPcieLinkWidth",
    "pcie_gen_max": "nvmlDeviceGetMaxPcieLinkGeneration",
    "pcie_width_max": "nvmlDeviceGetMaxPcieLinkWidth",
    "pcie_tx_total_bytes": "nvmlDeviceGetFieldValues: NVML_FI_DEV_PCIE_COUNT_TX_BYTES",
    "pcie_rx_total_bytes": "nvmlDeviceGetFieldValues: NVML_FI_DEV_PCIE_COUNT_RX_BYTES",
    "pcie_tx_bytes_per_s": "nvmlDeviceGetFieldValues: NVML_FI_DEV_PCIE_COUNT_TX_BYTES: Δ/Δt",
    "pcie_rx_bytes_per_s": "nvmlDeviceGetFieldValues: NVML_FI_DEV_PCIE_COUNT_RX_BYTES: Δ/Δt",
    "pcie_replays": "nvmlDeviceGetPcieReplayCounter",
    "nvlink_tx_bytes_per_s": "NVML GPM: NVML_GPM_METRIC_NVLINK_TOTAL_TX_PER_SEC",
    "nvlink_rx_bytes_per_s": "NVML GPM: NVML_GPM_METRIC_NVLINK_TOTAL_RX_PER_SEC",
    "ecc_corrected": "nvmlDeviceGetTotalEccErrors: CORRECTED, VOLATILE",
    "ecc_uncorrected": "nvmlDeviceGetTotalEccErrors: UNCORRECTED, VOLATILE",
    "remapped_rows_pending": "nvmlDeviceGetRemappedRows: isPending",
    "driver_version": "nvmlSystemGetDriverVersion",
    "cuda_driver_version": "nvmlSystemGetCudaDriverVersion_v2",
    "vbios_version": "nvmlDeviceGetVbiosVersion",
    "compute_capability": "nvmlDeviceGetCudaComputeCapability",
    "architecture": "nvmlDeviceGetArchitecture",
    "driver_model": "nvmlDeviceGetDriverModel_v2",
    "compute_mode": "nvmlDeviceGetComputeMode",
    "persistence_mode": "nvmlDeviceGetPersistenceMode",
    "mig_mode": "nvmlDeviceGetMigMode",
    "virtualization": "nvmlDeviceGetVirtualizationMode",
    "ecc_mode": "nvmlDeviceGetEccMode",
    "display_attached": "nvmlDeviceGetDisplayMode",
    "core_count": "nvmlDeviceGetNumGpuCores",
    "memory_bus_bits": "nvmlDeviceGetMemoryBusWidth",
    "process_gpu_utilization": "nvmlDeviceGetProcessUtilization: smUtil",
    "process_memory_utilization": "nvmlDeviceGetProcessUtilization: memUtil",
    "process_encoder_utilization": "nvmlDeviceGetProcessUtilization: encUtil",
    "process_decoder_utilization": "nvmlDeviceGetProcessUtilization: decUtil",
    "process_memory_bytes": "nvmlDeviceGetComputeRunningProcesses_v3: usedGpuMemory",
}

_PDH: dict[str, str] = {
    "engine_utilization": r"\GPU Engine(*)\Utilization Percentage, Σ processes, max engine",
    "memory_used_bytes": r"\GPU Adapter Memory(*)\Dedicated Usage",
    "shared_used_bytes": r"\GPU Adapter Memory(*)\Shared Usage",
    "process_gpu_utilization": r"\GPU Engine(pid_*)\Utilization Percentage, max engine",
    "process_memory_bytes": r"\GPU Process Memory(pid_*)\Local Usage",
    "process_shared_bytes": r"\GPU Process Memory(pid_*)\Non Local Usage",
}

_DXGI: dict[str, str] = {
    "memory_total_bytes": "DXGI_ADAPTER_DESC1: DedicatedVideoMemory",
    "shared_total_bytes": "DXGI_ADAPTER_DESC1: SharedSystemMemory",
    "driver_version": "IDXGIAdapter::CheckInterfaceSupport: UMD version",
    "driver_date": "Display class registry key: DriverDate",
    "directx_version": "D3D12CreateDevice: feature level",
    "hags": "D3DKMTQueryAdapterInfo: KMTQAITYPE_WDDM_2_7_CAPS",
    "temperature_c": "D3DKMTQueryAdapterInfo: KMTQAITYPE_ADAPTERPERFDATA: Temperature",
    "power_w": "D3DKMTQueryAdapterInfo: KMTQAITYPE_ADAPTERPERFDATA: Power",
    "fan_rpm": "D3DKMTQueryAdapterInfo: KMTQAITYPE_ADAPTERPERFDATA: FanRPM",
    "clock_memory_mhz": "D3DKMTQueryAdapterInfo: KMTQAITYPE_ADAPTERPERFDATA: MemoryFrequency",
    "memory_reserved_bytes": "Display class registry key: HardwareInformation.qwMemorySize - DedicatedVideoMemory",
    "driver_model": "D3DKMTQueryAdapterInfo: KMTQAITYPE_DRIVERVERSION",
}

_DRM: dict[str, str] = {
    "gpu_utilization": "/sys/class/drm/card*/device/gpu_busy_percent",
    "memory_utilization": "/sys/class/drm/card*/device/mem_busy_percent",
    "engine_utilization": "/proc/*/fdinfo: drm-engine-* (xe: drm-cycles-*), Σ processes, max engine",
    "memory_used_bytes": "/sys/class/drm/card*/device/mem_info_vram_used",
    "memory_total_bytes": "/sys/class/drm/card*/device/mem_info_vram_total",
    "shared_used_bytes": "/sys/class/drm/card*/device/mem_info_gtt_used",
    "shared_total_bytes": "/sys/class/drm/card*/device/mem_info_gtt_total",
    "temperature_c": "/sys/class/drm/card*/device/hwmon/hwmon*/temp*_input (amdgpu: edge; i915, xe: pkg)",
    "temperature_hotspot_c": "/sys/class/drm/card*/device/hwmon/hwmon*/temp*_input (amdgpu: junction)",
    "memory_temperature_c": "/sys/class/drm/card*/device/hwmon/hwmon*/temp*_input (amdgpu: mem; xe: vram)",
    "power_w": "/sys/class/drm/card*/device/hwmon/hwmon*/power1_average or power1_input",
    "power_limit_w": "/sys/class/drm/card*/device/hwmon/hwmon*/power1_cap (i915, xe, nouveau: power1_max)",
    "power_limit_default_w": "/sys/class/drm/card*/device/hwmon/hwmon*/power1_cap_default (i915, xe: power1_rated_max)",
    "power_limit_max_w": "/sys/class/drm/card*/device/hwmon/hwmon*/power1_cap_max",
    "energy_j": "/sys/class/drm/card*/device/hwmon/hwmon*/energy1_input",
    "power_energy_w": "/sys/class/drm/card*/device/hwmon/hwmon*/energy1_input: Δ/Δt",
    "fan_ratio": "/sys/class/drm/card*/device/hwmon/hwmon*/pwm1",
    "fan_rpm": "/sys/class/drm/card*/device/hwmon/hwmon*/fan1_input",
    "clock_graphics_mhz": (
        "/sys/class/drm/card*/\n"
        "amdgpu: device/hwmon/hwmon*/freq1_input or device/pp_dpm_sclk\n"
        "i915: gt/gt0/rps_act_freq_mhz\n"
        "xe: device/tile0/gt0/freq0/act_freq"
    ),
    "clock_memory_mhz": "/sys/class/drm/card*/device/ (hwmon/hwmon*/freq2_input or pp_dpm_mclk)",
    "pcie_gen": "/sys/class/drm/card*/device/current_link_speed",
    "pcie_width": "/sys/class/drm/card*/device/current_link_width",
    "pcie_gen_max": "/sys/class/drm/card*/device/max_link_speed",
    "pcie_width_max": "/sys/class/drm/card*/device/max_link_width",
    "encoder_utilization": "/proc/*/fdinfo: drm-engine-enc, Σ processes",
    "decoder_utilization": "/proc/*/fdinfo: drm-engine-dec, Σ processes",
    "jpeg_utilization": "/proc/*/fdinfo: drm-engine-jpeg, Σ processes",
    "memory_free_bytes": "/sys/class/drm/card*/device/mem_info_vram_total - mem_info_vram_used",
    "clock_graphics_max_mhz": (
        "/sys/class/drm/card*/\n"
        "amdgpu: device/pp_dpm_sclk, highest\n"
        "i915: gt/gt0/rps_RP0_freq_mhz\n"
        "xe: device/tile0/gt0/freq0/rp0_freq"
    ),
    "clock_memory_max_mhz": "/sys/class/drm/card*/device/pp_dpm_mclk: highest",
    "power_limit_min_w": "/sys/class/drm/card*/device/hwmon/hwmon*/power1_cap_min",
    "temperature_slowdown_c": "/sys/class/drm/card*/device/hwmon/hwmon*/temp*_crit",
    "temperature_shutdown_c": "/sys/class/drm/card*/device/hwmon/hwmon*/temp*_emergency",
    "vbios_version": "/sys/class/drm/card*/device/vbios_version",
    "kernel_driver": "/sys/class/drm/card*/device/driver",
    "process_encoder_utilization": "/proc/*/fdinfo: drm-engine-enc",
    "process_decoder_utilization": "/proc/*/fdinfo: drm-engine-dec",
    "process_gpu_utilization": "/proc/*/fdinfo: drm-engine-* (xe: drm-cycles-*), max engine",
    "process_memory_bytes": "/proc/*/fdinfo: drm-resident-* or drm-memory-* (amdgpu, xe: vram*; i915: local*)",
    "process_shared_bytes": "/proc/*/fdinfo: drm-resident-* or drm-memory-* (amdgpu, xe: gtt; i915: system*)",
}

_HOST: dict[str, str] = {
    # Linux reads /proc itself, other systems through psutil: the same counters of the operating system.
    "cpu_utilization": "/proc/stat, psutil.cpu_times: Δ/Δt",
    "ram_used_bytes": "/proc/meminfo, psutil.virtual_memory: total - available",
    "ram_total_bytes": "/proc/meminfo, psutil.virtual_memory: total",
    "swap_used_bytes": "/proc/meminfo, psutil.swap_memory: used",
    "swap_total_bytes": "/proc/meminfo, psutil.swap_memory: total",
    "process_cpu": "/proc/PID/stat, psutil.Process.cpu_times: Δ/Δt",
    "process_rss_bytes": "/proc/PID/stat, psutil.Process.memory_info: rss",
    "process_threads": "/proc/PID/stat, psutil.Process.num_threads",
    "process_read_bytes_per_s": "/proc/PID/io, psutil.Process.io_counters: read_bytes, Δ/Δt",
    "process_write_bytes_per_s": "/proc/PID/io, psutil.Process.io_counters: write_bytes, Δ/Δt",
}

# The recorded traces hold NVML's figures, some of them through older calls.
_TRACE: dict[str, str] = _NVML | {
    "memory_used_bytes": "nvmlDeviceGetMemoryInfo (v1): used, with what the driver reserves",
    "pcie_tx_bytes_per_s": "nvmlDeviceGetPcieThroughput: TX",
    "pcie_rx_bytes_per_s": "nvmlDeviceGetPcieThroughput: RX",
}

#: Logs of nvidia-smi: the fields of ``--query-gpu``.
_SMI: dict[str, str] = {
    "gpu_utilization": "nvidia-smi: utilization.gpu",
    "memory_utilization": "nvidia-smi: utilization.memory",
    "encoder_utilization": "nvidia-smi: utilization.encoder",
    "decoder_utilization": "nvidia-smi: utilization.decoder",
    "jpeg_utilization": "nvidia-smi: utilization.jpeg",
    "ofa_utilization": "nvidia-smi: utilization.ofa",
    "memory_used_bytes": "nvidia-smi: memory.used",
    "memory_free_bytes": "nvidia-smi: memory.free",
    "memory_reserved_bytes": "nvidia-smi: memory.reserved",
    "memory_total_bytes": "nvidia-smi: memory.total",
    "temperature_c": "nvidia-smi: temperature.gpu",
    "memory_temperature_c": "nvidia-smi: temperature.memory",
    "power_w": "nvidia-smi: power.draw",
    "power_average_w": "nvidia-smi: power.draw.average",
    "power_instant_w": "nvidia-smi: power.draw.instant",
    "power_limit_w": "nvidia-smi: enforced.power.limit, power.limit",
    "power_limit_default_w": "nvidia-smi: power.default_limit",
    "power_limit_min_w": "nvidia-smi: power.min_limit",
    "power_limit_max_w": "nvidia-smi: power.max_limit",
    "fan_ratio": "nvidia-smi: fan.speed",
    "clock_graphics_mhz": "nvidia-smi: clocks.current.graphics",
    "clock_sm_mhz": "nvidia-smi: clocks.current.sm",
    "clock_memory_mhz": "nvidia-smi: clocks.current.memory",
    "clock_video_mhz": "nvidia-smi: clocks.current.video",
    "clock_graphics_max_mhz": "nvidia-smi: clocks.max.graphics",
    "clock_sm_max_mhz": "nvidia-smi: clocks.max.sm",
    "clock_memory_max_mhz": "nvidia-smi: clocks.max.memory",
    "pcie_gen": "nvidia-smi: pcie.link.gen.current",
    "pcie_width": "nvidia-smi: pcie.link.width.current",
    "pcie_gen_max": "nvidia-smi: pcie.link.gen.max",
    "pcie_width_max": "nvidia-smi: pcie.link.width.max",
    "pstate": "nvidia-smi: pstate",
    "throttle_reasons": "nvidia-smi: clocks_event_reasons.active",
    "ecc_corrected": "nvidia-smi: ecc.errors.corrected.volatile.total",
    "ecc_uncorrected": "nvidia-smi: ecc.errors.uncorrected.volatile.total",
    "driver_version": "nvidia-smi: driver_version",
    "vbios_version": "nvidia-smi: vbios_version",
    "compute_capability": "nvidia-smi: compute_cap",
    "driver_model": "nvidia-smi: driver_model.current",
}

COUNTERS: dict[str, dict[str, str]] = {
    "nvml": _NVML,
    "pdh": _PDH,
    "dxgi": _DXGI,
    "drm": _DRM,
    "host": _HOST,
    "trace": _TRACE,
    "smi": _SMI,
}

_ENGINE: dict[str, str] = {
    "pdh": r"\GPU Engine(*)\Utilization Percentage, Σ processes",
    "drm": "/proc/*/fdinfo: drm-engine-* (xe: drm-cycles-*), Σ processes",
}


def source_name(source: str) -> str:
    """What a source is called in the window; an unknown one by its own word."""
    return SOURCE_NAMES.get(source, source)


def counter(source: str, metric_id: str) -> str:
    """The exact counter behind a figure; empty when the table has none."""
    return COUNTERS.get(source, {}).get(metric_id, "")


def engine_counter(source: str) -> str:
    """The exact counter behind the busy share of one engine; empty when the table has none."""
    return _ENGINE.get(source, "")
