"""Knows: a made-up run of the proof's script and the samples that somebody took meanwhile. Must not know: verdicts."""

from __future__ import annotations

import random
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from gpumon_gui.core.identity import key_of, parse_pci_address
from gpumon_gui.core.model import (
    DeviceInfo,
    DeviceKey,
    DeviceSample,
    ProcessPresence,
    ProcessSample,
    ProcessUse,
    Sample,
    UseKind,
)
from gpumon_gui.core.values import Missing, Reading, Reason, Value
from gpumon_gui.diagnosis.proof.claims import Claims, claims_of

GIB = 1 << 30
MIB = 1 << 20
UTC_S = 1_800_000_000.0
BEGIN_S = 1000.0
PID = 4321
IDLES = (1.0, 1.2, 0.8, 1.1, 0.9)
LOADS = (1.0, 0.8, 1.2, 0.9)
BLOCKS = (512 * MIB, 256 * MIB, 384 * MIB, 179 * MIB)


def bus(number: int) -> str:
    return f"0000:{number:02x}:00.0"


@dataclass(frozen=True)
class Phase:
    begin_s: float
    end_s: float
    load: bool
    block: int


def phases(begin_s: float = BEGIN_S, loads: int = 4) -> list[Phase]:
    made, at = [], begin_s
    for turn in range(loads + 1):
        made.append(Phase(at, at + IDLES[turn % 5], load=False, block=0))
        at = made[-1].end_s
        if turn < loads:
            made.append(Phase(at, at + LOADS[turn % 4], load=True, block=BLOCKS[turn % 4]))
            at = made[-1].end_s
    return made


def said(
    devices: Mapping[int, str] | None = None,
    *,
    loads: int = 4,
    utc_shift_s: float = 0.0,
    blocks: bool = True,
    speed: float = 600e12,
    **changes: Any,
) -> dict[str, Any]:
    """The script's facts: index → PCI address; one device's phases after the other's."""
    found: dict[str, Any] = {}
    begin_s = BEGIN_S
    for index, pci in (devices if devices is not None else {0: bus(1)}).items():
        entries = {}
        for number, phase in enumerate(phases(begin_s, loads)):
            entries[str(number)] = {
                "kind": "load" if phase.load else "idle",
                "block_bytes": phase.block if blocks else 0,
                "begin": {"monotonic_s": phase.begin_s + utc_shift_s, "utc_s": UTC_S + phase.begin_s},
                "end": {"monotonic_s": phase.end_s + utc_shift_s, "utc_s": UTC_S + phase.end_s},
                "flops_per_s": speed,
                "cpu_s": 0.9,
            }
        begin_s = phases(begin_s, loads)[-1].end_s + 1.0
        run = {"side": 8192, "error": 1e-3, "tolerance": 2e-2, "right": True, "seconds": 0.25, "where": "cuda:0"}
        found[str(index)] = {
            "index": index,
            "name": "NVIDIA H200",
            "pci": pci,
            "compute_capability": "9.0",
            "memory": {"free_bytes": 140 * GIB, "total_bytes": 141 * GIB, "budget_bytes": 35 * GIB},
            "runs": {"fp32": {**run, "flops_per_s": speed / 12}, "fp16": {**run, "flops_per_s": speed}},
            "phases": entries,
            "where": "cuda:0",
        }
    return {
        "proof": {
            "framework": "torch",
            "version": "2.11.0+cu130",
            "pid": PID,
            "namespace_pids": [PID],
            "clock": {"monotonic_s": BEGIN_S + utc_shift_s, "utc_s": UTC_S + BEGIN_S},
            "cores": 16,
            "cpu": {"side": 1024, "error": 1e-6, "tolerance": 1e-4, "right": True, "flops_per_s": 1e12, "seconds": 0.2},
            "devices": found,
            **changes,
        }
    }


def claims(**changes: Any) -> Claims:
    return claims_of("torch", said(**changes))


