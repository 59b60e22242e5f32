"""Knows: psutil's view of CPU and memory, on any system. Must not know: what is made of it.

psutil's own errors leave here as OSError, so that Linux, which reads ``/proc`` itself, does not load psutil for them.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

import psutil

_T = TypeVar("_T")


def cores() -> tuple[tuple[float, float], ...]:
    """Busy and all seconds since boot, per core. Raises OSError."""
    return tuple(_times(core) for core in _asked(lambda: psutil.cpu_times(percpu=True)))


def memory() -> tuple[int, int]:
    """Bytes in use and in all. Raises OSError."""
    found = _asked(psutil.virtual_memory)
    return found.total - found.available, found.total


def swap() -> tuple[int, int]:
    """Bytes in use and in all. Windows tells the share in use by a performance counter, and those may be disabled or
    damaged. Raises OSError or RuntimeError."""
    found = _asked(psutil.swap_memory)
    return found.used, found.total


def _times(core: object) -> tuple[float, float]:
    """psutil's times of one core. Its guest times are part of user, on Windows interrupt and DPC part of system."""
    busy = sum(getattr(core, name, 0.0) for name in ("user", "nice", "system", "irq", "softirq", "steal"))
    return busy, busy + sum(getattr(core, name, 0.0) for name in ("idle", "iowait"))


def _asked(ask: Callable[[], _T]) -> _T:
    try:
        return ask()
    except psutil.AccessDenied as error:
        raise PermissionError(str(error)) from error
    except psutil.Error as error:
        raise OSError(type(error).__name__) from error
