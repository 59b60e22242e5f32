"""Knows: when this machine was started, as it was known first. Must not know: processes.

Linux tells a process's start as seconds since then. When somebody sets the clock, the kernel gives another moment for
the same start of the machine; with the first one every process keeps one start, in whichever sampler it is read.
"""

from __future__ import annotations

import os
import sys
from functools import cache
from pathlib import Path

#: In the environment of a sampler: what the program that started it knows.
VARIABLE = "GPUMON_BOOT"


def boot_now(proc: str = "/proc") -> float:
    """``btime`` of ``/proc/stat``, UTC seconds. Raises OSError."""
    with Path(proc, "stat").open("rb") as file:
        for line in file:
            if line.startswith(b"btime "):
                return float(line.split()[1])
    raise OSError("no btime in /proc/stat")


@cache
def boot_first() -> float | None:
    """The same as it was when it was first asked for, in this program or the one that started this sampler. None: not
    known, as on other systems, which keep the moment itself."""
    if not sys.platform.startswith("linux"):
        return None
    try:
        return float(os.environ.get(VARIABLE) or boot_now())
    except (OSError, ValueError):
        return None
