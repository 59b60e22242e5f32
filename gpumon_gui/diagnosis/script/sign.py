"""Knows: how much a sign in a script weighs, and how signs become a hit. Must not know: any rule, how scripts are read.

A script shows what was written, not what ran: only what forces one behaviour is certain.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Final

from gpumon_gui.diagnosis.facts import Signal, View
from gpumon_gui.diagnosis.finding import Confidence, Severity, Step
from gpumon_gui.diagnosis.rule import CLEAR, Hit, Outcome, quote

#: The script holds what a rule looks at, whether or not it is at fault; ``values["code"]`` says which rule.
JUDGED: Final = "script-judged"
#: What the evidence of one finding quotes at most.
_QUOTED: Final = 8
_ORDER = tuple(Confidence)


@dataclass(frozen=True, slots=True)
class Sign:
    """What a kind of signal means. ``better``: message id of the advice; ``code``: the better form, to copy.

    ``title`` and ``severity`` override the rule's own. Both texts may name ``{place}`` ("train.py:12") and whatever
    the signal's values hold.
    """

    kind: str
    confidence: Confidence
    better: str
    code: str = ""
    title: str | None = None
    severity: Severity | None = None


def needs(*signs: Sign) -> tuple[str, ...]:
    """For the rule's group of alternatives."""
    return (*(f"signal:{sign.kind}" for sign in signs), f"signal:{JUDGED}")


def judged(view: View, code: str) -> bool:
    """Whether a script was read that holds what the rule of this code looks at."""
    return any(signal.values.get("code") == code for signal in view.signals(JUDGED))


def with_script(view: View, outcome: Outcome, code: str, signs: tuple[Sign, ...]) -> Outcome:
    """What log and facts said, joined by what a script shows: evidence of a hit, or a hit or clear of its own."""
    found = [(sign, signal) for sign in signs for signal in view.signals(sign.kind)]
    if not found:
        return outcome if isinstance(outcome, Hit) or not judged(view, code) else CLEAR
    signals = sorted(
        (signal for _, signal in found), key=lambda signal: (signal.origin.source, signal.origin.line or 0)
    )
    evidence = quote(*signals[:_QUOTED])
    if isinstance(outcome, Hit):
        return replace(outcome, evidence=outcome.evidence + evidence)
    # The surest first; of equals the one that weighs more, then the one that stands first in the rule's list.
    sign, signal = min(found, key=lambda pair: (_ORDER.index(pair[0].confidence), pair[0].severity is Severity.INFO))
    return Hit(sign.confidence, evidence, _values(signal), severity=sign.severity, title=sign.title)


def advise(view: View, signs: tuple[Sign, ...]) -> tuple[Step, ...]:
    """The better form for each sign that was found. Signs with the same one share a step, which names their places."""
    found: dict[tuple[str, str], list[dict[str, str]]] = {}
    for sign in signs:
        signal = view.signal(sign.kind)
        if signal is not None:
            found.setdefault((sign.better, sign.code), []).append(_values(signal))
    return tuple(
        Step(text, {**values[0], "place": ", ".join(sorted(one["place"] for one in values))}, code)
        for (text, code), values in found.items()
    )


def _values(signal: Signal) -> dict[str, str]:
    origin = signal.origin
    place = origin.source if origin.line is None else f"{origin.source}:{origin.line}"
    return {**{name: str(value) for name, value in signal.values.items()}, "kind": signal.kind, "place": place}
