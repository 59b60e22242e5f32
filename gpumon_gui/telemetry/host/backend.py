"""Knows: what is asked about a process, whatever the system. Must not know: how a system answers."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Protocol

from gpumon_gui.core.values import Missing, Value


@dataclass(frozen=True, slots=True)
class Vital:
    """What changes, from one look. ``start`` tells two processes with one pid apart and is compared only.

    ``label`` is the short name the system keeps; it changes when the process becomes another program. ``cpu_s``: user
    and system time so far, in seconds.
    """

    start: float
    label: str
    ppid: int
    zombie: bool
    cpu_s: float | Missing
    rss_bytes: Value
    threads: Value
    read_bytes: Value
    write_bytes: Value


@dataclass(frozen=True, slots=True)
class Facts:
    """What stays while ``start`` and ``label`` do. Empty where there is no permission."""

    started_utc_s: float | None
    name: str
    command: tuple[str, ...]
    executable: str
    user: str
    search_path: str = ""  #: PATH of the process, to find the program behind a bare ``python``


class Gone(Exception):  # noqa: N818 - reads as a statement
    """There is no such process (any more)."""


class Hidden(Exception):  # noqa: N818
    """The process exists, but this account may not look at it."""


class Backend(Protocol):
    """One way to ask the system."""

    def vital(self, pid: int) -> Vital:
        """The changing part. Raises Gone or Hidden."""
        ...

    def facts(self, pid: int, label: str) -> Facts:
        """The lasting part. Raises Gone."""
        ...

    def modules(self, pid: int) -> str | None:
        """Paths of loaded files, one text; None without permission. Raises Gone."""
        ...

    def pids(self) -> list[int]:
        """All processes."""
        ...

    def label(self, pid: int) -> str:
        """The short name only. Raises Gone."""
        ...

    def family(self, pid: int) -> tuple[str, int]:
        """Short name and parent. Raises Gone."""
        ...

    def parents(self, known: Mapping[int, int]) -> dict[int, int]:
        """The parent of every process; those of ``known`` need not be asked again. Raises OSError."""
        ...

    def foreign_pids(self) -> bool:
        """Whether drivers may list pids of another namespace: we run in a container or in WSL."""
        ...
