"""Knows: the subcommands and what ends a command. Must not know: what a command does.

Exit codes: 0 fine, 1 findings that need action, 2 wrong usage or unreadable input, 3 internal fault.
"""

from __future__ import annotations

import argparse
import logging
import sys
import traceback
from collections.abc import Callable, Sequence
from typing import NoReturn

from gpumon_gui import __version__
from gpumon_gui.cli import diagnose, record, self_test, snapshot, watch
from gpumon_gui.core import argparse_words
from gpumon_gui.core.errors import GpumonError
from gpumon_gui.core.messages import LANGUAGES, _, set_language
from gpumon_gui.system import console

OK, USAGE, INTERNAL = 0, 2, 3

#: name, help, arguments, run. The order is the order in the help.
COMMANDS: tuple[
    tuple[
        str,
        Callable[[], str],
        Callable[[argparse.ArgumentParser], None],
        Callable[[argparse.Namespace], int],
    ],
    ...,
] = (
    ("snapshot", snapshot.summary, snapshot.add_arguments, snapshot.run),
    ("record", record.summary, record.add_arguments, record.run),
    ("diagnose", diagnose.summary, diagnose.add_arguments, diagnose.run),
    ("watch", watch.summary, watch.add_arguments, watch.run),
    ("self-test", self_test.summary, self_test.add_arguments, self_test.run),
)


class _Parser(argparse.ArgumentParser):
    """One line for a wrong command line, instead of the whole usage."""

    def error(self, message: str) -> NoReturn:
        hint = _("See {command} --help.").format(command=self.prog)
        self.exit(USAGE, f"{self.prog}: {message}. {hint}\n")


def run(argv: Sequence[str] | None = None) -> int:
    """Run one command; returns the exit code. Never raises."""
    console.provide()
    _use_utf8()
    # What goes wrong is told in sentences (``sampling.tell``); the log lines beside them would only repeat it.
    logging.getLogger("gpumon").addHandler(logging.NullHandler())
    arguments, command = _parted(sys.argv[1:] if argv is None else argv)
    set_language(_language(arguments))
    try:
        parsed = _parser().parse_args(arguments)
        if command is not None and parsed.run is not watch.run:
            raise GpumonError(_("only watch takes a COMMAND after --."))
        parsed.command = command
        code = int(parsed.run(parsed))
        sys.stdout.flush()
    except SystemExit as end:  # argparse
        return int(end.code or 0)
    except GpumonError as error:
        console.say(f"gpumon: {error}")
        return USAGE
    except BrokenPipeError:  # "| head": nothing is left to say, and nobody to say it to
        console.abandon(sys.stdout)
        return OK
    except KeyboardInterrupt:
        return 130
    except Exception:  # noqa: BLE001 - the last line of defence; the trace is what a report needs
        console.say(traceback.format_exc(), end="")
        console.say(_("gpumon: an internal fault; please report the lines above."))
        return INTERNAL
    return code


def _parser() -> argparse.ArgumentParser:
    argparse_words.translate()
    parser = _Parser(
        prog="gpumon",
        description=_("Reads this machine's GPUs. The window is started with gpumon-gui."),
    )
    parser.add_argument(
        "--version", action="version", version=f"GPUMon {__version__}", help=_("show the version and exit")
    )
    language = _("language of the output (default: the system's)")
    parser.add_argument("--lang", choices=LANGUAGES, help=language)
    commands = parser.add_subparsers(metavar=_("command"), required=True)
    for name, summary, add_arguments, command in COMMANDS:
        sub = commands.add_parser(name, help=summary(), description=summary())
        sub.add_argument("--lang", choices=LANGUAGES, help=language)
        add_arguments(sub)
        sub.set_defaults(run=command)
    return parser


def _parted(argv: Sequence[str]) -> tuple[list[str], list[str] | None]:
    """Our own arguments, and the command line of another program after the first ``--``, which is not ours to read."""
    words = list(argv)
    if "--" not in words:
        return words, None
    at = words.index("--")
    return words[:at], words[at + 1 :]


def _language(arguments: Sequence[str]) -> str | None:
    """The language asked for, found before the help texts are made. Wrong values are argparse's to refuse."""
    for index, argument in enumerate(arguments):
        value = argument.removeprefix("--lang=") if argument.startswith("--lang=") else None
        if argument == "--lang" and index + 1 < len(arguments):
            value = arguments[index + 1]
        if value in LANGUAGES:
            return value
    return None


def _use_utf8() -> None:
    """Names of processes are in any script; a console that cannot show a character must not end the program."""
    for stream in (sys.stdout, sys.stderr):
        reconfigure = getattr(stream, "reconfigure", None)
        if reconfigure is not None:
            piped = not stream.isatty()
            reconfigure(encoding="utf-8" if piped or sys.platform == "win32" else None, errors="backslashreplace")
