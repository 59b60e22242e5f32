"""What Watch says of clocks, heat and power, of hangs, and of devices that are gone."""

from __future__ import annotations

import math
from dataclasses import replace

import pytest

from gpumon_gui.core.model import DeviceState
from gpumon_gui.diagnosis.behaviour.judge import judge
from gpumon_gui.diagnosis.finding import Confidence, Severity
from tests.behaviour_samples import (
    DESKTOP,
    FULL,
    GIB,
    H200,
    IDLE,
    LAPTOP,
    POORER,
    Card,
    Figure,
    Program,
    Work,
    codes,
    story,
)

WORKING = replace(FULL, sm=None)
RESTING = replace(IDLE, sm=None, pstate=8.0, clock=300.0)
CLOCKS = {"gpu-thermal-throttling", "gpu-power-throttling", "gpu-stuck-in-low-pstate", "power-plan-limits-gpu"}
HANGS = replace(
    FULL, busy=1.0, sm=0.12, tensor=0.0, fp32=0.0, dram=0.0, memory_load=0.0, power=160.0, pcie_rx=0.9e6, pcie_tx=1.2e6
)


def program(place: int = 0, busy: Figure = 0.98) -> Program:
    return Program(100 + place, 50, memory={place: 5 * GIB}, busy={place: busy})


@pytest.mark.parametrize("poorer", POORER)
@pytest.mark.parametrize(
    ("card", "work", "expected"),
    [
        (
            LAPTOP,
            replace(
                WORKING,
                temperature=lambda t: min(87.0, 80 + t),
                throttle=lambda t: 0x20 if t > 5 else 4,
                clock=lambda t: 1900 - 40 * t,
            ),
            "gpu-thermal-throttling",
        ),
        (DESKTOP, replace(WORKING, throttle=0x88, clock=800.0, power=120.0), "gpu-power-throttling"),
        (DESKTOP, replace(WORKING, throttle=4.0, clock=900.0, power=150.0, limit_w=150.0), "gpu-power-throttling"),
        (LAPTOP, replace(WORKING, throttle=4.0, clock=900.0, power=35.0), "gpu-power-throttling"),
        (LAPTOP, replace(WORKING, pstate=8.0, clock=300.0, power=14.0), "gpu-stuck-in-low-pstate"),
        (
            LAPTOP,
            replace(
                WORKING,
                clock=lambda t: 2100 if t < 8 else 900,
                power=lambda t: 78 if t < 8 else 34,
                limit_w=lambda t: 80.0 if t < 8 else 35.0,
                throttle=4.0,
                temperature=60.0,
            ),
            "power-plan-limits-gpu",
        ),
    ],
    ids=["heat", "brake", "low limit", "capped below its limit", "low P-state", "unplugged"],
)
def test_what_holds_the_clocks_down(poorer: str, card: Card, work: Work, expected: str) -> None:
    found = judge(POORER[poorer](story([card], [work], [program()], seconds=20))).diagnosis.findings
    said = {one.code: one for one in found if one.code in CLOCKS and one.confidence is not Confidence.LOW}
    assert set(said) == {expected}
    assert said[expected].severity is Severity.SLOWS


@pytest.mark.parametrize("poorer", POORER)
@pytest.mark.parametrize(
    ("card", "work", "busy"),
    [
        (LAPTOP, replace(WORKING, throttle=4.0, clock=1500.0, temperature=80.0), 0.98),
        (H200, replace(FULL, throttle=4.0, clock=1470.0, power=691.0), 0.99),
        (DESKTOP, replace(WORKING, pstate=2.0, throttle=4.0, clock=1700.0), 0.98),
        (LAPTOP, RESTING, 0.0),
        (LAPTOP, replace(RESTING, busy=0.2), 0.2),
    ],
    ids=["notebook at its power limit", "server card at its power limit", "P2 for CUDA", "resting", "hardly loaded"],
)
def test_clocks_as_they_should_be(poorer: str, card: Card, work: Work, busy: float) -> None:
    assert not codes(POORER[poorer](story([card], [work], [program(0, busy)]))) & CLOCKS


