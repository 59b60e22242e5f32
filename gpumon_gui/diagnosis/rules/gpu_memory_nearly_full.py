"""Knows: a GPU with hardly any free memory at this moment. Must not know: the other rules."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from gpumon_gui.core.messages import N_
from gpumon_gui.diagnosis import advice
from gpumon_gui.diagnosis.facts import View
from gpumon_gui.diagnosis.finding import Confidence, Severity, Step
from gpumon_gui.diagnosis.out_of_memory import size_text
from gpumon_gui.diagnosis.rule import CLEAR, Help, Hit, Lacks, Outcome, Rule, Scope, cite

#: A context alone needs some 300 MiB: with less than this share of a usual card nothing new can start.
_FULL_SHARE = 0.97


def _check(view: View) -> Outcome:
    judged = False
    for gpu in view.items("gpus"):
        used, total = _sizes(gpu)
        if used is None or total is None or total <= 0:
            continue
        judged = True
        if used >= _FULL_SHARE * total:
            values = {"used": size_text(used), "total": size_text(total), "gpu": str(gpu.get("name") or "GPU")}
            return Hit(Confidence.MEDIUM, cite(view, "gpus"), values)
    return CLEAR if judged else Lacks(("gpus.memory_used_bytes",))


def _sizes(gpu: Any) -> tuple[float | None, float | None]:
    if not isinstance(gpu, Mapping):
        return None, None
    used, total, gib = (gpu.get(key) for key in ("memory_used_bytes", "memory_total_bytes", "memory_total_gib"))
    if not isinstance(total, int | float) and isinstance(gib, int | float):
        total = gib * 2**30
    return (used if isinstance(used, int | float) else None), (total if isinstance(total, int | float) else None)


def _advise(_view: View, _hit: Hit) -> tuple[Step, ...]:
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
        why=N_("A program needs some 300 MiB only to open the GPU."),
        how=N_("At least 97 percent of the memory is in use."),
        wrong=N_("A running training may be meant to use all of it."),
        todo=N_("End other programs, or choose another GPU."),
    ),
    check=_check,
    advise=_advise,
)
