"""Knows: work on the CPU, outside of loading data, that a small GPU load waits for. Must not know: the other rules."""

from __future__ import annotations

from gpumon_gui.core.messages import N_
from gpumon_gui.diagnosis import tuning
from gpumon_gui.diagnosis.behaviour.causes.picture import (
    DATA_RATE,
    LEAST_S,
    at_work,
    core_count,
    counts,
    lowered,
    part,
    shares,
    speeds,
    transfer_confidence,
)
from gpumon_gui.diagnosis.facts import View
from gpumon_gui.diagnosis.finding import Confidence, Severity, Step
from gpumon_gui.diagnosis.rule import CLEAR, Help, Hit, Lacks, Outcome, Rule, Scope

#: A GPU that is asked now and then: half a percent, since the driver counts whole ones.
_LEAST_BUSY, _MOST_BUSY = 0.005, 0.5
#: Where kernels cannot be told large from small (too few, or whole percents of memory time are all there is), nearly
#: nothing may be copied.
_FEW_KERNELS, _HARDLY_COPIED = 0.03, 30e6
#: More CPU than one loop that starts kernels.
_CORES = 1.8

_TITLE = N_(
    "The CPU is the limit: {cores} cores work while the GPU does {busy} of the time, in small kernels; little is "
    "copied, so it is rather a simulator or other computation than loading data"
)


def _watch(view: View) -> Outcome:
    work = at_work(view, alone=True)
    if isinstance(work, Lacks):
        return work
    seen, busy = work
    unclear = (seen.size is None and busy < _FEW_KERNELS) or (seen.size == "between" and seen.size_by == "memory")
    unclear = unclear and seen.rate is not None and seen.rate < _HARDLY_COPIED
    if seen.size is None and not unclear:
        return Lacks(("job.activity.size",))
    if seen.cores is None:
        return Lacks(("job.cpu.cores",))
    if seen.seconds < LEAST_S:
        return Lacks(("job.program.seconds",))
    if (
        not (unclear or seen.size == "small")
        or not _LEAST_BUSY <= busy <= _MOST_BUSY
        or (seen.per_program or 0.0) < _CORES
    ):
        return CLEAR
    if seen.workers_full or (seen.rate or 0.0) >= DATA_RATE or transfer_confidence(seen) is not None:
        return CLEAR  # processes that never wait for the program prepare data
    several = seen.workers >= 2 and seen.workers_cores >= 1.0
    if unclear and not several:
        return CLEAR  # threads of the program may do anything
    confidence = lowered(Confidence.MEDIUM if several and seen.size_by != "memory" else Confidence.LOW, seen)
    evidence = (
        *counts(view, "job.cpu.cores", "job.cpu.main", "job.cpu.workers", "job.cpu.workers_cores"),
        *shares(view, "job.activity.busy", "job.activity.fill", "job.activity.load"),
        *speeds(view, "job.transfers.rx_bytes_per_s"),
    )
    values = {"cores": core_count(seen.cores), "busy": part(busy)}
    return Hit(confidence, evidence, values, Severity.INFO if confidence is Confidence.LOW else None)


def _advise(view: View, _hit: Hit) -> tuple[Step, ...]:
    return tuning.steps(view, "environments")


RULE = Rule(
    code="workload-cpu-bound-by-environment",
    scope=Scope.JOB,
    step=9,
    severity=Severity.SLOWS,
    title=_TITLE,
    help=Help(
        what=N_("Whether the GPU waits for computation on the CPU that is no loading of data."),
        why=N_("In reinforcement learning the simulator often takes the time, and a faster GPU changes nothing."),
        how=N_(
            "Two cores and more work, in processes that also wait; kernels are small (see workload-too-small), and "
            "little is copied to the GPU."
        ),
        wrong=N_("Loading data for a very small model looks alike."),
        todo=N_("More environments at once, or a simulator that runs on the GPU."),
    ),
    watch=_watch,
    advise=_advise,
)
