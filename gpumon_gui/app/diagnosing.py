"""Knows: where a diagnosis can be started from (rail, tray, a process), where its results are kept.
Must not know: how anything is diagnosed."""

from __future__ import annotations

import gc
import logging
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, Slot
from PySide6.QtGui import QAction, QKeySequence, QShortcut

from gpumon_gui.app.arguments import Arguments
from gpumon_gui.bridge.settings import Settings
from gpumon_gui.bridge.translation import Translation
from gpumon_gui.core.errors import GpumonError
from gpumon_gui.core.messages import N_, _
from gpumon_gui.system.paths import folders
from gpumon_gui.ui.main_window import MainWindow
from gpumon_gui.ui.theme import Theme
from gpumon_gui.ui.tray.icon import Tray

if TYPE_CHECKING:
    from gpumon_gui.ui.pages.diagnostics import DiagnosticsPage
    from gpumon_gui.ui.pages.welcome import Welcome

#: Below the user's data.
FOLDER = "diagnoses"
_RUN = N_("Run diagnostics")


class Diagnosing(QObject):
    """Lives in the GUI thread; belongs to the window."""

    def __init__(
        self, window: MainWindow, theme: Theme, translation: Translation, settings: Settings, arguments: Arguments
    ) -> None:
        super().__init__(window)
        self._window = window
        self._theme = theme
        self._settings = settings
        self._actions: list[QAction] = []
        self._is_picture = arguments.screenshot is not None
        self._is_elsewhere = shows_else(arguments)
        if self._is_elsewhere:
            window.pages["processes"].set_elsewhere()
        window.pages.when_made("diagnostics", self._use_page)
        self.button = window.rail.add_action("diagnostics", _RUN)
        self.button.clicked.connect(self.run)
        keys = QShortcut(QKeySequence("Ctrl+D"), window)
        keys.activated.connect(self.run)
        window.pages["performance"].diagnose_wanted.connect(self.run)
        window.pages["performance"].program_diagnose_wanted.connect(self._on_process)
        window.pages["processes"].diagnose_wanted.connect(self._on_process)
        translation.changed.connect(self._retranslate)
        self._welcome: Welcome | None = None
        is_first = not settings.values.flag("general.welcomed") and is_live(arguments) and not arguments.tray
        self._is_welcome_due = is_first or arguments.welcome

    @property
    def _page(self) -> DiagnosticsPage:
        page: DiagnosticsPage = self._window.pages["diagnostics"]
        return page

    def _use_page(self, page: DiagnosticsPage) -> None:
        if not self._is_picture:  # a picture shows nothing of this user
            try:
                page.set_folder(folders().data / FOLDER)
            except GpumonError as error:
                logging.getLogger("gpumon.diagnosis").info("results are not kept: %s", error)
        if self._is_elsewhere:
            page.set_elsewhere()
        page.prepared.connect(self._on_prepared)

    def welcome(self) -> None:
        """Show the page of the first start, where it is due, in place of the first page."""
        if not self._is_welcome_due:
            return
        self._is_welcome_due = False
        from gpumon_gui.ui.pages.welcome import Welcome  # once in the life of an installation

        welcome = self._welcome = Welcome(self._theme, self._window)
        welcome.run_wanted.connect(self.run)
        welcome.done.connect(self._on_done)
        self._window.stack.addWidget(welcome)
        self._window.stack.setCurrentWidget(welcome)
        self._window.heading.setText("")
        self._window.page_shown.connect(self._on_left)
        welcome.run_button.setFocus()

    def use_tray(self, tray: Tray) -> None:
        """An entry in the tray's menu."""
        action = QAction(tray.menu)
        action.triggered.connect(self._on_tray)
        tray.add_action(action)
        self._actions.append(action)
        self._retranslate()

    @Slot()
    def run(self) -> None:
        """Open the wizard."""
        if self._shows_page():
            self._page.run()

    @Slot()
    def _on_done(self) -> None:
        self._window.show_page(self._window.page)

    @Slot(str)
    def _on_left(self, _page: str) -> None:
        """Whichever way was chosen, it is not shown again."""
        if self._welcome is None:
            return
        self._window.page_shown.disconnect(self._on_left)
        self._window.stack.removeWidget(self._welcome)
        self._welcome.deleteLater()
        self._welcome = None
        self._settings.set("general.welcomed", True)

    @Slot()
    def _on_tray(self) -> None:
        self._window.bring_up()
        self.run()

    @Slot(int, str)
    def _on_process(self, pid: int, name: str) -> None:
        if self._is_elsewhere:  # here another program may have that number
            self.run()
            return
        if self._shows_page():
            self._page.run_for(pid, name)

    def _shows_page(self) -> bool:
        """Bring it on show. False: it cannot be loaded, and the window has said so."""
        self._window.show_page("diagnostics")
        return self._window.page == "diagnostics"

    @Slot()
    def _on_prepared(self) -> None:
        """What was loaded stays to the end: looking through it for garbage stops the window for 50 ms each time."""
        gc.freeze()

    @Slot()
    def _retranslate(self) -> None:
        for action in self._actions:
            action.setText(_(_RUN))
        if self._welcome is not None:
            self._welcome.retranslate()
            self._window.heading.setText("")


def is_live(arguments: Arguments) -> bool:
    """Whether the window shows this machine as it is now, to its user."""
    return not shows_else(arguments) and arguments.screenshot is None


def shows_else(arguments: Arguments) -> bool:
    """Whether the window shows a recording or a scripted machine."""
    return arguments.demo or arguments.replay is not None or arguments.scenario is not None
