"""Knows: whether a training asks for mixed precision or TF32. Must not know: whether the GPU can do it."""

from __future__ import annotations

import ast
import re
from typing import Final

from gpumon_gui.diagnosis.script.code import Code
from gpumon_gui.diagnosis.script.found import Found
from gpumon_gui.diagnosis.script.seen import Seen

CODE: Final = "mixed-precision-not-active"
#: Any of these words in names and texts: precision was thought of.
_WORDS: Final = re.compile(
    r"(?i)autocast|grad_?scaler|\bamp\b|(?:^|_)amp(?:_|$)|bf16|fp16|bfloat16|float16|\bhalf\b|mixed_precision"
    r"|float32_matmul_precision|allow_tf32|\bprecision\b|enable_mixed|loss_?scale|fp8|load_in_[48]bit|conv\.fp32_precision"
)


def check(seen: Seen, found: Found) -> None:
    """One sign per script, at its first training step."""
    code, torch, tensorflow = seen.code, seen.torch, seen.tensorflow
    framework, steps = "", list[ast.AST]()
    if torch.used and torch.training_loops and (torch.asks_for_gpu or torch.has_mover):
        framework, steps = "torch", torch.training_loops
    elif tensorflow.used and (tensorflow.fits or tensorflow.training_loops):
        framework, steps = "tensorflow", [*tensorflow.fits, *tensorflow.training_loops]
    if not framework:
        return
    found.judged(CODE, steps[0], framework)
    if not any(_WORDS.search(word) for word in _words(code)):
        found.add(f"script-{'tf' if framework == 'tensorflow' else 'torch'}-no-mixed-precision", steps[0], framework)


def _words(code: Code) -> list[str]:
    found = []
    for node in code.nodes:
        if isinstance(node, ast.Name):
            found.append(node.id)
        elif isinstance(node, ast.Attribute):
            found.append(node.attr)
        elif isinstance(node, ast.keyword | ast.arg):
            found.append(node.arg or "")
        elif isinstance(node, ast.alias):
            found.append(node.name)
        elif isinstance(node, ast.Constant) and isinstance(node.value, str) and len(node.value) < 60:
            found.append(node.value)
    return found
