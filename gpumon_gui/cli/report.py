"""Knows: a sample as a page of text for a terminal. Must not know: how it was read."""

from __future__ import annotations

import unicodedata
from collections.abc import Mapping, Sequence

from gpumon_gui.core.files import printable
from gpumon_gui.core.formatters import DASH, cores, memory_pair, pair, value_text, watts
from gpumon_gui.core.messages import _
from gpumon_gui.core.metrics import METRICS
from gpumon_gui.core.model import DeviceSample, DeviceState, ProcessSample, Sample, SourceState
from gpumon_gui.core.reasons import DEVICE_STATE_TEXT, health_text, missing_text
from gpumon_gui.core.values import Missing, Value, number
from gpumon_gui.telemetry.derive.adapters import Adapter, adapters
from gpumon_gui.telemetry.derive.engine_names import engine_name

#: In this order, those that have a value. Pairs are written apart.
_LINES = (
    "gpu_utilization",
    "engine_utilization",
    "sm_activity",
    "tensor_activity",
    "dram_activity",
    "memory_utilization",
    "encoder_utilization",
    "decoder_utilization",
    "temperature_c",
    "memory_temperature_c",
    "pstate",
    "throttle_reasons",
    "fan_ratio",
    "pcie_tx_bytes_per_s",
    "pcie_rx_bytes_per_s",
    "nvlink_tx_bytes_per_s",
    "nvlink_rx_bytes_per_s",
    "driver_version",
    "cuda_driver_version",
    "compute_capability",
)
#: Missing ones of these are named with the reason; others are left out.
_EXPECTED = ("gpu_utilization", "memory_used_bytes", "temperature_c", "power_w")


def text(sample: Sample) -> str:
    """The page."""
    shown = adapters(sample.inventory)
    parts = [block for adapter in shown if (block := _device(adapter, sample.devices.get(adapter.info.key)))]
    if not parts:
        parts.append(_("No GPU can be read."))
    parts.append(_processes(sample))
    parts.append(_host(sample))
    troubles = [health for health in sample.health if health.state is not SourceState.ABSENT and health.code]
    if not shown:
        troubles = [health for health in sample.health if health.code]
    if troubles:
        parts.append("\n".join(f"{health.name}: {health_text(health)}" for health in troubles))
    return "\n\n".join(parts)


def _device(adapter: Adapter, device: DeviceSample | None) -> str:
    if device is None:
        return ""
    info = adapter.info
    title = f"{'NPU' if adapter.is_npu else 'GPU'} {adapter.number}  {info.name}"
    if adapter.parent_number is not None:
        title = f"GPU {adapter.parent_number} · MIG {adapter.number}  {info.name}"
    if info.pci_address:
        title += f"  [{info.pci_address}]"
    lines = [printable(title)]
    if device.state is not DeviceState.OK:
        lines.append("  " + _(DEVICE_STATE_TEXT[device.state]))
    both: Mapping[str, Value] = {**info.static, **device.values}
    rows = [(_(METRICS[metric].label), value_text(metric, both[metric])) for metric in _LINES if _has(both, metric)]
    at = 1 if rows else 0
    memory = memory_pair(both.get("memory_used_bytes"), both.get("memory_total_bytes"))
    if memory != DASH:
        rows.insert(at, (_("Dedicated GPU memory"), memory))
    if _has(both, "shared_used_bytes"):
        shared = memory_pair(both.get("shared_used_bytes"), both.get("shared_total_bytes"))
        rows.insert(at + 1, (_("Shared GPU memory"), shared))
    if _has(both, "power_w"):
        rows.append((_("Power"), pair(both["power_w"], both.get("power_limit_w"), watts)))
    clocks = [metric for metric in ("clock_sm_mhz", "clock_memory_mhz") if _has(both, metric)]
    rows += [(_(METRICS[metric].label), value_text(metric, both[metric])) for metric in clocks]
    rows += [(engine_name(one.name), value_text("engine_utilization", one.utilization)) for one in device.engines]
    for metric in _EXPECTED:
        value = both.get(metric)
        if isinstance(value, Missing) and device.state is DeviceState.OK:
            rows.append((_(METRICS[metric].label), f"{DASH} {missing_text(value)}"))
    return "\n".join(lines + _columns(rows, indent=2))


def _has(values: Mapping[str, Value], metric: str) -> bool:
    return metric in values and not isinstance(values[metric], Missing)


def _processes(sample: Sample) -> str:
    rows: list[tuple[str, ...]] = [(_("PID"), _("Name"), _("GPU"), _("GPU memory"), _("CPU cores"), _("Framework"))]
    rows += [_process(process) for process in sample.processes]
    if len(rows) == 1:
        return _("No process uses a GPU, as far as GPUMon can see.")
    return "\n".join(_columns(rows))


def _process(process: ProcessSample) -> tuple[str, ...]:
    busy = [use.values.get("process_gpu_utilization") for use in process.uses]
    held = [use.values.get("process_memory_bytes") for use in process.uses]
    cpu = number(process.values.get("process_cpu"))
    return (
        str(process.pid),
        process.name,
        " ".join(value_text("process_gpu_utilization", value) for value in busy) or DASH,
        " ".join(value_text("process_memory_bytes", value) for value in held) or DASH,
        DASH if cpu is None else cores(cpu),
        process.framework or DASH,
    )


def _host(sample: Sample) -> str:
    found = sample.host.values
    return "\n".join(
        _columns(
            [
                (_("CPU"), value_text("cpu_utilization", found.get("cpu_utilization"))),
                (_("Memory"), memory_pair(found.get("ram_used_bytes"), found.get("ram_total_bytes"))),
            ]
        )
    )


def _columns(rows: Sequence[Sequence[str]], indent: int = 0) -> list[str]:
    """Rows as aligned text; Chinese characters take two columns."""
    rows = [[printable(cell) for cell in row] for row in rows]
    widths = [max(_width(row[column]) for row in rows) for column in range(len(rows[0]))] if rows else []
    return [
        " " * indent
        + "  ".join(cell + " " * (width - _width(cell)) for cell, width in zip(row, widths, strict=True)).rstrip()
        for row in rows
    ]


def _width(text: str) -> int:
    return sum(2 if unicodedata.east_asian_width(character) in "WF" else 1 for character in text)
