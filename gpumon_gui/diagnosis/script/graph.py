"""Knows: tensors that keep their graph, and evaluation that records one. Must not know: how much memory there is."""

from __future__ import annotations

import ast
import re
from typing import Final

from gpumon_gui.diagnosis.script.code import FUNCTIONS, Code, names_in, plain_name
from gpumon_gui.diagnosis.script.found import Found
from gpumon_gui.diagnosis.script.seen import Seen
from gpumon_gui.diagnosis.script.torch_code import TorchCode

GROWING: Final = "gpu-memory-growing"
EVALUATION: Final = "evaluation-without-no-grad"
_EVALUATES: Final = re.compile(
    r"(?i)(?:^|_)(?:val|valid|validation|eval|evaluate|test|infer|inference|predict)(?:_|$|[a-z]*er$)"
)


def check(seen: Seen, found: Found) -> None:
    """``total += loss`` and lists of losses; loops over test data without no_grad."""
    code, torch = seen.code, seen.torch
    if not torch.used or "lightning" in code.packages or "pytorch_lightning" in code.packages:
        return
    for loop in torch.training_loops:
        found.judged(GROWING, loop, "torch")
        _kept(code, torch, found, loop)
    for loop in code.nodes:
        if isinstance(loop, ast.For | ast.AsyncFor):
            _evaluation(code, torch, found, loop)


def _kept(code: Code, torch: TorchCode, found: Found, loop: ast.AST) -> None:
    if not torch.is_with_gradients(loop):
        return
    for node in code.inside(loop):
        if isinstance(node, ast.AugAssign) and isinstance(node.op, ast.Add):
            _added(code, torch, found, loop, node, node.target, node.value)
        elif isinstance(node, ast.Assign) and isinstance(node.value, ast.BinOp) and isinstance(node.value.op, ast.Add):
            target = plain_name(node.targets[0])
            if target and plain_name(node.value.left) == target:
                _added(code, torch, found, loop, node, node.targets[0], node.value.right)
        elif isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr == "append":
            target = plain_name(node.func.value)
            if target and node.args and torch.gives_graph(node.args[0], loop) and _outlives(code, torch, target, loop):
                found.add("script-loss-list", node, "torch", name=target)


def _added(
    code: Code, torch: TorchCode, found: Found, loop: ast.AST, node: ast.stmt, target: ast.AST, value: ast.expr
) -> None:
    name = plain_name(target)
    if name and torch.gives_graph(value, loop) and _outlives(code, torch, name, loop):
        found.add("script-loss-sum", node, "torch", name=name)


def _outlives(code: Code, torch: TorchCode, name: str, loop: ast.AST) -> bool:
    """Whether what is kept under this name lives longer than one step: not started anew in the loop, and no part of
    what gradients are computed from."""
    inside = set(code.inside(loop))
    started = [
        node
        for value, node in code.assigned.get(name, [])
        if node in inside and not isinstance(value, ast.Starred | ast.BinOp)
    ]
    cleared = any(
        isinstance(node, ast.Call)
        and isinstance(node.func, ast.Attribute)
        and node.func.attr in ("clear", "pop", "popleft")
        and plain_name(node.func.value) == name
        for node in inside
    )
    bounded = any(
        isinstance(value, ast.Call) and code.method(value) == "deque" for value, _node in code.assigned.get(name, [])
    )
    return not started and not cleared and not bounded and not torch.backwarded_anywhere(name)


def _evaluation(code: Code, torch: TorchCode, found: Found, loop: ast.For | ast.AsyncFor) -> None:
    """A loop over test data that calls the model, after ``.eval()``, with gradients on and never used."""
    models = {
        plain_name(call.func) for call in code.calls_inside(loop) if isinstance(call.func, ast.Name | ast.Attribute)
    }
    scope = code.scope(loop)
    evaluated = {
        plain_name(call.func.value): call
        for call in code.methods.get("eval", [])
        if isinstance(call.func, ast.Attribute)
        and not call.args
        and code.scope(call) is scope
        and call.lineno < loop.lineno
    }
    shared = (models & evaluated.keys()) - {""}
    if not shared or any(isinstance(inner, ast.For) and _calls(code, inner, shared) for inner in code.inside(loop)):
        return
    calls = [call for call in code.calls_inside(loop) if plain_name(call.func) in shared]
    over = " ".join(names_in(loop.iter))
    function = scope.name if isinstance(scope, FUNCTIONS) else ""
    about = any(_EVALUATES.search(word) for word in (*over.split(), function))
    found.judged(EVALUATION, loop, "torch")
    name = min(shared)
    train_again = [
        call
        for call in code.methods.get("train", [])
        if isinstance(call.func, ast.Attribute)
        and plain_name(call.func.value) == name
        and code.scope(call) is scope
        and evaluated[name].lineno < call.lineno < loop.lineno
    ]
    gradients = any(
        isinstance(node, ast.Attribute) and node.attr in ("backward", "grad", "requires_grad", "requires_grad_")
        for node in code.reached(loop)
    )
    frozen = any(plain_name(call.func).startswith(name) for call in code.methods.get("requires_grad_", []))
    if (
        about
        and not train_again
        and not gradients
        and not frozen
        and all(torch.is_with_gradients(call) for call in calls)
    ):
        found.add("script-eval-with-gradients", calls[0], "torch", name=name)


def _calls(code: Code, loop: ast.AST, names: set[str]) -> bool:
    return any(plain_name(call.func) in names for call in code.calls_inside(loop))
