"""What Watch says of GPU memory: leaks and warm-ups, memory held for nothing, full cards, reservations, spills.

Each story is judged as it is and in poorer copies: one sample a second, without hardware counters and figures per
process, with lost samples and missing values.
"""

from __future__ import annotations

import math
import random
from dataclasses import replace
from typing import Any

import pytest

from gpumon_gui.core.model import DeviceKind
from gpumon_gui.diagnosis.behaviour.judge import judge
from gpumon_gui.diagnosis.finding import Confidence
from tests.behaviour_samples import (
    DESKTOP,
    FULL,
    GIB,
    H200,
    IDLE,
    LAPTOP,
    MIB,
    POORER,
    Card,
    Figure,
    Program,
    Work,
    codes,
    story,
)

WORKING = replace(FULL, sm=None)  # for cards without hardware counters
RESTING = replace(IDLE, sm=None, pstate=8.0)
WINDOWS = {"os": {"family": "windows"}}


def program(memory: Figure = 5 * GIB, busy: Figure = 0.98, **more: Any) -> Program:
    return replace(Program(100, 50, memory={0: memory}, busy={0: busy}), **more)


def shapes(time_s: float) -> float:
    """The most memory that any batch took so far, of batches of any size."""
    dice = random.Random(5)
    return 2 * GIB + GIB * max(dice.lognormvariate(0, 0.5) for _ in range(int(time_s * 10) + 1))


