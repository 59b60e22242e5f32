"""Knows: what a probe gives. Must not know: any one of them.

**The contract.** A probe asks the gateway and nothing else, keeps nothing, translates nothing and judges nothing. What
it could not learn is absent from its facts, never false or zero. One probe, one file, one line in ``table.py``.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from threading import Event
from typing import Any

from gpumon_gui.diagnosis.facts import Signal
from gpumon_gui.diagnosis.gateway import Gateway
from gpumon_gui.diagnosis.logs.reader import LogFacts, read


@dataclass(frozen=True, slots=True)
class Found:
    """Facts as a nested mapping in the shape of the facts document, and what programs said meanwhile."""

    facts: Mapping[str, Any] = field(default_factory=dict)
    signals: tuple[Signal, ...] = ()


Probe = Callable[[Gateway, Event], Found]

NOTHING = Found()


def known(**facts: Any) -> dict[str, Any]:
    """The facts that are known: those that are not None."""
    return {name: value for name, value in facts.items() if value is not None}


def heard(text: str | bytes, origin: str) -> LogFacts:
    """What a program's words mean."""
    return read(text.encode("utf-8", "replace") if isinstance(text, str) else text, origin)


def merged(*parts: Mapping[str, Any]) -> dict[str, Any]:
    """Nested mappings as one; of two values for the same fact the earlier counts."""
    result: dict[str, Any] = {}
    for part in parts:
        for name, value in part.items():
            old = result.get(name)
            if isinstance(old, Mapping) and isinstance(value, Mapping):
                result[name] = merged(old, value)
            elif name not in result:
                result[name] = merged(value) if isinstance(value, Mapping) else value
    return result
