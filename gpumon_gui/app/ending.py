"""Knows: how the event loop is left. Must not know: why."""

from __future__ import annotations

from PySide6.QtCore import QObject, Slot
from PySide6.QtWidgets import QApplication


class Ending(QObject):
    """Ends the event loop. Lives in the GUI thread."""

    def __init__(self, app: QApplication) -> None:
        super().__init__(app)
        self._app = app

    @Slot()
    def leave(self) -> None:
        """End well."""
        self._app.exit(0)

    @Slot(int)
    def leave_with(self, code: int) -> None:
        """End with an exit code."""
        self._app.exit(code)
