"""Knows: a program that starts on one core while its GPU idles. Must not know: the other causes."""

from __future__ import annotations

from gpumon_gui.core.messages import N_
from gpumon_gui.diagnosis import advice
from gpumon_gui.diagnosis.behaviour.causes.picture import at_work, counts, shares
from gpumon_gui.diagnosis.facts import View
from gpumon_gui.diagnosis.finding import Confidence, Severity, Step
from gpumon_gui.diagnosis.rule import CLEAR, Hit, Lacks, Outcome

#: Imports are over by then, and so is most reading of models.
_LEAST_S = 12.0
#: The driver compiles what a program uses for minutes, not hours.
_YOUNG_S = 900.0
_ONE_CORE = (0.85, 1.4)

_TITLE = N_(
    "The GPU idles while one core works since the program began {age} s ago: kernels may be compiled for this GPU, "
    "which happens at the first start only, or the program prepares something"
)


def watch(view: View) -> Outcome:
    """Judge a program by its behaviour: a guess, since preparing data looks the same."""
    work = at_work(view)
    if isinstance(work, Lacks):
        return work
    seen, busy = work
    age = view.number("job.cpu.age_s")
    if age is None:
        return Lacks(("job.cpu.age_s",))
    if seen.cores is None or seen.main is None:
        return Lacks(("job.cpu.main",))
    if busy >= 0.01 or age > _YOUNG_S or not _ONE_CORE[0] <= seen.main <= seen.cores <= _ONE_CORE[1]:
        return CLEAR
    if seen.seconds < _LEAST_S:
        return CLEAR
    evidence = (
        *counts(view, "job.cpu.age_s", "job.cpu.main", "job.cpu.cores"),
        *shares(view, "job.activity.busy"),
    )
    return Hit(Confidence.LOW, evidence, {"age": f"{age:.0f}"}, severity=Severity.INFO, title=_TITLE)


def advise(view: View, _hit: Hit) -> tuple[Step, ...]:
    """Wait, and keep what was compiled."""
    return (
        advice.say(
            N_(
                "Wait some minutes. If the next start is as slow, make the cache of compiled kernels large enough "
                "(4 GB), or install a build of the framework that has code for this GPU:"
            ),
            advice.set_variable(view, "CUDA_CACHE_MAXSIZE", "4294967296"),
        ),
        advice.say(
            N_("What the program does meanwhile shows, for example, py-spy:"),
            f"py-spy top --pid {int(view.number('job.program.pid') or 0) or 'PID'}",
        ),
    )
