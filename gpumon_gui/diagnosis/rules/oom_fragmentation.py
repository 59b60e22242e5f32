"""Knows: memory that is reserved, free, and not in one piece. Must not know: the other rules."""

from __future__ import annotations

from gpumon_gui.core.messages import N_
from gpumon_gui.diagnosis import advice, in_profile
from gpumon_gui.diagnosis.facts import View
from gpumon_gui.diagnosis.finding import GPU_MEMORY, Confidence, Severity, Step
from gpumon_gui.diagnosis.out_of_memory import IDLE_SHARE, first_numbers, written
from gpumon_gui.diagnosis.rule import CLEAR, Help, Hit, Lacks, Outcome, Rule, Scope, quote

_BLOCK = "torch-snapshot-block"
_SNAPSHOT = N_("In the printed memory snapshot {share} of the reserved memory lies idle between blocks in use")
#: From this idle share on there is little doubt.
_CLEAR_SHARE = 0.3


def _check(view: View) -> Outcome:
    return in_profile.weighed(in_profile.holes_in_memory(view), _printed(view))


def _printed(view: View) -> Outcome:
    found = first_numbers(view)
    if found is not None:
        signal, numbers = found
        if not numbers.fragmented or numbers.beyond_the_card or numbers.others_are_the_cause:
            return CLEAR
        sure = numbers.idle >= _CLEAR_SHARE * numbers.reserved
        return Hit(Confidence.HIGH if sure else Confidence.MEDIUM, quote(signal), written(numbers))
    blocks = view.signals(_BLOCK)
    idle = sum(block.values["bytes"] for block in blocks if block.values["state"] == "inactive")
    total = sum(block.values["bytes"] for block in blocks)
    if total <= 0:
        return Lacks(("log",))
    if idle in (0, total) or idle < IDLE_SHARE * total:
        return CLEAR
    # A part of a snapshot, and nothing says that an allocation failed.
    first = next(block for block in blocks if block.values["state"] == "inactive")
    return Hit(Confidence.MEDIUM, quote(first), {"share": f"{100 * idle / total:.0f} %"}, title=_SNAPSHOT)


def _advise(view: View, _hit: Hit) -> tuple[Step, ...]:
    return (
        advice.say(
            N_(
                "Let torch grow its segments instead of leaving holes (torch 2.1 and newer; before the program starts):"
            ),
            advice.set_variable(view, "PYTORCH_CUDA_ALLOC_CONF", "expandable_segments:True"),
        ),
        advice.say(
            N_(
                "On Windows, where that is not supported, use max_split_size_mb:128 as the value. Inputs of one "
                "length, or the longest first, avoid the holes."
            )
        ),
    )


RULE = Rule(
    code="oom-fragmentation",
    scope=Scope.MACHINE,
    step=9,
    severity=Severity.CRASHES,
    title=N_("Fragmented memory: {idle} are reserved and unused, yet {request} in one piece could not be found"),
    help=Help(
        what=N_("Whether enough memory is reserved and free, only in pieces that are too small."),
        why=N_("torch keeps freed memory for later. With inputs of varying size the free pieces can become useless."),
        how=N_(
            "Reserved minus allocated memory is larger than what was asked for, and at least 15 percent of what is "
            "reserved. In a memory snapshot: holes between blocks in use are at least 30 percent of it, or a "
            "request failed that is smaller than they are. The hint that torch prints with every out-of-memory error "
            "is not looked at."
        ),
        wrong=N_("A message is one moment: a program that also needs nearly all memory fails again a little later."),
        todo=N_("Set PYTORCH_CUDA_ALLOC_CONF=expandable_segments:True, or keep the sizes of inputs alike."),
    ),
    check=_check,
    needs=(("signal:torch-out-of-memory", f"signal:{_BLOCK}", "memory_snapshot.fragmented_share"),),
    advise=_advise,
    short_of=(GPU_MEMORY,),
    explains=("gpu-memory-nearly-full",),
    frameworks=("torch",),
    links=("https://pytorch.org/docs/stable/notes/cuda.html#optimizing-memory-usage-with-pytorch-cuda-alloc-conf",),
)
