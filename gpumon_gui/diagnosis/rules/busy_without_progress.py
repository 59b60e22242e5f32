"""Knows: a GPU that reads as fully busy and does nothing. Must not know: the other rules."""

from __future__ import annotations

from gpumon_gui.core.formatters import watts
from gpumon_gui.core.messages import N_
from gpumon_gui.diagnosis import advice, tuning
from gpumon_gui.diagnosis.behaviour.parts import Part, parts
from gpumon_gui.diagnosis.evidence import gpu_busy, measured, told
from gpumon_gui.diagnosis.facts import View
from gpumon_gui.diagnosis.finding import Confidence, Severity, Step
from gpumon_gui.diagnosis.rule import CLEAR, Help, Hit, Lacks, Outcome, Rule, Scope

#: Longer than any wait of a healthy training step, and than the windows of the counters.
_LEAST_S = 6.0
#: While one rank writes a checkpoint the others wait for it just so; that takes seconds, up to a minute.
_CHECKPOINT_S = 60.0
_WORKING_CORES = 0.2
#: A kernel that computes for so long without memory, launches or transfers is rare; at low power still rarer.
_SURE_S = 30.0
_TOGETHER_S = 15.0
#: Kernels that fill this much of the SMs compute; a collective that waits spins on a few.
_FILLS = 0.4


def _watch(view: View) -> Outcome:
    devices = parts(view, "job.progress.devices")
    if not view.known("job.progress") and not view.known("job.activity") and not view.known("job.memory"):
        return Lacks(("job.progress.devices",))
    stalled = [
        part
        for part in devices
        if (part.number("stalled_s") or 0.0) >= _LEAST_S
        and (part.number("sm") or 0.0) < _FILLS
        and part.flag("memory_known")
    ]
    if not stalled:
        return CLEAR
    stalled.sort(key=lambda part: part.number("index") or 0.0)
    seconds = min(part.number("stalled_s") or 0.0 for part in stalled)
    first = stalled[0]
    values = {
        "gpus": ", ".join(part.label for part in stalled),
        "seconds": f"{seconds:.0f}",
        "power": f"{first.number('power_w') or 0.0:.0f}",
        "limit": f"{first.number('power_limit_w') or 0.0:.0f}",
    }
    evidence = tuple(
        measured(
            view,
            "job.progress.devices",
            gpu_busy(part),
            told(N_("for the last {seconds} s"), seconds=f"{part.number('stalled_s') or 0.0:.0f}"),
            told(
                N_("{power} of {limit}"),
                power=watts(part.number("power_w") or 0.0),
                limit=watts(part.number("power_limit_w") or 0.0),
            ),
            told(N_("no memory traffic")),
            told(N_("no traffic with the host or other GPUs")) if part.flag("traffic_known") else None,
        )
        for part in stalled[:4]
    )
    known = all(part.flag("traffic_known") for part in stalled)
    sure = known and (seconds >= _SURE_S or (len(stalled) > 1 and seconds >= _TOGETHER_S))
    others = [part for part in parts(view, "job.groups.devices") if part.number("index") not in _indexes(stalled)]
    # Who is waited for does something on its CPU then: writes, evaluates. A rank that sleeps does not come.
    awaited = any((cores := part.number("cpu_cores")) is None or cores >= _WORKING_CORES for part in others)
    if (not known and seconds < _SURE_S) or (awaited and seconds < _CHECKPOINT_S):
        return Hit(Confidence.LOW, evidence, values)
    return Hit(Confidence.HIGH if sure else Confidence.MEDIUM, evidence, values)


def _indexes(devices: list[Part]) -> set[float | None]:
    return {part.number("index") for part in devices}


def _advise(view: View, _hit: Hit) -> tuple[Step, ...]:
    several = len(parts(view, "job.groups.devices")) > 1
    pid = view.number("job.program.pid")
    where = f"py-spy dump --pid {pid:.0f}" if pid is not None else "py-spy dump --pid PID"
    return (
        advice.say(N_("See on which line the program waits (pip install py-spy; as administrator):"), where),
        *(tuning.steps(view, "nccl-debug") if several else ()),
    )


RULE = Rule(
    code="busy-without-progress",
    scope=Scope.JOB,
    step=9,
    severity=Severity.SLOWS,
    title=N_(
        "{gpus}: 100 percent busy for {seconds} seconds, yet at {power} of {limit} W and without any traffic: the "
        "program hangs or spins"
    ),
    help=Help(
        what=N_("Whether a GPU that reads as busy gets anything done."),
        why=N_("A collective that waits for a rank that never comes looks like full use, for hours."),
        how=N_(
            "At least 95 percent busy for 6 seconds and more up to now, at a power like at rest, while neither its "
            "memory nor PCIe nor NVLink moves data: no kernel is started, and the one that runs only waits."
        ),
        wrong=N_("One very long kernel that computes in registers on few SMs looks the same."),
        todo=N_("Look where each rank waits, and start again with NCCL's messages."),
    ),
    watch=_watch,
    advise=_advise,
    explains=("workload-too-small", "mixed-precision-not-active", "multi-gpu-straggler", "gpu-stuck-in-low-pstate"),
)
