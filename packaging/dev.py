"""Knows: the commands of a checkout. Must not know: the program.

    python packaging/dev.py run [arguments]    set up, then start GPUMon (no arguments: the window)
    python packaging/dev.py test [stage ...]   set up, then every check and test, or the stages named
    python packaging/dev.py check              only the checks: ruff, mypy, import contracts, translations
    python packaging/dev.py compile            set up and compile the translations
    python packaging/dev.py build              the Windows programs, portable form and installer, in dist/
    python packaging/dev.py screenshots [what] set up and take pictures of the window (packaging/screenshots.py)

Only the standard library: it runs before anything is installed.
"""

import os
import subprocess
import sys

if sys.version_info < (3, 11):  # noqa: UP036 - whoever has an older one must be told
    _found = "{}.{} ({})".format(*sys.version_info[:2], sys.executable)
    sys.exit(f"GPUMon needs Python 3.11 or newer, this is {_found}. Start dev.py with a newer one.")

import environment
import stages
import system_packages
import windows_build
from report import SetupFailed, warn


def run(arguments: list[str]) -> int:
    """Set up and start the program in the user's own folder, so that file names mean what they say."""
    environment.prepare(environment.RUN)
    environment.compile_translations()
    first = arguments[0] if arguments else ""
    if first not in ("-h", "--help", "--version") and (not first or first.startswith("-")):  # not the command line
        system_packages.provide_for_window()
    words = [str(environment.PYTHON), "-m", "gpumon_gui", *arguments]
    if os.name == "posix":
        os.execv(words[0], words)  # the same process: signals reach the program
    return subprocess.call(words)


def test(names: list[str]) -> int:
    """Set up and run the stages."""
    chosen = stages.select(names)
    environment.prepare(environment.DEVELOP)
    environment.compile_translations()
    if any(stage.tests == "tests/qt" for stage in chosen):
        system_packages.provide_for_tests()
    return stages.run(chosen)


def check() -> int:
    """Set up and run the stages that are no tests."""
    environment.prepare(environment.DEVELOP)
    return stages.run(stages.CHECKS)


def compile_() -> int:
    """Set up and compile the translations."""
    environment.prepare(environment.RUN)
    return subprocess.call([str(environment.PYTHON), str(environment.ROOT / "packaging/translations.py"), "compile"])


def screenshots(words: list[str]) -> int:
    """Set up and take the pictures."""
    environment.prepare(environment.RUN)
    environment.compile_translations()
    system_packages.provide_for_window()
    return subprocess.call([str(environment.PYTHON), str(environment.ROOT / "packaging/screenshots.py"), *words])


def main(arguments: list[str]) -> int:
    """Do what the first word says; the exit code."""
    what, rest = (arguments[0], arguments[1:]) if arguments else ("", [])
    try:
        if what == "run":
            return run(rest)
        if what == "test":
            return test(rest)
        if what == "check" and not rest:
            return check()
        if what == "compile" and not rest:
            return compile_()
        if what == "build" and not rest:
            return windows_build.build()
        if what == "screenshots":
            return screenshots(rest)
    except SetupFailed as failure:
        warn(f"error: {failure}")
        return 1
    except KeyboardInterrupt:
        return 130
    wanted_help = what in ("-h", "--help", "help")
    print((__doc__ or "").split("\n\n")[1], file=sys.stdout if wanted_help else sys.stderr)
    return 0 if wanted_help else 2


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
