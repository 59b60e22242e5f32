"""Watch on parts of the labelled recordings: what is seen while they grow, what chance leaves, and any cut of them."""

from __future__ import annotations

import random
from functools import cache

import pytest

from gpumon_gui.core.model import Sample
from gpumon_gui.diagnosis.behaviour.judge import judge
from gpumon_gui.diagnosis.finding import Confidence
from tests.benchmarks.score_traces import TRACES, Labelled, each_fifth, load, losing, samples_of, score, until

LABELS = [*load(TRACES), *load(TRACES.with_name("recordings"))]
EACH = pytest.mark.parametrize("label", LABELS, ids=[label.path.name.partition(".")[0] for label in LABELS])


@cache
def whole(label: Labelled) -> tuple[Sample, ...]:
    return tuple(samples_of(label.path))


def surely_wrong(label: Labelled, samples: list[Sample]) -> set[str]:
    """Forbidden, and no guess."""
    diagnosis = judge(samples).diagnosis
    assert not diagnosis.bugs
    return {one.code for one in diagnosis.findings if one.confidence is not Confidence.LOW} & label.forbidden


@EACH
def test_nothing_wrong_is_sure_while_it_grows(label: Labelled) -> None:
    for seconds in (2, 3, 4, 5, 6, 7, 8, 9, 10, 12, 15):
        assert not surely_wrong(label, until(seconds)(whole(label))), seconds


@EACH
def test_nothing_wrong_is_sure_of_any_part(label: Labelled) -> None:
    chance = random.Random(11)
    samples = whole(label)
    for _ in range(6):
        length = chance.uniform(6.0, 12.0)
        start = samples[0].monotonic_s + chance.uniform(0.0, samples[-1].monotonic_s - samples[0].monotonic_s - length)
        part = [sample for sample in samples if start <= sample.monotonic_s <= start + length]
        assert not surely_wrong(label, part), (start - samples[0].monotonic_s, length)


@EACH
def test_one_sample_a_second_will_do_whichever_it_is(label: Labelled) -> None:
    found = [*score(label, [f"1 Hz +{start}" for start in range(1, 5)])]
    assert not any(one.wrong for one in found)
    # One copy of five may show a GPU that works in bursts only where it rests.
    assert sum(bool(one.missing) for one in found) <= 1


@EACH
def test_lost_samples_change_nothing(label: Labelled) -> None:
    for one in score(label, ["10 % lost 2", "30 % lost 1", "30 % lost 2"]):
        assert one.right, (one.copy, one.codes)


def test_ranks_that_start_are_not_said_to_wait_for_data() -> None:
    """Imports, reading and the first kernels of a healthy run fill the first seconds."""
    label = next(label for label in LABELS if label.workload == "ddp_balanced")
    for seconds in (3, 4, 5, 6, 7, 8):
        for copy in (until(seconds)(whole(label)), losing(0.1, 5)(until(seconds)(whole(label)))):
            assert "input-pipeline-bound" not in {one.code for one in judge(copy).diagnosis.findings}, seconds
    assert each_fifth(1)(whole(label))
