"""Knows: the arguments of PyTorch's DataLoader, and what each step copies. Must not know: tf.data."""

from __future__ import annotations

import ast
from typing import Any, Final

from gpumon_gui.diagnosis.script.code import SCOPES, UNKNOWN, Code, plain_name
from gpumon_gui.diagnosis.script.found import Found
from gpumon_gui.diagnosis.script.seen import Seen
from gpumon_gui.diagnosis.script.torch_code import Device, TorchCode, is_zero_number

PIPELINE: Final = "input-pipeline-bound"
TRANSFER: Final = "host-to-device-transfer-bound"
SPAWN: Final = "windows-dataloader-spawn"
#: Workers beyond what any computer loads well with; torch itself warns from the number of cores on.
TOO_MANY: Final = 64
_MEMORY: Final = ("TensorDataset", "FakeData", "RandomDataset")


def check(seen: Seen, found: Found) -> None:
    """Workers, pinned memory and the start of workers on Windows."""
    code, torch = seen.code, seen.torch
    for loader in torch.loaders:
        found.judged(PIPELINE, loader, "torch")
        found.judged(SPAWN, loader, "torch")
        workers = _workers(code, loader)
        if is_zero_number(workers) and not _is_in_memory(code, loader):
            found.add("script-loader-no-workers", loader, "torch")
        if isinstance(workers, int) and workers >= TOO_MANY:
            found.add("script-loader-many-workers", loader, "torch", workers=workers)
        elif isinstance(workers, int) and workers > 0:
            found.add("script-loader-workers", loader, "torch", workers=workers)
        if code.value(code.keyword(loader, "prefetch_factor")) == 1 and not is_zero_number(workers):
            found.add("script-loader-prefetch", loader, "torch")
        if _has_workers(workers) and code.keyword(loader, "persistent_workers") is None:
            found.add("script-loader-not-persistent", loader, "torch")
    _pinned(code, torch, found)
    if not code.script.is_notebook:
        _guard(code, torch, found)


def _workers(code: Code, loader: ast.Call) -> Any:
    """The number of workers: 0 when it is not given, unknown when the script does not fix it."""
    given = code.keyword(loader, "num_workers", 5)
    if given is None:
        return (
            UNKNOWN if code.has_unknown_keywords(loader) or any(isinstance(a, ast.Starred) for a in loader.args) else 0
        )
    value = code.value(given)
    if any(isinstance(made, ast.Call) and code.method(made) == "cpu_count" for made in code.made_by(given)):
        return 1  # or more
    if value is UNKNOWN and isinstance(given, ast.Attribute):  # args.workers, whose default the script fixes
        for call in code.calls:
            if code.method(call) != "add_argument":
                continue
            flags = [flag for argument in call.args if isinstance(flag := code.value(argument), str)]
            names = {flag.lstrip("-").replace("-", "_") for flag in flags}
            if given.attr in names or code.value(code.keyword(call, "dest")) == given.attr:
                default = code.value(code.keyword(call, "default"))
                return 0 if is_zero_number(default) else UNKNOWN
    return value


def _has_workers(workers: Any) -> bool:
    return isinstance(workers, int) and not isinstance(workers, bool) and workers > 0


def _is_in_memory(code: Code, loader: ast.Call) -> bool:
    """Tensors in memory need no workers."""
    given = code.keyword(loader, "dataset", 0)
    made = code.made_by(given)
    names = {code.method(one) for one in made if isinstance(one, ast.Call)}
    for one in made:  # Subset(data, …), random_split(data, …)[0]
        if isinstance(one, ast.Starred):
            one = one.value
        for inner in ast.walk(one):
            if isinstance(inner, ast.Call):
                names.add(code.method(inner))
                names |= {
                    code.method(other)
                    for argument in inner.args
                    for other in code.made_by(argument)
                    if isinstance(other, ast.Call)
                }
    if isinstance(given, ast.Call):
        names.add(code.method(given))
    return bool(names & set(_MEMORY)) or isinstance(given, ast.List)


def _pinned(code: Code, torch: TorchCode, found: Found) -> None:
    """Copies to the GPU in each step, from memory that is not pinned."""
    for loop in code.nodes:
        if not isinstance(loop, ast.For | ast.AsyncFor):
            continue
        loader = torch.loader_of(loop.iter)
        if loader is None:
            continue
        copies = [
            call
            for call in code.calls_inside(loop)
            if isinstance(call.func, ast.Attribute) and torch.target(call) is Device.GPU and plain_name(call.func.value)
        ]
        if not copies:
            continue
        found.judged(TRANSFER, loop, "torch")
        pinned = code.keyword(loader, "pin_memory", 7)
        if (pinned is None or code.value(pinned) is False) and not code.has_unknown_keywords(loader):
            by_hand = any(code.method(call) == "pin_memory" for call in code.calls)
            if not by_hand:
                found.add("script-loader-not-pinned", loader, "torch")
                found.add("script-copy-each-step", copies[0], "torch")


def _guard(code: Code, torch: TorchCode, found: Found) -> None:
    """Workers that start while the file is imported: on Windows each worker imports the file again."""
    at_import = set(_runs_at_import(code))
    for loader in torch.loaders:
        if loader not in at_import or not _has_workers(_workers(code, loader)):
            continue
        for node in at_import:
            starts = isinstance(node, ast.For | ast.AsyncFor) and torch.loader_of(node.iter) is loader
            if isinstance(node, ast.Call):
                starts |= (
                    code.method(node) in ("iter", "enumerate")
                    and bool(node.args)
                    and torch.loader_of(node.args[0]) is loader
                )
                starts |= code.method(node) == "fit" and bool(code.packages & {"lightning", "pytorch_lightning"})
                starts |= _is_handed_to_a_loop(code, loader, node)
            if starts:
                found.add("script-no-main-guard", loader, "torch")
                if _names_windows(code):
                    found.add("script-windows-path", loader, "torch")
                break


def _is_handed_to_a_loop(code: Code, loader: ast.Call, call: ast.Call) -> bool:
    """``train(loader)`` of a function of this file that loops."""
    function = code.function_of(call)
    if function is None:
        return False
    given = any(loader in code.made_by(argument) for argument in [*call.args, *(k.value for k in call.keywords)])
    return given and any(isinstance(node, ast.For) for node in code.inside(function))


def _runs_at_import(code: Code) -> list[ast.AST]:
    """What runs when the file is imported: the module without its main guard, and the functions called from there."""
    found: list[ast.AST] = []
    for statement in code.tree.body:
        if not code.is_main_guard(statement) and not isinstance(statement, SCOPES):
            found.append(statement)
            found += code.reached(statement)
    return found


def _names_windows(code: Code) -> bool:
    """Whether a path in the script is one of Windows."""
    return any(
        isinstance(node, ast.Constant)
        and isinstance(node.value, str)
        and len(node.value) > 3
        and node.value[0].isalpha()
        and node.value[1:3] in (":\\", ":/")
        for node in code.nodes
    )
