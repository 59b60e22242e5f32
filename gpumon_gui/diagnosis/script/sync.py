"""Knows: what makes the CPU wait for the GPU in each training step. Must not know: what it costs."""

from __future__ import annotations

import ast
import re
from typing import Final

from gpumon_gui.diagnosis.script.code import Code, names_in, plain_name, root_name
from gpumon_gui.diagnosis.script.found import Found
from gpumon_gui.diagnosis.script.seen import Seen
from gpumon_gui.diagnosis.script.torch_code import TorchCode

CODE: Final = "cpu-gpu-sync-each-step"
_WAITS, _WAITS_FOR_PART = "script-synchronize-each-step", "script-stream-synchronize-each-step"
_DEVICE_WAITS: Final = ("torch.cuda.synchronize", "torch.accelerator.synchronize")
#: What gives the stream that the model computes on.
_COMPUTING: Final = frozenset(
    ("torch.cuda.current_stream", "torch.cuda.default_stream", "torch.accelerator.current_stream")
)
_PARTS: Final = frozenset(("torch.cuda.Stream", "torch.cuda.Event", "torch.Stream", "torch.Event"))
#: A parameter, whose value the script does not tell.
_PART_NAME: Final = re.compile(r"(?i)(^|_)(stream|event)s?\d*$")
_LOSS_NAME: Final = re.compile(r"(?i)loss|logits|output|pred|acc|correct|score")


def check(seen: Seen, found: Found) -> None:
    """Values fetched, printed or waited for in each step; not those of each N-th step."""
    code, torch, tensorflow = seen.code, seen.torch, seen.tensorflow
    loops: list[ast.AST] = []
    if torch.used and (torch.asks_for_gpu or torch.has_mover):
        loops += torch.training_loops
    loops += tensorflow.training_loops
    for loop in loops:
        framework = "torch" if loop in torch.training_loops else "tensorflow"
        found.judged(CODE, loop, framework)
        for call in code.calls_inside(loop):
            if code.conditions(call, within=loop) or _is_in_epoch_part(code, call, loop):
                continue
            kind = _kind(code, call, loop, torch)
            if kind:
                found.add(kind, call, framework, call=ast.unparse(call))


def _is_in_epoch_part(code: Code, call: ast.Call, loop: ast.AST) -> bool:
    """In the ``else`` of the loop, or in what it iterates over."""
    child: ast.AST = call
    for up in code.above(call):
        if up is loop:
            return child is getattr(loop, "iter", None) or child in getattr(loop, "orelse", [])
        child = up
    return False


def _kind(code: Code, call: ast.Call, loop: ast.AST, torch: TorchCode) -> str:
    called, method = code.called(call), code.method(call)
    if method == "synchronize":
        return _waiting(code, call, torch)
    if called == "torch.cuda.empty_cache":
        return "script-empty-cache-each-step"
    if isinstance(call.func, ast.Attribute):
        root = root_name(call.func.value)
        if method == "item" and not call.args and code.imports.get(root) != "numpy":
            return "script-item-each-step"
        if method in ("add_scalar", "log") and any(_is_loss(code, value, loop, torch) for value in _logged(call)):
            return "script-item-each-step"
        then = code.parents.get(call)
        if isinstance(then, ast.Attribute) and then.attr in ("item", "numpy", "tolist"):
            return ""  # the next one in the chain is told
        if method in ("cpu", "numpy", "tolist") and not call.args and _is_result(code, call.func.value, loop):
            return "script-copy-back-each-step"
    elif called in ("float", "int") and len(call.args) == 1 and _is_loss(code, call.args[0], loop, torch):
        return "script-item-each-step"
    elif called == "print" and any(_is_loss(code, value, loop, torch) for value in _printed(call)):
        return "script-print-each-step"
    return ""


def _waiting(code: Code, call: ast.Call, torch: TorchCode) -> str:
    """The whole GPU and the stream that computes are waited for in full; another stream, or an event, perhaps not."""
    if code.called(call) in _DEVICE_WAITS:
        return _WAITS
    if not isinstance(call.func, ast.Attribute) or not torch.used:
        return ""
    made = {code.called(one) for one in code.made_by(call.func.value) if isinstance(one, ast.Call)}
    if made & _COMPUTING:
        return _WAITS
    named = plain_name(call.func.value).rpartition(".")[2]
    return _WAITS_FOR_PART if made & _PARTS or (not made and _PART_NAME.search(named)) else ""


def _is_result(code: Code, node: ast.expr, loop: ast.AST) -> bool:
    """Something that was computed in this loop: not a label that was on the CPU all along."""
    root = root_name(node)
    targets = set(names_in(loop.target)) if isinstance(loop, ast.For | ast.AsyncFor) else set()
    values = [value for value, _node in code.assigned.get(root, [])]
    if any(isinstance(value, ast.Call) and code.called(value).startswith(("numpy.", "np.")) for value in values):
        return False
    return bool(root) and root not in targets and bool(_LOSS_NAME.search(root))


def _is_loss(code: Code, node: ast.expr, loop: ast.AST, torch: TorchCode) -> bool:
    """A tensor that is printed or converted as it is."""
    if not isinstance(node, ast.Name):
        return False
    if torch.gives_graph(node, loop):
        return True
    if not torch.used and re.search(r"(?i)\bloss|_loss$", node.id):
        values = [value for value, at in code.assigned.get(node.id, []) if any(up is loop for up in code.above(at))]
        return bool(values) and all(isinstance(value, ast.Call | ast.Starred) for value in values)
    return False


def _logged(call: ast.Call) -> list[ast.expr]:
    """What TensorBoard's ``add_scalar`` and ``wandb.log`` fetch: tensors among the arguments and in plain dicts."""
    found: list[ast.expr] = []
    for argument in call.args:
        found += argument.values if isinstance(argument, ast.Dict) else [argument]
    return found


def _printed(call: ast.Call) -> list[ast.expr]:
    """What a ``print`` shows: its arguments, and the parts of f-strings, ``%`` and ``.format``."""
    found: list[ast.expr] = []
    for argument in call.args:
        if isinstance(argument, ast.JoinedStr):
            found += [part.value for part in argument.values if isinstance(part, ast.FormattedValue)]
        elif isinstance(argument, ast.BinOp) and isinstance(argument.op, ast.Mod):
            right = argument.right
            found += right.elts if isinstance(right, ast.Tuple) else [right]
        elif (
            isinstance(argument, ast.Call)
            and isinstance(argument.func, ast.Attribute)
            and argument.func.attr == "format"
        ):
            found += [*argument.args, *(keyword.value for keyword in argument.keywords)]
        else:
            found.append(argument)
    return found
