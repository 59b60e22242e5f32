"""Knows: the icon in the tray, its tip and its menu. Must not know: sources, how the program starts."""

from __future__ import annotations

import sys
from collections.abc import Callable

from PySide6.QtCore import QObject, QTimer, Slot
from PySide6.QtGui import QAction, QGuiApplication
from PySide6.QtWidgets import QMenu, QSystemTrayIcon

from gpumon_gui.bridge.feed import Feed
from gpumon_gui.bridge.ticker import Ticker
from gpumon_gui.core.messages import _
from gpumon_gui.ui.main_window import MainWindow
from gpumon_gui.ui.tips import escaped
from gpumon_gui.ui.tray.meter import Meter, marked_icon, meter_icon
from gpumon_gui.ui.tray.mini import MiniMonitor
from gpumon_gui.ui.tray.reading import meter_of, words_of

_OPENING = (QSystemTrayIcon.ActivationReason.Trigger, QSystemTrayIcon.ActivationReason.DoubleClick)


class Tray(QObject):
    """Lives in the GUI thread. Painted and told only when what it shows has changed."""

    def __init__(
        self,
        window: MainWindow,
        feed: Feed,
        is_light: Callable[[], bool | None],
        parent: QObject | None = None,
        *,
        mini: MiniMonitor | None = None,
    ) -> None:
        """``is_light``: whether the task bar is, asked each time; None where nobody can tell. ``mini`` opens by a
        single click; without it the window does."""
        super().__init__(parent)
        self._window = window
        self._feed = feed
        self._is_light = is_light
        self._meter: Meter | None = None
        self._words = ""
        #: What the notification shown last is about.
        self.told_about: object = None
        self._mini = mini
        self._is_still = False
        self._click = QTimer(self)
        self._click.setSingleShot(True)
        self._click.timeout.connect(self._on_single_click)
        self.menu = QMenu(window)
        self.open_action = QAction(self.menu)
        self.open_action.triggered.connect(window.bring_up)
        self.speed_menu = QMenu(self.menu)
        self.pause_action = QAction(self.menu)
        self.pause_action.setCheckable(True)
        self.pause_action.triggered.connect(window.pace.toggle)
        self.quit_action = QAction(self.menu)
        self.quit_action.triggered.connect(window.quit)
        self.mini_action = QAction(self.menu)
        self.mini_action.setCheckable(True)
        self.mini_action.triggered.connect(self._on_single_click)
        self.menu.addAction(self.open_action)
        if mini is not None:
            self.menu.addAction(self.mini_action)
        self.menu.setDefaultAction(self.open_action)
        self.menu.addSeparator()
        if not window.is_recorded:
            self.speed_menu.addActions(window.speed_actions)
            self.menu.addMenu(self.speed_menu)
        self.menu.addAction(self.pause_action)
        self.menu.addSeparator()
        self.menu.addAction(self.quit_action)
        self.menu.aboutToShow.connect(self._on_menu)
        self.icon = QSystemTrayIcon(self)
        self.icon.setContextMenu(self.menu)
        self.icon.activated.connect(self._on_activated)
        self._ticker = Ticker(feed, self)
        self._ticker.due.connect(self.refresh)
        self.retranslate()

    @staticmethod
    def is_available() -> bool:
        """Whether the desktop has a tray."""
        return QSystemTrayIcon.isSystemTrayAvailable()

    @property
    def is_shown(self) -> bool:
        """Whether the icon is in a tray now; where there is none Qt calls a shown icon visible all the same."""
        return self.icon.isVisible() and self.is_available()

    def show(self) -> None:
        """Put the icon into the tray."""
        self.refresh()
        self._ticker.set_active(True)
        self.icon.show()

    def close(self) -> None:
        """Take the icon out of the tray, at once instead of when the pointer comes by."""
        self._ticker.stop()
        self._click.stop()
        self.icon.hide()

    def set_still(self, on: bool) -> None:
        """The program's own icon instead of live levels."""
        self._is_still = on
        self._meter = None
        self.refresh()

    def add_action(self, action: QAction) -> None:
        """A further entry below *Open*."""
        self.menu.insertAction(self.menu.actions()[1], action)

    def notify(self, title: str, text: str, about: object = None) -> None:
        """Tell the user through the desktop's own notifications. Markup in names of others stays text. ``about``: what
        a click on it leads to (:attr:`told_about`)."""
        self.told_about = about
        # The freedesktop notification server reads HTML in the body; Windows does not.
        safe = text if sys.platform == "win32" else escaped(text)
        self.icon.showMessage(title, safe, self._window.windowIcon())

    @Slot()
    def refresh(self) -> None:
        """Show what the feed says now."""
        meter = meter_of(self._feed.latest, self._feed.status, light=self._is_light())
        if meter != self._meter:
            self._meter = meter
            if not meter.is_empty and not self._is_still:
                icon = meter_icon(meter)
            else:
                icon = marked_icon(self._window.windowIcon()) if meter.trouble else self._window.windowIcon()
            self.icon.setIcon(icon)
        words = words_of(self._feed.latest, self._feed.status)
        if words != self._words:
            self._words = words
            self.icon.setToolTip(words)

    @Slot()
    def retranslate(self) -> None:
        """Write every text again, in the language now in use."""
        self.open_action.setText(_("Open GPUMon"))
        self.mini_action.setText(_("Mini monitor"))
        self.speed_menu.setTitle(_("Update speed"))
        self.pause_action.setText(_("Pause"))
        self.quit_action.setText(_("Quit"))
        self.refresh()

    @Slot()
    def _on_menu(self) -> None:
        self.pause_action.setChecked(self._window.pace.is_paused)
        self.mini_action.setChecked(self._mini is not None and self._mini.isVisible())

    @Slot(QSystemTrayIcon.ActivationReason)
    def _on_activated(self, reason: QSystemTrayIcon.ActivationReason) -> None:
        if reason is QSystemTrayIcon.ActivationReason.DoubleClick or (reason in _OPENING and self._mini is None):
            self._click.stop()
            self._window.bring_up()
        elif reason in _OPENING:
            # A double click begins as a single one.
            self._click.start(QGuiApplication.styleHints().mouseDoubleClickInterval())

    @Slot()
    def _on_single_click(self) -> None:
        if self._mini is not None:
            self._mini.toggle(self.icon.geometry())
