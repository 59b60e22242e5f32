"""Knows: CUDA_VISIBLE_DEVICES set inside a script, and whether it is still in time. Must not know: other devices.

CUDA reads the variable once, when a process first asks the driver (``cuInit``). Importing torch or TensorFlow does not
ask; ``torch.cuda.is_available()``, ``.cuda()`` and TensorFlow's list of devices do. ``torch.cuda.device_count()`` asks
NVML instead and reads the variable anew; ``torch.cuda.manual_seed()`` waits until CUDA is used.
"""

from __future__ import annotations

import ast
from typing import Final

from gpumon_gui.diagnosis.script.code import FUNCTIONS, UNKNOWN, Code
from gpumon_gui.diagnosis.script.found import Found
from gpumon_gui.diagnosis.script.seen import Seen
from gpumon_gui.diagnosis.script.tf_code import TfCode
from gpumon_gui.diagnosis.script.torch_code import Device, TorchCode

LATE: Final = "cuda-visible-devices-set-too-late"
_VARIABLE: Final = "CUDA_VISIBLE_DEVICES"
#: Of torch.cuda: what does not open the driver.
_LAZY: Final = frozenset(
    (
        "device_count", "manual_seed", "manual_seed_all", "is_initialized", "device", "empty_cache", "memory_allocated",
        "memory_reserved", "max_memory_allocated", "reset_peak_memory_stats", "memory_stats", "amp",
    )
)  # fmt: skip
_TF_FIRST: Final = frozenset(
    (
        "tf.config.list_physical_devices", "tf.config.experimental.list_physical_devices",
        "tf.config.list_logical_devices",
        "tf.test.is_gpu_available", "tf.test.gpu_device_name", "tf.constant", "tf.Variable", "tf.zeros", "tf.ones",
        "tf.random.normal", "tf.random.uniform", "tf.convert_to_tensor", "tf.distribute.MirroredStrategy",
    )
)  # fmt: skip
_JAX_FIRST: Final = frozenset(
    ("jax.devices", "jax.local_devices", "jax.device_count", "jax.default_backend", "jax.device_put")
)


def check(seen: Seen, found: Found) -> None:
    """A variable that hides every GPU, and one that comes after the first use."""
    code, torch, tensorflow = seen.code, seen.torch, seen.tensorflow
    first = _first_uses(code, torch, tensorflow)
    for node, value in _settings(code):
        found.judged(LATE, node)
        early = next((use for use in first if _runs_before(code, use, node)), None)
        if early is not None:
            plain = value.strip() if isinstance(value, str) else None
            found.add("script-cuda-visible-devices-late", node, use=found_place(early), value=plain)
            found.add("script-cuda-first-use", early, _framework(code, tensorflow, early))
        elif isinstance(value, str) and value.strip() in ("", "-1") and _runs_for_sure(code, node):
            found.add("script-cuda-visible-devices-hidden", node, value=value.strip() or '""')


def found_place(node: ast.AST) -> str:
    """The line of the other statement."""
    return str(getattr(node, "lineno", "?"))


def _runs_for_sure(code: Code, node: ast.AST) -> bool:
    """Not under a condition, and not in a function that only others call (a worker's, for example)."""
    return not code.conditions(node) and any(reached is node for reached in code.reached(code.tree, depth=6))


def _framework(code: Code, tensorflow: TfCode, use: ast.AST) -> str:
    """Which framework a call belongs to."""
    if isinstance(use, ast.Call):
        if tensorflow.called(use) in _TF_FIRST:
            return "tensorflow"
        if code.called(use) in _JAX_FIRST:
            return "jax"
    return "torch"


def _settings(code: Code) -> list[tuple[ast.AST, object]]:
    """Each place that sets the variable, with the value where it is plain."""
    found: list[tuple[ast.AST, object]] = []
    for node in code.nodes:
        if isinstance(node, ast.Assign):
            for target in node.targets:
                is_environ = isinstance(target, ast.Subscript) and _is_environ(code, target.value)
                if is_environ and isinstance(target, ast.Subscript) and code.value(target.slice) == _VARIABLE:
                    found.append((node, code.value(node.value)))
        elif isinstance(node, ast.Call):
            called = code.called(node)
            if called in ("os.putenv", "os.environ.setdefault") and len(node.args) == 2:
                if code.value(node.args[0]) == _VARIABLE:
                    found.append((node, code.value(node.args[1]) if called != "os.environ.setdefault" else UNKNOWN))
            elif called == "os.environ.update":
                given = [entry for argument in node.args for entry in code.entries(argument)]
                given += [(keyword.arg, keyword.value) for keyword in node.keywords if keyword.arg]
                found += [(node, code.value(value)) for key, value in given if key == _VARIABLE]
    return found


def _is_environ(code: Code, node: ast.expr) -> bool:
    if code.name(node) == "os.environ":
        return True
    return (  # what %env in a notebook becomes
        isinstance(node, ast.Attribute) and node.attr == "environ" and isinstance(node.value, ast.Call)
        and code.called(node.value) == "__import__"
    )  # fmt: skip


def _first_uses(code: Code, torch: TorchCode, tensorflow: TfCode) -> list[ast.AST]:
    """Calls that certainly open CUDA."""
    found: list[ast.AST] = []
    for call in code.calls:
        called = code.called(call)
        parts = called.split(".")
        if called.startswith("torch.cuda.") and len(parts) == 3 and parts[2] not in _LAZY and not parts[2][0].isupper():
            found.append(call)
        elif torch.used and isinstance(call.func, ast.Attribute) and not called.startswith("torch.cuda"):
            if torch.target(call) is Device.GPU and not code.conditions(call):
                found.append(call)
        elif tensorflow.called(call) in _TF_FIRST or called in _JAX_FIRST:
            found.append(call)
    return found


def _runs_before(code: Code, use: ast.AST, setting: ast.AST) -> bool:
    """Whether the use certainly runs before the setting: in the same function and before it, or at the top of the file
    before the setting's function can be called."""
    used_in, set_in = code.scope(use), code.scope(setting)
    line_of_use, line_of_setting = getattr(use, "lineno", 0), getattr(setting, "lineno", 0)
    if used_in is set_in:
        shared = set(code.conditions(setting))
        if any(condition not in shared for condition in code.conditions(use)):
            return False  # another branch
        return bool(line_of_use < line_of_setting)
    if used_in is not code.tree or code.conditions(use) or not isinstance(set_in, FUNCTIONS):
        return False
    starts = [call.lineno for call in code.callers(set_in) if code.scope(call) is code.tree]
    return bool(starts) and line_of_use < min(starts)
