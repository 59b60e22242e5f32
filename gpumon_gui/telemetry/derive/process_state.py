"""Knows: what a process does with the GPU, in words. Must not know: how it is drawn, where samples come from.

The state comes from the last :data:`WINDOW_S` seconds, not from one sample: a launch-bound job reads 14 % with single
samples at 0, and a data loader that starves the GPU reads 17 % plus or minus 12. A state that changed with every
sample would say nothing. Where the driver offers no per-process utilization the answer is "cannot tell", never "idle",
unless the whole device was idle: then nobody computed on it.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Mapping, Set
from dataclasses import dataclass
from enum import StrEnum
from typing import NamedTuple, TypeAlias, TypeVar

from gpumon_gui.core.messages import N_, _
from gpumon_gui.core.model import DeviceKey, ProcessPresence, ProcessSample, ProcessUse, Sample, UseKind
from gpumon_gui.core.reasons import missing_text
from gpumon_gui.core.values import NOT_READ, Missing, Reading, Reason, Value, number

#: Long enough for a pause between two epochs' batches, short enough to see a job stop.
WINDOW_S = 6.0
#: NVML gives whole per cent: 1 % is the smallest sign of work.
BUSY = 0.01
#: A framework needs some seconds for its imports and its first kernel.
STARTUP_S = 10.0
#: A process that keeps less than this share of a core busy is not working on the CPU either.
CPU_BUSY = 0.05


class ProcessState(StrEnum):
    """What a process does. The texts are in :data:`STATE_TEXT`."""

    COMPUTING = "computing"
    GRAPHICS = "graphics"
    USING = "using"
    HOLDING = "holding"
    WORKER = "worker"
    CPU_ONLY = "cpu_only"
    IDLE = "idle"
    STARTING = "starting"
    EXITED = "exited"
    FOREIGN = "foreign"
    UNKNOWN = "unknown"


STATE_TEXT: dict[ProcessState, str] = {
    ProcessState.COMPUTING: N_("Computing on GPU"),
    ProcessState.GRAPHICS: N_("Graphics only"),
    ProcessState.USING: N_("Using the GPU"),
    ProcessState.HOLDING: N_("Holding memory, idle"),
    ProcessState.WORKER: N_("Worker process"),
    ProcessState.CPU_ONLY: N_("On CPU only"),
    ProcessState.IDLE: N_("Idle, not on the GPU"),
    ProcessState.STARTING: N_("Starting"),
    ProcessState.EXITED: N_("Exited, memory still held"),
    ProcessState.FOREIGN: N_("Not visible from here"),
    ProcessState.UNKNOWN: N_("Cannot tell"),
}

STATE_HELP: dict[ProcessState, str] = {
    ProcessState.COMPUTING: N_("The driver saw kernels of this process on the GPU in the last few seconds."),
    ProcessState.GRAPHICS: N_("Draws or decodes with the GPU; it runs no compute kernels."),
    ProcessState.USING: N_("It draws or it computes: the driver counts both together for this process."),
    ProcessState.HOLDING: N_("Device memory is reserved, yet no kernel ran in the last few seconds."),
    ProcessState.WORKER: N_("Started by a process that uses the GPU, for work on the CPU: loading data, for example."),
    ProcessState.CPU_ONLY: N_("A framework is loaded and the CPU works, but no GPU is in use."),
    ProcessState.IDLE: N_("A framework is loaded; neither the GPU nor the CPU works."),
    ProcessState.STARTING: N_("Started a few seconds ago and has not computed yet."),
    ProcessState.EXITED: N_("The process has ended, but the driver still holds its memory."),
    ProcessState.FOREIGN: N_(
        "The driver lists this process, but it runs in another container, in WSL or in another virtual machine."
    ),
    ProcessState.UNKNOWN: N_("Per-process utilization is not offered here."),
}

ProcessId: TypeAlias = tuple[int, float | None]
"""A pid pinned to its start time."""

_Key = TypeVar("_Key")


@dataclass(frozen=True, slots=True)
class Judgement:
    """A state and, where it cannot be told, why not."""

    state: ProcessState
    reason: Missing | None = None


class Busiest(NamedTuple):
    """The highest utilization of a process over its devices, and the device and engine it was seen on."""

    utilization: Value
    device: DeviceKey | None = None
    engine: str = ""


def process_id(process: ProcessSample) -> ProcessId:
    """What names a process in tables and histories."""
    return process.pid, process.started_utc_s


def busiest(uses: Iterable[ProcessUse]) -> Busiest:
    """The busiest device of a process, as Task Manager does it: the maximum, never a sum.

    Missing only when no device gives a number; then with the first reason. No uses at all: not read.
    """
    best: Busiest | None = None
    for use in uses:
        value = use.values.get("process_gpu_utilization", NOT_READ)
        found = number(value)
        known = None if best is None else number(best.utilization)
        if best is None or (found is not None and (known is None or found > known)):
            best = Busiest(value, use.device, use.engine)
    return best or Busiest(NOT_READ)


def total(uses: Iterable[ProcessUse], metric: str) -> Value:
    """The sum of a metric over the devices of a process, without the missing ones. Missing when all are."""
    readings: list[Reading] = []
    reason: Missing | None = None
    for use in uses:
        value = use.values.get(metric, NOT_READ)
        if isinstance(value, Missing):
            reason = reason or value
        elif not isinstance(value.value, str):
            readings.append(value)
    if not readings:
        return reason or NOT_READ
    return Reading(sum(r.value for r in readings if not isinstance(r.value, str)), readings[0].source)


def state_text(judgement: Judgement) -> str:
    """The state in the user's language."""
    return _(STATE_TEXT[judgement.state])


