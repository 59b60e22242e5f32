"""Knows: options of applications that keep work off the GPU. Must not know: the other rules."""

from __future__ import annotations

from gpumon_gui.core.messages import N_
from gpumon_gui.diagnosis import advice
from gpumon_gui.diagnosis.facts import View
from gpumon_gui.diagnosis.finding import Confidence, Severity, Step
from gpumon_gui.diagnosis.rule import Help, Hit, Lacks, Outcome, Rule, Scope, quote

_CPU = "app-option-uses-cpu"
_SAVES = "app-option-saves-memory"


def _check(view: View) -> Outcome:
    printed = view.signal(_CPU) or view.signal(_SAVES)
    if printed is None:
        return Lacks(("log",))
    confidence = Confidence.HIGH if printed.kind == _CPU else Confidence.MEDIUM
    return Hit(confidence, quote(printed), {"option": str(printed.values.get("option", ""))})


def _advise(_view: View, hit: Hit) -> tuple[Step, ...]:
    return (
        advice.say(
            N_("Start the application once without {option} and compare the time of one step."),
            option=hit.values["option"],
        ),
        advice.say(N_("Keep the option only if the memory runs out without it."), "nvidia-smi"),
    )


RULE = Rule(
    code="app-setting-offloads-to-cpu",
    scope=Scope.MACHINE,
    step=9,
    severity=Severity.SLOWS,
    title=N_("The application was started with {option}, which keeps work off the GPU"),
    help=Help(
        what=N_("Whether an application was told to use the CPU or to save GPU memory."),
        why=N_("Such options move the model in and out of the GPU at each step, or leave parts of it on the CPU."),
        how=N_("The arguments and the memory mode that the application prints when it starts."),
        wrong=N_("On cards with little memory the option is needed. Some applications choose the mode by themselves."),
        todo=N_("Try without the option; watch whether the memory suffices."),
    ),
    check=_check,
    needs=((f"signal:{_CPU}", f"signal:{_SAVES}"),),
    advise=_advise,
)
