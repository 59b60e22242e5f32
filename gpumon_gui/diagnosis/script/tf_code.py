"""Knows: TensorFlow's and Keras' names in a script. Must not know: what is good or bad in it."""

from __future__ import annotations

import ast
from functools import cached_property
from typing import Final

from gpumon_gui.diagnosis.script.code import Code

_PREFIXES: Final = (
    "tensorflow.compat.v1.", "tensorflow.compat.v2.", "tensorflow.python.", "tensorflow.", "tf_keras.", "keras.src.",
    "keras.",
)  # fmt: skip
_LAYERS: Final = ("layers.", "keras.layers.", "layers.recurrent.", "keras.layers.recurrent.")


class TfCode:
    """What a script does with TensorFlow or Keras."""

    def __init__(self, code: Code) -> None:
        self.code = code

    @cached_property
    def used(self) -> bool:
        """Whether the script imports TensorFlow or Keras (which may run on another backend)."""
        return bool(self.code.packages & {"tensorflow", "keras", "tf_keras"})

    def called(self, call: ast.Call) -> str:
        """``tf.…`` for TensorFlow's own, ``keras.…`` for Keras' in any of its homes; empty for all else."""
        name = self.code.called(call)
        for prefix in _PREFIXES:
            if name.startswith(prefix):
                rest = name.removeprefix(prefix)
                if "keras" in prefix:
                    return f"keras.{rest}"
                return rest if rest.startswith("keras.") else f"tf.{rest}"
        return ""

    def layer(self, call: ast.Call) -> str:
        """The name of a Keras layer (``LSTM``) that a call makes; else empty."""
        name = self.called(call).removeprefix("keras.")
        for prefix in _LAYERS:
            if name.startswith(prefix):
                return name.removeprefix(prefix)
        return ""

    @cached_property
    def fits(self) -> list[ast.Call]:
        """Each ``model.fit(…)`` and its older siblings; scikit-learn's estimators have other arguments."""
        found = []
        for call in self.code.calls:
            if not isinstance(call.func, ast.Attribute) or call.func.attr not in ("fit", "fit_generator"):
                continue
            named = {keyword.arg for keyword in call.keywords}
            keras = {
                "epochs",
                "batch_size",
                "validation_data",
                "steps_per_epoch",
                "callbacks",
                "verbose",
                "initial_epoch",
            }
            if self.used and (named & keras or call.func.attr == "fit_generator"):
                found.append(call)
        return found

    @cached_property
    def training_loops(self) -> list[ast.AST]:
        """Loops of the script's own with a ``GradientTape`` or ``train_on_batch`` in them; not inside "
        "``tf.function``."""
        if not self.used:
            return []
        found: dict[ast.AST, None] = {}
        for call in self.code.calls:
            if self.called(call) == "tf.GradientTape" or self.code.method(call) == "train_on_batch":
                around = self.code.loops_around(call)
                if around:
                    found[around[0]] = None
                    continue
                function = self.code.scope(call)
                for caller in self.code.callers(function):
                    around = self.code.loops_around(caller)
                    if around and not any(isinstance(node, ast.For) for node in self.code.inside(around[0])):
                        found[around[0]] = None
        return list(found)
