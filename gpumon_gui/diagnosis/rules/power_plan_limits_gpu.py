"""Knows: an operating system that saves power. Must not know: the other rules."""

from __future__ import annotations

from collections.abc import Mapping

from gpumon_gui.core.messages import N_
from gpumon_gui.diagnosis import advice
from gpumon_gui.diagnosis.behaviour.parts import Part, parts
from gpumon_gui.diagnosis.evidence import AMOUNT, measured, told
from gpumon_gui.diagnosis.facts import View
from gpumon_gui.diagnosis.finding import Confidence, Severity, Step
from gpumon_gui.diagnosis.rule import CLEAR, Help, Hit, Lacks, Outcome, Rule, Scope, quote

_SAVER = "windows-power-saver"
#: Heat explains a fall as well; below this the card is cool whichever limit it has.
_COOL_C = 75.0
_LIMIT_STEP = 0.9
_FELL = N_(
    "The clock of {gpu} fell at once from {before} to {after} MHz while the load stayed and the card is cool: a power "
    "plan, battery or a display that was switched off can do that"
)


def _check(view: View) -> Outcome:
    saver = view.signal(_SAVER)
    # The plan is certain, what it does to the GPU is not.
    return Hit(Confidence.LOW, quote(saver)) if saver is not None else Lacks(("log",))


def _watch(view: View) -> Outcome:
    devices = parts(view, "job.clocks.devices")
    if not devices:
        return Lacks(("job.clocks.devices",))
    for part in devices:
        found = part.facts.get("step")
        step = Part(found) if isinstance(found, Mapping) else None
        if step is None or (step.number("thermal_share_after") or 0.0) > 0:
            continue
        heat = step.number("temperature_after_c")
        if heat is not None and heat >= _COOL_C:
            continue
        limits = step.number("limit_before_w"), step.number("limit_after_w")
        power = step.number("power_before_w"), step.number("power_after_w")
        if limits[0] is not None and power[1] is not None and limits[1] is not None and power[1] >= 0.95 * limits[1]:
            if limits[1] >= _LIMIT_STEP * limits[0]:
                continue  # heavier work at the same limit
        elif power[0] is not None and power[1] is not None and power[1] >= power[0]:
            continue
        lowered = limits[0] is not None and limits[1] is not None and limits[1] < _LIMIT_STEP * limits[0]
        before, after = step.number("clock_before_mhz"), step.number("clock_after_mhz")
        values = {"gpu": part.label, "before": f"{before or 0:.0f}", "after": f"{after or 0:.0f}"}
        evidence = measured(
            view,
            "job.clocks.devices",
            told(N_("{gpu} {before} → {after} MHz"), **values),
            told(N_("limit {before} → {after} W"), before=f"{limits[0]:.0f}", after=f"{limits[1]:.0f}")
            if lowered
            else None,
            told(AMOUNT, amount=f"{heat:.0f} °C") if heat is not None else None,
        )
        return Hit(Confidence.MEDIUM if lowered else Confidence.LOW, (evidence,), values, title=_FELL)
    return CLEAR


def _advise(view: View, _hit: Hit) -> tuple[Step, ...]:
    if view.text("os.family") == "linux":
        return (
            advice.say(
                N_("Plug in the mains adapter and choose the performance profile:"), "powerprofilesctl set performance"
            ),
            advice.check("nvidia-smi -q -d POWER,CLOCK,PERFORMANCE"),
        )
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
            "The plan's identifier, which is the same in every language. Watched: the clock falls at once by a fifth "
            "or more at unchanged load, on a card below 75 degrees."
        ),
        wrong=N_("Many computers run at full speed under that plan."),
        todo=N_("Choose the balanced plan and compare the speed."),
    ),
    check=_check,
    watch=_watch,
    needs=((f"signal:{_SAVER}",),),
    advise=_advise,
    explains=("gpu-power-throttling",),
)
