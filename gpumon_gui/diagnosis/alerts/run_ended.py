"""Knows: the end of a run on the GPU: how long it took, what it used. Must not know: the other kinds."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

from gpumon_gui.core.formatters import took
from gpumon_gui.core.messages import N_
from gpumon_gui.core.model import (
    DeviceKey,
    DeviceState,
    ProcessPresence,
    ProcessSample,
    Sample,
    SourceState,
    UseKind,
)
from gpumon_gui.core.values import number
from gpumon_gui.diagnosis.alerts.alert import GONE_S, Figure, Limits, Said, Sign, State
from gpumon_gui.diagnosis.behaviour.energy import Energy

KIND = "run_ended"
TITLE = N_("A run on the GPU ended")
TEXT = N_("{program} (PID {pid}) ended after {time}. {energy}")

ENERGY = N_("The GPU used {energy} meanwhile.")
_PARTLY = N_("The GPU used {energy} in the {time} that were seen.")
_SHARED = N_("Other programs used the GPU too, so its energy is not known.")
_BUSY = 0.01
_WH = 3600.0
_BLIND = (DeviceState.LOST, DeviceState.NOT_ANSWERING)
_WORKING = (SourceState.OK, SourceState.SLOW, SourceState.RESTING)
#: So much of a run was seen: its energy is that of the run.
_WHOLE = 0.98


@dataclass(slots=True)
class _Run:
    name: str
    pid: int
    first_utc_s: float
    seen_utc_s: float
    last_s: float
    last_utc_s: float
    computed: bool = False
    shared: bool = False
    energy: Energy = field(default_factory=Energy)
    devices: set[DeviceKey] = field(default_factory=set)


class RunEnded:
    """A program that computed is gone."""

    def __init__(self) -> None:
        self._runs: dict[tuple[int, float | None], _Run] = {}
        self._before_s: float | None = None

    def look(self, sample: Sample, limits: Limits) -> Iterator[Sign]:
        """The runs that ended with this sample."""
        before_s, self._before_s = self._before_s, sample.monotonic_s
        if before_s is not None and sample.monotonic_s < before_s:
            self._runs.clear()
        computing = [process for process in sample.processes if _may_compute(process)]
        for process in computing:
            run = self._runs.get((process.pid, process.started_utc_s))
            if run is None:
                begin = process.started_utc_s or sample.utc_s
                run = _Run(process.name, process.pid, begin, sample.utc_s, sample.monotonic_s, sample.utc_s)
                self._runs[process.pid, process.started_utc_s] = run
            self._follow(run, process, computing, sample)
        for identity, run in list(self._runs.items()):
            if not _shows_processes(sample, run.devices):
                run.last_s = sample.monotonic_s
                continue
            if sample.monotonic_s - run.last_s < GONE_S:
                continue
            del self._runs[identity]
            took_s = run.last_utc_s - run.first_utc_s
            if run.computed and took_s >= limits.run_s:
                device = next(iter(run.devices), None)
                seconds = sample.utc_s - run.first_utc_s
                yield Sign(f"pid {run.pid}", State.HAPPENED, _values(run, took_s), device, seconds=seconds)

    @staticmethod
    def _follow(run: _Run, process: ProcessSample, computing: list[ProcessSample], sample: Sample) -> None:
        run.name = process.name or run.name
        run.last_s, run.last_utc_s = sample.monotonic_s, sample.utc_s
        for use in process.uses:
            run.devices.add(use.device)
            if (number(use.values.get("process_gpu_utilization")) or 0.0) >= _BUSY:
                run.computed = True
            alone = not any(
                other is not process and any(theirs.device == use.device for theirs in other.uses)
                for other in computing
            )
            device = sample.devices.get(use.device)
            utilization = None if device is None else number(device.values.get("gpu_utilization"))
            if alone and utilization is not None and utilization >= _BUSY:
                run.computed = True  # nobody else can have been it
            run.shared = run.shared or not alone
        run.energy.add(sample, run.devices)


def _shows_processes(sample: Sample, devices: set[DeviceKey]) -> bool:
    """Whether a process that uses these devices would be in the sample. Who cannot be seen (the GPU is lost, its driver
    does not answer) has not ended by that."""
    health = {each.name: each.state for each in sample.health}
    for key in devices:
        device, info = sample.devices.get(key), sample.info(key)
        if device is None or info is None or device.state in _BLIND:
            return False
        if any(health.get(source, SourceState.OK) not in _WORKING for source in info.sources):
            return False
    return True


def _may_compute(process: ProcessSample) -> bool:
    return (
        process.presence in (ProcessPresence.RUNNING, ProcessPresence.FOREIGN)
        and any(use.kind in (UseKind.COMPUTE, UseKind.BOTH) for use in process.uses)
        and (bool(process.framework) or all(use.kind is UseKind.COMPUTE for use in process.uses))
    )


def _values(run: _Run, took_s: float) -> dict[str, object]:
    joules = run.energy.total_j
    energy: Said | None
    if run.shared:
        energy = Said(_SHARED)
    elif joules:
        seen_s = run.last_utc_s - run.seen_utc_s
        whole = seen_s >= _WHOLE * took_s
        energy = Said(ENERGY if whole else _PARTLY, {"energy": f"{joules / _WH:,.1f} Wh", "time": Figure(took, seen_s)})
    else:
        energy = None
    return {"program": run.name or "?", "pid": str(run.pid), "time": Figure(took, took_s), "energy": energy or ""}
