"""Knows: GPUs that spend their time exchanging data. Must not know: the other rules."""

from __future__ import annotations

from gpumon_gui.core.formatters import percent, speed
from gpumon_gui.core.messages import N_
from gpumon_gui.diagnosis import in_profile, tuning
from gpumon_gui.diagnosis.behaviour.parts import parts
from gpumon_gui.diagnosis.evidence import gpu_busy, measured, sm_activity, told
from gpumon_gui.diagnosis.facts import View
from gpumon_gui.diagnosis.finding import Confidence, Severity, Step
from gpumon_gui.diagnosis.rule import CLEAR, Help, Hit, Lacks, Outcome, Rule, Scope

_ALONE = "profile.gpu_exposed_collective_share"
#: A collective counts as work: all ranks read as busy.
_BUSY = 0.6
#: NCCL runs on some of the SMs (16 to 32 of an H200's 132) and computes nothing but sums.
_FILL, _LITTLE_FILL, _FILL_BY_POWER = 0.55, 0.4, 0.5
_MATH, _LITTLE_MATH = 0.25, 0.1
#: Reading memory is the limit instead (a large model that writes text on several GPUs). Reducing at the speed of an
#: NVLink takes up to a third of the memory bandwidth.
_DRAM, _LITTLE_DRAM = 0.35, 0.25
#: All alike, else one is waited for.
_ALIKE = 0.7
#: Steady: traffic in most samples.
_STEADY = 0.7
#: Bytes per second of a link that is the limit, surely and perhaps. NVLink of servers moves 200 to 400 GB/s and more;
#: a healthy training with overlap was seen at 40. Below, short collectives wait for their start rather than the link.
_RATES = {"NVLink": (50e9, 20e9, 1e9), "PCIe": (1e12, 2e9, 0.5e9)}
_STARVED_FILL, _STARVED_RATE = 0.3, 5e9


def _check(view: View) -> Outcome:
    return in_profile.weighed(in_profile.communicating(view), Lacks((_ALONE,)))


def _watch(view: View) -> Outcome:
    devices = parts(view, "job.groups.devices")
    fills = [fill for part in devices if (fill := part.number("fill")) is not None]
    if len(devices) < 2:
        return CLEAR if devices else Lacks(("job.groups.devices",))
    if len(fills) < len(devices):
        return CLEAR if any((part.number("busy") or 0.0) < 0.03 for part in devices) else Lacks(("job.groups.devices",))
    if not view.flag("job.groups.coupled"):
        return CLEAR if view.known("job.groups.coupled") else Lacks(("job.groups.coupled",))
    by_power = devices[0].text("work_source") != "sm"
    busy = [part.number("busy") or 0.0 for part in devices]
    maths = [math for part in devices if (math := part.number("math")) is not None]
    drams = [dram for part in devices if (dram := part.number("dram")) is not None]
    rate = view.number("job.groups.exchange_bytes_per_s") or 0.0
    steady = view.number("job.groups.exchange_steady")
    if (
        min(busy) < _BUSY
        or max(fills) > (_FILL_BY_POWER if by_power else _FILL)
        or min(fills) < _ALIKE * max(fills)
        or (maths and max(maths) > _MATH)
        or (drams and max(drams) > _DRAM)
        or not view.flag("job.groups.exchange_alike")
        or (steady is not None and steady < _STEADY)
    ):
        return CLEAR
    by = view.text("job.groups.coupled_by") or "PCIe"
    values = {
        "gpus": ", ".join(part.label for part in devices),
        "busy": percent(min(busy)),
        "fill": percent(max(fills)),
        "by": by,
        "rate": speed(rate),
    }
    evidence = tuple(
        measured(
            view,
            "job.groups.devices",
            gpu_busy(part),
            sm_activity(part),
            told(N_("tensor, FP32 and FP16 units {share}"), share=percent(math))
            if (math := part.number("math")) is not None
            else None,
            told(N_("{link} {rate}"), link=by, rate=speed(rate)),
        )
        for part in devices[:4]
    )
    computes = not maths or max(maths) > _LITTLE_MATH or not drams or max(drams) > _LITTLE_DRAM
    sure, perhaps, least = _RATES.get(by, _RATES["PCIe"])
    if rate < least:
        return CLEAR
    if rate >= sure and not by_power and not computes and max(fills) <= _LITTLE_FILL:
        return Hit(Confidence.HIGH, evidence, values)
    starved = max(fills) <= _STARVED_FILL and rate >= _STARVED_RATE
    return Hit(Confidence.MEDIUM if rate >= perhaps or starved else Confidence.LOW, evidence, values)


def _advise(view: View, _hit: Hit) -> tuple[Step, ...]:
    return tuning.steps(view, "faster-exchange", "rarer-exchange", "topology")


RULE = Rule(
    code="communication-bound",
    scope=Scope.MACHINE,
    step=9,
    severity=Severity.SLOWS,
    title=N_(
        "{gpus} spend their time exchanging data ({rate} over {by}): {busy} busy, but at most {fill} of their SMs work"
    ),
    help=Help(
        what=N_("Whether the exchange between GPUs takes longer than the computing."),
        why=N_("More GPUs then bring little; the link is the limit."),
        how=N_(
            "All GPUs of the program are busy and alike, their kernels fill less than 55 percent of the SMs with "
            "hardly any arithmetic or reading of memory, and data flows steadily between them over NVLink, or over "
            "PCIe in both directions. In a profile: at least 15 percent of the time collectives run and no other "
            "kernel does."
        ),
        wrong=N_("Where links are not counted, nothing is said. Offloading to the host looks similar over PCIe."),
        todo=N_("Exchange less often or fewer bytes, with larger batches per GPU; use the faster link."),
    ),
    check=_check,
    needs=((_ALONE,),),
    watch=_watch,
    advise=_advise,
    explains=("host-to-device-transfer-bound",),
)
