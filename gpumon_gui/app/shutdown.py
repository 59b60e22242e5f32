"""Knows: how the program ends. Must not know: how each part ends.

Nothing waits its turn: every thread is asked to end, then each is waited for with what is left of one time for all. A
part that does not end is named on standard error, and the process leaves without it: no orphan, no window that hangs.
"""

from __future__ import annotations

import contextlib
import os
import sys
from dataclasses import dataclass

from PySide6.QtCore import QElapsedTimer

from gpumon_gui.app.keeping import Keeping
from gpumon_gui.app.notice import tell
from gpumon_gui.app.origins import End, Origin
from gpumon_gui.app.preferences import Preferences
from gpumon_gui.bridge.worker import request_stop_of_all
from gpumon_gui.core.messages import _, sentences
from gpumon_gui.ui.main_window import MainWindow

#: The whole end takes no longer than about this.
TIMEOUT_S = 2.5
#: The log comes last: there is something to write when the others took all the time.
_LEAST_S = 0.2


@dataclass(frozen=True, slots=True)
class Ended:
    """Whether everything has ended; if not, the process must leave by :func:`leave`. ``left_s``: for what is still to
    be done."""

    is_over: bool
    left_s: float


def shut_down(window: MainWindow, preferences: Preferences, origin: Origin, keeping: Keeping) -> Ended:
    """End everything that works beside the window. The event loop has ended, so no more samples come, and what came is
    with the history already: it may be asked with the others."""
    since = QElapsedTimer()
    since.start()
    request_stop_of_all()
    ends = (
        End(window.close_down()),
        preferences.close(TIMEOUT_S),
        origin.close(TIMEOUT_S),
        End(keeping.close(TIMEOUT_S)),
    )
    is_over = all(end.is_over for end in ends)
    texts = [end.text for end in ends if end.text]
    if not is_over and not texts:
        texts = [_("A part of GPUMon does not end; it is left behind.")]
    if texts:
        tell(sentences(*texts))
    return Ended(is_over, max(_LEAST_S, TIMEOUT_S - since.elapsed() / 1000))


def leave(code: int) -> None:
    """End the process at once, past threads that do not return."""
    for stream in (sys.stdout, sys.stderr):
        if stream is not None:
            with contextlib.suppress(OSError, ValueError):  # a pipe that nobody reads any more
                stream.flush()
    os._exit(code)
