"""Knows: the settings in use, who is told of a change, what writes the file. Must not know: any option."""

from __future__ import annotations

from pathlib import Path

from PySide6.QtCore import QObject, Qt, QTimer, Signal, Slot

from gpumon_gui.bridge.mailbox import Mailbox
from gpumon_gui.bridge.worker import LoopThread, Worker
from gpumon_gui.core.errors import OutputFailed
from gpumon_gui.settings import store
from gpumon_gui.settings.values import Values

#: A slider that is dragged is written once.
WRITE_AFTER_MS = 400


class _Writer(Worker):
    """Writes in its own thread: a home folder can be on a network.

    Attributes:
        waiting: the values that are not written yet, and the keys to write.
        last_fault: why what was written at the end could not be: one line, or empty.
    """

    failed = Signal(str)

    def __init__(self, folder: Path) -> None:
        super().__init__()
        self._folder = folder
        self.waiting: Mailbox[tuple[Values, frozenset[str]]] = Mailbox()
        self.last_fault = ""

    @Slot()
    def write(self) -> None:
        """Write the newest; what goes wrong is emitted as one line."""
        newest = self.waiting.take()
        if newest is None:
            return
        try:
            store.save(self._folder, *newest)
        except OutputFailed as error:
            self.failed.emit(str(error))
            if self.stop_event.is_set():  # nobody hears signals any more
                self.last_fault = str(error)

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
        if folder is not None:
            writer = self._writer = _Writer(folder)
            self._thread = LoopThread(writer, "gpumon-settings")
            writer.failed.connect(self.failed, Qt.ConnectionType.QueuedConnection)
            self._timer.timeout.connect(writer.write, Qt.ConnectionType.QueuedConnection)

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
            self._keep()
            self.changed.emit(key)

    def close(self, timeout_s: float = 2.0) -> bool:
        """Write what is not written yet. False: the file system does not answer."""
        self._timer.stop()
        return self._thread is None or self._thread.stop(timeout_s)

    @property
    def last_fault(self) -> str:
        """Why the last change could not be written by :meth:`close`: one translated line, or empty."""
        return "" if self._writer is None else self._writer.last_fault

    def _keep(self) -> None:
        """The writer has it from now on, and writes it when the user rests or the thread ends."""
        if self._writer is None or self._thread is None or self._writer.stop_event.is_set():
            return
        self._writer.waiting.put((self._values, frozenset(self._touched)))
        if not self._thread.is_running:
            self._thread.start()
        self._timer.start()
