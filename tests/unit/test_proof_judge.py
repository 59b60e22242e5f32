"""The verdict on a claim: proven only by this process's own work on this very device."""

from __future__ import annotations

import random
from bisect import bisect
from collections.abc import Callable
from dataclasses import replace

import pytest

from gpumon_gui.core.model import ProcessPresence, Sample
from gpumon_gui.core.values import Missing, Reading, Reason, Value
from gpumon_gui.diagnosis.finding import Confidence
from gpumon_gui.diagnosis.proof.claims import claims_of
from gpumon_gui.diagnosis.proof.judge import Outcome, Proof, Setting, Why, judge
from tests.unit.proof_world import BEGIN_S, GIB, PID, Card, bus, claims, phases, said, samples


def verdict(proof: Proof) -> tuple[Outcome, Why, Confidence]:
    (device,) = proof.devices
    return device.outcome, device.why, device.confidence


def training(at: float) -> float:
    """Another process: busy all the time, with its own slow rhythm."""
    return 0.95 if int(at * 3) % 7 else 0.6


def test_a_gpu_that_works_is_proven_by_the_own_process() -> None:
    proof = judge(claims(), samples(Card()))
    assert verdict(proof) == (Outcome.PROVEN, Why.OWN_WORK, Confidence.HIGH)
    assert proof.outcome is Outcome.PROVEN
    seen = proof.devices[0].seen
    assert seen.own is not None
    assert seen.own.load == pytest.approx(1.0)
    assert seen.own.idle == 0.0
    assert seen.own.chance < 0.02
    assert seen.steps is not None
    assert seen.steps.fitting == 4
    assert seen.own_steps is not None
    assert seen.own_steps.fitting == 4
    share = proof.devices[0].proportion
    assert share is not None
    assert share.share == pytest.approx(600 / 989.4, rel=1e-3)


@pytest.mark.parametrize("lag_s", [0.0, 0.3, 0.7, 1.0])
def test_instruments_may_be_late(lag_s: float) -> None:
    assert verdict(judge(claims(), samples(Card(lag_s=lag_s))))[:2] == (Outcome.PROVEN, Why.OWN_WORK)


def test_a_lie_is_claimed_and_not_seen() -> None:
    card = Card(works=False, others={77: lambda _at: 0.0})
    assert verdict(judge(claims(), samples(card))) == (Outcome.NOT_SEEN, Why.NO_RISE, Confidence.HIGH)


def test_a_lie_on_a_machine_where_nobody_uses_the_gpu() -> None:
    assert verdict(judge(claims(), samples(Card(works=False))))[:2] == (Outcome.NOT_SEEN, Why.NO_RISE)


def test_another_process_that_keeps_the_gpu_busy_changes_neither_verdict() -> None:
    honest = Card(others={77: training}, share=0.4)
    liar = Card(works=False, others={77: training})
    assert verdict(judge(claims(), samples(honest)))[:2] == (Outcome.PROVEN, Why.OWN_WORK)
    assert verdict(judge(claims(), samples(liar)))[:2] == (Outcome.NOT_SEEN, Why.NO_RISE)


def test_another_process_in_the_same_rhythm_is_no_proof() -> None:
    plan = phases()

    def mimic(at: float) -> float:
        return 0.9 if any(phase.load and phase.begin_s <= at < phase.end_s for phase in plan) else 0.0

    card = Card(works=False, others={77: mimic})
    proof = judge(claims(), samples(card))
    assert verdict(proof) == (Outcome.NOT_SEEN, Why.OTHER_PROCESS, Confidence.HIGH)
    assert proof.devices[0].seen.others[0].pid == 77


def test_work_on_another_gpu_is_no_proof() -> None:
    proof = judge(claims(), samples(Card(bus=1, works=False), Card(bus=2)))
    assert verdict(proof) == (Outcome.NOT_SEEN, Why.OTHER_DEVICE, Confidence.HIGH)
    assert proof.devices[0].seen.elsewhere[0].device == Card(bus=2).info.key


def test_devices_are_matched_by_address_and_never_by_place() -> None:
    second = claims_of("torch", said({0: bus(2)}))
    assert verdict(judge(second, samples(Card(bus=1, works=False), Card(bus=2))))[0] is Outcome.PROVEN
    unknown = claims_of("torch", said({0: bus(9)}))
    assert verdict(judge(unknown, samples(Card(bus=1, works=False))))[:2] == (Outcome.NOT_SEEN, Why.NO_INSTRUMENT)