@pytest.mark.parametrize("poorer", POORER)
@pytest.mark.parametrize(
    ("card", "memory", "seconds", "confidence"),
    [
        (LAPTOP, lambda t: 2 * GIB + 20 * MIB * (t // 0.5), 30, Confidence.HIGH),
        (LAPTOP, lambda t: 2 * GIB + 20 * MIB * (t // 0.5), 15, Confidence.MEDIUM),  # as yet
        (H200, lambda t: 8 * GIB + 300 * MIB * (t // 3), 60, Confidence.HIGH),
        (H200, lambda t: (30 * GIB + 20 * MIB * (t // 4)) if t > 5 else 2 * GIB, 300, Confidence.HIGH),
        (H200, lambda t: 16 * GIB + 50 * MIB * t, 15, Confidence.MEDIUM),  # may be a cache with a bound
        (H200, lambda t: 23 * GIB + 2 * GIB * ((t + 11) // 12), 18, Confidence.LOW),  # two pieces of the allocator
    ],
)
def test_memory_that_rises_all_the_time(
    poorer: str, card: Card, memory: Figure, seconds: float, confidence: Confidence
) -> None:
    work = FULL if card is H200 else WORKING
    samples = story([card], [work], [program(memory)], seconds=seconds, hz=5 if seconds < 100 else 2)
    found = judge(POORER[poorer](samples)).diagnosis.findings
    growing = [one for one in found if one.code == "gpu-memory-growing"]
    assert [one.confidence for one in growing] == [confidence]
    assert "GPU 0" in growing[0].values["gpu"]
    assert growing[0].values["time"] != "?"


@pytest.mark.parametrize("poorer", POORER)
@pytest.mark.parametrize(
    ("memory", "seconds"),
    [
        (lambda t: 2 * GIB + 4 * GIB * (1 - math.exp(-t / 2)), 15),
        (lambda t: 2 * GIB + 4 * GIB * (1 - math.exp(-t / 8)), 40),
        (lambda t: 2 * GIB + 3 * GIB * (t > 4) + 3 * GIB * (t > 9), 15),
        (shapes, 15),
        (lambda t: 4 * GIB + GIB * ((t % 3) / 3), 15),
        (5 * GIB, 15),
    ],
    ids=["warm-up", "slow warm-up", "two allocations", "batches of any size", "freed again and again", "constant"],
)
def test_a_program_that_is_done_growing_is_no_leak(poorer: str, memory: Figure, seconds: float) -> None:
    assert "gpu-memory-growing" not in codes(POORER[poorer](story([H200], [FULL], [program(memory)], seconds=seconds)))


@pytest.mark.parametrize("poorer", POORER)
def test_weights_that_are_being_loaded_are_no_leak(poorer: str) -> None:
    copying = replace(IDLE, busy=0.15, pcie_rx=2.0e9, power=125.0)
    samples = story([H200], [copying], [program(lambda t: GIB + 1.9e9 * t, 0.15)])
    assert not codes(POORER[poorer](samples)) & {"gpu-memory-growing", "gpu-memory-held-idle"}


@pytest.mark.parametrize("poorer", POORER)
@pytest.mark.parametrize(
    ("work", "one", "held"),
    [
        (RESTING, program(11 * GIB, 0.0, cpu=0.003), True),
        (RESTING, program(0.5 * GIB, 0.0, cpu=0.003), False),
        (RESTING, program(11 * GIB, 0.0, cpu=0.9), False),
        (RESTING, program(11 * GIB, 0.0, cpu=0.003, read=2e8), False),
        (
            replace(RESTING, busy=lambda t: 0.9 if t % 4 < 0.4 else 0.0),
            program(11 * GIB, lambda t: 0.9 if t % 4 < 0.4 else 0.0, cpu=0.1),
            False,
        ),
    ],
    ids=["nothing happens", "a context only", "the CPU works", "a disk is read", "a request now and then"],
)
def test_memory_held_for_nothing(poorer: str, work: Work, one: Program, held: bool) -> None:
    assert ("gpu-memory-held-idle" in codes(POORER[poorer](story([DESKTOP], [work], [one])))) is held


@pytest.mark.parametrize("poorer", POORER)
def test_memory_held_beside_a_program_that_works(poorer: str) -> None:
    """Also where nobody counts whose work the GPU does: a program that takes no CPU starts no kernel."""
    programs = [program(pid=7, ppid=1), program(40 * GIB, 0.0, pid=9, ppid=2, cpu=0.001)]
    found = judge(POORER[poorer](story([H200], [FULL], programs))).diagnosis.findings
    assert [one.subject for one in found if one.code == "gpu-memory-held-idle"] == ["pid 9"]


@pytest.mark.parametrize("poorer", POORER)
def test_a_full_card_names_who_holds_it(poorer: str) -> None:
    programs = [program(3 * GIB, pid=7, ppid=1), program(20.5 * GIB, 0.0, pid=9, ppid=2, cpu=0.0)]
    found = judge(POORER[poorer](story([DESKTOP], [WORKING], programs)), pid=7).diagnosis.findings
    full = [one for one in found if one.code == "gpu-memory-nearly-full"]
    assert len(full) == 1
    assert full[0].values["others"].startswith("20.")
    assert "process 9 python3: 20.5 GB" in full[0].evidence[0].value


@pytest.mark.parametrize("poorer", POORER)
@pytest.mark.parametrize(
    ("memory", "framework", "reserved"),
    [
        (lambda t: 0.3 * GIB if t < 3 else 22 * GIB, "TensorFlow", True),
        (17 * GIB, "JAX", True),
        (17 * GIB, "PyTorch", False),
        (lambda t: (1 + int(t)) * GIB, "TensorFlow", False),
    ],
    ids=["tensorflow", "jax", "pytorch needs it", "memory growth"],
)
def test_a_reservation_at_the_start(poorer: str, memory: Figure, framework: str, reserved: bool) -> None:
    found = codes(POORER[poorer](story([DESKTOP], [WORKING], [program(memory, framework=framework)])))
    assert ("tf-preallocates-memory" in found) is reserved


@pytest.mark.parametrize("poorer", POORER)
@pytest.mark.parametrize(
    ("held", "shared", "given", "spills"),
    [
        (7.8 * GIB, lambda t: 0.2 * GIB + 0.15 * GIB * t, WINDOWS, True),
        (4 * GIB, 0.8 * GIB, WINDOWS, False),
        (7.8 * GIB, 0.1 * GIB, WINDOWS, False),
        (7.8 * GIB, lambda t: 0.2 * GIB + 0.15 * GIB * t, {"os": {"family": "linux", "wsl": False}}, False),
    ],
    ids=["spills", "pinned buffers", "full, and nothing there", "linux"],
)
def test_memory_that_lies_in_the_computer(
    poorer: str, held: float, shared: Figure, given: dict[str, object], spills: bool
) -> None:
    work = replace(WORKING, power=35.0, shared=shared, memory_load=0.1)
    samples = story([LAPTOP], [work], [program(held, shared={0: shared})])
    assert ("windows-sysmem-fallback" in codes(POORER[poorer](samples), given=given)) is spills
    for other in (replace(LAPTOP, kind=DeviceKind.INTEGRATED), replace(LAPTOP, vendor="amd")):
        samples = story([other], [work], [program(held, shared={0: shared})])
        assert "windows-sysmem-fallback" not in codes(POORER[poorer](samples), given=given)


def test_total_memory_told_with_every_sample() -> None:
    """NVML tells it with the other figures of a moment, Windows once."""
    samples = story([DESKTOP], [WORKING], [program(23.5 * GIB)])
    told = tuple(
        replace(
            sample,
            inventory=tuple(replace(info, static={}) for info in sample.inventory),
            devices={
                key: replace(device, values={**device.values, **sample.inventory[0].static})
                for key, device in sample.devices.items()
            },
        )
        for sample in samples
    )
    assert "gpu-memory-nearly-full" in codes(told)
