"""Knows: what of the window is as it was left at the next start. Must not know: how it is kept."""

from __future__ import annotations

import logging
from dataclasses import replace

from PySide6.QtCore import QObject, Slot
from PySide6.QtWidgets import QApplication

from gpumon_gui.bridge.window_state import StateFile
from gpumon_gui.core.errors import GpumonError
from gpumon_gui.settings.window_state import load
from gpumon_gui.system.paths import folders
from gpumon_gui.ui.main_window import MainWindow
from gpumon_gui.ui.models.process_model import Col
from gpumon_gui.ui.tray.mini import MiniMonitor
from gpumon_gui.ui.widgets.process_table import ProcessTable
from gpumon_gui.ui.widgets.span_choice import SPANS

_log = logging.getLogger("gpumon.settings")

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
            _log.info("how the window is left is not kept: %s", error)
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
        state = replace(self._state, geometry=bytes(self._window.saveGeometry().data()))
        if self._mini is not None:
            state = replace(state, mini=self._mini.isVisible())
        # What was never made is as it was.
        performance, processes = (self._window.pages.get(name) for name in ("performance", "processes"))
        if performance is not None:
            shares = performance.split.shares
            state = replace(
                state,
                span_s=performance.span(),
                watch_beside=round(1000 * shares.get(True, 0.0)),
                watch_below=round(1000 * shares.get(False, 0.0)),
            )
        if processes is not None:
            table: ProcessTable = processes.table
            state = replace(
                state,
                columns=table.columns_state(),
                columns_of=_COLUMNS_OF,
                columns_asked=" ".join(column.name for column in sorted(table.asked)),
            )
        self._state = state
        self._file.keep(state)

    def _restore(self) -> None:
        """As far as it can be done: the program starts without."""
        for restore in (self._restore_place, self._restore_columns, self._restore_charts, self._restore_mini):
            try:
                restore()
            except Exception:  # noqa: BLE001 - logged
                _log.exception("a part of how the window was left is of no use")

    def _restore_place(self) -> None:
        """Qt brings a window that would be off every screen back onto one."""
        if self._state.geometry and not self._window.restoreGeometry(self._state.geometry):
            _log.warning("the place of the window in its file is of no use")

    def _restore_columns(self) -> None:
        state = self._state
        if state.columns and state.columns_of == _COLUMNS_OF:
            asked = {column for column in Col if column.name in state.columns_asked.split()}
            self._window.pages["processes"].table.restore_columns(state.columns, asked)

    def _restore_charts(self) -> None:
        state = self._state
        page = self._window.pages["performance"]
        if any(state.span_s == seconds for seconds, _label in SPANS):
            page.set_span(state.span_s)
        for beside, thousandths in ((True, state.watch_beside), (False, state.watch_below)):
            if 0 < thousandths < 1000:
                page.split.shares[beside] = thousandths / 1000

    def _restore_mini(self) -> None:
        if self._state.mini and self._mini is not None:
            self._mini.open_quietly()
