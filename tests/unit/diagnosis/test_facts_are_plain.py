"""Facts go into reports: plain JSON, no numbers of numpy, no NaN."""

from __future__ import annotations

import json

import pytest

from gpumon_gui.diagnosis.behaviour.judge import judge
from tests.benchmarks.score_traces import TRACES, Labelled, load, samples_of


@pytest.mark.parametrize("label", load(TRACES), ids=lambda label: label.workload)
def test_facts_can_be_written(label: Labelled) -> None:
    facts = judge(samples_of(label.path)).document.facts
    assert json.loads(json.dumps(facts, allow_nan=False)) == facts
