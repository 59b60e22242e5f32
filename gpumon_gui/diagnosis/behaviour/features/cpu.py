"""Knows: what the CPU does for a job: the program itself, its workers, the disk. Must not know: the GPU, rules."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

import numpy as np

from gpumon_gui.diagnosis.behaviour.scene import Scene
from gpumon_gui.diagnosis.behaviour.series import mean, rounded, share, total
from gpumon_gui.diagnosis.behaviour.window import ProcessTrack

#: A process at work; less is housekeeping.
_AT_WORK: Final = 0.05
#: A process whose one core is full. Tick accounting makes 0.9 of it, and a worker hands its batch over between two.
FULL_CORE: Final = 0.85


def of_job(scene: Scene) -> Mapping[str, Any]:
    """``cores``: CPU of all processes of the job (1.0: one core), ``cores_high`` its 90 % level; ``main``: of the
    busiest process that uses a GPU (or of the program itself), ``main_full``: share of samples in which that is a core
    or more.

    ``workers``: processes of the job without a GPU that work at a time, ``workers_listed`` all of them,
    ``workers_cores`` their CPU, ``workers_full`` how many of them have their core full, ``worker_high`` the busiest
    one's CPU.

    ``age_s``: of the main process at the end of the window (absent where its start is not known).

    ``machine``: busy share of all cores, ``machine_cores`` how many there are, ``others`` cores busy with something
    else than this job. ``read_bytes_per_s``, ``write_bytes_per_s``: of all processes of the job, ``threads`` of the
    main one.
    """
    if scene.job is None or not scene.job.processes:
        return {}
    length = len(scene.window)
    known = [track for track in scene.job.processes if mean(track.series.get("process_cpu")) is not None]
    if not known:
        return _machine(scene, None)
    on_gpu = [track for track in known if track.uses]
    programs = on_gpu or [track for track in known if track.pid == scene.job.pid] or known[:1]
    main = max(programs, key=lambda track: mean(track.series["process_cpu"]) or 0.0)
    workers = [track for track in known if not track.uses and track not in programs]
    at_work = [track for track in workers if _load(track) >= _AT_WORK]
    full = [track for track in workers if _load(track) >= FULL_CORE]
    cores = total([track.series["process_cpu"] for track in known], length)
    there = cores[np.isfinite(cores)]
    return {
        "cores": rounded(mean(cores), 2),
        "cores_high": rounded(float(np.quantile(there, 0.9)), 2),
        "main": rounded(mean(main.series["process_cpu"]), 2),
        "main_full": rounded(share(main.series["process_cpu"], 0.9), 2),
        "programs": len(programs),
        "age_s": _age(main, float(scene.window.utc_s[-1])),
        "threads": rounded(mean(main.series.get("process_threads")), 0),
        "workers": _at_once(at_work),
        "workers_listed": _at_once(workers),
        "workers_cores": rounded(_together(workers, length), 2),
        "workers_full": _at_once(full),
        "worker_high": rounded(max(map(_load, workers)), 2) if workers else None,
        "read_bytes_per_s": _rate(scene.job.processes, "process_read_bytes_per_s", length),
        "write_bytes_per_s": _rate(scene.job.processes, "process_write_bytes_per_s", length),
        **_machine(scene, mean(cores)),
    }


def _age(track: ProcessTrack, now_utc_s: float) -> float | None:
    started = track.last.started_utc_s
    return None if started is None else rounded(max(0.0, now_utc_s - started), 0)


def _load(track: ProcessTrack) -> float:
    """Cores, of the time it was there: some programs start their workers anew for each epoch."""
    return mean(track.series["process_cpu"]) or 0.0


def _at_once(tracks: Sequence[ProcessTrack]) -> int:
    """How many there were at a time, mostly."""
    return round(float(np.mean(np.sum([track.present for track in tracks], axis=0)))) if tracks else 0


def _together(tracks: Sequence[ProcessTrack], length: int) -> float:
    """Their cores, over the whole time."""
    return float(np.nan_to_num(total([track.series["process_cpu"] for track in tracks], length)).mean())


def _machine(scene: Scene, own: float | None) -> dict[str, Any]:
    busy = mean(scene.window.host.get("cpu_utilization"))
    count = None if scene.window.cores is None else scene.window.cores.shape[1]
    others = None if busy is None or count is None or own is None else max(0.0, busy * count - own)
    return {"machine": rounded(busy), "machine_cores": count, "others": rounded(others, 2)}


def _rate(tracks: tuple[ProcessTrack, ...], name: str, length: int) -> float | None:
    parts = [track.series[name] for track in tracks if name in track.series]
    return rounded(mean(total(parts, length)), 0) if parts else None