@pytest.mark.parametrize("seed", range(8))
def test_a_desktop_on_the_gpu_makes_no_proof_and_hides_none(seed: int) -> None:
    noise = random.Random(seed)
    desktop = {70: lambda _at: noise.choice((0.02, 0.05, 0.2, 0.35))}
    liar = Card(works=False, others=desktop, shows_memory=False)
    assert verdict(judge(claims(), samples(liar, seed=seed)))[0] is Outcome.NOT_SEEN
    honest = Card(others=desktop, shows_memory=False)
    assert verdict(judge(claims(), samples(honest, seed=seed)))[0] is Outcome.PROVEN


def test_a_driver_without_process_utilization_proves_by_presence() -> None:
    card = Card(shows_utilization=False, others={77: lambda _at: 0.0})
    assert verdict(judge(claims(), samples(card)))[:2] == (Outcome.PROVEN, Why.OWN_PRESENCE)


def test_without_process_utilization_a_busy_gpu_is_proven_by_the_own_memory() -> None:
    card = Card(shows_utilization=False, others={77: lambda _at: 0.0}, util=lambda _at: 0.97)
    assert verdict(judge(claims(), samples(card))) == (Outcome.PROVEN, Why.OWN_STEPS, Confidence.MEDIUM)


CONTAINER = Setting(container=True)


def test_in_a_container_the_steps_of_memory_prove() -> None:
    card = Card(own_pid=None, others={900001: lambda _at: 0.0}, presence=ProcessPresence.FOREIGN)
    proof = judge(claims(), samples(card), CONTAINER)
    assert verdict(proof) == (Outcome.PROVEN, Why.DEVICE_STEPS, Confidence.MEDIUM)
    assert proof.devices[0].hides_processes


def test_in_a_container_a_busy_gpu_does_not_prove_a_lie() -> None:
    for util in (lambda _at: 0.97, lambda at: 0.9 if int(at) % 2 else 0.1):
        card = Card(works=False, util=util)
        assert verdict(judge(claims(), samples(card), CONTAINER))[0] is Outcome.NOT_SEEN


def stop_and_go(seed: int) -> Callable[[float], float]:
    """Another program that works and rests at its own whim, about as fast as the phases."""
    chance = random.Random(seed)
    edges = [BEGIN_S - 5]
    while edges[-1] < BEGIN_S + 30:
        edges.append(edges[-1] + chance.uniform(0.5, 3.0))
    return lambda at: 0.9 if bisect(edges, at) % 2 else 0.05


@pytest.mark.parametrize("seed", range(12))
def test_work_of_others_in_between_proves_no_lie_and_hides_no_work(seed: int) -> None:
    other = stop_and_go(seed)
    liar = Card(works=False, util=other)
    assert verdict(judge(claims(), samples(liar, seed=seed), CONTAINER))[0] is Outcome.NOT_SEEN
    assert verdict(judge(claims(blocks=False), samples(liar, seed=seed), CONTAINER))[:2] == (
        Outcome.NOT_SEEN,
        Why.CONTAINER,
    )
    honest = Card(own_pid=None, util=other, share=0.3)
    assert verdict(judge(claims(), samples(honest, seed=seed), CONTAINER))[:2] == (Outcome.PROVEN, Why.DEVICE_STEPS)
    seen = Card(others={77: other}, share=0.3)
    assert verdict(judge(claims(), samples(seen, seed=seed)))[:2] == (Outcome.PROVEN, Why.OWN_WORK)


def test_a_listed_process_without_figures_beside_others_is_undecided() -> None:
    card = Card(others={77: stop_and_go(3)}, shows_utilization=False, shows_memory=False, util=stop_and_go(4))
    assert verdict(judge(claims(blocks=False), samples(card)))[1] in (Why.BUSY, Why.OWN_PRESENCE)


def test_in_a_container_without_memory_steps_the_device_alone_gives_little_confidence() -> None:
    card = Card(own_pid=None)
    assert verdict(judge(claims(blocks=False), samples(card), CONTAINER)) == (
        Outcome.PROVEN,
        Why.DEVICE_ONLY,
        Confidence.LOW,
    )
    busy = Card(own_pid=None, util=lambda _at: 0.97)
    assert verdict(judge(claims(blocks=False), samples(busy), CONTAINER))[:2] == (Outcome.NOT_SEEN, Why.CONTAINER)


