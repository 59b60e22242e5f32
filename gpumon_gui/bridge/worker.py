"""Knows: how one QObject works in a thread of its own and is stopped. Must not know: what it works on.

The only module that starts threads for Qt. A plain QObject is moved to a QThread (never a QThread subclass: its slots
would run in the creator's thread). Stopping sets an event, quits the event loop and waits, in this order: a worker
that announces its own end would be waited for by the very thread that must deliver the announcement.

Across threads connect signals only to ``@Slot`` methods of QObjects, with ``Qt.ConnectionType.QueuedConnection``;
PySide6 runs lambdas, partials and methods of plain objects in the thread of the sender.
"""

from __future__ import annotations

import logging
import sys
import threading
import weakref

from PySide6.QtCore import QElapsedTimer, QObject, Qt, QThread, Signal, Slot

from gpumon_gui.core.messages import _

_log = logging.getLogger("gpumon.worker")

#: Threads that did not end in time. Destroying a running QThread aborts the process, so they are kept for ever; the
#: application saves what it has and leaves by ``os._exit``.
_stuck: list[QThread] = []
#: Those that run are among them.
_started: weakref.WeakSet[LoopThread] = weakref.WeakSet()


class Worker(QObject):
    """Base of everything that works in a :class:`LoopThread`. Make it in the GUI thread, without a parent.

    Attributes:
        stop_event: set when the thread is asked to end. Waits inside :meth:`run` wait on it, with a time-out.

    Signals:
        crashed(str): :meth:`tell_fault` was called. Emitted in the worker's thread.
    """

    crashed = Signal(str)

    def __init__(self) -> None:
        super().__init__()
        self.stop_event = threading.Event()

    def run(self) -> None:
        """Called once in the worker's thread. Return at once to be driven by queued slots, or loop until
        ``stop_event`` is set. Timers must be made here, not in ``__init__``."""

    def wake(self) -> None:
        """Called by :meth:`LoopThread.stop` in the *caller's* thread after ``stop_event`` is set: end a blocking
        call (close the pipe). Must return at once and be safe beside :meth:`run`."""

    def end(self) -> None:
        """Called once in the worker's thread when it ends: stop timers, close files."""

    def tell_fault(self, error: Exception) -> None:
        """Tell of a fault of ours, as everything is told that nobody catches. In the worker's thread.

        Called for what :meth:`run` and :meth:`end` raise; others call it for what they catch to go on.
        """
        sys.excepthook(type(error), error, error.__traceback__)
        self.crashed.emit(f"{type(error).__name__}: {error}")

    @Slot()
    def _enter(self) -> None:
        self._guarded("run")

    @Slot()
    def _leave(self) -> None:
        self._guarded("end")

    def _guarded(self, name: str) -> None:
        try:
            getattr(self, name)()
        except Exception as error:  # noqa: BLE001 - told; the thread must still end
            _log.error("%s.%s failed", type(self).__name__, name)
            self.tell_fault(error)


class LoopThread:
    """A thread with an event loop for one :class:`Worker`. Owned and used by the GUI thread."""

    def __init__(self, worker: Worker, name: str) -> None:
        self.worker = worker
        self._asked = QElapsedTimer()  #: runs from the first request to end
        self._thread = QThread()
        self._thread.setObjectName(name)
        worker.moveToThread(self._thread)
        self._thread.started.connect(worker._enter)
        # The thread emits this itself, as its last act: direct, because its event loop has ended by then.
        self._thread.finished.connect(worker._leave, Qt.ConnectionType.DirectConnection)

    @property
    def is_running(self) -> bool:
        """Whether the thread was started and has not ended: only then may it and its worker be dropped.

        ``QThread.isRunning`` is already false while the worker's :meth:`Worker.end` is still called.
        """
        return not self._thread.wait(0)

    def start(self) -> None:
        """Start the thread; :meth:`Worker.run` is its first call. A thread starts once: make a new one to restart."""
        if self._thread.isFinished() or self.worker.stop_event.is_set():
            raise RuntimeError(f"thread {self._thread.objectName()} has been stopped")
        self._thread.start()
        _started.add(self)

    def request_stop(self) -> None:
        """Ask the thread to end without waiting, so that several can end at the same time before :meth:`stop`."""
        if not self._asked.isValid():
            self._asked.start()
        self.worker.stop_event.set()
        self.worker.wake()
        self._thread.quit()

    def stop(self, timeout_s: float = 2.0) -> bool:
        """Ask the thread to end and wait until ``timeout_s`` after it was first asked. True when it has ended (or never
        ran).

        After False it is still running, a call in it does not return: keep away from the worker, save, and leave the
        process by ``os._exit``.
        """
        if QThread.currentThread() is self._thread:
            raise RuntimeError("a worker cannot wait for its own thread")
        self.request_stop()
        if self._thread.wait(max(0, round(timeout_s * 1000) - self._asked.elapsed())):
            return True
        _log.warning("thread %s did not end within %.1f s", self._thread.objectName(), timeout_s)
        if self._thread not in _stuck:
            _stuck.append(self._thread)
        return False


def request_stop_of_all() -> None:
    """Ask every thread that runs to end, so that they end at the same time; who owns one still has to stop it."""
    for thread in tuple(_started):
        if thread.is_running:
            thread.request_stop()


def fault_text(error: Exception) -> str:
    """One translated line for whoever waits for what a fault of ours prevented."""
    return _("A fault in GPUMon itself: {detail}").format(detail=f"{type(error).__name__}: {error}")


def stuck_threads() -> tuple[str, ...]:
    """Names of threads that were asked to stop, did not in time and still run."""
    # A thread in Worker.end counts as finished already, unless it is waited for.
    return tuple(thread.objectName() for thread in _stuck if not thread.wait(0))


def assert_gui_thread() -> None:
    """Fail when called outside the GUI thread: models and feeds belong to it."""
    assert QThread.isMainThread(), "called outside the GUI thread"
