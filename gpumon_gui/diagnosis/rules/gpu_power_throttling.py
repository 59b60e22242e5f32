"""Knows: clocks held down by too little power. Must not know: the other rules."""

from __future__ import annotations

from gpumon_gui.core.formatters import percent
from gpumon_gui.core.messages import N_
from gpumon_gui.diagnosis import advice
from gpumon_gui.diagnosis.behaviour.parts import Part, parts
from gpumon_gui.diagnosis.evidence import measured, sm_clock, told
from gpumon_gui.diagnosis.facts import Signal, View
from gpumon_gui.diagnosis.finding import Confidence, Severity, Step
from gpumon_gui.diagnosis.rule import CLEAR, Help, Hit, Lacks, Outcome, Rule, Scope, quote

_BRAKE = "smi-power-brake"
_CAP = "smi-power-cap"
_LIMIT = "smi-power-limit"
#: A limit below this share of the card's default is set low on purpose or by mistake.
_LOW_SHARE = 0.8
_LIMITED = N_("The GPU's power limit is {limit} W, far below its default of {default} W")
#: Share of the time under load with the brake on, or with the power cap on.
_BRAKED, _CAPPED = 0.1, 0.5
#: Held down: a card at its normal limit keeps two thirds of its highest clock and more in the heaviest work (an H200 75
#: percent in large matrix products).
_SLOW_CLOCK = 0.6
#: A limit that leaves so much of the clock costs nothing to speak of.
_FAST_CLOCK = 0.9
#: The cap works although the card draws far less than its limit: something else than the limit holds it.
_FAR_BELOW = 0.7
_COOL_C = 10.0
_LEAST_S = 3.0
_SLOWED = N_(
    "{gpu} is held down by the power that the computer gives it: {power} W of a limit of {limit} W, at {clock} of "
    "{top} MHz"
)


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


def _watch(view: View) -> Outcome:
    devices = [part for part in parts(view, "job.clocks.devices") if (part.number("loaded_s") or 0.0) >= _LEAST_S]
    if not any(part.number("power_cap_share") is not None for part in devices):
        return Lacks(("job.clocks.devices",))
    for part in devices:
        judged = _held_down(part)
        if judged is None:
            continue
        confidence, title = judged
        values = {
            "gpu": part.label,
            "power": _written(part.number("power_w")),
            "limit": _written(part.number("power_limit_w")),
            "default": _written(part.number("power_limit_default_w")),
            "clock": _written(part.number("clock_mhz")),
            "top": _written(part.number("clock_max_mhz")),
        }
        evidence = measured(
            view,
            "job.clocks.devices",
            told(N_("{gpu} {power} W of {limit} W"), gpu=part.label, power=values["power"], limit=values["limit"]),
            sm_clock(values["clock"], values["top"]),
            told(N_("power cap {share}"), share=percent(part.number("power_cap_share") or 0.0)),
            told(N_("power brake {share} of the time under load"), share=percent(part.number("brake_share") or 0.0)),
        )
        return Hit(confidence, (evidence,), values, title=title)
    return CLEAR


def _held_down(part: Part) -> tuple[Confidence, str | None] | None:
    brake, cap = part.number("brake_share") or 0.0, part.number("power_cap_share") or 0.0
    if brake >= _BRAKED:
        return Confidence.HIGH, None
    hottest, hot = part.number("temperature_high_c"), part.number("slowdown_c")
    cool = hottest is not None and hot is not None and hottest < hot - _COOL_C
    if (part.number("slowdown_share") or 0.0) >= _CAPPED and cool and not part.number("thermal_share"):
        return Confidence.MEDIUM, None
    limit, default = part.number("power_limit_w"), part.number("power_limit_default_w")
    clock, share = part.number("clock_share"), part.number("power_share")
    lowered = limit is not None and default is not None and limit < _LOW_SHARE * default
    if lowered and cap >= _CAPPED and (clock is None or clock < _FAST_CLOCK):
        return Confidence.HIGH, _LIMITED
    if cap >= _CAPPED and clock is not None and clock < _SLOW_CLOCK:
        return (Confidence.MEDIUM, _SLOWED) if share is not None and share < _FAR_BELOW else None
    return None


def _written(value: float | None) -> str:
    return "?" if value is None else f"{value:.0f}"


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
            "Cap at the default limit is normal at full load. Watched: the brake in at least a tenth of the time under "
            "load, a power cap at a lowered limit, or one that holds the clock below 60 percent far below the limit."
        ),
        wrong=N_("A low limit may be wanted, for noise or for a weak power supply."),
        todo=N_("Set the default limit again, or repair the power supply."),
    ),
    check=_check,
    watch=_watch,
    needs=((f"signal:{_BRAKE}", f"signal:{_LIMIT}"),),
    advise=_advise,
    explains=("multi-gpu-straggler",),
)
