"""Knows: what changed between two diagnoses of the same things. Must not know: how they came about, how it is shown."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from enum import StrEnum

from gpumon_gui.diagnosis.ask import Result
from gpumon_gui.diagnosis.finding import Finding
from gpumon_gui.diagnosis.given import PASTED


class Change(StrEnum):
    """Of one finding, by its code and subject."""

    GONE = "gone"  #: it was looked for again and is not there
    UNKNOWN = "unknown"  #: it could not be judged this time
    NEW = "new"
    STILL = "still"


@dataclass(frozen=True, slots=True)
class Changed:
    """A finding and what became of it; of one that is gone it is the old finding."""

    finding: Finding
    change: Change


def compare(before: Result, after: Result, subjects: Collection[str] | None = None) -> tuple[Changed, ...]:
    """What became of the findings of these subjects (None: all); those that are gone first, each group by rank.

    A new finding is told whatever its subject: what was fixed in one place may show in another. What only a pasted
    text shows cannot change and is no news: it is left out.
    """
    old = {(finding.code, finding.subject): finding for finding in before.diagnosis.findings}
    new = {(finding.code, finding.subject): finding for finding in after.diagnosis.findings}
    unknown = {
        (entry.code, entry.subject)
        for entry in after.diagnosis.not_evaluated
        if not all(_is_unset(fact, after) for fact in entry.missing)
    }
    unknown |= {(bug.code, bug.subject) for bug in after.diagnosis.bugs}
    gone = [
        Changed(finding, Change.UNKNOWN if key in unknown else Change.GONE)
        for key, finding in old.items()
        if key not in new
    ]
    come = [Changed(finding, Change.NEW) for key, finding in new.items() if key not in old]
    still = [
        Changed(finding, Change.STILL)
        for key, finding in new.items()
        if key in old and (subjects is None or finding.subject in subjects) and not is_pasted(finding, after)
    ]
    return (*gone, *come, *still)


def is_pasted(finding: Finding, result: Result) -> bool:
    """Whether all that shows a finding stands in a text that was pasted."""
    sources = {evidence.origin.source for evidence in finding.evidence}
    return bool(result.ask.given.log_text.strip()) and sources == {PASTED}


def _is_unset(fact: str, result: Result) -> bool:
    """Whether a fact is missing because it is not there any more: variables are read all or not at all."""
    return fact.startswith("environment.") and "environment" in result.document.facts
