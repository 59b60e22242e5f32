"""What Watch says of several GPUs: who waits for whom, who is not used, who takes turns, and what is one program."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace

import pytest

from gpumon_gui.core.model import DeviceKind, DeviceState, ProcessPresence, Sample
from gpumon_gui.diagnosis.behaviour.jobs import jobs_of
from gpumon_gui.diagnosis.behaviour.judge import judge
from gpumon_gui.diagnosis.behaviour.rolling import window_of
from gpumon_gui.diagnosis.finding import Confidence
from tests.behaviour_samples import (
    DESKTOP,
    FULL,
    GIB,
    H200,
    IDLE,
    LAPTOP,
    POORER,
    Card,
    Program,
    Work,
    codes,
    story,
)

GROUPS = {"multi-gpu-straggler", "communication-bound", "multi-gpu-serialised", "multi-gpu-idle-device"}
SPAWNED = ("python", "-c", "from multiprocessing.spawn import spawn_main; spawn_main(tracker_fd=5)", "--fork")
#: Poorer copies that still count NVLink.
LINKED = [name for name in POORER if name != "poor"]

TALKS = replace(FULL, nvlink=40e9)
WAITS = replace(
    TALKS, busy=0.95, sm=0.3, tensor=0.03, fp32=0.01, dram=0.13, memory_load=0.17, power=270.0, clock=1980.0
)
#: The same on cards without hardware counters, which exchange over PCIe.
PLAIN = replace(FULL, sm=None, power=345.0, throttle=4.0, pcie_rx=3e8, pcie_tx=3e8)
PLAIN_WAITS = replace(PLAIN, power=130.0, clock=2000.0, memory_load=0.1, throttle=0.0)
PLAIN_RESTS = replace(IDLE, sm=None, pstate=8.0)


def ranks(card: Card, works: list[Work], command: tuple[str, ...] = SPAWNED, **more: int) -> tuple[Sample, ...]:
    programs = [rank(place, command, **more) for place in range(len(works))]
    return story([card] * len(works), works, programs)


def rank(place: int, command: tuple[str, ...] = SPAWNED, ppid: int = 50) -> Program:
    return Program(100 + place, ppid, command, memory={place: 5 * GIB}, busy={place: 0.97})


def alone(works: list[Work], card: Card = H200, seconds: float = 15.0) -> tuple[Sample, ...]:
    """One process on all cards."""
    places = range(len(works))
    one = Program(100, 1, memory=dict.fromkeys(places, 20 * GIB), busy={place: works[place].busy for place in places})
    return story([card] * len(works), works, [one], seconds=seconds)


@pytest.mark.parametrize("poorer", POORER)
@pytest.mark.parametrize(
    ("card", "works", "waiting", "slow"),
    [
        (H200, [TALKS, WAITS], "GPU 1", "GPU 0"),
        (H200, [WAITS] * 3 + [TALKS] + [WAITS] * 4, "GPU 0, GPU 1, GPU 2, GPU 4, GPU 5, GPU 6, GPU 7", "GPU 3"),
        (H200, [TALKS, replace(WAITS, sm=0.55, tensor=0.2, power=430.0)], "GPU 1", "GPU 0"),
        (
            H200,
            [replace(WAITS, sm=0.38, power=300.0), replace(TALKS, busy=0.35, sm=0.31, power=280.0)],
            "GPU 0",
            "GPU 1",
        ),
        (DESKTOP, [PLAIN_WAITS, PLAIN], "GPU 0", "GPU 1"),
    ],
    ids=["two", "seven wait for one", "a little", "for one that has gaps", "without counters"],
)
def test_who_waits_for_whom(poorer: str, card: Card, works: list[Work], waiting: str, slow: str) -> None:
    found = judge(POORER[poorer](ranks(card, works))).diagnosis.findings
    said = {one.code: one for one in found if one.code in GROUPS}
    assert set(said) == {"multi-gpu-straggler"}
    straggler = said["multi-gpu-straggler"]
    assert (straggler.values["waiting"], straggler.values["slow"]) == (waiting, slow)
    assert straggler.confidence is not Confidence.LOW


def test_a_hot_rank_is_not_called_the_waiting_one() -> None:
    """Without counters a slow card looks idle by its power; its low clock tells."""
    hot = replace(PLAIN, power=120.0, clock=700.0, throttle=0x20, temperature=94.0)
    found = judge(ranks(DESKTOP, [PLAIN, hot])).diagnosis.findings
    assert "gpu-thermal-throttling" in {one.code for one in found}
    for one in found:
        if one.code == "multi-gpu-straggler":
            assert one.confidence is Confidence.LOW
            assert (one.values["waiting"], one.values["slow"]) == ("GPU 0", "GPU 1")


@pytest.mark.parametrize("poorer", POORER)
@pytest.mark.parametrize(
    ("card", "works"),
    [
        (H200, [TALKS] * 2),
        (H200, [TALKS] * 8),
        (H200, [TALKS, replace(TALKS, sm=0.82, power=610.0)]),
        (H200, [replace(FULL, busy=0.96, sm=0.35, tensor=0.05, fp32=0.02, dram=0.6, memory_load=0.6, nvlink=9e9)] * 4),
        (
            H200,
            [replace(TALKS, busy=lambda t: 0.9 if t % 2 < 0.5 else 0.0, sm=lambda t: 0.8 if t % 2 < 0.5 else 0)] * 2,
        ),
        (DESKTOP, [PLAIN, PLAIN]),
    ],
    ids=["two", "eight", "a tenth apart", "memory is the limit", "both wait for data", "without counters"],
)
def test_ranks_that_are_even(poorer: str, card: Card, works: list[Work]) -> None:
    assert not codes(POORER[poorer](ranks(card, works))) & GROUPS


@pytest.mark.parametrize("poorer", LINKED)
@pytest.mark.parametrize("count", [2, 8])
def test_collectives_all_the_time(poorer: str, count: int) -> None:
    works = [replace(WAITS, sm=0.24, nvlink=150e9)] * count
    assert codes(POORER[poorer](ranks(H200, works))) & GROUPS == {"communication-bound"}


@pytest.mark.parametrize("poorer", POORER)
def test_collectives_over_pcie(poorer: str) -> None:
    works = [replace(PLAIN_WAITS, power=120.0, pcie_rx=6e9, pcie_tx=6e9)] * 4
    assert codes(POORER[poorer](ranks(DESKTOP, works))) & GROUPS == {"communication-bound"}


def turns(first: bool, period_s: float, most: float = 0.97) -> Callable[[float], float]:
    return lambda time_s: most if ((time_s / period_s) % 1 < 0.5) is first else 0.02


@pytest.mark.parametrize("poorer", ["as it is", "gaps", "lost"])
@pytest.mark.parametrize(
    ("works", "confidence"),
    [
        ([replace(TALKS, busy=turns(one, 4.0), sm=turns(one, 4.0, 0.9)) for one in (True, False)], Confidence.HIGH),
        ([replace(TALKS, busy=turns(one, 2.0), sm=turns(one, 2.0, 0.9)) for one in (True, False)], Confidence.HIGH),
        ([replace(TALKS, busy=0.99, sm=turns(one, 4.0, 0.9)) for one in (True, False)], Confidence.HIGH),
        ([replace(TALKS, busy=0.245, sm=0.22)] * 4, Confidence.MEDIUM),
        ([replace(TALKS, busy=0.49, sm=0.45)] * 2, Confidence.MEDIUM),
        ([replace(FULL, busy=0.49, sm=0.45)] * 2, Confidence.MEDIUM),
        ([replace(TALKS, busy=0.49, sm=0.08)] * 2, Confidence.LOW),
    ],
    ids=["4 s", "2 s", "spinning", "four, too fast to see", "two, too fast", "they exchange little", "small kernels"],
)
def test_gpus_that_take_turns(poorer: str, works: list[Work], confidence: Confidence) -> None:
    found = judge(POORER[poorer](alone(works, seconds=20))).diagnosis.findings
    said = {one.code: one.confidence for one in found if one.code in GROUPS}
    assert said == {"multi-gpu-serialised": confidence}


def test_gpus_that_wait_for_the_same_thing_take_no_turns() -> None:
    def wave(late_s: float) -> Callable[[float], float]:
        return lambda time_s: 0.5 + 0.35 * math.sin(1.3 * (time_s - late_s))

    assert not codes(alone([replace(TALKS, busy=wave(late_s), sm=0.4) for late_s in (0.0, 0.2)])) & GROUPS


@pytest.mark.parametrize("poorer", POORER)
@pytest.mark.parametrize(
    ("cards", "works", "others", "idle"),
    [
        ([H200, H200], [FULL, IDLE], [], True),
        ([DESKTOP, DESKTOP], [PLAIN, PLAIN_RESTS], [], True),
        ([DESKTOP, DESKTOP], [PLAIN, replace(PLAIN_RESTS, busy=0.06)], [], False),
        ([DESKTOP, LAPTOP], [PLAIN, PLAIN_RESTS], [], False),
        (
            [LAPTOP, replace(LAPTOP, name="Intel Iris Xe", vendor="intel", kind=DeviceKind.INTEGRATED)],
            [replace(FULL, sm=None), PLAIN_RESTS],
            [],
            False,
        ),
        ([DESKTOP, DESKTOP], [PLAIN, replace(PLAIN_RESTS, state=DeviceState.ASLEEP)], [], False),
        (
            [DESKTOP, DESKTOP],
            [PLAIN, PLAIN_RESTS],
            [Program(900, 1, (), "", None, {1: 10 * GIB}, presence=ProcessPresence.FOREIGN)],
            False,
        ),
        ([H200, H200], [replace(FULL, busy=0.17, sm=0.12), IDLE], [], False),
        ([H200, H200], [replace(FULL, busy=0.99, sm=0.05, power=150.0), IDLE], [], False),
    ],
    ids=[
        "unused",
        "unused, no counters",
        "draws a desktop",
        "another kind",
        "the processor's own",
        "asleep",
        "somebody else's",
        "the used one has room",
        "the used one does little",
    ],
)
def test_a_gpu_that_nobody_uses(
    poorer: str, cards: list[Card], works: list[Work], others: list[Program], idle: bool
) -> None:
    found = codes(POORER[poorer](story(cards, works, [rank(0, ("python", "train.py")), *others])))
    assert ("multi-gpu-idle-device" in found) is idle


def test_contexts_on_the_first_gpu() -> None:
    programs = [
        replace(rank(place), memory={place: 8 * GIB, **({0: 0.5 * GIB} if place else {})}) for place in range(4)
    ]
    assert "ddp-rank-device-not-set" in codes(story([H200] * 4, [TALKS] * 4, programs))
    assert "ddp-rank-device-not-set" not in codes(ranks(H200, [TALKS] * 4))


def test_one_process_that_drives_four_unevenly() -> None:
    works = [replace(TALKS, busy=0.6, sm=0.5)] + [replace(TALKS, busy=0.55, sm=0.42)] * 3
    uneven = Program(100, 1, memory={0: 30 * GIB, 1: 15 * GIB, 2: 15 * GIB, 3: 15 * GIB})
    assert "multi-gpu-dataparallel-imbalance" in codes(story([H200] * 4, works, [uneven]))
    assert "multi-gpu-dataparallel-imbalance" not in codes(alone(works))


def groups_of(card: Card, works: list[Work], programs: list[Program]) -> list[set[int]]:
    jobs = jobs_of(window_of(story([card] * len(works), works, programs)))
    return sorted({track.pid for track in job.processes} for job in jobs)


def test_ranks_of_a_launcher_are_one_job() -> None:
    local = [rank(place, ("python", "train.py", f"--local-rank={place}")) for place in range(2)]
    assert groups_of(H200, [TALKS] * 2, [rank(0), rank(1)]) == [{100, 101}]
    assert groups_of(DESKTOP, [PLAIN] * 2, local) == [{100, 101}]
    torchrun = Program(10, 1, ("torchrun", "train.py"), cpu=0.01)
    workers = [Program(200 + number, 100 + number % 2, framework="") for number in range(4)]
    family = [torchrun, rank(0, ppid=10), rank(1, ppid=10), *workers]
    assert groups_of(H200, [TALKS] * 2, family) == [{10, 100, 101, *(worker.pid for worker in workers)}]
    # In a container the launcher is process 1, and so is what adopts orphans: traffic between the GPUs decides.
    assert groups_of(H200, [TALKS] * 2, [rank(0, ppid=1), rank(1, ppid=1)]) == [{100, 101}]


def test_a_sweep_from_one_shell_is_no_job_with_ranks() -> None:
    silent = [FULL, replace(WAITS, nvlink=0.0)]
    rates = [rank(place, ("python", "train.py", "--lr", str(0.1 * (1 + place)))) for place in range(2)]
    same = [rank(place, ("python", "train.py")) for place in range(2)]
    assert groups_of(H200, silent, rates) == [{100}, {101}]
    assert groups_of(H200, silent, same) == [{100}, {101}]
    assert not codes(story([H200] * 2, silent, same)) & GROUPS


def test_programs_that_only_look_like_ranks_stay_a_guess() -> None:
    """Without links that are counted nothing tells two programs of one shell from two ranks."""
    works = [replace(PLAIN, pcie_rx=50e6, pcie_tx=12e6), replace(PLAIN_WAITS, pcie_rx=50e6, pcie_tx=12e6)]
    programs = [rank(place, ("python", "train.py")) for place in range(2)]
    found = judge(story([DESKTOP] * 2, works, programs)).diagnosis.findings
    assert all(one.confidence is Confidence.LOW for one in found if one.code in GROUPS)
