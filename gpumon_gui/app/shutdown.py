"""Knows: in which order the program ends. Must not know: how each part ends.

First nothing draws any more, then nothing reads, then the process leaves. A part that does not end is named on
standard error, and the process leaves without it: no orphan, no window that hangs.
"""

from __future__ import annotations

import os
import sys
from dataclasses import dataclass

from gpumon_gui.app.keeping import Keeping
from gpumon_gui.app.notice import tell
from gpumon_gui.app.origins import Origin
from gpumon_gui.core.messages import _
from gpumon_gui.ui.main_window import MainWindow

#: The whole end takes no longer than about this.
TIMEOUT_S = 2.5


@dataclass(frozen=True, slots=True)
class Ended:
    """Whether everything has ended; if not, the process must leave by :func:`leave`."""

    is_over: bool


def shut_down(window: MainWindow, origin: Origin, keeping: Keeping | None = None) -> Ended:
    """Stop the ticker and the window's workers, then what gives the samples, then what keeps them."""
    window_ended = window.close_down()
    end = origin.close(TIMEOUT_S)
    kept = keeping is None or keeping.close(TIMEOUT_S)
    is_over = window_ended and end.is_over and kept
    if end.text:
        tell(end.text)
    elif not is_over:
        tell(_("A part of GPUMon does not end; it is left behind."))
    return Ended(is_over)


def leave(code: int) -> None:
    """End the process at once, past threads that do not return."""
    for stream in (sys.stdout, sys.stderr):
        if stream is not None:
            stream.flush()
    os._exit(code)
