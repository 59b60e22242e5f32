"""Knows: who writes how the window was left. Must not know: what that is."""

from __future__ import annotations

import logging
from pathlib import Path

from PySide6.QtCore import QObject, Qt, Signal, Slot

from gpumon_gui.bridge.mailbox import Mailbox
from gpumon_gui.bridge.worker import LoopThread, Worker
from gpumon_gui.core.errors import OutputFailed
from gpumon_gui.settings import window_state
from gpumon_gui.settings.window_state import WindowState


class _Writer(Worker):
    """Writes in its own thread: a home folder can be on a network."""

    def __init__(self, folder: Path) -> None:
        super().__init__()
        self._folder = folder
        self.waiting: Mailbox[WindowState] = Mailbox()

    @Slot()
    def write(self) -> None:
        """Write the newest. Nobody asked for it, so what goes wrong is logged only."""
        newest = self.waiting.take()
        if newest is None:
            return
        try:
            window_state.save(self._folder, newest)
        except OutputFailed as error:
            logging.getLogger("gpumon.settings").warning("%s", error)

    def end(self) -> None:
        """See :meth:`Worker.end`."""
        self.write()


class StateFile(QObject):
    """Lives in the GUI thread; its own thread starts with the first state that is kept."""

    _wanted = Signal()

    def __init__(self, folder: Path, state: WindowState, parent: QObject | None = None) -> None:
        """``state`` is what the file says already."""
        super().__init__(parent)
        self._state = state
        self._writer = _Writer(folder)
        self._thread = LoopThread(self._writer, "gpumon-window-state")
        self._wanted.connect(self._writer.write, Qt.ConnectionType.QueuedConnection)

    def keep(self, state: WindowState) -> None:
        """Write it, unless it is the one that was written last."""
        if state == self._state or self._writer.stop_event.is_set():
            return
        self._state = state
        self._writer.waiting.put(state)
        if not self._thread.is_running:
            self._thread.start()
        self._wanted.emit()

    def close(self) -> bool:
        """Write what is not written yet. False: the file system does not answer."""
        return self._thread.stop()
