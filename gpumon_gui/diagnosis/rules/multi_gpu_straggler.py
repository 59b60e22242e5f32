"""Knows: ranks that wait for a slower or more loaded one. Must not know: the other rules."""

from __future__ import annotations

from gpumon_gui.core.formatters import percent
from gpumon_gui.core.messages import N_
from gpumon_gui.diagnosis import advice
from gpumon_gui.diagnosis.behaviour.parts import Part, parts
from gpumon_gui.diagnosis.evidence import gpu_busy, measured, power_drawn, sm_activity, told
from gpumon_gui.diagnosis.facts import View
from gpumon_gui.diagnosis.finding import Confidence, Evidence, Severity, Step
from gpumon_gui.diagnosis.rule import CLEAR, Help, Hit, Lacks, Outcome, Rule, Scope

#: A rank that waits in a collective reads as busy.
_WAITS_BUSY = 0.6
_LIKE = 0.85
#: How full its kernels are then, against the fullest rank: spinning fills some SMs (a third on an H200). Cards of one
#: kind differ by some percent in SM activity (two H200 by 2) and by up to a tenth in power.
_EMPTIER, _EMPTIER_BY_POWER, _SURELY_EMPTIER = 0.78, 0.7, 0.5
#: The rank that is waited for works most of the time with full kernels; one that is itself waiting for something does
#: not, and is known by its gaps.
_FULL = 0.4
_GAPS = 0.85
#: Ranks do not wait so far below full clocks by themselves.
_SLOW_CLOCK = 0.8
#: Ranks do not begin at the same moment, and single steps differ.
_LEAST_SAMPLES, _LEAST_S, _SURE_S = 4, 2.0, 5.0

_LOADED = N_(
    "{waiting} waits for {slow}: it reads {busy} busy, but its kernels fill {fill} of it; those of {slow} fill "
    "{slow_fill}"
)
_HUNGRY = N_("{waiting} waits for {slow}, which itself has gaps ({slow_busy} busy): its data or its CPU is late")
_THROTTLED = N_("{waiting} waits for {slow}, which runs at {slow_clock} of {clock} MHz")


def _watch(view: View) -> Outcome:
    devices = [part for part in parts(view, "job.groups.devices") if part.number("fill") is not None]
    if len(devices) < 2:
        return CLEAR if len(parts(view, "job.groups.devices")) == 1 else Lacks(("job.groups.devices",))
    if len({part.text("work_source") for part in devices}) > 1:
        return Lacks(("job.groups.devices",))
    coupled = view.flag("job.groups.coupled")
    if coupled is False or not (view.flag("job.groups.ranks") or coupled):
        return CLEAR  # nobody waits for anybody
    seconds = view.number("job.program.seconds") or 0.0
    if (view.number("job.program.samples") or 0) < _LEAST_SAMPLES or seconds < _LEAST_S:
        return Lacks(("job.program.seconds",))
    slow = max(devices, key=lambda part: part.number("fill") or 0.0)
    fullest = slow.number("fill") or 0.0
    most = slow.number("busy") or 0.0
    by_power = slow.text("work_source") == "power"
    emptier = _EMPTIER_BY_POWER if by_power else _EMPTIER
    waiting = [
        part
        for part in devices
        if (part.number("fill") or 0.0) <= emptier * fullest
        and (part.number("busy") or 0.0) >= max(_WAITS_BUSY, _LIKE * most)
    ]
    if not waiting or fullest < _FULL:
        return CLEAR
    clocks = [part.number("clock_mhz") or 0.0 for part in waiting]
    if by_power and slow.number("clock_mhz") and min(clocks) < _SLOW_CLOCK * (slow.number("clock_mhz") or 0.0):
        return _by_clock(view, devices, waiting, slow)
    ratio = max(part.number("fill") or 0.0 for part in waiting) / fullest
    late = [part for part in devices if part not in waiting]
    sure = ratio <= _SURELY_EMPTIER and not by_power and coupled is True and seconds >= _SURE_S
    # Programs that one shell started side by side share parent and command; nothing shows that they exchange data.
    alike_only = coupled is None and not view.flag("job.groups.together")
    return Hit(
        Confidence.LOW if alike_only else Confidence.HIGH if sure else Confidence.MEDIUM,
        _evidence(view, [*late[:3], *waiting[:3]]),
        _values(waiting, late, slow),
        title=_HUNGRY if most < _GAPS else _LOADED,
    )


def _by_clock(view: View, devices: list[Part], low: list[Part], high: Part) -> Outcome:
    """By power alone: the card that draws little runs at a low clock, so it may be the slow one, not the waiting."""
    waiting = [part for part in devices if part not in low]
    values = _values(waiting, low, low[0])
    values |= {"clock": f"{high.number('clock_mhz') or 0:.0f}"}
    return Hit(Confidence.LOW, _evidence(view, [*low[:3], *waiting[:3]]), values, title=_THROTTLED)


def _values(waiting: list[Part], slow: list[Part], named: Part) -> dict[str, str]:
    return {
        "waiting": ", ".join(part.label for part in waiting),
        "slow": ", ".join(part.label for part in slow) or named.label,
        "busy": percent(min(part.number("busy") or 0.0 for part in waiting)),
        "slow_busy": percent(named.number("busy") or 0.0),
        "fill": percent(max(part.number("fill") or 0.0 for part in waiting)),
        "slow_fill": percent(named.number("fill") or 0.0),
        "slow_clock": f"{named.number('clock_mhz') or 0:.0f}",
        "clock": f"{waiting[0].number('clock_mhz') or 0:.0f}" if waiting else "?",
    }


def _evidence(view: View, devices: list[Part]) -> tuple[Evidence, ...]:
    return tuple(
        measured(
            view,
            "job.groups.devices",
            gpu_busy(part),
            sm_activity(part),
            power_drawn(part),
            told(N_("SM clock {clock} MHz"), clock=f"{clock:.0f}")
            if (clock := part.number("clock_mhz")) is not None
            else None,
        )
        for part in devices
    )


def _advise(_view: View, _hit: Hit) -> tuple[Step, ...]:
    return (
        advice.say(
            N_(
                "Give each rank the same work: the same batch size, samples of similar size (bucketed by length), "
                "and an even split of the data:"
            ),
            "DistributedSampler(dataset, shuffle=True, drop_last=True)",
        ),
        advice.say(N_("Keep work that only one rank does (logging, evaluation, checkpoints) out of the step.")),
        advice.say(
            N_("If the work is even, look at the slow GPU itself: heat, power limit, other programs, its slot:"),
            "nvidia-smi -q -d PERFORMANCE,CLOCK,TEMPERATURE\nnvidia-smi topo -m",
        ),
    )


RULE = Rule(
    code="multi-gpu-straggler",
    scope=Scope.JOB,
    step=9,
    severity=Severity.SLOWS,
    title=_LOADED,
    help=Help(
        what=N_("Whether GPUs of one program wait for a slower or more loaded one."),
        why=N_("In each step all ranks wait for the last: the slowest sets the speed of all."),
        how=N_(
            "All read as busy, since waiting in a collective counts as work. The one with the fullest kernels (SM "
            "activity per busy time; without that counter power above rest) is waited for by those with at most 78 "
            "percent of that (70 by power)."
        ),
        wrong=N_(
            "Without SM counters power must do, which differs between cards and clocks; programs that a script started "
            "side by side can look like ranks."
        ),
        todo=N_("Even out the work; if it is even, find what slows that GPU."),
    ),
    watch=_watch,
    advise=_advise,
)