@pytest.mark.parametrize("poorer", POORER)
@pytest.mark.parametrize(
    ("card", "count", "work"), [(H200, 8, HANGS), (DESKTOP, 2, replace(HANGS, sm=None, power=95.0))]
)
def test_a_collective_that_hangs(poorer: str, card: Card, count: int, work: Work) -> None:
    samples = story([card] * count, [work] * count, [program(place, 1.0) for place in range(count)], seconds=20)
    found = judge(POORER[poorer](samples)).diagnosis.findings
    assert [one.code for one in found if one.symptom_of is None][:1] == ["busy-without-progress"]
    hang = next(one for one in found if one.code == "busy-without-progress")
    assert hang.confidence is Confidence.HIGH
    assert "NCCL_DEBUG" in " ".join(step.command for step in hang.advice)


@pytest.mark.parametrize(("cpu", "confidence"), [(0.0, Confidence.MEDIUM), (1.0, Confidence.LOW)])
def test_a_rank_that_never_comes_and_one_that_writes_a_checkpoint(cpu: float, confidence: Confidence) -> None:
    spawned = ("python", "-c", "from multiprocessing.spawn import spawn_main")
    waits, other = (replace(program(place), command=spawned) for place in range(2))
    samples = story([H200] * 2, [HANGS, replace(IDLE, power=120.0)], [waits, replace(other, busy={1: 0.0}, cpu=cpu)])
    said = {one.code: one.confidence for one in judge(samples).diagnosis.findings}
    assert said["busy-without-progress"] is confidence


@pytest.mark.parametrize(
    "work",
    [
        replace(HANGS, pcie_rx=60e6, pcie_tx=10e6),
        replace(HANGS, sm=0.98, power=500.0),
        replace(
            HANGS,
            power=lambda t: 600.0 if t < 15 else 150.0,
            dram=lambda t: 0.3 if t < 15 else 0.0,
            pcie_rx=lambda t: 50e6 if t < 15 else 1e6,
        ),
    ],
    ids=["small kernels are started", "a long kernel computes", "a moment"],
)
def test_work_that_is_no_hang(work: Work) -> None:
    assert "busy-without-progress" not in codes(story([H200], [work], [program(0, 1.0)], seconds=20))


@pytest.mark.parametrize(
    ("state", "code"), [(DeviceState.LOST, "gpu-lost"), (DeviceState.NOT_ANSWERING, "driver-not-responding")]
)
def test_a_device_that_is_gone(state: DeviceState, code: str) -> None:
    samples = story([DESKTOP] * 2, [WORKING, replace(RESTING, state=state)], [program()])
    found = codes(samples)
    assert code in found
    assert "multi-gpu-idle-device" not in found


def test_task_manager_looks_at_another_engine() -> None:
    busy = replace(WORKING, engines={"3D": 0.03, "Copy": 0.02, "Cuda": 0.9, "VideoDecode": 0.0})
    assert "task-manager-wrong-engine" in codes(story([LAPTOP], [busy], [program()]))
    draws = replace(WORKING, engines={"3D": 0.9, "Copy": 0.02, "Cuda": 0.0})
    assert "task-manager-wrong-engine" not in codes(story([LAPTOP], [draws], [program()]))
    linux = replace(WORKING, engines={"render": 0.0, "copy": 0.06, "compute": 0.95})
    assert "task-manager-wrong-engine" not in codes(story([LAPTOP], [linux], [program()]))  # it has no Task Manager


def test_nothing_to_judge_is_said_only_where_nothing_works() -> None:
    assert "no-gpu-workload" in codes(story([H200], [IDLE]))
    assert "no-gpu-workload" not in codes(story([H200], [FULL]))


def test_what_limits_the_clock_after_a_step_is_told_by_time_although_values_are_missing() -> None:
    """Before the step half of the readings of the reasons are missing: those after it are cut by time, not counted."""
    work = replace(
        WORKING,
        clock=lambda t: 1900.0 if t < 20 else 900.0,
        throttle=lambda t: math.nan if t < 20 and int(t * 5) % 2 else 0x20 if 20 <= t < 30 else 0,
    )
    document = judge(story([DESKTOP], [work], [program()], seconds=40, noise=0.0)).document
    (device,) = document.facts["jobs"][0]["clocks"]["devices"]
    assert device["step"]["thermal_share_after"] == pytest.approx(0.5, abs=0.05)
