"""Watch on siblings of the known workloads, with figures drawn by chance: what is wrong is named on whole samples, and
nothing that is not so, neither there nor on poorer copies."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace

import pytest

from gpumon_gui.core.model import Sample
from tests import behaviour_samples as told
from tests.behaviour_samples import FULL, GIB, IDLE, Work, story
from tests.benchmarks.score_traces import COPIES
from tests.unit.diagnosis.workloads import H200, Machine, Now, Program, after, record, steps

FEEDING = "input-pipeline-bound"
SMALL = "workload-too-small"
COPYING = "host-to-device-transfer-bound"
SYNC = "cpu-gpu-sync-each-step"
SINGLE = "mixed-precision-not-active"
ENVIRONMENT = "workload-cpu-bound-by-environment"
ON_CPU = "code-runs-on-cpu"
PAUSES = "gpu-idle-gaps-cpu-phase"
BANDWIDTH = "memory-bandwidth-bound"
GROWS = "gpu-memory-growing"
HELD = "gpu-memory-held-idle"
SLOW = {FEEDING, SMALL, COPYING, SYNC, SINGLE, ENVIRONMENT, ON_CPU, PAUSES, GROWS, HELD}
STRAGGLER, LINKS = "multi-gpu-straggler", "communication-bound"
TURNS, UNUSED = "multi-gpu-serialised", "multi-gpu-idle-device"
GROUPS = {STRAGGLER, LINKS, TURNS, UNUSED}
SEEDS = range(6)


@dataclass(frozen=True)
class Sibling:
    """A made-up run: what must be said of it, and what must not."""

    name: str
    program: Program
    expect: frozenset[str]
    forbidden: frozenset[str]
    starts: bool = True


def siblings(seed: int) -> Iterator[Sibling]:
    chance = random.Random(seed)
    u = chance.uniform

    def fed(duty: float, **figures: object) -> Program:
        work_s = u(0.02, 0.2)
        return steps(work_s, work_s * (1 - duty) / duty, fill=u(0.6, 0.95), seed=seed, **figures)  # type: ignore[arg-type]

    def one(
        name: str, program: Program, expect: set[str], allowed: set[str] | None = None, starts: bool = True
    ) -> Sibling:
        return Sibling(name, program, frozenset(expect), frozenset(SLOW - expect - (allowed or set())), starts)

    wait = steps(
        u(0.001, 0.006), u(0.02, 0.06), fill=u(0.15, 0.8), memory=u(0.05, 0.3), rx=u(1e7, 6e7), main=u(0.2, 0.7),
        jitter=0.1, seed=seed,
    )  # fmt: skip
    yield one("waits in each step", wait, {SYNC})
    for count in (1, 2, 4, 8):
        full = tuple(u(0.9, 1.0) for _ in range(count))
        yield one(f"{count} workers", fed(u(0.08, 0.45), main=u(0.1, 0.4), rx=u(8e7, 6e8), workers=full), {FEEDING})
    inside = fed(u(0.08, 0.45), main=1.0, main_waits=u(1.8, 8.0), rx=u(1e8, 4e8))
    yield one("augments on several cores", inside, {FEEDING}, {SYNC})
    yield one("augments on one core", fed(u(0.08, 0.4), main=1.0, rx=u(1.6e8, 4e8)), {FEEDING}, {SYNC})
    idle = tuple(u(0.05, 0.4) for _ in range(chance.choice([2, 4, 8])))
    disk = fed(u(0.08, 0.45), main=u(0.1, 0.4), rx=u(8e7, 3e8), workers=idle, read=u(3e7, 1.5e9))
    yield one("reads from a slow disk", disk, {FEEDING})
    tiny = steps(
        u(0.0005, 0.003), u(0.004, 0.02), fill=u(0.01, 0.2), memory=u(0.0, 0.04), rx=u(3e7, 1.2e8), main=1.0,
        jitter=0.1, seed=seed,
    )  # fmt: skip
    yield one("tiny steps", tiny, {SMALL}, {SYNC})
    pageable = steps(
        u(0.001, 0.02), u(0.1, 0.4), fill=u(0.3, 0.9), rx=u(4e9, 8e9), main=1.0, copying=u(0.3, 0.95), jitter=0.1,
        seed=seed,
    )  # fmt: skip
    yield one("pageable copies", pageable, {COPYING}, {SYNC})
    pinned = steps(
        u(0.001, 0.02), u(0.1, 0.3), fill=u(0.3, 0.9), rx=u(1.5e10, 4.5e10), main=u(0.3, 1.0), copying=u(0.8, 1.0),
        jitter=0.1, seed=seed,
    )  # fmt: skip
    yield one("pinned copies", pinned, {COPYING}, {SYNC})
    healthy = steps(
        0.2, u(0.0005, 0.01), fill=u(0.7, 0.98), memory=u(0.2, 0.6), rx=u(1e7, 8e8), main=u(0.3, 1.0), seed=seed
    )
    yield one("healthy", healthy, set())
    plain, fp32, tensor = steps(0.2, u(0.0005, 0.01), main=1.0, seed=seed), u(0.2, 0.7), u(0.0, 0.015)
    yield one("float32", lambda now_s: replace(plain(now_s), tensor=tensor, fp32=fp32), {SINGLE})
    simulators = tuple(u(0.4, 0.75) for _ in range(chance.choice([6, 16])))
    world = steps(
        u(0.001, 0.004), u(0.02, 0.06), fill=u(0.02, 0.15), memory=u(0.0, 0.03), rx=u(2e6, 2e7), main=u(0.2, 0.7),
        workers=simulators, jitter=0.2, seed=seed,
    )  # fmt: skip
    yield one("simulators", world, {ENVIRONMENT}, {SMALL})
    cores = u(0.95, 16.0)
    yield one("on the CPU", lambda _now_s: Now(held=0.0, main=cores), {ON_CPU}, starts=False)
    size = u(3.5e9, 1.3e11)
    yield one("held", lambda _now_s: Now(held=size), {HELD})
    trains, scores = u(3.0, 5.0), u(2.0, 3.0)
    yield one(
        "evaluates",
        lambda now_s: plain(now_s) if now_s % (trains + scores) < trains else Now(main=1.0),
        {PAUSES},
        starts=False,
    )
    rate = u(2e8, 3e9)
    yield one("leaks", lambda now_s: replace(plain(now_s), held=4e9 + rate * now_s // 2e7 * 2e7), {GROWS})
    decode = steps(
        0.05, u(0.001, 0.006), fill=u(0.4, 0.7), memory=u(0.9, 1.0), rx=u(5e7, 2e8), main=1.0, jitter=0.1, seed=seed
    )
    yield one("writes text", lambda now_s: replace(decode(now_s), tensor=0.02, fp32=0.02), {BANDWIDTH})


@pytest.mark.parametrize("seed", SEEDS)
def test_siblings_of_what_is_known(seed: int) -> None:
    chance = random.Random(seed)
    for sibling in siblings(seed):
        program = after(4.0, sibling.program) if sibling.starts and chance.random() < 0.5 else sibling.program
        check(
            sibling.name,
            record(program, H200, Machine(cores=16, seed=seed), seconds=15.2),
            sibling.expect,
            sibling.forbidden,
        )


def check(
    name: str, samples: list[Sample] | tuple[Sample, ...], expect: frozenset[str], forbidden: frozenset[str]
) -> None:
    found = told.codes(samples)
    assert expect <= found, (name, found)
    for copy in ("whole", "1 Hz", "no gpm", "no putil", "no gpm+putil", "10 % lost"):
        said = told.codes(COPIES[copy](samples))
        assert not said & forbidden, (name, copy, said)


# -- two GPUs

Programs = Callable[[list[Work]], list[told.Program]]
SPAWNED = ("python3", "-c", "from multiprocessing.spawn import spawn_main; spawn_main(tracker_fd=5)")


def ranks(works: list[Work]) -> list[told.Program]:
    return [
        told.Program(100 + at, 50, SPAWNED, memory={at: 6 * GIB}, busy={at: one.busy}) for at, one in enumerate(works)
    ]


def alone(works: list[Work]) -> list[told.Program]:
    return [
        told.Program(100, 1, memory={0: 20 * GIB, 1: 20 * GIB}, busy={at: one.busy for at, one in enumerate(works)})
    ]


def on_the_first(works: list[Work]) -> list[told.Program]:
    return [told.Program(100, 1, memory={0: 12 * GIB}, busy={0: works[0].busy})]


def pairs(seed: int) -> Iterator[tuple[str, list[Work], Programs, set[str]]]:
    chance = random.Random(seed)
    u = chance.uniform
    sm = u(0.55, 0.92)
    even = replace(
        FULL, busy=u(0.9, 0.99), sm=sm, tensor=u(0.1, 0.6), dram=u(0.2, 0.5), memory_load=u(0.25, 0.6),
        nvlink=u(1e9, 9e10), power=u(450, 695),
    )  # fmt: skip
    yield "even", [even, replace(even, sm=sm * u(0.95, 1.05))], ranks, set()
    both = u(6e8, 3e9)
    yield "even over PCIe", [replace(even, nvlink=0.0, pcie_rx=both, pcie_tx=both)] * 2, ranks, set()
    part, spins = 1 / chance.choice([3, 4, 8, 16]), u(0.2, 0.3)
    waits = replace(
        even, busy=u(0.88, 0.96), sm=sm * part + spins * (1 - part), tensor=0.3 * part,
        dram=0.3 * part + 0.1 * (1 - part),
        memory_load=0.17, power=550 * part + 260 * (1 - part),
    )  # fmt: skip
    yield "one has more to do", [waits, even] if chance.random() < 0.5 else [even, waits], ranks, {STRAGGLER}
    period_s, full = chance.choice([1.1, 2.3, 3.1]), u(0.6, 0.9)

    def turn(first: bool, most: float) -> Callable[[float], float]:
        return lambda time_s: most if ((time_s / period_s) % 1 < 0.5) is first else 0.0

    yield "by turns", [
        replace(
            FULL, busy=turn(first, 1.0), sm=turn(first, full), tensor=turn(first, 0.3), dram=turn(first, 0.3),
            memory_load=turn(first, 0.4), nvlink=turn(first, 1e9), power=u(330, 420),
        )
        for first in (True, False)
    ], alone, {TURNS}  # fmt: skip
    talks = replace(
        FULL, busy=u(0.9, 1.0), sm=u(0.1, 0.32), tensor=u(0.0, 0.06), dram=u(0.08, 0.28), memory_load=u(0.1, 0.35),
        nvlink=u(6e10, 3.5e11), power=u(220, 330),
    )  # fmt: skip
    yield "the link is the limit", [talks, replace(talks, sm=u(0.97, 1.03) * float(str(talks.sm)))], ranks, {LINKS}
    rate = u(2e9, 2.4e10)
    slow = replace(talks, nvlink=0.0, pcie_rx=rate, pcie_tx=rate * u(0.9, 1.1), dram=u(0.02, 0.1), power=u(160, 260))
    yield "PCIe is the limit", [slow, slow], ranks, {LINKS}
    busy = replace(FULL, busy=u(0.95, 1.0), sm=u(0.75, 0.97), power=u(550, 698))
    yield "one is not used", [busy, replace(IDLE, power=u(70, 80))], on_the_first, {UNUSED}


@pytest.mark.parametrize("seed", SEEDS)
def test_siblings_on_two_gpus(seed: int) -> None:
    for name, works, programs, expect in pairs(seed):
        samples = story([told.H200] * 2, works, programs(works), seed=seed, noise=0.03, cores=(0.1,) * 16)
        forbidden = frozenset((GROUPS | SLOW) - expect)
        if name == "by turns":
            forbidden -= {SYNC, PAUSES, SINGLE}  # true of each GPU by itself
        check(name, samples, frozenset(expect), forbidden)
