"""Knows: how to tell a story of cards and programs as samples, with noise and gaps. Must not know: features, rules.

A figure is a number or a function of seconds since the start. ``None`` is a figure that this machine does not offer.
Bytes are bytes, shares 0..1, like everywhere below ``ui``. Without ``power`` the board draws what its fill asks for.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from gpumon_gui.core.metrics import METRICS, Unit
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
    UseKind,
)
from gpumon_gui.core.values import NOT_READ, Reading, Value, checked
from gpumon_gui.diagnosis.behaviour.judge import judge

GIB = float(1 << 30)
MIB = float(1 << 20)
#: Any moment: 2027-01-15, 08:00 UTC.
START_UTC_S = 1_800_000_000.0

Figure = float | Callable[[float], float] | None


@dataclass(frozen=True)
class Card:
    """A GPU. ``idle_w`` with a context open; ``source`` names who reads it (``pdh`` for Windows' counters)."""

    name: str = "NVIDIA H200"
    total: float = 140.4 * GIB
    limit_w: float = 700.0
    default_limit_w: float | None = None
    idle_w: float = 120.0
    max_mhz: float = 1980.0
    gpm: bool = True
    slowdown_c: float | None = 92.0
    kind: DeviceKind = DeviceKind.DISCRETE
    vendor: str = "nvidia"
    source: str = "nvml"


H200 = Card()
LAPTOP = Card("NVIDIA GeForce RTX 4060 Laptop GPU", 8 * GIB, 80.0, None, 9.0, 2370.0, gpm=False, slowdown_c=97.0)
DESKTOP = Card("NVIDIA GeForce RTX 3090", 24 * GIB, 350.0, 350.0, 28.0, 2100.0, gpm=False, slowdown_c=95.0)


@dataclass(frozen=True)
class Work:
    """What a card does. ``memory_load`` is NVML's memory utilization; traffic in bytes per second."""

    busy: Figure = 0.0
    sm: Figure = 0.0
    occupancy: Figure = 0.0
    tensor: Figure = 0.0
    fp32: Figure = 0.0
    dram: Figure = 0.0
    memory_load: Figure = 0.0
    power: Figure = None
    clock: Figure = None
    pstate: Figure = 0.0
    throttle: Figure = 0.0
    temperature: Figure = 55.0
    limit_w: Figure = None
    pcie_rx: Figure = 0.9e6
    pcie_tx: Figure = 1.2e6
    nvlink: Figure = 0.0
    shared: Figure = None
    state: DeviceState = DeviceState.OK
    engines: Mapping[str, Figure] = field(default_factory=dict)


#: Kernels that fill the card.
FULL = Work(
    busy=0.99, sm=0.9, occupancy=0.3, tensor=0.5, fp32=0.05, dram=0.33, memory_load=0.4, pcie_rx=50e6, pcie_tx=12e6
)
IDLE = Work(throttle=1.0)


@dataclass(frozen=True)
class Program:
    """A process. ``memory``, ``busy`` and ``shared`` per card, by its place in the list."""

    pid: int
    ppid: int = 1
    command: tuple[str, ...] = ("python3", "train.py")
    framework: str = "PyTorch"
    cpu: Figure = 1.0
    memory: Mapping[int, Figure] = field(default_factory=dict)
    busy: Mapping[int, Figure] = field(default_factory=dict)
    shared: Mapping[int, Figure] = field(default_factory=dict)
    rss: Figure = 2 * GIB
    read: Figure = 0.0
    kind: UseKind = UseKind.COMPUTE
    presence: ProcessPresence = ProcessPresence.RUNNING
    environment: str = ""


def story(
    cards: Sequence[Card],
    works: Sequence[Work],
    programs: Sequence[Program] = (),
    *,
    seconds: float = 15.0,
    hz: float = 5.0,
    cores: Sequence[Figure] = (0.1,) * 8,
    noise: float = 0.02,
    missing: float = 0.0,
    putil: bool = True,
    seed: int = 1,
) -> tuple[Sample, ...]:
    """The samples. ``noise`` is relative (memory has none), ``missing`` the share of values that are not there."""
    dice = random.Random(seed)
    inventory = tuple(_info(card, index) for index, card in enumerate(cards))
    samples = []
    for number in range(round(seconds * hz) + 1):
        time_s = number / hz + dice.uniform(-0.02, 0.02) / hz
        teller = _Teller(time_s, dice, noise, missing)
        samples.append(
            Sample(
                sequence=number,
                monotonic_s=100.0 + time_s,
                utc_s=START_UTC_S + time_s,
                interval_s=1 / hz if number else 0.0,
                inventory=inventory,
                devices={
                    info.key: _device(teller, card, work, info.key, _held(teller, programs, index))
                    for index, (info, card, work) in enumerate(zip(inventory, cards, works, strict=True))
                },
                processes=tuple(_process(teller, program, inventory, putil) for program in programs),
                host=HostSample(
                    {"cpu_utilization": teller.told("cpu_utilization", 0.2, "host")},
                    tuple(min(1.0, teller.figure(core) or 0.0) for core in cores),
                ),
            )
        )
    return tuple(samples)


def thinned(samples: Sequence[Sample], hz: float) -> tuple[Sample, ...]:
    """Every n-th sample."""
    step = max(1, round(1 / (hz * (samples[2].monotonic_s - samples[1].monotonic_s))))
    return tuple(samples[::step])


def without(samples: Sequence[Sample], *metrics: str) -> tuple[Sample, ...]:
    """The same without these metrics of devices and processes."""
    return tuple(
        replace(
            sample,
            devices={
                key: replace(device, values={k: v for k, v in device.values.items() if k not in metrics})
                for key, device in sample.devices.items()
            },
            processes=tuple(
                replace(
                    process,
                    uses=tuple(
                        replace(use, values={k: v for k, v in use.values.items() if k not in metrics})
                        for use in process.uses
                    ),
                )
                for process in sample.processes
            ),
        )
        for sample in samples
    )


#: What only hardware counters of newer data-centre cards tell.
GPM = (
    "graphics_activity",
    "sm_activity",
    "sm_occupancy",
    "tensor_activity",
    "dram_activity",
    "fp64_activity",
    "fp32_activity",
    "fp16_activity",
    "nvlink_rx_bytes_per_s",
    "nvlink_tx_bytes_per_s",
)
PUTIL = ("process_gpu_utilization", "process_memory_utilization")


def lossy(samples: Sequence[Sample], share: float = 0.1, seed: int = 7) -> tuple[Sample, ...]:
    """Some samples are lost."""
    dice = random.Random(seed)
    return tuple(sample for sample in samples if dice.random() >= share)


def gappy(samples: Sequence[Sample], share: float = 0.1, seed: int = 9) -> tuple[Sample, ...]:
    """Some values of devices are missing."""
    dice = random.Random(seed)
    return tuple(
        replace(
            sample,
            devices={
                key: replace(
                    device,
                    values={
                        name: NOT_READ if dice.random() < share else value for name, value in device.values.items()
                    },
                )
                for key, device in sample.devices.items()
            },
        )
        for sample in samples
    )


#: Poorer copies of what was seen: name → how it is made.
POORER: Mapping[str, Callable[[Sequence[Sample]], tuple[Sample, ...]]] = {
    "as it is": tuple,
    "lost": lossy,
    "gaps": lambda samples: gappy(samples, 0.2),
    "poor": lambda samples: lossy(without(thinned(samples, 1.0), *GPM, *PUTIL)),
}


def codes(samples: Sequence[Sample], given: Mapping[str, Any] | None = None) -> set[str]:
    """What Watch finds in them, guesses included."""
    diagnosis = judge(samples, given=given).diagnosis
    assert not diagnosis.bugs
    return {finding.code for finding in diagnosis.findings}


class _Teller:
    def __init__(self, time_s: float, dice: random.Random, noise: float, missing: float) -> None:
        self.time_s = max(0.0, time_s)
        self._dice = dice
        self._noise = noise
        self._missing = missing

    def figure(self, figure: Figure) -> float | None:
        return figure(self.time_s) if callable(figure) else figure

    def told(self, metric: str, figure: Figure, source: str) -> Value:
        value = self.figure(figure)
        if value is None or self._dice.random() < self._missing:
            return NOT_READ
        unit = METRICS[metric].unit
        if unit not in (Unit.BYTES, Unit.BITMASK, Unit.COUNT):
            value *= 1 + self._dice.gauss(0, self._noise)
        return checked(metric, max(METRICS[metric].low, min(METRICS[metric].high, value)), source)


def _info(card: Card, index: int) -> DeviceInfo:
    static: dict[str, Value] = {
        "memory_total_bytes": Reading(card.total, card.source),
        "clock_sm_max_mhz": Reading(card.max_mhz, card.source),
    }
    if card.default_limit_w is not None:
        static["power_limit_default_w"] = Reading(card.default_limit_w, card.source)
    if card.slowdown_c is not None:
        static["temperature_slowdown_c"] = Reading(card.slowdown_c, card.source)
    key = DeviceKey(f"pci:0000{index:04x}")
    return DeviceInfo(key, card.name, card.vendor, card.kind, index, static=static)


def _held(teller: _Teller, programs: Sequence[Program], index: int) -> float:
    return sum(teller.figure(program.memory.get(index, 0.0)) or 0.0 for program in programs)


def _device(teller: _Teller, card: Card, work: Work, key: DeviceKey, held: float) -> DeviceSample:
    busy, sm = teller.figure(work.busy) or 0.0, teller.figure(work.sm)
    power = work.power if work.power is not None else card.idle_w + (card.limit_w - card.idle_w) * (sm or busy) * 0.98
    figures: dict[str, Figure] = {
        "gpu_utilization": work.busy,
        "memory_utilization": work.memory_load,
        "memory_used_bytes": min(card.total, held + 0.004 * card.total),
        "power_w": power,
        "power_limit_w": card.limit_w if work.limit_w is None else work.limit_w,
        "clock_sm_mhz": (card.max_mhz * 0.9 if busy > 0 else card.max_mhz * 0.2) if work.clock is None else work.clock,
        "pstate": work.pstate,
        "throttle_reasons": work.throttle,
        "temperature_c": work.temperature,
        "pcie_rx_bytes_per_s": work.pcie_rx,
        "pcie_tx_bytes_per_s": work.pcie_tx,
        "shared_used_bytes": work.shared,
    }
    if card.gpm:
        figures |= {
            "graphics_activity": work.busy,
            "sm_activity": work.sm,
            "sm_occupancy": work.occupancy,
            "tensor_activity": work.tensor,
            "fp32_activity": work.fp32,
            "dram_activity": work.dram,
            "nvlink_rx_bytes_per_s": work.nvlink,
            "nvlink_tx_bytes_per_s": work.nvlink,
        }
    pdh = ("shared_used_bytes",)
    values = {
        name: teller.told(name, figure, "pdh" if name in pdh else card.source)
        for name, figure in figures.items()
        if figure is not None
    }
    engines = tuple(
        EngineSample(name, name, EngineKind.OTHER, teller.told("engine_utilization", figure, "pdh"))
        for name, figure in work.engines.items()
    )
    return DeviceSample(key, work.state, values=values, engines=engines)


def _process(teller: _Teller, program: Program, inventory: Sequence[DeviceInfo], putil: bool) -> ProcessSample:
    uses = []
    for index, memory in program.memory.items():
        values = {"process_memory_bytes": teller.told("process_memory_bytes", memory, "nvml")}
        if putil and index in program.busy:
            values["process_gpu_utilization"] = teller.told("process_gpu_utilization", program.busy[index], "nvml")
        if index in program.shared:
            values["process_shared_bytes"] = teller.told("process_shared_bytes", program.shared[index], "pdh")
        uses.append(ProcessUse(program.pid, inventory[index].key, program.kind, values))
    return ProcessSample(
        pid=program.pid,
        started_utc_s=START_UTC_S - 60,
        name=program.command[0] if program.command else "",
        presence=program.presence,
        ppid=program.ppid,
        command=program.command,
        framework=program.framework,
        environment=program.environment,
        uses=tuple(uses),
        values={
            "process_cpu": teller.told("process_cpu", program.cpu, "host"),
            "process_rss_bytes": teller.told("process_rss_bytes", program.rss, "host"),
            "process_read_bytes_per_s": teller.told("process_read_bytes_per_s", program.read, "host"),
        },
    )
