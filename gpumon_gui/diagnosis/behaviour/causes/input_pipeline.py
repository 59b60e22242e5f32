"""Knows: a GPU that waits for data, and for whom. Must not know: the other causes, what a program printed."""

from __future__ import annotations

from gpumon_gui.core.formatters import speed
from gpumon_gui.core.messages import N_
from gpumon_gui.diagnosis import tuning
from gpumon_gui.diagnosis.behaviour.causes.picture import (
    DATA_RATE,
    FED,
    FULL_CORE,
    LEAST_S,
    PHASE,
    READS,
    SEVERAL_CORES,
    WELL_FED,
    Picture,
    at_work,
    busy_at_work,
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
from gpumon_gui.diagnosis.rule import CLEAR, Hit, Lacks, Outcome

#: A GPU that is never busy at all is not fed too slowly: nothing was asked of it.
_LEAST_BUSY = 0.01

#: Starting a kernel takes some 10 microseconds, large ones last longer than that: a thread that only starts them keeps
#: the GPU busy for more than half of the time. One that does not has something else to do.
_NOT_LAUNCHING = 0.35

#: A GPU that one thread feeds too slowly is seen at full now and then only.
_FULL_FOR_LONG = 0.4
#: A program that starts touches the GPU for less than this, for some seconds.
_TOUCHED, _START_S = 0.03, 8.0
#: Helpers with less of a core each mostly wait.
_MOSTLY_WAITS = 0.5
#: A GPU that is given commands and small inputs gets less.
_COPIED = 50e6

_FEW = N_(
    "The GPU waits for data: it works {busy} of the time, while the {workers} loading processes have full cores "
    "({cores} cores in all)"
)
_ALL = N_(
    "The GPU waits for data: it works {busy} of the time, while preparing them takes all the CPU has ({cores} cores)"
)
_ONE = N_(
    "The GPU waits for data: it works {busy} of the time, and one loading process has its core full while the others "
    "wait"
)
_INSIDE = N_(
    "The GPU waits for data: it works {busy} of the time, while the program prepares them itself ({cores} cores)"
)
_DISK = N_("The GPU waits for data from the disk: it works {busy} of the time, while {reads} are read")
_UNKNOWN = N_(
    "The GPU seems to wait for data: it works {busy} of the time, and the loading processes mostly wait too, perhaps "
    "for storage"
)


def watch(view: View) -> Outcome:
    """Judge a program by its behaviour."""
    work = at_work(view)
    if isinstance(work, Lacks):
        return work
    seen, busy = work
    if seen.seconds < LEAST_S or seen.starting:
        return Lacks(("job.program.seconds",))
    busy = busy_at_work(view) or busy
    # Short steps may lie between the readings of the driver and be seen by the hardware counter.
    counted = (seen.kernels or 0.0) if view.known("job.activity.sm") else 0.0
    if busy >= WELL_FED or max(busy, counted) < _LEAST_BUSY:
        return CLEAR
    if seen.alone is not True and (seen.card_busy or 0.0) >= FED:
        return CLEAR  # the GPU is busy with somebody else's work
    if seen.main is None:
        return Lacks(("job.cpu.main",))
    if transfer_confidence(seen) is not None:
        return CLEAR
    found = _limit(view, seen, busy)
    if found is None:
        return CLEAR
    kind, confidence = found
    if busy >= FED:
        # What the program does itself may as well be another phase of it.
        confidence = Confidence.LOW if kind == "inside" else cautious(confidence)
    confidence = lowered(confidence, seen)
    values = {
        "kind": kind,
        "busy": part(busy),
        "workers": str(seen.workers),
        "cores": core_count(seen.workers_cores if kind in ("few", "all") else seen.cores),
        "reads": speed(seen.reads or 0.0),
    }
    title = {
        "few": _FEW,
        "all": _ALL,
        "one": _ONE,
        "inside": _INSIDE,
        "disk": _DISK,
        "unknown": _UNKNOWN,
    }[kind]
    evidence = (
        *shares(view, "job.activity.busy", "job.activity.kernels", "job.activity.fill"),
        *counts(view, "job.cpu.cores", "job.cpu.main"),
        *(counts(view, "job.cpu.workers", "job.cpu.workers_cores", "job.cpu.workers_full") if seen.workers else ()),
        *counts(view, "job.activity.power_w"),
        *shares(view, "job.phases.low_level", "job.phases.high_level"),
        *speeds(view, "job.transfers.rx_bytes_per_s"),
        *(speeds(view, "job.cpu.read_bytes_per_s") if seen.reads else ()),
    )
    severity = Severity.INFO if confidence is Confidence.LOW else None
    return Hit(confidence, evidence, values, severity=severity, title=title)


def _limit(view: View, seen: Picture, busy: float) -> tuple[str, Confidence] | None:
    """What is too slow, and how sure that is; None when it is not the data."""
    by_kernels = {"full": Confidence.HIGH, None: Confidence.MEDIUM, "between": Confidence.MEDIUM}
    if seen.workers_are_the_limit and seen.workers_cores >= 0.6:
        if seen.size == "small":
            # A small model fed by loaders with full cores; simulators of reinforcement learning wait for each other.
            return (_which(view, seen), Confidence.MEDIUM) if seen.workers_full >= 1 else None
        return _which(view, seen), by_kernels.get(seen.size, Confidence.LOW)
    if seen.size == "small" and (seen.rate or 0.0) < DATA_RATE:
        return None
    if (seen.reads or 0.0) >= READS and (seen.main or 0.0) < FULL_CORE:
        sure = seen.size == "full" and seen.uneven
        return "disk", Confidence.HIGH if sure and (seen.reads or 0.0) >= 5 * READS else Confidence.MEDIUM
    if (seen.main or 0.0) >= SEVERAL_CORES:
        if seen.size not in ("full", None) and not seen.uneven:
            return None  # even steps of small kernels
        return "inside", by_kernels.get(seen.size, Confidence.LOW) if seen.uneven else Confidence.MEDIUM
    if (seen.main or 0.0) >= FULL_CORE:
        # One thread at its limit may also be a loop that starts kernels, or phases of other work.
        if seen.workers or busy >= FED or seen.alone is not True:
            return None  # loading processes that are not at their limit keep up; others may take the GPU's time
        if seen.size is None and busy < _TOUCHED and seen.seconds < _START_S:
            return None  # a first touch of the GPU while it starts
        if seen.uneven:
            active = view.number("job.phases.active")
            phases = 1 <= seen.gaps < 3 and (active is None or active >= PHASE or (seen.turns or 0) < 4)
            once = phases or (seen.turns is not None and seen.turns < 3)
            if once or seen.size not in ("full", None):
                return None  # up and down once: more must be seen
            if (view.number("job.phases.high") or 0.0) >= _FULL_FOR_LONG:
                return None  # at full for seconds, then at rest: rather phases of other work
            return "inside", Confidence.MEDIUM if seen.size == "full" else Confidence.LOW
        if not seen.large:
            data = seen.size == "full" and (seen.rate or 0.0) >= DATA_RATE and busy <= _NOT_LAUNCHING
            return ("inside", Confidence.LOW) if data else None
        if busy <= _NOT_LAUNCHING:
            return "inside", Confidence.LOW if seen.fill is None and seen.load is None else Confidence.MEDIUM
        return ("inside", Confidence.LOW) if (seen.rate or 0.0) >= DATA_RATE else None
    if seen.workers >= 1 and seen.uneven and seen.size != "small" and busy < FED:
        # Helpers that work while nothing is copied prepare no data.
        waits = seen.workers_cores < _MOSTLY_WAITS * seen.workers
        return ("unknown", Confidence.LOW) if waits or (seen.rate or 0.0) >= _COPIED else None
    return None


def _which(view: View, seen: Picture) -> str:
    machine, cores = view.number("job.cpu.machine"), view.number("job.cpu.machine_cores")
    if (machine or 0.0) >= 0.85 or (cores and seen.workers_cores >= 0.8 * cores):
        return "all"
    if seen.workers_full == 1 and seen.workers >= 3 and seen.workers_cores < 0.5 * seen.workers + 0.5:
        return "one"
    return "few"


def advise(view: View, hit: Hit) -> tuple[Step, ...]:
    """What to change, by what is too slow."""
    kind = hit.values.get("kind", "unknown")
    machine = int(view.number("job.cpu.machine_cores") or 0)
    now = int(view.number("job.cpu.workers") or 0)
    # Twice as many as now, half of the cores where there are none yet; less one core for the program itself.
    more = max(4, 2 * now or machine // 2)
    more = max(2, min(more, machine - 1)) if machine else more
    topics = {
        "few": ("measure-loader", "workers", "cheaper-transforms"),
        "all": ("measure-loader", "cheaper-transforms"),
        "one": ("one-process", "workers"),
        "inside": ("measure-loader", "workers", "cheaper-transforms"),
        "disk": ("slow-storage", "workers"),
        "unknown": ("measure-loader", "slow-storage", "workers"),
    }[kind if kind in ("few", "all", "one", "inside", "disk") else "unknown"]
    return tuning.steps(view, *topics, workers=more, pid=int(view.number("job.program.pid") or 0) or None)
