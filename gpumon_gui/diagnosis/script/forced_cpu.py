"""Knows: the ways to say "compute on the CPU" in one place of a script. Must not know: whether the model is moved."""

from __future__ import annotations

import ast
from typing import Final

from gpumon_gui.diagnosis.script.code import UNKNOWN, Code, plain_name
from gpumon_gui.diagnosis.script.found import Found
from gpumon_gui.diagnosis.script.seen import Seen
from gpumon_gui.diagnosis.script.tf_code import TfCode
from gpumon_gui.diagnosis.script.torch_code import Device, TorchCode

CODE: Final = "code-runs-on-cpu"
#: Calls whose ``device="cpu"`` decides where a library computes.
_DEVICE_CALLS: Final = (
    "whisper.load_model", "faster_whisper.WhisperModel", "sentence_transformers.SentenceTransformer",
    "sentence_transformers.CrossEncoder", "transformers.pipeline", "timm.create_model", "torch.set_default_device",
)  # fmt: skip
#: Methods of ultralytics' models with the same argument.
_YOLO: Final = ("train", "predict", "val", "track")
#: What computes much: with one of these under it, a CPU device is a fault and not a place for data.
_HEAVY: Final = frozenset(
    (
        "fit", "predict", "evaluate", "matmul", "conv2d", "train_on_batch", "GradientTape", "apply_gradients",
        "fit_generator", "minimize", "gradient",
    )
)  # fmt: skip
#: What makes a model; it may still compute elsewhere.
_BUILDS: Final = frozenset(("Sequential", "Model", "compile", "Dense", "Conv2D", "LSTM", "GRU"))
_VISIBLE: Final = ("tf.config.set_visible_devices", "tf.config.experimental.set_visible_devices")
_OFF_NAMES: Final = frozenset(
    ("use_cuda", "use_gpu", "cuda", "gpu", "usegpu", "usecuda", "enable_cuda", "is_cuda", "with_cuda")
)
_DEVICE_OPTIONS: Final = frozenset(("--device", "-device", "--devices"))
_GPU_OPTIONS: Final = frozenset(("--cuda", "--use-cuda", "--use_cuda", "--gpu", "--use-gpu", "--use_gpu"))


def check(seen: Seen, found: Found) -> None:
    """Everything that forces the CPU by itself."""
    code, torch = seen.code, seen.torch
    _tensorflow(code, seen.tensorflow, found)
    _libraries(code, torch, found)
    _onnxruntime(code, found)
    _jax(code, found)
    if torch.used:
        _device_names(code, torch, found)
        _options(code, torch, found)


def _is_unconditional(code: Code, node: ast.AST) -> bool:
    return not code.conditions(node)


def _tensorflow(code: Code, tensorflow: TfCode, found: Found) -> None:
    if not tensorflow.used:
        return
    devices: list[tuple[ast.AST, ast.Call]] = []
    has_gpu_block = False
    for node in code.nodes:
        if isinstance(node, ast.With | ast.AsyncWith):
            for item in node.items:
                call = item.context_expr
                if isinstance(call, ast.Call) and tensorflow.called(call) in ("tf.device", "keras.device"):
                    name = code.value(code.keyword(call, "device_name", 0))
                    if isinstance(name, str):
                        parts = name.lower().replace("device:", "").strip("/").split("/")[-1]
                        if parts.partition(":")[0] == "cpu":
                            devices.append((node, call))
                        has_gpu_block |= parts.partition(":")[0] == "gpu" and _is_heavy(code, node)
    for block, call in devices:
        # With a GPU block beside it, it compares the two.
        if has_gpu_block or not _is_unconditional(code, block):
            continue
        if _is_heavy(code, block):
            found.add("script-tf-device-cpu", call, "tensorflow")
        elif _is_heavy(code, block, _BUILDS) and "multi_gpu_model" not in code.methods:
            found.add("script-tf-model-on-cpu", call, "tensorflow")
    for call in code.calls:
        if tensorflow.called(call) == "tf.distribute.OneDeviceStrategy" and _is_unconditional(code, call):
            name = code.value(code.keyword(call, "device", 0))
            if isinstance(name, str) and "cpu" in name.lower():
                found.add("script-tf-device-cpu", call, "tensorflow")
    other = code.packages & {"jax", "flax", "torch"}  # these hide the GPU from TensorFlow on purpose
    for call in code.calls:
        name = tensorflow.called(call)
        if name in _VISIBLE and not other and _is_unconditional(code, call):
            wanted, kind = code.keyword(call, "devices", 0), code.value(code.keyword(call, "device_type", 1))
            if isinstance(wanted, ast.List) and not wanted.elts and kind == "GPU":
                found.add("script-tf-gpu-hidden", call, "tensorflow")
        elif name.endswith("ConfigProto") and _is_unconditional(code, call):
            counts = code.keyword(call, "device_count")
            given = dict(code.entries(counts)) if counts is not None else {}
            if "GPU" in given and code.value(given["GPU"]) == 0:
                found.add("script-tf-gpu-hidden", call, "tensorflow")


