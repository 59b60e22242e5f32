"""Knows: GPU memory that a program holds while it does nothing. Must not know: the other rules."""

from __future__ import annotations

from gpumon_gui.core.formatters import cores, memory, share
from gpumon_gui.core.messages import N_
from gpumon_gui.diagnosis import advice, tuning
from gpumon_gui.diagnosis.behaviour.parts import parts
from gpumon_gui.diagnosis.evidence import AMOUNT, measured, told
from gpumon_gui.diagnosis.facts import View
from gpumon_gui.diagnosis.finding import Confidence, Severity, Step
from gpumon_gui.diagnosis.rule import CLEAR, Help, Hit, Lacks, Outcome, Rule, Scope

#: Much: more than a context with its libraries (0.3 to 0.6 GiB), and a part of the card that others would miss.
_MUCH_BYTES = 1 << 30
_MUCH_SHARE = 0.02
#: Nothing: readings of an idle GPU flicker up to 1 %, a program that sleeps takes some hundredths of a core.
_IDLE_BUSY = 0.02
_IDLE_CORES = 0.05
_ASLEEP_CORES = 0.02
_IDLE_READS = 5e6
_LEAST_S = 4.0
_SURE_S = 10.0


_CPU_UNKNOWN = N_("The program holds {size} of {gpu} and did nothing there for {seconds} seconds")


def _watch(view: View) -> Outcome:
    held = [
        part
        for part in parts(view, "job.memory.devices")
        if (size := part.number("job_bytes")) is not None
        and size >= max(_MUCH_BYTES, _MUCH_SHARE * (part.number("total_bytes") or 0.0))
    ]
    busy = view.number("job.memory.gpu_busy_high")
    seconds = view.number("job.memory.seconds") or 0.0
    in_use = view.number("job.memory.cpu_cores")
    # No kernel starts without a CPU: where it is not counted whose work a GPU does, a sleeping program does none.
    asleep = view.flag("job.memory.others_work") is True and in_use is not None and in_use <= _ASLEEP_CORES
    if busy is None and not asleep:
        return Lacks(("job.memory.gpu_busy_high",))
    if not held or (busy or 0.0) > _IDLE_BUSY:
        return CLEAR
    if (in_use or 0.0) > _IDLE_CORES or (view.number("job.memory.read_bytes_per_s") or 0.0) > _IDLE_READS:
        return CLEAR
    if any(part.text("growth") in ("loading", "steady", "slowing") for part in held):
        return CLEAR  # it is being filled
    if seconds < _LEAST_S:
        return Lacks(("job.memory.seconds",))
    largest = max(held, key=lambda part: part.number("job_bytes") or 0.0)
    size = largest.number("job_bytes") or 0.0
    total = largest.number("total_bytes")
    values = {
        "size": memory(size),
        "gpu": ", ".join(part.label for part in held),
        "seconds": f"{seconds:.0f}",
    }
    evidence = (
        measured(
            view,
            "job.memory",
            told(N_("{size} of {total}"), size=memory(size), total=memory(total))
            if total
            else told(AMOUNT, amount=memory(size)),
            told(N_("GPU busy {share}"), share=share(busy)) if busy is not None else None,
            told(N_("CPU {cores} cores"), cores=cores(in_use)) if in_use is not None else None,
        ),
    )
    sure = busy is not None and in_use is not None and seconds >= _SURE_S
    title = _CPU_UNKNOWN if in_use is None else None
    return Hit(Confidence.HIGH if sure else Confidence.MEDIUM, evidence, values, title=title)


def _advise(view: View, _hit: Hit) -> tuple[Step, ...]:
    pid = view.number("job.program.pid")
    return (
        advice.say(N_("End the program if nobody needs it: a forgotten notebook or debugger keeps all it has."))
        if pid is None
        else advice.say(
            N_("End the program (number {pid}) if nobody needs it: a forgotten notebook keeps all it has."),
            pid=f"{pid:.0f}",
        ),
        *tuning.steps(view, "release-memory"),
    )


RULE = Rule(
    code="gpu-memory-held-idle",
    scope=Scope.JOB,
    step=9,
    severity=Severity.SLOWS,
    title=N_("The program holds {size} of {gpu} and did nothing for {seconds} seconds, neither there nor on the CPU"),
    help=Help(
        what=N_("Whether a program keeps GPU memory without using it."),
        why=N_("Others cannot have that memory; their programs fail or use smaller batches."),
        how=N_(
            "At least 1 GB and 2 percent of the card, a GPU that is busy for at most 2 percent of the time, and a CPU "
            "that takes at most a twentieth of a core, over the whole time that was watched."
        ),
        wrong=N_("A server that waits for requests, or a program that waits for its user, looks the same."),
        todo=N_("End it, or free what it does not need."),
    ),
    watch=_watch,
    advise=_advise,
)
