"""Knows: what of the window is as it was left at the next start. Must not know: how it is kept."""

from __future__ import annotations

import logging

from PySide6.QtCore import QObject, Slot
from PySide6.QtWidgets import QApplication

from gpumon_gui.bridge.window_state import StateFile
from gpumon_gui.core.errors import GpumonError
from gpumon_gui.settings.window_state import WindowState, load
from gpumon_gui.system.paths import folders
from gpumon_gui.ui.main_window import MainWindow
from gpumon_gui.ui.models.process_model import Col
from gpumon_gui.ui.tray.mini import MiniMonitor
from gpumon_gui.ui.widgets.process_table import ProcessTable
from gpumon_gui.ui.widgets.span_choice import SPANS

#: A table of other columns is not laid out by what was kept for these.
_COLUMNS_OF = " ".join(column.name for column in Col)


class Remembering(QObject):
    """Size and place of the window, columns and order of the processes, time span of the charts, room of the panel
    of a watch, the mini monitor. Lives in the GUI thread; belongs to the window. ``mini`` None: how it was left stays
    as it is in the file."""

    def __init__(self, window: MainWindow, mini: MiniMonitor | None) -> None:
        super().__init__(window)
        self._window = window
        self._mini = mini
        try:
            folder = folders().state
        except GpumonError as error:
            logging.getLogger("gpumon.settings").info("how the window is left is not kept: %s", error)
            return
        self._state = load(folder)
        self._file = StateFile(folder, self._state, self)
        self._restore()
        app = QApplication.instance()
        assert app is not None
        app.aboutToQuit.connect(self.keep)  # however it ends: closed, logged off, by a signal
        window.went_out_of_sight.connect(self.keep)
        window.add_closer(self._file.close)

    @Slot()
    def keep(self) -> None:
        """Write it down as it is now."""
        self._state = WindowState(
            bytes(self._window.saveGeometry().data()),
            self._table.columns_state(),
            _COLUMNS_OF,
            self._window.pages["performance"].span(),
            self._state.mini if self._mini is None else self._mini.isVisible(),
            watch_beside=round(1000 * self._shares.get(True, 0.0)),
            watch_below=round(1000 * self._shares.get(False, 0.0)),
            columns_asked=" ".join(column.name for column in sorted(self._table.asked)),
        )
        self._file.keep(self._state)

    @property
    def _table(self) -> ProcessTable:
        table: ProcessTable = self._window.pages["processes"].table
        return table

    @property
    def _shares(self) -> dict[bool, float]:
        shares: dict[bool, float] = self._window.pages["performance"].split.shares
        return shares

    def _restore(self) -> None:
        """Qt brings a window that would be off every screen back onto one."""
        state = self._state
        if state.geometry and not self._window.restoreGeometry(state.geometry):
            logging.getLogger("gpumon.settings").warning("the place of the window in its file is of no use")
        if state.columns and state.columns_of == _COLUMNS_OF:
            asked = {column for column in Col if column.name in state.columns_asked.split()}
            self._table.restore_columns(state.columns, asked)
        if any(state.span_s == seconds for seconds, _label in SPANS):
            self._window.pages["performance"].set_span(state.span_s)
        for beside, thousandths in ((True, state.watch_beside), (False, state.watch_below)):
            if 0 < thousandths < 1000:
                self._shares[beside] = thousandths / 1000
        if state.mini and self._mini is not None:
            self._mini.open_quietly()
