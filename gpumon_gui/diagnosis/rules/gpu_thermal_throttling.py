"""Knows: clocks held down by heat. Must not know: the other rules."""

from __future__ import annotations

from gpumon_gui.core.messages import N_
from gpumon_gui.diagnosis import advice
from gpumon_gui.diagnosis.facts import View
from gpumon_gui.diagnosis.finding import Confidence, Severity, Step
from gpumon_gui.diagnosis.rule import CLEAR, Help, Hit, Lacks, Outcome, Rule, Scope, quote

_SAID = "smi-thermal-slowdown"


def _check(view: View) -> Outcome:
    printed = view.signals(_SAID)
    active = [signal for signal in printed if str(signal.values.get("state", "")).lower() == "active"]
    if active:
        return Hit(Confidence.HIGH, quote(*active[:2]))
    return CLEAR if printed else Lacks(("log",))


def _advise(_view: View, _hit: Hit) -> tuple[Step, ...]:
    return (
        advice.say(
            N_(
                "Let air in: clean fans and filters, raise a notebook from the table, choose the maker's performance "
                "fan mode. A power limit 10 to 20 percent lower costs little speed and much heat."
            )
        ),
        advice.check("nvidia-smi -q -d PERFORMANCE,TEMPERATURE"),
    )


RULE = Rule(
    code="gpu-thermal-throttling",
    scope=Scope.MACHINE,
    step=9,
    severity=Severity.SLOWS,
    title=N_("The GPU lowers its clocks because it is too hot"),
    help=Help(
        what=N_("Whether heat holds the clocks down."),
        why=N_("The longer the load lasts, the slower it gets; no message of the framework says why."),
        how=N_("nvidia-smi -q shows HW or SW Thermal Slowdown as active. SW Power Cap alone is normal at full load."),
        wrong=N_("One look is one moment: watch the process to see whether speed is lost for long."),
        todo=N_("Improve the cooling or lower the power limit."),
    ),
    check=_check,
    needs=((f"signal:{_SAID}",),),
    advise=_advise,
    explains=("gpu-power-throttling",),
)
