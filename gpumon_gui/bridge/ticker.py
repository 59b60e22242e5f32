"""Knows: when the visible page is drawn again. Must not know: pages.

No timer runs while nothing happens: a new sample or status asks for one refresh, and refreshes are at least
:data:`SHORTEST_MS` apart, so that a replay at sixteen times the speed draws no more than the eye can follow.
"""

from __future__ import annotations

from PySide6.QtCore import QElapsedTimer, QObject, Qt, QTimer, Signal, Slot

from gpumon_gui.bridge.feed import Feed

SHORTEST_MS = 200


class Ticker(QObject):
    """Lives in the GUI thread.

    Signals:
        due(): draw what is visible.
    """

    due = Signal()

    def __init__(self, feed: Feed, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._active = False
        self._dirty = False
        self._since = QElapsedTimer()
        self._timer = QTimer(self)
        self._timer.setSingleShot(True)
        self._timer.setTimerType(Qt.TimerType.CoarseTimer)
        self._timer.timeout.connect(self._on_timeout)
        feed.sample_arrived.connect(self.request)
        feed.status_changed.connect(self.request)
        feed.inventory_changed.connect(self.request)
        feed.cleared.connect(self.request)

    @property
    def is_active(self) -> bool:
        """Whether something is on the screen."""
        return self._active

    def set_active(self, active: bool) -> None:
        """Tell whether anything is visible. What came meanwhile is drawn at once when it is again."""
        if active == self._active:
            return
        self._active = active
        if not active:
            self._timer.stop()
        elif self._dirty:
            self._schedule()

    @Slot()
    def request(self) -> None:
        """Ask for a refresh."""
        self._dirty = True
        if self._active and not self._timer.isActive():
            self._schedule()

    def stop(self) -> None:
        """No refresh any more."""
        self.set_active(False)

    def _schedule(self) -> None:
        elapsed = self._since.elapsed() if self._since.isValid() else SHORTEST_MS
        self._timer.start(max(0, SHORTEST_MS - elapsed))

    @Slot()
    def _on_timeout(self) -> None:
        self._dirty = False
        self._since.start()
        self.due.emit()
