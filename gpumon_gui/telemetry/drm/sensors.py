"""Knows: which kernel file holds which figure, per driver. Must not know: when they are read, or processes.

Sources of the layouts: kernel Documentation/gpu/amdgpu/thermal.rst and driver-misc.rst (gpu_busy_percent, mem_info_*,
pp_dpm_*), Documentation/hwmon/sysfs-interface.rst (units: millidegree, microwatt, microjoule, hertz, rpm),
ABI/testing/sysfs-driver-intel-i915-hwmon and -xe-hwmon, xe_gt_freq.c (``tileN/gtN/freq0``), i915's gt_sysfs_pm.c.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable
from dataclasses import dataclass

from gpumon_gui.core.metrics import METRICS, Unit
from gpumon_gui.core.values import Missing, Reading, Reason, Value, checked
from gpumon_gui.telemetry.drm.cards import Card, upstream_port
from gpumon_gui.telemetry.drm.sysfs import SOURCE, names, read_text, read_word, unreadable

_CLOCK = re.compile(r"(\d+)\s*mhz", re.IGNORECASE)
_CLOCK_NOW = re.compile(r"(\d+)\s*mhz\s*\*", re.IGNORECASE)
#: PCIe transfer rates per lane → generation (PCI Express base specification).
_PCIE_GEN = {"2.5": 1, "5.0": 2, "5": 2, "8.0": 3, "16.0": 4, "32.0": 5, "64.0": 6}


@dataclass(frozen=True, slots=True)
class Sensor:
    """One figure and its file. ``parse`` gives canonical units, or None when the text is not of the agreed form.
    ``off``: a raw value that means "not in force" (Intel: power limit 0)."""

    metric: str
    path: str
    parse: Callable[[str], float | None]
    detail: bool = False
    off: float | None = None

    def read(self) -> Value:
        """The value now, or why there is none; never raises."""
        raw = read_text(self.path)
        if isinstance(raw, Missing):
            return raw
        if METRICS[self.metric].unit is Unit.TEXT:
            return Reading(raw, SOURCE)
        if raw.startswith("Unknown"):  # PCI core: a link that is down or not there
            return Missing(Reason.NOT_SUPPORTED, SOURCE, "Unknown")
        number = self.parse(raw)
        if number is None:
            return unreadable(self.path, raw)
        if self.off is not None and number == self.off:
            return Missing(Reason.NOT_SUPPORTED, SOURCE, "off")
        return checked(self.metric, number, SOURCE)


@dataclass(frozen=True, slots=True)
class Plan:
    """What a card offers. ``absent``: figures of such cards that this one has no file for."""

    changing: tuple[Sensor, ...]
    fixed: tuple[Sensor, ...]
    absent: tuple[str, ...]


#: Metrics a user looks for on any card; those without a file are reported as not supported.
COMMON = (
    "gpu_utilization",
    "memory_utilization",
    "memory_used_bytes",
    "shared_used_bytes",
    "temperature_c",
    "temperature_hotspot_c",
    "memory_temperature_c",
    "power_w",
    "power_limit_w",
    "fan_ratio",
    "fan_rpm",
    "clock_graphics_mhz",
    "clock_memory_mhz",
    "pcie_gen",
    "pcie_width",
)


def plan(card: Card) -> Plan:
    """Look at which files the card has. Call only while it is awake: labels of sensors are read."""
    hwmon = _Hwmon(card)
    changing = {"amdgpu": _amdgpu, "i915": _intel, "xe": _intel, "nouveau": _nouveau}[card.driver](card, hwmon)
    changing += _fan(card, hwmon) + _link(card)
    fixed = _fixed(card, hwmon)
    chosen: dict[str, Sensor] = {}
    for sensor in changing:
        chosen.setdefault(sensor.metric, sensor)
    once: dict[str, Sensor] = {}
    for sensor in fixed:
        once.setdefault(sensor.metric, sensor)
    absent = tuple(metric for metric in COMMON if metric not in chosen)
    return Plan(tuple(chosen.values()), tuple(once.values()), absent)


class _Hwmon:
    """The card's hardware monitor: channels by number and, where the driver names them, by label."""

    def __init__(self, card: Card) -> None:
        base = os.path.join(card.device, "hwmon")
        folder = next(iter(names(base)), "")
        self.path = os.path.join(base, folder) if folder else ""
        self.files = frozenset(names(self.path)) if folder else frozenset()

    def has(self, name: str) -> bool:
        return name in self.files

    def file(self, name: str) -> str:
        return os.path.join(self.path, name)

    def channel(self, kind: str, label: str, default: int) -> str:
        """``temp2`` for the channel with a label; the default where no channel of the kind is labelled; "" if none."""
        labelled = False
        for name in sorted(self.files):
            if name.startswith(kind) and name.endswith("_label"):
                labelled = True
                if read_word(self.file(name)) == label:
                    return name.removesuffix("_label")
        return "" if labelled or not default else f"{kind}{default}"

    def sensor(
        self,
        metric: str,
        name: str,
        parse: Callable[[str], float | None],
        *,
        detail: bool = False,
        off: float | None = None,
    ) -> list[Sensor]:
        return [Sensor(metric, self.file(name), parse, detail, off)] if self.has(name) else []


