"""Knows: how a build uses the Windows lab. Must not know: what is built."""

from __future__ import annotations

import re
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

from report import SetupFailed

WINLAB = Path(__file__).resolve().parent / "winlab"
if str(WINLAB) not in sys.path:
    sys.path.append(str(WINLAB))

import install  # noqa: E402
import places  # noqa: E402
from session import Session, python_words  # noqa: E402

RUNS = 3  # starts that are timed, the first with nothing in the file cache


class LabTools:
    """Wine and Windows Python on Linux; sets the lab up. Raises SetupFailed when there cannot be one."""

    def __init__(self) -> None:
        try:
            install.install()
        except places.LabError as error:
            raise SetupFailed(str(error)) from error
        self.python_folder = places.PYTHON
        self.python_version = places.PYTHON_VERSION
        self.site_packages = places.PYTHON / "Lib" / "site-packages"

    def python(self, words: Sequence[str | Path]) -> int:
        return Session(seconds=900).run_text(python_words([_word(word) for word in words]))

    def system_dlls(self) -> set[str]:
        return {file.name.lower() for file in places.wine_dlls().iterdir()}

    def start_seconds(self, program: Path) -> float:
        words = [str(WINLAB / "inside/watch.py"), "--detached", "--close", "5", "--kill", "20", _word(program)]
        line = " ".join(f"'{word}'" for word in python_words([*words, "--scenario", "windows-laptop"]))
        runs = "; ".join([line] * RUNS)
        done = Session(seconds=60 * RUNS).run(["sh", "-c", runs], stderr=subprocess.PIPE)
        found = re.findall(rb"first window after ([\d.]+) s", done.stderr)
        if not found:
            raise SetupFailed(f"no window came: {done.stderr.decode(errors='replace').strip()}")
        return min(map(float, found))


def refused() -> str:
    """Why there can be no lab on this machine; empty when there can."""
    return install.refused()


def _word(word: str | Path) -> str:
    return places.windows_path(word) if isinstance(word, Path) else word
