"""Knows: when the next tick of a periodic job is due. Must not know: what the job does."""

from __future__ import annotations


class Deadline:
    """Ticks at a fixed period without drift and without bursts.

    The next deadline is the last one plus the period; deadlines missed meanwhile (a slow read, a suspended
    laptop) are skipped, never replayed.
    """

    def __init__(self, period_s: float, start_s: float) -> None:
        if period_s <= 0:
            raise ValueError(f"period must be positive, got {period_s}")
        self._period_s = period_s
        self._next_s = start_s

    @property
    def period_s(self) -> float:
        """Seconds between two ticks."""
        return self._period_s

    def set_period(self, period_s: float, now_s: float) -> None:
        """Change the period; the next tick comes one new period from now at the latest."""
        if period_s <= 0:
            raise ValueError(f"period must be positive, got {period_s}")
        self._period_s = period_s
        self._next_s = min(self._next_s, now_s + period_s)

    def remaining(self, now_s: float) -> float:
        """Seconds until the next tick, 0 when it is due."""
        return max(0.0, self._next_s - now_s)

    def advance(self, now_s: float) -> int:
        """Pass the tick that is due; return how many were skipped."""
        self._next_s += self._period_s
        if self._next_s > now_s:
            return 0
        skipped = int((now_s - self._next_s) / self._period_s) + 1
        self._next_s += skipped * self._period_s
        return skipped
