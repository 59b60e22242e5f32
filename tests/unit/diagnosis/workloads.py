"""Made-up workloads as a sampler would see them: what a program does every 20 ms becomes samples of a card.

The instruments are modelled by their habits: NVML's utilization looks back up to a second and counts whole percents,
the power of a board is the average of a second, hardware counters and CPU times are means since the sample before.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from types import MappingProxyType

import numpy as np
import numpy.typing as npt

from gpumon_gui.core.model import (
    DeviceInfo,
    DeviceKey,
    DeviceKind,
    DeviceSample,
    EngineKind,
    EngineSample,
    HostSample,
    ProcessPresence,
    ProcessSample,
    ProcessUse,
    Sample,
    UseKind,
)
from gpumon_gui.core.values import Reading, Value

STEP_S = 0.02
KEY = DeviceKey("pci:00000000:01:00.0")
SECOND = DeviceKey("pci:00000000:02:00.0")
PID = 4000


@dataclass(frozen=True)
class Card:
    """A GPU and the instruments there are. Watts; ``asleep_w`` without a program, ``waiting_w`` with one that waits."""

    name: str
    limit_w: float
    asleep_w: float
    waiting_w: float
    clock_mhz: float
    asleep_mhz: float
    memory: float
    link: tuple[int, int]
    counters: bool = False
    per_process: bool = True
    traffic: bool = True
    engines: bool = False
    window_s: float = 1.0


H200 = Card("NVIDIA H200", 700, 80, 124, 1980, 345, 141e9, (5, 16), counters=True)
LAPTOP = Card("NVIDIA GeForce RTX 3060 Laptop GPU", 60, 9, 15, 1400, 210, 6e9, (4, 8), window_s=0.2)
DESKTOP = Card("NVIDIA GeForce RTX 4090", 450, 18, 55, 2700, 210, 24e9, (4, 16), window_s=0.2)
#: Windows: no figures per process from NVML, engines from the performance counters.
WINDOWS = Card(
    "NVIDIA GeForce RTX 3060 Laptop GPU",
    60,
    9,
    15,
    1400,
    210,
    6e9,
    (3, 8),
    per_process=False,
    engines=True,
    window_s=0.2,
)
#: Nothing but the basics: an old driver.
BASIC = Card("NVIDIA GeForce GTX 1070", 150, 8, 35, 1700, 139, 8e9, (3, 16), per_process=False, traffic=False)
CARDS = {"H200": H200, "laptop": LAPTOP, "desktop": DESKTOP, "Windows": WINDOWS, "basic": BASIC}


@dataclass(frozen=True)
class Now:
    """What a program does at a moment. ``kernels``: kernels run; ``fill`` of the SMs they keep busy; ``memory`` they
    move; ``copying``: the copy engines' share; ``rx`` bytes per second; ``main`` and ``workers``: cores."""

    kernels: float = 0.0
    fill: float = 0.9
    memory: float = 0.4
    copying: float = 0.0
    rx: float = 1e6
    main: float = 0.0
    workers: tuple[float, ...] = ()
    read: float = 0.0
    write: float = 0.0
    held: float = 2e9
    tensor: float = 0.3
    fp32: float = 0.05


Program = Callable[[float], Now]


@dataclass(frozen=True)
class Machine:
    """Cores, what else runs, and another program on the same GPU (share of its time, with its own kernels).
    ``other_rests``: that program only holds memory. ``renewed_s``: loading processes are started anew so often."""

    cores: int = 12
    other_busy: float = 0.0
    other_rests: bool = False
    background: float = 0.2
    framework: str = "PyTorch"
    on_gpu: bool = True
    kind: UseKind = UseKind.COMPUTE
    seed: int = 1
    other_pid: int = 5000
    renewed_s: float = 0.0


