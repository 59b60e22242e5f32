"""Knows: Keras layers that fall back to the generic GPU kernel. Must not know: the other rules."""

from __future__ import annotations

from gpumon_gui.core.messages import N_
from gpumon_gui.diagnosis import advice
from gpumon_gui.diagnosis.facts import View
from gpumon_gui.diagnosis.finding import Confidence, Severity, Step
from gpumon_gui.diagnosis.rule import Help, Hit, Lacks, Outcome, Rule, Scope, quote
from gpumon_gui.diagnosis.script.sign import Sign, needs, with_script
from gpumon_gui.diagnosis.script.sign import advise as better

_SAID = "rnn-no-cudnn-kernel"
_CODE = "rnn-not-using-cudnn-kernel"
_IN_SCRIPT = (
    Sign(
        "script-rnn-argument",
        Confidence.HIGH,
        N_("Use {argument}={wanted} in this layer; dropout between layers is a Dropout layer ({place})."),
        title=N_(
            "{argument} keeps the {layer} layer from cuDNN's fused kernel: it runs on the GPU, but slowly ({place})"
        ),
    ),
    Sign(
        "script-rnn-cell",
        Confidence.MEDIUM,
        N_("Use the layer {layer} instead of a cell in the generic layer RNN ({place})."),
        title=N_("A cell in a generic RNN layer cannot use cuDNN's fused kernel ({place})"),
    ),
)


def _check(view: View) -> Outcome:
    return with_script(view, _printed(view), _CODE, _IN_SCRIPT)


def _printed(view: View) -> Outcome:
    said = view.signal(_SAID)
    if said is None:
        return Lacks(("log",))
    return Hit(Confidence.HIGH, quote(said), {"layer": str(said.values.get("layer", "?"))})


def _advise(view: View, _hit: Hit) -> tuple[Step, ...]:
    return (
        *better(view, _IN_SCRIPT),
        advice.say(
            N_(
                'Keep the arguments that cuDNN can do: activation="tanh", recurrent_activation="sigmoid", '
                "recurrent_dropout=0, unroll=False, use_bias=True, and for GRU reset_after=True. Masks must be padded "
                "on the right."
            )
        ),
    )


RULE = Rule(
    code=_CODE,
    scope=Scope.MACHINE,
    step=9,
    severity=Severity.SLOWS,
    title=N_("The recurrent layer {layer} cannot use cuDNN's fused kernel: it runs on the GPU, but slowly"),
    help=Help(
        what=N_("Whether an LSTM or GRU layer uses cuDNN's fused kernel."),
        why=N_("The generic kernel computes one time step after the other and is often five to ten times slower."),
        how=N_("TensorFlow says which layer does not meet the criteria; in a script the arguments show it."),
        wrong=N_("Not wrong: the message is certain. The layer's arguments may be what the model needs."),
        todo=N_("Use the arguments that the fused kernel supports, such as recurrent_dropout=0."),
    ),
    check=_check,
    needs=((f"signal:{_SAID}", *needs(*_IN_SCRIPT)),),
    advise=_advise,
    frameworks=("tensorflow",),
    links=("https://www.tensorflow.org/api_docs/python/tf/keras/layers/LSTM",),
)
