"""Knows: what frameworks say about loading data too slowly. Must not know: the other rules."""

from __future__ import annotations

from gpumon_gui.core.messages import N_
from gpumon_gui.diagnosis import advice
from gpumon_gui.diagnosis.facts import View
from gpumon_gui.diagnosis.finding import Confidence, Severity, Step
from gpumon_gui.diagnosis.rule import CLEAR, Help, Hit, Lacks, Outcome, Rule, Scope, cite, quote

_FEW = "lightning-few-workers"
_MANY = "torch-too-many-workers"
_WORKERS = "training.num_workers"

_TOO_MANY = N_("The data loader starts {workers} workers, more than the {suggested} that this computer can run well")
_NO_WORKERS = N_("Data is loaded in the training process itself (num_workers=0): the GPU may wait for it")


def _check(view: View) -> Outcome:
    few = view.signal(_FEW)
    if few is not None:
        return Hit(Confidence.MEDIUM, quote(few) + cite(view, _WORKERS, "host.cpu_count"))
    many = view.signal(_MANY)
    if many is not None:
        values = {name: str(many.values[name]) for name in ("workers", "suggested")}
        return Hit(Confidence.MEDIUM, quote(many), values, title=_TOO_MANY)
    workers, cores = view.number(_WORKERS), view.number("host.cpu_count")
    if workers is None:
        return Lacks((_WORKERS,))
    if workers == 0 and cores is not None and cores >= 4:
        return Hit(Confidence.LOW, cite(view, _WORKERS, "host.cpu_count"), title=_NO_WORKERS)
    return CLEAR


def _advise(_view: View, _hit: Hit) -> tuple[Step, ...]:
    return (
        advice.say(
            N_(
                "Measure first: time the loop over the data loader alone. If that is as slow as training, the data is "
                "the limit."
            )
        ),
        advice.say(
            N_(
                "Then try DataLoader(num_workers=4, persistent_workers=True, pin_memory=True) and a few other numbers: "
                "too many workers are as slow as too few, and each needs memory of its own. On Windows the program's "
                "start "
                'must stand under if __name__ == "__main__".'
            )
        ),
        advice.say(N_("Watch the process for a minute: GPU use in teeth (0 and 90 percent in turns) confirms it.")),
    )


RULE = Rule(
    code="input-pipeline-bound",
    scope=Scope.MACHINE,
    step=9,
    severity=Severity.SLOWS,
    title=N_("Loading the data may be slower than the GPU: the framework warns that too few workers load it"),
    help=Help(
        what=N_("Whether the GPU waits for data."),
        why=N_("Reading, decoding and augmenting on few CPU cores is the most frequent reason for low GPU use."),
        how=N_("Warnings of PyTorch Lightning and torch about the number of workers, and num_workers itself."),
        wrong=N_(
            "The warnings look at numbers only: with small data in memory they mean nothing. Measurements over time "
            "decide."
        ),
        todo=N_("Measure the loader alone, then change the number of workers or store the data ready to use."),
    ),
    check=_check,
    advise=_advise,
    links=("https://pytorch.org/docs/stable/data.html#multi-process-data-loading",),
)
