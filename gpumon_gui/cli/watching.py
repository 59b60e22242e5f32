"""Knows: how samples, live or recorded, go through the watcher, and for how long. Must not know: output formats."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from threading import Event
from typing import Any, Final

from gpumon_gui.cli.sampling import supervised, tell
from gpumon_gui.cli.target import Target
from gpumon_gui.core.clock import Clock
from gpumon_gui.core.errors import GpumonError
from gpumon_gui.core.messages import _
from gpumon_gui.core.model import Demand, ProcessPresence, Sample
from gpumon_gui.core.values import number, text
from gpumon_gui.diagnosis.behaviour.watcher import Verdict, Watcher
from gpumon_gui.telemetry.recording.base import Recorded
from gpumon_gui.telemetry.supervisor import SampleReady

#: NVML renews its utilization at most six times a second; four samples a second show a pause of a second well.
USUAL_HZ: Final = 4.0
FASTEST_HZ, SLOWEST_HZ = 10.0, 0.2
#: Time between two verdicts.
JUDGE_S: Final = 1.0
#: A sweep may take this share of the time; with many GPUs and every detail it is read less often.
_SHARE: Final = 0.05
_SLOWEST_S: Final = 1.0
#: Without a single sample for so long watching is given up.
PATIENCE_S: Final = 60.0
#: A long recording is judged at this many places at most.
_MOST_VERDICTS: Final = 300
_RECORDED_JUDGE_S: Final = 2.0
#: How far back from its end a recording is looked at for a program that was still there.
_TAIL: Final = 2000

Show = Callable[[Verdict | None, Sample, float], None]


@dataclass(slots=True)
class Seen:
    """What became of watching: the last verdict, None when the program ended before anything could be seen."""

    verdict: Verdict | None = None
    begin_utc_s: float = 0.0
    end_utc_s: float = 0.0
    seconds: float = 0.0
    samples: int = 0
    foreign: bool = False
    energy_j: dict[str, float] = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)


def live(
    target: Target, seconds: float | None, hz: float | None, scenario: str | None, clock: Clock, stop: Event, show: Show
) -> Seen:
    """Watch until the target ends, the time is over or somebody stops it. Raises GpumonError when no sample comes."""
    seen = Seen()
    demand = Demand(1.0 / (hz or USUAL_HZ), pids=() if target.pid is None else (target.pid,))
    watcher: Watcher | None = None
    energy = _Energy()
    quickest_s = math.inf
    with supervised(scenario, demand, clock) as supervisor:
        begin_s = last_s = judged_s = clock.now().monotonic_s
        while not stop.is_set() and not target.ended():
            now_s = clock.now().monotonic_s
            if seconds is not None and seen.samples and now_s - begin_s >= seconds:
                break
            if now_s - last_s > PATIENCE_S + demand.interval_s:
                raise GpumonError(_("the sampler gave no reading within {seconds} s.").format(seconds=60))
            for event in supervisor.step(0.1):
                if not isinstance(event, SampleReady):
                    tell(event.status, clock.now().monotonic_s)
                    continue
                sample, last_s = event.sample, clock.now().monotonic_s
                if watcher is None:
                    begin_s = judged_s = last_s
                    watcher = Watcher(target.pid, given_here(sample), started_utc_s=target.started_utc_s)
                watcher.add(sample)
                energy.add(sample)
                _count(seen, sample)
                quickest_s = min(quickest_s, sample.cost.sweep_s)
                if hz is None and seen.samples == 8:
                    demand = _paced(demand, quickest_s)
                    supervisor.set_demand(demand)
                if last_s - judged_s >= JUDGE_S:
                    judged_s = last_s
                    seen.verdict = watcher.verdict()
                    show(seen.verdict, sample, last_s - begin_s)
    if watcher is not None:
        seen.verdict = watcher.verdict()
        if not sample.inventory:
            seen.notes.append(_("GPUMon sees no GPU in this machine; gpumon diagnose says why."))
    seen.energy_j = energy.joules
    return seen


def recorded(source: Recorded, pid: int | None, since_s: float, until_s: float | None, stop: Event, show: Show) -> Seen:
    """Watch a recording from ``since_s`` to ``until_s`` seconds. Raises UnreadableInput where it is damaged."""
    seen = Seen()
    times = source.times
    first = source.index_at(since_s) if since_s <= times[-1] else len(source) - 1
    last = len(source) - 1 if until_s is None else source.index_at(until_s)
    idle = _idle_end(source, first, last) if until_s is None else 0
    if idle:
        seen.notes.append(
            _("After {seconds} s nothing used a GPU any more; the verdict is about the time before.").format(
                seconds=round(float(times[last - idle] - times[0]))
            )
        )
        last -= idle
    step_s = max(_RECORDED_JUDGE_S, float(times[last] - times[first]) / _MOST_VERDICTS)
    judged_s = float(times[first])
    watcher: Watcher | None = None
    for index in range(first, last + 1):
        if stop.is_set():
            raise KeyboardInterrupt
        sample = source.sample(index)
        if watcher is None:
            watcher = Watcher(pid, given_from(sample, source.meta))
        watcher.add(sample)
        _count(seen, sample)
        if times[index] - judged_s >= step_s and index < last:
            judged_s = float(times[index])
            show(watcher.verdict(), sample, judged_s - float(times[first]))
    if watcher is not None:
        seen.verdict = watcher.verdict()
    return seen


def given_here(sample: Sample) -> dict[str, Any]:
    """Facts about this machine, so that advice fits it; cheap, nothing is run."""
    from gpumon_gui.diagnosis.live_gateway import LiveGateway  # only loaded when asked for
    from gpumon_gui.diagnosis.probes.system import probe

    found = dict(probe(LiveGateway(), Event()).facts)
    return {**found, **_of_devices(sample), "host": {**found.get("host", {}), **_host(sample)}}


def given_from(sample: Sample, meta: Mapping[str, str]) -> dict[str, Any]:
    """The same from what a recorder noted."""
    system = meta.get("system", "").lower()
    family = next((name for name in ("windows", "linux") if system.startswith(name)), None)
    facts = _of_devices(sample)
    host = _host(sample)
    return {**facts, **({"os": {"family": family}} if family else {}), **({"host": host} if host else {})}


def _of_devices(sample: Sample) -> dict[str, Any]:
    gpus = []
    driver = None
    for info in sample.inventory:
        if info.parent is not None:
            continue
        gpu = {
            "name": info.name,
            "vendor": info.vendor or None,
            "memory_total_bytes": number(info.static.get("memory_total_bytes")),
            "compute_capability": text(info.static.get("compute_capability")),
            "driver_model": text(info.static.get("driver_model")),
        }
        gpus.append({key: value for key, value in gpu.items() if value is not None})
        if info.vendor == "nvidia" and driver is None:
            driver = text(info.static.get("driver_version"))
    return {**({"gpus": gpus} if gpus else {}), **({"driver": {"version": driver}} if driver else {})}


def _host(sample: Sample) -> dict[str, Any]:
    facts: dict[str, Any] = {"cpu_count": len(sample.host.cores) or None}
    total = number(sample.host.values.get("ram_total_bytes"))
    facts["memory_total_bytes"] = int(total) if total is not None else None
    return {key: value for key, value in facts.items() if value is not None}


def _count(seen: Seen, sample: Sample) -> None:
    if not seen.samples:
        seen.begin_utc_s = sample.utc_s
    seen.samples += 1
    seen.end_utc_s = sample.utc_s
    seen.seconds = max(seen.seconds, sample.utc_s - seen.begin_utc_s)
    seen.foreign = seen.foreign or any(one.presence is ProcessPresence.FOREIGN for one in sample.processes)


def _paced(demand: Demand, sweep_s: float) -> Demand:
    """Read less often where a sweep takes long."""
    wanted_s = min(_SLOWEST_S, sweep_s / _SHARE)
    return demand if wanted_s <= demand.interval_s else Demand(wanted_s, pids=demand.pids)


def _idle_end(source: Recorded, first: int, last: int) -> int:
    """How many samples at the end have nobody on a GPU, when there was somebody before; 0 where nobody is listed at
    all (nvidia-smi's logs)."""
    for back in range(min(_TAIL, last - first)):
        if any(process.uses or process.framework for process in source.sample(last - back).processes):
            return back
    return 0


class _Energy:
    """Joules per device: what its own counter rose by, else power times time."""

    def __init__(self) -> None:
        self._before: dict[str, tuple[float, float | None]] = {}  # time, watts
        self._counter: dict[str, tuple[float, float]] = {}  # first, last
        self._by_power: dict[str, float] = {}

    def add(self, sample: Sample) -> None:
        """Take a sample."""
        for info in sample.inventory:
            device = sample.devices.get(info.key)
            if device is None or info.parent is not None:
                continue
            name = f"GPU {info.index}"
            counted, power = number(device.values.get("energy_j")), number(device.values.get("power_w"))
            if counted is not None:
                first, last = self._counter.get(name, (counted, counted))
                self._counter[name] = (first if counted >= last else counted, counted)  # a driver that was reloaded
            before_s, before_w = self._before.get(name, (sample.monotonic_s, None))
            self._before[name] = (sample.monotonic_s, power)
            if power is not None and before_w is not None:
                spent = (power + before_w) / 2 * (sample.monotonic_s - before_s)
                self._by_power[name] = self._by_power.get(name, 0.0) + spent

    @property
    def joules(self) -> dict[str, float]:
        """By device; one of which nothing is known is not there."""
        counted = {name: last - first for name, (first, last) in self._counter.items() if last > first}
        return {**self._by_power, **counted}
