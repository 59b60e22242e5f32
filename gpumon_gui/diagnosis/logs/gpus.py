"""Knows: how listings of the same GPUs by several programs become one. Must not know: the programs' formats."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any, Final

from gpumon_gui.diagnosis.logs.block import Gpu

#: Listings by how complete they are: the first that is there says how many GPUs there are.
_ORDER: Final = (
    "nvidia-smi",
    "nvidia-smi -q",
    "nvidia-smi -L",
    "rocm-smi",
    "collect_env",
    "lspci",
    "tensorflow",
    "torch",
)
_NOT_NAME: Final = re.compile(r"nvidia|geforce|graphics|\(tm\)|\(r\)|[^a-z0-9]", re.IGNORECASE)


def merged_gpus(listed: Sequence[tuple[Gpu, int]]) -> tuple[list[dict[str, Any]], list[int]]:
    """The GPUs and the line of each. Other listings only add what the fullest one leaves out."""
    by_source: dict[str, dict[str, tuple[dict[str, Any], int]]] = {}
    for gpu, line in listed:
        known = by_source.setdefault(gpu.source, {})
        if gpu.index not in known:
            known[gpu.index] = (dict(gpu.values), line)
    sources = sorted(by_source, key=lambda name: _ORDER.index(name) if name in _ORDER else len(_ORDER))
    cards: list[dict[str, Any]] = []
    lines: list[int] = []
    for source in sources:
        free = list(range(len(cards)))
        makers = {card.get("vendor") for card in cards}  # whose cards a fuller listing has all named
        for values, line in by_source[source].values():
            at = next((at for at in free if _is_same(cards[at], values)), None)
            if at is not None:
                free.remove(at)
                cards[at] = {**values, **cards[at]}
            elif values.get("vendor") not in makers:
                cards.append(values)
                lines.append(line)
    return cards, lines


def _is_same(card: dict[str, Any], other: dict[str, Any]) -> bool:
    """One name may be cut short ("NVIDIA GeForce …") by the table that it stands in."""
    names = [_NOT_NAME.sub("", str(one.get("name", ""))).lower() for one in (card, other)]
    return _same_vendor(card, other) and (
        not all(names) or names[0].startswith(names[1]) or names[1].startswith(names[0])
    )


def _same_vendor(card: dict[str, Any], other: dict[str, Any]) -> bool:
    return card.get("vendor") == other.get("vendor")
