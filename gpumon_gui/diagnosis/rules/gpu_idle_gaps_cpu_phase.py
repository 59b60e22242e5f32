"""Knows: long phases on the CPU between phases on the GPU. Must not know: the other rules."""

from __future__ import annotations

from gpumon_gui.core.formatters import cores, speed
from gpumon_gui.core.messages import N_
from gpumon_gui.diagnosis import tuning
from gpumon_gui.diagnosis.behaviour.causes.picture import (
    CPU_WORKS,
    READS,
    SEVERAL_CORES,
    WRITES,
    amount,
    counts,
    look,
    lowered,
    part,
    pauses,
    shares,
    speeds,
)
from gpumon_gui.diagnosis.evidence import measured, told
from gpumon_gui.diagnosis.facts import View
from gpumon_gui.diagnosis.finding import Confidence, Evidence, Severity, Step
from gpumon_gui.diagnosis.rule import CLEAR, Help, Hit, Lacks, Outcome, Rule, Scope

#: Pauses that cost less are what evaluation costs.
_MATTERS = 0.1
_SURE, _LIKELY = 3, 2
#: CPU in the pauses and between them differs by more than what ticks and other threads make of it.
_MORE = 1.3

_TITLE = N_(
    "The GPU pauses for {gap} s about every {period} s ({share} of the time) while the CPU works ({cores} cores): "
    "evaluation, checkpoints or preparation between phases of work"
)
_WRITING = N_(
    "The GPU pauses for {gap} s about every {period} s ({share} of the time) while the program writes to disk "
    "({speed}): checkpoints between phases of work"
)
_ONCE = N_("The GPU paused once for {gap} s between phases of work; whether it will happen again is not known yet")


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
    share, cpu = view.number("job.phases.gap_share"), view.number("job.phases.cpu_in_gaps")
    evidence = (
        *counts(view, "job.phases.gaps_enclosed", "job.phases.gap_s", "job.phases.period_s"),
        *shares(view, "job.phases.gap_share", "job.phases.active"),
        *_cpu(view),
        *_disk(view),
    )
    values = {
        "gap": amount(view.number("job.phases.gap_s")),
        "period": amount(view.number("job.phases.period_s")),
        "share": part(share),
        "cores": cores(cpu or 0.0),
        "speed": speed(view.number("job.phases.write_in_gaps") or 0.0),
    }
    mild = confidence is Confidence.LOW or (share or 0.0) < _MATTERS
    title = _ONCE if gaps < _LIKELY else _WRITING if (cpu or 0.0) < CPU_WORKS else _TITLE
    return Hit(confidence, evidence, values, Severity.INFO if mild else None, title=title)


def _cpu(view: View) -> tuple[Evidence, ...]:
    """What the CPU does in the pauses, as far as that says anything."""
    paths = ("job.phases.cpu_in_gaps", "job.phases.cpu_in_work")
    inside, between = (view.number(path) for path in paths)
    if inside is None or inside < CPU_WORKS:
        return ()
    if between is None or inside * _MORE < between:
        return counts(view, paths[0])
    if inside > between * _MORE:
        return counts(view, *paths)
    if inside < SEVERAL_CORES:
        alike = N_("{cores}, as between them: the program itself works then, in one thread")
    else:
        alike = N_("{cores}, as between them: the program itself works then")
    return (measured(view, paths[0], told(alike, cores=cores(inside))),)


def _disk(view: View) -> tuple[Evidence, ...]:
    """Traffic that takes time."""
    least = {"job.phases.write_in_gaps": WRITES, "job.phases.read_in_gaps": READS}
    return speeds(view, *(path for path, rate in least.items() if (view.number(path) or 0.0) >= rate))


def _advise(view: View, hit: Hit) -> tuple[Step, ...]:
    if hit.title == _ONCE:
        return ()
    shorter = tuning.steps(view, "pauses")
    saving = tuning.steps(view, "checkpoints-of-ranks" if look(view).programs > 1 else "checkpoints")
    if hit.title == _WRITING:
        return saving or shorter
    writes = view.number("job.phases.write_in_gaps")
    return shorter if writes is not None and writes < WRITES else (*shorter, *saving)


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
