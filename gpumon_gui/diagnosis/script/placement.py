"""Knows: models and batches that are left on the CPU, alone or while the other goes to the GPU. Must not know: devices
that are forced in one place.
"""

from __future__ import annotations

import ast
import re
from typing import Final

from gpumon_gui.diagnosis.script.code import FUNCTIONS, Code, names_in, plain_name, root_name
from gpumon_gui.diagnosis.script.forced_cpu import CODE
from gpumon_gui.diagnosis.script.found import Found
from gpumon_gui.diagnosis.script.seen import Seen
from gpumon_gui.diagnosis.script.torch_code import Device, TorchCode, wraps_in_data_parallel, wraps_in_ddp

_MODULE_NAME: Final = re.compile(r"(?i)module|model|net$|encoder|decoder|backbone")
#: What may be done with a model without moving it.
_HARMLESS: Final = frozenset(
    (
        "print",
        "summary",
        "len",
        "str",
        "repr",
        "isinstance",
        "type",
        "id",
        "parameters_to_vector",
        "clip_grad_norm_",
        "save",
    )
)


def check(seen: Seen, found: Found) -> None:
    """Models without ``.to``, batches without ``.to``, loaded onto the CPU and left there."""
    code, torch = seen.code, seen.torch
    if not torch.used or torch.has_mover:
        return
    aliases = {name: _aliases(code, name) for name in torch.models}
    left = {name: known for name, known in aliases.items() if known is not None and not _is_moved(code, torch, known)}
    if torch.models and torch.training_loops:
        found.judged(CODE, torch.training_loops[0], "torch")
    if not torch.asks_for_gpu:
        _nothing(code, torch, found, left)
        return
    parallel = bool(wraps_in_data_parallel(code) or wraps_in_ddp(code))
    for loop in code.nodes:
        if isinstance(loop, ast.For | ast.AsyncFor):
            _batches(code, torch, found, loop, aliases, left, parallel)
    _sent_back(code, torch, found)


def _nothing(code: Code, torch: TorchCode, found: Found, left: dict[str, set[str]]) -> None:
    """Nothing in the whole script asks for a GPU."""
    for name, known in left.items():
        used = [call for call in code.calls if plain_name(call.func) in known or _generates(call, known)]
        if (
            used
            and not _wraps_another(torch, name)
            and (torch.training_loops or any(code.loops_around(call) or _is_large(code, torch, name) for call in used))
        ):
            found.add("script-torch-no-gpu", torch.models[name], "torch", name=name)
    for call in code.calls:
        mapped = code.keyword(call, "map_location", 1) if code.called(call) == "torch.load" else None
        if mapped is not None and torch.device(mapped) is Device.CPU and _is_computed_with(code, call, left):
            found.add("script-map-location-cpu", call, "torch")


def _generates(call: ast.Call, names: set[str]) -> bool:
    return (
        isinstance(call.func, ast.Attribute) and call.func.attr == "generate" and plain_name(call.func.value) in names
    )


def _is_large(code: Code, torch: TorchCode, name: str) -> bool:
    """A model from a hub: one call of it is work enough."""
    made = torch.models[name].value
    return isinstance(made, ast.Call) and code.called(made).startswith(("transformers.", "diffusers."))


def _is_computed_with(code: Code, load: ast.Call, left: dict[str, set[str]]) -> bool:
    """Whether what is loaded is a model that is called, or goes into one of this file that stays on the CPU."""
    loaded = _assigned_to(code, load)
    called = {plain_name(call.func) for call in code.calls}
    if loaded & called:
        return True
    for call in code.calls:
        if isinstance(call.func, ast.Attribute) and call.func.attr == "load_state_dict" and call.args:
            given = load in ast.walk(call.args[0]) or bool(loaded & set(names_in(call.args[0])))
            names = next((names for names in left.values() if plain_name(call.func.value) in names), set())
            if given and names & called:
                return True
    return False


def _wraps_another(torch: TorchCode, name: str) -> bool:
    """A module made around one that comes from elsewhere, which may be on the GPU."""
    made = torch.models[name].value
    return isinstance(made, ast.Call) and any(
        isinstance(argument, ast.Name) and argument.id not in torch.models and _MODULE_NAME.search(argument.id)
        for argument in [*made.args, *(keyword.value for keyword in made.keywords)]
    )


def _aliases(code: Code, name: str) -> set[str] | None:
    """The names that a model goes by: its own and the parameters it is handed to; None when it goes where this file
    does not show."""
    known = {name}
    for _ in range(4):
        before = len(known)
        for call in code.calls:
            for index, argument in enumerate([*call.args, *(keyword.value for keyword in call.keywords)]):
                if plain_name(argument) not in known:
                    continue
                function = code.function_of(call)
                if function is not None:
                    parameters = [parameter.arg for parameter in function.args.args]
                    if isinstance(call.func, ast.Attribute):
                        parameters = parameters[1:]  # self
                    keyword = call.keywords[index - len(call.args)].arg if index >= len(call.args) else None
                    parameter = keyword or (parameters[index] if index < len(parameters) else None)
                    if parameter is None:
                        return None
                    known.add(parameter)
                elif code.method(call) not in _HARMLESS:
                    return None
        for other, values in code.assigned.items():
            if any(plain_name(value) in known for value, _node in values):
                known.add(other)
        if len(known) == before:
            return known
    return known


