"""Knows: GPUs without tensor cores. Must not know: the other rules."""

from __future__ import annotations

import re
from collections.abc import Mapping

from gpumon_gui.core.messages import N_
from gpumon_gui.diagnosis import advice
from gpumon_gui.diagnosis.compat.capability import capability_text, parse_capability
from gpumon_gui.diagnosis.compat.gpus import product
from gpumon_gui.diagnosis.facts import View
from gpumon_gui.diagnosis.finding import Confidence, Severity, Step
from gpumon_gui.diagnosis.rule import CLEAR, Help, Hit, Lacks, Outcome, Rule, Scope, cite, quote

_SAID = "keras-mixed-precision-slow"
_PRECISION = "training.precision"
_HALF = re.compile(r"(?i)\b(?:fp16|float16|half|bf16|bfloat16|amp|mixed\w*|16(?:-mixed)?)\b|mixed_|16-mixed")
#: The first capability with tensor cores (Volta).
_TENSOR_CORES = (7, 0)


def _check(view: View) -> Outcome:
    said = view.signal(_SAID)
    if said is not None:
        return Hit(Confidence.HIGH, quote(said), {"gpu": _without_tensor_cores(view) or "GPU"})
    precision = view.text(_PRECISION)
    if precision is None:
        return Lacks((_PRECISION,))
    if not _HALF.search(precision):
        return CLEAR
    if not any(_judgeable(gpu) for gpu in view.items("gpus")):
        return Lacks(("gpus.compute_capability",))
    name = _without_tensor_cores(view)
    if name is None:
        return CLEAR
    return Hit(Confidence.HIGH, cite(view, "gpus", _PRECISION), {"gpu": name})


def _judgeable(gpu: object) -> bool:
    return isinstance(gpu, Mapping) and ("compute_capability" in gpu or _product_without(gpu) is not None)


def _product_without(gpu: Mapping[str, object]) -> bool | None:
    """From the name: True without tensor cores, None when the name does not say."""
    name = gpu.get("name")
    found = product(name) if isinstance(name, str) else None
    return None if found is None or not found.certain or found.tensor_cores is None else not found.tensor_cores


def _without_tensor_cores(view: View) -> str | None:
    for gpu in view.items("gpus"):
        if not isinstance(gpu, Mapping):
            continue
        text = gpu.get("compute_capability")
        capability = parse_capability(text) if isinstance(text, str) else None
        # 7.5 is with tensor cores (RTX 20) and without (GTX 16): there the name decides.
        if (capability is not None and capability < _TENSOR_CORES) or _product_without(gpu):
            name = gpu.get("name")
            return str(name) if name else capability_text(capability or _TENSOR_CORES)
    return None


def _advise(_view: View, _hit: Hit) -> tuple[Step, ...]:
    return (
        advice.say(
            N_(
                "Nothing is broken. Mixed precision still halves the memory for activations here; for speed on this "
                "GPU use float32."
            )
        ),
    )


RULE = Rule(
    code="mixed-precision-no-gain-on-this-gpu",
    scope=Scope.MACHINE,
    step=9,
    severity=Severity.INFO,
    title=N_("Mixed precision makes nothing faster on this GPU ({gpu}): it has no tensor cores"),
    help=Help(
        what=N_("Whether half precision is used on a GPU without tensor cores."),
        why=N_("The gain of mixed precision comes from tensor cores, which exist from compute capability 7.0 on."),
        how=N_("From the compute capability; the GTX 16 series has 7.5 and yet no tensor cores, which the name tells."),
        wrong=N_("Pascal's P100 computes float16 twice as fast even without tensor cores."),
        todo=N_("Use float32 for speed, mixed precision for memory."),
    ),
    check=_check,
    advise=_advise,
    links=("https://developer.nvidia.com/cuda-gpus",),
)
