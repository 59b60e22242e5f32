"""Knows: a process that is watched as soon as it is seen, and what is said while it is not. Must not know: how it is
watched."""

from __future__ import annotations

from typing import Final

from PySide6.QtCore import QObject, Signal, Slot

from gpumon_gui.bridge.feed import Feed
from gpumon_gui.bridge.watching import Program, can_be_watched
from gpumon_gui.core.formatters import duration
from gpumon_gui.core.messages import _
from gpumon_gui.core.model import Sample
from gpumon_gui.ui.main_window import MainWindow
from gpumon_gui.ui.widgets.message_bar import Tone

#: Readings for so long without it are worth a word: a framework takes some seconds to come to the GPU.
PATIENCE_S: Final = 20.0


class Awaited(QObject):
    """Waits for one process until it is seen or :meth:`give_up`. Lives in the GUI thread.

    Signals:
        seen(object): it is there, as this :class:`Program`.
    """

    seen = Signal(object)

    def __init__(self, window: MainWindow, feed: Feed, pid: int, parent: QObject, *, is_here: bool) -> None:
        """``is_here``: a process of this machine; else of a recording or a scripted machine."""
        super().__init__(parent)
        self.pid = pid
        self._window = window
        self._feed = feed
        self._first_s: float | None = None
        self._said = ""
        self._is_told = False  #: that it was not seen for long
        if is_here and not _exists(pid):
            self._say(_("There is no process {pid}. It is watched as soon as there is one.").format(pid=pid))
        feed.sample_taken.connect(self._on_sample)

    def give_up(self) -> None:
        """Wait no longer."""
        self._feed.sample_taken.disconnect(self._on_sample)
        if self._said and self._window.message.text == self._said:
            self._window.message.hide()
        self.deleteLater()

    @Slot(object)
    def _on_sample(self, sample: Sample) -> None:
        own = (one for one in sample.processes if one.pid == self.pid and can_be_watched(one))
        process = next(own, None)
        if process is not None:
            self.give_up()
            self.seen.emit(Program.of(process))
            return
        if self._first_s is None or sample.monotonic_s < self._first_s:
            self._first_s = sample.monotonic_s
        passed_s = sample.monotonic_s - self._first_s
        if not self._is_told and passed_s >= PATIENCE_S:
            self._is_told = True
            text = _("Process {pid} was not seen in {time} of readings. It is watched as soon as it is seen.")
            self._say(text.format(pid=self.pid, time=duration(passed_s)))

    def _say(self, text: str) -> None:
        self._said = text
        self._window.message.say(text, Tone.ATTENTION)


def _exists(pid: int) -> bool:
    import psutil  # only here: the sampler reads the processes

    try:
        return bool(psutil.pid_exists(pid))
    except OverflowError:  # more than Linux can number
        return False
