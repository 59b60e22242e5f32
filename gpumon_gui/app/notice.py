"""Knows: how one line reaches somebody before or after there is a window. Must not know: Qt."""

from __future__ import annotations

import sys

from gpumon_gui.system import console

NAME = "gpumon-gui"


def tell(line: str) -> None:
    """Write a line to standard error; on Windows without a console show it in a box. Called when the program ends."""
    if console.attach():
        console.say(f"{NAME}: {line}")
    elif sys.platform == "win32":
        import ctypes  # only here: a windowed program has no standard error

        ctypes.windll.user32.MessageBoxW(None, line, "GPUMon", 0x30)  # MB_ICONWARNING
