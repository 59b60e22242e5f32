"""Knows: when to let go of NVML so that a laptop's GPU can fall asleep. Must not know: NVML.

An open NVML session keeps a Linux GPU awake for as long as it lasts; after it is closed the kernel suspends the card
within about 6 s (cosmic-ext-applet-system-monitor issue 38). So: idle for a while → let go → wait and see. Asleep: stay
away. Still awake after the grace: something else keeps it awake, so come back, and try again later and later.
"""

from __future__ import annotations

IDLE_S = 10.0  #: idle for so long before letting go; short pauses of a program must not end the view
GRACE_S = 12.0  #: twice the 6 s that a suspend was measured to take
FIRST_RETRY_S = 30.0
LAST_RETRY_S = 600.0


class RestPolicy:
    """Decides for one NVML session over all devices that are able to sleep."""

    def __init__(self) -> None:
        self._idle_since_s: float | None = None
        self._released_s: float | None = None
        self._not_before_s = 0.0
        self._retry_s = FIRST_RETRY_S

    @property
    def resting(self) -> bool:
        """Whether the session was given up for the sake of sleep."""
        return self._released_s is not None

    def should_release(self, now_s: float, *, idle: bool) -> bool:
        """Told after each sweep whether every device that could sleep is idle; True: let go now."""
        if not idle:
            self._idle_since_s = None
            self._retry_s = FIRST_RETRY_S
            return False
        if self._idle_since_s is None:
            self._idle_since_s = now_s
        if now_s - self._idle_since_s < IDLE_S or now_s < self._not_before_s:
            return False
        self._released_s = now_s
        self._idle_since_s = None
        return True

    def may_open(self, now_s: float, *, any_awake: bool) -> bool:
        """Whether NVML may be started: some device is awake, and not merely because it was released just now."""
        if not any_awake:
            self._retry_s = FIRST_RETRY_S
            if self._released_s is None:
                self._released_s = now_s
            # Woken by somebody later: look at once, without another grace.
            self._released_s = min(self._released_s, now_s - GRACE_S)
            return False
        if self._released_s is not None and now_s - self._released_s < GRACE_S:
            return False
        if self._released_s is not None:
            self._released_s = None
            self._not_before_s = now_s + self._retry_s
            self._retry_s = min(2 * self._retry_s, LAST_RETRY_S)
        return True
