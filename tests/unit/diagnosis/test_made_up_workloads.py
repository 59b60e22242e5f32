"""Watch on made-up workloads: other cards, fewer instruments, other rates, look-alikes. What is unclear is not said."""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import dataclass

import pytest

from gpumon_gui.core.model import Sample, UseKind
from gpumon_gui.diagnosis.behaviour.judge import judge
from gpumon_gui.diagnosis.finding import Confidence, Finding, Severity
from tests.unit.diagnosis.workloads import (
    CARDS,
    PID,
    WINDOWS,
    Machine,
    Now,
    Program,
    after,
    record,
    side_by_side,
    steps,
    then,
)

FEEDING = "input-pipeline-bound"
SMALL = "workload-too-small"
COPIES = "host-to-device-transfer-bound"
PAUSES = "gpu-idle-gaps-cpu-phase"
ENVIRONMENT = "workload-cpu-bound-by-environment"
ON_CPU = "code-runs-on-cpu"
BANDWIDTH = "memory-bandwidth-bound"
MINE = {FEEDING, SMALL, COPIES, PAUSES, ENVIRONMENT, ON_CPU, "mixed-precision-not-active"}


def findings(samples: Sequence[Sample], pid: int | None = PID) -> tuple[Finding, ...]:
    diagnosis = judge(samples, pid).diagnosis
    assert not diagnosis.bugs
    return diagnosis.findings


def said(found: Sequence[Finding]) -> list[tuple[str, str, str]]:
    return [(finding.code, str(finding.confidence), str(finding.severity)) for finding in found]


def slows(found: Sequence[Finding]) -> set[str]:
    """What is said to slow the program down."""
    return {finding.code for finding in found if finding.severity is not Severity.INFO}


def sure(found: Sequence[Finding]) -> set[str]:
    return {
        finding.code
        for finding in found
        if finding.confidence is Confidence.HIGH and finding.severity is not Severity.INFO
    }


HEALTHY = steps(0.19, 0.004, main=1.0, rx=6e7)
HEALTHY_BUSY_WORKERS = steps(0.19, 0.004, main=0.6, rx=4e8, workers=(0.95,) * 12)
TWELVE_BUSY = steps(0.06, 0.14, main=0.3, rx=3e8, workers=(0.97,) * 12)
FOUR_BUSY = steps(0.05, 0.2, main=0.25, rx=2.5e8, workers=(0.99,) * 4)
ONE_PEGGED = steps(0.05, 0.3, main=0.2, rx=2e8, workers=(0.99, 0.12, 0.1, 0.15))
DISK = steps(0.08, 0.4, main=0.15, rx=1.5e8, workers=(0.2,) * 4, read=9e7)
INSIDE = steps(0.08, 0.5, main=1.0, main_waits=3.0, rx=2.5e8)
INSIDE_ONE_CORE = steps(0.08, 0.4, main=1.0, rx=2.5e8)
TINY = steps(0.002, 0.012, fill=0.05, memory=0.01, rx=9e7, main=1.0, jitter=0.1)
COPYING = steps(0.001, 0.3, fill=0.5, rx=5.5e9, main=1.0, copying=0.35, jitter=0.1)
SIMULATORS = steps(0.004, 0.04, fill=0.06, memory=0.02, rx=2e7, main=0.6, workers=(0.55,) * 8)
WAITING = steps(0.003, 0.045, fill=0.4, memory=0.1, rx=3e7, main=0.37, jitter=0.1)


VARIED = steps(0.15, 0.02, main=0.9, rx=8e7, jitter=0.9)
MANY_THREADS = steps(0.1, 0.15, main=7.0, rx=3e8)
SMALL_MODEL_LOADERS = steps(0.004, 0.05, fill=0.1, memory=0.03, rx=4e7, main=0.4, workers=(0.97,) * 4)
PINNED = steps(0.02, 0.2, fill=0.9, rx=1.1e10, main=0.9, copying=0.95, jitter=0.1)
CALLS_ONE_BY_ONE = steps(0.012, 0.016, fill=0.5, memory=0.2, rx=6e7, main=1.0, jitter=0.1)


def decode(_now_s: float) -> Now:
    """A language model writes one text: memory is the limit, one core starts kernels."""
    return Now(kernels=0.97, fill=0.7, memory=0.95, rx=3e7, main=1.0, tensor=0.04, fp32=0.08)


def phased(work: Program, every_s: float, pause_s: float, pause: Now) -> Program:
    return lambda now_s: pause if now_s % every_s >= every_s - pause_s else work(now_s)


def queue(now_s: float) -> Now:
    """Four loaders that need three seconds a batch: four batches at once, then nothing; they work all the time."""
    works = now_s % 3.0 < 0.9
    return Now(kernels=float(works), rx=2e8 if works else 1e6, main=0.2, workers=(0.98,) * 4)


