"""Knows: a GPU and a program that both wait in each step. Must not know: the other causes."""

from __future__ import annotations

from gpumon_gui.core.messages import N_
from gpumon_gui.diagnosis import tuning
from gpumon_gui.diagnosis.behaviour.causes.picture import (
    DATA_RATE,
    FULL_CORE,
    READS,
    WELL_FED,
    at_work,
    core_count,
    counts,
    part,
    pauses,
    shares,
    transfer_confidence,
)
from gpumon_gui.diagnosis.facts import View
from gpumon_gui.diagnosis.finding import Confidence, Severity, Step
from gpumon_gui.diagnosis.rule import CLEAR, Hit, Lacks, Outcome

#: Shorter looks cannot tell even steps from chance.
_LEAST_S = 4.0
#: Requests that come by chance swing more; steps of one loop do not.
_EVEN = 0.25

_WAITS = N_(
    "GPU and program wait in turns: the GPU works {busy} of the time in even steps, the program uses {cores} of a "
    "core; waiting for results in each step (.item(), print) looks like this, so does pausing on purpose"
)
_LOOP = N_(
    "The GPU works {busy} of the time in even steps, and the program's one thread has its core full: it starts work, "
    "or waits for results, step by step"
)


def watch(view: View) -> Outcome:
    """Judge a program by its behaviour: a guess at best, since a wait has no sign of its own."""
    work = at_work(view, alone=True)
    if isinstance(work, Lacks):
        return work
    seen, busy = work
    if seen.main is None:
        return Lacks(("job.cpu.main",))
    if not seen.traffic_known:
        return Lacks(("job.transfers.rx_bytes_per_s",))
    if seen.seconds < _LEAST_S:
        return Lacks(("job.program.seconds",))
    if not 0.01 <= busy < WELL_FED or seen.devices > 1:
        return CLEAR
    if seen.variation is None or not seen.even(_EVEN) or pauses(view) or seen.gaps:
        return CLEAR
    if seen.workers_cores >= 0.5 or (seen.reads or 0.0) >= READS or transfer_confidence(seen) is not None:
        return CLEAR
    if (seen.rate or 0.0) >= DATA_RATE or (seen.copy_time or 0.0) >= 0.2:
        return CLEAR
    if seen.main < FULL_CORE:
        if seen.main < 0.05:
            return CLEAR
        title = _WAITS
    elif (seen.per_program or 0.0) < 1.2 and seen.size not in ("small", None):
        title = _LOOP
    else:
        return CLEAR
    evidence = (
        *shares(view, "job.activity.busy", "job.activity.kernels", "job.activity.fill", "job.phases.variation"),
        *counts(view, "job.cpu.main", "job.cpu.cores", "job.activity.power_w"),
    )
    values = {"busy": part(seen.busy), "cores": core_count(seen.main)}
    return Hit(Confidence.LOW, evidence, values, severity=Severity.INFO, title=title)


def advise(view: View, _hit: Hit) -> tuple[Step, ...]:
    """Look for waits; a larger batch makes them rarer."""
    return tuning.steps(view, "sync", "batch-size")
