"""Knows: which programs take a device's time from each other, and how much each gets. Must not know: rules."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

import numpy as np

from gpumon_gui.core.model import DeviceKey, DeviceState, UseKind
from gpumon_gui.diagnosis.behaviour.jobs import belong_together, jobs_of
from gpumon_gui.diagnosis.behaviour.scene import Scene
from gpumon_gui.diagnosis.behaviour.series import mean, rounded
from gpumon_gui.diagnosis.behaviour.window import DeviceTrack, ProcessTrack, Window
from gpumon_gui.diagnosis.behaviour.work import COMPUTE_ENGINES, ONLY_COMPUTE

#: Less of a device's time takes nothing from another program that it would notice: a desktop takes some percent.
_TAKES: Final = 0.1
#: The same of one that may only draw: a desktop on a slow card takes an eighth, a game far more.
_DRAWS: Final = 0.25
#: A program that was not listed for so long at the end has ended; younger ones have not shown yet what they take.
_GONE_S: Final = 3.0

_Program = tuple[int, bool, tuple[ProcessTrack, ...]]


def of_window(scene: Scene) -> Mapping[str, Any]:
    """``devices[]`` that a watched program uses and on which each program's time is counted: ``index``, ``name``,
    ``busy`` (the whole card), ``programs[]`` ``{pid, name, busy, memory_bytes, sure}`` that take a tenth of its time or
    more (a quarter where one may only draw), the one that gets most first; ``sure``: false for one of several processes
    that may as well be one program. Means since the last of them came (``start_utc_s`` to ``end_utc_s``).
    ``elsewhere``: numbers of other GPUs of the same maker that have time left."""
    watched = {key for job in scene.others for key in job.devices}
    programs = _programs(scene.window)
    found = [one for key in scene.window.devices if key in watched and (one := _device(scene, programs, key))]
    return {"devices": found or None}


def _programs(window: Window) -> list[_Program]:
    """Each with its number, whether it is sure to be one, and its processes."""
    found: list[_Program] = []
    for job in jobs_of(window):
        if belong_together(job):
            found.append((job.pid, True, job.processes))
        else:  # the same command, started by one parent
            found += [(track.pid, False, (track,)) for track in job.processes if track.uses]
    listed = {track.pid for _pid, _sure, tracks in found for track in tracks}
    return [*found, *((track.pid, True, (track,)) for track in window.processes if track.pid not in listed)]


def _device(scene: Scene, programs: list[_Program], key: DeviceKey) -> dict[str, Any] | None:
    window, device = scene.window, scene.window.devices[key]
    whole = _takers(window, programs, key, 0)
    if whole is None:
        return None
    start = max((_first(tracks) for (_pid, _sure, tracks), _busy in whole), default=0)
    takers = _takers(window, programs, key, start) or []
    watched = {track.pid for job in scene.others for track in job.processes}
    if not any(track.pid in watched for (_pid, _sure, tracks), _busy in takers for track in tracks):
        takers = []
    busy = device.series.get("gpu_utilization", device.series.get("engine_utilization"))
    return {
        "index": device.info.index,
        "name": device.info.name,
        "busy": rounded(mean(None if busy is None else busy[start:])),
        "programs": [
            {
                "pid": pid,
                "name": next((track.last.name for track in tracks if track.last.name), None),
                "busy": rounded(share),
                "memory_bytes": _sum(tracks, key, "process_memory_bytes", start),
                "sure": sure,
            }
            for (pid, sure, tracks), share in sorted(takers, key=lambda taker: -taker[1])
        ],
        "elsewhere": [
            other.info.index
            for other in window.devices.values()
            if other is not device and other.info.vendor == device.info.vendor and _has_time(other)
        ],
        "start_utc_s": round(float(window.utc_s[start]), 2),
        "end_utc_s": round(float(window.utc_s[-1]), 2),
    }


def _has_time(device: DeviceTrack) -> bool:
    busy = mean(device.series.get("gpu_utilization"))
    return device.state is DeviceState.OK and device.info.parent is None and busy is not None and busy < _TAKES


def _takers(
    window: Window, programs: list[_Program], key: DeviceKey, start: int
) -> list[tuple[_Program, float]] | None:
    """The programs that run and take a good part of the device from ``start`` on; None where that is not counted."""
    counted = False
    found = []
    for program in programs:
        share = _sum(program[2], key, "process_gpu_utilization", start)
        counted = counted or share is not None
        least = _TAKES if any(_surely_computes(track, key) for track in program[2]) else _DRAWS
        if share is not None and share >= least and _runs(window, program[2]):
            found.append((program, share))
    return found if counted else None


def _first(tracks: tuple[ProcessTrack, ...]) -> int:
    there = np.any([track.present for track in tracks], axis=0)
    return int(np.argmax(there))


def _runs(window: Window, tracks: tuple[ProcessTrack, ...]) -> bool:
    """Whether it is still there, and not since a moment only."""
    there = np.flatnonzero(np.any([track.present for track in tracks], axis=0))
    if not there.size:
        return False
    first_s, last_s = window.times_s[there[0]], window.times_s[there[-1]]
    return bool(window.times_s[-1] - last_s < _GONE_S <= window.times_s[-1] - first_s)


def _sum(tracks: tuple[ProcessTrack, ...], key: DeviceKey, metric: str, start: int) -> float | None:
    """Of the processes that compute or draw there: coding video and copying run beside other programs."""
    means = [
        found
        for track in tracks
        if metric in track.uses.get(key, {})
        and _computes(track, key)
        and (found := mean(track.uses[key][metric][start:])) is not None
    ]
    return sum(means) if means else None


def _computes(track: ProcessTrack, key: DeviceKey) -> bool:
    engines = [use.engine.lower() for use in track.last.uses if use.device == key and use.engine]
    return not engines or any(engine.startswith(COMPUTE_ENGINES) for engine in engines)


def _surely_computes(track: ProcessTrack, key: DeviceKey) -> bool:
    """Not one of those that may only draw: Windows lists every window program as both."""
    uses = [use for use in track.last.uses if use.device == key]
    engines = [use.engine.lower() for use in uses if use.engine]
    computes = any(use.kind is UseKind.COMPUTE for use in uses) or any(one.startswith(ONLY_COMPUTE) for one in engines)
    return bool(track.last.framework) or computes
