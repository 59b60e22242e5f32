"""Knows: a GPU with hardly any free memory. Must not know: the other rules."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from gpumon_gui.core.formatters import memory, percent
from gpumon_gui.core.messages import N_
from gpumon_gui.diagnosis import advice, tuning
from gpumon_gui.diagnosis.behaviour.parts import Part, parts
from gpumon_gui.diagnosis.evidence import measured, told
from gpumon_gui.diagnosis.facts import View
from gpumon_gui.diagnosis.finding import GPU_MEMORY, Confidence, Severity, Step, Words
from gpumon_gui.diagnosis.rule import CLEAR, Help, Hit, Lacks, Outcome, Rule, Scope, cite

#: A context alone needs some 300 MiB: with less than this share of a usual card nothing new can start.
_FULL_SHARE = 0.97
#: Watched, with what the driver keeps counted as used: from here on a card is nearly full, from the second one surely.
#: Frameworks that plan their memory stop before (JAX at 75 percent, vLLM at 90).
_WATCHED_SHARE = 0.95
_SURE_SHARE = 0.97
#: A program that holds less than this of a full card is not who fills it.
_HOLDS_SHARE = 0.5
#: What the driver and a desktop hold is less.
_OTHERS_SHARE = 0.05

_WATCHED = N_("{gpu} has {free} of {total} left: the next allocation may fail. This program holds {held} of it")
_OTHERS = N_(
    "{gpu} has {free} of {total} left: the next allocation may fail. Others hold {others}, this program {held}"
)


def _check(view: View) -> Outcome:
    judged = False
    for gpu in view.items("gpus"):
        used, total = _sizes(gpu)
        if used is None or total is None or total <= 0:
            continue
        judged = True
        if used >= _FULL_SHARE * total:
            values = {"used": memory(used), "total": memory(total), "gpu": str(gpu.get("name") or "GPU")}
            return Hit(Confidence.MEDIUM, cite(view, "gpus"), values)
    return CLEAR if judged else Lacks(("gpus.memory_used_bytes",))


def _sizes(gpu: Any) -> tuple[float | None, float | None]:
    if not isinstance(gpu, Mapping):
        return None, None
    used, total, gib = (gpu.get(key) for key in ("memory_used_bytes", "memory_total_bytes", "memory_total_gib"))
    if not isinstance(total, int | float) and isinstance(gib, int | float):
        total = gib * 2**30
    return (used if isinstance(used, int | float) else None), (total if isinstance(total, int | float) else None)


def _watch(view: View) -> Outcome:
    judged = [part for part in parts(view, "job.memory.devices") if part.number("used_share") is not None]
    if not judged:
        return Lacks(("job.memory.devices",))
    fullest = max(judged, key=lambda part: part.number("used_share") or 0.0)
    share, total = fullest.number("used_share") or 0.0, fullest.number("total_bytes")
    if share < _WATCHED_SHARE or total is None:
        return CLEAR
    held, others = fullest.number("job_bytes"), fullest.number("others_bytes")
    free = fullest.number("free_bytes")
    values = {
        "gpu": fullest.label,
        "free": memory(total * (1 - share) if free is None else free),
        "total": memory(total),
        "held": "?" if held is None else memory(held),
        "others": "?" if others is None else memory(others),
    }
    used = told(N_("{gpu} {share} used"), gpu=fullest.label, share=percent(share, 1))
    evidence = (measured(view, "job.memory.devices", used, *_holders(fullest)),)
    alone = held is None or held >= _HOLDS_SHARE * total
    return Hit(
        Confidence.HIGH if share >= _SURE_SHARE else Confidence.MEDIUM,
        evidence,
        values,
        title=_WATCHED if alone else _OTHERS,
    )


def _others_matter(view: View) -> bool:
    """Whether other programs hold enough of a card to be missed; where nobody says, they may."""
    return any(
        (others := part.number("others_bytes")) is None or others >= _OTHERS_SHARE * (part.number("total_bytes") or 0.0)
        for part in parts(view, "job.memory.devices")
    )


def _holders(part: Part) -> tuple[Words, ...]:
    """Who holds it, as evidence."""
    found = []
    for one in part.parts("holders"):
        pid, size = one.number("pid"), one.number("bytes")
        if pid is not None and size is not None:
            name = f"{pid:.0f} {one.text('name') or ''}".rstrip()
            found.append(told(N_("process {name}: {size}"), name=name, size=memory(size)))
    return tuple(found)


def _advise(view: View, _hit: Hit) -> tuple[Step, ...]:
    if view.is_job:
        end = advice.say(
            N_("End other programs on this GPU that nobody needs; the evidence above names who holds what.")
        )
        return (*((end,) if _others_matter(view) else ()), *tuning.steps(view, "need-less-memory"))
    return (
        advice.say(N_("See who holds it; TensorFlow and JAX take most of it on purpose:"), "nvidia-smi"),
        advice.say(N_("End what nobody needs before you start another program on this GPU.")),
    )


RULE = Rule(
    code="gpu-memory-nearly-full",
    scope=Scope.MACHINE,
    step=9,
    severity=Severity.CRASHES,
    title=N_("The memory of {gpu} is nearly full ({used} of {total}): the next program on it will fail"),
    help=Help(
        what=N_("Whether a GPU has memory left at this moment."),
        why=N_("A program needs some 300 MB only to open the GPU."),
        how=N_(
            "At least 97 percent of the memory is in use; watched over a while, at least 95 percent at its end, with "
            "everything that other programs hold."
        ),
        wrong=N_("A running training may be meant to use all of it."),
        todo=N_("End other programs, or choose another GPU."),
    ),
    check=_check,
    watch=_watch,
    advise=_advise,
    short_of=(GPU_MEMORY,),
)
