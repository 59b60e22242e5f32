"""Knows: how a figure of a judged job is read from its facts, when a GPU does little. Must not know: rules, who asks.

Facts may come from a file: anything may be missing, or be something else.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final

from gpumon_gui.diagnosis.finding import Finding

#: Busy for less than this share of the time nothing was done on a GPU.
_WORKS: Final = 0.05
#: Below this share of the time the GPU is not worth a verdict "nothing holds it back".
_FED: Final = 0.5


def number(job: Mapping[str, Any] | None, group: str, name: str) -> float | None:
    """A number that is known of a job."""
    part = job.get(group) if job is not None else None
    found = part.get(name) if isinstance(part, Mapping) else None
    return float(found) if isinstance(found, int | float) and not isinstance(found, bool) else None


def job_of(jobs: Sequence[Mapping[str, Any]], finding: Finding | None) -> Mapping[str, Any] | None:
    """The job that a finding is about, else the first one; None without any."""
    subject = finding.subject if finding is not None else ""
    return next((job for job in jobs if job.get("subject") == subject), jobs[0] if jobs else None)


def works(job: Mapping[str, Any] | None) -> bool:
    """Whether it does anything on a GPU."""
    return (number(job, "activity", "busy") or 0.0) >= _WORKS


def does_little(jobs: Iterable[Mapping[str, Any]]) -> bool:
    """Whether the GPU of one of these jobs works for less than half of the time, whoever works there."""
    return any(
        max(number(job, "activity", "busy") or 0.0, number(job, "activity", "card_busy") or 0.0) < _FED for job in jobs
    )
