"""Knows: what boards answer to NVML's questions, in NVML's units. Must not know: what goes wrong with them."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

from gpumon_gui.telemetry.synthetic.loads import Load, idle, mean, ripple
from gpumon_gui.telemetry.synthetic.nvml_library import NOT_SUPPORTED, Card, Client, Code, Figure

MIB = 1 << 20
GIB = 1 << 30


@dataclass(frozen=True, slots=True)
class Model:
    """A board: the figures its maker publishes. Power in watt, clocks in MHz."""

    name: str
    memory_gib: float
    power_w: int
    idle_w: int
    sm_mhz: int
    memory_mhz: int
    cores: int
    bus_bits: int
    architecture: int
    capability: tuple[int, int]
    pcie: tuple[int, int] = (4, 16)
    ecc: bool = False
    fan: bool = False
    gpm: bool = False
    media: bool = True
    vbios: str = "96.00.5E.00.01"


H200 = Model("NVIDIA H200", 141, 700, 76, 1980, 3201, 16896, 6144, 9, (9, 0), (5, 16), ecc=True, gpm=True)
A100 = Model("NVIDIA A100-SXM4-80GB", 80, 400, 58, 1410, 1593, 6912, 5120, 7, (8, 0), ecc=True)
L4 = Model("NVIDIA L4", 24, 72, 16, 2040, 6251, 7424, 192, 8, (8, 9), ecc=True)
RTX_4090 = Model("NVIDIA GeForce RTX 4090", 24, 450, 21, 2520, 10501, 16384, 384, 8, (8, 9), fan=True)
RTX_3070_LAPTOP = Model("NVIDIA GeForce RTX 3070 Laptop GPU", 8, 115, 12, 1560, 7001, 5120, 256, 7, (8, 6), (4, 8))
RTX_2080_SUPER = Model("NVIDIA GeForce RTX 2080 SUPER", 8, 250, 14, 1815, 7751, 3072, 256, 6, (7, 5), (3, 16), fan=True)
GTX_1060 = Model("NVIDIA GeForce GTX 1060 6GB", 6, 120, 6, 1708, 4004, 1280, 192, 4, (6, 1), (3, 16), fan=True)
GB10 = Model("NVIDIA GB10", 0, 140, 11, 2418, 4266, 6144, 256, 10, (12, 1), (5, 1), media=False)


def card(
    model: Model,
    load: Load = idle,
    *,
    number: int = 0,
    used_gib: float = 0.4,
    clients: tuple[Client, ...] = (),
    bus: str | None = None,
) -> Card:
    """A healthy board under a load. ``number`` makes its identity and its PCI bus unique."""
    bus = bus or f"00000000:{number + 1:02X}:00.0"
    figures = _figures(model, load, number, used_gib)
    return Card(bus, figures, clients)


def sm(load: Load, share: float = 1.0) -> Figure:
    """A process's utilization in NVML's per cent: its share of a load."""
    return lambda now_s: round(100 * share * load(now_s))


def _counted(power: Callable[[float], int]) -> Figure:
    """A board's counter of millijoules that rises by what it draws (milliwatts)."""
    millijoules, until_s = 3.6e9, math.nan

    def read(now_s: float) -> int:
        nonlocal millijoules, until_s
        if not until_s <= now_s:
            until_s = now_s
        while until_s < now_s:
            step_s = min(1.0, now_s - until_s)
            millijoules += power(until_s + step_s / 2) * step_s
            until_s += step_s
        return int(millijoules)

    return read