def _is_heavy(code: Code, block: ast.AST, methods: frozenset[str] = _HEAVY) -> bool:
    return any(isinstance(node, ast.Call) and code.method(node) in methods for node in code.reached(block))


def _libraries(code: Code, torch: TorchCode, found: Found) -> None:
    for call in code.calls:
        called, method = code.called(call), code.method(call)
        if (
            called.startswith("transformers.") and method.endswith("TrainingArguments")
        ) or method == "TrainingArguments":
            for option in ("no_cuda", "use_cpu"):
                if code.value(code.keyword(call, option)) is True:
                    found.add("script-trainer-cpu", call, "torch", option=option)
            found.judged(CODE, call, "torch")
        elif called == "transformers.pipeline":
            _pipeline(code, torch, call, found)
        elif method == "Trainer" and code.packages & {"lightning", "pytorch_lightning"}:
            accelerator = code.value(code.keyword(call, "accelerator"))
            gpus = code.value(code.keyword(call, "gpus"))
            if accelerator == "cpu" or (gpus is not UNKNOWN and gpus == 0 and gpus is not False):
                found.add("script-lightning-cpu", call, "torch")
            found.judged(CODE, call, "torch")
        elif method == "Accelerator" and code.value(code.keyword(call, "cpu")) is True:
            found.add("script-library-cpu", call, "torch", argument="cpu=True", better="cpu=False")
        elif method == "Fabric" and code.value(code.keyword(call, "accelerator")) == "cpu":
            found.add("script-library-cpu", call, "torch", argument='accelerator="cpu"', better='accelerator="gpu"')
        elif called in _DEVICE_CALLS or (method in _YOLO and "ultralytics" in code.packages):
            position = 0 if called == "torch.set_default_device" else None
            wanted = code.keyword(call, "device", position)
            if wanted is not None and torch.device(wanted) is Device.CPU and _is_unconditional(code, call):
                found.add("script-library-cpu", call, "torch", argument='device="cpu"', better='device="cuda"')
        elif called == "easyocr.Reader" and code.value(code.keyword(call, "gpu")) is False:
            found.add("script-library-cpu", call, "torch", argument="gpu=False", better="gpu=True")
        elif called in ("spacy.require_cpu", "paddle.set_device", "paddle.device.set_device"):
            if called == "spacy.require_cpu" or code.value(call.args[0] if call.args else None) == "cpu":
                better = "require_gpu()" if called.startswith("spacy") else 'set_device("gpu")'
                found.add("script-library-cpu", call, argument=called.rpartition(".")[2], better=better)
        elif method == "from_pretrained":
            _device_map(code, torch, call, found)


def _pipeline(code: Code, torch: TorchCode, call: ast.Call, found: Found) -> None:
    found.judged(CODE, call, "torch")
    if code.has_unknown_keywords(call):
        return
    device, mapped = code.keyword(call, "device"), code.keyword(call, "device_map")
    if device is None and mapped is None:
        model = code.keyword(call, "model", 1)
        given = [one for one in code.made_by(model) if isinstance(one, ast.Call)] if isinstance(model, ast.Name) else []
        if not given and not torch.has_mover:  # a model that is given may be on the GPU already
            found.add("script-pipeline-no-device", call, "torch")
        return
    if _is_unconditional(code, call) and (
        (device is not None and (code.value(device) == -1 or torch.device(device) is Device.CPU))
        or (mapped is not None and code.value(mapped) == "cpu")
    ):
        found.add("script-library-cpu", call, "torch", argument="device", better="device=0")


def _device_map(code: Code, torch: TorchCode, call: ast.Call, found: Found) -> None:
    mapped = code.keyword(call, "device_map")
    if mapped is None or not _is_unconditional(code, call):
        return
    values = [value for _key, value in code.entries(mapped)] or [mapped]
    if all(torch.device(value) is Device.CPU for value in values) and not _is_moved(code, torch, call):
        found.add("script-library-cpu", call, "torch", argument='device_map="cpu"', better='device_map="auto"')


