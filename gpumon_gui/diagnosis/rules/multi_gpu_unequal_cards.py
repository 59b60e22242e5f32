"""Knows: a weak card among strong ones. Must not know: the other rules."""

from __future__ import annotations

from gpumon_gui.core.messages import N_
from gpumon_gui.diagnosis import advice
from gpumon_gui.diagnosis.facts import View
from gpumon_gui.diagnosis.finding import Confidence, Severity, Step
from gpumon_gui.diagnosis.rule import Help, Hit, Lacks, Outcome, Rule, Scope, quote

_TORCH = "torch-unequal-gpus"
_TENSORFLOW = "tf-weak-gpu-ignored"
_IGNORED = N_("TensorFlow leaves GPU {weak} out because it is much weaker than the others")


def _check(view: View) -> Outcome:
    torch = next((s for s in view.signals(_TORCH) if "weak" in s.values), view.signal(_TORCH))
    if torch is not None:
        return Hit(Confidence.HIGH, quote(torch), {"weak": str(torch.values.get("weak", "?"))})
    tensorflow = view.signal(_TENSORFLOW)
    if tensorflow is None:
        return Lacks(("log",))
    weak = str(tensorflow.values.get("weak", "?"))
    return Hit(Confidence.HIGH, quote(tensorflow), {"weak": weak}, severity=Severity.INFO, title=_IGNORED)


def _advise(view: View, _hit: Hit) -> tuple[Step, ...]:
    return (
        advice.say(
            N_("Use only the equal cards, for example the first one (numbers as nvidia-smi -L shows them):"),
            advice.set_variable(view, "CUDA_VISIBLE_DEVICES", "0"),
        ),
        advice.say(
            N_("Let CUDA count as nvidia-smi does, which is not its default:"),
            advice.set_variable(view, "CUDA_DEVICE_ORDER", "PCI_BUS_ID"),
        ),
    )


RULE = Rule(
    code="multi-gpu-unequal-cards",
    scope=Scope.MACHINE,
    step=9,
    severity=Severity.CRASHES,
    title=N_("GPU {weak} is much weaker than the others: it sets the pace, and its memory runs out first"),
    help=Help(
        what=N_("Whether a weak GPU works together with strong ones."),
        why=N_("All wait for the slowest, and the batch that fits the others does not fit into its memory."),
        how=N_("torch and TensorFlow compare the cards and say so."),
        wrong=N_("Not wrong where the framework says it. Some programs share the work by the cards' strength."),
        todo=N_("Leave the weak card out with CUDA_VISIBLE_DEVICES."),
    ),
    check=_check,
    needs=((f"signal:{_TORCH}", f"signal:{_TENSORFLOW}"),),
    advise=_advise,
)