def test_inside_wsl_the_clocks_differ_and_the_number_is_not_listed() -> None:
    card = Card(own_pid=None)
    proof = judge(claims(utc_shift_s=-900.0), samples(card), Setting(wsl=True))
    assert verdict(proof)[:2] == (Outcome.PROVEN, Why.DEVICE_STEPS)


def test_a_child_of_the_process_counts_as_the_process() -> None:
    card = Card(own_pid=5555, ppid=PID)
    assert verdict(judge(claims(), samples(card)))[:2] == (Outcome.PROVEN, Why.OWN_WORK)


def test_sixteen_gpus_are_proven_one_by_one() -> None:
    every = {index: bus(index + 1) for index in range(16)}
    told = claims_of("torch", said(every))
    cards = [Card(bus=index + 1, works=index == 0) for index in range(16)]
    proof = judge(told, samples(*cards, seconds=14))
    assert len(proof.devices) == 16
    assert proof.devices[0].outcome is Outcome.PROVEN
    assert all(device.outcome is Outcome.NOT_SEEN for device in proof.devices[1:])
    assert proof.outcome is Outcome.NOT_SEEN


def test_without_instruments_a_claim_stays_a_claim() -> None:
    assert verdict(judge(claims(), ()))[:2] == (Outcome.NOT_SEEN, Why.NO_INSTRUMENT)
    gone = [replace(sample, devices={}, processes=()) for sample in samples(Card())]
    assert verdict(judge(claims(), gone))[:2] == (Outcome.NOT_SEEN, Why.NO_INSTRUMENT)


def test_too_few_samples_are_no_instrument() -> None:
    few = samples(Card(), hz=0.5)
    assert verdict(judge(claims(), few))[0] is Outcome.NOT_SEEN
    assert verdict(judge(claims(), few))[1] is Why.NO_INSTRUMENT


def test_a_wrong_result_on_the_gpu_fails() -> None:
    facts = said()
    facts["proof"]["devices"]["0"]["runs"]["fp16"].update(right=False, error=1.7)
    assert verdict(judge(claims_of("torch", facts), samples(Card())))[:2] == (Outcome.FAILS, Why.WRONG_RESULT)


def test_an_error_of_the_framework_fails() -> None:
    facts = said()
    device = facts["proof"]["devices"]["0"]
    device.update(problem="failed", error="RuntimeError: CUDA error: no kernel image", phases={}, runs={})
    assert verdict(judge(claims_of("torch", facts), samples(Card(works=False))))[:2] == (Outcome.FAILS, Why.ERROR)


def test_little_memory_could_not_be_measured() -> None:
    facts = said()
    facts["proof"]["devices"]["0"].update(problem="little-memory", phases={}, runs={})
    told = claims_of("torch", facts)
    assert verdict(judge(told, samples(Card(works=False))))[:2] == (Outcome.NOT_MEASURED, Why.LITTLE_MEMORY)


def test_a_result_that_lies_on_the_cpu_is_not_on_the_gpu() -> None:
    facts = said()
    facts["proof"]["devices"]["0"]["where"] = "cpu"
    told = claims_of("torch", facts)
    assert verdict(judge(told, samples(Card(works=False))))[:2] == (Outcome.NOT_SEEN, Why.ON_CPU)


def test_a_gpu_as_slow_as_the_cores_that_work_is_the_cpu() -> None:
    facts = said(speed=12e11)
    for phase in facts["proof"]["devices"]["0"]["phases"].values():
        phase["cpu_s"] = 15.0
    told = claims_of("torch", facts)
    assert verdict(judge(told, samples(Card(works=False))))[:2] == (Outcome.NOT_SEEN, Why.ON_CPU)


@pytest.mark.parametrize(
    ("problem", "outcome", "why"),
    [
        ("crashed", Outcome.FAILS, Why.CRASHED),
        ("timed-out", Outcome.NOT_MEASURED, Why.TIMED_OUT),
        ("cancelled", Outcome.NOT_MEASURED, Why.CANCELLED),
        ("failed", Outcome.NOT_MEASURED, Why.NO_ANSWER),
    ],
)
def test_a_process_that_ended_early(problem: str, outcome: Outcome, why: Why) -> None:
    proof = judge(claims_of("torch", {}, problem, "import torch"), ())
    assert (proof.outcome, proof.why) == (outcome, why)