def _amdgpu(card: Card, hwmon: _Hwmon) -> list[Sensor]:
    edge = hwmon.channel("temp", "edge", 1)
    junction = hwmon.channel("temp", "junction", 2)
    memory = hwmon.channel("temp", "mem", 3)
    return [
        *_file(card, "gpu_utilization", "gpu_busy_percent", _percent),
        *_file(card, "memory_utilization", "mem_busy_percent", _percent),
        *_file(card, "memory_used_bytes", "mem_info_vram_used", _number),
        *_file(card, "shared_used_bytes", "mem_info_gtt_used", _number),
        *hwmon.sensor("temperature_c", f"{edge}_input", _milli),
        *hwmon.sensor("temperature_hotspot_c", f"{junction}_input", _milli, detail=True),
        *hwmon.sensor("memory_temperature_c", f"{memory}_input", _milli, detail=True),
        *hwmon.sensor("power_w", "power1_average", _micro),
        *hwmon.sensor("power_w", "power1_input", _micro),
        *hwmon.sensor("power_limit_w", "power1_cap", _micro),
        *hwmon.sensor("clock_graphics_mhz", "freq1_input", _micro),
        *_file(card, "clock_graphics_mhz", "pp_dpm_sclk", _clock_now),
        *hwmon.sensor("clock_memory_mhz", "freq2_input", _micro),
        *_file(card, "clock_memory_mhz", "pp_dpm_mclk", _clock_now),
    ]


def _intel(card: Card, hwmon: _Hwmon) -> list[Sensor]:
    gt = _intel_gt(card)
    energy = hwmon.channel("energy", "card", 0) or hwmon.channel("energy", "pkg", 1)
    temperature = hwmon.channel("temp", "pkg", 1)
    memory = hwmon.channel("temp", "vram", 0)
    return [
        *_first("clock_graphics_mhz", gt, ("act_freq", "rps_act_freq_mhz", "gt_act_freq_mhz"), _number),
        *hwmon.sensor("energy_j", f"{energy}_input", _micro),
        *hwmon.sensor("temperature_c", f"{temperature}_input", _milli),
        *hwmon.sensor("memory_temperature_c", f"{memory}_input", _milli, detail=True),
        *hwmon.sensor("power_limit_w", "power1_max", _micro, off=0.0),
        *hwmon.sensor("power_limit_w", "power1_cap", _micro, off=0.0),
        *hwmon.sensor("power_limit_w", "power2_max", _micro, off=0.0),
        *hwmon.sensor("power_limit_w", "power2_cap", _micro, off=0.0),
    ]


def _nouveau(_card: Card, hwmon: _Hwmon) -> list[Sensor]:
    return [
        *hwmon.sensor("temperature_c", "temp1_input", _milli),
        *hwmon.sensor("power_w", "power1_input", _micro),
        *hwmon.sensor("power_limit_w", "power1_max", _micro),
    ]


