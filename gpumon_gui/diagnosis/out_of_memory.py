"""Knows: what the numbers in an out-of-memory message say. Must not know: rules, how a log is read.

torch (c10/cuda/CUDACachingAllocator.cpp) prints, beside the size it asked for: the card's total and free memory, what
it has given out (*allocated*), and what it has taken from the driver (*reserved*, at least as much). From 2.1 on also
what the whole process holds, which includes the CUDA context. Everything is in bytes here.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from gpumon_gui.core.formatters import memory
from gpumon_gui.diagnosis.facts import Signal, View

_UNITS: Final = {"bytes": 1, "b": 1, "k": 2**10, "m": 2**20, "g": 2**30, "t": 2**40}
_SIZE = re.compile(r"([\d.]+)\s*(bytes|b|[kmgt])", re.IGNORECASE)
#: A context and the libraries' own memory: what a process holds beyond its reserved memory (measured 0.3 to 0.6 GiB).
CONTEXT_BYTES: Final = 600 * 2**20
#: Nobody has a card like this: the counter overflowed (torch prints 17179869184 GiB for 2**64).
_NONSENSE_BYTES: Final = 2**50
#: A share of the card that others must hold before they are the cause.
OTHERS_SHARE: Final = 0.3
#: A share of the reserved memory that must lie idle before fragmentation is the cause.
IDLE_SHARE: Final = 0.15


@dataclass(frozen=True, slots=True)
class OutOfMemory:
    """One message. ``held`` is what the process itself has of the card (where the message does not say it: with a
    context of the usual size), ``stated`` the part of it that the message tells, ``others`` what is left for everybody
    else."""

    request: float
    total: float
    free: float
    allocated: float
    reserved: float
    held: float
    stated: float

    @property
    def idle(self) -> float:
        """Reserved, but given to no tensor."""
        return max(0.0, self.reserved - self.allocated)

    @property
    def others(self) -> float:
        """Held by other processes (and the desktop)."""
        return max(0.0, self.total - self.free - self.held)

    @property
    def beyond_the_card(self) -> bool:
        """More is given out than the card has: the driver put it into the computer's memory."""
        return self.allocated > 1.01 * self.total

    @property
    def others_are_the_cause(self) -> bool:
        """Others hold much, and without them the request would have fitted."""
        return self.others >= OTHERS_SHARE * self.total and self.request <= self.total - self.held

    @property
    def fragmented(self) -> bool:
        """More lies idle than was asked for, and it is a real part of what is reserved."""
        return self.idle >= self.request and self.idle >= IDLE_SHARE * self.reserved


def numbers_of(signal: Signal) -> OutOfMemory | None:
    """What a ``torch-out-of-memory`` signal carries; None when the message was cut."""
    sizes = {name: size for name, text in signal.values.items() if (size := parse_size(text)) is not None}
    if not {"request", "total", "free", "allocated"} <= sizes.keys():
        return None
    reserved = sizes.get("reserved", sizes["allocated"] + sizes.get("unallocated", 0.0))
    held = stated = sizes.get("process", _NONSENSE_BYTES)
    if stated >= _NONSENSE_BYTES:
        stated = reserved
        held = min(reserved + CONTEXT_BYTES, max(sizes["total"] - sizes["free"], reserved))
    return OutOfMemory(sizes["request"], sizes["total"], sizes["free"], sizes["allocated"], reserved, held, stated)


def first_numbers(view: View) -> tuple[Signal, OutOfMemory] | None:
    """The first message whose numbers are complete: what fails later fails because of it."""
    for signal in view.signals("torch-out-of-memory"):
        numbers = numbers_of(signal)
        if numbers is not None:
            return signal, numbers
    return None


def parse_size(text: Any) -> float | None:
    """``34.82 MiB`` → bytes; None for anything else."""
    match = _SIZE.match(text) if isinstance(text, str) else None
    if match is None:
        return None
    try:
        return float(match.group(1)) * _UNITS[match.group(2).lower()]
    except ValueError:
        return None


def written(numbers: OutOfMemory) -> Mapping[str, str]:
    """The sizes as texts for a sentence; what the process holds as the message says it, without an estimate."""
    sizes = {
        "request": numbers.request,
        "total": numbers.total,
        "free": numbers.free,
        "allocated": numbers.allocated,
        "reserved": numbers.reserved,
        "idle": numbers.idle,
        "held": numbers.stated,
        "others": numbers.others,
    }
    return {name: memory(size) for name, size in sizes.items()}
