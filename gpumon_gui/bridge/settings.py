"""Knows: the settings in use, who is told of a change, what writes the file. Must not know: any option."""

from __future__ import annotations

from collections import deque
from pathlib import Path

from PySide6.QtCore import QObject, Qt, QTimer, Signal, Slot

from gpumon_gui.bridge.worker import LoopThread, Worker
from gpumon_gui.core.errors import OutputFailed
from gpumon_gui.settings import store
from gpumon_gui.settings.values import Values

#: A slider that is dragged is written once.
WRITE_AFTER_MS = 400


class _Writer(Worker):
    """Writes in its own thread: a home folder can be on a network."""

    failed = Signal(str)

    def __init__(self, folder: Path) -> None:
        super().__init__()
        self._folder = folder
        #: What is to be written, put there by the GUI thread: a queued call is lost when the thread is stopped.
        self.waiting: deque[tuple[Values, frozenset[str]]] = deque()

    @Slot()
    def write(self) -> None:
        """Write the newest; what goes wrong is emitted as one line."""
        newest = None
        while self.waiting:
            newest = self.waiting.popleft()
        if newest is None:
            return
        try:
            store.save(self._folder, *newest)
        except OutputFailed as error:
            self.failed.emit(str(error))

    def end(self) -> None:
        """See :meth:`Worker.end`."""
        self.write()


class Settings(QObject):
    """Lives in the GUI thread. ``folder`` None: nothing is written (demo, replay, screenshots).

    Signals:
        changed(str): the option of that key has another value now.
        failed(str): the file could not be written; the values hold until the program ends.
    """

    changed = Signal(str)
    failed = Signal(str)
    _write = Signal()

    def __init__(
        self,
        folder: Path | None,
        values: Values,
        parent: QObject | None = None,
        *,
        repaired: frozenset[str] = frozenset(),
    ) -> None:
        """``repaired``: keys whose values in the file are not usable and go with the next change."""
        super().__init__(parent)
        self._values = values
        self._touched = set(repaired)
        self._thread: LoopThread | None = None
        self._writer: _Writer | None = None
        self._timer = QTimer(self)
        self._timer.setSingleShot(True)
        self._timer.setInterval(WRITE_AFTER_MS)
        self._timer.timeout.connect(self._on_due)
        if folder is not None:
            writer = self._writer = _Writer(folder)
            self._thread = LoopThread(writer, "gpumon-settings")
            writer.failed.connect(self.failed, Qt.ConnectionType.QueuedConnection)
            self._write.connect(writer.write, Qt.ConnectionType.QueuedConnection)

    @property
    def values(self) -> Values:
        """All of them."""
        return self._values

    def set(self, key: str, raw: object) -> None:
        """Choose a value. Raises KeyError, WrongValue."""
        before = self._values.get(key)
        self._values = self._values.with_value(key, raw)
        if self._values.get(key) != before:
            self._touched.add(key)
            self._timer.start()
            self.changed.emit(key)

    def close(self) -> bool:
        """Write what is not written yet. False: the file system does not answer."""
        if self._timer.isActive():
            self._timer.stop()
            self._on_due()
        return self._thread is None or not self._thread.is_running or self._thread.stop()

    @Slot()
    def _on_due(self) -> None:
        if self._thread is not None and self._writer is not None:
            self._writer.waiting.append((self._values, frozenset(self._touched)))
            if not self._thread.is_running:
                self._thread.start()
            self._write.emit()
