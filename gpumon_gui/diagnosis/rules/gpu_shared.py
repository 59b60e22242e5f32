"""Knows: programs that take one GPU's time from each other. Must not know: the other rules."""

from __future__ import annotations

from dataclasses import replace

from gpumon_gui.core.formatters import memory, share
from gpumon_gui.core.messages import N_
from gpumon_gui.diagnosis import advice
from gpumon_gui.diagnosis.behaviour.parts import Part, parts
from gpumon_gui.diagnosis.evidence import gpu_busy, in_words, told
from gpumon_gui.diagnosis.facts import View
from gpumon_gui.diagnosis.finding import Confidence, Evidence, Severity, Step
from gpumon_gui.diagnosis.rule import CLEAR, Help, Hit, Lacks, Outcome, Rule, Scope

#: A GPU with time left takes nothing away, and a program that could have a quarter more time at most hardly notices.
_FULL = 0.9
_TAKEN = 0.2
#: What fits into a title.
_NAMED, _LONG_NAME = 3, 32

_PATH = "window.sharing.devices"


def _watch(view: View) -> Outcome:
    devices = parts(view, _PATH)
    if not devices:
        return Lacks((_PATH,))
    shared = [part for part in devices if len(_programs(part)) > 1]
    if not shared:
        return CLEAR
    worst = max(shared, key=_taken)
    programs = _programs(worst)
    values = {
        "count": str(len(programs)),
        "gpu": worst.label,
        "shares": ", ".join(f"{_name(one)} {share(one.number('busy') or 0.0)}" for one in programs[:_NAMED])
        + (", …" if len(programs) > _NAMED else ""),
    }
    slows = (worst.number("busy") or 0.0) >= _FULL and _taken(worst) >= _TAKEN
    # The same command twice from one parent may be one program that works in several processes on purpose.
    sure = all(one.flag("sure") is not False for one in programs)
    return Hit(
        Confidence.HIGH if sure else Confidence.MEDIUM,
        tuple(_evidence(view, part) for part in shared[:4]),
        values,
        severity=None if slows else Severity.INFO,
    )


def _programs(device: Part) -> tuple[Part, ...]:
    return tuple(part for part in device.parts("programs") if part.number("busy") is not None)


def _taken(device: Part) -> float:
    """The part of the time that the program which gets most does not have."""
    return sum(sorted(one.number("busy") or 0.0 for one in _programs(device))[:-1])


def _name(program: Part) -> str:
    pid, name = program.number("pid"), program.text("name") or "?"
    short = name if len(name) <= _LONG_NAME else f"{name[: _LONG_NAME - 1]}…"
    return short if pid is None else f"{short} ({pid:.0f})"


def _evidence(view: View, device: Part) -> Evidence:
    of_each = []
    for one in _programs(device):
        held, busy = one.number("memory_bytes"), share(one.number("busy") or 0.0)
        if held is None:
            of_each.append(told("{name} {share}", name=_name(one), share=busy))
        else:
            of_each.append(told("{name} {share} · {size}", name=_name(one), share=busy, size=memory(held)))
    found = in_words(_PATH, view.origin(_PATH), gpu_busy(device), *of_each)
    return replace(found, start_utc_s=device.number("start_utc_s"), end_utc_s=device.number("end_utc_s"))


def _advise(view: View, _hit: Hit) -> tuple[Step, ...]:
    shared = [part for part in parts(view, _PATH) if len(_programs(part)) > 1]
    elsewhere = [index for part in shared for index in part.facts.get("elsewhere") or () if isinstance(index, int)]
    steps = [advice.say(N_("Let one program wait until the other has finished: each then has the whole GPU."))]
    if elsewhere:
        # Without the first one CUDA numbers GPUs by their speed.
        order = advice.set_variable(view, "CUDA_DEVICE_ORDER", "PCI_BUS_ID")
        where = advice.set_variable(view, "CUDA_VISIBLE_DEVICES", str(elsewhere[0]))
        steps.append(advice.say(N_("Or start one of them on another GPU:"), f"{order}\n{where}"))
    if not advice.is_windows(view):
        steps.append(
            advice.say(
                N_("If both must run at once, NVIDIA's MPS (Linux) lets small kernels of both run side by side:"),
                "nvidia-cuda-mps-control -d",
            )
        )
    pids = [one.number("pid") for part in shared for one in _programs(part)]
    watched = "\n".join(f"gpumon watch --pid {pid:.0f}" for pid in dict.fromkeys(pids) if pid is not None)
    return (*steps, advice.say(N_("To judge only one of them:"), watched))


RULE = Rule(
    code="gpu-shared",
    scope=Scope.JOB,
    step=9,
    severity=Severity.SLOWS,
    title=N_("{count} programs share {gpu}: {shares}"),
    help=Help(
        what=N_("Whether several programs take one GPU's time from each other."),
        why=N_(
            "A GPU runs the kernels of several programs in turns: each gets a part of its time, takes longer by that "
            "much, and all of them need its memory."
        ),
        how=N_(
            "At least two programs take 10 percent of one GPU's time or more each (25 percent where a program may only "
            "draw). That slows them where the GPU is at least 90 percent busy and all but the busiest together take a "
            "fifth of its time; else it is only good to know."
        ),
        wrong=N_(
            "Several processes of one server or one experiment may share a GPU on purpose. Where the driver does not "
            "count each program's time, this cannot be told."
        ),
        todo=N_("Run one after the other, use another GPU, or let MPS run their kernels side by side."),
    ),
    watch=_watch,
    watch_scope=Scope.MACHINE,
    advise=_advise,
    links=("https://docs.nvidia.com/deploy/mps/",),
)
