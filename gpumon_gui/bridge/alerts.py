"""Knows: the alerts of this session: raised from the samples of the feed and from their absence, kept in a list.
Must not know: how they are told."""

from __future__ import annotations

from dataclasses import replace
from typing import Final

from PySide6.QtCore import QObject, Signal, Slot

from gpumon_gui.bridge.feed import Feed, FeedState, FeedStatus
from gpumon_gui.core.clock import Clock, SystemClock
from gpumon_gui.core.model import Sample
from gpumon_gui.diagnosis.alerts.alarm import Alarm
from gpumon_gui.diagnosis.alerts.alert import Alert, Limits
from gpumon_gui.telemetry.derive.adapters import adapters, title_of

#: More than anybody reads; older ones go.
MOST: Final = 200
#: Nothing is read, and not because the user wants it so.
_SILENT: Final = (FeedState.STARTING, FeedState.STALE)


class AlertCentre(QObject):
    """Lives in the GUI thread: a look at a sample takes well below a millisecond.

    Signals:
        raised(object): a new :class:`Alert`.
        changed(): the list or what of it is unread is another now.
    """

    raised = Signal(object)
    changed = Signal()

    def __init__(
        self, feed: Feed, limits: Limits | None = None, parent: QObject | None = None, *, clock: Clock | None = None
    ) -> None:
        super().__init__(parent)
        self._feed = feed
        self._clock = clock or SystemClock()
        self._alarm = Alarm(limits)
        self._alerts: list[Alert] = []
        self._unread = 0
        feed.sample_arrived.connect(self._on_sample)
        feed.status_changed.connect(self._on_status)  # comes each second while there is none

    @property
    def alerts(self) -> tuple[Alert, ...]:
        """The newest first."""
        return tuple(self._alerts)

    @property
    def unread(self) -> int:
        """How many came since the list was last looked at."""
        return self._unread

    def set_limits(self, limits: Limits) -> None:
        """What the user set now."""
        self._alarm.set_limits(limits)

    def add(self, *alerts: Alert) -> None:
        """Raise these: what a sample alone does not tell, such as a verdict."""
        for alert in alerts:
            self._alerts.insert(0, alert)
            self._unread += 1
            self.raised.emit(alert)
        if alerts:
            del self._alerts[MOST:]
            self.changed.emit()

    @Slot()
    def mark_read(self) -> None:
        """The list was looked at."""
        if self._unread:
            self._unread = 0
            self.changed.emit()

    @Slot()
    def clear(self) -> None:
        """Empty the list."""
        self._alerts.clear()
        self._unread = 0
        self.changed.emit()

    @Slot(object)
    def _on_sample(self, sample: Sample) -> None:
        self.add(*(_which(alert, sample) for alert in self._alarm.look(sample)))
        self._on_status(self._feed.status)

    @Slot(object)
    def _on_status(self, status: FeedStatus) -> None:
        silent = status.text if status.state in _SILENT else None
        self.add(*self._alarm.hear(self._clock.now(), silent))


def _which(alert: Alert, sample: Sample) -> Alert:
    """Of several GPUs each is called by its number too: often all have one name."""
    shown = adapters(sample.inventory)
    adapter = next((one for one in shown if one.info.key == alert.device), None)
    if len(shown) < 2 or adapter is None or "gpu" not in alert.values:
        return alert
    return replace(alert, values={**alert.values, "gpu": f"{title_of(adapter)} ({adapter.info.name})"})
