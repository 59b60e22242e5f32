"""Knows: an operating system that saves power. Must not know: the other rules."""

from __future__ import annotations

from gpumon_gui.core.messages import N_
from gpumon_gui.diagnosis import advice
from gpumon_gui.diagnosis.facts import View
from gpumon_gui.diagnosis.finding import Confidence, Severity, Step
from gpumon_gui.diagnosis.rule import Help, Hit, Lacks, Outcome, Rule, Scope, quote

_SAVER = "windows-power-saver"


def _check(view: View) -> Outcome:
    saver = view.signal(_SAVER)
    # The plan is certain, what it does to the GPU is not.
    return Hit(Confidence.LOW, quote(saver)) if saver is not None else Lacks(("log",))


def _advise(_view: View, _hit: Hit) -> tuple[Step, ...]:
    return (
        advice.say(
            N_("Choose the balanced plan and plug in the mains adapter:"),
            "powercfg /setactive 381b4222-f694-41f0-9685-ff5bb260df2e",
        ),
        advice.check("powercfg /getactivescheme"),
    )


RULE = Rule(
    code="power-plan-limits-gpu",
    scope=Scope.MACHINE,
    step=9,
    severity=Severity.SLOWS,
    title=N_("Windows runs on its power saver plan, which can slow down the GPU"),
    help=Help(
        what=N_("Whether the power plan saves power."),
        why=N_("Power saving, battery and a display switched off by the plan can halve the speed of training."),
        how=N_(
            "The plan's identifier, which is the same in every language. What it costs is only seen while watching."
        ),
        wrong=N_("Many computers run at full speed under that plan."),
        todo=N_("Choose the balanced plan and compare the speed."),
    ),
    check=_check,
    needs=((f"signal:{_SAVER}",),),
    advise=_advise,
)
