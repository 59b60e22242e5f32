"""Knows: TensorFlow's device settings that come too late. Must not know: other settings.

What starts the devices was tried with TensorFlow 2.21: tensors, variables, random numbers, ``tf.data`` sources,
optimizers, metrics, models with a known input, ``tf.device``, ``MirroredStrategy`` and ``list_logical_devices``. Layers
alone, ``keras.Input``, ``list_physical_devices``, ``set_seed`` and the precision policy do not.
"""

from __future__ import annotations

import ast
from typing import Final

from gpumon_gui.diagnosis.script.code import Code
from gpumon_gui.diagnosis.script.found import Found
from gpumon_gui.diagnosis.script.seen import Seen
from gpumon_gui.diagnosis.script.tf_code import TfCode

CODE: Final = "tf-device-config-after-init"
_SETTINGS: Final = frozenset(
    (
        "set_memory_growth", "set_logical_device_configuration", "set_virtual_device_configuration",
        "set_visible_devices",
    )
)  # fmt: skip
_TENSORS: Final = frozenset(
    (
        "tf.constant", "tf.Variable", "tf.zeros", "tf.ones", "tf.fill", "tf.range", "tf.eye", "tf.convert_to_tensor",
        "tf.cast",
        "tf.matmul", "tf.add", "tf.reduce_sum", "tf.reduce_mean", "tf.linspace", "tf.random.normal",
        "tf.random.uniform",
        "tf.random.truncated_normal", "tf.config.list_logical_devices", "tf.config.experimental.list_logical_devices",
        "tf.distribute.MirroredStrategy", "tf.distribute.MultiWorkerMirroredStrategy", "tf.device",
    )
)  # fmt: skip
_STARTING: Final = (
    "tf.data.Dataset.",
    "keras.optimizers.",
    "keras.metrics.",
    "tf.data.TFRecordDataset",
    "tf.io.read_file",
)
_METHODS: Final = frozenset(("fit", "predict", "evaluate", "train_on_batch"))


def check(seen: Seen, found: Found) -> None:
    """Settings after the first use, in the same function or both at the top of the file."""
    code, tensorflow = seen.code, seen.tensorflow
    if not tensorflow.used:
        return
    settings = [
        call
        for call in code.calls
        if tensorflow.called(call).startswith("tf.config.") and code.method(call) in _SETTINGS
    ]
    uses = [call for call in code.calls if _starts(tensorflow, call)]
    for setting in settings:
        found.judged(CODE, setting, "tensorflow")
        for use in uses:
            before = code.scope(use) is code.scope(setting) and use.lineno < setting.lineno
            other_branch = set(code.conditions(use)) - set(code.conditions(setting))
            if before and not other_branch and not _is_inside(code, use, setting):
                found.add("script-tf-config-late", setting, "tensorflow", use=use.lineno)
                found.add("script-tf-first-use", use, "tensorflow")
                break


def _starts(tensorflow: TfCode, call: ast.Call) -> bool:
    name = tensorflow.called(call)
    if name in _TENSORS or name.startswith(_STARTING):
        return True
    # A session of TensorFlow 1 has a configuration of its own.
    return isinstance(call.func, ast.Attribute) and call.func.attr in _METHODS and call in tensorflow.fits


def _is_inside(code: Code, use: ast.Call, setting: ast.Call) -> bool:
    return any(up is setting for up in code.above(use))
