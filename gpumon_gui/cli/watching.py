"""Knows: how samples, live or recorded, go through the watcher, and for how long. Must not know: output formats."""

from __future__ import annotations

import math
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field
from threading import Event
from typing import Final

from gpumon_gui.cli.sampling import PATIENCE_S, no_reading, say, supervised, tell
from gpumon_gui.cli.target import Target
from gpumon_gui.core.clock import Clock
from gpumon_gui.core.errors import UnreadableInput
from gpumon_gui.core.formatters import duration
from gpumon_gui.core.messages import _
from gpumon_gui.core.model import Demand, ProcessPresence, Sample
from gpumon_gui.core.values import Reading
from gpumon_gui.diagnosis.behaviour.energy import Energy
from gpumon_gui.diagnosis.behaviour.machine_facts import machine_here, machine_recorded
from gpumon_gui.diagnosis.behaviour.watcher import Verdict, Watcher
from gpumon_gui.telemetry.recording.base import Recorded
from gpumon_gui.telemetry.sampler_status import SampleReady

#: NVML renews its utilization at most six times a second; four samples a second show a pause of a second well.
USUAL_HZ: Final = 4.0
SLOWEST_HZ: Final = 0.2
#: Time between two verdicts.
JUDGE_S: Final = 1.0
#: A sweep may take this share of the time; with many GPUs and every detail it is read less often.
_SHARE: Final = 0.05
_SLOWEST_S: Final = 1.0
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
    sources: tuple[str, ...] = ()
    energy_j: dict[str, float] = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)


def live(
    target: Target, seconds: float | None, hz: float | None, scenario: str | None, clock: Clock, stop: Event, show: Show
) -> Seen:
    """Watch until the target ends, the time is over or somebody stops it.

    A sampler that falls silent ends the watching of others' programs, with GpumonError where there was no sample at
    all. A program of ours is followed to its end: nobody else waits for it.
    """
    seen = Seen()
    demand = Demand(1.0 / (hz or USUAL_HZ), pids=() if target.pid is None else (target.pid,))
    watcher: Watcher | None = None
    energy = Energy()
    quickest_s = math.inf
    is_silent = False
    with supervised(scenario, demand, clock) as supervisor:
        begin_s = last_s = judged_s = clock.now().monotonic_s
        while not stop.is_set() and not target.ended():
            now_s = clock.now().monotonic_s
            if seconds is not None and (seen.samples or target.is_ours) and now_s - begin_s >= seconds:
                break
            if not is_silent and now_s - last_s > PATIENCE_S + demand.interval_s:
                is_silent = True
                if not target.is_ours and not seen.samples:
                    raise no_reading(PATIENCE_S)
                say(str(no_reading(PATIENCE_S)))
                if not target.is_ours:
                    break
                say(_("the program goes on, and GPUMon waits for its end."))
            for event in supervisor.step(0.1):
                if not isinstance(event, SampleReady):
                    tell(event.status, clock.now().monotonic_s)
                    continue
                sample, last_s = event.sample, clock.now().monotonic_s
                if watcher is None:
                    begin_s = judged_s = last_s
                    watcher = Watcher(target.pid, machine_here(sample), started_utc_s=target.started_utc_s)
                if is_silent:
                    is_silent = False
                    say(_("the sampler gives readings again."))
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
    unseen_s = clock.now().monotonic_s - last_s
    if unseen_s > PATIENCE_S:
        note = _("The sampler gave no reading in the last {time}: what was done then is not known.")
        seen.notes.append(note.format(time=duration(unseen_s)))
    seen.energy_j = energy.named
    return seen


def recorded(source: Recorded, pid: int | None, since_s: float, until_s: float | None, stop: Event, show: Show) -> Seen:
    """Watch a recording from ``since_s`` to ``until_s`` seconds, or to where it is damaged. Raises UnreadableInput if
    nothing can be read before that."""
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
    energy = Energy()
    for index in range(first, last + 1):
        if stop.is_set():
            raise KeyboardInterrupt
        try:
            sample = source.sample(index)
        except UnreadableInput as error:
            if watcher is None:
                raise
            say(str(error))
            note = _("Damaged from second {seconds} on (sample {row} of {rows}); the verdict is about the time before.")
            seen.notes = [note.format(seconds=f"{times[index]:.1f}", row=index + 1, rows=len(source))]
            break
        if watcher is None:
            watcher = Watcher(pid, machine_recorded(sample, source.meta))
        watcher.add(sample)
        energy.add(sample)
        _count(seen, sample)
        if times[index] - judged_s >= step_s and index < last:
            judged_s = float(times[index])
            show(watcher.verdict(), sample, judged_s - float(times[first]))
    if watcher is not None:
        seen.verdict = watcher.verdict()
    seen.energy_j = energy.named
    return seen


def _count(seen: Seen, sample: Sample) -> None:
    if not seen.samples:
        seen.begin_utc_s = sample.utc_s
        seen.sources = _sources(sample)
    seen.samples += 1
    seen.end_utc_s = sample.utc_s
    seen.seconds = max(seen.seconds, sample.utc_s - seen.begin_utc_s)
    seen.foreign = seen.foreign or any(one.presence is ProcessPresence.FOREIGN for one in sample.processes)


def _sources(sample: Sample) -> tuple[str, ...]:
    """Who told the figures, those of GPUs first."""
    parts = (*(device.values for device in sample.devices.values()), sample.host.values)
    return tuple(dict.fromkeys(one.source for values in parts for one in values.values() if isinstance(one, Reading)))


def _paced(demand: Demand, sweep_s: float) -> Demand:
    """Read less often where a sweep takes long."""
    wanted_s = min(_SLOWEST_S, sweep_s / _SHARE)
    return demand if wanted_s <= demand.interval_s else Demand(wanted_s, pids=demand.pids)


def _idle_end(source: Recorded, first: int, last: int) -> int:
    """How many samples at the end have nobody on a GPU, when there was somebody before; 0 where nobody is listed at
    all (nvidia-smi's logs)."""
    with suppress(UnreadableInput):  # damaged: watching ends before, wherever that is
        for back in range(min(_TAIL, last - first)):
            if any(process.uses or process.framework for process in source.sample(last - back).processes):
                return back
    return 0
