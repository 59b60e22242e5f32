"""Knows: how the newest thing gets from one thread to another. Must not know: what it is.

A signal per thing would queue without limit while the receiver is busy. Here the sender signals only when the box was
empty, so at most one signal is on its way and the receiver finds the newest thing.
"""

from __future__ import annotations

import threading
from typing import Generic, TypeVar

T = TypeVar("T")


class Mailbox(Generic[T]):
    """Room for one thing; a newer one replaces it. Every method may be called from any thread and never blocks.

    Attributes:
        replaced: how many things nobody took before the next one came.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._content: T | None = None
        self.replaced = 0

    def put(self, thing: T) -> bool:
        """Leave a thing. True when the box was empty: the receiver must be told."""
        with self._lock:
            was_empty = self._content is None
            self._content = thing
            if not was_empty:
                self.replaced += 1
            return was_empty

    def take(self) -> T | None:
        """The newest thing, once; None when there is none."""
        with self._lock:
            content, self._content = self._content, None
            return content
