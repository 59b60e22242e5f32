"""Knows: when to keep hands off a card so that it can fall asleep. Must not know: files, or what a card is.

Reading a sensor of an idle card restarts the driver's autosuspend timer (amdgpu, xe and i915 mark the device as used
at each read), so a monitor that reads every second keeps a laptop's GPU awake for ever. Therefore an idle card that
could sleep is left alone for a little longer than its autosuspend delay. If something else kept it awake, the next
attempt waits longer.
"""

from __future__ import annotations

IDLE_S = 10.0  #: idle for this long before it is left alone
MARGIN_S = 2.0  #: added to the driver's autosuspend delay
FIRST_RETRY_S = 60.0  #: after an attempt in vain; doubles
LAST_RETRY_S = 600.0
DEFAULT_DELAY_S = 5.0  #: amdgpu's and i915's own default is 5 and 10 s; used where the file is unreadable
LONGEST_DELAY_S = 30.0


class Rest:
    """State of one card. Times are monotonic seconds."""

    def __init__(self) -> None:
        self._idle_since: float | None = None
        self._until: float | None = None
        self._not_before = float("-inf")
        self._retry_s = FIRST_RETRY_S

    def hands_off(self, now_s: float) -> bool:
        """Whether the card is being left alone now."""
        if self._until is None:
            return False
        if now_s < self._until:
            return True
        # In vain: something else holds it awake.
        self._until = None
        self._idle_since = None
        self._not_before = now_s + self._retry_s
        self._retry_s = min(LAST_RETRY_S, self._retry_s * 2)
        return False

    def saw(self, now_s: float, *, idle: bool, delay_s: float) -> None:
        """The card was read: was it idle? Starts to leave it alone once it has been for long enough."""
        if not idle:
            self._idle_since = None
            return
        if self._idle_since is None:
            self._idle_since = now_s
        if now_s - self._idle_since >= IDLE_S and now_s >= self._not_before:
            self._until = now_s + min(delay_s, LONGEST_DELAY_S) + MARGIN_S

    def worked(self) -> None:
        """Something uses the card after all: read it again at once."""
        self._until = None
        self._idle_since = None

    def slept(self) -> None:
        """It fell asleep: next time there is no reason to wait."""
        self._until = None
        self._idle_since = None
        self._not_before = float("-inf")
        self._retry_s = FIRST_RETRY_S
