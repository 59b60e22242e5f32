"""Knows: the case files of the rules (``cases/<code>.json``). Must not know: any rule.

A file is a list of ``{"name", "expect": "hit" | "clear" | "lacks", "facts"?, "log"?, "signals"?, "confidence"?,
"severity"?, "says"?: [texts in title, advice or commands], "not_says"?}``. ``expect`` is what the rule alone answers.
``facts`` lacks the schema key: it is added here. ``signals`` stand for a log whose message has no pattern yet.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import cache
from pathlib import Path
from typing import Any

from gpumon_gui.diagnosis.facts import SCHEMA, Document, Origin, Signal
from gpumon_gui.diagnosis.facts_file import parse
from gpumon_gui.diagnosis.finding import Finding
from gpumon_gui.diagnosis.logs.reader import LogFacts, read

CASES = Path(__file__).parent / "cases"
EXPECTATIONS = ("hit", "clear", "lacks")


@dataclass(frozen=True)
class Case:
    """One look at one rule. ``code`` is the file's name."""

    code: str
    name: str
    expect: str
    facts: Mapping[str, Any] = field(default_factory=dict)
    log: str | None = None
    signals: tuple[Mapping[str, Any], ...] = ()
    confidence: str | None = None
    severity: str | None = None
    says: tuple[str, ...] = ()
    not_says: tuple[str, ...] = ()

    def document(self) -> Document:
        """What the command line would make of it."""
        document = read_document({"schema": SCHEMA, **self.facts}, self.log)
        signals = tuple(
            Signal(
                signal["kind"],
                Origin("log"),
                signal.get("framework", ""),
                signal.get("values", {}),
                signal.get("text", ""),
            )
            for signal in self.signals
        )
        return replace(document, signals=document.signals + signals, log_given=document.log_given or bool(signals))


def read_document(facts: Mapping[str, Any], log: str | None) -> Document:
    """Facts and log joined by the public path."""
    document = parse(facts)
    if log is None:
        return document
    return _read(log).merge_into(document)


@cache
def _read(log: str) -> LogFacts:
    return read(log.encode())


def load(path: Path) -> list[Case]:
    """The cases of a file. Raises ValueError naming the case when it is not what the format says."""
    cases = []
    for entry in json.loads(path.read_text(encoding="utf-8")):
        where = f"{path.name}: {entry.get('name', '?')}"
        unknown = entry.keys() - Case.__dataclass_fields__.keys() | entry.keys() & {"code"}
        if unknown:
            raise ValueError(f"{where}: unknown keys {sorted(unknown)}")
        lists = {key: tuple(entry[key]) for key in ("signals", "says", "not_says") if key in entry}
        case = Case(code=path.stem, **{**entry, **lists})
        if case.expect not in EXPECTATIONS:
            raise ValueError(f"{where}: expect is one of {EXPECTATIONS}")
        cases.append(case)
    return cases


def load_all() -> list[Case]:
    """Every case, file by file."""
    return [case for path in sorted(CASES.glob("*.json")) for case in load(path)]


def spoken(finding: Finding) -> str:
    """Everything the finding tells a user, filled in. Raises KeyError or IndexError for a placeholder without value."""
    parts = [finding.title.format(**finding.values)]
    for step in finding.advice:
        parts += [step.text.format(**step.values), step.command]
    return "\n".join(parts)
