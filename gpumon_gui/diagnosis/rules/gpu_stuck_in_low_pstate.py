"""Knows: a card that works without raising its clocks. Must not know: the other rules."""

from __future__ import annotations

from gpumon_gui.core.formatters import percent
from gpumon_gui.core.messages import N_
from gpumon_gui.diagnosis import advice
from gpumon_gui.diagnosis.behaviour.parts import Part, parts
from gpumon_gui.diagnosis.evidence import measured, sm_clock, told
from gpumon_gui.diagnosis.facts import View
from gpumon_gui.diagnosis.finding import Confidence, Severity, Step
from gpumon_gui.diagnosis.rule import CLEAR, Help, Hit, Lacks, Outcome, Rule, Scope

#: P2 is normal for CUDA on GeForce cards, P3 for capped ones; P5 to P8 are states of a card without heavy work.
_LOW_PSTATE = 5
#: A power cap in the heaviest work leaves an H200 three quarters of its highest clock; without any reason a card under
#: load boosts to nine tenths and more.
_SLOW_CLOCK = 0.6
_VERY_SLOW_CLOCK = 0.4
#: Clocks need some seconds to rise with a load that comes and goes: the load must be there most of the time.
_LOADED_BUSY = 0.7
_LEAST_S = 5.0
_NO_REASON = 0.8

_STUCK = N_("{gpu} works at {clock} of {top} MHz although nothing that the driver names holds it down")
_LOCKED = N_("{gpu} works at {clock} of {top} MHz: its clocks are set by hand (application clocks)")


def _watch(view: View) -> Outcome:
    devices = [
        part
        for part in parts(view, "job.clocks.devices")
        if (part.number("loaded_s") or 0.0) >= _LEAST_S and (part.number("busy_mean") or 0.0) >= _LOADED_BUSY
    ]
    if not devices:
        return Lacks(("job.clocks.devices",))
    for part in devices:
        judged = _stuck(part)
        if judged is None:
            continue
        confidence, title = judged
        pstate = part.number("pstate")
        values = {
            "gpu": part.label,
            "pstate": "P?" if pstate is None else f"P{pstate:.0f}",
            "clock": _written(part.number("clock_mhz")),
            "top": _written(part.number("clock_max_mhz")),
        }
        evidence = measured(
            view,
            "job.clocks.devices",
            told("{gpu} {pstate}", gpu=part.label, pstate=values["pstate"]),
            sm_clock(values["clock"], values["top"]),
            told(
                N_("busy {share} for {seconds} s under load"),
                share=percent(part.number("busy_mean") or 0.0),
                seconds=f"{part.number('loaded_s') or 0.0:.0f}",
            ),
        )
        return Hit(confidence, (evidence,), values, title=title)
    return CLEAR


def _stuck(part: Part) -> tuple[Confidence, str | None] | None:
    held = [part.number(name) or 0.0 for name in ("power_cap_share", "slowdown_share", "thermal_share", "brake_share")]
    if max(held) >= 1 - _NO_REASON:
        return None  # heat or power: other causes
    by_hand = (part.number("application_clocks_share") or 0.0) >= 0.5
    reasons_known = part.number("no_reason_share") is not None
    pstate, clock = part.number("pstate"), part.number("clock_share")
    if pstate is not None and pstate >= _LOW_PSTATE:
        return (Confidence.HIGH if reasons_known else Confidence.MEDIUM), None
    if clock is None or clock >= _SLOW_CLOCK:
        return None
    if by_hand:
        return Confidence.MEDIUM, _LOCKED
    if not reasons_known:
        return None  # it may be heat or power
    return (Confidence.HIGH if clock < _VERY_SLOW_CLOCK else Confidence.MEDIUM), _STUCK


def _written(value: float | None) -> str:
    return "?" if value is None else f"{value:.0f}"


def _advise(view: View, _hit: Hit) -> tuple[Step, ...]:
    steps = [
        advice.say(N_("Take back clocks that were locked (administrator):"), "nvidia-smi -rgc\nnvidia-smi -rac"),
    ]
    if view.text("os.family") == "linux":
        steps.append(advice.say(N_("On a notebook: plug in the mains adapter and choose the performance profile.")))
    else:
        steps.append(
            advice.say(
                N_(
                    "NVIDIA Control Panel, Manage 3D settings, Power management mode: Prefer maximum performance. On a "
                    "notebook plug in the mains adapter and choose the maker's performance mode."
                )
            )
        )
    return (*steps, advice.check("nvidia-smi -q -d CLOCK,PERFORMANCE"))


RULE = Rule(
    code="gpu-stuck-in-low-pstate",
    scope=Scope.JOB,
    step=9,
    severity=Severity.SLOWS,
    title=N_("{gpu} stays in {pstate} under load: it works at {clock} of {top} MHz"),
    help=Help(
        what=N_("Whether a card raises its clocks when it has to work."),
        why=N_("In a saving state it computes at a fraction of its speed, and no message says so."),
        how=N_(
            "At least 5 seconds of load (70 percent busy) in P5 or lower, or below 60 percent of the highest clock, "
            "while the driver names neither heat nor power as the reason."
        ),
        wrong=N_("Clocks may be locked on purpose, for measurements or noise."),
        todo=N_("Reset locked clocks and choose the performance mode of driver and system."),
    ),
    watch=_watch,
    advise=_advise,
)
