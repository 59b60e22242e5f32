"""Knows: how alerts reach the user: limits from the settings, bell, notifications, where a click leads. Must not know:
when something is an alert."""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtCore import QObject, Qt, Slot
from PySide6.QtWidgets import QWidget

from gpumon_gui.bridge.alerts import AlertCentre
from gpumon_gui.bridge.feed import Feed
from gpumon_gui.bridge.history import History
from gpumon_gui.bridge.settings import Settings
from gpumon_gui.bridge.translation import Translation
from gpumon_gui.core.clock import Clock
from gpumon_gui.core.messages import _, sentences
from gpumon_gui.diagnosis.alerts.alert import VERDICT, Alert, Limits
from gpumon_gui.diagnosis.alerts.table import KINDS
from gpumon_gui.settings import words
from gpumon_gui.settings.catalogue import BY_KEY
from gpumon_gui.settings.values import Values
from gpumon_gui.ui.main_window import MainWindow
from gpumon_gui.ui.theme import Theme
from gpumon_gui.ui.tray.icon import Tray
from gpumon_gui.ui.widgets.alert_list import Bell, alert_text, time_text
from gpumon_gui.ui.widgets.message_bar import Tone
from gpumon_gui.ui.widgets.span_choice import SPANS

_MINUTE_S = 60.0
#: What the live charts reach back at most.
_LIVE_S = SPANS[-1][0]
#: Before and after what is shown of the past.
_AROUND_S = 15 * _MINUTE_S
#: Clocks of a process and of a sample may differ by so much.
_SAME_S = 2.0


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
        self,
        window: MainWindow,
        feed: Feed,
        theme: Theme,
        translation: Translation,
        settings: Settings,
        *,
        clock: Clock | None = None,
    ) -> None:
        super().__init__(window)
        self._window = window
        self._settings = settings
        self._feed = feed
        self._tray: Tray | None = None
        self._told: list[Alert] = []  # in the tray, since one was followed or the list was looked at
        self._history: History | None = None
        self._show_watch: Callable[[int], bool] = _is_not_watched
        self.centre = AlertCentre(feed, limits_of(settings.values), self, clock=clock)
        self.bell = Bell(theme, self.centre, window)
        window.add_tool(self.bell)
        self.bell.followed.connect(self._follow)
        self.bell.unwanted.connect(self._on_unwanted)
        self.centre.raised.connect(self._tell)
        self.centre.changed.connect(self._on_centre)
        settings.changed.connect(self._on_setting)
        translation.changed.connect(self.bell.retranslate)
        window.pace.set_background_processes(True)

    def use_tray(self, tray: Tray) -> None:
        """Notifications come from there."""
        self._tray = tray
        tray.icon.messageClicked.connect(self._on_notification)

    def use_history(self, history: History | None) -> None:
        """What is too old for the live charts is shown there."""
        self._history = history

    def use_watches(self, show: Callable[[int], bool]) -> None:
        """``show`` brings the panel of a watched pid on show; False: it is not watched."""
        self._show_watch = show

    @Slot(object)
    def _tell(self, alert: Alert) -> None:
        if not self._settings.values.flag("alerts.on"):
            return
        if self._tray is not None and self._tray.is_shown:
            self._told.append(alert)
            self._tray.notify(_(alert.title), alert_text(alert), alert)
        elif self._window.isVisible():
            self._window.message.say(alert_text(alert), Tone.ATTENTION)

    @Slot()
    def _on_notification(self) -> None:
        """A tray does not say which of its notifications was clicked: of several alerts the user chooses."""
        about = None if self._tray is None else self._tray.told_about
        if not isinstance(about, Alert):
            self._window.bring_up()
        elif len(self._told) > 1:
            self._window.bring_up()
            self.bell.open()
        else:
            self._told.clear()
            self._follow(about)

    @Slot()
    def _on_centre(self) -> None:
        if not self.centre.unread:
            self._told.clear()

    @Slot(object)
    def _on_unwanted(self, alert: Alert) -> None:
        key = f"alerts.{alert.kind}.on"
        self._settings.set(key, False)
        text = _("Off now: “{option}”. It can be switched on again in the settings.")
        self._window.message.say(
            text.format(option=words.title(BY_KEY[key])),
            Tone.INFO,
            undo=lambda: self._settings.set(key, True),
        )

    @Slot(object)
    def _follow(self, alert: Alert) -> None:
        """What can be acted on first, then the charts of that time: the live ones, else the history."""
        self._window.bring_up()
        if alert.kind == VERDICT and alert.pid is not None and self._show_watch(alert.pid):
            return
        gone = alert.pid is not None and not self._show_process(alert.pid, alert.utc_s)
        if alert.pid is not None and not gone:
            return
        latest = self._feed.latest
        if latest is not None and latest.utc_s - alert.utc_s < _LIVE_S and not gone:
            self._show_live(alert)
            return
        parts = [f"{time_text(alert)}: {alert_text(alert)}"]
        if gone:
            parts.append(_("The program is not on the GPU any more."))
        if self._history is not None and self._history.is_written and self._history.status.is_kept:
            self._window.show_page("history")
            if self._window.page != "history":
                return  # it cannot be loaded, and the window has said so
            page = self._window.pages["history"]
            page.show_span(alert.utc_s - alert.seconds - _AROUND_S, alert.utc_s + _AROUND_S, alert.device)
            self._focus(page.stack)
        else:
            parts.append(_("No history is kept, so there are no charts of that time."))
            self._show_live(alert)
        self._window.message.say(sentences(*parts), Tone.INFO)

    def _show_process(self, pid: int, utc_s: float) -> bool:
        """Select a process in the list; False: it is gone. One that began after ``utc_s`` is another."""
        sample = self._feed.latest
        for process in sample.processes if sample is not None else ():
            began_s = process.started_utc_s
            if process.pid == pid and (began_s is None or began_s <= utc_s + _SAME_S):
                self._window.show_page("processes")
                page = self._window.pages["processes"]
                self._focus(page.table)
                return bool(page.select(pid))
        return False

    def _show_live(self, alert: Alert) -> None:
        self._window.show_page("performance")
        page = self._window.pages["performance"]
        if alert.device is not None:
            page.select(alert.device)
        page.reach(alert.utc_s - alert.seconds)
        self._focus(page.adapters.view())

    def _focus(self, widget: QWidget) -> None:
        """What was led to has the keyboard, not the bell; with its ring for who came by keyboard."""
        by_keyboard = self._window.testAttribute(Qt.WidgetAttribute.WA_KeyboardFocusChange)
        widget.setFocus(Qt.FocusReason.ShortcutFocusReason if by_keyboard else Qt.FocusReason.OtherFocusReason)

    @Slot(str)
    def _on_setting(self, key: str) -> None:
        if key.startswith("alerts."):
            self.centre.set_limits(limits_of(self._settings.values))


def _is_not_watched(_pid: int) -> bool:
    return False
