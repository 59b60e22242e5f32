"""Knows: a recording as what gives the window its samples. Must not know: the window.

Only loaded for ``--demo`` and ``--replay``: a live window does without SQLite and the readers.
"""

from __future__ import annotations

from pathlib import Path

from PySide6.QtCore import QObject, Slot

from gpumon_gui.app.arguments import Arguments
from gpumon_gui.app.ending import Ending
from gpumon_gui.app.notice import tell
from gpumon_gui.app.origins import End
from gpumon_gui.bridge.feed import Feed
from gpumon_gui.bridge.replay import Replay
from gpumon_gui.core.errors import UnreadableInput
from gpumon_gui.core.files import shown
from gpumon_gui.core.messages import N_, _
from gpumon_gui.core.model import Demand
from gpumon_gui.core.resources import resource_root
from gpumon_gui.ui.theme import Theme
from gpumon_gui.ui.widgets.replay_bar import ReplayBar

UNREADABLE = 2


class ReplayOrigin(QObject):
    """A recording."""

    def __init__(self, feed: Feed, file: Path, *, loop: bool, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self.replay = Replay(feed, self)
        self.replay.set_loop(loop)
        self._file = file

    def start(self) -> None:
        self.replay.open(self._file)

    def set_demand(self, demand: Demand) -> None:
        """A recording holds what it holds."""

    def pause(self) -> None:
        self.replay.pause()

    def resume(self) -> None:
        self.replay.play()

    def toggle(self) -> None:
        self.replay.toggle()

    def refresh(self) -> None:
        """There is nothing newer."""

    def retranslate(self) -> None:
        self.replay.retranslate()

    def close(self, timeout_s: float) -> End:
        return End(self.replay.close(timeout_s))


def make_replay_origin(arguments: Arguments, feed: Feed) -> tuple[ReplayOrigin, str]:
    """What ``--demo`` or ``--replay`` asks for, and how the title calls it (untranslated).

    Raises UnreadableInput when the demo's recording is not there.
    """
    if arguments.replay is None:
        return ReplayOrigin(feed, demo_recording(), loop=True), N_("Demo")
    return ReplayOrigin(feed, arguments.replay, loop=False), shown(Path(arguments.replay.name))


def make_bar(origin: ReplayOrigin, theme: Theme) -> ReplayBar:
    """The controls below the pages."""
    return ReplayBar(origin.replay, theme)


class Unreadable(QObject):
    """A recording named on the command line that cannot be read ends the program with one line."""

    def __init__(self, origin: ReplayOrigin, feed: Feed, ending: Ending) -> None:
        super().__init__(origin)
        self._feed = feed
        self._ending = ending
        origin.replay.failed.connect(self._on_failed)

    @Slot(str)
    def _on_failed(self, line: str) -> None:
        if self._feed.latest is None:
            tell(line)
            self._ending.leave_with(UNREADABLE)


def demo_recording() -> Path:
    """The first recording shipped for the demo. Raises UnreadableInput when there is none."""
    folder = resource_root() / "demo"
    found = sorted(folder.glob("*.gpumon"))
    if not found:
        raise UnreadableInput(
            _("The recording for the demo is missing: no *.gpumon in {folder}.").format(folder=folder)
        )
    return found[0]
