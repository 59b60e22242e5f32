"""Knows: the form of advice by topic and framework. Must not know: any topic."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

TORCH: Final = "PyTorch"
TENSORFLOW: Final = "TensorFlow"
JAX: Final = "JAX"
#: For every framework.
ANY: Final = ""
LEARNING: Final = (TORCH, TENSORFLOW, JAX)


@dataclass(frozen=True, slots=True)
class Variable:
    """Of the environment: set before the program starts, as this system's shell does it."""

    name: str
    value: str


#: Message id; what to write or to type. ``$WORKERS`` and ``$PID`` are filled in with numbers.
Advice = tuple[str, str | tuple[Variable, ...]]
#: Topic → framework → steps.
Topics = Mapping[str, Mapping[str, tuple[Advice, ...]]]
