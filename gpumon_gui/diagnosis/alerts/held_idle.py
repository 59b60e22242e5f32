"""Knows: a program that holds much GPU memory and does nothing. Must not know: the other kinds."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from gpumon_gui.core.formatters import duration, memory
from gpumon_gui.core.messages import N_
from gpumon_gui.core.model import ProcessPresence, ProcessSample, Sample, UseKind
from gpumon_gui.core.values import number
from gpumon_gui.diagnosis.alerts.alert import GONE_S, Figure, Limits, Sign, State

KIND = "held_idle"
TITLE = N_("GPU memory is held, and nothing runs")
TEXT = N_("{program} (PID {pid}) holds {memory} and has done nothing for {time}.")

#: Less than this is a context or a small model; nobody misses it.
LEAST_BYTES = 1 << 30
LEAST_SHARE = 0.05
_BUSY = 0.01
_CPU_BUSY = 0.05

#: A process is its number and its start: numbers are used again.
_Identity = tuple[int, float | None]


@dataclass(slots=True)
class _Idle:
    """Since when a process is idle, and when that was seen last."""

    since_s: float
    seen_s: float


class HeldIdle:
    """Idle on GPU and CPU for the user's time, with everything that was started below it."""

    def __init__(self) -> None:
        self._idle: dict[_Identity, _Idle] = {}

    def look(self, sample: Sample, limits: Limits) -> Iterator[Sign]:
        """Each process with memory on a GPU."""
        now_s = sample.monotonic_s
        working = _above_workers(sample)
        for process in sample.processes:
            identity = (process.pid, process.started_utc_s)
            subject = f"pid {process.pid}"
            held = _held(process, sample) if process.presence is ProcessPresence.RUNNING else 0.0
            is_idle = _is_idle(process, sample)
            if held is None or (held and is_idle is None):
                continue
            if not held or not is_idle or process.pid in working:
                if self._idle.pop(identity, None) is not None:
                    yield Sign(subject, State.OVER)
                continue
            idle = self._idle.setdefault(identity, _Idle(now_s, now_s))
            idle.seen_s, idle_s = now_s, now_s - idle.since_s
            if idle_s >= limits.held_idle_s:
                values = {
                    "program": process.name or "?",
                    "pid": str(process.pid),
                    "memory": memory(held),
                    "time": Figure(duration, idle_s),
                }
                yield Sign(subject, State.HOLDS, values, process.uses[0].device, process.pid, idle_s)
        unseen = [identity for identity, idle in self._idle.items() if now_s - idle.seen_s >= GONE_S]
        for identity in unseen:
            del self._idle[identity]
            yield Sign(f"pid {identity[0]}", State.OVER)  # it may have worked; the next one of that number is another


def _held(process: ProcessSample, sample: Sample) -> float | None:
    """Bytes on the devices where they are enough to matter; None: nobody can tell."""
    total, is_known = 0.0, True
    for use in process.uses:
        bytes_ = number(use.values.get("process_memory_bytes"))
        info = sample.info(use.device)
        size = None if info is None else number(info.static.get("memory_total_bytes"))
        if use.kind is UseKind.GRAPHICS:
            continue
        if bytes_ is None:
            is_known = False
        elif bytes_ >= min(LEAST_BYTES, LEAST_SHARE * size if size else LEAST_BYTES):
            total += bytes_
    return total if total or is_known else None


def _is_idle(process: ProcessSample, sample: Sample) -> bool | None:
    """None: nobody can tell."""
    cpu = number(process.values.get("process_cpu"))
    busy = [number(use.values.get("process_gpu_utilization")) for use in process.uses]
    if any(share is None for share in busy):
        # Without figures per process an idle device says it too.
        devices = [sample.devices.get(use.device) for use in process.uses]
        busy = [None if one is None else number(one.values.get("gpu_utilization")) for one in devices]
    if cpu is None or any(share is None for share in busy):
        return None
    return cpu < _CPU_BUSY and all(share is not None and share < _BUSY for share in busy)


def _above_workers(sample: Sample) -> set[int]:
    """Processes below which something works: loading data before the first step, compiling."""
    parents = {process.pid: process.ppid for process in sample.processes}
    found: set[int] = set()
    for process in sample.processes:
        if (number(process.values.get("process_cpu")) or 0.0) < _CPU_BUSY:
            continue
        above = process.ppid
        while above is not None and above not in found:
            found.add(above)
            above = parents.get(above)
    return found