def record(
    program: Program, card: Card = H200, machine: Machine = Machine(), *, seconds: float = 30.0, hertz: float = 5.0
) -> list[Sample]:
    """The samples of a run."""
    chance = random.Random(machine.seed)
    count = round(seconds / STEP_S)
    times = np.arange(count) * STEP_S
    moments = [program(float(time)) for time in times]
    get = {name: np.array([getattr(now, name) for now in moments], dtype=float) for name in _NUMBERS}
    other = (
        np.array([chance.random() < machine.other_busy for _ in moments], dtype=float)
        if machine.other_busy
        else np.zeros(count)
    )
    working = np.clip(get["kernels"] + other, 0.0, 1.0)
    any_work = np.clip(np.maximum(working, get["copying"]), 0.0, 1.0)
    dynamic = (card.limit_w * 0.97 - card.waiting_w) * np.clip(
        get["kernels"] * get["fill"] ** 1.3 + other * 0.8 + 0.03 * get["copying"], 0.0, 1.0
    )
    there = get["held"] > 0
    power = np.where(there, card.waiting_w, card.asleep_w) + dynamic
    result: list[Sample] = []
    last = 0
    marks = np.arange(1, round(seconds * hertz)) / hertz
    for number, mark in enumerate(marks):
        index = min(count - 1, round(mark / STEP_S))
        since = slice(last, index)
        window = slice(max(0, index - round(card.window_s / STEP_S)), index)
        second = slice(max(0, index - round(1.0 / STEP_S)), index)
        last = index
        at = moments[index]
        values: dict[str, Value] = {
            "gpu_utilization": _r(round(float(any_work[window].mean()), 2)),
            "memory_utilization": _r(
                round(float(np.clip(get["kernels"] * get["memory"] + other * 0.3, 0, 1)[window].mean()), 2)
            ),
            "memory_used_bytes": _r(at.held + 4e8 + (3e9 if machine.other_busy else 0)),
            "temperature_c": _r(60.0),
            "power_w": _r(float(power[second].mean()) * (1 + 0.004 * chance.uniform(-1, 1))),
            "power_limit_w": _r(card.limit_w),
            "clock_sm_mhz": _r(card.clock_mhz if there[index] else card.asleep_mhz),
            "pstate": _r(0 if there[index] else 8),
            "throttle_reasons": _r(0 if there[index] else 1),
            "pcie_gen": _r(card.link[0] if there[index] else 1),
            "pcie_width": _r(card.link[1]),
        }
        if card.traffic:
            values["pcie_rx_bytes_per_s"] = _r(float(get["rx"][since].mean()) + 9e5)
            values["pcie_tx_bytes_per_s"] = _r(float(get["rx"][since].mean()) * 0.06 + 1.3e6)
        if card.counters:
            kernels = working[since]
            full = get["kernels"][since] * get["fill"][since] + other[since] * 0.8
            values |= {
                "graphics_activity": _r(float(kernels.mean())),
                "sm_activity": _r(float(np.clip(full, 0, 1).mean())),
                "sm_occupancy": _r(float(np.clip(full, 0, 1).mean()) * 0.4),
                "tensor_activity": _r(float((get["kernels"] * get["tensor"])[since].mean())),
                "fp32_activity": _r(float((get["kernels"] * get["fp32"])[since].mean())),
                "fp64_activity": _r(0.0),
                "fp16_activity": _r(0.0),
                "dram_activity": _r(float((get["kernels"] * get["memory"])[since].mean()) * 0.8),
            }
        engines = _engines(card, working[since], get["copying"][since])
        result.append(
            Sample(
                sequence=number,
                monotonic_s=100.0 + float(mark),
                utc_s=1.8e9 + float(mark),
                interval_s=1 / hertz,
                inventory=(_info(card),),
                devices=MappingProxyType({KEY: DeviceSample(KEY, values=MappingProxyType(values), engines=engines)}),
                processes=_processes(card, machine, moments, get, since, other[since], chance),
                host=_host(machine, moments, get, since),
            )
        )
    return result


_NUMBERS = ("kernels", "fill", "memory", "copying", "rx", "main", "read", "write", "held", "tensor", "fp32")


def _r(value: float) -> Value:
    return Reading(value, "test")


def _info(card: Card) -> DeviceInfo:
    static = {"memory_total_bytes": _r(card.memory), "clock_sm_max_mhz": _r(card.clock_mhz)}
    return DeviceInfo(KEY, card.name, "nvidia", DeviceKind.DISCRETE, 0, static=MappingProxyType(static))


def _engines(
    card: Card, working: npt.NDArray[np.float64], copying: npt.NDArray[np.float64]
) -> tuple[EngineSample, ...]:
    if not card.engines:
        return ()
    return (
        EngineSample("1", "3D", EngineKind.GRAPHICS, _r(0.02)),
        EngineSample("2", "Compute_0", EngineKind.COMPUTE, _r(float(working.mean()))),
        EngineSample("3", "Copy", EngineKind.COPY, _r(float(copying.mean()))),
    )


def _processes(
    card: Card,
    machine: Machine,
    moments: Sequence[Now],
    get: dict[str, npt.NDArray[np.float64]],
    since: slice,
    other: npt.NDArray[np.float64],
    chance: random.Random,
) -> tuple[ProcessSample, ...]:
    now = moments[since.stop - 1]
    uses: tuple[ProcessUse, ...] = ()
    if machine.on_gpu and now.held > 0:
        use = _use(card, PID, float(get["kernels"][since].mean()), now.held)
        uses = (replace(use, kind=machine.kind, engine="3D" if machine.kind is UseKind.UNKNOWN else ""),)

    def noisy(cpu: float) -> Value:
        return _r(max(0.0, cpu + 0.02 * chance.uniform(-1, 1) if cpu > 0.02 else cpu))

    found = [
        ProcessSample(
            PID,
            1.8e9 - 100,
            "python",
            ProcessPresence.RUNNING,
            ppid=100,
            command=("python", "train.py"),
            framework=machine.framework,
            uses=uses,
            values=MappingProxyType(
                {
                    "process_cpu": noisy(float(get["main"][since].mean())),
                    "process_threads": _r(20),
                    "process_read_bytes_per_s": _r(float(get["read"][since].mean()) if not now.workers else 0.0),
                    "process_write_bytes_per_s": _r(float(get["write"][since].mean())),
                }
            ),
        )
    ]
    for index in range(len(now.workers)):
        cpus = [one.workers[index] for one in moments[since] if index < len(one.workers)]
        cpu = sum(cpus) / len(cpus) if cpus else 0.0
        values = {
            "process_cpu": noisy(cpu),
            "process_read_bytes_per_s": _r(float(get["read"][since].mean()) / len(now.workers)),
        }
        generation = int(since.stop * STEP_S / machine.renewed_s) if machine.renewed_s else 0
        found.append(
            ProcessSample(
                PID + 1 + index + 100 * generation,
                1.8e9 - 90,
                "python",
                ProcessPresence.RUNNING,
                ppid=PID,
                command=("python", "train.py"),
                framework=machine.framework,
                values=MappingProxyType(values),
            )
        )
    if machine.other_busy or machine.other_rests:
        found.append(
            ProcessSample(
                machine.other_pid,
                1.8e9 - 500,
                "other",
                ProcessPresence.RUNNING,
                ppid=1,
                command=("other",),
                uses=(_use(card, machine.other_pid, float(other.mean()), 3e9),),
                values=MappingProxyType({"process_cpu": _r(0.0 if machine.other_rests else 0.9)}),
            )
        )
    return tuple(found)


