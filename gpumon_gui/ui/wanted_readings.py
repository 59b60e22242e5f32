"""Knows: what must be read for who looks and who watches. Must not know: widgets, who reads."""

from __future__ import annotations

from dataclasses import dataclass

from gpumon_gui.core.model import Demand
from gpumon_gui.ui.pages.table import PageEntry

#: Timers are not exact: a sample this share of an interval after the last one is the next one.
_OF_A_GAP = 0.9


@dataclass(slots=True)
class WantedReadings:
    """Everything that has a say. ``interval_s``: the update speed, None while paused. ``keep_awake``: a sleeping
    laptop GPU is read while the window is on the screen. ``background_processes``: the users of the GPU are read also
    while nobody looks. ``pids`` are read with every detail each ``pids_interval_s``, hidden or not."""

    interval_s: float | None = 1.0
    keep_awake: bool = False
    background_processes: bool = False
    pids: tuple[int, ...] = ()
    pids_interval_s: float = 1.0

    def demand(self, page: PageEntry, *, on_screen: bool) -> Demand:
        """What to read with this page on show."""
        watches, shown_s = bool(self.pids), self._shown_s(on_screen)
        return Demand(
            interval_s=min(shown_s, self.pids_interval_s) if watches else shown_s,
            details=(on_screen and page.details) or watches,
            processes=(on_screen and page.processes) or self.background_processes or watches,
            cpu_processes=on_screen and page.cpu_processes,
            pids=self.pids,
            keep_awake=on_screen and self.keep_awake,
        )

    def least_gap_s(self, *, on_screen: bool) -> float:
        """Samples that come sooner are only for those who watch; 0: there are none."""
        shown_s = self._shown_s(on_screen)
        return _OF_A_GAP * shown_s if self.pids and self.pids_interval_s < shown_s else 0.0

    def _shown_s(self, on_screen: bool) -> float:
        if self.interval_s is None:
            return 1.0
        return self.interval_s if on_screen else max(self.interval_s, 1.0)  # hidden, only icon and past need it
