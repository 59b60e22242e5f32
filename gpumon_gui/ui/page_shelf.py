"""Knows: which pages of the window were made, and who waits for one. Must not know: any one page.

A page is made when it is first wanted: what nobody looks at costs neither memory nor time at the start.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Iterator
from typing import Any


class PageShelf:
    """The pages by name. ``make`` makes one; it is called once for each."""

    def __init__(self, names: Iterable[str], make: Callable[[str], Any]) -> None:
        self._names = tuple(names)
        self._make = make
        self._made: dict[str, Any] = {}
        self._waiting: dict[str, list[Callable[[Any], object]]] = {}

    def __iter__(self) -> Iterator[str]:
        """All names, in the order of the pages."""
        return iter(self._names)

    def __getitem__(self, name: str) -> Any:
        """The page, made now if it was not yet. Raises KeyError for an unknown name, and what making it raises."""
        if name in self._made:
            return self._made[name]
        if name not in self._names:
            raise KeyError(name)
        page = self._made[name] = self._make(name)
        for act in self._waiting.pop(name, ()):
            try:
                act(page)
            except Exception as error:  # noqa: BLE001 - told as what nobody catches; the others still get theirs
                sys.excepthook(type(error), error, error.__traceback__)
        return page

    def get(self, name: str) -> Any:
        """The page if it was made, else None."""
        return self._made.get(name)

    def made(self) -> list[Any]:
        """The pages that were made, oldest first."""
        return list(self._made.values())

    def when_made(self, name: str, act: Callable[[Any], object]) -> None:
        """Call ``act`` with the page: now, or as soon as it is made."""
        if name in self._made:
            act(self._made[name])
        else:
            self._waiting.setdefault(name, []).append(act)
