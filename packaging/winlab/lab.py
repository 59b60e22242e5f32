"""Knows: the commands of the Windows lab on Linux (README.md). Must not know: how they work.

    lab.py setup                     install what is missing; safe to repeat
    lab.py python [options] ...      Windows Python
    lab.py run [options] PROGRAM ... a Windows program, watched (lab.py run --help)
    lab.py shot FILE PROGRAM ...     run it, take a picture of the screen two seconds after its window, end it
    lab.py sh [options] COMMAND ...  a Linux command with `wine` and a screen
    lab.py root                      where Wine is; exit code 125 when the lab is not set up

Options: -t SECONDS, --size WxH, --scale PERCENT, --windows11, --locale zh_CN, --dll FILE (in system32), --keep (write
to the lab's own disk instead of a copy), -e NAME=VALUE. Paths of Linux work as they are: /a/b is Z:\\a\\b.
The exit code is the program's (8 bits); 124 out of time, 125 a fault of the lab.
"""

from __future__ import annotations

import argparse
import shutil
import sys
from pathlib import Path

import install
import places
from places import LabError
from session import Session, python_words

FAULT = 125
WATCH = places.HERE / "inside/watch.py"


def main(words: list[str]) -> int:
    """Do what the first word says; the exit code."""
    what, rest = (words[0], words[1:]) if words else ("", [])
    try:
        if what == "setup" and not rest:
            install.install()
        elif what == "root" and not rest:
            print(places.root())
        elif what in ("python", "run", "shot", "sh") and rest:
            return _start(what, rest)
        else:
            print((__doc__ or "").partition("\n\n")[2], file=sys.stderr)
            return 2
    except LabError as error:
        print(f"lab: {error}", file=sys.stderr)
        return FAULT
    except KeyboardInterrupt:
        return 130
    return 0


def _start(what: str, words: list[str]) -> int:
    session, rest = _options(words)
    stdin = None if not sys.stdin or sys.stdin.isatty() else sys.stdin.buffer  # a terminal would be drawn upon
    given = {"stdin": stdin} if stdin else {}
    if what == "sh":
        return session.run_text(rest, **given)
    if what == "python":
        return session.run_text(python_words(rest), **given)
    if what == "shot":
        rest = ["--shot", str(Path(rest[0]).absolute()), "--close", "15", "--kill", "25", *rest[1:]]
    return session.run_text(python_words([str(WATCH), *map(_program, rest)]), **given)


def _program(word: str) -> str:
    """A file of this side in the form that Windows starts."""
    return places.windows_path(word) if word.lower().endswith(".exe") and Path(word).is_file() else word


def _options(words: list[str]) -> tuple[Session, list[str]]:
    parser = argparse.ArgumentParser(prog="lab.py", add_help=False, allow_abbrev=False)
    parser.add_argument("-t", type=int, default=300)
    parser.add_argument("--size", default="1600x1000")
    parser.add_argument("--scale", type=int, default=100)
    parser.add_argument("--windows11", action="store_const", const="win11", default="win10")
    parser.add_argument("--locale", default="C")
    parser.add_argument("--dll", type=Path, action="append", default=[])
    parser.add_argument("--keep", action="store_true")
    parser.add_argument("-e", action="append", default=[])
    # Our options come first; the first word that is none of them, and all behind it, is the program's.
    count = 0
    while count < len(words):
        word = words[count]
        if word in ("--keep", "--windows11"):
            count += 1
        elif word in ("-t", "--size", "--scale", "--locale", "--dll", "-e") and count + 1 < len(words):
            count += 2
        else:
            break
    found = parser.parse_args(words[:count])
    variables = dict(pair.split("=", 1) for pair in found.e if "=" in pair)
    dlls = tuple(found.dll)
    missing = [str(dll) for dll in dlls if not dll.is_file()]
    if missing:
        raise LabError(f"there is no file {missing[0]}")
    session = Session(found.t, found.size, found.scale, found.windows11, found.locale, dlls, found.keep, variables)
    return session, words[count:]


if __name__ == "__main__":
    if sys.platform == "linux" and shutil.which("setpriv") is None:
        sys.exit("lab: util-linux is missing (setpriv, unshare)")
    sys.exit(main(sys.argv[1:]))
