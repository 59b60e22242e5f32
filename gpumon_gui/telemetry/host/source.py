"""Knows: CPU, memory and the processes behind pids. Must not know: GPUs, or which source listed the pids."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Literal

from gpumon_gui.core.clock import Instant
from gpumon_gui.core.model import HostSample, ProcessSample, ProcessUse
from gpumon_gui.telemetry.host.backend import Backend
from gpumon_gui.telemetry.host.cpu import SOURCE, HostMeter, linux_proc
from gpumon_gui.telemetry.host.processes import Processes
from gpumon_gui.telemetry.host.procfs import Procfs


class HostSource:
    """The machine apart from its GPUs. ``proc``: where Linux' process files are; None asks psutil (other systems)."""

    name = SOURCE

    def __init__(self, proc: Path | Literal["system"] | None = "system") -> None:
        self._proc = linux_proc() if proc == "system" else proc
        self._meter = HostMeter(self._proc)
        self._processes = self._new_processes()

    def open(self) -> None:
        """Start anew: the next reads are first ones."""
        self._meter.forget()
        self._processes = self._new_processes()

    def close(self) -> None:
        """Forget everything; never raises."""
        self.open()

    def read_host(self, now: Instant) -> HostSample:
        """CPU per core, RAM and swap. CPU is Missing(FIRST_SAMPLE) in the first read and after a suspend."""
        return self._meter.read(now)

    def describe(
        self, uses: tuple[ProcessUse, ...], now: Instant, *, cpu_processes: bool, pids: tuple[int, ...] = ()
    ) -> tuple[ProcessSample, ...]:
        """One sample per pid, with everything the system says about it; never raises for one process.

        ``cpu_processes``: also running Python programs that have loaded a framework but are not among ``uses``.
        ``pids``: also these, as long as they live, with everything that was started below them.
        ``process_cpu`` is a fraction of one core; read and write bytes are counters. What may not be read is
        Missing(NO_PERMISSION); of a process that ended, Missing(NOT_READ).
        """
        return self._processes.describe(uses, now, cpu_processes=cpu_processes, pids=pids)

    def _new_processes(self) -> Processes:
        return Processes(_backend(self._proc))


def _backend(proc: Path | None) -> Backend:
    if proc is not None:
        return Procfs(os.fspath(proc))
    from gpumon_gui.telemetry.host.portable import Portable  # psutil takes 3 MB, and Linux does without

    return Portable()
