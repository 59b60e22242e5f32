"""Knows: how much memory a foreign program may take, and takes with all it started. Must not know: who ends it.

Linux only (``/proc``): elsewhere there is no bound. A resource limit would not do: CUDA reserves address space by the
terabyte. Counted is what the processes wrote themselves (``resident`` less ``shared`` in ``/proc/PID/statm``), not the
libraries they have mapped.
"""

from __future__ import annotations

import os
from contextlib import suppress
from pathlib import Path
from typing import Final

#: Of the memory that is available when it starts; an import of the largest frameworks with CUDA takes 1 to 3 GiB.
_SHARE: Final = 0.5
_LEAST_BYTES: Final = 3 << 30
#: Of a tree that forks without end so many are looked at.
_MOST_PROCESSES: Final = 100


def bound_bytes() -> int | None:
    """What a program that is started now may take; None where that cannot be told."""
    with suppress(OSError, ValueError, IndexError):
        for line in Path("/proc/meminfo").read_text(encoding="ascii").splitlines():
            if line.startswith("MemAvailable:"):
                return max(_LEAST_BYTES, int(int(line.split()[1]) * 1024 * _SHARE))
    return None


def taken_bytes(pid: int) -> int:
    """What a process and everything below it holds; 0 where it is gone."""
    total, waiting, seen = 0, [pid], 0
    while waiting and seen < _MOST_PROCESSES:
        entry = Path("/proc", str(waiting.pop()))
        seen += 1
        with suppress(OSError, ValueError, IndexError):
            _size, resident, shared = (entry / "statm").read_text(encoding="ascii").split()[:3]
            total += (int(resident) - int(shared)) * os.sysconf("SC_PAGE_SIZE")
        with suppress(OSError, ValueError):
            for task in (entry / "task").iterdir():
                waiting += [int(word) for word in (task / "children").read_text(encoding="ascii").split()]
    return total
