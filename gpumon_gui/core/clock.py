"""Knows: how time comes in. Must not know: who asks for it.

Two clocks in every sample: the monotonic one for arithmetic, UTC for people.
"""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import Protocol


@dataclass(frozen=True, slots=True)
class Instant:
    """One moment on both clocks, in seconds.

    ``monotonic_s`` never goes back and has no meaning outside this boot; ``utc_s`` is seconds since 1970.
    """

    monotonic_s: float
    utc_s: float


class Clock(Protocol):
    """Where a component gets the time from; tests pass a :class:`FakeClock`."""

    def now(self) -> Instant:
        """The present moment."""
        ...


class SystemClock:
    """The clocks of the operating system."""

    def now(self) -> Instant:
        """The present moment."""
        return Instant(time.monotonic(), time.time())


class FakeClock:
    """A clock that moves only when told to."""

    def __init__(self, utc_s: float = 1_800_000_000.0) -> None:
        self._monotonic_s = 1000.0
        self._utc_s = utc_s

    def now(self) -> Instant:
        """The moment set so far."""
        return Instant(self._monotonic_s, self._utc_s)

    def advance(self, seconds: float) -> None:
        """Move both clocks forward."""
        self._monotonic_s += seconds
        self._utc_s += seconds
