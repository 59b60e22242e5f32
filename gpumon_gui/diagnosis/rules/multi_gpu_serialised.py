"""Knows: GPUs that take turns. Must not know: the other rules."""

from __future__ import annotations

from gpumon_gui.core.messages import N_
from gpumon_gui.diagnosis import advice
from gpumon_gui.diagnosis.behaviour.measured import measured, parts
from gpumon_gui.diagnosis.facts import View
from gpumon_gui.diagnosis.finding import Confidence, Severity, Step
from gpumon_gui.diagnosis.rule import CLEAR, Help, Hit, Lacks, Outcome, Rule, Scope

#: Each takes part.
_LEAST_BUSY, _MOST_BUSY = 0.05, 0.85
#: Together they do the work of one: readings of neighbours overlap by the windows of the counter, up to a second.
_ONE, _MUCH_OF_ONE = 1.15, 0.7
#: While one works the others rest.
_EXCLUDES, _SURELY_EXCLUDES = -0.35, -0.6
_ALTERNATES = 0.85
#: Turns that are faster than the readings blur to steady shares that add up to one GPU, never more.
_BLURRED, _NEVER_MORE = 0.85, 1.08


def _watch(view: View) -> Outcome:
    devices = parts(view, "job.groups.devices")
    busy_sum, high = view.number("job.groups.busy_sum"), view.number("job.groups.busy_sum_high")
    if len(devices) < 2:
        return CLEAR if devices else Lacks(("job.groups.devices",))
    if busy_sum is None or high is None:
        return Lacks(("job.groups.busy_sum",))
    least, most = view.number("job.groups.busy_least") or 0.0, view.number("job.groups.busy_most") or 1.0
    if least < _LEAST_BUSY or most > _MOST_BUSY or busy_sum > _ONE:
        return CLEAR
    together = view.number("job.groups.correlation")
    alternates = view.number("job.groups.alternation")
    confidence = _sure(view, len(devices), busy_sum, high, together, alternates)
    if confidence is None:
        return CLEAR
    values = {
        "gpus": ", ".join(part.label for part in devices),
        "each": f"{most:.0%}",
        "sum": f"{busy_sum:.0%}",
    }
    evidence = measured(
        view,
        "job.groups",
        *(f"{part.label} busy {part.number('busy') or 0.0:.0%}" for part in devices[:8]),
        f"together {busy_sum:.0%}",
        f"correlation {together:.2f}" if together is not None else "",
        f"exactly one works {alternates:.0%} of the time" if alternates is not None else "",
    )
    return Hit(confidence, (evidence,), values)


def _sure(
    view: View, count: int, busy_sum: float, high: float, together: float | None, alternates: float | None
) -> Confidence | None:
    excludes = together is not None and together <= (_EXCLUDES if count == 2 else _EXCLUDES / (count - 1))
    if excludes and alternates is not None and alternates >= _ALTERNATES:
        surely = together is not None and together <= (
            _SURELY_EXCLUDES if count == 2 else _SURELY_EXCLUDES / (count - 1)
        )
        return Confidence.HIGH if surely and busy_sum >= _MUCH_OF_ONE else Confidence.MEDIUM
    one_process = view.number("job.groups.processes") == 1
    if one_process and busy_sum >= _BLURRED and high <= _NEVER_MORE and (together is None or together <= 0.3):
        # Two that are half busy for another reason add up to one by chance; four hardly do.
        return Confidence.MEDIUM if count >= 3 else Confidence.LOW
    return None


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
            "The busy shares add up to one GPU at most and exclude each other over time (negative correlation, exactly "
            "one works in 85 percent of the time); turns faster than the readings only show as shares that add up to "
            "one GPU."
        ),
        wrong=N_("Two programs that are fed by turns look the same."),
        todo=N_("Copy the model to each GPU, or use a pipeline schedule."),
    ),
    watch=_watch,
    advise=_advise,
)
