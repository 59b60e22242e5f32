"""Knows: how a verdict follows a program that runs: what is kept, when it is judged, when it can be relied on.
Must not know: features, rules, who shows it.

Feed every sample with :meth:`Watcher.add`; ask :meth:`Watcher.verdict` as often as it is shown (every second or two).
Belongs to one thread; a verdict is frozen and may cross.

What is judged: the steady part within the last :data:`NOW_S`; phases and slow growth are looked for in everything that
is kept. A change of the workload cuts the steady part where it shows in load, power or CPU. Where it does not (the same
load, other precision), the last :data:`LAST_S` alone are judged beside: when they say something else for a while, the
work is another one since then.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final

from gpumon_gui.core.model import Sample
from gpumon_gui.diagnosis.behaviour.judge import Behaviour, judge_window
from gpumon_gui.diagnosis.behaviour.rolling import Rolling
from gpumon_gui.diagnosis.behaviour.spans import Span, spans
from gpumon_gui.diagnosis.behaviour.window import Window
from gpumon_gui.diagnosis.finding import Confidence, Diagnosis, Finding, Severity
from gpumon_gui.diagnosis.rule import Rule
from gpumon_gui.diagnosis.rules.table import RULES

#: What is kept: phases of evaluation and slow leaks need minutes, a verdict about now needs the last seconds.
KEPT_S: Final = 300.0
#: The steady part is looked for in so much: work that alternates (a step of seconds, a pause for data) shows its
#: pattern several times in a minute.
NOW_S: Final = 60.0
#: A verdict may be called stable after so much of the steady part: eight times what NVML's figures look back at most.
ENOUGH_S: Final = 8.0
#: … and when it has been the same for so long. A new one must last longer: while a change passes through the
#: window, what is seen is a mixture.
AGREED_S, CHANGED_S = 3.0, 5.0
#: A program that has just begun imports its framework, reads its data, compiles: that it does nothing on a GPU yet says
#: nothing before it is so old; where its age is unknown, before it was seen for so long.
START_UP_S, UNKNOWN_START_S = 30.0, 15.0
_NOT_YET: Final = frozenset(("code-runs-on-cpu", "no-gpu-workload", "workload-cpu-bound-by-environment"))
#: Busy for less than this share of the time nothing was done on a GPU.
_WORKS: Final = 0.05
#: Below this share of the time the GPU is not worth a verdict "nothing holds it back".
_FED: Final = 0.5
#: Two ways to tell when a process started differ by less (boot time and ticks on Linux).
_SAME_START_S: Final = 2.0
#: What is judged by itself, to notice another kind of work under the same load.
LAST_S: Final = 10.0
#: A guess counts there too, where what was said does not hold any more for so long.
_GUESSED_S: Final = 7.0
#: Findings about a pattern that is longer than that: a part of it says something else by nature.
_PATTERNS: Final = frozenset(("gpu-idle-gaps-cpu-phase", "gpu-memory-growing"))
#: What comes and goes by nature is gone when it was not seen for so many of its periods, and a minute.
_RETURNS: Final = frozenset(("gpu-idle-gaps-cpu-phase",))
_PERIODS: Final = 4.0
_MOST_TURNS: Final = 1000
#: Times are told in seconds: two that are closer are one.
_SAME_TIME_S: Final = 1.0

#: What is said, and since when on both clocks.
_Said = tuple[tuple[str, str] | None, float, float]
#: A finding about what comes and goes, until when it is there, and for how long after it was seen.
_Pattern = tuple[Finding, float, float]


@dataclass(frozen=True, slots=True)
class Turn:
    """From ``utc_s`` on the stable verdict was ``finding`` (None: nothing to say; ``is_idle``: though the GPU did
    little)."""

    utc_s: float
    finding: Finding | None
    is_idle: bool = False


@dataclass(frozen=True, slots=True)
class Verdict:
    """What can be said now. ``primary``: the finding that says it best, None when there is none. ``stable``: enough
    was seen, and it said the same before; ``needs_s``: seconds still to watch until it can be (0 when stable).
    ``steady_s``: how much of one kind of work was judged. ``since_utc_s``: since when ``primary`` is the same.
    ``history``: the stable verdicts so far, oldest first."""

    behaviour: Behaviour
    primary: Finding | None
    stable: bool
    needs_s: float
    steady_s: float
    since_utc_s: float
    spans: tuple[Span, ...] = ()
    history: tuple[Turn, ...] = ()


class Watcher:
    """Follows one program (``pid``; ``started_utc_s`` pins it to this very process), or whatever uses a GPU."""

    def __init__(
        self,
        pid: int | None = None,
        given: Mapping[str, Any] | None = None,
        rules: Sequence[Rule] = RULES,
        kept_s: float = KEPT_S,
        now_s: float = NOW_S,
        started_utc_s: float | None = None,
    ) -> None:
        self._pid = pid
        self._given = dict(given or {})
        self._rules = rules
        self._kept_s = kept_s
        self._now_s = now_s
        self._started_utc_s = started_utc_s
        self._rolling = Rolling()
        self._said: _Said | None = None
        self._other: _Said | None = None
        self._last: Finding | None = None
        self._pattern: _Pattern | None = None
        self._from_s = -math.inf
        self._turns: list[Turn] = []

    def add(self, sample: Sample) -> None:
        """Take a sample. A step back in time (a replay was rewound) starts over."""
        if sample.monotonic_s < self._rolling.last_s:
            self._rolling, self._said, self._other, self._turns = Rolling(), None, None, []
            self._from_s, self._pattern = -math.inf, None
        self._rolling.add(self._pinned(sample))
        self._rolling.forget_before(sample.monotonic_s - self._kept_s)

    def verdict(self) -> Verdict | None:
        """What can be said now; None before the second sample. Costs milliseconds."""
        if len(self._rolling) < 2:
            return None
        window = self._rolling.window()
        now_s, now_utc_s = float(window.times_s[-1]), float(window.utc_s[-1])
        behaviour = self._judged(window, min(self._now_s, now_s - self._from_s))
        behaviour = self._with_pattern(behaviour, now_s)
        other = self._other_work(window, behaviour.diagnosis)
        behaviour = other or behaviour
        jobs = tuple(behaviour.document.facts["jobs"])
        finding = self._primary(behaviour.diagnosis)
        said = _key(finding)
        if self._said is None or said != self._said[0]:
            self._said = (said, now_s, now_utc_s)
        steady_s = _steady_s(jobs, finding, window.seconds)
        is_change = bool(self._turns) and _key(self._turns[-1].finding) != said
        enough_s = max(ENOUGH_S - steady_s, self._start_up_s(window, jobs, finding))
        needs_s = max(0.0, enough_s, (CHANGED_S if is_change else AGREED_S) - (now_s - self._said[1]))
        if is_change and other is None and not self._last_agrees(finding):
            needs_s = max(needs_s, CHANGED_S)
        if needs_s == 0.0:
            self._turn(finding, now_utc_s - steady_s, finding is None and does_little(jobs))
        return Verdict(
            behaviour,
            finding,
            needs_s == 0.0,
            needs_s,
            steady_s,
            self._said[2],
            spans(window, jobs, behaviour.diagnosis.findings),
            tuple(self._turns),
        )

    def _primary(self, diagnosis: Diagnosis) -> Finding | None:
        """As :func:`primary`, but what was said goes on while it is seen and nothing else counts for more: figures that
        lie at a limit must not make it take turns with another finding."""
        best = primary(diagnosis)
        before = _key(self._turns[-1].finding) if self._turns else None
        same = next((one for one in diagnosis.findings if _key(one) == before), None)
        if best is not None and self._turns and before is None and best.code in _RETURNS and not _returns(best):
            return None  # one pause is none that returns
        if best is None or same is None or same.symptom_of is not None:
            return best
        return best if _acts(best) and (not _acts(same) or _weight(best) > _weight(same)) else same

    def _with_pattern(self, behaviour: Behaviour, now_s: float) -> Behaviour:
        """Pauses that return are there, and as bad, until they were not seen for some periods: as long as the program
        works and nothing else is found to slow it down."""
        diagnosis, jobs = behaviour.diagnosis, behaviour.document.facts["jobs"]
        held, until_s, hold_s = self._pattern or (None, -math.inf, 0.0)
        held = held if now_s <= until_s else None
        patterns = (one for one in diagnosis.findings if one.code in _RETURNS)
        seen = next((one for one in patterns if held is None or _key(one) == _key(held)), None)
        if held is not None and seen is not None and not _returns(seen):  # one pause at least
            until_s = now_s + hold_s
        if seen is not None and _returns(seen) and (held is None or _weight(seen) >= _weight(held)):
            period_s = _fact(_job_of(jobs, seen), "phases", "period_s") or 0.0
            hold_s = max(NOW_S, _PERIODS * period_s)
            self._pattern = (seen, now_s + hold_s, hold_s)
            return behaviour
        if held is None or any(_acts(one) and _key(one) != _key(held) for one in diagnosis.findings):
            self._pattern = None
            return behaviour
        self._pattern = (held, until_s, hold_s)
        job = next((job for job in jobs if job.get("subject") == held.subject), None)
        if (_fact(job, "activity", "busy") or 0.0) < _WORKS:
            return behaviour
        now = held if seen is None else replace(seen, severity=held.severity, confidence=held.confidence)
        rest = tuple(one for one in diagnosis.findings if _key(one) != _key(held))
        findings = (now, *rest) if _acts(held) else (*rest, now)
        return replace(behaviour, diagnosis=replace(diagnosis, findings=findings))

    def _judged(self, window: Window, recent_s: float) -> Behaviour:
        return judge_window(window, self._pid, self._given, self._rules, recent_s, now=True)

    def _start_up_s(self, window: Window, jobs: Sequence[Mapping[str, Any]], finding: Finding | None) -> float:
        """How long the program may still be starting, where nothing of it was seen on a GPU."""
        job = _job_of(jobs, finding)
        works = (_fact(job, "activity", "busy") or 0.0) >= _WORKS
        if self._turns and any(_key(turn.finding) == _key(finding) for turn in self._turns):
            return 0.0
        if job is None or (finding is None and works) or (finding is not None and finding.code not in _NOT_YET):
            return 0.0
        pid = job.get("program", {}).get("pid")
        started = next((one.last.started_utc_s for one in window.processes if one.pid == pid), None)
        if started is None:
            return UNKNOWN_START_S - window.seconds
        return START_UP_S - (float(window.utc_s[-1]) - started)

    def _last_agrees(self, finding: Finding | None) -> bool:
        """Whether the last seconds alone say so too: a mixture of old and new work may say a third thing."""
        return _key(self._last) == _key(finding) or (finding is not None and finding.code in _PATTERNS)

    def _other_work(self, window: Window, so_far: Diagnosis) -> Behaviour | None:
        """What is judged now, where it has been another kind of work for a while; None while it is the same."""
        now_s = float(window.times_s[-1])
        before, other = primary(so_far), None
        self._last = before
        if now_s - max(self._from_s, float(window.times_s[0])) > LAST_S + CHANGED_S and (
            before is None or before.code not in _PATTERNS
        ):
            last = self._judged(window, LAST_S)
            finding = self._last = primary(last.diagnosis)
            known = {_key(one) for one in so_far.findings}
            still = before is None or _key(before) in {_key(one) for one in last.diagnosis.findings}
            if finding is not None and _key(finding) not in known and (_acts(finding) or not still):
                other = finding
        if other is None:
            self._other = None
        elif self._other is None or self._other[0] != _key(other):
            self._other = (_key(other), now_s, float(window.utc_s[-1]))
        elif now_s - self._other[1] >= (CHANGED_S if _acts(other) else _GUESSED_S):
            self._said, self._other, self._from_s = self._other, None, now_s - LAST_S
            return last
        return None

    def _turn(self, finding: Finding | None, steady_utc_s: float, is_idle: bool) -> None:
        """Note a stable verdict. It holds since its steady part began or, where that is also what something else was
        said of, since it was said first."""
        if self._turns and _key(self._turns[-1].finding) == _key(finding):
            return
        since_utc_s = steady_utc_s
        if self._turns and self._said is not None and since_utc_s < self._turns[-1].utc_s + _SAME_TIME_S:
            since_utc_s = self._said[2]
        self._turns = [*self._turns[-_MOST_TURNS:], Turn(since_utc_s, finding, is_idle)]

    def _pinned(self, sample: Sample) -> Sample:
        """Without another process that got the same pid later."""
        wanted = self._started_utc_s
        if wanted is None or not any(
            process.pid == self._pid and not _same_start(process.started_utc_s, wanted) for process in sample.processes
        ):
            return sample
        return replace(
            sample,
            processes=tuple(
                process
                for process in sample.processes
                if process.pid != self._pid or _same_start(process.started_utc_s, wanted)
            ),
        )


def primary(diagnosis: Diagnosis) -> Finding | None:
    """The finding that says it best: a cause that is no guess, else the first one of any kind; None without any."""
    acting = (finding for finding in diagnosis.findings if _acts(finding) and finding.symptom_of is None)
    return next(acting, next(iter(diagnosis.findings), None))


def does_little(jobs: Sequence[Mapping[str, Any]]) -> bool:
    """Whether the GPU of one of these jobs (facts) works for less than half of the time."""
    return any((_fact(job, "activity", "busy") or 0.0) < _FED for job in jobs)


def _acts(finding: Finding) -> bool:
    """A fault, and no guess."""
    return finding.severity is not Severity.INFO and finding.confidence is not Confidence.LOW


def _returns(finding: Finding) -> bool:
    """Seen more than once."""
    return finding.code in _RETURNS and finding.confidence is not Confidence.LOW


def _weight(finding: Finding) -> tuple[int, int]:
    """What counts for more is larger."""
    severities, confidences = list(Severity), list(Confidence)
    return -severities.index(finding.severity), -confidences.index(finding.confidence)


def _key(finding: Finding | None) -> tuple[str, str] | None:
    return None if finding is None else (finding.code, finding.subject)


def _same_start(seen_utc_s: float | None, wanted_utc_s: float) -> bool:
    return seen_utc_s is None or abs(seen_utc_s - wanted_utc_s) <= _SAME_START_S


def _steady_s(jobs: Sequence[Mapping[str, Any]], finding: Finding | None, seen_s: float) -> float:
    """How much was judged of the job that the finding is about; everything without a job."""
    seconds = _fact(_job_of(jobs, finding), "program", "seconds")
    return seen_s if seconds is None else seconds


def _fact(job: Mapping[str, Any] | None, group: str, name: str) -> float | None:
    """A number that is known of a job."""
    part = job.get(group) if job is not None else None
    found = part.get(name) if isinstance(part, Mapping) else None
    return float(found) if isinstance(found, int | float) else None


def _job_of(jobs: Sequence[Mapping[str, Any]], finding: Finding | None) -> Mapping[str, Any] | None:
    """The job that a finding is about, else the first one; None without any."""
    subject = finding.subject if finding is not None else ""
    return next((job for job in jobs if job.get("subject") == subject), jobs[0] if jobs else None)