def _fan(card: Card, hwmon: _Hwmon) -> list[Sensor]:
    duty = _percent if card.driver == "nouveau" else _pwm  # nouveau_hwmon.c gives the duty in percent
    return [
        *hwmon.sensor("fan_rpm", "fan1_input", _number, detail=True),
        *hwmon.sensor("fan_ratio", "pwm1", duty, detail=True),
    ]


def _link(card: Card) -> list[Sensor]:
    port = upstream_port(card)
    return [
        *_first("pcie_gen", [port], ("current_link_speed",), _generation, detail=True),
        *_first("pcie_width", [port], ("current_link_width",), _number, detail=True),
    ]


def _fixed(card: Card, hwmon: _Hwmon) -> list[Sensor]:
    port = upstream_port(card)
    gt = _intel_gt(card)
    return [
        *_file(card, "memory_total_bytes", "mem_info_vram_total", _number),
        *_file(card, "shared_total_bytes", "mem_info_gtt_total", _number),
        *_file(card, "vbios_version", "vbios_version", _number),
        *_file(card, "clock_graphics_max_mhz", "pp_dpm_sclk", _clock_max),
        *_file(card, "clock_memory_max_mhz", "pp_dpm_mclk", _clock_max),
        *_first(
            "clock_graphics_max_mhz",
            gt,
            ("rp0_freq", "rps_RP0_freq_mhz", "gt_RP0_freq_mhz", "gt_max_freq_mhz"),
            _number,
        ),
        *hwmon.sensor("power_limit_default_w", "power1_cap_default", _micro),
        *hwmon.sensor("power_limit_default_w", "power1_rated_max", _micro, off=0.0),
        *hwmon.sensor("power_limit_min_w", "power1_cap_min", _micro),
        *hwmon.sensor("power_limit_max_w", "power1_cap_max", _micro),
        *hwmon.sensor("temperature_slowdown_c", "temp1_crit", _milli),
        *hwmon.sensor("temperature_shutdown_c", "temp1_emergency", _milli),
        *_first("pcie_gen_max", [port], ("max_link_speed",), _generation),
        *_first("pcie_width_max", [port], ("max_link_width",), _number),
    ]


def _intel_gt(card: Card) -> list[str]:
    """Folders that may hold the clocks: xe's first tile, i915's first GT, the old place beside the card."""
    if card.driver not in ("i915", "xe"):
        return []
    return [
        os.path.join(card.device, "tile0/gt0/freq0"),
        os.path.join(card.path, "gt/gt0"),
        card.path,
    ]


def _file(card: Card, metric: str, name: str, parse: Callable[[str], float | None]) -> list[Sensor]:
    path = os.path.join(card.device, name)
    return [Sensor(metric, path, parse)] if os.path.exists(path) else []


def _first(
    metric: str,
    folders: list[str],
    files: tuple[str, ...],
    parse: Callable[[str], float | None],
    *,
    detail: bool = False,
) -> list[Sensor]:
    paths = (os.path.join(folder, name) for folder in folders for name in files)
    return [Sensor(metric, path, parse, detail) for path in paths if os.path.exists(path)][:1]


def _number(text: str) -> float | None:
    try:
        return float(int(text))
    except ValueError:
        return None


def _scaled(text: str, by: float) -> float | None:
    number = _number(text)
    return None if number is None else number / by


def _percent(text: str) -> float | None:
    return _scaled(text, 100.0)


def _milli(text: str) -> float | None:
    return _scaled(text, 1e3)


def _micro(text: str) -> float | None:
    return _scaled(text, 1e6)


def _pwm(text: str) -> float | None:
    return _scaled(text, 255.0)  # hwmon: pwm is 0..255


def _generation(text: str) -> float | None:
    gen = _PCIE_GEN.get(text.split()[0])
    return None if gen is None else float(gen)


def _clock_now(text: str) -> float | None:
    match = _CLOCK_NOW.search(text)
    return float(match.group(1)) if match else None


def _clock_max(text: str) -> float | None:
    clocks = [float(clock) for clock in _CLOCK.findall(text)]
    return max(clocks) if clocks else None
