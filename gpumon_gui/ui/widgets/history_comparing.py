"""Knows: with what a span of the history is compared. Must not know: widgets, where figures come from."""

from __future__ import annotations

from gpumon_gui.core.messages import N_
from gpumon_gui.history.reading import Span, StoredDevice

DAY_S = 86_400
#: What a span is compared with: name, label, seconds earlier (0: the length of the span).
BEFORE: tuple[tuple[str, str, int], ...] = (
    ("previous", N_("The time just before"), 0),
    ("day", N_("A day earlier"), DAY_S),
    ("week", N_("A week earlier"), 7 * DAY_S),
)
#: The comparison with a span that was kept.
KEPT = "kept"


class Comparison:
    """``name`` is one of :data:`BEFORE`, :data:`KEPT`, or empty for none."""

    def __init__(self) -> None:
        self.name = ""
        self._kept: tuple[StoredDevice, Span] | None = None

    @property
    def has_kept(self) -> bool:
        """Whether a span was kept to compare with."""
        return self._kept is not None

    def choose(self, name: str) -> None:
        """Compare with this; a span that was kept is forgotten for any other."""
        self.name = name
        if name != KEPT:
            self._kept = None

    def keep(self, device: StoredDevice, span: Span) -> None:
        """Compare what is shown next with this."""
        self._kept = (device, span)
        self.name = KEPT

    def other(self, device: StoredDevice | None, span: Span) -> tuple[StoredDevice, Span] | None:
        """The device and span to compare these with; None when nothing is."""
        if self.name == KEPT:
            return self._kept
        earlier_s = next((seconds for name, _label, seconds in BEFORE if name == self.name), None)
        if earlier_s is None or device is None:
            return None
        return device, span.moved(-(earlier_s or span.length_s))
