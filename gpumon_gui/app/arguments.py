"""Knows: the options of the window. Must not know: Qt, what the options lead to.

Standard library only, so that wrong usage is told also where Qt is missing.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import NoReturn

from gpumon_gui import __version__
from gpumon_gui.core import argparse_words
from gpumon_gui.core.errors import UnreadableInput
from gpumon_gui.core.files import cannot_write, check_regular_file, shown
from gpumon_gui.core.messages import LANGUAGES, _

#: Names as in ``ui.pages.table.PAGES``; a test compares them, since this module must not import Qt.
PAGES = ("performance", "processes", "diagnostics", "history", "settings")
THEMES = ("system", "light", "dark")
DEFAULT_AFTER_S = 3.0
#: Below this the window's own layout does not fit.
MIN_SIZE = (640, 400)
MAX_SIZE = (16384, 16384)


class WrongUsage(Exception):  # noqa: N818 - reads as a statement
    """The command line cannot be understood; the message is one line for the user."""


@dataclass(frozen=True, slots=True)
class Screenshot:
    """Where to write the picture, after how many seconds, and how large (logical pixels)."""

    file: Path
    after_s: float = DEFAULT_AFTER_S
    size: tuple[int, int] | None = None


@dataclass(frozen=True, slots=True)
class Arguments:
    """The command line of the window. At most one of ``demo``, ``replay`` and ``scenario`` is given; none of them
    means the real machine."""

    demo: bool = False
    replay: Path | None = None
    scenario: str | None = None
    language: str | None = None
    theme: str | None = None  #: None: as the settings say
    page: str | None = None
    screenshot: Screenshot | None = None
    tray: bool = False  #: start hidden in the tray, and stay there when the window is closed
    history: Path | None = None  #: show this history file, and write none
    watch: int | None = None  #: watch this process as soon as it is seen
    welcome: bool = False  #: show the page of the first start


def parse(argv: Sequence[str]) -> Arguments:
    """Read the command line. Raises WrongUsage; ``--help`` and ``--version`` print and raise SystemExit(0)."""
    found = _parser().parse_args(list(argv))
    if found.screenshot is None:
        for name in ("after", "size"):
            if getattr(found, name) is not None:
                raise WrongUsage(_("--{name} only makes sense with --screenshot").format(name=name))
    elif found.tray:
        raise WrongUsage(_("--screenshot needs the window, --tray hides it"))
    shot = None
    if found.screenshot is not None:
        _check_target(found.screenshot)
        shot = Screenshot(found.screenshot, DEFAULT_AFTER_S if found.after is None else found.after, found.size)
    return Arguments(
        found.demo,
        found.replay,
        found.scenario,
        found.lang,
        found.theme,
        found.page,
        shot,
        found.tray,
        found.history,
        found.watch,
        found.welcome,
    )


class _Parser(argparse.ArgumentParser):
    def error(self, message: str) -> NoReturn:
        raise WrongUsage(message)


def _parser() -> _Parser:
    argparse_words.translate()
    parser = _Parser(
        prog="gpumon-gui",
        description=_("GPU monitor: what the GPUs of this machine do, and who uses them."),
        allow_abbrev=False,
    )
    source = parser.add_mutually_exclusive_group()
    source.add_argument("--demo", action="store_true", help=_("play the recording shipped with the program"))
    source.add_argument("--replay", metavar="FILE", type=_existing, help=_("play a recording (.gpumon, .jsonl.gz)"))
    source.add_argument("--scenario", metavar="NAME", help=_("show a synthetic machine"))
    parser.add_argument(
        "--history", metavar="FILE", type=_existing, help=_("show this history file (history.db) and keep none")
    )
    parser.add_argument("--welcome", action="store_true", help=_("show the page of the first start"))
    parser.add_argument("--watch", metavar="PID", type=_pid, help=_("watch this process as soon as it is seen"))
    parser.add_argument("--lang", choices=LANGUAGES, help=_("language; default: as in the settings"))
    parser.add_argument("--theme", choices=THEMES, help=_("colours; default: as in the settings"))
    parser.add_argument("--page", choices=PAGES, help=_("page to open"))
    parser.add_argument("--tray", action="store_true", help=_("start hidden in the tray and stay there"))
    parser.add_argument("--screenshot", metavar="FILE", type=Path, help=_("write a picture of the window and end"))
    parser.add_argument(
        "--after",
        metavar="SECONDS",
        type=_seconds,
        help=_("with --screenshot: how long to run before; default {seconds:g}").format(seconds=DEFAULT_AFTER_S),
    )
    parser.add_argument(
        "--size",
        metavar="WxH",
        type=_size,
        help=_("with --screenshot: size of the window in pixels, for example 1280x800"),
    )
    parser.add_argument(
        "--version", action="version", version=f"gpumon-gui {__version__}", help=_("show the version and exit")
    )
    return parser


def _check_target(file: Path) -> None:
    """Refuse a picture that cannot be written before a window opens for it. Raises WrongUsage."""
    folder = file.parent
    try:
        if not folder.is_dir():
            raise WrongUsage(_("--screenshot: there is no folder {folder}").format(folder=shown(folder)))
        if file.is_dir():
            raise WrongUsage(_("--screenshot: {file} is a folder").format(file=shown(file)))
    except OSError as error:  # no permission for a folder above, a name that is too long
        raise WrongUsage(cannot_write(file, error)) from error


def _existing(text: str) -> Path:
    path = Path(text)
    try:
        check_regular_file(path)
    except UnreadableInput as error:
        if isinstance(error.__cause__, FileNotFoundError):
            raise argparse.ArgumentTypeError(_("there is no file {file}").format(file=shown(path))) from error
        raise argparse.ArgumentTypeError(str(error)) from error
    return path


def _pid(text: str) -> int:
    if not (text.isascii() and text.isdigit() and 0 < int(text) < 1 << 32):
        raise argparse.ArgumentTypeError(_("“{text}” is no process id").format(text=text))
    return int(text)


def _seconds(text: str) -> float:
    try:
        seconds = float(text)
    except ValueError:
        seconds = -1.0
    if not 0 <= seconds <= 3600:
        raise argparse.ArgumentTypeError(_("{text} is not a number of seconds from 0 to 3600").format(text=text))
    return seconds


def _size(text: str) -> tuple[int, int]:
    width, _cross, height = text.lower().partition("x")
    if not (width.isascii() and width.isdigit() and height.isascii() and height.isdigit()):
        raise argparse.ArgumentTypeError(_("{text} is not a size such as 1280x800").format(text=text))
    size = int(width), int(height)
    if not (MIN_SIZE[0] <= size[0] <= MAX_SIZE[0] and MIN_SIZE[1] <= size[1] <= MAX_SIZE[1]):
        raise argparse.ArgumentTypeError(
            _("{text} is not between {low} and {high}").format(
                text=text, low="{}x{}".format(*MIN_SIZE), high="{}x{}".format(*MAX_SIZE)
            )
        )
    return size
