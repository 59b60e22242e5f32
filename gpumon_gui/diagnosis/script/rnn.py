"""Knows: the arguments that keep Keras' recurrent layers from cuDNN's fused kernel. Must not know: other layers.

The criteria are those of Keras' documentation of LSTM and GRU.
"""

from __future__ import annotations

import ast
from typing import Any, Final

from gpumon_gui.diagnosis.script.code import UNKNOWN, Code
from gpumon_gui.diagnosis.script.found import Found
from gpumon_gui.diagnosis.script.seen import Seen

CODE: Final = "rnn-not-using-cudnn-kernel"
#: Argument → the value that cuDNN can do, written as in a script.
_WANTED: Final = {
    "activation": ("tanh", '"tanh"'),
    "recurrent_activation": ("sigmoid", '"sigmoid"'),
    "recurrent_dropout": (0, "0"),
    "unroll": (False, "False"),
    "use_bias": (True, "True"),
    "reset_after": (True, "True"),
}


def check(seen: Seen, found: Found) -> None:
    """LSTM and GRU layers with other arguments, and cells in a generic RNN layer."""
    code, tensorflow = seen.code, seen.tensorflow
    if not tensorflow.used:
        return
    for call in code.calls:
        layer = tensorflow.layer(call)
        if layer in ("LSTM", "GRU"):
            found.judged(CODE, call, "tensorflow")
            for argument, (wanted, written) in _WANTED.items():
                given = code.keyword(call, argument, 1 if argument == "activation" else None)
                if given is None or (argument == "reset_after" and layer == "LSTM"):
                    continue
                if _differs(code, given, wanted):
                    found.add("script-rnn-argument", call, "tensorflow", layer=layer, argument=argument, wanted=written)
                    break
        elif layer == "RNN":
            cell = code.keyword(call, "cell", 0)
            for made in code.made_by(cell):
                if isinstance(made, ast.Call) and tensorflow.layer(made) in ("LSTMCell", "GRUCell"):
                    name = tensorflow.layer(made).removesuffix("Cell")
                    found.add("script-rnn-cell", call, "tensorflow", layer=name)


def _differs(code: Code, given: ast.expr, wanted: Any) -> bool:
    """Whether the argument is certainly another one; a function by its name."""
    value = code.value(given)
    if value is UNKNOWN:
        last = code.name(given).rpartition(".")[2]
        return (
            bool(last)
            and "." in code.name(given)
            and isinstance(wanted, str)
            and last in ("relu", "elu", "linear", "selu")
        )
    return bool(value != wanted)
