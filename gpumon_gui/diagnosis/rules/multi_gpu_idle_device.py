"""Knows: a GPU that nobody uses beside one that has all it can do. Must not know: the other rules."""

from __future__ import annotations

from gpumon_gui.core.messages import N_
from gpumon_gui.diagnosis import advice, tuning
from gpumon_gui.diagnosis.behaviour.parts import Part, parts
from gpumon_gui.diagnosis.evidence import gpu_busy, measured, power_drawn, sm_activity
from gpumon_gui.diagnosis.facts import View
from gpumon_gui.diagnosis.finding import Confidence, Severity, Step
from gpumon_gui.diagnosis.rule import CLEAR, Help, Hit, Lacks, Outcome, Rule, Scope

#: Saturated: busy nearly all the time, with kernels that fill it; more GPUs do not help a program that feeds one badly.
_SATURATED = 0.85
_FILLED, _FILLED_BY_POWER = 0.5, 0.4
_IDLE = 0.03
_LEAST_S = 3.0

_OWN = N_("{used} has all it can do while {idle}, which the program has opened too, does nothing")


def _watch(view: View) -> Outcome:
    devices = [part for part in parts(view, "job.groups.devices") if part.number("busy") is not None]
    if not devices:
        return Lacks(("job.groups.devices",))
    if (view.number("job.program.seconds") or 0.0) < _LEAST_S:
        return Lacks(("job.program.seconds",))
    working = [part for part in devices if (part.number("busy") or 0.0) > _IDLE]
    full = [part for part in working if _saturated(part)]
    if not full or len(full) < len(working):
        return CLEAR
    own = [part for part in devices if (part.number("busy") or 0.0) <= _IDLE]
    spare = [*own, *parts(view, "job.groups.spare")]
    if not spare:
        return CLEAR
    values = {"used": ", ".join(part.label for part in full), "idle": ", ".join(part.label for part in spare)}
    evidence = tuple(
        measured(
            view,
            "job.groups",
            gpu_busy(part),
            sm_activity(part),
            power_drawn(part),
        )
        for part in (*full[:4], *spare[:4])
    )
    # Which GPUs the program may use (CUDA_VISIBLE_DEVICES, a share of a cluster) is not known.
    return Hit(Confidence.MEDIUM, evidence, values, title=_OWN if own else None)


def _saturated(part: Part) -> bool:
    if (part.number("busy") or 0.0) < _SATURATED:
        return False
    fill = part.number("fill")
    return fill is None or fill >= (_FILLED if part.text("work_source") == "sm" else _FILLED_BY_POWER)


def _advise(view: View, _hit: Hit) -> tuple[Step, ...]:
    return (
        *tuning.steps(view, "use-all-gpus"),
        advice.say(
            N_("If only one is meant to be used, nothing is wrong. What the program may see stands in its variable:"),
            "python -c \"import os; print(os.environ.get('CUDA_VISIBLE_DEVICES'))\"",
        ),
    )


RULE = Rule(
    code="multi-gpu-idle-device",
    scope=Scope.JOB,
    step=9,
    severity=Severity.SLOWS,
    title=N_("{used} has all it can do while {idle}, of the same kind, is not used by anybody"),
    help=Help(
        what=N_("Whether a GPU of the machine is unused while another has all it can do."),
        why=N_("With all GPUs the work would take a fraction of the time."),
        how=N_(
            "A GPU of the program is at least 85 percent busy with kernels that fill it; another of the same kind and "
            "memory is at most 2 percent busy, awake, not split, and holds nobody's memory."
        ),
        wrong=N_("The other GPU may be meant for somebody else, or for another program of yours that comes next."),
        todo=N_("Start one process per GPU, or run a second program there."),
    ),
    watch=_watch,
    advise=_advise,
)
