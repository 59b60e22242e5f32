"""Knows: how Windows Python runs pytest in the lab, with stand-ins for the drivers' DLLs. Must not know: tests."""

from __future__ import annotations

import functools
import os
import platform
import shutil
import subprocess
import sys
from pathlib import Path

from environment import PYTHON, ROOT
from report import SetupFailed

LAB = ROOT / "packaging/winlab/lab.py"
STAND_INS = ROOT / "tests/windows/standins"
SUITE = ROOT / "tests/windows/suite.py"
LIMIT_S = 1800  # 4500 unit tests; one that hangs is ended by pytest-timeout


def cannot_run() -> str:
    """Why there is no Windows lab on this machine; empty where there is one or it can be set up."""
    if sys.platform != "linux":
        return "the Windows lab is for Linux"
    if platform.machine() != "x86_64" or os.geteuid() != 0 or shutil.which("apt-get") is None:
        return "the Windows lab needs root on Debian, x86-64"
    return ""


def pytest_words(folder: Path) -> list[str]:
    """The command before pytest's own arguments. ``folder`` holds the stand-ins that it makes. Raises SetupFailed."""
    _set_up()
    build(folder)
    stand_ins = [word for name in ("pdh", "nvml") for word in ("--dll", str(folder / f"{name}.dll"))]
    told = ["-e", f"GPUMON_STAND_INS={folder}"]
    screen = ["--size", "2560x1600"]  # as large as the largest window under test
    return [str(PYTHON), str(LAB), "python", "-t", str(LIMIT_S), *screen, *stand_ins, *told, str(SUITE)]


def build(folder: Path) -> None:
    """Make the stand-ins, and the sizes of the headers' structs. Raises SetupFailed."""
    done = subprocess.run(
        [str(PYTHON), str(STAND_INS / "build.py"), str(folder)], capture_output=True, text=True, check=False
    )
    if done.returncode != 0:
        raise SetupFailed(f"the stand-in DLLs cannot be made: {(done.stderr or done.stdout).strip()}")


@functools.cache
def _set_up() -> None:
    if subprocess.call([str(PYTHON), str(LAB), "setup"], cwd=ROOT, stdin=subprocess.DEVNULL) != 0:
        raise SetupFailed("the Windows lab cannot be set up")
