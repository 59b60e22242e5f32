"""Knows: how the signals that end a program reach Qt's event loop. Must not know: what they end.

Python runs its signal handlers between two instructions of Python code, and an idle Qt loop executes none: the signal
also writes to a socket that the loop watches.
"""

from __future__ import annotations

import signal
import socket
import sys
from types import FrameType

from PySide6.QtCore import QObject, QSocketNotifier, Signal, Slot


class EndSignals(QObject):
    """Lives in the GUI thread, which must be Python's main thread.

    Signals:
        received(): the program shall end.
    """

    received = Signal()

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._ours, self._theirs = socket.socketpair()
        for end in (self._ours, self._theirs):
            end.setblocking(False)
        self._notifier = QSocketNotifier(self._ours.fileno(), QSocketNotifier.Type.Read, self)
        self._notifier.activated.connect(self._on_activated)
        self._old_fd = signal.set_wakeup_fd(self._theirs.fileno(), warn_on_full_buffer=False)
        self._old = {number: signal.signal(number, _ignore) for number in _ending()}

    def close(self) -> None:
        """Give the signals back."""
        signal.set_wakeup_fd(self._old_fd)
        for number, handler in self._old.items():
            signal.signal(number, handler)
        self._notifier.setEnabled(False)
        self._ours.close()
        self._theirs.close()

    @Slot()
    def _on_activated(self) -> None:
        try:
            numbers = self._ours.recv(64)
        except OSError:
            return
        if any(number in self._old for number in numbers):
            self.received.emit()


def _ending() -> list[int]:
    """Ctrl+C, a polite end and the end of the terminal, unless who started us had that ignored (nohup, trap)."""
    numbers: list[int] = [signal.SIGINT, signal.SIGTERM]
    if sys.platform != "win32":
        numbers.append(signal.SIGHUP)
    return [number for number in numbers if signal.getsignal(number) != signal.SIG_IGN]


def _ignore(_number: int, _frame: FrameType | None) -> None:
    """The socket tells."""
