"""Knows: GPUMon's place on the desktop besides its window: tray, start with the system, second starts. Must not know:
how each of them works.
"""

from __future__ import annotations

import logging
import os
import sys
from collections.abc import Callable
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, QTimer, Signal, Slot
from PySide6.QtGui import QAction

from gpumon_gui.app.arguments import PAGES
from gpumon_gui.app.first import Entry
from gpumon_gui.bridge.feed import Feed
from gpumon_gui.bridge.settings import Settings
from gpumon_gui.bridge.translation import Translation
from gpumon_gui.core.errors import OutputFailed
from gpumon_gui.core.messages import N_, _
from gpumon_gui.core.model import DeviceKey
from gpumon_gui.settings.option import Flag, Option
from gpumon_gui.settings.values import Values
from gpumon_gui.system.autostart import Autostart, StartState, this_autostart
from gpumon_gui.system.single_instance import Request
from gpumon_gui.system.task_bar import is_task_bar_light
from gpumon_gui.ui.main_window import MainWindow
from gpumon_gui.ui.theme import Theme
from gpumon_gui.ui.tray.icon import Tray
from gpumon_gui.ui.tray.mini import MiniMonitor
from gpumon_gui.ui.widgets.message_bar import Tone

if TYPE_CHECKING:
    from gpumon_gui.bridge.single_instance import Doorman
    from gpumon_gui.ui.pages.settings import SettingsPage

#: A start with the system may come before the desktop's tray is there.
TRAY_PATIENCE_MS = 5000
_STEP_MS = 250


