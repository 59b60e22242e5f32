"""Knows: how long each level is kept, and what goes first when the file is too large. Must not know: SQLite."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from gpumon_gui.history.schema import DAY_S, HOUR_S, LEVELS

MIB = 1 << 20
#: A clock that runs this far from the monotonic one has been set.
_STEP_S = 60.0
#: A clock found this far ahead of the newest data may be wrong: nothing is deleted before it has run on for an hour.
_DOUBTFUL_S = 7.0 * DAY_S
_PROVEN_S = 3600.0
#: When the file is too large it is made a little smaller than it may be, so that this does not come each time.
_ROOM = 0.95


@dataclass(frozen=True, slots=True)
class HistoryOptions:
    """What the user chose. ``*_s``: how long seconds, ten seconds and minutes are kept; ``most_bytes``: how large the
    file may become, whatever the times say."""

    is_on: bool = True
    seconds_s: int = 48 * HOUR_S
    tens_s: int = 14 * DAY_S
    minutes_s: int = 365 * DAY_S
    most_bytes: int = 1024 * MIB

    def kept_s(self) -> dict[int, int]:
        """Level → how long it is kept; hours as long as minutes."""
        times = (self.seconds_s, self.tens_s, self.minutes_s, self.minutes_s)
        return dict(zip((level.number for level in LEVELS), times, strict=True))


def cutoffs(options: HistoryOptions, now_s: float, rolled_until: Mapping[int, int]) -> dict[int, int]:
    """Level → the second before which its stretches go. What the next level has not taken over yet stays."""
    found = {}
    for level, kept_s in options.kept_s().items():
        cutoff_s = int(now_s) - kept_s
        if level + 1 < len(LEVELS):
            cutoff_s = min(cutoff_s, rolled_until.get(level + 1, 0))
        found[level] = cutoff_s
    return found


def first_to_go(options: HistoryOptions, oldest_s: Mapping[int, int], now_s: float) -> int | None:
    """The level whose oldest stretch has had most of its time: all levels shrink in the same proportion. ``oldest_s``
    lacks levels without data; None when there is none."""
    kept = options.kept_s()
    return max(oldest_s, key=lambda level: (now_s - oldest_s[level]) / kept[level], default=None)


def wanted_bytes(options: HistoryOptions) -> int:
    """How small a file that is too large is made."""
    return int(options.most_bytes * _ROOM)


class ClockGuard:
    """Tells whether the clock may be trusted with deleting: one set to a wrong year must not empty the file."""

    def __init__(self) -> None:
        self._last: tuple[float, float] | None = None
        self._steady_since_s = 0.0
        self._is_proven = False

    def note(self, monotonic_s: float, utc_s: float, newest_s: float | None) -> None:
        """A sample came; ``newest_s`` is the newest second in the file when this program opened it (None: empty)."""
        if self._last is None:
            self._steady_since_s = monotonic_s
            self._is_proven = newest_s is None or abs(utc_s - newest_s) <= _DOUBTFUL_S
        else:
            passed_s = monotonic_s - self._last[0]
            # During a suspend the monotonic clock may stand still: ahead by days only is doubtful.
            ahead_s = utc_s - self._last[1] - passed_s
            if ahead_s < -_STEP_S or ahead_s > _DOUBTFUL_S:
                self._steady_since_s, self._is_proven = monotonic_s, False
        self._last = (monotonic_s, utc_s)

    def is_trusted(self) -> bool:
        """Whether old data may go by age."""
        if self._last is None:
            return False
        return self._is_proven or self._last[0] - self._steady_since_s >= _PROVEN_S
