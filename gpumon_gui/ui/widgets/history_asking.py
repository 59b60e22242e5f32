"""Knows: which span of which device is asked for, and what came as the answer. Must not know: how it is drawn.

Asks :class:`~gpumon_gui.bridge.history.History`, and only while the page can be seen.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from PySide6.QtCore import QObject, Signal, Slot
from PySide6.QtWidgets import QWidget

from gpumon_gui.bridge.feed import Feed
from gpumon_gui.bridge.history import History, HistoryStatus
from gpumon_gui.bridge.history_reader import Answer, Question
from gpumon_gui.core.messages import N_
from gpumon_gui.core.model import DeviceInfo, DeviceKey
from gpumon_gui.history.marker import Marker
from gpumon_gui.history.reading import Contents, Reading, Span, StoredDevice
from gpumon_gui.ui.widgets import history_devices
from gpumon_gui.ui.widgets.history_comparing import Comparison

HOUR_S, DAY_S = 3600, 86_400
RANGES: tuple[tuple[int, str], ...] = (
    (HOUR_S, N_("1 h")),
    (6 * HOUR_S, N_("6 h")),
    (DAY_S, N_("24 h")),
    (7 * DAY_S, N_("7 d")),
    (30 * DAY_S, N_("30 d")),
    (365 * DAY_S, N_("1 y")),
)
SHORTEST_S = 30.0
LONGEST_S = 400.0 * DAY_S
#: New data are looked for when they move the picture by a pixel, but not more often than this.
FOLLOW_S = 4.0


class HistoryAsking(QObject):
    """What of the past is wanted, and what is known of it. ``columns`` says how many columns of pixels there are.

    Signals:
        changed(): there is something else to draw.
        moved(): another span or device was chosen; the answer comes later.
        answered(): what was chosen is there.
    """

    changed = Signal()
    moved = Signal()
    answered = Signal()

    def __init__(self, feed: Feed, columns: Callable[[], int], page: QWidget) -> None:
        super().__init__(page)
        self._feed = feed
        self._columns = columns
        self._page = page
        self.history: History | None = None
        self.why_none = ""  #: untranslated
        self.contents = Contents()
        self.device: StoredDevice | None = None
        self.reading: Reading | None = None
        self.other: Reading | None = None
        self.markers: tuple[Marker, ...] = ()
        self.comparison = Comparison()
        self.fault = ""
        self.is_asking = False
        self._wanted: DeviceKey | None = None
        self._range_s = RANGES[0][0]
        self._length_s = float(self._range_s)
        self._span: Span | None = None  # None: so much up to now
        self._asked_utc_s = 0.0
        self._is_stale = False

    def set_history(self, history: History | None, why_none: str = "") -> None:
        """Where the past comes from; ``why_none`` (untranslated) says why there is none."""
        if self.history is not None:
            for signal, slot in self._wires(self.history):
                signal.disconnect(slot)
        self.history, self.why_none = history, why_none
        if history is not None:
            for signal, slot in self._wires(history):
                signal.connect(slot)
            if not history.is_written:  # a file to look at is more than an hour long
                self._range_s, self._length_s = DAY_S, float(DAY_S)
        self.ask()

    def _wires(self, history: History) -> tuple[tuple[Any, Any], ...]:
        return (
            (history.answered, self._on_answered),
            (history.written, self._on_written),
            (history.status_changed, self._on_status),
        )

    # -- span

    @property
    def span(self) -> Span:
        """What is on show, or will be with the next answer."""
        if self._span is not None:
            return self._span
        now_s = self._now_s()
        return Span(now_s - self._length_s, now_s)

    @property
    def is_at_range(self) -> bool:
        """Whether the range that was chosen is on show, up to now."""
        return self._span is None and self._length_s == self._range_s

    @Slot(int)
    def set_range(self, seconds: int) -> None:
        """Show so much time up to now."""
        self._range_s = seconds
        self.go_to_now()

    @Slot()
    def go_to_now(self) -> None:
        """Back to the range that was chosen."""
        self._span, self._length_s = None, float(self._range_s)
        self._move()

    @Slot(object)
    def set_span(self, span: Span) -> None:
        """Show this span, as far as it can be: neither too short nor too long, and not in the future."""
        now_s = self._now_s()
        length_s = min(max(span.length_s, SHORTEST_S), LONGEST_S)
        middle_s = (span.left_s + span.right_s) / 2
        right_s = min(middle_s + length_s / 2, now_s)
        first_s = self.contents.first_s
        if first_s is not None:  # what was before the beginning is of no use
            right_s = min(max(right_s, first_s + length_s / 4), now_s)
        self._length_s = length_s
        # Who looks at now goes on doing so.
        self._span = None if right_s >= now_s - length_s / 500 else Span(right_s - length_s, right_s)
        self._move()

    @Slot(int)
    def go_to_edge(self, edge: int) -> None:
        """As much time as now, at the beginning (-1) or up to now (1)."""
        length_s = self.span.length_s
        if edge > 0:
            now_s = self._now_s()
            self.set_span(Span(now_s - length_s, now_s))
        elif self.contents.first_s is not None:
            first_s = float(self.contents.first_s)
            self.set_span(Span(first_s, first_s + length_s))

    def _now_s(self) -> float:
        """Now; in a file that is only looked at, its end."""
        history = self.history
        if history is None:
            return 0.0
        if not history.is_written and self.contents.last_s is not None:
            return float(self.contents.last_s + 1)
        return history.clock.now().utc_s

    def _move(self) -> None:
        self.moved.emit()
        self.ask()
        self.changed.emit()  # what is known stands in its new place at once

    # -- device

    @property
    def devices(self) -> tuple[StoredDevice, ...]:
        """The devices to choose from."""
        return history_devices.listed(self.contents)

    def title(self, device: StoredDevice) -> str:
        """What a device is called."""
        return history_devices.title(device, self.contents, self._here())

    @Slot(object)
    def select(self, device: StoredDevice) -> None:
        """Show another device over the same span."""
        self.device = device
        self._wanted = device.key
        self.reading = self.other = None
        self._move()

    def want(self, key: DeviceKey) -> None:
        """Show this device, now or once it is known."""
        self._wanted = key
        self.device = history_devices.by_key(self.contents, key) or self.device

    def _here(self) -> tuple[DeviceInfo, ...] | None:
        latest = self._feed.latest
        is_own = self.history is not None and self.history.is_written
        return latest.inventory if latest is not None and is_own else None

    # -- comparison

    @property
    def compared(self) -> tuple[StoredDevice, Span] | None:
        """The device and span that are compared with."""
        return self.comparison.other(self.device, self.span)

    @property
    def shift_s(self) -> float:
        """How much later the other span is drawn than it was."""
        if self.reading is None or self.other is None:
            return 0.0
        return self.reading.span.left_s - self.other.span.left_s

    @Slot(str)
    def compare(self, name: str) -> None:
        """See :meth:`Comparison.choose`."""
        self.comparison.choose(name)
        if not name:
            self.other = None
        self._move()

    @Slot()
    def keep_span(self) -> None:
        """Keep what is on show, to compare with what is shown next."""
        if self.device is not None:
            self.comparison.keep(self.device, self.span)
            self._move()

    # -- asking and answering

    def refresh(self) -> None:
        """Ask again when time has moved on far enough."""
        if not self._page.isVisible() or self.history is None:
            return
        if self._asked_utc_s == 0.0:
            self.ask()
        elif self._is_stale and self._span is None and not self.is_asking:
            pixel_s = self._length_s / self._columns()
            if self._now_s() - self._asked_utc_s >= max(FOLLOW_S, pixel_s):
                self.ask()

    def ask(self) -> None:
        """Ask for what is wanted, if anybody sees the answer."""
        if self.history is None or not self._page.isVisible():
            self._asked_utc_s = 0.0
            self.changed.emit()
            return
        self._asked_utc_s = self._now_s()
        self.is_asking, self._is_stale = True, False
        self.history.ask(Question(0, self.device, self.span, self._columns(), self.compared))

    def ask_soon(self) -> None:
        """Ask with the next refresh: there are more or fewer columns."""
        self._asked_utc_s = 0.0

    def forget(self) -> None:
        """Everything was deleted."""
        if self.history is not None:
            self.history.clear()
            self.contents = Contents()
            self.device = self.reading = self.other = None
            self.markers = ()
            self.changed.emit()

    @Slot(object)
    def _on_answered(self, answer: Answer) -> None:
        self.is_asking = False
        if self.history is None or not self._page.isVisible():
            return
        if answer.reading is None and self._is_stale:  # the file was written meanwhile: perhaps there is something now
            self.ask()
            return
        self.fault = answer.fault
        if answer.fault:
            self.changed.emit()
            return
        self.contents = answer.contents
        known = None if self.device is None else history_devices.by_number(self.contents, self.device.number)
        if known is None:
            self.device = history_devices.first(self.contents, self._wanted, self._here())
            if self.device is not None:
                self.ask()
                return
        else:
            self.device = known
        self.reading, self.other = answer.reading, answer.other
        self.markers = tuple(marker for marker in answer.markers if self._is_of_device(marker))
        self.changed.emit()
        self.answered.emit()

    def _is_of_device(self, marker: Marker) -> bool:
        """Whether a marker belongs to what is on show; the machine has those of all cards."""
        device = self.device
        return device is None or device.is_host or marker.device in (None, device.key)

    @Slot()
    def _on_written(self) -> None:
        self._is_stale = True
        if self._page.isVisible() and self.reading is None and not self.is_asking:
            self.ask()

    @Slot(object)
    def _on_status(self, status: HistoryStatus) -> None:
        self.changed.emit()
