"""Knows: clocks held down by too little power. Must not know: the other rules."""

from __future__ import annotations

from gpumon_gui.core.messages import N_
from gpumon_gui.diagnosis import advice
from gpumon_gui.diagnosis.facts import Signal, View
from gpumon_gui.diagnosis.finding import Confidence, Severity, Step
from gpumon_gui.diagnosis.rule import CLEAR, Help, Hit, Lacks, Outcome, Rule, Scope, quote

_BRAKE = "smi-power-brake"
_CAP = "smi-power-cap"
_LIMIT = "smi-power-limit"
#: A limit below this share of the card's default is set low on purpose or by mistake.
_LOW_SHARE = 0.8
_LIMITED = N_("The GPU's power limit is {limit} W, far below its default of {default} W")


def _check(view: View) -> Outcome:
    brakes, caps = view.signals(_BRAKE), view.signals(_CAP)
    brake = next((signal for signal in brakes if _active(signal)), None)
    if brake is not None:
        return Hit(Confidence.HIGH, quote(brake))
    limits = view.signals(_LIMIT)
    default = next((signal for signal in limits if signal.values["which"] == "Default"), None)
    current = next((signal for signal in limits if signal.values["which"] in ("Current", "Enforced")), None)
    if default is None or current is None:
        return CLEAR if brakes and not limits and not any(map(_active, caps)) else Lacks(("log",))
    if current.values["watts"] >= _LOW_SHARE * default.values["watts"]:
        return CLEAR
    capped = next((signal for signal in caps if _active(signal)), None)
    values = {"limit": f"{current.values['watts']:.0f}", "default": f"{default.values['watts']:.0f}"}
    confidence = Confidence.HIGH if capped is not None else Confidence.MEDIUM
    return Hit(confidence, quote(current, default, capped), values, title=_LIMITED)


def _active(signal: Signal) -> bool:
    return str(signal.values.get("state", "")).lower() == "active"


def _advise(_view: View, _hit: Hit) -> tuple[Step, ...]:
    return (
        advice.say(N_("Compare the limits, and set the default back if nobody lowered it on purpose (administrator):")),
        advice.say(N_("Show them:"), "nvidia-smi -q -d POWER"),
        advice.say(
            N_(
                "A power brake comes from the computer, not from the card: check the power supply, its cables to the "
                "card and, in a notebook, that the mains adapter is strong enough."
            )
        ),
    )


RULE = Rule(
    code="gpu-power-throttling",
    scope=Scope.MACHINE,
    step=9,
    severity=Severity.SLOWS,
    title=N_("The computer holds the GPU's clocks down: its power brake is on"),
    help=Help(
        what=N_("Whether too little power holds the clocks down."),
        why=N_("A limit far below the default, or the brake that a power supply pulls, can halve the speed."),
        how=N_(
            "nvidia-smi -q shows the HW Power Brake as active, or a limit below 80 percent of the default. SW Power "
            "Cap at the default limit is normal at full load."
        ),
        wrong=N_("A low limit may be wanted, for noise or for a weak power supply."),
        todo=N_("Set the default limit again, or repair the power supply."),
    ),
    check=_check,
    needs=((f"signal:{_BRAKE}", f"signal:{_LIMIT}"),),
    advise=_advise,
)