def state_help(judgement: Judgement) -> str:
    """One sentence that says what the state means, or why it cannot be told."""
    if judgement.state is ProcessState.UNKNOWN and judgement.reason is not None:
        return _("Cannot tell: {reason}.").format(reason=missing_text(judgement.reason))
    return _(STATE_HELP[judgement.state])


class StateTracker:
    """Follows processes over samples. Feed every sample once, in order; a step back in time starts over."""

    def __init__(self) -> None:
        self._busy: dict[ProcessId, deque[tuple[float, Value]]] = {}
        self._device: dict[DeviceKey, deque[tuple[float, Value]]] = {}
        self._last_s = float("-inf")

    def clear(self) -> None:
        """Forget everything."""
        self._busy.clear()
        self._device.clear()
        self._last_s = float("-inf")

    def update(self, sample: Sample) -> Mapping[ProcessId, Judgement]:
        """Take a sample; the judgement for each of its processes."""
        now_s = sample.monotonic_s
        if now_s < self._last_s:
            self.clear()
        fresh = now_s > self._last_s
        self._last_s = now_s
        listed = {process_id(process) for process in sample.processes}
        for gone in self._busy.keys() - listed:
            del self._busy[gone]
        for gone_device in self._device.keys() - sample.devices.keys():
            del self._device[gone_device]
        if fresh:
            for key, device in sample.devices.items():
                _remember(self._device, key, now_s, device.values.get("gpu_utilization", NOT_READ))
            for process in sample.processes:
                _remember(self._busy, process_id(process), now_s, busiest(process.uses).utilization)
        on_gpu = {process.pid for process in sample.processes if process.uses}
        return {process_id(process): self._judge(process, sample.utc_s, on_gpu) for process in sample.processes}

    def _judge(self, process: ProcessSample, utc_s: float, on_gpu: Set[int]) -> Judgement:
        if process.presence is ProcessPresence.FOREIGN:
            return Judgement(ProcessState.FOREIGN)
        if process.presence in (ProcessPresence.EXITED, ProcessPresence.ZOMBIE):
            return Judgement(ProcessState.EXITED)
        starting = process.started_utc_s is not None and 0 <= utc_s - process.started_utc_s < STARTUP_S
        if not process.uses and process.ppid in on_gpu:
            return Judgement(ProcessState.WORKER)
        if not process.uses:
            return Judgement(_without_gpu(process, starting))
        if _draws_only(process):
            return Judgement(ProcessState.GRAPHICS)
        seen = self._busy.get(process_id(process), ())
        readings = [found for _time, value in seen if (found := number(value)) is not None]
        if any(found >= BUSY for found in readings):
            return Judgement(ProcessState.USING if _may_draw(process) else ProcessState.COMPUTING)
        if starting:
            return Judgement(ProcessState.STARTING)
        if readings or self._devices_idle(process):
            return Judgement(ProcessState.HOLDING)
        return Judgement(ProcessState.UNKNOWN, _why(value for _time, value in seen))

    def _devices_idle(self, process: ProcessSample) -> bool:
        """Whether every device of the process was known to be idle for the whole window."""
        for device in {use.device for use in process.uses}:
            seen = self._device.get(device, ())
            readings = [number(value) for _time, value in seen]
            if not readings or any(found is None or found > 0 for found in readings):
                return False
        return True


def _without_gpu(process: ProcessSample, starting: bool) -> ProcessState:
    if starting:
        return ProcessState.STARTING
    cpu = number(process.values.get("process_cpu"))
    return ProcessState.IDLE if cpu is not None and cpu < CPU_BUSY else ProcessState.CPU_ONLY


def _draws_only(process: ProcessSample) -> bool:
    """Whether a process uses its devices for pictures only.

    Windows lists every window program as "C+G" or not at all, so there the engine decides: DirectML and games both
    work on the 3D engine, and a loaded framework tells them apart.
    """
    if all(use.kind is UseKind.GRAPHICS for use in process.uses):
        return True
    if process.framework or any(use.kind is UseKind.COMPUTE for use in process.uses):
        return False
    engines = [use.engine for use in process.uses if use.engine]
    return bool(engines) and not any(_computes(engine) for engine in engines)


def _may_draw(process: ProcessSample) -> bool:
    """Whether nothing says that the work seen is compute work: listed as "C+G", no framework, no engine."""
    return not process.framework and all(use.kind is UseKind.BOTH and not use.engine for use in process.uses)


def _computes(engine: str) -> bool:
    """Whether an engine's name, in any driver's spelling, speaks of compute work."""
    folded = engine.lower()
    return any(word in folded for word in ("compute", "cuda", "neural"))


def _why(values: Iterable[Value]) -> Missing:
    """The reason to give: the newest that is more than "not yet"."""
    missing = [value for value in values if isinstance(value, Missing)]
    telling = [value for value in missing if value.reason not in (Reason.FIRST_SAMPLE, Reason.NOT_READ)]
    return (telling or missing or [NOT_READ])[-1]


def _remember(histories: dict[_Key, deque[tuple[float, Value]]], key: _Key, now_s: float, value: Value) -> None:
    history = histories.setdefault(key, deque())
    history.append((now_s, value))
    while history[0][0] < now_s - WINDOW_S:
        history.popleft()
