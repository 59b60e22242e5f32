"""Watch on the labelled recordings, whole and as poorer copies: what is wrong is named, and never something else."""

from __future__ import annotations

import pytest

from tests.benchmarks.score_traces import COPIES, TRACES, WHOLE, Labelled, load, said, score

LABELLED = load(TRACES)
RECORDINGS = TRACES.parent / "recordings"
#: Recorded afterwards, of other workloads: what only some instruments show may be missing without them.
RECORDED = load(RECORDINGS) if RECORDINGS.exists() else []
#: float32 or 16 bits draw alike: without hardware counters nobody can tell which units compute.
UNDECIDABLE = {("fp32_no_tensor_cores", copy) for copy in ("no gpm", "no gpm+putil")}
#: Without the driver's figures per process nobody can tell who takes how much of a shared GPU.
SHARED = ("two-sharing.gpumon", "no putil")
#: True besides what is expected: after the failure the program holds its memory and rests.
TRUE_TOO = {"oom": {"gpu-memory-held-idle"}}


def test_the_traces_are_there() -> None:
    assert len(LABELLED) >= 14
    assert all(label.path.exists() for label in LABELLED)


@pytest.mark.parametrize("label", LABELLED, ids=lambda label: label.workload)
def test_each_recording_gets_its_verdict(label: Labelled) -> None:
    for scored in score(label):
        assert not scored.bugs
        assert not scored.wrong, f"{scored.copy}: {said(scored)}"
        if (label.workload, scored.copy) not in UNDECIDABLE:
            assert not scored.missing, f"{scored.copy}: {said(scored)}"


@pytest.mark.parametrize("label", LABELLED, ids=lambda label: label.workload)
def test_nothing_else_is_said_to_slow_it_down(label: Labelled) -> None:
    """What is neither expected nor forbidden must still be true; here nothing more is."""
    for scored in score(label):
        assert not scored.unasked - TRUE_TOO.get(label.workload, set()), f"{scored.copy}: {said(scored)}"


def test_every_finding_shows_figures_and_times() -> None:
    for label in LABELLED:
        for scored in score(label, (WHOLE,)):
            for finding in scored.found:
                assert finding.evidence
                assert any(character.isdigit() for item in finding.evidence for character in item.value)


def test_the_copies_are_poorer() -> None:
    assert set(COPIES) == {WHOLE, "1 Hz", "no gpm", "no putil", "no gpm+putil", "10 % lost", "first 8 s"}


@pytest.mark.parametrize("label", RECORDED, ids=lambda label: label.path.name)
def test_later_recordings_get_their_verdict(label: Labelled) -> None:
    for scored in score(label):
        assert not scored.bugs
        assert not scored.wrong, f"{scored.copy}: {said(scored)}"
        if scored.copy in (WHOLE, "1 Hz", "no putil", "10 % lost") and (label.path.name, scored.copy) != SHARED:
            assert not scored.missing, f"{scored.copy}: {said(scored)}"
