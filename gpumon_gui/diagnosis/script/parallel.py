"""Knows: how a script spreads PyTorch over several GPUs. Must not know: what one GPU does."""

from __future__ import annotations

import ast
from typing import Final

from gpumon_gui.diagnosis.script.code import Code, plain_name
from gpumon_gui.diagnosis.script.found import Found
from gpumon_gui.diagnosis.script.seen import Seen
from gpumon_gui.diagnosis.script.torch_code import wraps_in_data_parallel, wraps_in_ddp

RANK: Final = "ddp-rank-device-not-set"
_SETS_DEVICE: Final = frozenset(("torch.cuda.set_device", "torch.cuda.device", "torch.accelerator.set_device_index"))


def check(seen: Seen, found: Found) -> None:
    """DataParallel, and ranks that do not choose their GPU."""
    code, torch = seen.code, seen.torch
    if not torch.used:
        return
    distributed = wraps_in_ddp(code)
    for call in wraps_in_data_parallel(code):
        kind = "script-data-parallel-fallback" if distributed else "script-data-parallel"
        found.add(kind, call, "torch")
    if not distributed or torch.has_mover:
        return
    starts = [call for call in code.calls if code.method(call) == "init_process_group"]
    if any(_is_gloo(code, call) for call in starts):
        return
    found.judged(RANK, distributed[0], "torch")
    if any(code.called(call) in _SETS_DEVICE for call in code.calls) or _sets_variable(code):
        return
    bare = [call for call in code.calls if _is_bare(code, call)]
    if bare:
        found.add("script-ddp-bare-cuda", bare[0], "torch")
    elif starts:
        found.add("script-ddp-no-set-device", starts[0], "torch")


def _is_gloo(code: Code, call: ast.Call) -> bool:
    backend = code.value(code.keyword(call, "backend", 0))
    return isinstance(backend, str) and backend.lower() in ("gloo", "mpi")


def _sets_variable(code: Code) -> bool:
    return any(isinstance(node, ast.Constant) and node.value == "CUDA_VISIBLE_DEVICES" for node in code.nodes)


def _is_bare(code: Code, call: ast.Call) -> bool:
    """``.cuda()`` or ``.to("cuda")``: the same GPU in every rank."""
    if not isinstance(call.func, ast.Attribute) or not (
        plain_name(call.func.value) or isinstance(call.func.value, ast.Call)
    ):
        return False
    if call.func.attr == "cuda":
        return not call.args and not call.keywords
    if call.func.attr != "to" or not call.args:
        return False
    value = code.value(call.args[0])
    made = code.made_by(call.args[0])
    texts = [
        code.value(one.args[0])
        for one in made
        if isinstance(one, ast.Call) and code.called(one) == "torch.device" and one.args
    ]
    return value in ("cuda", "cuda:0") or (bool(texts) and all(text in ("cuda", "cuda:0") for text in texts))