def _is_moved(code: Code, torch: TorchCode, names: set[str]) -> bool:
    """Whether one of the names is sent anywhere, or given a value that may be anywhere."""
    for call in code.calls:
        if (
            isinstance(call.func, ast.Attribute)
            and plain_name(call.func.value) in names
            and torch.target(call) is not None
        ):
            return True
        if isinstance(call.func, ast.Attribute) and call.func.attr == "apply" and plain_name(call.func.value) in names:
            return True
    for name in names:
        for value, _node in code.assigned.get(name, []):
            if not torch.is_model(value) and plain_name(value) not in names:
                return True  # compile(…), prepare(…), a conditional: not plain
    return False


def _batches(
    code: Code,
    torch: TorchCode,
    found: Found,
    loop: ast.For | ast.AsyncFor,
    models: dict[str, set[str] | None],
    left: dict[str, set[str]],
    parallel: bool,
) -> None:
    loader = torch.loader_of(loop.iter)
    calls = list(code.calls_inside(loop))
    fresh = _fresh(code, loop)
    known = {alias for aliases in models.values() for alias in aliases or ()}
    sent = {
        plain_name(call.func.value): call
        for call in calls
        if isinstance(call.func, ast.Attribute) and torch.target(call) in (Device.GPU, Device.UNKNOWN)
    }
    for call in calls:
        model = plain_name(call.func)
        if model not in known or not (call.args or call.keywords):
            continue
        argument = call.args[0] if call.args else call.keywords[0].value
        name = root_name(argument) if isinstance(argument, ast.Name | ast.Subscript) else ""
        # The model is moved, its input comes straight from the loader.
        if (
            loader is not None
            and name in fresh
            and not parallel
            and code.keyword(loader, "collate_fn") is None
            and any(_goes_to_gpu(code, torch, aliases) for aliases in models.values() if aliases and model in aliases)
        ):
            unused = sent.get(name)
            is_tensor = not isinstance(loop.target, ast.Name) or name != loop.target.id  # a batch object moves itself
            if unused is None:
                found.add("script-batch-not-moved", call, "torch", name=name, model=model)
            elif is_tensor and isinstance(code.parents.get(unused), ast.Expr):
                found.add("script-to-not-assigned", unused, "torch", name=name)
        # The batch is sent to the GPU, the model stays.
        copied: ast.expr | None = argument if isinstance(argument, ast.Call) else sent.get(name)
        if not isinstance(copied, ast.Call) or torch.target(copied) is not Device.GPU:
            continue
        # A tensor's copy that nobody takes: then both are on the CPU, and nothing stops.
        is_lost = isinstance(code.parents.get(copied), ast.Expr) and any(
            isinstance(around, ast.For | ast.AsyncFor)
            and isinstance(around.target, ast.Tuple)
            and name in names_in(around.target)
            for around in code.loops_around(copied)
        )
        for one, aliases in left.items():
            if model in aliases and is_lost:
                found.add("script-torch-no-gpu", torch.models[one], "torch", name=one)
                found.add("script-to-lost", copied, "torch", name=name)
            elif model in aliases:
                found.add("script-model-not-moved", torch.models[one], "torch", name=one)


def _fresh(code: Code, loop: ast.For | ast.AsyncFor) -> set[str]:
    """Names that hold what the loop yields, as it is or a part of it (``inputs, labels = batch``)."""
    names = set(names_in(loop.target))
    for node in code.inside(loop):
        if not isinstance(node, ast.Assign):
            continue
        is_part = isinstance(node.value, ast.Name | ast.Subscript) and root_name(node.value) in names
        for target in node.targets:
            given = set(names_in(target))
            names = names | given if is_part and not isinstance(target, ast.Subscript) else names - given
    return names


def _goes_to_gpu(code: Code, torch: TorchCode, names: set[str]) -> bool:
    return any(
        torch.target(call) is Device.GPU
        for call in code.calls
        if isinstance(call.func, ast.Attribute)
        and (plain_name(call.func.value) in names or _assigned_to(code, call) & names)
    )


def _assigned_to(code: Code, call: ast.Call) -> set[str]:
    """The names of ``model = Net().to(device)``."""
    statement = code.statement(call)
    if isinstance(statement, ast.Assign) and statement.value is call:
        return {plain_name(target) for target in statement.targets}
    return set()


def _sent_back(code: Code, torch: TorchCode, found: Found) -> None:
    """A model that is sent to the CPU, and used in a loop afterwards in the same function."""
    for call in code.calls:
        if not isinstance(call.func, ast.Attribute) or torch.target(call) is not Device.CPU or code.conditions(call):
            continue
        name = plain_name(call.func.value)
        if name not in torch.models and not (isinstance(call.func.value, ast.Call) and torch.is_model(call.func.value)):
            continue
        names = {name} if name else _assigned_to(code, call)
        scope = code.scope(call)
        later = [other for other in code.calls if code.scope(other) is scope and other.lineno > call.lineno]
        again = any(
            isinstance(other.func, ast.Attribute)
            and plain_name(other.func.value) in names
            and torch.target(other) in (Device.GPU, Device.UNKNOWN)
            for other in later
        )
        used = any(
            (plain_name(other.func) in names and code.loops_around(other))
            or (code.function_of(other) is not None and any(plain_name(argument) in names for argument in other.args))
            for other in later
        )
        if used and not again and isinstance(scope, (*FUNCTIONS, ast.Module)):
            found.add("script-model-cpu", call, "torch", name=min(names))
