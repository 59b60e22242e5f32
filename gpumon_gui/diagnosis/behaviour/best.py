"""Knows: which of some findings says it best, and when two say the same. Must not know: rules, time."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from gpumon_gui.diagnosis.finding import Confidence, Finding, Severity

_SEVERITIES, _CONFIDENCES = tuple(Severity), tuple(Confidence)

Key = tuple[str, str]


def primary(findings: Sequence[Finding]) -> Finding | None:
    """A cause that is no guess, else the first one of any kind; None without any."""
    acting = (finding for finding in findings if acts(finding) and finding.symptom_of is None)
    return next(acting, next(iter(findings), None))


def acts(finding: Finding) -> bool:
    """A fault, and no guess."""
    return finding.severity is not Severity.INFO and finding.confidence is not Confidence.LOW


def key(finding: Finding | None) -> Key | None:
    """The same for findings that say the same of the same program, however sure and however bad."""
    return None if finding is None else (finding.code, finding.subject)


def same(findings: Iterable[Finding], other: Finding | None) -> Finding | None:
    """The one that says the same as another; None where none does."""
    return next((finding for finding in findings if key(finding) == key(other)), None)


def weight(finding: Finding) -> tuple[int, int]:
    """What counts for more is larger: how bad, then how sure."""
    return -_SEVERITIES.index(finding.severity), -_CONFIDENCES.index(finding.confidence)


def is_milder(finding: Finding, other: Finding) -> bool:
    """Whether it is less bad, however sure it is."""
    return _SEVERITIES.index(finding.severity) > _SEVERITIES.index(other.severity)
