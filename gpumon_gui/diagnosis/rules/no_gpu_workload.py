"""Knows: a window in which nothing uses a GPU. Must not know: the other rules."""

from __future__ import annotations

from gpumon_gui.core.messages import N_
from gpumon_gui.diagnosis.facts import View
from gpumon_gui.diagnosis.finding import Confidence, Severity
from gpumon_gui.diagnosis.rule import CLEAR, Help, Hit, Outcome, Rule, Scope, cite


def _watch(view: View) -> Outcome:
    if view.items("jobs"):
        return CLEAR
    return Hit(Confidence.HIGH, cite(view, "window.seen.seconds"))


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
