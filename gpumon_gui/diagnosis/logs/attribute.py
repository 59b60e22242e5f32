"""Knows: which framework printed a line. Must not know: what lines mean.

One log can hold lines of two frameworks (TensorFlow notes in a PyTorch run): a line belongs to the one that it names
by a file path, a prefix or a logger; failing that, to the one that the nearest lines before it (and a traceback's
frames are before its message) belong to.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final

#: First match counts: XLA lines are printed by TensorFlow and by JAX, so those two are asked first.
_MARKS: Final[tuple[tuple[str, re.Pattern[str]], ...]] = tuple(
    (name, re.compile(pattern, re.IGNORECASE))
    for name, pattern in (
        ("jax", r"[/\\]jax(?:lib)?[/\\]|\bjaxlib\b|\bjax\.|external/xla/xla/pjrt|\bjax_plugins\b"),
        (
            "tensorflow",
            r"[/\\]tensorflow(?:_core)?[/\\]|\btensorflow[/.]|^\S* ?\S* ?[IWEF]0?\S* .{0,40}\b(?:tensorflow|tsl)/"
            r"|\btf\.(?:test|config|keras|data)\b|external/local_xla|external/local_tsl|[/\\]keras[/\\]",
        ),
        ("onnxruntime", r"[/\\]onnxruntime[/\\]|\[(?:W|E|I):onnxruntime|\bonnxruntime\.|ExecutionProvider"),
        (
            "torch",
            r"[/\\]torch(?:vision|audio)?[/\\]|\btorch\.[a-z_]+|\btorch\._C\b|pytorch_lightning|[/\\]lightning[/\\]"
            r"|ProcessGroupNCCL|\bc10[:/\\]|\bATen[/\\]",
        ),
        ("cupy", r"[/\\]cupy(?:_backends)?[/\\]|\bcupy[._]"),
        ("paddle", r"[/\\]paddle[/\\]|\bpaddle\."),
        ("xla", r"\bxla/|\bxla::"),
        ("nccl", r"\bNCCL (?:WARN|INFO)\b"),
    )
)
#: Lines before one that may say whose it is.
BEFORE: Final = 40


def framework_of(line: str) -> str:
    """The framework that this line names as its origin; empty when it names none."""
    return next((name for name, mark in _MARKS if mark.search(line)), "")


def framework_at(lines: Sequence[str], index: int) -> str:
    """The framework that line ``index`` belongs to, by itself or by the lines before it."""
    for at in range(index, max(-1, index - BEFORE), -1):
        named = framework_of(lines[at][:1000])
        if named:
            return named
    return ""
