"""Knows: how busy a job keeps its devices, and when a device's own figures are the job's. Must not know: features.

Figures of a whole device belong to a job only while no other job works on it. Where one does, only what the driver
counts per process is left.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from gpumon_gui.core.model import DeviceKey
from gpumon_gui.diagnosis.behaviour.jobs import Job
from gpumon_gui.diagnosis.behaviour.series import highest, mean, total
from gpumon_gui.diagnosis.behaviour.window import DeviceTrack, Series, Window

#: Another program that keeps the device busy for less than this does not change its figures.
_NEGLIGIBLE = 0.02
#: A program that starts kernels takes more of a core than this.
_RESTING_CORES = 0.03
#: Engines of Windows and DRM that compute; the names are the source's. On Windows CUDA runs on "Compute_n", "Cuda" or,
#: on GPUs without hardware scheduling, on "3D".
ONLY_COMPUTE = ("compute", "cuda")
COMPUTE_ENGINES = (*ONLY_COMPUTE, "3d", "gfx", "render")


@dataclass(frozen=True, slots=True)
class Work:
    """What a job does on one device.

    ``alone``: no other job works there; None when that cannot be told (others hold memory, and nothing is counted per
    process). ``busy`` is the share of time with kernels or copies (NVML's utilization), ``kernels`` the share with
    kernels only (hardware counter, Windows' compute engines), where it is known.
    """

    key: DeviceKey
    track: DeviceTrack
    alone: bool | None
    busy: Series
    kernels: Series | None

    def of_device(self, name: str) -> Series | None:
        """A series of the device, as far as it is the job's."""
        return None if self.alone is False else self.track.series.get(name)


def work_of(window: Window, job: Job, others: Sequence[Job]) -> tuple[Work, ...]:
    """The job's devices, the busiest first; a device of which nothing is known is left out."""
    found = [work for key in job.devices if (work := _on(window, job, others, key)) is not None]
    return tuple(sorted(found, key=lambda work: -(mean(work.busy) or 0.0)))


def busy_anywhere(works: Sequence[Work]) -> Series:
    """The share of time in which at least one device worked (the busiest at each time): GPUs that take turns are busy
    together."""
    return highest([work.busy for work in works], len(works[0].busy) if works else 0)


def engines_of(track: DeviceTrack, words: Sequence[str]) -> Series | None:
    """The busiest of the engines whose names start so."""
    named = [values for name, values in track.engines.items() if name.lower().startswith(tuple(words))]
    return highest(named, len(named[0])) if named else None


def per_process(job: Job, key: DeviceKey, metric: str) -> Series | None:
    """The sum over the job's processes of a figure that is counted per process."""
    parts = [track.uses[key][metric] for track in job.processes if metric in track.uses.get(key, {})]
    return total(parts, len(parts[0])) if parts else None


def _on(window: Window, job: Job, others: Sequence[Job], key: DeviceKey) -> Work | None:
    track = window.devices.get(key)
    if track is None:
        return None
    alone = _alone(others, key)
    own = per_process(job, key, "process_gpu_utilization")
    if alone is False:
        return None if own is None else Work(key, track, False, np.minimum(own, 1.0), None)
    compute = engines_of(track, COMPUTE_ENGINES)
    busy = track.series.get("gpu_utilization")
    if busy is None:
        busy = compute if compute is not None else track.series.get("engine_utilization", own)
    kernels = track.series.get("graphics_activity", compute)
    if busy is None:
        busy = kernels
    return None if busy is None else Work(key, track, alone, np.minimum(busy, 1.0), kernels)


def _alone(others: Sequence[Job], key: DeviceKey) -> bool | None:
    sure = True
    for other in others:
        if key not in other.devices:
            continue
        theirs = mean(per_process(other, key, "process_gpu_utilization"))
        if theirs is not None and theirs >= _NEGLIGIBLE:
            return False
        sure = sure and (theirs is not None or _rests(other))
    return True if sure else None


def _rests(job: Job) -> bool:
    """Whether none of its processes has work for the CPU, as far as is known: nothing starts kernels then."""
    loads = [mean(track.series.get("process_cpu")) for track in job.processes if track.uses]
    return bool(loads) and all(load is not None and load < _RESTING_CORES for load in loads)
