"""Knows: everyone; puts the parts together and runs them. Must not know: what any of them does."""

from __future__ import annotations

import contextlib
import logging
import sys

from PySide6.QtCore import QMessageLogContext, QTimer, QtMsgType, qInstallMessageHandler
from PySide6.QtWidgets import QApplication, QWidget

from gpumon_gui import __version__
from gpumon_gui.app.alerts import Alerts
from gpumon_gui.app.arguments import Arguments
from gpumon_gui.app.desktop import Desktop
from gpumon_gui.app.diagnosing import Diagnosing
from gpumon_gui.app.ending import Ending
from gpumon_gui.app.faults import Faults
from gpumon_gui.app.first import Entry
from gpumon_gui.app.keeping import Keeping
from gpumon_gui.app.logging_out import open_log
from gpumon_gui.app.origins import Origin, make_live_origin
from gpumon_gui.app.preferences import Preferences, chosen_language, open_settings
from gpumon_gui.app.screenshot import Photographer
from gpumon_gui.app.shutdown import leave, shut_down
from gpumon_gui.app.signals import EndSignals
from gpumon_gui.app.watches import Watches
from gpumon_gui.bridge.feed import Feed
from gpumon_gui.bridge.translation import Translation
from gpumon_gui.core.clock import SystemClock
from gpumon_gui.ui.main_window import MainWindow
from gpumon_gui.ui.theme import Scheme, Theme
from gpumon_gui.ui.widgets.message_bar import Tone


def run_window(arguments: Arguments, entry: Entry = Entry()) -> int:  # noqa: B008 - frozen
    """Open the window and stay until it ends; the exit code. Raises GpumonError when there is nothing to show."""
    logging.basicConfig(level=logging.WARNING, format="%(name)s: %(message)s")
    log = open_log(arguments)
    _name_for_task_bar()
    qInstallMessageHandler(_on_qt_message)
    app = QApplication(sys.argv[:1])
    app.setApplicationName("GPUMon")
    app.setApplicationVersion(__version__)
    app.setDesktopFileName("gpumon")
    app.setQuitOnLastWindowClosed(False)  # a dialog that closes after the window must not end the shutdown

    settings, repairs = open_settings(arguments)
    values = settings.values
    theme = Theme()
    theme.set_scheme(Scheme(arguments.theme or values.text("general.theme")))
    theme.apply(app)
    translation = Translation()
    translation.set_language(arguments.language or chosen_language(values))

    feed = Feed()
    ending = Ending(app)
    origin: Origin
    bar: QWidget | None = None
    if arguments.demo or arguments.replay is not None:
        from gpumon_gui.app import replaying  # only then: a live window does without the readers

        origin, subject = replaying.make_replay_origin(arguments, feed)
        bar = replaying.make_bar(origin, theme)
        replaying.Unreadable(origin, feed, ending)
    else:
        origin, subject = make_live_origin(arguments.scenario, feed, SystemClock()), arguments.scenario or ""
    window = MainWindow(feed, theme, translation, origin, recorded=bar is not None, replay_bar=bar, subject=subject)
    preferences = Preferences(settings, window)
    keeping = Keeping(window, feed, settings, arguments)
    diagnosing = Diagnosing(window, theme, translation, settings, arguments)
    preferences.apply_to_window(arguments.page)
    diagnosing.welcome()
    if repairs:
        window.message.say("\n".join(repairs), Tone.ATTENTION)
    alerts = None
    if bar is None and arguments.screenshot is None:  # what is played happened long ago
        alerts = Alerts(window, feed, theme, translation, settings)
        alerts.use_history(keeping.history)
        keeping.mark_alerts(alerts)
    watches = Watches(window, feed, translation, keeping, alerts)
    if alerts is not None:
        alerts.use_watches(watches.show)
    if arguments.watch is not None:
        watches.watch_when_seen(arguments.watch)
    faults = Faults(window, log.last_lines)
    signals = EndSignals()
    window.closing.connect(ending.leave)
    signals.received.connect(ending.leave)
    if arguments.screenshot is not None:
        if arguments.screenshot.size is not None:
            window.setMinimumSize(0, 0)
            window.resize(*arguments.screenshot.size)
        photographer = Photographer(window, arguments.screenshot)
        photographer.taken.connect(ending.leave_with)
        photographer.start()
    desktop = None
    if arguments.screenshot is None:
        desktop = Desktop(window, feed, theme, translation, entry, settings)
        if alerts is not None:
            alerts.use_tray(desktop.tray)
        diagnosing.use_tray(desktop.tray)
        app.commitDataRequest.connect(desktop.on_session_end)
        desktop.start(hidden=arguments.tray)
    else:
        window.show()
    QTimer.singleShot(0, window, origin.start)  # after the first paint: the window is there at once
    code = app.exec()

    if desktop is not None:
        desktop.close()
    preferences.close()
    ended = shut_down(window, origin, keeping)
    signals.close()
    faults.close()
    log.close()
    if not ended.is_over:
        leave(code)
    window.hide()
    window.deleteLater()
    app.processEvents()
    qInstallMessageHandler(None)  # what Qt says after Python's end must not call Python
    return code


def _on_qt_message(kind: QtMsgType, _context: QMessageLogContext, message: str) -> None:
    """Qt's own messages go where ours go."""
    if message.startswith("This plugin does not support"):  # of the offscreen plug-in, about things nobody sees
        return
    levels = {QtMsgType.QtDebugMsg: logging.DEBUG, QtMsgType.QtInfoMsg: logging.INFO}
    logging.getLogger("gpumon.qt").log(levels.get(kind, logging.WARNING), "%s", message)


def _name_for_task_bar() -> None:
    """Windows groups the window under its own name instead of Python's."""
    if sys.platform == "win32":
        import ctypes  # only here: other systems have no such call

        with contextlib.suppress(OSError, AttributeError):
            ctypes.windll.shell32.SetCurrentProcessExplicitAppUserModelID("GPUMon.Monitor")