@pytest.mark.parametrize(("reason", "why"), [("cpu-build", Why.CPU_BUILD), ("no-gpu-seen", Why.NO_GPU_SEEN)])
def test_a_framework_that_has_only_the_cpu_says_so(reason: str, why: Why) -> None:
    facts = said({}, cpu_reason=reason)
    proof = judge(claims_of("torch", facts), ())
    assert (proof.outcome, proof.why) == (Outcome.CPU, why)


@pytest.mark.parametrize(
    "rubbish",
    [
        {},
        {"proof": 3},
        {"proof": {"devices": [1], "pid": "x", "cpu": 7}},
        {
            "proof": {
                "devices": {
                    "0": {
                        "phases": {"a": {}, "1": {"kind": "load", "begin": {"monotonic_s": "now"}}},
                        "runs": {"fp32": 1},
                    }
                },
                "clock": [],
                "namespace_pids": [None, -4],
            }
        },
    ],
)
def test_rubbish_from_the_script_is_no_verdict(rubbish: dict[str, object]) -> None:
    proof = judge(claims_of("torch", rubbish), samples(Card()))
    assert proof.outcome is Outcome.NOT_MEASURED or proof.outcome is Outcome.FAILS


def stuck(found: list[Sample], pstate: int, clock: float) -> list[Sample]:
    return [
        replace(
            sample,
            devices={
                key: replace(
                    device,
                    values={**device.values, "pstate": Reading(pstate, "nvml"), "clock_sm_mhz": Reading(clock, "nvml")},
                )
                for key, device in sample.devices.items()
            },
        )
        for sample in found
    ]


def test_low_clocks_are_named_beside_the_share() -> None:
    proof = judge(claims(speed=100e12), stuck(samples(Card()), 8, 345))
    share = proof.devices[0].proportion
    assert share is not None
    assert share.limit == "pstate"
    assert proof.devices[0].seen.pstate == 8


def test_missing_figures_are_left_out() -> None:
    missing: dict[str, Value] = {
        "gpu_utilization": Missing(Reason.MIG, "nvml"),
        "power_w": Missing(Reason.NOT_SUPPORTED, "nvml"),
    }
    proof = judge(claims(), samples(Card(values=missing)))
    assert verdict(proof)[:2] == (Outcome.PROVEN, Why.OWN_WORK)
    assert "gpu_utilization" not in proof.devices[0].seen.activity


def test_small_memory_still_shows_steps() -> None:
    card = Card(used=int(2.5 * GIB), context=300 * (1 << 20))
    assert judge(claims(), samples(card)).devices[0].seen.steps is not None


def test_windows_counters_twice_a_second_prove_by_engine_time() -> None:
    """WDDM: NVML has no memory per process, Windows' counters have engine time per process and are renewed at 2 Hz."""
    nothing = Missing(Reason.DRIVER_MODEL, "nvml")
    card = Card(shows_memory=False, others={70: lambda _at: 0.04}, values={"gpu_utilization": nothing}, lag_s=0.5)
    assert verdict(judge(claims(), samples(card, hz=2.0)))[:2] == (Outcome.PROVEN, Why.OWN_WORK)
    liar = replace(card, works=False)
    assert verdict(judge(claims(), samples(liar, hz=2.0)))[:2] == (Outcome.NOT_SEEN, Why.NO_RISE)


def test_results_and_work_space_beside_the_blocks_hide_no_steps() -> None:
    found = []
    for sample in samples(Card(own_pid=None)):
        devices = {}
        for key, device in sample.devices.items():
            used = device.values["memory_used_bytes"]
            assert isinstance(used, Reading)
            assert not isinstance(used.value, str)
            more = (150 << 20) if used.value > Card().used + Card().context + (50 << 20) else 0
            devices[key] = replace(
                device, values={**device.values, "memory_used_bytes": Reading(used.value + more, "nvml")}
            )
        found.append(replace(sample, devices=devices))
    proof = judge(claims(), found, CONTAINER)
    assert verdict(proof)[:2] == (Outcome.PROVEN, Why.DEVICE_STEPS)
    steps = proof.devices[0].seen.steps
    assert steps is not None
    assert steps.fitting == 4
    assert steps.more == pytest.approx(150 << 20, rel=0.05)
