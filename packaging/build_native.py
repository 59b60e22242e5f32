"""Knows: how a build works on Windows itself. Must not know: what is built."""

from __future__ import annotations

import os
import platform
import re
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

from environment import PYTHON, VENV
from report import SetupFailed

WATCH = Path(__file__).resolve().parent / "winlab/inside/watch.py"


class NativeTools:
    """Python and NSIS as they are installed."""

    def __init__(self) -> None:
        self.site_packages = VENV / "Lib" / "site-packages"
        self.python_version = platform.python_version()
        self.python_folder = Path(sys.base_prefix)

    def python(self, words: Sequence[str | Path]) -> int:
        return subprocess.call([str(PYTHON), *map(str, words)], stdin=subprocess.DEVNULL)

    def system_dlls(self) -> set[str]:
        folder = Path(os.environ.get("SYSTEMROOT", r"C:\Windows")) / "System32"
        return {file.name.lower() for file in folder.iterdir()}

    def start_seconds(self, program: Path) -> float:
        words = [str(PYTHON), str(WATCH), "--detached", "--close", "5", "--kill", "20", str(program)]
        found = []
        for _run in range(3):
            done = subprocess.run([*words, "--scenario", "windows-laptop"], stdin=subprocess.DEVNULL, stderr=-1)
            found += re.findall(rb"first window after ([\d.]+) s", done.stderr)
        if not found:
            raise SetupFailed("no window came within 20 s")
        return min(map(float, found))
