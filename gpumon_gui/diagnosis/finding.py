"""Knows: what the engine says: findings, clears, what was not evaluated. Must not know: rules, languages.

No sentences here: titles and advice are message ids with named parameters, translated where they are shown.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Final

from gpumon_gui.diagnosis.facts import Origin

#: What advice may need more of, and a cause be short of.
GPU_MEMORY: Final = "gpu-memory"
WORKERS: Final = "workers"  #: processes that load data, with the memory of the computer that each needs


class Severity(StrEnum):
    """What the cause does to the user, worst first."""

    BLOCKS = "blocks"  #: the GPU is not used at all
    CRASHES = "crashes"
    SLOWS = "slows"
    INFO = "info"  #: no fault


class Confidence(StrEnum):
    """How sure the evidence makes it."""

    HIGH = "high"
    MEDIUM = "medium"
    LOW = "low"


@dataclass(frozen=True, slots=True)
class Words:
    """A message id with named placeholders, and what is filled in: names and figures with their unit."""

    text: str
    values: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Evidence:
    """A fact or signal that decided: ``what`` is its path or kind, ``value`` it written out, in English.

    What was measured has more: ``words`` are what is shown instead of ``value``, in the user's language; ``number`` is
    the plain figure (unit as in the fact) where it is only one; ``start_utc_s`` and ``end_utc_s`` the time it is from.
    """

    what: str
    value: str
    origin: Origin
    words: tuple[Words, ...] = ()
    number: float | None = None
    start_utc_s: float | None = None
    end_utc_s: float | None = None


@dataclass(frozen=True, slots=True)
class Step:
    """One step of advice. ``text`` is a message id with named placeholders; ``command`` what to copy, already filled
    in; ``check`` tells a step that only verifies; ``takes``: what it needs more of (:data:`GPU_MEMORY`,
    :data:`WORKERS`)."""

    text: str
    values: Mapping[str, str] = field(default_factory=dict)
    command: str = ""
    check: bool = False
    takes: str = ""


@dataclass(frozen=True, slots=True)
class Finding:
    """One cause that holds. ``symptom_of`` names the finding (same subject or machine) that explains it."""

    code: str
    subject: str
    severity: Severity
    confidence: Confidence
    title: str
    values: Mapping[str, str] = field(default_factory=dict)
    evidence: tuple[Evidence, ...] = ()
    advice: tuple[Step, ...] = ()
    symptom_of: str | None = None
    rank: int = 0


@dataclass(frozen=True, slots=True)
class Clear:
    """A cause that was looked for and is not there."""

    code: str
    subject: str


@dataclass(frozen=True, slots=True)
class NotEvaluated:
    """A cause that could not be judged, and the facts that were missing (paths, or ``log``)."""

    code: str
    subject: str
    missing: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Bug:
    """A rule that raised: shown as a fault of GPUMon, never a lost report."""

    code: str
    subject: str
    error: str


class Verdict(StrEnum):
    """What is known of a framework in an environment."""

    PROVEN = "proven"
    CLAIMED = "claimed"  #: the framework says it sees a GPU; nobody computed on it yet, or it was not seen
    FAILS = "fails"
    NOT_MEASURED = "not_measured"
    NOT_INSTALLED = "not_installed"


@dataclass(frozen=True, slots=True)
class FrameworkVerdict:
    """``code`` is the finding that makes it fail, if any."""

    subject: str
    framework: str
    verdict: Verdict
    code: str | None = None
    device: str | None = None


@dataclass(frozen=True, slots=True)
class Diagnosis:
    """The whole answer, findings by rank."""

    verdicts: tuple[FrameworkVerdict, ...] = ()
    findings: tuple[Finding, ...] = ()
    clear: tuple[Clear, ...] = ()
    not_evaluated: tuple[NotEvaluated, ...] = ()
    bugs: tuple[Bug, ...] = ()
