"""Knows: the last values of something, by time. Must not know: what they are values of."""

from __future__ import annotations

from collections import deque


class Past:
    """Pairs of seconds and value, no older than ``kept_s``. A step back in time starts over."""

    def __init__(self, kept_s: float) -> None:
        self._kept_s = kept_s
        self._pairs: deque[tuple[float, float]] = deque()

    def add(self, now_s: float, value: float) -> None:
        """The newest value."""
        if self._pairs and now_s < self._pairs[-1][0]:
            self._pairs.clear()
        self._pairs.append((now_s, value))
        while self._pairs[0][0] < now_s - self._kept_s:
            self._pairs.popleft()

    @property
    def seconds(self) -> float:
        """From the oldest to the newest."""
        return self._pairs[-1][0] - self._pairs[0][0] if self._pairs else 0.0

    @property
    def pairs(self) -> tuple[tuple[float, float], ...]:
        """All of them, oldest first."""
        return tuple(self._pairs)

    def share(self) -> float | None:
        """The mean; of 0 and 1 it is the share. None without a value."""
        return sum(value for _time, value in self._pairs) / len(self._pairs) if self._pairs else None