def served(busy: float, seed: int) -> Program:
    """Requests by chance, each some tens of milliseconds of full kernels."""
    chance = random.Random(seed)
    until: list[tuple[float, float]] = []
    time = 0.0
    while time < 400:
        time += chance.expovariate(busy / 0.06)
        until.append((time, time + chance.uniform(0.02, 0.1)))

    def run(now_s: float) -> Now:
        works = any(start <= now_s < end for start, end in until if abs(start - now_s) < 1)
        return Now(kernels=1.0 if works else 0.0, fill=0.8, rx=5e6, main=0.5 if works else 0.05)

    return run


PLAIN = Machine()


@dataclass(frozen=True)
class Story:
    """A workload, what must be said of it, and what besides may be."""

    name: str
    program: Program
    expect: str
    on: tuple[str, ...] = tuple(CARDS)
    machine: Machine = PLAIN
    seconds: float = 25.0
    #: Cards on which the information is not there.
    unclear: tuple[str, ...] = ()


EVERY = tuple(CARDS)
#: How often each card is read here; every story takes its time.
RATES = {"H200": (1.0, 5.0), "laptop": (1.0, 10.0), "desktop": (2.0,), "Windows": (5.0,), "basic": (5.0,)}
STORIES = (
    Story("healthy", HEALTHY, ""),
    Story("healthy with busy loaders", HEALTHY_BUSY_WORKERS, "", machine=Machine(cores=16)),
    Story("twelve loaders, all busy", TWELVE_BUSY, FEEDING),
    Story("four loaders, all busy", FOUR_BUSY, FEEDING),
    Story("one loader holds up the others", ONE_PEGGED, FEEDING),
    Story("slow disk", DISK, FEEDING),
    Story("loads by itself with threads", INSIDE, FEEDING),
    Story("loads by itself", INSIDE_ONE_CORE, FEEDING, unclear=("basic",)),
    Story("small steps", TINY, SMALL, unclear=("basic",)),
    Story("pageable copies", COPYING, COPIES, unclear=("basic",)),
    Story("simulators", SIMULATORS, ENVIRONMENT, unclear=("basic",)),
    Story("waits in turns", WAITING, ""),
    Story("writes text", decode, ""),
    Story("server, little asked", served(0.08, 3), ""),
    Story("server, more asked", served(0.3, 4), ""),
    Story("evaluates on the CPU", phased(HEALTHY, 20, 5, Now(main=6.0)), PAUSES, seconds=70),
    Story("nobody asks for a while", phased(HEALTHY, 9, 5.5, Now(main=0.03)), "", seconds=60),
    Story("compiles", after(3, lambda _t: Now(main=1.0, workers=(0.9,) * 8, held=5e8)), ""),
    Story("starts for long", after(20, HEALTHY), "", seconds=32),
    Story("starts for long, then starves", after(20, FOUR_BUSY), FEEDING, seconds=32),
    Story("small, after a long start", after(12, TINY), SMALL, unclear=("basic",), seconds=24),
    Story("steps of all lengths", VARIED, ""),
    Story("threads that load", MANY_THREADS, FEEDING, unclear=("basic",)),
    Story("loaders for a small model", SMALL_MODEL_LOADERS, FEEDING),
    Story("copies from pinned memory", PINNED, COPIES, on=("H200", "laptop", "Windows")),
    Story("calls one by one", CALLS_ONE_BY_ONE, SMALL, unclear=EVERY),
    Story("queue that runs empty", queue, FEEDING),
    Story("shares a busy GPU", steps(0.1, 0.1, main=1.0, workers=(0.9,) * 4), "", machine=Machine(other_busy=0.95)),
    Story("starves on a shared GPU", FOUR_BUSY, FEEDING, machine=Machine(other_busy=0.3), unclear=("Windows", "basic")),
    Story("small on a shared GPU", TINY, "", machine=Machine(other_busy=0.5)),
    Story("became healthy", then(FOUR_BUSY, 20, HEALTHY), "", seconds=32),
    Story("began to starve", then(HEALTHY, 20, FOUR_BUSY), FEEDING, seconds=34),
    Story("became small", then(HEALTHY, 15, TINY), SMALL, seconds=30, unclear=("basic",)),
    Story("ended", then(HEALTHY, 18, lambda _t: Now(main=0.01)), "", seconds=24),
    Story("evaluates for the first time", then(HEALTHY, 15, lambda _t: Now(main=5.0)), "", seconds=20),
    Story("rests", lambda _t: Now(main=0.0), ""),
    Story("large batches, slowly loaded", steps(1.6, 3.5, main=1.0, rx=4e8), FEEDING, seconds=40, unclear=EVERY),
    Story("starts kernels beside loaders", steps(0.006, 0.004, fill=0.5, main=1.0, rx=4e8, workers=(0.12,) * 6), ""),
    Story("nearly fed", steps(0.1, 0.025, main=1.0, rx=4e8, workers=(0.15,) * 8), ""),
    Story("small beside one that rests", TINY, SMALL, machine=Machine(other_rests=True), unclear=("basic",)),
    Story(
        "decodes on one core, small batches",
        steps(0.012, 0.23, fill=0.8, main=1.0, rx=7e7, jitter=0.1),
        FEEDING,
        unclear=("laptop", "desktop", "Windows", "basic"),
    ),
    Story("loaders started anew", FOUR_BUSY, FEEDING, machine=Machine(renewed_s=6.0)),
    Story("loaders started anew keep up", steps(0.1, 0.02, workers=(0.4,) * 4), "", machine=Machine(renewed_s=6.0)),
    Story("on the CPU", lambda _t: Now(main=10.5, held=0.0), ON_CPU, machine=Machine(on_gpu=False)),
)
CASES = [
    pytest.param(story, card, hertz, id=f"{story.name}, {card}, {hertz:g} Hz")
    for story in STORIES
    for card in story.on
    for hertz in RATES[card]
]


