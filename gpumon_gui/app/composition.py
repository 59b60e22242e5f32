"""Knows: everyone; puts the parts together and runs them. Must not know: what any of them does."""

from __future__ import annotations

import contextlib
import logging
import sys
import threading

from PySide6.QtCore import QMessageLogContext, QTimer, QtMsgType, qInstallMessageHandler
from PySide6.QtWidgets import QApplication, QWidget

from gpumon_gui import __version__
from gpumon_gui.app.alerts import Alerts
from gpumon_gui.app.arguments import Arguments, Screenshot
from gpumon_gui.app.desktop import Desktop
from gpumon_gui.app.diagnosing import Diagnosing, is_live
from gpumon_gui.app.ending import Ending
from gpumon_gui.app.faults import Faults
from gpumon_gui.app.first import Entry
from gpumon_gui.app.keeping import Keeping
from gpumon_gui.app.logging_out import open_log
from gpumon_gui.app.origins import Origin, make_live_origin
from gpumon_gui.app.preferences import Preferences, chosen_language, open_settings
from gpumon_gui.app.remembering import Remembering
from gpumon_gui.app.screenshot import Photographer
from gpumon_gui.app.shutdown import leave, shut_down
from gpumon_gui.app.signals import EndSignals
from gpumon_gui.app.watches import Watches
from gpumon_gui.bridge.feed import Feed
from gpumon_gui.bridge.translation import Translation
from gpumon_gui.core.clock import SystemClock
from gpumon_gui.diagnosis.orphans import end_orphans
from gpumon_gui.settings.values import Values
from gpumon_gui.ui.main_window import MainWindow
from gpumon_gui.ui.theme import Scheme, Theme
from gpumon_gui.ui.widgets.message_bar import Tone


def run_window(arguments: Arguments, entry: Entry = Entry()) -> int:  # noqa: B008 - frozen
    """Open the window and stay until it ends; the exit code. Raises GpumonError when there is nothing to show."""
    log = open_log(arguments)
    app = _make_app()
    settings, repairs = open_settings(arguments)
    theme, translation = _make_look(app, arguments, settings.values)

    # What is shown.
    feed, ending = Feed(), Ending(app)
    origin, bar, subject = _make_origin(arguments, feed, theme, ending)
    window = MainWindow(feed, theme, translation, origin, recorded=bar is not None, replay_bar=bar, subject=subject)
    window.log_file = log.file
    faults = Faults(window, log.last_lines, log.file)

    # What the window can do besides.
    preferences = Preferences(settings, window, keeps=is_live(arguments))
    keeping = Keeping(window, feed, settings, arguments)
    diagnosing = Diagnosing(window, theme, translation, settings, arguments)
    alerts = None
    if bar is None and arguments.screenshot is None:  # what is played happened long ago
        alerts = Alerts(window, feed, theme, translation, settings)
        alerts.use_history(keeping.history)
        keeping.mark_alerts(alerts)
    watches = Watches(window, feed, translation, keeping, alerts)
    if alerts is not None:
        alerts.use_watches(watches.show)

    # How it begins.
    preferences.apply_to_window(arguments.page)
    diagnosing.welcome()
    repaired = [text for repair in repairs if (text := repair.text())]
    if repaired:
        window.message.say("\n".join(repaired), Tone.ATTENTION, stays=True)
    if arguments.watch is not None:
        watches.watch_when_seen(arguments.watch, is_here=bar is None and arguments.scenario is None)
    signals = EndSignals()
    signals.received.connect(ending.leave)
    window.closing.connect(ending.leave)
    desktop = None
    if arguments.screenshot is not None:
        _photograph(window, arguments.screenshot, ending)
    else:
        desktop = Desktop(window, feed, theme, translation, entry, settings)
        desktop.watch_asked.connect(watches.watch_when_seen)
        diagnosing.use_tray(desktop.tray)
        if alerts is not None:
            alerts.use_tray(desktop.tray)
        app.commitDataRequest.connect(desktop.on_session_end)
        Remembering(window, desktop.mini if is_live(arguments) else None)
        asks = arguments.page is not None or arguments.watch is not None or arguments.welcome
        desktop.start(hidden=arguments.tray, is_plain=is_live(arguments) and not asks)
        # What a window that was killed has left should not have to wait for the next check. Reads all of /proc.
        threading.Thread(target=end_orphans, name="gpumon-orphans", daemon=True).start()
    QTimer.singleShot(0, window, origin.start)  # after the first paint: the window is there at once
    code = app.exec()

    # How it ends.
    if desktop is not None:
        desktop.close()
    ended = shut_down(window, preferences, origin, keeping)
    signals.close()
    faults.close()
    has_logged = log.close(ended.left_s)
    if not ended.is_over or not has_logged:
        leave(code)
    window.hide()
    window.deleteLater()
    app.processEvents()
    qInstallMessageHandler(None)  # what Qt says after Python's end must not call Python
    return code


def _make_app() -> QApplication:
    _name_for_task_bar()
    qInstallMessageHandler(_on_qt_message)
    app = QApplication(sys.argv[:1])
    app.setApplicationName("GPUMon")
    app.setApplicationVersion(__version__)
    app.setDesktopFileName("gpumon")
    app.setQuitOnLastWindowClosed(False)  # a dialog that closes after the window must not end the shutdown
    return app


def _make_look(app: QApplication, arguments: Arguments, values: Values) -> tuple[Theme, Translation]:
    """Colours and language: of the command line, else of the settings."""
    theme, translation = Theme(), Translation()
    theme.set_scheme(Scheme(arguments.theme or values.text("general.theme")))
    theme.apply(app)
    translation.set_language(arguments.language or chosen_language(values))
    return theme, translation


def _make_origin(arguments: Arguments, feed: Feed, theme: Theme, ending: Ending) -> tuple[Origin, QWidget | None, str]:
    """What gives the samples, the controls of a recording, and how the title calls it (untranslated)."""
    if not arguments.demo and arguments.replay is None:
        return make_live_origin(arguments.scenario, feed, SystemClock()), None, arguments.scenario or ""
    from gpumon_gui.app import replaying  # only then: a live window does without the readers

    origin, subject = replaying.make_replay_origin(arguments, feed)
    replaying.Unreadable(origin, feed, ending)
    return origin, replaying.make_bar(origin, theme), subject


def _photograph(window: MainWindow, order: Screenshot, ending: Ending) -> None:
    """Show the window, take its picture and end."""
    if order.size is not None:
        window.setMinimumSize(0, 0)
        window.resize(*order.size)
    photographer = Photographer(window, order)
    photographer.taken.connect(ending.leave_with)
    photographer.start()
    window.show()


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
