"""Knows: how the stand-ins are compiled, on Linux with mingw. Must not know: what they do.

    build.py FOLDER        makes pdh.dll, nvml.dll, dwmapi.dll and sizes.exe there

Only the standard library.
"""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
GCC = ("x86_64-w64-mingw32-gcc", "-O2", "-Wall", "-Wextra", "-Wno-cast-function-type")
DLLS = {"pdh": ("pdh.c", "adapters.c"), "nvml": ("nvml.c",), "dwmapi": ("dwmapi.c",)}


def build(folder: Path) -> None:
    """Make all. Raises CalledProcessError."""
    folder.mkdir(parents=True, exist_ok=True)
    for name, sources in DLLS.items():
        files = [str(HERE / source) for source in sources]
        _run(*GCC, "-shared", "-static", "-s", "-o", str(folder / f"{name}.dll"), *files)
    _run(*GCC, "-static", "-s", "-o", str(folder / "sizes.exe"), str(HERE / "sizes.c"))


def _run(*words: str) -> None:
    subprocess.run(words, check=True)


if __name__ == "__main__":
    build(Path(sys.argv[1]))
