"""Knows: missing GPU counters of Windows. Must not know: the other rules."""

from __future__ import annotations

from gpumon_gui.core.messages import N_
from gpumon_gui.diagnosis import advice
from gpumon_gui.diagnosis.facts import View
from gpumon_gui.diagnosis.finding import Confidence, Severity, Step
from gpumon_gui.diagnosis.rule import CLEAR, Help, Hit, Lacks, Outcome, Rule, Scope, cite, quote


def _check(view: View) -> Outcome:
    if view.text("os.family") in ("linux", "macos"):
        return CLEAR
    there = view.flag("os.gpu_counters")
    said = view.signal("windows-gpu-counters-missing")
    if there is True:
        return CLEAR
    if there is False or said is not None:
        sure = Confidence.HIGH if there is False else Confidence.MEDIUM
        return Hit(sure, cite(view, "os.gpu_counters", "os.version") + quote(said))
    return Lacks(("os.gpu_counters",))


def _advise(_view: View, _hit: Hit) -> tuple[Step, ...]:
    return (
        advice.say(_REBUILD, "lodctr /R"),
        advice.say(_OLD),
        advice.check('typeperf -sc 1 "\\GPU Engine(*)\\Utilization Percentage"'),
    )


_REBUILD = N_(
    "Rebuild Windows' performance counters, in a terminal as administrator (run it twice if the first time fails), "
    "then restart:"
)
_OLD = N_(
    "Windows before 10 version 1709, Remote Desktop sessions and many virtual machines have no GPU counters at all."
)

RULE = Rule(
    code="gpu-counters-unavailable",
    scope=Scope.MACHINE,
    step=9,
    severity=Severity.INFO,
    title=N_("Windows offers no GPU counters, so use by engine and by process cannot be shown"),
    help=Help(
        what=N_("Whether Windows' counters GPU Engine and GPU Process Memory can be read."),
        why=N_("Task Manager and GPUMon read use by process from them. Computing itself is not touched."),
        how=N_("The performance library's answer for these counters."),
        wrong=N_("They can be absent for the first seconds after the system started."),
        todo=N_("Rebuild the counters."),
    ),
    check=_check,
    advise=_advise,
)
