"""Knows: a window in which nothing uses a GPU. Must not know: the other rules."""

from __future__ import annotations

from gpumon_gui.core.messages import N_
from gpumon_gui.diagnosis.facts import View
from gpumon_gui.diagnosis.finding import Confidence, Severity
from gpumon_gui.diagnosis.rule import CLEAR, Help, Hit, Outcome, Rule, Scope, cite

#: A desktop that draws keeps a GPU busy for some percent of the time.
_IDLE = 0.1


def _watch(view: View) -> Outcome:
    if view.items("jobs"):
        return CLEAR
    busiest = view.number("window.health.busiest")
    if busiest is not None and busiest > _IDLE:
        return CLEAR  # somebody works whom the driver does not list: another container, WSL, a log without programs
    # Without a reading of the load the empty list of programs is all there is.
    sure = busiest is not None
    return Hit(
        Confidence.HIGH if sure else Confidence.MEDIUM, cite(view, "window.seen.seconds", "window.health.busiest")
    )


RULE = Rule(
    code="no-gpu-workload",
    scope=Scope.JOB,
    step=9,
    severity=Severity.INFO,
    title=N_("Nothing used a GPU while it was watched: there is nothing to judge"),
    help=Help(
        what=N_("Whether any program uses a GPU at all."),
        why=N_("Without work there is no speed to judge."),
        how=N_("No program had memory or work on a GPU, and none has a framework loaded."),
        wrong=N_("The program may not have started yet, or runs in another container or virtual machine."),
        todo=N_("Start the program, then watch again."),
    ),
    watch=_watch,
    watch_scope=Scope.MACHINE,
)
