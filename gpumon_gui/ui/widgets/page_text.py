"""Knows: how the figures of a page stand in a text that is copied: lines, tabs between caption and figure, as Task
Manager copies them. Must not know: which figures there are."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

Block = tuple[str, Iterable[Sequence[str]]]


def page_text(head: Iterable[str], blocks: Iterable[Block]) -> str:
    """The lines of the head, then each block below its heading, which may be empty; empty blocks are left out."""
    parts = ["\n".join(line for line in head if line)]
    for heading, rows in blocks:
        lines = ["\t".join(row) for row in rows]
        if lines:
            parts.append("\n".join([heading, *lines] if heading else lines))
    return "\n\n".join(parts)
