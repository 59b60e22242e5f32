"""Knows: how long what comes and goes by nature is still there. Must not know: how it is found, other findings' codes.

Pauses that return are there, and as bad as they were, until they were not seen for some of their periods: as long as
the program works, and nothing else is found to slow it down.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Final

from gpumon_gui.diagnosis.behaviour.best import acts, key, same, weight
from gpumon_gui.diagnosis.behaviour.job_facts import job_of, number, works
from gpumon_gui.diagnosis.behaviour.judge import Behaviour
from gpumon_gui.diagnosis.facts import MACHINE
from gpumon_gui.diagnosis.finding import Confidence, Finding

_RETURNS: Final = frozenset(("gpu-idle-gaps-cpu-phase",))
#: Gone when it was not seen for so many of its periods, and so many seconds.
_PERIODS, _LEAST_S = 4.0, 60.0


def comes_and_goes(finding: Finding) -> bool:
    """Whether it is about what comes and goes."""
    return finding.code in _RETURNS


def returns(finding: Finding) -> bool:
    """Whether that was seen more than once."""
    return comes_and_goes(finding) and finding.confidence is not Confidence.LOW


@dataclass(slots=True)
class _Held:
    finding: Finding
    until_s: float
    hold_s: float


class Returning:
    """Follows one watch."""

    def __init__(self) -> None:
        self._held: _Held | None = None

    def carry(self, behaviour: Behaviour, now_s: float) -> Behaviour:
        """What is judged now, with the pauses that were seen before and are not over yet."""
        findings, jobs = behaviour.diagnosis.findings, behaviour.document.facts["jobs"]
        held = self._held if self._held is not None and now_s <= self._held.until_s else None
        if held is None:
            seen = next((one for one in findings if comes_and_goes(one)), None)
        else:
            seen = same(findings, held.finding)
        if seen is not None and returns(seen) and (held is None or weight(seen) >= weight(held.finding)):
            period_s = number(job_of(jobs, seen), "phases", "period_s") or 0.0
            hold_s = max(_LEAST_S, _PERIODS * period_s)
            self._held = _Held(seen, now_s + hold_s, hold_s)
            return behaviour
        if held is None or any(_counts_beside(one, held.finding) for one in findings):
            self._held = None
            return behaviour
        if seen is not None and not returns(seen):  # one pause at least
            held.until_s = now_s + held.hold_s
        self._held = held
        job = next((job for job in jobs if job.get("subject") == held.finding.subject), None)
        return _with(behaviour, held.finding, seen) if works(job) else behaviour


def _counts_beside(finding: Finding, held: Finding) -> bool:
    """Whether it is another cause that slows the same program down."""
    return acts(finding) and key(finding) != key(held) and finding.subject in (held.subject, MACHINE)


def _with(behaviour: Behaviour, held: Finding, seen: Finding | None) -> Behaviour:
    """As bad as it was; with the figures of now, unless one pause is all they are of."""
    now = held
    if seen is not None and returns(seen):
        now = replace(seen, severity=held.severity, confidence=held.confidence)
    rest = tuple(one for one in behaviour.diagnosis.findings if key(one) != key(held))
    findings = (now, *rest) if acts(held) else (*rest, now)
    ranked = tuple(replace(one, rank=rank) for rank, one in enumerate(findings, start=1))
    return replace(behaviour, diagnosis=replace(behaviour.diagnosis, findings=ranked))
