"""Knows: the newest sample and the last hour of each device, in the GUI thread. Must not know: widgets, sources.

The one place where Missing becomes NaN. Pages read from here when the ticker says so; nothing here blocks.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from PySide6.QtCore import QObject, Signal

from gpumon_gui.core.model import DeviceKey, Sample
from gpumon_gui.core.values import Value, number
from gpumon_gui.history.ring import Ring

#: An hour at the fastest update speed (two samples a second).
CAPACITY = 7200
#: Series of the machine itself (``cpu_utilization``, ``ram_used_bytes``).
HOST = DeviceKey("host")
_NAN = float("nan")


class FeedState(StrEnum):
    """What the numbers on the screen are."""

    STARTING = "starting"  #: no sample yet
    LIVE = "live"
    REPLAY = "replay"
    PAUSED = "paused"  #: the user stopped the updates
    STALE = "stale"  #: the sampler is silent, hung or dead: last good values, greyed


@dataclass(frozen=True, slots=True)
class FeedStatus:
    """``text`` is one translated sentence for the status bar and the banner; ``age_s`` the age of the newest sample;
    ``is_over``: the last sample of a recording is on show."""

    state: FeedState = FeedState.STARTING
    text: str = ""
    age_s: float = 0.0
    is_over: bool = False


class Feed(QObject):
    """Lives in the GUI thread.

    Signals:
        sample_arrived(object): a new :class:`Sample` is in ``latest`` and in the rings.
        sample_taken(object): any sample, in order: also those that are stored without being shown, and those that a
            watch asked for between two that are shown.
        inventory_changed(): devices came, went or changed their description.
        status_changed(object): a new :class:`FeedStatus`.
        cleared(): the past was replaced (a seek in a replay); ``latest`` is the newest of the other one already.
    """

    sample_arrived = Signal(object)
    sample_taken = Signal(object)
    inventory_changed = Signal()
    status_changed = Signal(object)
    cleared = Signal()

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self.latest: Sample | None = None
        self.status = FeedStatus()
        self._rings: dict[DeviceKey, Ring] = {}
        #: Samples closer than this to the last one shown are only for those who watch: the window keeps its pace.
        self.least_gap_s = 0.0
        self._is_hurried = False

    def push(self, sample: Sample) -> None:
        """Take a sample: rings first, then one signal."""
        before = self.latest
        if self._is_between(sample):
            self.sample_taken.emit(sample)
            return
        self.store(sample)
        if before is None or before.inventory != sample.inventory:
            self.inventory_changed.emit()
        self.sample_arrived.emit(sample)

    def store(self, sample: Sample) -> None:
        """Take a sample without telling anybody (filling the past after a seek)."""
        self.latest = sample
        append_sample(self._rings, sample)
        self.sample_taken.emit(sample)

    def show_next(self) -> None:
        """Show the next sample, however soon it comes."""
        self._is_hurried = True

    def restore(self, past: dict[DeviceKey, Ring], sample: Sample) -> None:
        """Put another past in place of the present one, at once: rings that :func:`append_sample` filled elsewhere
        and that belong to the feed from now on. ``sample`` is their newest."""
        before = self.latest
        self._rings = past
        self.latest = sample
        self.cleared.emit()
        self.sample_taken.emit(sample)
        if before is None or before.inventory != sample.inventory:
            self.inventory_changed.emit()
        self.sample_arrived.emit(sample)

    def _is_between(self, sample: Sample) -> bool:
        before, hurried = self.latest, self._is_hurried
        self._is_hurried = False
        if not self.least_gap_s or hurried or before is None or before.inventory != sample.inventory:
            return False
        return 0.0 <= sample.monotonic_s - before.monotonic_s < self.least_gap_s

    def set_status(self, status: FeedStatus) -> None:
        """Say what the numbers are; one signal per change."""
        if status != self.status:
            self.status = status
            self.status_changed.emit(status)

    def ring(self, key: DeviceKey) -> Ring | None:
        """The past of a device (or :data:`HOST`): columns by metric id and :func:`engine_series`. None: never seen."""
        return self._rings.get(key)


def append_sample(rings: dict[DeviceKey, Ring], sample: Sample) -> None:
    """Add a sample to the rings of its devices and of the host. Touches nothing else: any thread may fill its own."""
    time_s = sample.monotonic_s
    for key, device in sample.devices.items():
        row = {metric: as_float(value) for metric, value in device.values.items()}
        for engine in device.engines:
            row[engine_series(engine.id)] = as_float(engine.utilization)
        _ring(rings, key).append(time_s, row)
    host = {metric: as_float(value) for metric, value in sample.host.values.items()}
    _ring(rings, HOST).append(time_s, host)


def _ring(rings: dict[DeviceKey, Ring], key: DeviceKey) -> Ring:
    ring = rings.get(key)
    if ring is None:
        ring = rings[key] = Ring(CAPACITY)
    return ring


def engine_series(engine_id: str) -> str:
    """The ring column of an engine."""
    return f"engine:{engine_id}"


def as_float(value: Value) -> float:
    """The number, or NaN for a missing value: a gap in the chart."""
    found = number(value)
    return _NAN if found is None else float(found)