def _figures(model: Model, load: Load, number: int, used_gib: float) -> dict[str, Figure]:
    total = int(model.memory_gib * GIB)
    reserved = total // 40
    used = int(used_gib * GIB)

    def held(now_s: float) -> int:
        return min(total - reserved, int(used * (1 + 0.01 * ripple(now_s / 3, number))))

    def power(now_s: float) -> int:
        wanted = model.idle_w + (model.power_w - model.idle_w) * 0.92 * mean(load, now_s, 1.0)
        return int(1000 * (wanted + 0.008 * model.power_w * ripple(now_s * 1.3, number)))

    def temperature(now_s: float) -> int:
        return round(34 + 38 * mean(load, now_s, 40.0) + 0.8 * ripple(now_s / 9, number))

    def clock(top: int, rest: int) -> Figure:
        return lambda now_s: int(top - 45 * abs(ripple(now_s, number))) if load(now_s) > 0.02 else rest

    def throttle(now_s: float) -> int:
        return 0x4 if load(now_s) > 0.97 else 0x0 if load(now_s) > 0.02 else 0x1  # power cap, none, idle

    figures: dict[str, Figure] = {
        "name": model.name.encode(),
        "uuid": f"GPU-{number:08x}-5b1c-4c9e-a3f0-{0x6D0F0000 + number:012x}".encode(),
        "vbios": model.vbios.encode(),
        "utilization": lambda now_s: round(100 * load(now_s)),
        "memory_utilization": lambda now_s: round(46 * load(now_s)),
        "memory_total": total,
        "memory_reserved": reserved,
        "memory_used": held,
        "memory_used_v1": lambda now_s: held(now_s) + reserved,
        "memory_free": lambda now_s: total - reserved - held(now_s),
        "bar1_total": 256 * MIB,
        "bar1_free": 250 * MIB,
        "bar1_used": 6 * MIB,
        "temperature.0": temperature,
        "power": power,
        "power_limit": 1000 * model.power_w,
        "power_limit_default": 1000 * model.power_w,
        "power_limit_min": 300 * model.power_w,
        "power_limit_max": 1000 * model.power_w,
        "clock.0": clock(model.sm_mhz, 210),
        "clock.1": clock(model.sm_mhz, 210),
        "clock.2": lambda now_s: model.memory_mhz if load(now_s) > 0.02 else 405,
        "clock.3": clock(int(model.sm_mhz * 0.86), 555),
        **{
            f"clock_max.{kind}": mhz
            for kind, mhz in enumerate(
                (model.sm_mhz, model.sm_mhz, model.memory_mhz, int(model.sm_mhz * 0.86)),
            )
        },
        "pstate": lambda now_s: 0 if load(now_s) > 0.02 else 8,
        "throttle": throttle,
        "pcie_gen": lambda now_s: model.pcie[0] if load(now_s) > 0.02 else 1,
        "pcie_width": model.pcie[1],
        "pcie_gen_max": model.pcie[0],
        "pcie_width_max": model.pcie[1],
        "pcie_replays": 0,
        "energy": _counted(power),
        "temperature_limit.0": 98,
        "temperature_limit.1": 95,
        "temperature_limit.3": 88,
        "cores": model.cores,
        "bus_width": model.bus_bits,
        "architecture": model.architecture,
        "cc_major": model.capability[0],
        "cc_minor": model.capability[1],
        "compute_mode": 0,
        "persistence_mode": 1,
        "virtualization": 0,
        "display_active": 0,
        "field.186": power,
        "field.197": lambda now_s: int(now_s * 21e6) % 2**32,
        "field.198": lambda now_s: int(now_s * 48e6) % 2**32,
    }
    if model.media:
        figures.update({"encoder": 0, "decoder": 0, "jpeg": 0, "ofa": 0, "sampling_period": 167_000})
    if model.fan:
        figures["fan"] = lambda now_s: 0 if mean(load, now_s, 40.0) < 0.1 else round(30 + 40 * mean(load, now_s, 40.0))
    if model.ecc:
        figures.update({"ecc_mode": 1, "ecc.0.0": 0, "ecc.1.0": 0, "field.82": lambda now_s: temperature(now_s) + 6})
    if model.gpm:
        figures.update(gpm_figures(load, number))
    if total == 0:  # the CPU's memory is the GPU's: the driver answers 0 for the card's own
        figures.update(dict.fromkeys(("memory_reserved", "memory_used", "memory_used_v1", "memory_free"), 0))
    return figures


def gpm_figures(load: Load, number: int = 0) -> dict[str, Figure]:
    """What the hardware counters of a Hopper card say of a training run (shares of an H200 with ResNet-50)."""
    shares = {1: 0.99, 2: 0.92, 3: 0.42, 5: 0.31, 10: 0.47, 11: 0.0, 12: 0.12, 13: 0.05}
    figures: dict[str, Figure] = {f"gpm.{gpm_id}": _share(load, share, number) for gpm_id, share in shares.items()}
    figures["gpm.20"] = lambda now_s: 21.0 + 4 * ripple(now_s, number)
    figures["gpm.21"] = lambda now_s: 48.0 + 9 * ripple(now_s, number)
    figures["gpm.60"] = figures["gpm.61"] = Code(NOT_SUPPORTED)
    return figures


def _share(load: Load, share: float, number: int) -> Figure:
    return lambda now_s: 100 * min(1.0, max(0.0, share * load(now_s) * (1 + 0.04 * ripple(now_s * 1.1, number))))
