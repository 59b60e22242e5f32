"""Knows: which blocking jobs of the window run beside the GUI thread. Must not know: dialogs, tables."""

from __future__ import annotations

from PySide6.QtCore import QObject, Qt, Signal, Slot

from gpumon_gui.bridge.worker import LoopThread, Worker
from gpumon_gui.system.end_process import EndOutcome, EndRequest, EndResult, end_process


class _EndWorker(Worker):
    finished = Signal(object)

    @Slot(object)
    def work(self, request: EndRequest) -> None:
        """Runs in the worker's thread."""
        self.finished.emit(end_process(request, self.stop_event))


class EndTasks(QObject):
    """Ends processes, one after the other. Lives in the GUI thread; its thread starts with the first request.

    Signals:
        finished(object): an :class:`EndOutcome`.
    """

    finished = Signal(object)
    _requested = Signal(object)

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._thread: LoopThread | None = None

    def end(self, request: EndRequest) -> None:
        """End a process; the answer comes by ``finished``."""
        if self._thread is None:
            worker = _EndWorker()
            self._requested.connect(worker.work, Qt.ConnectionType.QueuedConnection)
            worker.finished.connect(self._on_finished, Qt.ConnectionType.QueuedConnection)
            self._thread = LoopThread(worker, "end-task")
            self._thread.start()
        self._requested.emit(request)

    def close(self) -> bool:
        """Stop the thread; False when it does not end in time."""
        thread, self._thread = self._thread, None
        return thread is None or thread.stop()

    @Slot(object)
    def _on_finished(self, outcome: EndOutcome) -> None:
        self.finished.emit(outcome)


__all__ = ["EndOutcome", "EndRequest", "EndResult", "EndTasks"]
