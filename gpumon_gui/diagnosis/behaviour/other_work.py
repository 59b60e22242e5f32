"""Knows: when a program does another kind of work that its load does not show. Must not know: rules, how it is judged.

The last :data:`LAST_S` are judged by themselves. When they say something else for a while, the work is another one
since they began.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Final

from gpumon_gui.diagnosis.behaviour.best import Key, acts, key, primary, same
from gpumon_gui.diagnosis.behaviour.judge import Behaviour
from gpumon_gui.diagnosis.behaviour.window import Window
from gpumon_gui.diagnosis.finding import Finding

#: What is judged by itself.
LAST_S: Final = 10.0
#: It must say the same for so long; a guess for longer, and only where what was said does not hold any more.
CHANGED_S, _GUESSED_S = 5.0, 7.0
#: Findings about a pattern that is longer than that: a part of it says something else by nature.
_PATTERNS: Final = frozenset(("gpu-idle-gaps-cpu-phase", "gpu-memory-growing"))


@dataclass(frozen=True, slots=True)
class Since:
    """When something was seen first, on both clocks."""

    now_s: float
    utc_s: float


class OtherWork:
    """Follows one watch. ``from_s``: since when the work is this one (monotonic)."""

    def __init__(self) -> None:
        self.from_s = -math.inf
        self._last: Key | None = None
        self._seen: tuple[Key | None, Since] | None = None

    def look(
        self, window: Window, findings: Sequence[Finding], judged: Callable[[float], Behaviour]
    ) -> tuple[Behaviour, Since] | None:
        """What the work of now is, and since when that was seen, where it has been another one for a while than
        ``findings`` are about; None while it is the same. ``judged``: judges so many of the last seconds."""
        now = Since(float(window.times_s[-1]), float(window.utc_s[-1]))
        before = primary(findings)
        self._last = key(before)
        has_room = now.now_s - max(self.from_s, float(window.times_s[0])) > LAST_S + CHANGED_S
        if not has_room or (before is not None and before.code in _PATTERNS):
            self._seen = None
            return None
        last = judged(LAST_S)
        other = primary(last.diagnosis.findings)
        self._last = key(other)
        if other is None or same(findings, other) is not None or not (acts(other) or _is_over(before, last)):
            self._seen = None
            return None
        if self._seen is None or self._seen[0] != self._last:
            self._seen = (self._last, now)
        since = self._seen[1]
        if now.now_s - since.now_s < (CHANGED_S if acts(other) else _GUESSED_S):
            return None
        self._seen, self.from_s = None, now.now_s - LAST_S
        return last, since

    def denies(self, finding: Finding | None) -> bool:
        """Whether the last seconds alone say something else: a mixture of old and new work may say a third thing."""
        return self._last != key(finding) and (finding is None or finding.code not in _PATTERNS)


def _is_over(before: Finding | None, last: Behaviour) -> bool:
    """Whether what was said does not hold for the last seconds."""
    return before is not None and same(last.diagnosis.findings, before) is None
