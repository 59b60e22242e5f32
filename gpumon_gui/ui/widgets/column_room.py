"""Knows: which columns of a table fit into its room, and how wide. Must not know: widgets, what is in a column."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import TypeVar

Key = TypeVar("Key")


def fit(
    usual: Mapping[Key, int],
    least: Mapping[Key, int],
    room: int,
    gives_way: Sequence[Key],
    stays: Collection[Key],
    bare: Collection[Key] = (),
) -> dict[Key, int]:
    """Widths of the columns that are on show, in the order of ``usual`` (their usual widths). Where there is no room
    for all, those of ``gives_way`` go in that order, except ``stays``: first the ``bare`` ones, in which nothing
    stands, then others as far as it does not help that columns get as narrow as ``least`` says. The last one takes
    what is left."""
    shown = dict(usual)
    for key in gives_way:
        if key in bare and key not in stays and sum(shown.values()) > room:
            shown.pop(key, None)
    narrow = {key: min(width, least[key]) for key, width in usual.items()}
    for key in gives_way:
        if sum(narrow[one] for one in shown) <= room:
            break
        if key not in stays:
            shown.pop(key, None)
    for key in sorted(shown, key=lambda one: gives_way.index(one) if one in gives_way else len(gives_way)):
        lacks = sum(shown.values()) - room
        shown[key] -= min(max(0, lacks), shown[key] - narrow[key])
    if shown:
        shown[next(reversed(shown))] += max(0, room - sum(shown.values()))
    return shown
