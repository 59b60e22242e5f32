"""Knows: how a verdict follows a program that runs: what is kept, when it is judged, when it can be relied on.
Must not know: features, rules, who shows it.

Feed every sample with :meth:`Watcher.add`; ask :meth:`Watcher.verdict` as often as it is shown. Belongs to one thread;
a verdict is frozen and may cross.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from gpumon_gui.core.model import Sample
from gpumon_gui.diagnosis.behaviour.judge import Behaviour, judge
from gpumon_gui.diagnosis.rule import Rule
from gpumon_gui.diagnosis.rules.table import RULES

#: What is kept: phases of evaluation and slow leaks need minutes, a verdict about now needs the last seconds.
KEPT_S: Final = 300.0
#: A verdict may be called stable after so much of the steady part.
ENOUGH_S: Final = 10.0


@dataclass(frozen=True, slots=True)
class Span:
    """A part of the time line that shows a finding: UTC seconds; ``code`` of the finding, ``subject`` as there."""

    code: str
    subject: str
    start_utc_s: float
    end_utc_s: float


@dataclass(frozen=True, slots=True)
class Verdict:
    """What can be said now. ``stable``: enough was seen, and it said the same before; ``needs_s``: seconds still to
    watch until it can be (0 when stable). ``since_utc_s``: since when the primary finding is the same."""

    behaviour: Behaviour
    stable: bool
    needs_s: float
    since_utc_s: float
    spans: tuple[Span, ...] = ()


class Watcher:
    """Follows one program (``pid``), or whatever uses a GPU."""

    def __init__(
        self,
        pid: int | None = None,
        given: Mapping[str, Any] | None = None,
        rules: Sequence[Rule] = RULES,
        kept_s: float = KEPT_S,
    ) -> None:
        self._pid = pid
        self._given = dict(given or {})
        self._rules = rules
        self._kept_s = kept_s
        self._samples: deque[Sample] = deque()
        self._codes: frozenset[tuple[str, str]] = frozenset()
        self._since_utc_s = 0.0

    def add(self, sample: Sample) -> None:
        """Take a sample. A step back in time (a replay was rewound) starts over."""
        if self._samples and sample.monotonic_s < self._samples[-1].monotonic_s:
            self._samples.clear()
        self._samples.append(sample)
        while self._samples[0].monotonic_s < sample.monotonic_s - self._kept_s:
            self._samples.popleft()

    def verdict(self) -> Verdict | None:
        """What can be said now; None before the second sample."""
        if len(self._samples) < 2:
            return None
        behaviour = judge(tuple(self._samples), self._pid, self._given, self._rules)
        codes = frozenset((finding.code, finding.subject) for finding in behaviour.diagnosis.findings)
        if codes != self._codes or not self._since_utc_s:
            self._codes = codes
            self._since_utc_s = self._samples[-1].utc_s
        seen_s = self._samples[-1].monotonic_s - self._samples[0].monotonic_s
        needs_s = max(0.0, ENOUGH_S - seen_s)
        return Verdict(behaviour, needs_s == 0.0, needs_s, self._since_utc_s)