@pytest.mark.parametrize(("story", "card", "hertz"), CASES)
def test_the_cause_is_named_and_no_other(story: Story, card: str, hertz: float) -> None:
    found = findings(record(story.program, CARDS[card], story.machine, seconds=story.seconds, hertz=hertz))
    codes = {finding.code for finding in found}
    if story.expect and card not in story.unclear:
        assert story.expect in codes, said(found)
    wrong = (codes if story.expect else slows(found)) & MINE - {story.expect}
    assert not wrong, said(found)


@pytest.mark.parametrize("seed", range(4))
def test_lost_samples_and_uneven_times_change_no_verdict(seed: int) -> None:
    chance = random.Random(seed)
    for program, expect in ((FOUR_BUSY, {FEEDING}), (HEALTHY, set()), (TINY, {SMALL}), (COPYING, {COPIES})):
        samples = [sample for sample in record(program, hertz=10.0) if chance.random() < 0.4]
        assert {finding.code for finding in findings(samples)} & MINE == expect


def test_the_loading_processes_are_counted_at_a_time() -> None:
    found = findings(record(FOUR_BUSY, machine=Machine(renewed_s=6.0)))
    assert found[0].code == FEEDING
    assert "4 loading processes" in found[0].title.format(**found[0].values)


def test_every_program_on_a_gpu_gets_its_own_verdict() -> None:
    samples = record(FOUR_BUSY, machine=Machine(other_busy=0.3))
    subjects = {finding.subject for finding in findings(samples, None) if finding.code == FEEDING}
    assert subjects == {f"pid {PID}"}


def test_a_short_look_says_nothing_yet() -> None:
    assert not sure(findings(record(FOUR_BUSY, seconds=2.0)))


def turns(first: bool, length_s: float) -> Program:
    return lambda now_s: Now(kernels=float((now_s % (2 * length_s) < length_s) == first), main=1.0)


@pytest.mark.parametrize("card", ["H200", "laptop"])
@pytest.mark.parametrize(
    ("one", "two", "expect"),
    [
        pytest.param(FOUR_BUSY, FOUR_BUSY, {FEEDING}, id="both starve"),
        pytest.param(HEALTHY, HEALTHY, set(), id="both healthy"),
        pytest.param(TINY, TINY, set(), id="small kernels may be waiting for each other"),
        pytest.param(turns(True, 0.5), turns(False, 0.5), set(), id="short turns"),
        pytest.param(turns(True, 2.0), turns(False, 2.0), set(), id="long turns"),
        pytest.param(HEALTHY, lambda _t: Now(kernels=0.92, fill=0.3, memory=0.15, main=1.0), set(), id="one waits"),
    ],
)
def test_two_ranks_are_one_program(one: Program, two: Program, expect: set[str], card: str) -> None:
    first, second = record(one, CARDS[card]), record(two, CARDS[card], Machine(seed=2))
    found = findings(side_by_side(first, second), None)
    assert {finding.code for finding in found} & MINE == expect, said(found)


@pytest.mark.parametrize("kind", [UseKind.BOTH, UseKind.UNKNOWN, UseKind.GRAPHICS])
@pytest.mark.parametrize("program", [INSIDE, FOUR_BUSY, TINY, COPYING], ids=["threads", "helpers", "small", "copies"])
def test_a_game_is_no_training(program: Program, kind: UseKind) -> None:
    """Frames that come evenly, threads with full cores: nothing of that is a fault."""
    samples = record(program, WINDOWS, Machine(framework="", kind=kind))
    assert not {finding.code for finding in findings(samples)} & MINE
    assert not {finding.code for finding in findings(samples, None)} & MINE


def test_a_framework_tells_a_training_on_windows() -> None:
    assert FEEDING in slows(findings(record(FOUR_BUSY, WINDOWS, Machine(kind=UseKind.BOTH))))
