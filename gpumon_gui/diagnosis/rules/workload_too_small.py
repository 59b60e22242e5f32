"""Knows: kernels so small that starting them takes the time. Must not know: the other rules."""

from __future__ import annotations

from gpumon_gui.core.messages import N_
from gpumon_gui.diagnosis import in_profile, tuning
from gpumon_gui.diagnosis.behaviour.causes.picture import (
    DATA_RATE,
    FULL_CORE,
    LEAST_S,
    Picture,
    at_work,
    cautious,
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

#: Whole percents: less is noise.
_LEAST_BUSY = 0.02
#: Cores of one process; more is work besides starting kernels.
_MOST_CORES = 1.6
#: A GPU that is always busy with kernels that do not fill it.
_ALWAYS = 0.9
#: Commands for kernels that are started all the time, bytes per second. A kernel that hangs needs none.
_STARTS = 5e6
#: By the time of the memory controller alone, in whole percents: so little of the busy time, in a GPU that waits.
_HARDLY_MEMORY, _RARE = 0.1, 0.5
#: Half full kernels of few threads each, started by one full core without a pause.
_HALF_FULL, _FEW_THREADS, _EVEN = 0.6, 0.15, 0.2

_MEDIAN = "profile.kernel_median_us"
_LAUNCH = N_(
    "Each step is too small for this GPU: it works {busy} of the time with kernels that fill {fill} of it, and one "
    "core is busy starting them"
)
_POWER = N_(
    "Each step is too small for this GPU: it works {busy} of the time and draws hardly more than idle ({power} W), and "
    "one core is busy starting kernels"
)
_BUSY_CPU = N_(
    "Each step is too small for this GPU: it works {busy} of the time with kernels that fill {fill} of it, while the "
    "program keeps {cores} cores busy"
)
_FULL = N_("Each kernel is too small for this GPU: it is always busy, and {fill} of it has work")


def _check(view: View) -> Outcome:
    return in_profile.weighed(in_profile.kernels_too_short(view), Lacks((_MEDIAN,)))


def _watch(view: View) -> Outcome:
    work = at_work(view, alone=True)
    if isinstance(work, Lacks):
        return work
    seen, busy = work
    if seen.size is None:
        return Lacks(("job.activity.size",))
    if seen.seconds < LEAST_S:
        return Lacks(("job.program.seconds",))
    if not seen.traffic_known:
        return Lacks(("job.transfers.rx_bytes_per_s",))  # small copies look the same
    if busy < _LEAST_BUSY or (seen.size == "full" and not _half_full(view, seen)):
        return CLEAR
    if transfer_confidence(seen) is not None or _ranks_talk(view, seen):
        return CLEAR
    if seen.main is None:
        return Lacks(("job.cpu.main",))
    if seen.workers_full or (seen.rate or 0.0) >= DATA_RATE:
        return CLEAR
    several = (seen.per_program or 0.0) > _MOST_CORES
    confidence = _confidence(view, seen, busy)
    if confidence is None:
        return CLEAR
    if several:
        # What the other cores do may be the limit: only that kernels are small is seen.
        if seen.size_by != "sm" or not seen.even(_EVEN):
            return CLEAR
        confidence = cautious(confidence)
    confidence = lowered(confidence, seen)
    fill, power = view.number("job.activity.fill"), view.number("job.activity.power_w")
    title = _POWER if fill is None else _FULL if busy >= _ALWAYS else _BUSY_CPU if several else _LAUNCH
    values = {
        "busy": part(busy),
        "fill": part(fill),
        "power": "?" if power is None else f"{power:.0f}",
        "cores": core_count(seen.cores),
    }
    evidence = (
        *shares(view, "job.activity.busy", "job.activity.fill", "job.activity.occupancy", "job.activity.load"),
        *counts(view, "job.activity.power_w", "job.activity.waiting_power_w", "job.cpu.main"),
        *shares(view, "job.activity.memory_controller", "job.phases.variation"),
        *speeds(view, "job.transfers.rx_bytes_per_s"),
    )
    severity = Severity.INFO if confidence is Confidence.LOW or seen.main < FULL_CORE else None
    return Hit(confidence, evidence, values, severity, title)


def _confidence(view: View, seen: Picture, busy: float) -> Confidence | None:
    launches = (seen.main or 0.0) >= FULL_CORE
    even = seen.even(_EVEN)
    if seen.size == "small":
        best = {"sm": Confidence.HIGH, "power": Confidence.MEDIUM}.get(seen.size_by or "", Confidence.LOW)
        if busy >= _ALWAYS:
            if (seen.rate or 0.0) < _STARTS:
                return None  # a hang looks the same
            return Confidence.MEDIUM if seen.size_by == "sm" else Confidence.LOW
        if launches:
            return best if even else Confidence.MEDIUM if best is Confidence.HIGH else Confidence.LOW
        return None
    if not launches or not even or busy >= _ALWAYS:
        return None
    if seen.size_by == "memory":
        hardly = (view.number("job.activity.memory") or 0.0) <= _HARDLY_MEMORY
        return Confidence.LOW if hardly and busy <= _RARE else None
    if seen.size_by != "sm":
        return None
    if (view.number("job.activity.occupancy") or 1.0) > 2 * _FEW_THREADS:
        return None
    return Confidence.MEDIUM if seen.size == "between" else Confidence.LOW


def _half_full(view: View, seen: Picture) -> bool:
    fill, occupancy = view.number("job.activity.fill"), view.number("job.activity.occupancy")
    return (
        seen.size_by == "sm"
        and fill is not None
        and fill < _HALF_FULL
        and occupancy is not None
        and occupancy < _FEW_THREADS * (seen.kernels or 1.0)
    )


def _ranks_talk(view: View, seen: Picture) -> bool:
    """Kernels of several GPUs that wait for each other fill few of their units too."""
    peer = view.number("job.transfers.peer_bytes_per_s")
    return seen.devices > 1 and (peer is None or peer >= 10e6)


def _advise(view: View, _hit: Hit) -> tuple[Step, ...]:
    return tuning.steps(view, "batch-size", "compile", "cuda-graphs")


RULE = Rule(
    code="workload-too-small",
    scope=Scope.MACHINE,
    step=9,
    severity=Severity.SLOWS,
    title=N_("Each step is too small for this GPU"),
    help=Help(
        what=N_("Whether kernels are large enough to fill the GPU."),
        why=N_(
            "Starting a kernel takes the CPU some microseconds. Kernels that are over sooner, or that have work for a "
            "few of the GPU's processors only, leave most of it idle, however fast it is."
        ),
        how=N_(
            "While kernels run, less than a quarter of the processors has work (hardware counter); without counters "
            "the GPU draws less than a fifth of the way from idle to its power limit per busy time. One core is full, "
            "no other process works, little is copied. In a profile: half of the kernels take less than 12 "
            "microseconds, and for a third of the time the GPU is idle while the CPU starts the next ones."
        ),
        wrong=N_(
            "A simulator or other Python code in the same thread looks the same. Small models that answer single "
            "requests are often meant to be so."
        ),
        todo=N_("Larger batches, compiled models, or several models at once on one GPU."),
    ),
    check=_check,
    needs=((_MEDIAN,),),
    watch=_watch,
    advise=_advise,
    links=("https://pytorch.org/tutorials/recipes/recipes/tuning_guide.html",),
)
