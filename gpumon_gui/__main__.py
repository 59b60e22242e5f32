"""Knows: which program a command line means. Must not know: anything else; imports one of them, late.

``python -m gpumon_gui`` is the window or, with a subcommand, the command line. The sampler process is started through
here too, in a frozen build as well, and must not load more than it needs. A frozen build has two executables that both
begin here; there the file's name decides, as the name of the command does after an installation by pip.
"""

from __future__ import annotations

import os
import sys


def main() -> int:
    """Run what the arguments ask for; returns the exit code."""
    argv = sys.argv[1:]
    first = argv[0] if argv else ""
    if first == "--sampler-child":
        from gpumon_gui.telemetry import child

        return child.main(argv)
    word = _first_word(argv)
    if _is_command(word):
        from gpumon_gui.cli.main import run as run_command

        code = run_command(argv)
        if code or word not in ("-h", "--help") or getattr(sys, "frozen", False):
            return code
        sys.stdout.write("\n")  # one door for two programs: their help stands together
    from gpumon_gui.app.main import run as run_window

    return run_window(argv)


def _first_word(argv: list[str]) -> str:
    """The first word behind ``--lang``, which both programs take."""
    rest = argv[:]
    while rest and rest[0].startswith("--lang"):
        del rest[: 1 if "=" in rest[0] else 2]
    return rest[0] if rest else ""


def _is_command(first: str) -> bool:
    """Whether the command line is meant, not the window."""
    if getattr(sys, "frozen", False):
        return not sys.executable.lower().removesuffix(".exe").endswith("-gui")
    return first in ("-h", "--help", "--version") or (first != "" and not first.startswith("-"))


def leave_out_working_folder() -> None:
    """``python -m`` looks in the working folder first, and a user's ``json.py`` there would be loaded instead of
    Python's. Not when it holds this package, nor in a frozen build."""
    if getattr(sys, "frozen", False) or sys.flags.safe_path or not sys.path:
        return
    try:
        here = os.getcwd()  # noqa: PTH109 - as Python wrote it
    except OSError:  # deleted
        return
    home = os.path.dirname(os.path.dirname(os.path.realpath(__file__)))  # noqa: PTH120 - pathlib is slow to load
    if sys.path[0] in ("", here) and os.path.realpath(here) != home:
        del sys.path[0]


if __name__ == "__main__":
    try:
        leave_out_working_folder()
        sys.exit(main())
    except KeyboardInterrupt:  # while modules are loaded; later it is the programs' own affair
        sys.exit(130)
