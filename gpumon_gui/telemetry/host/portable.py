"""Knows: psutil's view of processes, on any system. Must not know: what is made of it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TypeVar

import psutil

from gpumon_gui.core.values import Missing, Reason, Value, checked
from gpumon_gui.telemetry.host.backend import Facts, Gone, Hidden, Vital
from gpumon_gui.telemetry.host.cpu import SOURCE
from gpumon_gui.telemetry.host.text import clean, shortened

T = TypeVar("T")

_system = getattr(psutil, "_psplatform", None)

_DENIED = Missing(Reason.NO_PERMISSION, SOURCE)
_ENDED = Missing(Reason.NOT_READ, SOURCE, "zombie")
_ABSENT = Missing(Reason.NOT_SUPPORTED, SOURCE)


class Portable:
    """Asks psutil. Keeps no process objects: their caches would outlive a recycled pid."""

    def vital(self, pid: int) -> Vital:
        """One ``oneshot``. A zombie has no memory, threads or files any more."""
        process = _process(pid)
        try:
            with process.oneshot():
                zombie = process.status() == psutil.STATUS_ZOMBIE
                read, write = (_ENDED, _ENDED) if zombie else _io(process)
                return Vital(
                    start=process.create_time(),
                    label=clean(process.name()),
                    ppid=process.ppid(),
                    zombie=zombie,
                    cpu_s=_cpu(process),
                    rss_bytes=_ENDED if zombie else _rss(process),
                    threads=_ENDED if zombie else _threads(process),
                    read_bytes=read,
                    write_bytes=write,
                )
        except psutil.AccessDenied:
            raise Hidden(pid) from None
        except psutil.NoSuchProcess:
            raise Gone(pid) from None

    def facts(self, pid: int, label: str) -> Facts:
        """Everything slow, once per process."""
        process = _process(pid)
        nothing: list[str] = []
        try:
            with process.oneshot():
                return Facts(
                    started_utc_s=process.create_time(),
                    name=label,
                    command=shortened(tuple(clean(argument) for argument in _allowed(process.cmdline, nothing))),
                    executable=clean(_allowed(process.exe, "")),
                    user=clean(_allowed(process.username, "")),
                )
        except psutil.NoSuchProcess:
            raise Gone(pid) from None

    def modules(self, pid: int) -> str | None:
        """``memory_maps``: on Windows one query per mapped region, so rarely."""
        try:
            return "\n".join(region.path for region in _process(pid).memory_maps(grouped=True))
        except psutil.NoSuchProcess:
            raise Gone(pid) from None
        except (psutil.AccessDenied, OSError):
            return None

    def pids(self) -> list[int]:
        """All pids."""
        return psutil.pids()

    def label(self, pid: int) -> str:
        """The name only."""
        try:
            return clean(_process(pid).name())
        except psutil.NoSuchProcess:
            raise Gone(pid) from None
        except psutil.AccessDenied:
            return ""

    def family(self, pid: int) -> tuple[str, int]:
        """Name and parent."""
        process = _process(pid)
        try:
            return clean(process.name()), process.ppid()
        except psutil.NoSuchProcess:
            raise Gone(pid) from None
        except psutil.AccessDenied:
            return "", 0

    def parents(self, known: Mapping[int, int]) -> dict[int, int]:
        """One snapshot of all on Windows; elsewhere each new process is asked."""
        ask = getattr(_system, "ppid_map", None)
        if ask is not None:
            return dict(ask())
        found = {}
        for pid in psutil.pids():
            try:
                found[pid] = known[pid] if pid in known else psutil.Process(pid).ppid()
            except psutil.Error:
                continue
        return found

    def foreign_pids(self) -> bool:
        """Windows has one list of pids."""
        return False


def _process(pid: int) -> psutil.Process:
    try:
        return psutil.Process(pid)
    except (psutil.NoSuchProcess, ValueError):
        raise Gone(pid) from None


def _allowed(ask: Callable[[], T], otherwise: T) -> T:
    try:
        return ask()
    except (psutil.AccessDenied, psutil.ZombieProcess, KeyError, OSError):  # a user id without a name
        return otherwise


def _cpu(process: psutil.Process) -> float | Missing:
    try:
        times = process.cpu_times()
    except psutil.AccessDenied:
        return _DENIED
    return times.user + times.system


def _rss(process: psutil.Process) -> Value:
    try:
        return checked("process_rss_bytes", process.memory_info().rss, SOURCE)
    except psutil.AccessDenied:
        return _DENIED


def _threads(process: psutil.Process) -> Value:
    try:
        return checked("process_threads", process.num_threads(), SOURCE)
    except psutil.AccessDenied:
        return _DENIED


def _io(process: psutil.Process) -> tuple[Value, Value]:
    try:
        io = process.io_counters()
    except psutil.AccessDenied:
        return _DENIED, _DENIED
    except (AttributeError, NotImplementedError):  # macOS has none
        return _ABSENT, _ABSENT
    return (
        checked("process_read_bytes", io.read_bytes, SOURCE),
        checked("process_write_bytes", io.write_bytes, SOURCE),
    )
