"""Knows: what a rule is. Must not know: any one of them.

**The contract.** One file per code in ``rules/``, one line in ``rules/table.py``, one case file. A rule is data plus a
pure check over a :class:`View`; it opens no file, runs nothing, keeps nothing, and contains no finished sentence. Its
texts are marked with ``N_`` and carry named placeholders. It answers one of three things: *hit*, *clear*, *not
evaluated* with the facts that were missing. Never guess: what the evidence does not decide is not evaluated, or a hit
of low confidence.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from enum import Enum
from typing import Any, Final

from gpumon_gui.diagnosis.facts import UNKNOWN, Signal, View
from gpumon_gui.diagnosis.finding import Confidence, Evidence, Severity, Step


class Scope(Enum):
    """What a rule is about."""

    MACHINE = "machine"
    ENVIRONMENT = "environment"
    JOB = "job"  #: a program that was watched


@dataclass(frozen=True, slots=True)
class Hit:
    """The cause holds. ``severity`` overrides the rule's own where the evidence decides; ``advice`` likewise."""

    confidence: Confidence
    evidence: tuple[Evidence, ...]
    values: Mapping[str, str] = field(default_factory=dict)
    severity: Severity | None = None
    title: str | None = None


@dataclass(frozen=True, slots=True)
class Lacks:
    """Not evaluated: these facts (paths, or ``log``) would decide."""

    missing: tuple[str, ...]


class Answer(Enum):
    """The cause was looked for and is not there."""

    CLEAR = "clear"


CLEAR: Final = Answer.CLEAR
Outcome = Hit | Lacks | Answer


@dataclass(frozen=True, slots=True)
class Help:
    """The page behind a finding; every field is a message id.

    what it looks for · why it matters · how it is decided (with thresholds and their source) · when it is wrong · what
    to do.
    """

    what: str
    why: str
    how: str
    wrong: str
    todo: str


def no_advice(_view: View, _hit: Hit) -> tuple[Step, ...]:
    """For causes without a fault."""
    return ()


@dataclass(frozen=True, slots=True)
class Rule:
    """``step`` is the place in the order of questions (1 interpreter … 9 behaviour): an earlier cause is primary.

    ``frameworks``: the ones it can stop (empty: every one). ``needs``: groups of alternatives; a group of which
    nothing is known makes the rule *not evaluated*. An alternative is a path or ``signal:KIND``. ``explains``: codes
    that are only symptoms when this cause holds. ``precedes``: codes that hold beside it and matter only after it;
    where it is certain it blocks, and stands before them. ``short_of``: what there is too little of where it holds; no
    finding beside it advises to take more of that. ``fallback``: it says that there is a fault, not
    which, and is left out where a cause is found that stops the framework.

    ``check`` judges facts and what was printed, once for each subject of ``scope``. ``watch`` judges behaviour: facts
    below ``job.`` and ``window.``, once for each program that was watched (or for the machine, where ``watch_scope``
    says so). A rule has either or both; one of scope JOB has only ``watch``.
    """

    code: str
    scope: Scope
    step: int
    severity: Severity
    title: str
    help: Help
    check: Callable[[View], Outcome] | None = None
    needs: tuple[tuple[str, ...], ...] = ()
    advise: Callable[[View, Hit], tuple[Step, ...]] = no_advice
    explains: tuple[str, ...] = ()
    precedes: tuple[str, ...] = ()
    short_of: tuple[str, ...] = ()
    fallback: bool = False
    frameworks: tuple[str, ...] = ()
    links: tuple[str, ...] = ()
    watch: Callable[[View], Outcome] | None = None
    watch_scope: Scope = Scope.JOB


def cite(view: View, *paths: str) -> tuple[Evidence, ...]:
    """Evidence from facts; unknown ones are left out."""
    found = ((path, view.get(path)) for path in paths)
    return tuple(Evidence(path, _written(value), view.origin(path)) for path, value in found if value is not UNKNOWN)


def _written(value: Any) -> str:
    """A fact in one line, as a person would write it: of what stands in a list the name, and what tells it apart."""
    if value is None:
        return "null"
    if isinstance(value, Mapping):
        return ", ".join(f"{name} {_written(entry)}" for name, entry in value.items())
    if not isinstance(value, list | tuple):
        return str(value)
    return ", ".join(_entry(one) if isinstance(one, Mapping) else _written(one) for one in value) or "[]"


def _entry(one: Mapping[str, Any]) -> str:
    name = next((str(one[key]) for key in ("name", "path", "vendor") if one.get(key)), "?")
    more = [str(one[key]) for key in ("version", "compute_capability", "access") if one.get(key)]
    return f"{name} ({', '.join(more)})" if more else name


def quote(*signals: Signal | None) -> tuple[Evidence, ...]:
    """Evidence from what was printed."""
    return tuple(Evidence(signal.kind, signal.text, signal.origin) for signal in signals if signal is not None)


def said(kind: str, confidence: Confidence) -> Callable[[View], Outcome]:
    """The check of a rule that one message in a log decides."""

    def check(view: View) -> Outcome:
        signal = view.signal(kind)
        return Hit(confidence, quote(signal)) if signal is not None else Lacks(("log",))

    return check


def lacking(view: View, needs: tuple[tuple[str, ...], ...]) -> tuple[str, ...]:
    """The facts missing from the first group of which nothing is known; empty when all groups are served."""
    for group in needs:
        if not any(_is_there(view, wanted) for wanted in group):
            paths = tuple(wanted for wanted in group if not wanted.startswith("signal:"))
            return paths or ("log",)
    return ()


def _is_there(view: View, wanted: str) -> bool:
    kind = wanted.removeprefix("signal:")
    return view.known(wanted) if kind == wanted else view.signal(kind) is not None
