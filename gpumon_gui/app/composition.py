"""Knows: everyone; puts the parts together and runs them. Must not know: what any of them does."""

from __future__ import annotations

import contextlib
import logging
import sys

from PySide6.QtCore import QMessageLogContext, QObject, QTimer, QtMsgType, Slot, qInstallMessageHandler
from PySide6.QtWidgets import QApplication

from gpumon_gui import __version__
from gpumon_gui.app.arguments import Arguments
from gpumon_gui.app.faults import Faults
from gpumon_gui.app.notice import tell
from gpumon_gui.app.origins import ReplayOrigin, make_origin
from gpumon_gui.app.screenshot import Photographer
from gpumon_gui.app.shutdown import leave, shut_down
from gpumon_gui.app.signals import EndSignals
from gpumon_gui.bridge.feed import Feed
from gpumon_gui.bridge.replay import Replay
from gpumon_gui.bridge.translation import Translation
from gpumon_gui.core.clock import SystemClock
from gpumon_gui.core.messages import _
from gpumon_gui.ui.main_window import MainWindow
from gpumon_gui.ui.theme import Scheme, Theme
from gpumon_gui.ui.widgets.replay_bar import ReplayBar

UNREADABLE = 2


def run_window(arguments: Arguments) -> int:
    """Open the window and stay until it closes; the exit code. Raises GpumonError when there is nothing to show."""
    logging.basicConfig(level=logging.WARNING, format="%(name)s: %(message)s")
    _name_for_task_bar()
    qInstallMessageHandler(_on_qt_message)
    app = QApplication(sys.argv[:1])
    app.setApplicationName("GPUMon")
    app.setApplicationVersion(__version__)
    app.setDesktopFileName("gpumon")
    app.setQuitOnLastWindowClosed(False)  # a dialog that closes after the window must not end the shutdown

    theme = Theme()
    theme.set_scheme(Scheme(arguments.theme))
    theme.apply(app)
    translation = Translation()
    translation.set_language(arguments.language)

    feed = Feed()
    origin = make_origin(arguments, feed, SystemClock())
    bar, subject = None, arguments.scenario or ""
    if isinstance(origin, ReplayOrigin):
        bar = ReplayBar(origin.replay, theme)
        subject = _("Demo") if arguments.demo else str(arguments.replay)
    window = MainWindow(feed, theme, translation, origin, recorded=bar is not None, replay_bar=bar, subject=subject)
    window.show_page(arguments.page)
    faults = Faults(window)
    signals = EndSignals()
    ending = _Ending(app)
    window.closing.connect(ending.leave)
    signals.received.connect(ending.leave)
    if isinstance(origin, ReplayOrigin):
        _Unreadable(origin.replay, feed, ending)
    if arguments.screenshot is not None:
        if arguments.screenshot.size is not None:
            window.setMinimumSize(0, 0)
            window.resize(*arguments.screenshot.size)
        photographer = Photographer(window, arguments.screenshot)
        photographer.taken.connect(ending.leave_with)
        photographer.start()
    window.show()
    QTimer.singleShot(0, window, origin.start)  # after the first paint: the window is there at once
    code = app.exec()

    ended = shut_down(window, origin)
    signals.close()
    faults.close()
    if not ended.is_over:
        leave(code)
    window.hide()
    window.deleteLater()
    app.processEvents()
    return code


class _Ending(QObject):
    """Ends the event loop."""

    def __init__(self, app: QApplication) -> None:
        super().__init__(app)
        self._app = app

    @Slot()
    def leave(self) -> None:
        self._app.exit(0)

    @Slot(int)
    def leave_with(self, code: int) -> None:
        self._app.exit(code)


class _Unreadable(QObject):
    """A recording named on the command line that cannot be read ends the program with one line."""

    def __init__(self, replay: Replay, feed: Feed, ending: _Ending) -> None:
        super().__init__(replay)
        self._feed = feed
        self._ending = ending
        replay.failed.connect(self._on_failed)

    @Slot(str)
    def _on_failed(self, line: str) -> None:
        if self._feed.latest is None:
            tell(line)
            self._ending.leave_with(UNREADABLE)


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