def _is_moved(code: Code, torch: TorchCode, call: ast.Call) -> bool:
    """A model that is loaded to the CPU first and moved later."""
    statement = code.statement(call)
    names = [plain_name(target) for target in getattr(statement, "targets", [])]
    return any(
        isinstance(other.func, ast.Attribute)
        and plain_name(other.func.value) in names
        and torch.target(other) not in (None, Device.CPU)
        for other in code.calls
    )


def _onnxruntime(code: Code, found: Found) -> None:
    for call in code.calls:
        if code.called(call) != "onnxruntime.InferenceSession":
            continue
        found.judged(CODE, call, "onnxruntime")
        providers = code.keyword(call, "providers", 2)
        made = code.made_by(providers) if providers is not None else []
        if providers is None and not code.has_unknown_keywords(call):
            set_later = any(
                code.method(other).startswith(("set_provider", "add_provider", "append_execution"))
                for other in code.calls
            )
            if not set_later:
                found.add("script-ort-no-providers", call, "onnxruntime")
        elif made and _is_unconditional(code, call):
            lists = [[code.value(entry) for entry in one.elts] for one in made if isinstance(one, ast.List | ast.Tuple)]
            if len(lists) == len(made) and all(names == ["CPUExecutionProvider"] for names in lists):
                found.add("script-ort-cpu-provider", call, "onnxruntime")


def _jax(code: Code, found: Found) -> None:
    if "jax" not in code.packages:
        return
    for call in code.calls:
        if code.called(call) in ("jax.config.update", "jax.config.config.update") and len(call.args) == 2:
            option, value = code.value(call.args[0]), code.value(call.args[1])
            if option in ("jax_platform_name", "jax_platforms") and value == "cpu" and _is_unconditional(code, call):
                found.add("script-jax-cpu", call, "jax")
    for node in code.nodes:
        if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Subscript):
            named = code.value(node.targets[0].slice) in ("JAX_PLATFORMS", "JAX_PLATFORM_NAME")
            if named and code.value(node.value) == "cpu" and _is_unconditional(code, node):
                found.add("script-jax-cpu", node, "jax")


def _device_names(code: Code, torch: TorchCode, found: Found) -> None:
    """``device = "cpu"`` where the device is used, and no other value is ever given."""
    used: set[str] = set()
    for call in code.calls:
        if torch.target(call) is not None and isinstance(call.func, ast.Attribute) and call.func.attr != "cpu":
            used.add(plain_name(code.keyword(call, "device", 0)))
        used |= {plain_name(keyword.value) for keyword in call.keywords if keyword.arg == "device"}
        function = code.function_of(call)
        if function is not None:  # handed on to a function of this file that calls it device too
            names = [argument.arg for argument in function.args.args]
            used |= {plain_name(a) for a, name in zip(call.args, names, strict=False) if "device" in name.lower()}
    if any(torch.target(call) is Device.GPU for call in code.calls):
        return  # the CPU is only its second device
    for name in sorted(used - {""}):
        if "cpu" in name.lower():
            continue  # a second device, for what is meant to be there
        values = code.assigned.get(name, [])
        if not values or not all(torch.device(value) is Device.CPU for value, _node in values):
            continue
        for value, node in values:
            if plain_name(value):
                continue  # the name it is taken from is told
            if _is_unconditional(code, node):
                found.add("script-device-cpu", node, "torch", name=name)


def _options(code: Code, torch: TorchCode, found: Found) -> None:
    """Options of the program that leave it on the CPU unless they are given, and switches that are off."""
    for call in code.calls:
        if code.method(call) != "add_argument":
            continue
        flags = {value for argument in call.args if isinstance(value := code.value(argument), str)}
        default = code.value(code.keyword(call, "default"))
        if flags & _DEVICE_OPTIONS and isinstance(default, str) and default.lower() == "cpu":
            found.add("script-option-cpu", call, "torch", option=min(flags & _DEVICE_OPTIONS))
        elif flags & _GPU_OPTIONS and code.value(code.keyword(call, "action")) == "store_true" and default is not True:
            found.add("script-option-cpu", call, "torch", option=min(flags & _GPU_OPTIONS))
    for name, values in code.assigned.items():
        if name.lower().rpartition(".")[2] in _OFF_NAMES and all(code.value(value) is False for value, _node in values):
            used = any(isinstance(node, ast.If | ast.IfExp) and plain_name(node.test) == name for node in code.nodes)
            if used and torch.asks_for_gpu:
                found.add("script-gpu-switch-off", values[0][1], "torch", name=name)