def _use(card: Card, pid: int, busy: float, held: float) -> ProcessUse:
    values: dict[str, Value] = {"process_memory_bytes": _r(held)}
    if card.per_process:
        values["process_gpu_utilization"] = _r(round(min(busy, 1.0), 2))
    return ProcessUse(pid, KEY, UseKind.COMPUTE, MappingProxyType(values))


def _host(
    machine: Machine, moments: Sequence[Now], get: dict[str, npt.NDArray[np.float64]], since: slice
) -> HostSample:
    workers = sum(sum(now.workers) for now in moments[since]) / max(1, since.stop - since.start)
    busy = min(machine.cores, float(get["main"][since].mean()) + workers + machine.background)
    share = busy / machine.cores
    return HostSample(MappingProxyType({"cpu_utilization": _r(share)}), (share,) * machine.cores)


# -- programs


def after(start_s: float, program: Program, main: float = 1.0) -> Program:
    """A start-up before a program: imports, then its memory, one core busy."""

    def run(now_s: float) -> Now:
        if now_s >= start_s:
            return program(now_s - start_s)
        return Now(held=0.0 if now_s < start_s / 2 else 4e8, main=main)

    return run


def then(first: Program, at_s: float, second: Program) -> Program:
    """One program's work, then another's."""
    return lambda now_s: first(now_s) if now_s < at_s else second(now_s - at_s)


def steps(
    work_s: float,
    wait_s: float,
    *,
    fill: float = 0.9,
    memory: float = 0.4,
    rx: float = 3e7,
    main: float = 0.3,
    workers: Sequence[float] = (),
    read: float = 0.0,
    jitter: float = 0.3,
    main_waits: float | None = None,
    copying: float = 0.0,
    seed: int = 5,
) -> Program:
    """Steps of ``work_s`` on the GPU, each after ``wait_s`` without it; lengths vary by ``jitter``. ``main_waits``: CPU
    of the program during the wait."""
    chance = random.Random(seed)
    edges: list[tuple[float, bool]] = []
    time = 0.0
    while time < 400:
        for length, works in ((wait_s, False), (work_s, True)):
            edges.append((time, works))
            time += length * (1 + jitter * chance.uniform(-1, 1))
    starts = np.array([edge for edge, _ in edges])
    ends = np.append(starts[1:], time)
    flags = np.array([works for _, works in edges], dtype=float)

    def run(now_s: float) -> Now:
        # The share of these 20 ms in which it works: steps may be shorter than that.
        low, high = now_s, now_s + STEP_S
        a, b = np.searchsorted(ends, low, side="right"), np.searchsorted(starts, high, side="left")
        parts = np.minimum(ends[a:b], high) - np.maximum(starts[a:b], low)
        kernels = float((parts * flags[a:b]).sum() / STEP_S)
        waits = main if main_waits is None else main_waits
        return Now(
            kernels=min(1.0, kernels),
            fill=fill,
            memory=memory,
            rx=rx,
            main=main * kernels + waits * (1 - kernels),
            workers=tuple(workers),
            read=read,
            copying=copying * (1 - kernels),
        )

    return run


def side_by_side(first: Sequence[Sample], second: Sequence[Sample]) -> list[Sample]:
    """Two ranks of one launcher, a card each."""
    joined = []
    for one, two in zip(first, second, strict=True):
        info, device = two.inventory[0], two.devices[KEY]
        processes = tuple(
            replace(
                process,
                pid=process.pid + 1000,
                ppid=process.ppid + 1000 if process.ppid is not None and process.ppid >= PID else process.ppid,
                uses=tuple(replace(use, pid=use.pid + 1000, device=SECOND) for use in process.uses),
            )
            for process in two.processes
        )
        joined.append(
            replace(
                one,
                inventory=(*one.inventory, replace(info, key=SECOND, index=1)),
                devices=MappingProxyType({KEY: one.devices[KEY], SECOND: replace(device, key=SECOND)}),
                processes=one.processes + processes,
            )
        )
    return joined
