"""Knows: how a verdict follows a program that runs: what is kept, when it is judged, when it can be relied on.
Must not know: features, rules, who shows it.

Feed every sample with :meth:`Watcher.add`; ask :meth:`Watcher.verdict` as often as it is shown (every second or two).
Belongs to one thread; a verdict is frozen and may cross.

What is judged: the steady part within the last :data:`NOW_S`; phases and slow growth are looked for in everything that
is kept. A change of the workload cuts the steady part where it shows in load, power or CPU; where it does not (the same
load, other precision), :mod:`~gpumon_gui.diagnosis.behaviour.other_work` notices it. What comes and goes is kept by
:mod:`~gpumon_gui.diagnosis.behaviour.returning`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, Final

from gpumon_gui.core.model import Sample
from gpumon_gui.diagnosis.behaviour.best import acts, is_milder, key, primary, same, weight
from gpumon_gui.diagnosis.behaviour.job_facts import does_little, job_of, number, works
from gpumon_gui.diagnosis.behaviour.judge import Behaviour, judge_window
from gpumon_gui.diagnosis.behaviour.other_work import CHANGED_S, OtherWork, Since
from gpumon_gui.diagnosis.behaviour.returning import Returning, comes_and_goes, returns
from gpumon_gui.diagnosis.behaviour.rolling import Rolling
from gpumon_gui.diagnosis.behaviour.spans import ENOUGH_S, Span, spans
from gpumon_gui.diagnosis.behaviour.window import Window
from gpumon_gui.diagnosis.finding import Finding, Severity
from gpumon_gui.diagnosis.rule import Rule
from gpumon_gui.diagnosis.rules.table import RULES

#: What is kept: phases of evaluation and slow leaks need minutes, a verdict about now needs the last seconds.
KEPT_S: Final = 300.0
#: The steady part is looked for in so much: work that alternates (a step of seconds, a pause for data) shows its
#: pattern several times in a minute.
NOW_S: Final = 60.0
#: A verdict may be called stable after ``ENOUGH_S`` of the steady part, and when it was the same for so long. A new one
#: must last longer (``CHANGED_S``): while a change passes through the window, what is seen is a mixture.
AGREED_S: Final = 3.0
#: What is at a limit is now bad and now not: it is called as bad as it was said to be until it was not for so long.
_MILD_S: Final = 60.0
#: A program that has just begun imports its framework, reads its data, compiles: that it does nothing on a GPU yet says
#: nothing before it is so old; where its age is unknown, before it was seen for so long.
START_UP_S, UNKNOWN_START_S = 30.0, 15.0
_NOT_YET: Final = frozenset(("code-runs-on-cpu", "no-gpu-workload", "workload-cpu-bound-by-environment"))
_MOST_TURNS: Final = 1000
#: Times are told in seconds: two that are closer are one.
_SAME_TIME_S: Final = 1.0

Jobs = Sequence[Mapping[str, Any]]
#: What a verdict says: of a finding its code, its subject, how bad it is; None: nothing is to be said.
_Saying = tuple[str, str, Severity] | None


@dataclass(frozen=True, slots=True)
class Turn:
    """From ``utc_s`` on the stable verdict was ``finding`` (None: nothing to say; ``is_idle``: though the GPU did
    little)."""

    utc_s: float
    finding: Finding | None
    is_idle: bool = False


@dataclass(frozen=True, slots=True)
class Verdict:
    """What can be said now. ``primary``: the finding of ``behaviour`` that says it best, None when there is none.
    ``stable``: enough was seen, and it said the same before; ``needs_s``: seconds still to watch until it can be (0
    when stable). ``steady_s``: how much of one kind of work was judged. ``history``: the stable verdicts so far, oldest
    first; one of another severity is another one."""

    behaviour: Behaviour
    primary: Finding | None
    stable: bool
    needs_s: float
    steady_s: float
    spans: tuple[Span, ...] = ()
    history: tuple[Turn, ...] = ()


class Watcher:
    """Follows one program (``pid``; ``started_utc_s`` pins it to this very process), or whatever uses a GPU."""

    _saying: tuple[_Saying, Since] | None
    _turns: list[Turn]

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
        self._start_over()

    def add(self, sample: Sample) -> None:
        """Take a sample. A step back in time (a replay was rewound) starts over."""
        if sample.monotonic_s < self._rolling.last_s:
            self._start_over()
        self._rolling.add(self._pinned(sample))
        self._rolling.forget_before(sample.monotonic_s - self._kept_s)

    def verdict(self) -> Verdict | None:
        """What can be said now; None before the second sample. Costs milliseconds."""
        if len(self._rolling) < 2:
            return None
        window = self._rolling.window()
        now = Since(float(window.times_s[-1]), float(window.utc_s[-1]))
        judged = partial(judge_window, window, self._pid, self._given, self._rules, now=True)
        behaviour = judged(min(self._now_s, now.now_s - self._other_work.from_s))
        behaviour = self._returning.carry(behaviour, now.now_s)
        other = self._other_work.look(window, behaviour.diagnosis.findings, judged)
        if other is not None:
            behaviour = other[0]
        finding = self._as_said(self._best(behaviour.diagnosis.findings), now)
        behaviour = _with(behaviour, finding)
        if other is not None:
            self._saying = (_saying(finding), other[1])
        elif self._saying is None or self._saying[0] != _saying(finding):
            self._saying = (_saying(finding), now)
        jobs: tuple[Mapping[str, Any], ...] = tuple(behaviour.document.facts["jobs"])
        steady_s = _steady_s(jobs, finding, window.seconds)
        needs_s = max(
            0.0,
            ENOUGH_S - steady_s,
            self._start_up_s(window, jobs, finding),
            self._disagreed_s(finding, now, self._saying[1], is_other=other is not None),
        )
        if needs_s == 0.0:
            self._turn(finding, now.utc_s - steady_s, self._saying[1], finding is None and does_little(jobs))
        found = spans(window, jobs, behaviour.diagnosis.findings)
        return Verdict(behaviour, finding, needs_s == 0.0, needs_s, steady_s, found, tuple(self._turns))

    # -- what is said

    def _best(self, findings: Sequence[Finding]) -> Finding | None:
        """As :func:`primary`, but what was said goes on while it is seen and nothing else counts for more: figures that
        lie at a limit must not make it take turns with another finding. One pause is none that returns: it may be told
        beside the verdict."""
        findings = [one for one in findings if returns(one) or not comes_and_goes(one)]
        best = primary(findings)
        before = self._before
        going_on = same(findings, before) if before is not None else None
        if best is None or going_on is None or going_on.symptom_of is not None:
            return best
        if acts(best) and (not acts(going_on) or weight(best) > weight(going_on)):
            return best
        return going_on

    def _as_said(self, finding: Finding | None, now: Since) -> Finding | None:
        """The finding, as bad as it was said to be while it was so a short time ago."""
        before = self._before
        if finding is None or before is None or key(finding) != key(before) or not is_milder(finding, before):
            self._so_bad_s = now.now_s
        elif now.now_s - self._so_bad_s <= _MILD_S:
            return replace(finding, severity=before.severity, confidence=before.confidence)
        return finding

    @property
    def _before(self) -> Finding | None:
        """What was said last; None where nothing was, or that there is nothing to say."""
        return self._turns[-1].finding if self._turns else None

    def _turn(self, finding: Finding | None, steady_utc_s: float, said: Since, is_idle: bool) -> None:
        """Note a stable verdict. It holds since its steady part began or, where that is also what something else was
        said of, since it was said first."""
        if self._turns and _saying(self._before) == _saying(finding):
            return
        since_utc_s = steady_utc_s
        if self._turns and since_utc_s < self._turns[-1].utc_s + _SAME_TIME_S:
            since_utc_s = said.utc_s
        self._turns = [*self._turns[-_MOST_TURNS:], Turn(since_utc_s, finding, is_idle)]

    # -- what is still needed

    def _disagreed_s(self, finding: Finding | None, now: Since, said: Since, *, is_other: bool) -> float:
        """How much longer the same must be said."""
        is_change = bool(self._turns) and _saying(self._before) != _saying(finding)
        if is_change and not is_other and self._other_work.denies(finding):
            return CHANGED_S
        return (CHANGED_S if is_change else AGREED_S) - (now.now_s - said.now_s)

    def _start_up_s(self, window: Window, jobs: Jobs, finding: Finding | None) -> float:
        """How long the program may still be starting, where nothing of it was seen on a GPU."""
        if any(key(turn.finding) == key(finding) for turn in self._turns):
            return 0.0
        job = job_of(jobs, finding)
        is_unclear = not works(job) if finding is None else finding.code in _NOT_YET
        if job is None or not is_unclear:
            return 0.0
        pid = job.get("program", {}).get("pid")
        started = next((one.last.started_utc_s for one in window.processes if one.pid == pid), None)
        if started is None:
            return UNKNOWN_START_S - window.seconds
        return START_UP_S - (float(window.utc_s[-1]) - started)

    # -- what is kept

    def _start_over(self) -> None:
        self._rolling = Rolling()
        self._returning = Returning()
        self._other_work = OtherWork()
        self._saying = None
        self._so_bad_s = 0.0
        self._turns = []

    def _pinned(self, sample: Sample) -> Sample:
        """Without another process that got the same pid later."""
        pid, started_utc_s = self._pid, self._started_utc_s
        if pid is None or started_utc_s is None:
            return sample
        kept = tuple(one for one in sample.processes if one.pid != pid or one.is_same(pid, started_utc_s))
        return sample if len(kept) == len(sample.processes) else replace(sample, processes=kept)


def _with(behaviour: Behaviour, said: Finding | None) -> Behaviour:
    """What was found, with one of the findings as bad as it is said to be."""
    if said is None or said in behaviour.diagnosis.findings:
        return behaviour
    findings = tuple(said if key(one) == key(said) else one for one in behaviour.diagnosis.findings)
    return replace(behaviour, diagnosis=replace(behaviour.diagnosis, findings=findings))


def _saying(finding: Finding | None) -> _Saying:
    return None if finding is None else (finding.code, finding.subject, finding.severity)


def _steady_s(jobs: Jobs, finding: Finding | None, seen_s: float) -> float:
    """How much was judged of the job that the finding is about; everything without a job."""
    seconds = number(job_of(jobs, finding), "program", "seconds")
    return seen_s if seconds is None else seconds
