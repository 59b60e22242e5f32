"""A program that works on the CPU beside a busy GPU: it is not said to stay off a GPU that may be its own work."""

from __future__ import annotations

from dataclasses import replace

from gpumon_gui.core.model import ProcessPresence, Sample
from gpumon_gui.diagnosis.behaviour.judge import judge
from tests.behaviour_samples import FULL, GIB, GPM, H200, IDLE, MIB, Program, story, without

CPU = Program(5, cpu=6.0)
CODE = "code-runs-on-cpu"


def codes(samples: tuple[Sample, ...], pid: int | None) -> set[str]:
    return {finding.code for finding in judge(samples, pid).diagnosis.findings}


def test_an_idle_gpu_or_one_that_others_seen_use_tells_it() -> None:
    assert CODE in codes(story([H200], [IDLE], [CPU], seconds=20), 5)
    other = Program(77, memory={0: 9 * GIB}, busy={0: 0.95}, command=("python", "other.py"))
    assert CODE in codes(story([H200], [FULL], [CPU, other], seconds=20), 5)


def test_in_a_container_the_number_that_works_may_be_its_own() -> None:
    foreign = Program(
        90001, memory={0: 9 * GIB}, busy={0: 0.95}, presence=ProcessPresence.FOREIGN, framework="", command=()
    )
    samples = story([H200], [FULL], [CPU, foreign], seconds=20)
    assert CODE not in codes(samples, 5)
    assert CODE not in codes(samples, None)


def test_on_a_split_card_nobody_tells_the_load() -> None:
    held = replace(CPU, memory={0: 600 * MIB}, busy={0: 0.5})
    samples = without(story([H200], [FULL], [held], seconds=20), "gpu_utilization", "process_gpu_utilization", *GPM)
    assert CODE not in codes(samples, 5)
