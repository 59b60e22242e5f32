"""Knows: how alerts reach the user: limits from the settings, bell, notifications, where a click leads. Must not know:
when something is an alert."""

from __future__ import annotations

from PySide6.QtCore import QObject, Slot

from gpumon_gui.bridge.alerts import AlertCentre
from gpumon_gui.bridge.feed import Feed
from gpumon_gui.bridge.settings import Settings
from gpumon_gui.bridge.translation import Translation
from gpumon_gui.core.messages import _
from gpumon_gui.diagnosis.alerts.alert import Alert, Limits
from gpumon_gui.diagnosis.alerts.table import KINDS
from gpumon_gui.settings.values import Values
from gpumon_gui.ui.main_window import MainWindow
from gpumon_gui.ui.theme import Theme
from gpumon_gui.ui.tray.icon import Tray
from gpumon_gui.ui.widgets.alert_list import Bell, alert_text
from gpumon_gui.ui.widgets.message_bar import Tone

_MINUTE_S = 60.0


def limits_of(values: Values) -> Limits:
    """What the settings say."""
    return Limits(
        run_s=values.number("alerts.run_ended.minutes") * _MINUTE_S,
        held_idle_s=values.number("alerts.held_idle.minutes") * _MINUTE_S,
        memory_full_s=values.number("alerts.memory_full.minutes") * _MINUTE_S,
        temperature_c=values.number("alerts.temperature.celsius"),
        quiet_s=values.number("alerts.quiet_minutes") * _MINUTE_S,
        muted=frozenset(kind.name for kind in KINDS if not values.flag(f"alerts.{kind.name}.on")),
    )


class Alerts(QObject):
    """Lives in the GUI thread; belongs to the window. Only for a live window: a recording alerts nobody."""

    def __init__(
        self, window: MainWindow, feed: Feed, theme: Theme, translation: Translation, settings: Settings
    ) -> None:
        super().__init__(window)
        self._window = window
        self._settings = settings
        self._tray: Tray | None = None
        self.centre = AlertCentre(feed, limits_of(settings.values), self)
        self.bell = Bell(theme, self.centre, window)
        window.add_tool(self.bell)
        self.bell.followed.connect(self._follow)
        self.centre.raised.connect(self._tell)
        settings.changed.connect(self._on_setting)
        translation.changed.connect(self.bell.retranslate)
        window.set_background_processes(True)

    def use_tray(self, tray: Tray) -> None:
        """Notifications come from there."""
        self._tray = tray
        tray.icon.messageClicked.connect(self._on_notification)

    @Slot(object)
    def _tell(self, alert: Alert) -> None:
        if not self._settings.values.flag("alerts.on"):
            return
        if self._tray is not None and self._tray.is_shown:
            self._tray.notify(_(alert.title), alert_text(alert), alert)
        elif self._window.isVisible():
            self._window.message.say(alert_text(alert), Tone.ATTENTION)

    @Slot()
    def _on_notification(self) -> None:
        about = None if self._tray is None else self._tray.told_about
        if isinstance(about, Alert):
            self._follow(about)
        else:
            self._window.bring_up()

    @Slot(object)
    def _follow(self, alert: Alert) -> None:
        self._window.bring_up()
        if alert.pid is not None:
            self._window.show_page("processes")
            self._window.pages["processes"].select(alert.pid)
            return
        self._window.show_page("performance")
        if alert.device is not None:
            self._window.pages["performance"].select(alert.device)

    @Slot(str)
    def _on_setting(self, key: str) -> None:
        if key.startswith("alerts."):
            self.centre.set_limits(limits_of(self._settings.values))
