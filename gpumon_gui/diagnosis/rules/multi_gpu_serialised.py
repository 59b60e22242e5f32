"""Knows: GPUs that take turns. Must not know: the other rules."""

from __future__ import annotations

from gpumon_gui.core.formatters import percent
from gpumon_gui.core.messages import N_
from gpumon_gui.diagnosis import advice
from gpumon_gui.diagnosis.behaviour.parts import Part, parts
from gpumon_gui.diagnosis.evidence import measured, told
from gpumon_gui.diagnosis.facts import View
from gpumon_gui.diagnosis.finding import Confidence, Severity, Step
from gpumon_gui.diagnosis.rule import CLEAR, Help, Hit, Lacks, Outcome, Rule, Scope

#: Each takes part.
_LEAST_BUSY, _MOST_BUSY = 0.05, 0.85
#: Together they do the work of one: readings of neighbours overlap by the windows of the counter, up to a second.
_ONE, _MUCH_OF_ONE = 1.15, 0.7
#: While one works the others rest. Chance alone reaches 2.3 over the root of the number of samples in one of fifty.
_EXCLUDES, _SURELY_EXCLUDES, _CHANCE = -0.35, -0.6, 2.3
_ALTERNATES = 0.8
#: Turns that are faster than the readings blur to steady shares that add up to one GPU, never more.
_BLURRED, _NEVER_MORE, _EXACTLY = 0.85, 1.08, (0.9, 1.04)
_FULL = 0.5
#: GPUs that wait for data swing more than this (standard deviation of the busy share).
_EVEN = 0.07
#: More CPU than one thread that starts kernels: loading data may be what they wait for.
_ONE_THREAD = 1.4


_SM, _BUSY = N_("{gpu} SM activity {share}"), N_("{gpu} busy {share}")


def _watch(view: View) -> Outcome:
    devices = parts(view, "job.groups.devices")
    busy_sum = view.number("job.groups.busy_sum")
    if len(devices) < 2:
        return CLEAR if devices else Lacks(("job.groups.devices",))
    if busy_sum is None:
        return Lacks(("job.groups.busy_sum",))
    if (view.number("job.groups.busy_least") or 0.0) < _LEAST_BUSY:
        return CLEAR
    confidence = (
        _visible(view, len(devices)) or _fast(view, len(devices), busy_sum) or _blurred(view, devices, busy_sum)
    )
    if confidence is None:
        return CLEAR
    spins = (view.number("job.groups.busy_most") or 0.0) > _MOST_BUSY
    works = [part.number("sm" if spins else "busy") or 0.0 for part in devices]
    values = {
        "gpus": ", ".join(part.label for part in devices),
        "each": percent(max(works)),
        "sum": percent(sum(works)),
    }
    together, alternates = _together(view), view.number("job.groups.alternation")
    evidence = measured(
        view,
        "job.groups",
        *(
            told(_SM if spins else _BUSY, gpu=part.label, share=percent(share))
            for part, share in zip(devices[:8], works, strict=False)
        ),
        told(N_("correlation {value}"), value=f"{together:.2f}") if together is not None else None,
        told(N_("exactly one works {share} of the time"), share=percent(alternates))
        if alternates is not None
        else None,
    )
    return Hit(confidence, (evidence,), values)


def _together(view: View) -> float | None:
    """SM activity tells a rank that waits from one that works; time with kernels does not."""
    found = view.number("job.groups.sm_correlation")
    return view.number("job.groups.correlation") if found is None else found


def _limit(view: View, count: int, least: float) -> float:
    """Of several devices each excludes the others only in part."""
    samples = view.number("job.groups.turn_samples") or 1.0
    return min(least / (count - 1), -_CHANCE / samples**0.5 if count == 2 else 0.0)


def _visible(view: View, count: int) -> Confidence | None:
    """Turns that last longer than the readings."""
    together, alternates = _together(view), view.number("job.groups.alternation")
    if together is None or alternates is None or alternates < _ALTERNATES:
        return None
    if together > _limit(view, count, _EXCLUDES):
        return None
    return Confidence.HIGH if together <= _limit(view, count, _SURELY_EXCLUDES) else Confidence.MEDIUM


def _fast(view: View, count: int, busy_sum: float) -> Confidence | None:
    """Each reading holds parts of several turns: what one has more the other has less."""
    together = view.number("job.groups.correlation")
    if together is None or together > _limit(view, count, _EXCLUDES):
        return None
    one = _MUCH_OF_ONE <= busy_sum <= _ONE and (view.number("job.groups.busy_most") or 1.0) <= _MOST_BUSY
    return Confidence.MEDIUM if one else None


def _blurred(view: View, devices: tuple[Part, ...], busy_sum: float) -> Confidence | None:
    """Each reading holds many turns."""
    together, high = view.number("job.groups.correlation"), view.number("job.groups.busy_sum_high")
    if view.number("job.groups.processes") != 1 or high is None or high > _NEVER_MORE or busy_sum < _BLURRED:
        return None
    if (view.number("job.groups.busy_most") or 1.0) > _MOST_BUSY or (together is not None and together > _BOTH):
        return None
    if len(devices) > 2:
        return Confidence.MEDIUM
    # Two that are half busy for another reason add up to one by chance.
    full = all((part.number("fill") or 0.0) >= _FULL for part in devices)
    cores = devices[0].number("cpu_cores")
    exactly = _EXACTLY[0] <= busy_sum <= _EXACTLY[1] and cores is not None and cores <= _ONE_THREAD
    spread = view.number("job.groups.busy_spread")
    even = bool(view.flag("job.groups.coupled")) or (spread is not None and spread <= _EVEN)
    return Confidence.MEDIUM if full and exactly and even else Confidence.LOW


#: Devices that wait for the same thing work at the same time.
_BOTH = 0.5


def _advise(_view: View, _hit: Hit) -> tuple[Step, ...]:
    return (
        advice.say(
            N_(
                "If the model fits on one GPU, put a whole copy on each and split the batch (DistributedDataParallel, "
                "MirroredStrategy): then all work at once."
            ),
            "torchrun --nproc_per_node=gpu train.py",
        ),
        advice.say(
            N_(
                "If it does not fit, split the batch into small parts that follow each other through the GPUs, or "
                "split the layers themselves (tensor parallel, FSDP), instead of placing layers one after the other "
                '(device_map="auto"):'
            ),
            "from torch.distributed.pipelining import ScheduleGPipe\nfrom torch.distributed.fsdp import fully_shard",
        ),
    )


RULE = Rule(
    code="multi-gpu-serialised",
    scope=Scope.JOB,
    step=9,
    severity=Severity.SLOWS,
    title=N_("{gpus} take turns: each works {each} of the time at most, and together they do the work of one ({sum})"),
    help=Help(
        what=N_("Whether GPUs of one program work at the same time or one after the other."),
        why=N_(
            "A model whose layers lie on several GPUs uses one of them at a time, unless the batch is cut into parts."
        ),
        how=N_(
            "Activity excludes each other over time (negative correlation, exactly one works in 80 percent of the "
            "time). Turns faster than the readings show as busy shares that add up to one GPU and never to more."
        ),
        wrong=N_("Two programs that are fed by turns look the same."),
        todo=N_("Copy the model to each GPU, or use a pipeline schedule."),
    ),
    watch=_watch,
    advise=_advise,
)
