"""Knows: when nothing has been read for too long. Must not know: why (it is told), the kinds that look at samples.

No sample tells it, so it is asked with the time of now. Muted together with the lost GPU: it is the same trouble.
"""

from __future__ import annotations

from gpumon_gui.core.clock import Instant
from gpumon_gui.core.formatters import duration
from gpumon_gui.core.messages import N_
from gpumon_gui.diagnosis.alerts.alert import Figure, Sign, State

TITLE = N_("GPUMon gets no readings")
TEXT = N_("Nothing has been read for {time}. {reason}")
SUBJECT = "readings"

#: A source that hangs is left out after ten seconds and the others go on; what lasts longer is worth a word.
SILENT_S = 15.0
#: The first reading of many GPUs may take half a minute.
START_S = 45.0
#: A sampler that lives shorter than this between two deaths is not well.
BACK_S = 10.0


class Silence:
    """Silence from its first moment on, until readings have come for a while."""

    def __init__(self) -> None:
        self._since_s: float | None = None
        self._back_s: float | None = None
        self._has_begun = False

    def silent(self, reason: str, now: Instant) -> Sign | None:
        """Nothing comes now; ``reason`` is a sentence."""
        self._back_s = None
        if self._since_s is None:
            self._since_s = now.monotonic_s
        lasted_s = now.monotonic_s - self._since_s
        if lasted_s < (SILENT_S if self._has_begun else START_S):
            return None
        return Sign(SUBJECT, State.HOLDS, {"time": Figure(duration, lasted_s), "reason": reason})

    def well(self, now: Instant) -> Sign | None:
        """Readings come, or the user wants none."""
        self._has_begun = True
        if self._since_s is None:
            return None
        if self._back_s is None:
            self._back_s = now.monotonic_s
        if now.monotonic_s - self._back_s < BACK_S:
            return None
        self._since_s = None
        return Sign(SUBJECT, State.OVER)
