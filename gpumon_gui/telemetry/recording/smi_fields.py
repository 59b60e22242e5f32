"""Knows: the fields of ``nvidia-smi --help-query-gpu``: their names, units, and words for what is missing.
Must not know: files, samples.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Final

from gpumon_gui.core.metrics import ClockReason
from gpumon_gui.core.values import Reason

MIB = float(1 << 20)
#: nvidia-smi's field → metric and factor to canonical units. Where two give the same metric the later one counts.
FIELDS: Final[Mapping[str, tuple[str, float]]] = {
    "utilization.gpu": ("gpu_utilization", 0.01),
    "utilization.memory": ("memory_utilization", 0.01),
    "utilization.encoder": ("encoder_utilization", 0.01),
    "utilization.decoder": ("decoder_utilization", 0.01),
    "utilization.jpeg": ("jpeg_utilization", 0.01),
    "utilization.ofa": ("ofa_utilization", 0.01),
    "memory.used": ("memory_used_bytes", MIB),
    "memory.free": ("memory_free_bytes", MIB),
    "memory.reserved": ("memory_reserved_bytes", MIB),
    "temperature.gpu": ("temperature_c", 1),
    "temperature.memory": ("memory_temperature_c", 1),
    "power.draw": ("power_w", 1),
    "power.draw.average": ("power_average_w", 1),
    "power.draw.instant": ("power_instant_w", 1),
    "power.limit": ("power_limit_w", 1),
    "enforced.power.limit": ("power_limit_w", 1),
    "fan.speed": ("fan_ratio", 0.01),
    "clocks.current.graphics": ("clock_graphics_mhz", 1),
    "clocks.current.sm": ("clock_sm_mhz", 1),
    "clocks.current.memory": ("clock_memory_mhz", 1),
    "clocks.current.video": ("clock_video_mhz", 1),
    "pcie.link.gen.current": ("pcie_gen", 1),
    "pcie.link.width.current": ("pcie_width", 1),
    "pstate": ("pstate", 1),
    "clocks_event_reasons.active": ("throttle_reasons", 1),
    "ecc.errors.corrected.volatile.total": ("ecc_corrected", 1),
    "ecc.errors.uncorrected.volatile.total": ("ecc_uncorrected", 1),
}
#: What lasts: field → metric and factor; the first value counts.
LASTING: Final[Mapping[str, tuple[str, float]]] = {
    "memory.total": ("memory_total_bytes", MIB),
    "clocks.max.graphics": ("clock_graphics_max_mhz", 1),
    "clocks.max.sm": ("clock_sm_max_mhz", 1),
    "clocks.max.memory": ("clock_memory_max_mhz", 1),
    "power.default_limit": ("power_limit_default_w", 1),
    "power.min_limit": ("power_limit_min_w", 1),
    "power.max_limit": ("power_limit_max_w", 1),
    "pcie.link.gen.max": ("pcie_gen_max", 1),
    "pcie.link.width.max": ("pcie_width_max", 1),
}
LASTING_TEXTS: Final[Mapping[str, str]] = {
    "driver_version": "driver_version",
    "vbios_version": "vbios_version",
    "compute_cap": "compute_capability",
    "driver_model.current": "driver_model",
}
#: Columns of single reasons → their bit in ``throttle_reasons``.
_REASON_BITS: Final[Mapping[str, ClockReason]] = {
    "gpu_idle": ClockReason.IDLE,
    "applications_clocks_setting": ClockReason.APPLICATION_CLOCKS,
    "sw_power_cap": ClockReason.POWER_CAP,
    "hw_slowdown": ClockReason.HARDWARE_SLOWDOWN,
    "sync_boost": ClockReason.SYNC_BOOST,
    "sw_thermal_slowdown": ClockReason.SOFTWARE_THERMAL,
    "hw_thermal_slowdown": ClockReason.HARDWARE_THERMAL,
    "hw_power_brake_slowdown": ClockReason.POWER_BRAKE,
}
#: Short and older spellings.
_ALIASES: Final[Mapping[str, str]] = {
    "clocks.gr": "clocks.current.graphics",
    "clocks.sm": "clocks.current.sm",
    "clocks.mem": "clocks.current.memory",
    "clocks.video": "clocks.current.video",
    "clocks.max.gr": "clocks.max.graphics",
    "clocks.max.mem": "clocks.max.memory",
    "pcie.link.gen.gpucurrent": "pcie.link.gen.current",
    "pcie.link.gen.gpumax": "pcie.link.gen.max",
    "gpu_name": "name",
    "gpu_uuid": "uuid",
    "gpu_bus_id": "pci.bus_id",
}
IDENTITIES: Final = ("index", "uuid", "pci.bus_id")
_HEADER_CELL = re.compile(r"\s*([A-Za-z_]+(?:\.[A-Za-z_0-9]+)*)\s*(?:\[[^\]]*\])?\s*")
_MISSING: Final[tuple[tuple[str, Reason], ...]] = (
    ("permission", Reason.NO_PERMISSION),
    ("lost", Reason.DEVICE_LOST),
    ("reset", Reason.DEVICE_LOST),
    ("not supported", Reason.NOT_SUPPORTED),
    ("n/a", Reason.NOT_SUPPORTED),
    ("deprecated", Reason.NOT_SUPPORTED),
)


_KNOWN: Final = frozenset((*FIELDS, *LASTING, *LASTING_TEXTS, *IDENTITIES, "timestamp", "name", "count"))


def field_name(cell: str) -> str:
    """The field's name without its unit, in the newest spelling; empty for no name."""
    match = _HEADER_CELL.fullmatch(cell)
    if match is None:
        return ""
    name = match.group(1).lower().replace("clocks_throttle_reasons.", "clocks_event_reasons.")
    return _ALIASES.get(name, name)


def is_header(cells: list[str]) -> bool:
    """Whether a line names columns."""
    names = [field_name(cell) for cell in cells]
    return all(names) and any(name in _KNOWN or reason_bit(name) for name in names)


def reason_bit(name: str) -> int:
    """The bit in ``throttle_reasons`` of a column that is about a single reason, else 0."""
    return _REASON_BITS.get(name.removeprefix("clocks_event_reasons."), 0) if "_reasons." in name else 0


def why_missing(cell: str) -> tuple[Reason, str]:
    """What a cell without a figure says."""
    words = cell.lower()
    reason = next((reason for mark, reason in _MISSING if mark in words), Reason.ERROR)
    return reason, "" if reason is Reason.NOT_SUPPORTED else cell.strip("[]")[:80]
