"""Knows: what is left of the processes when the host source is left out (it hung). Must not know: psutil, /proc."""

from __future__ import annotations

from gpumon_gui.core.clock import Instant
from gpumon_gui.core.model import HostSample, ProcessPresence, ProcessSample, ProcessUse


class AbsentHost:
    """Stands in for ``telemetry.host.HostSource``: the pids the GPU drivers list, without anything about them."""

    def open(self) -> None:
        """Nothing to open."""

    def close(self) -> None:
        """Nothing to close."""

    def read_host(self, now: Instant) -> HostSample:
        """No figure of the machine."""
        return HostSample()

    def describe(
        self, uses: tuple[ProcessUse, ...], now: Instant, *, cpu_processes: bool, pids: tuple[int, ...] = ()
    ) -> tuple[ProcessSample, ...]:
        """One nameless process per pid."""
        by_pid: dict[int, list[ProcessUse]] = {}
        for use in uses:
            by_pid.setdefault(use.pid, []).append(use)
        return tuple(
            ProcessSample(pid, None, "", ProcessPresence.RUNNING, uses=tuple(found)) for pid, found in by_pid.items()
        )
