"""Knows: how the window starts, up to the point where Qt is needed. Must not know: Qt, what is in the window.

Whatever can be wrong is said in one line on standard error with exit code 2: wrong usage, no display, a missing
library.
"""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Sequence
from pathlib import Path

from gpumon_gui.app.arguments import Arguments, WrongUsage, parse
from gpumon_gui.app.display import display_refused
from gpumon_gui.app.first import enter
from gpumon_gui.app.libraries import missing_library, platform_refused
from gpumon_gui.app.notice import tell
from gpumon_gui.core import messages
from gpumon_gui.core.errors import GpumonError
from gpumon_gui.core.messages import _
from gpumon_gui.system import console

WRONG_USAGE = 2


def run(argv: Sequence[str] | None = None) -> int:
    """Open the window and stay until it closes; the exit code. ``argv`` without the program's name."""
    console.provide(is_windowed=True)
    # Ctrl+C ends the program at once until the window listens (``app.signals``): Python's exception would be raised in
    # the middle of an import or of a call from Qt, and be swallowed there.
    before = signal.getsignal(signal.SIGINT)
    if before is signal.default_int_handler:
        signal.signal(signal.SIGINT, signal.SIG_DFL)
    try:
        return _run(list(sys.argv[1:] if argv is None else argv))
    finally:
        if before is signal.default_int_handler:
            signal.signal(signal.SIGINT, before)


def _run(words: list[str]) -> int:
    messages.set_language(_language(words))
    if any(word in ("-h", "--help", "--version") for word in words):
        console.attach()
    try:
        arguments = parse(words)
        entry = enter(arguments)
        if entry.handed_over:
            return 0
        _prepare(arguments)
        try:
            from gpumon_gui.app.composition import run_window  # the first import of Qt: not before the checks
        except ImportError as error:
            advice = missing_library(error)
            if advice is None:
                raise
            raise WrongUsage(advice) from error
        return run_window(arguments, entry)
    except (WrongUsage, GpumonError) as error:
        tell(str(error))
        return WRONG_USAGE


def _language(words: Sequence[str]) -> str | None:
    """The language asked for, before the command line is read: faults in it are told in that language too."""
    for position, word in enumerate(words):
        if word == "--lang" and position + 1 < len(words):
            return words[position + 1]
        if word.startswith("--lang="):
            return word.removeprefix("--lang=")
    return None


def _prepare(arguments: Arguments) -> None:
    """Settle what Qt reads from the environment. Raises WrongUsage when no window can be opened."""
    os.environ["PYQTGRAPH_QT_LIB"] = "PySide6"  # pyqtgraph would take PyQt6 where both are installed
    refused = display_refused()
    if refused is not None and arguments.screenshot is None:
        raise WrongUsage(
            _(
                "No display can be reached ({detail}). Without one use 'gpumon snapshot', 'gpumon record' or "
                "'gpumon-gui --screenshot FILE'."
            ).format(detail=refused)
        )
    if refused is not None:
        os.environ["QT_QPA_PLATFORM"] = "offscreen"
    if sys.platform == "win32" and os.environ.get("QT_QPA_PLATFORM", "").startswith("offscreen"):
        # That plug-in does not know where Windows keeps its fonts: there would be no letters.
        os.environ.setdefault("QT_QPA_FONTDIR", str(Path(os.environ.get("SYSTEMROOT", r"C:\Windows")) / "Fonts"))
    advice = platform_refused()
    if advice is not None:
        raise WrongUsage(advice)
