"""Knows: kernels that the GPU's memory limits. Must not know: the other rules."""

from __future__ import annotations

from gpumon_gui.core.messages import N_
from gpumon_gui.diagnosis import tuning
from gpumon_gui.diagnosis.behaviour.causes.picture import LEAST_S, look, lowered, part, shares
from gpumon_gui.diagnosis.facts import View
from gpumon_gui.diagnosis.finding import Confidence, Severity, Step
from gpumon_gui.diagnosis.rule import CLEAR, Help, Hit, Lacks, Outcome, Rule, Scope

#: Of the theoretical bandwidth. What copies within the memory reach is 80 to 90 percent; kernels at two thirds of that
#: wait for memory most of their time (NVIDIA's DCGM guide calls 80 percent the practical maximum).
_LIKELY, _SURE = 0.6, 0.65
#: Tensor cores that are busier than this are as much of a limit.
_TENSOR = 0.4
_BUSY = 0.6
#: Without counters: share of the busy time in which memory was read or written at all. Training reaches 0.7.
_CONTROLLER = 0.8

_TITLE = N_(
    "Reading memory is the limit: {dram} of the bandwidth is in use while kernels run; normal for small batches"
)
_GUESS = N_("Reading memory seems to be the limit: the memory controller works {controller} of the time")


def _watch(view: View) -> Outcome:
    seen = look(view)
    dram, kernels = view.number("job.precision.dram"), view.number("job.precision.kernels")
    controller = view.number("job.precision.memory_controller")
    if seen.busy is None or (dram is None and controller is None):
        return Lacks(("job.precision.dram",))
    if seen.seconds < LEAST_S:
        return Lacks(("job.program.seconds",))
    values = {"dram": part(dram), "controller": part(controller)}
    evidence = shares(
        view,
        "job.precision.dram",
        "job.precision.memory_controller",
        "job.precision.tensor",
        "job.activity.busy",
        "job.activity.sm",
    )
    if dram is not None:
        if dram < _LIKELY or (kernels or 0.0) < _BUSY or (view.number("job.precision.tensor") or 0.0) > _TENSOR:
            return CLEAR
        return Hit(lowered(Confidence.HIGH if dram >= _SURE else Confidence.MEDIUM, seen), evidence, values)
    if (controller or 0.0) < _CONTROLLER * seen.busy or seen.busy < _CONTROLLER:
        return CLEAR
    return Hit(Confidence.LOW, evidence, values, title=_GUESS)


def _advise(view: View, _hit: Hit) -> tuple[Step, ...]:
    return tuning.steps(view, "larger-batch", "bandwidth")


RULE = Rule(
    code="memory-bandwidth-bound",
    scope=Scope.JOB,
    step=9,
    severity=Severity.INFO,
    title=_TITLE,
    help=Help(
        what=N_("Whether reading and writing the GPU's memory is the limit."),
        why=N_(
            "A language model that writes one text reads all its weights for each token: no arithmetic unit can be "
            "busy then. That is no fault."
        ),
        how=N_(
            "At least 60 percent of the memory bandwidth in use while kernels run (hardware counter). Without "
            "counters: the memory controller works at least 80 percent of the time in which the GPU does."
        ),
        wrong=N_("The memory controller's share counts time, not amount: it is a hint only."),
        todo=N_("Larger batches, fewer bits per weight, fused kernels."),
    ),
    watch=_watch,
    advise=_advise,
)
