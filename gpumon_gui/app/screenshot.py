"""Knows: how a picture of the window is taken and written. Must not know: pages."""

from __future__ import annotations

from PySide6.QtCore import QObject, Qt, QTimer, Signal, Slot
from PySide6.QtGui import QCursor, QGuiApplication

from gpumon_gui.app.arguments import Screenshot
from gpumon_gui.app.notice import tell
from gpumon_gui.bridge.picture import encoded
from gpumon_gui.core.files import cannot_write
from gpumon_gui.ui.main_window import MainWindow


class Photographer(QObject):
    """Waits, takes the picture and asks for the end. Lives in the GUI thread.

    Signals:
        taken(int): the exit code: 0, or 2 when the file cannot be written.
    """

    taken = Signal(int)

    def __init__(self, window: MainWindow, order: Screenshot) -> None:
        super().__init__(window)
        self._window = window
        self._order = order
        self._timer = QTimer(self)
        self._timer.setSingleShot(True)
        self._timer.setTimerType(Qt.TimerType.PreciseTimer)
        self._timer.timeout.connect(self._take)

    def start(self) -> None:
        """Count from now."""
        if QGuiApplication.platformName() == "offscreen":  # where the pointer stands on a button of the window
            QCursor.setPos(self._window.geometry().bottomRight())
        self._timer.start(round(self._order.after_s * 1000))

    @Slot()
    def _take(self) -> None:
        try:
            self._order.file.write_bytes(encoded(self._window.grab(), self._order.file.suffix.removeprefix(".")))
        except OSError as error:
            tell(cannot_write(self._order.file, error))
            self.taken.emit(2)
        else:
            self.taken.emit(0)
