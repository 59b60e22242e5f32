"""Knows: what is read and how often: the update speed, what the page on show needs, who watches. Must not know:
widgets, who reads."""

from __future__ import annotations

from PySide6.QtCore import QObject, Signal, Slot

from gpumon_gui.bridge.feed import Feed, FeedState
from gpumon_gui.core.messages import _
from gpumon_gui.core.model import Demand
from gpumon_gui.ui.origin import Origin
from gpumon_gui.ui.pages.table import PAGES, PageEntry
from gpumon_gui.ui.update_speeds import SPEEDS
from gpumon_gui.ui.wanted_readings import WantedReadings


class Pace(QObject):
    """Asks the origin for what is wanted, whenever that changes. Lives in the GUI thread.

    Signals:
        speed_changed(str): another update speed, by its name in ``update_speeds.SPEEDS``.
    """

    speed_changed = Signal(str)

    def __init__(self, feed: Feed, origin: Origin, parent: QObject, *, recorded: bool) -> None:
        """``recorded``: the samples are not of this moment and have a speed of their own."""
        super().__init__(parent)
        self._feed = feed
        self._origin = origin
        self._is_recorded = recorded
        self._speed = self._speed_before_pause = "normal"
        self._page: PageEntry = PAGES[0]
        self._on_screen = False
        self._wanted = WantedReadings()
        self._demand: Demand | None = None

    @property
    def speed_text(self) -> str:
        """The update speed in a word."""
        return next(_(label) for name, label, _seconds in SPEEDS if name == self._speed)

    @property
    def is_paused(self) -> bool:
        """Whether the user stopped the updates."""
        return self._feed.status.state is FeedState.PAUSED or self._speed == "paused"

    def set_speed(self, name: str) -> None:
        """Choose an update speed by its name in ``update_speeds.SPEEDS``."""
        if name == self._speed:
            return
        was_paused = self._speed == "paused"
        if not was_paused:
            self._speed_before_pause = self._speed
        self._speed = name
        self._wanted.interval_s = next(seconds for speed, _label, seconds in SPEEDS if speed == name)
        if name == "paused":
            self._origin.pause()
        elif was_paused:
            self._origin.resume()
        self._ask()
        self.speed_changed.emit(name)

    @Slot()
    def toggle(self) -> None:
        """Pause or go on."""
        if self._is_recorded:
            self._origin.toggle()
        else:
            self.set_speed(self._speed_before_pause if self._speed == "paused" else "paused")

    def follow(self, page: PageEntry, *, on_screen: bool) -> None:
        """Read what this page needs; little while it is not ``on_screen``."""
        self._page, self._on_screen = page, on_screen
        self._ask()

    def set_keep_awake(self, on: bool) -> None:
        """Whether a laptop's GPU is read also where that wakes it, while the window is on the screen."""
        self._wanted.keep_awake = on
        self._ask()

    def set_background_processes(self, on: bool) -> None:
        """Whether the users of the GPU are read also while nobody looks: alerts need them."""
        self._wanted.background_processes = on
        self._ask()

    def set_watched(self, pids: tuple[int, ...], interval_s: float) -> None:
        """Read these programs with every detail each ``interval_s``, hidden or not; the window keeps its own pace.
        Nothing of the kind without ``pids``."""
        self._wanted.pids = () if self._is_recorded else pids
        self._wanted.pids_interval_s = interval_s
        self._ask()

    def _ask(self) -> None:
        self._feed.least_gap_s = self._wanted.least_gap_s(on_screen=self._on_screen)
        demand = self._wanted.demand(self._page, on_screen=self._on_screen)
        if demand != self._demand:
            self._demand = demand
            self._origin.set_demand(demand)
