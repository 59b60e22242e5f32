"""How often the diagnosis names the right cause of labelled cases. Run: ``python -m tests.benchmarks.score_cases``.

A file of cases (``tests/data/cases.jsonl`` unless another is given) holds one JSON object a line: ``id``, ``kind``,
``facts``, ``log``, ``cause_code``, ``accept``, ``decidable``, ``label``. Scored are the decidable ones of the kinds
*environment* and *log*. The facts and the log go the way that ``gpumon diagnose --facts --log`` goes; nothing else of
a case is shown to it. Exit code 1 when a goal for the strong labels (maintainer, author confirmed) is missed.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from gpumon_gui.diagnosis.engine import diagnose
from gpumon_gui.diagnosis.facts_file import parse
from gpumon_gui.diagnosis.finding import Confidence, Finding
from gpumon_gui.diagnosis.logs.reader import read
from gpumon_gui.diagnosis.rules.table import RULES

CASES = Path(__file__).parents[1] / "data" / "cases.jsonl"
KINDS = ("environment", "log")
STRONG = ("maintainer", "author confirmed")
PRIMARY_GOAL, FIRST_THREE_GOAL, WRONG_GOAL = 85.0, 95.0, 3.0


@dataclass(frozen=True)
class Scored:
    """One case and what was said about it, by rank."""

    name: str
    strong: bool
    right: frozenset[str]
    found: tuple[Finding, ...]
    bugs: tuple[str, ...]

    @property
    def primary(self) -> bool:
        return bool(self.found) and self.found[0].code in self.right

    @property
    def first_three(self) -> bool:
        return any(finding.code in self.right for finding in self.found[:3])

    @property
    def wrong_and_sure(self) -> bool:
        return bool(self.found) and not self.primary and self.found[0].confidence is Confidence.HIGH


def score(case: dict[str, Any]) -> Scored:
    """Diagnose one case."""
    document = parse(case["facts"])
    if case["log"] is not None:
        document = read(case["log"].encode()).merge_into(document)
    diagnosis = diagnose(document, RULES)
    return Scored(
        case["id"],
        case["label"] in STRONG,
        frozenset((case["cause_code"], *case["accept"])),
        diagnosis.findings,
        tuple(f"{bug.code}: {bug.error}" for bug in diagnosis.bugs),
    )


def load(path: Path) -> list[dict[str, Any]]:
    """The cases that count."""
    cases = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines() if line.strip()]
    return [case for case in cases if case["kind"] in KINDS and case["decidable"]]


def percentages(scored: Sequence[Scored]) -> tuple[float, float, float]:
    """Primary right, right among the first three, primary wrong with high confidence."""
    total = len(scored) or 1
    counts = (
        sum(case.primary for case in scored),
        sum(case.first_three for case in scored),
        sum(case.wrong_and_sure for case in scored),
    )
    primary, first_three, wrong = (100 * count / total for count in counts)
    return primary, first_three, wrong


def main(words: Sequence[str] | None = None) -> int:
    """Print the score and what was confused with what."""
    parser = argparse.ArgumentParser(description="score the diagnosis on labelled cases")
    parser.add_argument("file", nargs="?", type=Path, default=CASES)
    scored = [score(case) for case in load(parser.parse_args(words).file)]
    strong = [case for case in scored if case.strong]
    print(f"{'labels':8} {'cases':>5} {'primary':>8} {'first 3':>8} {'wrong, sure':>12}")
    for name, group in (("all", scored), ("strong", strong)):
        primary, first_three, wrong = percentages(group)
        print(f"{name:8} {len(group):5} {primary:7.1f}% {first_three:7.1f}% {wrong:11.1f}%")
    if any(not case.primary for case in scored):
        print("\nnot primary (* strong label, ! wrong and sure, 3 among the first three):")
    for case in scored:
        if not case.primary:
            marks = "".join(
                mark if true else " "
                for mark, true in (("*", case.strong), ("!", case.wrong_and_sure), ("3", case.first_three))
            )
            said = ", ".join(f"{finding.code} ({finding.confidence})" for finding in case.found[:3]) or "nothing"
            print(f"{marks} {case.name}: {' or '.join(sorted(case.right))}, said: {said}")
    for case in scored:
        for bug in case.bugs:
            print(f"rule raised in {case.name}: {bug}")
    primary, first_three, wrong = percentages(strong)
    reached = primary >= PRIMARY_GOAL and first_three >= FIRST_THREE_GOAL and wrong <= WRONG_GOAL
    return 0 if reached and not any(case.bugs for case in scored) else 1


if __name__ == "__main__":
    sys.exit(main())
