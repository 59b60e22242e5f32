"""Knows: CPU, memory and swap of the machine. Must not know: processes."""

from __future__ import annotations

import os
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from gpumon_gui.core.clock import Instant
from gpumon_gui.core.model import HostSample
from gpumon_gui.core.values import Missing, Reason, Value, checked

SOURCE = "host"
FIRST = Missing(Reason.FIRST_SAMPLE, SOURCE)

#: The clocks of people and of arithmetic drift apart by this much only when the machine slept in between.
SUSPEND_S = 2.0
#: A core cannot have counted more than the time that passed, but for the kernel's tick (10 ms) and a late read.
SLACK_S = 0.5
#: Shorter than two kernel ticks of 10 ms there is nothing to divide by.
SHORTEST_S = 0.02
#: Unit of the kernel's CPU times: 1/100 s on every usual build.
TICKS_PER_S = float(os.sysconf("SC_CLK_TCK")) if sys.platform != "win32" else 100.0
_SWAP_EVERY_S = 5.0  # psutil asks Windows' performance counters for it


@dataclass(frozen=True, slots=True)
class _Times:
    """Seconds (or ticks) since boot: busy and altogether, per core."""

    at: Instant
    cores: tuple[tuple[float, float], ...]


class HostMeter:
    """Reads the machine's load; keeps the counters of the read before. ``proc`` is where Linux' files are."""

    def __init__(self, proc: Path | None) -> None:
        self._proc = proc
        self._before: _Times | None = None
        self._last: tuple[Value, tuple[float, ...]] = (FIRST, ())
        self._swap: tuple[float, tuple[Value, Value]] | None = None

    def read(self, now: Instant) -> HostSample:
        """CPU busy shares since the read before, memory now. Never raises.

        CPU is Missing(FIRST_SAMPLE) in the first read and in the first after a suspend or when cores came or went.
        Memory in use is the total less what the system could give to a program that asks (as Task Manager counts).
        """
        values: dict[str, Value] = {}
        try:
            values["cpu_utilization"], cores = self._cpu(now)
        except (OSError, ValueError) as error:
            values["cpu_utilization"], cores = failed(error), ()
        try:
            values.update(self._memory(now))
        except (OSError, ValueError, KeyError) as error:
            for metric in ("ram_used_bytes", "ram_total_bytes", "swap_used_bytes", "swap_total_bytes"):
                values.setdefault(metric, failed(error))
        return HostSample(values, cores)

    def forget(self) -> None:
        """The next read is a first one."""
        self._before = None
        self._last = (FIRST, ())

    def _cpu(self, now: Instant) -> tuple[Value, tuple[float, ...]]:
        times = _Times(now, self._cores())
        before = self._before
        elapsed = now.monotonic_s - before.at.monotonic_s if before is not None else 0.0
        if before is not None and elapsed < SHORTEST_S:
            return self._last
        self._before = times
        self._last = _load(before, times, elapsed) if before is not None else (FIRST, ())
        return self._last

    def _cores(self) -> tuple[tuple[float, float], ...]:
        if self._proc is not None:
            return _stat_cores((self._proc / "stat").read_bytes())
        return tuple(_portable().cores())

    def _memory(self, now: Instant) -> dict[str, Value]:
        if self._proc is not None:
            kib = _meminfo((self._proc / "meminfo").read_bytes())
            used = kib[b"MemTotal"] - kib[b"MemAvailable"]
            raw = {
                "ram_used_bytes": used,
                "ram_total_bytes": kib[b"MemTotal"],
                "swap_used_bytes": kib[b"SwapTotal"] - kib[b"SwapFree"],
                "swap_total_bytes": kib[b"SwapTotal"],
            }
            return {metric: checked(metric, number * 1024, SOURCE) for metric, number in raw.items()}
        used, total = _portable().memory()
        if self._swap is None or now.monotonic_s - self._swap[0] >= _SWAP_EVERY_S:
            self._swap = (now.monotonic_s, _swap())
        swap_used, swap_total = self._swap[1]
        return {
            "ram_used_bytes": checked("ram_used_bytes", used, SOURCE),
            "ram_total_bytes": checked("ram_total_bytes", total, SOURCE),
            "swap_used_bytes": swap_used,
            "swap_total_bytes": swap_total,
        }


def _portable() -> Any:
    """psutil takes 3 MB, and Linux does without."""
    from gpumon_gui.telemetry.host import portable_machine

    return portable_machine


def _swap() -> tuple[Value, Value]:
    """Used and total."""
    try:
        used, total = _portable().swap()
    except (OSError, RuntimeError) as error:
        return failed(error), failed(error)
    return checked("swap_used_bytes", used, SOURCE), checked("swap_total_bytes", total, SOURCE)


def failed(error: Exception) -> Missing:
    """Why a read of the system failed."""
    if isinstance(error, PermissionError):
        return Missing(Reason.NO_PERMISSION, SOURCE)
    return Missing(Reason.ERROR, SOURCE, type(error).__name__)


def linux_proc() -> Path | None:
    """Where Linux' process files are; None elsewhere."""
    return Path("/proc") if sys.platform == "linux" else None


def _load(before: _Times, now: _Times, elapsed: float) -> tuple[Value, tuple[float, ...]]:
    slept = abs((now.at.utc_s - before.at.utc_s) - elapsed) > SUSPEND_S
    if slept or len(before.cores) != len(now.cores):
        return Missing(Reason.FIRST_SAMPLE, SOURCE, "suspend" if slept else "cores changed"), ()
    cores = []
    busy_sum = total_sum = 0.0
    for (busy_was, total_was), (busy, total) in zip(before.cores, now.cores, strict=True):
        spent = total - total_was
        # Single counters may go back by a little (Linux: iowait); a whole core that does was reset.
        if spent < 0.0 or spent > elapsed * 1.2 + SLACK_S:
            return Missing(Reason.IMPLAUSIBLE, SOURCE, "cpu times"), ()
        worked = min(max(busy - busy_was, 0.0), spent)
        busy_sum += worked
        total_sum += spent
        cores.append(worked / spent if spent > 0.0 else 0.0)
    if total_sum <= 0.0:
        return FIRST, ()
    return checked("cpu_utilization", busy_sum / total_sum, SOURCE), tuple(cores)


def _stat_cores(stat: bytes) -> tuple[tuple[float, float], ...]:
    """``/proc/stat``: user nice system idle iowait irq softirq steal guest guest_nice, in ticks. Guest time is part of
    user time and not added again (kernel: Documentation/filesystems/proc.rst). The rest of the file, long on large
    machines, is not looked at."""
    cores = []
    for line in stat.split(b"\nintr", 1)[0].split(b"\n"):
        if line.startswith(b"cpu") and line[3:4].isdigit():
            ticks = [int(field) for field in line.split()[1:9]]
            total = sum(ticks)
            idle = ticks[3] + (ticks[4] if len(ticks) > 4 else 0)
            cores.append(((total - idle) / TICKS_PER_S, total / TICKS_PER_S))
    if not cores:
        raise ValueError("no cores in /proc/stat")
    return tuple(cores)


def _meminfo(text: bytes) -> dict[bytes, int]:
    found = {}
    for line in text.split(b"\n"):
        key, _, rest = line.partition(b":")
        if key in (b"MemTotal", b"MemAvailable", b"SwapTotal", b"SwapFree"):
            found[key] = int(rest.split()[0])
    return found
