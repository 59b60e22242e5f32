"""Knows: how a check reports what it saw. Must not know: what it saw."""

from __future__ import annotations

import ast
from typing import Any, Final

from gpumon_gui.diagnosis.facts import Origin, Signal
from gpumon_gui.diagnosis.script.reader import Script, quoted
from gpumon_gui.diagnosis.script.sign import JUDGED

#: Signals kept of each kind.
KEPT: Final = 8


class Found:
    """Collects signals of one script."""

    def __init__(self, script: Script) -> None:
        self._script = script
        self._lines = script.text.split("\n")
        self._signals: dict[tuple[str, int], Signal] = {}

    def add(self, kind: str, node: ast.AST, framework: str = "", **values: Any) -> None:
        """A sign at the line of a node. The same kind counts once in a line."""
        line = getattr(node, "lineno", 1)
        source, shown = self._script.place(line)
        key = (f"{kind} {values.get('code', '')}", line)
        signal = Signal(kind, Origin(source, shown), framework, values, quoted(self._lines, line))
        self._signals.setdefault(key, signal)

    def judged(self, code: str, node: ast.AST, framework: str = "") -> None:
        """The script holds what the rule of this code looks at."""
        self.add(JUDGED, node, framework, code=code)

    def signals(self) -> tuple[Signal, ...]:
        """In the order of lines, at most :data:`KEPT` of a kind."""
        kept: dict[str, int] = {}
        found = []
        for (key, _line), signal in sorted(self._signals.items(), key=lambda item: item[0][1]):
            kept[key] = kept.get(key, 0) + 1
            if kept[key] <= KEPT:
                found.append(signal)
        return tuple(found)
