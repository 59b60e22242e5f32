"""Knows: Keras layers that fall back to the generic GPU kernel. Must not know: the other rules."""

from __future__ import annotations

from gpumon_gui.core.messages import N_
from gpumon_gui.diagnosis import advice
from gpumon_gui.diagnosis.facts import View
from gpumon_gui.diagnosis.finding import Confidence, Severity, Step
from gpumon_gui.diagnosis.rule import Help, Hit, Lacks, Outcome, Rule, Scope, quote

_SAID = "rnn-no-cudnn-kernel"


def _check(view: View) -> Outcome:
    said = view.signal(_SAID)
    if said is None:
        return Lacks(("log",))
    return Hit(Confidence.HIGH, quote(said), {"layer": str(said.values.get("layer", "?"))})


def _advise(_view: View, _hit: Hit) -> tuple[Step, ...]:
    return (
        advice.say(
            N_(
                'Keep the arguments that cuDNN can do: activation="tanh", recurrent_activation="sigmoid", '
                "recurrent_dropout=0, unroll=False, use_bias=True, and for GRU reset_after=True. Masks must be padded "
                "on the right."
            )
        ),
    )


RULE = Rule(
    code="rnn-not-using-cudnn-kernel",
    scope=Scope.MACHINE,
    step=9,
    severity=Severity.SLOWS,
    title=N_("The recurrent layer {layer} cannot use cuDNN's fused kernel: it runs on the GPU, but slowly"),
    help=Help(
        what=N_("Whether an LSTM or GRU layer uses cuDNN's fused kernel."),
        why=N_("The generic kernel computes one time step after the other and is often five to ten times slower."),
        how=N_("TensorFlow says which layer does not meet the criteria."),
        wrong=N_("Not wrong: the message is certain. The layer's arguments may be what the model needs."),
        todo=N_("Use the arguments that the fused kernel supports, such as recurrent_dropout=0."),
    ),
    check=_check,
    needs=((f"signal:{_SAID}",),),
    advise=_advise,
    frameworks=("tensorflow",),
    links=("https://www.tensorflow.org/api_docs/python/tf/keras/layers/LSTM",),
)
