"""What is said of pauses, and what proves it."""

from __future__ import annotations

import pytest

from gpumon_gui.diagnosis.behaviour.judge import judge
from gpumon_gui.diagnosis.finding import Confidence, Finding, Severity
from gpumon_gui.diagnosis.report import fact_words
from gpumon_gui.diagnosis.report.fact_words import label
from tests.unit.diagnosis.test_made_up_workloads import HEALTHY
from tests.unit.diagnosis.workloads import Now, record

CODE = "gpu-idle-gaps-cpu-phase"


def pausing(seconds: float, in_work: float, in_pauses: float) -> Finding:
    """Six seconds of work and four of pause, with so many cores in both."""

    def phases(now_s: float) -> Now:
        works = HEALTHY(now_s)
        return Now(works.kernels, fill=works.fill, main=in_work) if now_s % 10 < 6 else Now(main=in_pauses)

    return next(one for one in judge(record(phases, seconds=seconds)).diagnosis.findings if one.code == CODE)


def proof(finding: Finding) -> dict[str, str]:
    return {label(one.what): fact_words.said(one) for one in finding.evidence}


def test_one_pause_is_none_that_returns() -> None:
    once = pausing(17.0, 1.0, 1.0)
    assert (once.severity, once.confidence) == (Severity.INFO, Confidence.LOW)
    assert "once" in once.title
    assert once.advice == ()
    twice = pausing(28.0, 1.0, 1.0)
    assert twice.title.format(**twice.values).startswith("The GPU pauses for")
    assert "about every 10 s" in twice.title.format(**twice.values)
    assert twice.advice


@pytest.mark.parametrize(
    ("in_work", "in_pauses", "said"),
    [
        (1.0, 1.0, "1.0, as between them: the program itself works then, in one thread"),
        (3.0, 3.0, "3.0, as between them: the program itself works then"),
        (1.0, 6.0, ""),
        (3.0, 1.0, ""),
    ],
)
def test_the_cpu_proves_what_it_can(in_work: float, in_pauses: float, said: str) -> None:
    found = proof(pausing(28.0, in_work, in_pauses))
    during = found["CPU cores in use during the pauses"]
    assert during == said if said else float(during) == pytest.approx(in_pauses, rel=0.2)
    assert ("CPU cores in use between the pauses" in found) == (in_pauses > in_work)
    assert not any("disk" in what for what in found)
