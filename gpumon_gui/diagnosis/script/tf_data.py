"""Knows: input pipelines of TensorFlow and Keras. Must not know: PyTorch's loaders."""

from __future__ import annotations

import ast
from typing import Final

from gpumon_gui.diagnosis.script.code import Code, plain_name
from gpumon_gui.diagnosis.script.found import Found
from gpumon_gui.diagnosis.script.seen import Seen
from gpumon_gui.diagnosis.script.tf_code import TfCode

CODE: Final = "input-pipeline-bound"
_SOURCES: Final = ("tf.data.Dataset.", "tf.data.TFRecordDataset", "tf.data.TextLineDataset", "tf.data.experimental.")
_FROM_DIRECTORY: Final = ("image_dataset_from_directory", "text_dataset_from_directory", "audio_dataset_from_directory")
_TFDS: Final = ("tensorflow_datasets.load", "tensorflow_datasets.builder")
#: Fits that are looked at; a script has one or two.
_FITS: Final = 50
_FLOW: Final = ("flow_from_directory", "flow_from_dataframe")


def check(seen: Seen, found: Found) -> None:
    """``map`` one element at a time, no ``prefetch``, Python generators as the source."""
    code, tensorflow = seen.code, seen.tensorflow
    if not tensorflow.used:
        return
    names = _datasets(code, tensorflow)
    consumed = tensorflow.fits or tensorflow.training_loops
    maps = [
        call for call in code.calls if code.method(call) == "map" and _is_dataset(code, tensorflow, call.func, names)
    ]
    prefetches = any(code.method(call) == "prefetch" for call in code.calls)
    for call in maps:
        found.judged(CODE, call, "tensorflow")
        if not consumed and not _from_disk(code, tensorflow):
            continue  # a test of one layer, not a training
        if code.keyword(call, "num_parallel_calls", 1) is None and not code.has_unknown_keywords(call):
            found.add("script-tf-map-serial", call, "tensorflow")
    if (maps or _from_disk(code, tensorflow)) and not prefetches and consumed:
        first = maps[-1] if maps else _from_disk(code, tensorflow)[0]
        found.add("script-tf-no-prefetch", first, "tensorflow")
    for call in code.calls:
        if tensorflow.called(call).startswith("tf.data.") and code.method(call) == "from_generator":
            found.judged(CODE, call, "tensorflow")
            found.add("script-tf-from-generator", call, "tensorflow")
    _generators(code, tensorflow, found)


def _is_source(code: Code, tensorflow: TfCode, call: ast.Call) -> bool:
    name = tensorflow.called(call)
    return (
        name.startswith(_SOURCES)
        or code.called(call) in _TFDS
        or (bool(name) and name.rpartition(".")[2] in _FROM_DIRECTORY)
    )


def _from_disk(code: Code, tensorflow: TfCode) -> list[ast.Call]:
    return [
        call
        for call in code.calls
        if tensorflow.called(call).rpartition(".")[2] in (*_FROM_DIRECTORY, "TFRecordDataset")
        or code.called(call) in _TFDS
    ]


def _datasets(code: Code, tensorflow: TfCode) -> set[str]:
    """Names that stand for a ``tf.data`` pipeline, parameters of functions that get one included."""
    names: set[str] = set()
    for _ in range(4):
        before = len(names)
        for name, values in code.assigned.items():
            for value, _node in values:
                inner = value.value if isinstance(value, ast.Starred) else value
                if isinstance(inner, ast.Call) and (
                    _is_dataset(code, tensorflow, inner, names) or _gives_dataset(code, tensorflow, inner, names)
                ):
                    names.add(name)
        for call in code.calls:
            function = code.function_of(call)
            if function is not None:
                parameters = [parameter.arg for parameter in function.args.args]
                names |= {
                    parameter
                    for parameter, argument in zip(parameters, call.args, strict=False)
                    if plain_name(argument) in names
                    or (isinstance(argument, ast.Call) and _is_dataset(code, tensorflow, argument, names))
                }
        if len(names) == before:
            break
    return names


def _gives_dataset(code: Code, tensorflow: TfCode, call: ast.Call, names: set[str]) -> bool:
    function = code.function_of(call)
    return function is not None and any(
        isinstance(node, ast.Return) and node.value is not None and _is_dataset(code, tensorflow, node.value, names)
        for node in code.inside(function)
    )


def _is_dataset(code: Code, tensorflow: TfCode, node: ast.AST, names: set[str]) -> bool:
    """Whether a chain of methods begins with a pipeline."""
    while True:
        if isinstance(node, ast.Call):
            if _is_source(code, tensorflow, node):
                return True
            node = node.func
        elif isinstance(node, ast.Attribute):
            if plain_name(node) in names:
                return True
            node = node.value
        elif isinstance(node, ast.Subscript):
            node = node.value
        else:
            return isinstance(node, ast.Name) and node.id in names


def _generators(code: Code, tensorflow: TfCode, found: Found) -> None:
    for fit in tensorflow.fits[:_FITS]:
        data = code.keyword(fit, "x", 0) or code.keyword(fit, "generator")
        if data is None or code.keyword(fit, "workers") is not None or code.has_unknown_keywords(fit):
            continue
        if fit.func.attr == "fit_generator" if isinstance(fit.func, ast.Attribute) else False:
            found.judged(CODE, fit, "tensorflow")
            found.add("script-keras-generator", fit, "tensorflow")
            continue
        for made in code.made_by(data):
            if not isinstance(made, ast.Call):
                continue
            function = code.function_of(made)
            yields = function is not None and any(
                isinstance(node, ast.Yield | ast.YieldFrom) for node in code.inside(function)
            )
            flows = code.method(made) in _FLOW or (code.method(made) == "flow" and _augments(code))
            if yields or flows or _is_sequence(code, made):
                found.judged(CODE, fit, "tensorflow")
                found.add("script-keras-generator", fit, "tensorflow")


def _augments(code: Code) -> bool:
    return any(code.method(call) == "ImageDataGenerator" for call in code.calls)


def _is_sequence(code: Code, made: ast.Call) -> bool:
    """A ``keras.utils.Sequence`` or ``PyDataset`` of this file that asks for no workers itself."""
    node = code.classes.get(plain_name(made.func))
    if node is None or not any(code.name(base).endswith((".Sequence", ".PyDataset")) for base in node.bases):
        return False
    return code.keyword(made, "workers") is None and not any(
        keyword.arg == "workers" for call in code.calls_inside(node, functions=True) for keyword in call.keywords
    )