@dataclass
class Card:
    """A device: what others do to it, and whether the process under proof works on it."""

    bus: int = 1
    uuid: str | None = None
    works: bool = True
    util: Callable[[float], float] = lambda _at: 0.0
    idle_w: float = 80.0
    load_w: float = 600.0
    used: int = 1 * GIB
    context: int = 500 * MIB
    own_pid: int | None = PID
    presence: ProcessPresence = ProcessPresence.RUNNING
    others: dict[int, Callable[[float], float]] = field(default_factory=dict)
    lag_s: float = 0.2
    shows_utilization: bool = True
    shows_memory: bool = True
    share: float = 1.0
    values: dict[str, Value] = field(default_factory=dict)
    static: dict[str, Value] = field(default_factory=dict)
    ppid: int | None = 99

    @property
    def info(self) -> DeviceInfo:
        pci = parse_pci_address(bus(self.bus))
        static = {"clock_sm_max_mhz": Reading(1980, "nvml"), **self.static}
        return DeviceInfo(key_of(pci=pci), "NVIDIA H200", "nvidia", pci_address=pci, uuid=self.uuid, static=static)


def samples(*cards: Card, seconds: float = 12.0, hz: float = 5.0, loads: int = 4, seed: int = 1) -> list[Sample]:
    """What was read: utilization is late by the card's lag and noisy, memory is not."""
    noise = random.Random(seed)
    plan = phases(loads=loads)
    made = []
    for number in range(int(seconds * hz)):
        at = BEGIN_S - 0.5 + number / hz
        devices: dict[DeviceKey, DeviceSample] = {}
        processes: dict[int, ProcessSample] = {}
        for card in cards:
            key = card.info.key
            late = _phase(plan, at - card.lag_s)
            now = _phase(plan, at)
            own = card.share if card.works and late is not None and late.load else 0.0
            other = {pid: work(at - card.lag_s) for pid, work in card.others.items()}
            util = min(1.0, own + sum(other.values()) + card.util(at))
            block = now.block if card.works and now is not None else 0
            devices[key] = DeviceSample(
                key,
                values={
                    "gpu_utilization": Reading(util, "nvml"),
                    "power_w": Reading(card.idle_w + (card.load_w - card.idle_w) * util + noise.uniform(-2, 2), "nvml"),
                    "power_limit_w": Reading(700.0, "nvml"),
                    "clock_sm_mhz": Reading(1965, "nvml"),
                    "pstate": Reading(0, "nvml"),
                    "memory_used_bytes": Reading(
                        card.used + block + (card.context if card.works else 0) + noise.randrange(2 * MIB), "nvml"
                    ),
                    **card.values,
                },
            )
            listed = dict(other)
            if card.works and card.own_pid is not None and now is not None:
                listed[card.own_pid] = own
            for pid, share in listed.items():
                memory: Value = Reading(card.context + (block if pid == card.own_pid else 0), "nvml")
                use = ProcessUse(
                    pid,
                    key,
                    UseKind.COMPUTE,
                    {
                        "process_gpu_utilization": Reading(share, "nvml")
                        if card.shows_utilization and share
                        else Missing(Reason.NOT_READ, "nvml", "no new samples"),
                        "process_memory_bytes": memory if card.shows_memory else Missing(Reason.DRIVER_MODEL, "nvml"),
                    },
                )
                before = processes.get(pid)
                uses = (*(before.uses if before else ()), use)
                processes[pid] = ProcessSample(pid, None, f"p{pid}", card.presence, ppid=card.ppid, uses=uses)
        made.append(
            Sample(
                number + 1,
                at,
                UTC_S + at,
                1 / hz,
                tuple(card.info for card in cards),
                devices,
                tuple(processes.values()),
            )
        )
    return made


def _phase(plan: list[Phase], at: float) -> Phase | None:
    return next((phase for phase in plan if phase.begin_s <= at < phase.end_s), None)
