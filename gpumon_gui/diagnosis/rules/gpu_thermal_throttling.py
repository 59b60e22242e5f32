"""Knows: clocks held down by heat. Must not know: the other rules."""

from __future__ import annotations

from gpumon_gui.core.formatters import percent
from gpumon_gui.core.messages import N_
from gpumon_gui.diagnosis import advice, tuning
from gpumon_gui.diagnosis.behaviour.parts import Part, parts
from gpumon_gui.diagnosis.evidence import measured, sm_clock, told
from gpumon_gui.diagnosis.facts import View
from gpumon_gui.diagnosis.finding import Confidence, Severity, Step
from gpumon_gui.diagnosis.rule import CLEAR, Help, Hit, Lacks, Outcome, Rule, Scope, quote

_SAID = "smi-thermal-slowdown"
#: Share of the time under load with a thermal reason: single flickers at the temperature target are regulation.
_THROTTLED, _SURE = 0.1, 0.3
#: A card at its temperature limit, for drivers that give no reasons.
_NEAR_C = 2.0
_LOW_CLOCK = 0.9
_LEAST_S = 3.0
_WATCHED = N_("{gpu} is too hot ({temperature} °C) and lowers its clock to {clock} of {top} MHz")


def _check(view: View) -> Outcome:
    printed = view.signals(_SAID)
    active = [signal for signal in printed if str(signal.values.get("state", "")).lower() == "active"]
    if active:
        return Hit(Confidence.HIGH, quote(*active[:2]))
    return CLEAR if printed else Lacks(("log",))


def _watch(view: View) -> Outcome:
    devices = [part for part in parts(view, "job.clocks.devices") if (part.number("loaded_s") or 0.0) >= _LEAST_S]
    if not any(
        part.number("thermal_share") is not None or part.number("temperature_c") is not None for part in devices
    ):
        return Lacks(("job.clocks.devices",))
    hits = [(hit, part) for part in devices if (hit := _throttled(part)) is not None]
    if not hits:
        return CLEAR
    confidence, worst = min(hits, key=lambda hit: (_ORDER.index(hit[0]), -(hit[1].number("thermal_share") or 0.0)))
    share, limit = worst.number("thermal_share"), worst.number("slowdown_c")
    values = {
        "gpu": worst.label,
        "temperature": _written(worst.number("temperature_high_c")),
        "clock": _written(worst.number("clock_mhz")),
        "top": _written(worst.number("clock_max_mhz")),
    }
    evidence = (
        measured(
            view,
            "job.clocks.devices",
            told(N_("{gpu} up to {temperature} °C"), gpu=worst.label, temperature=values["temperature"]),
            told(N_("limit {temperature} °C"), temperature=f"{limit:.0f}") if limit is not None else None,
            told(N_("thermal slowdown {share} of the time under load"), share=percent(share))
            if share is not None
            else None,
            sm_clock(values["clock"], values["top"]),
        ),
    )
    return Hit(confidence, evidence, values, title=_WATCHED)


_ORDER = tuple(Confidence)


def _throttled(part: Part) -> Confidence | None:
    share, clock = part.number("thermal_share"), part.number("clock_share")
    hottest, limit = part.number("temperature_high_c"), part.number("slowdown_c")
    near = hottest is not None and limit is not None and hottest >= limit - _NEAR_C
    if share is None:
        slow = clock is not None and clock < _LOW_CLOCK
        return Confidence.LOW if near and slow else None
    if share < _THROTTLED:
        # The hardware's own slowdown is heat or a power brake: the temperature tells which.
        slowed = (part.number("slowdown_share") or 0.0) >= _SURE
        return Confidence.MEDIUM if slowed and near and (part.number("brake_share") or 0.0) < _THROTTLED else None
    slower = clock is None or clock < 0.97
    return Confidence.HIGH if share >= _SURE and slower else Confidence.MEDIUM


def _written(value: float | None) -> str:
    return "?" if value is None else f"{value:.0f}"


def _advise(view: View, _hit: Hit) -> tuple[Step, ...]:
    return (*tuning.steps(view, "cool"), advice.check("nvidia-smi -q -d PERFORMANCE,TEMPERATURE"))


RULE = Rule(
    code="gpu-thermal-throttling",
    scope=Scope.MACHINE,
    step=9,
    severity=Severity.SLOWS,
    title=N_("The GPU lowers its clocks because it is too hot"),
    help=Help(
        what=N_("Whether heat holds the clocks down."),
        why=N_("The longer the load lasts, the slower it gets; no message of the framework says why."),
        how=N_(
            "nvidia-smi -q shows HW or SW Thermal Slowdown as active. SW Power Cap alone is normal at full load. "
            "Watched: the driver names heat as the reason for at least a tenth of the time under load."
        ),
        wrong=N_("One look is one moment: watch the process to see whether speed is lost for long."),
        todo=N_("Improve the cooling or lower the power limit."),
    ),
    check=_check,
    watch=_watch,
    needs=((f"signal:{_SAID}",),),
    advise=_advise,
    explains=("gpu-power-throttling", "multi-gpu-straggler"),
)
