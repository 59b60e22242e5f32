"""Knows: a program that holds much GPU memory and does nothing. Must not know: the other kinds."""

from __future__ import annotations

from collections.abc import Iterator

from gpumon_gui.core.formatters import duration, memory
from gpumon_gui.core.messages import N_
from gpumon_gui.core.model import ProcessPresence, ProcessSample, Sample, UseKind
from gpumon_gui.core.values import number
from gpumon_gui.diagnosis.alerts.alert import Figure, Limits, Sign, State

KIND = "held_idle"
TITLE = N_("GPU memory is held, and nothing runs")
TEXT = N_("{program} (PID {pid}) holds {memory} and has done nothing for {time}.")

#: Less than this is a context or a small model; nobody misses it.
LEAST_BYTES = 1 << 30
LEAST_SHARE = 0.05
_BUSY = 0.01
_CPU_BUSY = 0.05


class HeldIdle:
    """Idle on GPU and CPU for the user's time, with everything that was started below it."""

    def __init__(self) -> None:
        self._idle_since_s: dict[tuple[int, float | None], float] = {}

    def look(self, sample: Sample, limits: Limits) -> Iterator[Sign]:
        """Each process with memory on a GPU."""
        seen = set()
        workers = _busy_parents(sample)
        for process in sample.processes:
            held = _held(process, sample)
            identity = (process.pid, process.started_utc_s)
            subject = f"pid {process.pid}"
            if held is None or process.presence is not ProcessPresence.RUNNING:
                if self._idle_since_s.pop(identity, None) is not None:
                    yield Sign(subject, State.OVER)  # it gave its memory back
                continue
            idle = _is_idle(process, sample)
            if idle is None:
                continue
            seen.add(identity)
            if not idle or process.pid in workers:
                self._idle_since_s.pop(identity, None)
                yield Sign(subject, State.OVER)
                continue
            since_s = self._idle_since_s.setdefault(identity, sample.monotonic_s)
            idle_s = sample.monotonic_s - since_s
            if idle_s >= limits.held_idle_s:
                values = {
                    "program": process.name or "?",
                    "pid": str(process.pid),
                    "memory": memory(held),
                    "time": Figure(duration, idle_s),
                }
                yield Sign(subject, State.HOLDS, values, process.uses[0].device, process.pid, idle_s)
        for gone in self._idle_since_s.keys() - seen:
            if gone[0] not in {process.pid for process in sample.processes}:
                del self._idle_since_s[gone]
                yield Sign(f"pid {gone[0]}", State.OVER)  # the next program of that number is another


def _held(process: ProcessSample, sample: Sample) -> float | None:
    """Bytes on the devices, when they are enough to matter."""
    total = 0.0
    for use in process.uses:
        bytes_ = number(use.values.get("process_memory_bytes"))
        info = sample.info(use.device)
        size = None if info is None else number(info.static.get("memory_total_bytes"))
        if bytes_ is None or use.kind is UseKind.GRAPHICS:
            continue
        if bytes_ >= min(LEAST_BYTES, LEAST_SHARE * size if size else LEAST_BYTES):
            total += bytes_
    return total or None


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


def _busy_parents(sample: Sample) -> set[int]:
    """Processes some child of which works: loading data before the first step, compiling."""
    return {
        process.ppid
        for process in sample.processes
        if process.ppid is not None and (number(process.values.get("process_cpu")) or 0.0) >= _CPU_BUSY
    }
