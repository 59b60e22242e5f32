"""Time for all rules over a full set of facts. Budget: 50 ms.

Run: ``python -m tests.benchmarks.bench_rules``. The facts are those of all cases of the rules together: a machine,
eight environments and a signal of every kind, so that no rule stops at a missing fact.
"""

from __future__ import annotations

import statistics
import sys
import time
from collections.abc import Mapping
from typing import Any

from gpumon_gui.diagnosis.engine import diagnose
from gpumon_gui.diagnosis.facts import ENVIRONMENT_KEYS, Document, Signal
from gpumon_gui.diagnosis.rules.table import RULES
from tests.rules.case import load_all

BUDGET_MS = 50.0
ROUNDS = 50
ENVIRONMENTS = 8


def full_document() -> Document:
    """Every fact and every kind of signal that a case has."""
    facts: dict[str, Any] = {}
    signals: dict[str, Signal] = {}
    for case in load_all():
        document = case.document()
        _fill(facts, document.facts)
        for signal in document.signals:
            signals.setdefault(signal.kind, signal)
    own = {key: facts.pop(key) for key in ENVIRONMENT_KEYS if key in facts}
    facts["environments"] = [
        {**own, "interpreter": {**own.get("interpreter", {}), "path": f"/env{index}/bin/python"}}
        for index in range(ENVIRONMENTS)
    ]
    return Document(facts, tuple(signals.values()), log_given=True)


def _fill(into: dict[str, Any], facts: Mapping[str, Any]) -> None:
    for key, value in facts.items():
        if isinstance(value, Mapping):
            _fill(into.setdefault(key, {}), value)
        else:
            into.setdefault(key, value)


def main() -> int:
    """Print the median; 1 when it is over the budget."""
    document = full_document()
    diagnose(document, RULES)  # reads the compatibility tables
    spent = []
    for _ in range(ROUNDS):
        start = time.perf_counter()
        diagnosis = diagnose(document, RULES)
        spent.append(time.perf_counter() - start)
    median = statistics.median(spent) * 1000
    print(
        f"{len(RULES)} rules, {ENVIRONMENTS} environments, {len(document.signals)} kinds of signals: "
        f"{median:.1f} ms (budget {BUDGET_MS:.0f} ms), {len(diagnosis.findings)} findings"
    )
    return 0 if median <= BUDGET_MS else 1


if __name__ == "__main__":
    sys.exit(main())
