"""Knows: how time comes in. Must not know: who asks for it.

Two clocks in every sample: the monotonic one for arithmetic, UTC for people.
"""

from __future__ import annotations

import time
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Protocol

#: Windows' C runtime refuses moments before 1970, and Python looks up to a day further back than it is asked for.
_EARLIEST_S = 2 * 86400


def local_moment(utc_s: float) -> datetime:
    """A moment as the wall clock here showed it. Moments before 1970 (a wrong clock) have the offset of 1970."""
    first = datetime.fromtimestamp(max(utc_s, _EARLIEST_S), UTC).astimezone()
    return first if utc_s >= _EARLIEST_S else first + timedelta(seconds=utc_s - _EARLIEST_S)


def local_midnight_s(year: int, month: int, day: int) -> float:
    """When a day began here, in seconds of UTC."""
    midnight = datetime(year, month, day)  # noqa: DTZ001 - the user's own
    first = local_moment(_EARLIEST_S)
    return (midnight if midnight > first.replace(tzinfo=None) else midnight.replace(tzinfo=first.tzinfo)).timestamp()


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
