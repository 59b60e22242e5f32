"""Knows: which history a window has, what goes into it, and which settings steer it. Must not know: how it is kept or
shown.

Only a live window of this machine writes; a recording, a scripted machine and a picture do not. ``--history FILE``
shows any history file, and writes nothing.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from PySide6.QtCore import QObject, Slot

from gpumon_gui.app.alerts import Alerts
from gpumon_gui.app.arguments import Arguments
from gpumon_gui.bridge.feed import Feed
from gpumon_gui.bridge.history import History
from gpumon_gui.bridge.settings import Settings
from gpumon_gui.core.clock import SystemClock
from gpumon_gui.core.errors import GpumonError
from gpumon_gui.core.messages import N_, _
from gpumon_gui.diagnosis.alerts.alert import VERDICT, Alert
from gpumon_gui.history.marker import Marker, MarkerKind
from gpumon_gui.history.retention import HistoryOptions
from gpumon_gui.history.schema import DAY_S, HOUR_S
from gpumon_gui.history.store import NAME
from gpumon_gui.settings.catalogue import BY_KEY
from gpumon_gui.settings.values import Values
from gpumon_gui.system.paths import folders
from gpumon_gui.ui.main_window import MainWindow

_OF_A_RECORDING = N_("A recording is on show. Only what this machine itself does is kept.")
_OF_A_SCENARIO = N_("A scripted machine is on show. Only what this machine itself does is kept.")
_NO_HOME = N_("This account has no home folder, so nothing can be kept.")
_NO_FILE = N_("Nothing was kept on this machine yet.")
_GIB = 1 << 30
#: Kinds of alert that are worse than a hint.
_BAD = frozenset({"throttle", "temperature", "lost"})


def options_of(values: Values) -> HistoryOptions:
    """What the settings say."""
    return HistoryOptions(
        is_on=values.flag("history.on"),
        seconds_s=round(values.number("history.fine_hours") * HOUR_S),
        tens_s=round(values.number("history.middle_days") * DAY_S),
        minutes_s=round(values.number("history.coarse_days") * DAY_S),
        most_bytes=round(values.number("history.most_gigabytes") * _GIB),
    )


def marker_of(alert: Alert) -> Marker:
    """An alert as a mark in the history."""
    ended = alert.kind == "run_ended"
    return Marker(
        utc_s=alert.utc_s,
        kind=MarkerKind.RUN_ENDED if ended else MarkerKind.ALERT,
        code=alert.kind,
        text=alert.text,
        parameters=tuple((name, str(value)) for name, value in alert.values.items()),
        device=alert.device,
        tone="good" if ended else "bad" if alert.kind in _BAD else "attention",
    )


class Keeping(QObject):
    """Lives in the GUI thread; belongs to the window.

    Attributes:
        history: what is kept or looked at; None when there is nothing of the kind.
    """

    def __init__(self, window: MainWindow, feed: Feed, settings: Settings, arguments: Arguments) -> None:
        super().__init__(window)
        self._settings = settings
        self.history, self._why_none = _history(arguments, settings.values)
        self._window = window
        window.pages.when_made("history", self._use_page)
        window.pages.when_made("settings", self._explain)
        if self._why_none in (_OF_A_RECORDING, _OF_A_SCENARIO):  # it stays so: no page with nothing but a reason
            window.navigation.hide_page("history", self._why_none)
        if self.history is not None and self.history.is_written:
            feed.sample_arrived.connect(self.history.offer)
            settings.changed.connect(self._on_setting)

    def _use_page(self, page: Any) -> None:
        page.set_history(self.history, self._why_none)
        page.last_hour_wanted.connect(self._on_last_hour)

    def _explain(self, page: Any) -> None:
        """What is set for a history that is not kept here does nothing."""
        if self._why_none in (_OF_A_RECORDING, _OF_A_SCENARIO, _NO_HOME):
            page.add_hindrance((key for key in BY_KEY if key.startswith("history.")), lambda: _(self._why_none))

    def mark_alerts(self, alerts: Alerts) -> None:
        """Alerts leave a mark from now on."""
        alerts.centre.raised.connect(self._on_alert)

    def add_marker(self, marker: Marker) -> None:
        """Keep a mark where a history is kept."""
        if self.history is not None and self.history.is_written:
            self.history.add_marker(marker)

    def close(self, timeout_s: float) -> bool:
        """Write what is left. False: a thread does not end."""
        return self.history is None or self.history.close(timeout_s)

    @Slot()
    def _on_last_hour(self) -> None:
        self._window.pages["performance"].set_span(HOUR_S)
        self._window.show_page("performance")

    @Slot(object)
    def _on_alert(self, alert: Alert) -> None:
        if alert.kind != VERDICT:  # has a mark of its own
            self.add_marker(marker_of(alert))

    @Slot(str)
    def _on_setting(self, key: str) -> None:
        if key.startswith("history.") and self.history is not None:
            self.history.set_options(options_of(self._settings.values))


def _history(arguments: Arguments, values: Values) -> tuple[History | None, str]:
    """What the window shows, or why it shows nothing (untranslated)."""
    clock = SystemClock()
    if arguments.history is not None:
        return History(arguments.history, clock, is_written=False), ""
    if arguments.demo or arguments.replay is not None:
        return None, _OF_A_RECORDING
    if arguments.scenario is not None:
        return None, _OF_A_SCENARIO
    try:
        path: Path = folders().data / NAME
    except GpumonError:
        return None, _NO_HOME
    if arguments.screenshot is not None:
        return (History(path, clock, is_written=False), "") if path.exists() else (None, _NO_FILE)
    return History(path, clock, options_of(values)), ""
