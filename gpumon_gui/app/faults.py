"""Knows: what happens to an exception that nobody caught. Must not know: who raised it."""

from __future__ import annotations

import logging
import sys
import traceback
from types import TracebackType

from PySide6.QtCore import QObject, Qt, Signal, Slot
from PySide6.QtWidgets import QMessageBox, QWidget

from gpumon_gui.core.messages import _

_log = logging.getLogger("gpumon.faults")


class Faults(QObject):
    """Logs every uncaught exception and tells the user once; the program goes on. Lives in the GUI thread."""

    _raised = Signal(str)

    def __init__(self, window: QWidget) -> None:
        super().__init__(window)
        self._window = window
        self._has_told = False
        self._raised.connect(self._tell, Qt.ConnectionType.QueuedConnection)
        self._before = sys.excepthook
        sys.excepthook = self._hook

    def close(self) -> None:
        """Let go of the hook."""
        sys.excepthook = self._before

    def _hook(self, kind: type[BaseException], error: BaseException, trace: TracebackType | None) -> None:
        if issubclass(kind, KeyboardInterrupt):
            self._before(kind, error, trace)
            return
        _log.error("uncaught exception", exc_info=(kind, error, trace))
        self._raised.emit("".join(traceback.format_exception(kind, error, trace)))

    @Slot(str)
    def _tell(self, trace: str) -> None:
        if self._has_told:
            return
        self._has_told = True
        box = QMessageBox(self._window)
        box.setIcon(QMessageBox.Icon.Warning)
        box.setWindowTitle("GPUMon")
        box.setText(_("An internal fault in GPUMon; please report it."))
        box.setInformativeText(_("The program goes on. Further faults are only logged."))
        box.setDetailedText(trace)
        box.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        box.open()
