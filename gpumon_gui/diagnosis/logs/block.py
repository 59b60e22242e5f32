"""Knows: what a reader of several lines (a table, a listing, a traceback) may say. Must not know: any one of them.

A block starts at a line that contains one of its ``hints`` and reads on from there, never back.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True)
class Fact:
    """A fact read from a log. ``offset``: lines after the block's first one.

    ``path`` as in :class:`~gpumon_gui.diagnosis.facts.View`. ``newer``: what is printed later counts (an installer
    changed it); otherwise what was said first does.
    """

    path: str
    value: object
    offset: int = 0
    newer: bool = False


@dataclass(frozen=True, slots=True)
class Printed:
    """A signal read from a log; the fields of :class:`~gpumon_gui.diagnosis.facts.Signal`."""

    kind: str
    values: Mapping[str, object] = field(default_factory=dict)
    offset: int = 0
    framework: str = ""
    text: str = ""


@dataclass(frozen=True, slots=True)
class Gpu:
    """A GPU as one program lists it. ``values`` are keys of the facts' ``gpus[]``; ``source`` names the listing."""

    source: str
    index: str
    values: Mapping[str, object]
    offset: int = 0


@dataclass(frozen=True, slots=True)
class Found:
    """What a block said, and how many lines it took (other blocks of the same kind start behind them)."""

    facts: tuple[Fact, ...] = ()
    signals: tuple[Printed, ...] = ()
    gpus: tuple[Gpu, ...] = ()
    length: int = 1


@dataclass(frozen=True, slots=True)
class Block:
    """``read`` gets the line with the hint and up to ``lines - 1`` lines after it; None: it is not one after all.

    Hints are plain texts in lower case.
    """

    name: str
    hints: tuple[str, ...]
    read: Callable[[Sequence[str]], Found | None]
    lines: int = 1
