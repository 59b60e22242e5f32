"""Knows: long phases on the CPU between phases on the GPU. Must not know: the other rules."""

from __future__ import annotations

from gpumon_gui.core.messages import N_
from gpumon_gui.diagnosis import tuning
from gpumon_gui.diagnosis.behaviour.causes.picture import amount, counts, look, lowered, part, pauses, shares, speeds
from gpumon_gui.diagnosis.facts import View
from gpumon_gui.diagnosis.finding import Confidence, Severity, Step
from gpumon_gui.diagnosis.rule import CLEAR, Help, Hit, Lacks, Outcome, Rule, Scope

#: Pauses that cost less are what evaluation costs.
_MATTERS = 0.1
_SURE, _LIKELY = 3, 2

_TITLE = N_(
    "The GPU pauses for {gap} s again and again ({share} of the time) while the CPU works ({cores} cores): evaluation, "
    "checkpoints or preparation between phases of work"
)


def _watch(view: View) -> Outcome:
    seen = look(view)
    if not view.known("job.phases.gaps"):
        return Lacks(("job.phases.gaps",))
    if seen.draws:
        return Lacks(("job.program.framework",))
    if seen.main is None:
        return Lacks(("job.cpu.main",))
    if not pauses(view):
        return CLEAR
    gaps = int(view.number("job.phases.gaps_enclosed") or 0)
    confidence = Confidence.HIGH if gaps >= _SURE else Confidence.MEDIUM if gaps >= _LIKELY else Confidence.LOW
    confidence = lowered(confidence, seen)
    share = view.number("job.phases.gap_share")
    evidence = (
        *counts(view, "job.phases.gaps_enclosed", "job.phases.gap_s", "job.phases.period_s"),
        *shares(view, "job.phases.gap_share", "job.phases.active"),
        *counts(view, "job.phases.cpu_in_gaps", "job.phases.cpu_in_work"),
        *speeds(view, "job.phases.write_in_gaps", "job.phases.read_in_gaps"),
    )
    values = {
        "gap": amount(view.number("job.phases.gap_s")),
        "share": part(share),
        "cores": amount(view.number("job.phases.cpu_in_gaps")),
    }
    mild = confidence is Confidence.LOW or (share or 0.0) < _MATTERS
    return Hit(confidence, evidence, values, Severity.INFO if mild else None)


def _advise(view: View, _hit: Hit) -> tuple[Step, ...]:
    return tuning.steps(view, "pauses")


RULE = Rule(
    code="gpu-idle-gaps-cpu-phase",
    scope=Scope.JOB,
    step=9,
    severity=Severity.SLOWS,
    title=_TITLE,
    help=Help(
        what=N_("Whether the GPU pauses while the program works on the CPU."),
        why=N_("Evaluation, metrics and checkpoints on the CPU stop the training for as long as they take."),
        how=N_(
            "Pauses of at least 1.5 seconds between phases in which the GPU is at least half busy; the program's CPU "
            "works, or it writes, and no loading processes that work all the time."
        ),
        wrong=N_("Programs that answer requests pause because nobody asks; their CPU rests then."),
        todo=N_("Do that work on the GPU, less often, or in the background."),
    ),
    watch=_watch,
    advise=_advise,
)