class Desktop(QObject):
    """Lives in the GUI thread; belongs to the window.

    Signals:
        watch_asked(object): a second start wants the process of this number to be watched.
    """

    watch_asked = Signal(object)  # a number larger than Qt's int may come

    def __init__(
        self,
        window: MainWindow,
        feed: Feed,
        theme: Theme,
        translation: Translation,
        entry: Entry,
        settings: Settings | None = None,
        *,
        autostart: Autostart | None = None,
    ) -> None:
        super().__init__(window)
        self._window = window
        self._entry = entry
        self._autostart = this_autostart() if autostart is None else autostart
        self._waited_ms = 0
        self._timer = QTimer(self)
        self._timer.setInterval(_STEP_MS)
        self._timer.timeout.connect(self._on_wait)
        self.settings = Settings(None, Values(), self) if settings is None else settings
        self.mini = MiniMonitor(feed, theme)  # not the window's: it would be minimised with it
        self.mini.wanted.connect(self._on_wanted)
        self.mini.placed.connect(self._on_mini_placed)
        self.mini.on_top_chosen.connect(self._on_mini_on_top)
        self.tray = Tray(window, feed, _task_bar_probe(), self, mini=self.mini)
        translation.changed.connect(self.tray.retranslate)
        translation.changed.connect(self.mini.retranslate)
        theme.changed.connect(self.tray.refresh)
        self.mini_option: QAction = window.add_option(N_("Mini monitor"), self._on_mini, "Ctrl+M")
        self.stay: QAction = window.add_option(N_("Keep running in the tray"), self._on_stay)
        self.with_system: QAction = window.add_option(N_("Start with the system"), self._on_with_system)
        window.options_shown.connect(self._on_options)
        window.stays_when_closed = self._stays
        self.settings.changed.connect(self._apply)
        for key in ("tray.stay", "tray.icon", "tray.mini_on_top"):
            self._apply(key)
        self.mini.set_place(self.settings.values.texts("tray.mini_place"))
        window.pages.when_made("settings", self._add_row)
        self._doorman = self._open_door()

    def start(self, *, hidden: bool, is_plain: bool = False, patience_ms: int = TRAY_PATIENCE_MS) -> None:
        """Show the window, or with ``hidden`` the icon alone where there is a tray; waits so long for one.
        ``is_plain``: nothing certain was asked for, so the window may be hidden or minimised as the user set it."""
        if hidden:
            self.stay.setChecked(True)
        if self.tray.is_available():
            self.tray.show()
        if not hidden and is_plain and self.settings.values.flag("general.start_hidden"):
            if not self.tray.is_shown:
                self._window.showMinimized()
        elif not hidden:
            self._window.show()
        elif not self.tray.is_shown:
            self._waited_ms = max(0, TRAY_PATIENCE_MS - patience_ms)
            self._on_wait()

    def close(self) -> None:
        """Leave the desktop."""
        self._timer.stop()
        self.mini.close_down()
        self.mini.deleteLater()
        self.tray.close()
        if self._doorman is not None:
            self._doorman.close()
        if self._entry.claim is not None:
            self._entry.claim.close()

    @Slot()
    def on_session_end(self, *_manager: object) -> None:
        """The user logs off: a window that stays would hold that up."""
        self._window.let_go()

    def _open_door(self) -> Doorman | None:
        if not self._entry.is_alone:
            text = _("Another window of GPUMon runs but does not answer. This is a second one.")
            self._window.message.say(text, Tone.ATTENTION, stays=True)
        if self._entry.claim is None:
            return None
        try:
            from gpumon_gui.bridge.single_instance import Doorman  # needs libraries that the window does without
        except ImportError as error:
            logging.getLogger("gpumon.instance").info("second starts are not heard: %s", error)
            self._entry.claim.close()  # or they would wait for an answer
            return None
        doorman = Doorman(self._entry.claim.place, self)
        doorman.asked.connect(self._on_asked)
        if not doorman.open():
            self._entry.claim.close()
        return doorman

    @Slot()
    def _on_wait(self) -> None:
        if self.tray.is_available():
            self._timer.stop()
            self.tray.show()
        elif self._waited_ms >= TRAY_PATIENCE_MS:
            self._timer.stop()
            self.stay.setChecked(False)
            self._window.show()
            text = _("This desktop has no tray, so GPUMon shows its window.")
            self._window.message.say(text, Tone.INFO, stays=True)
        else:
            self._waited_ms += _STEP_MS
            self._timer.start()

    @Slot(object)
    def _on_asked(self, request: Request) -> None:
        if request.page in PAGES:
            self._window.show_page(request.page)
        if request.show:
            self._timer.stop()
            if request.activation:
                os.environ["XDG_ACTIVATION_TOKEN"] = request.activation  # where Qt looks for it
            self._window.bring_up()
        if request.watch:
            self.watch_asked.emit(request.watch)

    def _stays(self) -> bool:
        stays = self.stay.isChecked() and self.tray.is_shown
        if stays and not self.settings.values.flag("tray.hint_shown"):
            self.settings.set("tray.hint_shown", True)
            text = _("GPUMon goes on here. To end it, choose Quit in the menu of this icon.")
            self.tray.notify(_("Still running"), text)
        return stays

    @Slot(bool)
    def _on_mini(self, _on: bool) -> None:
        self.mini.toggle()

    @Slot(bool)
    def _on_stay(self, on: bool) -> None:
        if on and not self.tray.is_shown:
            self.stay.setChecked(False)
            return
        self.settings.set("tray.stay", on)

    @Slot(str)
    def _apply(self, key: str) -> None:
        values = self.settings.values
        if key == "tray.stay":
            self.stay.setChecked(values.flag(key))
        elif key == "tray.icon":
            self.tray.set_still(values.text(key) == "still")
        elif key == "tray.mini_on_top":
            self.mini.set_on_top(values.flag(key))

    @Slot(object)
    def _on_wanted(self, device: DeviceKey | None) -> None:
        """The whole window, with the GPU that was chosen in the small one."""
        if device is not None:
            self._window.show_page("performance")
            self._window.pages["performance"].select(device)
        self._window.bring_up()

    @Slot(tuple)
    def _on_mini_placed(self, place: tuple[str, ...]) -> None:
        self.settings.set("tray.mini_place", place)

    @Slot(bool)
    def _on_mini_on_top(self, on: bool) -> None:
        self.settings.set("tray.mini_on_top", on)

    def _add_row(self, page: SettingsPage) -> None:
        """The start with the system is the system's own setting; the page shows it beside ours."""
        option = Option("system.start", Flag(default=False), N_("Start with the system"), section="tray")
        page.add_flag(option, self._starts_with_system, self._on_row)
        page.add_hindrance(("tray.stay", "tray.icon"), self._why_no_tray)

    def _why_no_tray(self) -> str:
        return "" if self._has_tray() else _("This desktop has no tray.")

    def _has_tray(self) -> bool:
        """Whether there is one now; one that came after the start gets its icon."""
        if self.tray.is_available() and not self.tray.icon.isVisible():
            self.tray.show()
        return self.tray.is_shown

    def _starts_with_system(self) -> bool:
        return self._autostart.state() is StartState.ON

    @Slot(str, object)
    def _on_row(self, _key: str, on: object) -> None:
        self._on_with_system(bool(on))
        page = self._window.pages["settings"]
        page.activate()

    @Slot()
    def _on_options(self) -> None:
        """The state of the system may have changed since the menu was last shown."""
        self.mini_option.setChecked(self.mini.isVisible())
        self.stay.setEnabled(self._has_tray())
        self.stay.setToolTip(self._why_no_tray())
        self.with_system.setChecked(self._autostart.state() is StartState.ON)

    @Slot(bool)
    def _on_with_system(self, on: bool) -> None:
        try:
            state = self._autostart.set_on(on)
        except OutputFailed as error:
            self._window.message.say(str(error), Tone.ATTENTION)
            state = self._autostart.state()
        else:
            if on and state is StartState.BLOCKED:
                self._window.message.say(_blocked_text(), Tone.ATTENTION)
        self.with_system.setChecked(state is StartState.ON)


def _blocked_text() -> str:
    if sys.platform == "win32":
        return _(
            "The start of GPUMon is switched off in the Task Manager, under Startup apps. It can be switched on there."
        )
    return _("The start of GPUMon is switched off in the desktop's settings. It can be switched on there.")


def _task_bar_probe() -> Callable[[], bool | None]:
    """Whether the task bar is light: Windows has a setting for it, the panels of Linux look as they like."""
    if sys.platform == "win32":
        from gpumon_gui.system.user_registry import WindowsUserRegistry  # only there

        registry = WindowsUserRegistry()
        return lambda: is_task_bar_light(registry)
    return lambda: None
