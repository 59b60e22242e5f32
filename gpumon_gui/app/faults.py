"""Knows: what happens to an exception that nobody caught. Must not know: who raised it."""

from __future__ import annotations

import logging
import sys
import threading
import traceback
from collections.abc import Callable
from pathlib import Path
from types import TracebackType

from PySide6.QtCore import QObject, Qt, Signal, Slot
from PySide6.QtWidgets import QApplication, QMessageBox, QWidget

from gpumon_gui import __version__
from gpumon_gui.core.messages import _
from gpumon_gui.ui.open_location import offer_log
from gpumon_gui.ui.widgets.questions import set_sign

_log = logging.getLogger("gpumon.faults")


class Faults(QObject):
    """Logs every uncaught exception and tells the user once; the program goes on. Lives in the GUI thread."""

    _raised = Signal(str)

    def __init__(
        self, window: QWidget, last_lines: Callable[[], tuple[str, ...]] = tuple, log: Path | None = None
    ) -> None:
        """``last_lines`` gives the newest lines of the program's log, ``log`` is its file."""
        super().__init__(window)
        self._window = window
        self._last_lines = last_lines
        self._log = log
        self._has_told = False
        self._raised.connect(self.tell, Qt.ConnectionType.QueuedConnection)
        self._before = sys.excepthook
        self._thread_before = threading.excepthook
        sys.excepthook = self._hook
        threading.excepthook = self._thread_hook

    def close(self) -> None:
        """Let go of the hook."""
        sys.excepthook = self._before
        threading.excepthook = self._thread_before

    def _thread_hook(self, failed: threading.ExceptHookArgs) -> None:
        """In the thread that fails; the signal crosses to the GUI thread."""
        if failed.exc_value is not None:
            self._hook(failed.exc_type, failed.exc_value, failed.exc_traceback)

    def _hook(self, kind: type[BaseException], error: BaseException, trace: TracebackType | None) -> None:
        if issubclass(kind, KeyboardInterrupt):
            self._before(kind, error, trace)
            return
        _log.error("uncaught exception", exc_info=(kind, error, trace))
        self._raised.emit("".join(traceback.format_exception(kind, error, trace)))

    @Slot(str)
    def tell(self, trace: str) -> None:
        """Show the dialog, once."""
        from gpumon_gui.core.redact import Private
        from gpumon_gui.core.redactor import Redactor  # only loaded for a fault

        if self._has_told:
            return
        self._has_told = True
        box = QMessageBox(self._window)
        box.setWindowTitle("GPUMon")
        box.setText(_("An internal fault in GPUMon; please report it."))
        box.setInformativeText(_("The program goes on. Further faults are only logged."))
        details = "\n".join([f"GPUMon {__version__}", trace, *self._last_lines()])
        box.setDetailedText(Redactor(Private.of_this_machine()).text(details))
        self._copy = box.addButton(_("Copy"), QMessageBox.ButtonRole.ActionRole)
        self._copy.clicked.disconnect()  # it copies; it does not close
        self._copy.clicked.connect(self._on_copy)
        offer_log(box, self._log)
        box.setDefaultButton(box.addButton(QMessageBox.StandardButton.Close))
        set_sign(box)
        self._details = box.detailedText()
        box.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        box.open()

    @Slot()
    def _on_copy(self) -> None:
        QApplication.clipboard().setText(self._details)
