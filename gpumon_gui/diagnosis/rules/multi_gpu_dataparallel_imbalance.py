"""Knows: torch's DataParallel. Must not know: the other rules."""

from __future__ import annotations

import re

from gpumon_gui.core.messages import N_
from gpumon_gui.diagnosis import advice
from gpumon_gui.diagnosis.facts import View
from gpumon_gui.diagnosis.finding import Confidence, Severity, Step
from gpumon_gui.diagnosis.rule import CLEAR, Help, Hit, Lacks, Outcome, Rule, Scope, cite, quote

_WRAPPER = "training.wrapper"
_GATHERS = "torch-dataparallel-in-use"
_DATA_PARALLEL = re.compile(r"(?i)(?:^|[^a-z])data ?parallel|^dp$")


def _check(view: View) -> Outcome:
    gathers = view.signal(_GATHERS)
    wrapper = view.text(_WRAPPER)
    if gathers is not None:
        return Hit(Confidence.MEDIUM, quote(gathers))
    if wrapper is None:
        return Lacks((_WRAPPER,))
    if not _DATA_PARALLEL.search(wrapper):
        return CLEAR
    count = view.number("gpu_count") or float(len(view.items("gpus")))
    if not count:
        return Lacks(("gpu_count",))
    return CLEAR if count < 2 else Hit(Confidence.MEDIUM, cite(view, _WRAPPER, "gpu_count"))


def _advise(_view: View, _hit: Hit) -> tuple[Step, ...]:
    return (
        advice.say(
            N_(
                "Use DistributedDataParallel, one process per GPU, also on one computer: it shares memory and work "
                "evenly and is faster."
            ),
            "torchrun --nproc_per_node=gpu train.py",
        ),
        advice.say(N_("Until then let the model return the loss, so that only small results are gathered on GPU 0.")),
    )


RULE = Rule(
    code="multi-gpu-dataparallel-imbalance",
    scope=Scope.MACHINE,
    step=9,
    severity=Severity.SLOWS,
    title=N_("DataParallel gathers everything on GPU 0: it fills first and the others wait"),
    help=Help(
        what=N_("Whether several GPUs are used through DataParallel."),
        why=N_(
            "One process drives all GPUs, and GPU 0 also holds outputs and gradients: twice the memory, less speed."
        ),
        how=N_("From what is known of the training, or from a warning that only DataParallel prints."),
        wrong=N_("With small outputs the imbalance is small."),
        todo=N_("Use DistributedDataParallel."),
    ),
    check=_check,
    advise=_advise,
    frameworks=("torch",),
    links=("https://pytorch.org/docs/stable/generated/torch.nn.DataParallel.html",),
)
