"""Knows: how much GPU memory a job holds, how it changes, what is left, and whether anything happens with it.
Must not know: what is bad about it.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

import numpy as np

from gpumon_gui.diagnosis.behaviour.scene import Scene
from gpumon_gui.diagnosis.behaviour.series import known, mean, middle
from gpumon_gui.diagnosis.behaviour.trends import binned, last, slope, trend
from gpumon_gui.diagnosis.behaviour.window import DeviceTrack, ProcessTrack, Series, Window
from gpumon_gui.diagnosis.behaviour.work import Work, per_process, work_of
from gpumon_gui.diagnosis.spilling import may_spill

_MIB: Final = float(1 << 20)
#: A program that has set itself up holds about what it holds at work.
_MOST_OF_IT: Final = 0.75
#: A rise to speak of: allocators take memory in pieces of 2 to 20 MiB (PyTorch's CUDACachingAllocator), and a cuDNN
#: work space that comes later is one or two of those.
_LEAST_RISE: Final = 64 * _MIB
_LEAST_RISE_SHARE: Final = 0.02
#: Fewer parts, or a shorter time, cannot tell a rise that goes on from one that ends.
_LEAST_PARTS: Final = 4
_LEAST_S: Final = 3.0
#: A slow rise is looked for in all that is kept, from so much on.
_MINUTES_S: Final = 45.0
#: A steady rise puts a half into the second half of the time and a third into the last third. A warm-up puts nearly
#: all into the beginning, an allocation is one step.
_LATE_HALF: Final = 0.35
_LATE_THIRD: Final = 0.2
_ONE_STEP: Final = 0.5
_RISING_PARTS: Final = 0.6
#: Steps of an allocator that takes large pieces: at least so large, alike, and still going on.
_LEAST_STEP: Final = 64 * _MIB
_ALIKE: Final = 1.5
_STILL: Final = 1.1
#: Two pieces that are large against what was there before are a program that is still setting up.
_START_SHARE: Final = 0.25
#: A program that starts kernels takes more CPU than this.
_WORKING_CORES: Final = 0.2
#: Data that arrives over PCIe as fast as memory rises is being loaded: weights, or a data set kept on the GPU.
_LOADED_SHARE: Final = 0.6
#: SM activity of a GPU that computes. Without that counter: copies alone keep an H200 busy for 15 to 20 % (at 7 GB/s).
_COMPUTES, _COPIES_BUSY, _IDLE_BUSY = 0.05, 0.4, 0.02


def of_job(scene: Scene) -> Mapping[str, Any]:
    """``devices[]`` (one entry per device the job holds memory on) and whether the job does anything at all:
    ``gpu_busy_mean``, ``gpu_busy_high`` (the share that 95 % of the samples do not exceed), ``cpu_cores``,
    ``read_bytes_per_s``, ``seconds``. ``others_work``: whose work the devices do is not counted, and other programs
    that use them have a working CPU: then nothing is said of how busy this one keeps them.

    A device: ``index``, ``name``, ``total_bytes``, ``used_bytes``, ``free_bytes``, ``job_bytes``, ``others_bytes``
    (with what the driver and other programs hold), ``holders[]`` ``{pid, name, bytes}``; ``used_share``,
    ``job_share``; ``growth`` (``none``, ``step``, ``slowing``, ``loading``, ``steps``, ``steady``), ``growth_bytes``,
    ``growth_steps``, ``growth_bytes_per_s``, ``growth_s``, ``rising_parts`` of ``parts``, ``trend`` (Mann and
    Kendall's), ``full_in_s``; ``constant``: changed by less than 1 % (since the step that made most of it);
    ``first_step_share``: how much of today's level came in one step between two samples, where the start was seen;
    ``dedicated_share``, ``shared_bytes``, ``shared_growth_bytes``, ``shared_source`` of memory that is the computer's,
    ``power_share``, of cards whose memory may spill. ``settled_s``: since when the job holds most of what it holds now,
    where that was seen. Values are of the steady part, ``used_bytes`` and ``free_bytes`` of its end.
    """
    if scene.job is None:
        return {}
    works = {work.key: work for work in work_of(scene.window, scene.job, scene.others)}
    devices = [
        entry
        for key in scene.job.devices
        if key in scene.window.devices and (entry := _device(scene, scene.window.devices[key], works.get(key)))
    ]
    busy = [work.busy for work in works.values()]
    together = np.nanmax(np.nan_to_num(np.vstack(busy), nan=-1.0), axis=0) if busy else np.empty(0)
    together = together[together >= 0]
    others = _others_work(scene, works)
    if others:
        together = np.empty(0)
    return {
        "devices": devices or None,
        "seconds": round(scene.window.seconds, 2),
        "gpu_busy_mean": _rounded(mean(together), 4),
        "gpu_busy_high": _rounded(float(np.quantile(together, 0.95)) if together.size else None, 4),
        "others_work": others or None,
        "cpu_cores": _rounded(_sum(scene, "process_cpu"), 3),
        "read_bytes_per_s": _rounded(_sum(scene, "process_read_bytes_per_s"), 0),
        "settled_s": _rounded(_settled_s(scene), 1),
    }


def _settled_s(scene: Scene) -> float | None:
    """Seconds since its memory was last below three quarters of today's; None when that was not seen."""
    assert scene.whole_job is not None
    held = np.zeros(len(scene.whole))
    for key in scene.whole_job.devices:
        level = per_process(scene.whole_job, key, "process_memory_bytes")
        if level is None:
            return None
        there = np.flatnonzero(~np.isnan(level))
        if not there.size:
            continue
        # Before its first memory a process is not listed; later gaps are lost readings.
        filled = level[there[np.maximum(np.searchsorted(there, np.arange(len(level)), side="right") - 1, 0)]]
        filled[: there[0]] = 0.0
        held = held + filled
    below = np.flatnonzero(held < _MOST_OF_IT * held[-1])
    return float(scene.whole.times_s[-1] - scene.whole.times_s[below[-1]]) if below.size else None


def _others_work(scene: Scene, works: Mapping[Any, Work]) -> bool:
    """Whether the devices' work may be that of others: it is not counted per process, and those have a working CPU."""
    assert scene.job is not None
    unsure = [key for key in scene.job.devices if key not in works or works[key].alone is None]
    if not unsure or len(unsure) < len(scene.job.devices):
        return False
    own = _pids(scene)
    others = [track for track in scene.window.processes if track.pid not in own and set(unsure) & set(track.uses)]
    return any((mean(track.series.get("process_cpu")) or 0.0) >= _WORKING_CORES for track in others)


def _device(scene: Scene, track: DeviceTrack, work: Work | None) -> dict[str, Any]:
    assert scene.job is not None
    key = track.info.key
    level = per_process(scene.job, key, "process_memory_bytes")
    used_series = track.series.get("memory_used_bytes")
    alone = not any(key in other.uses for other in scene.window.processes if other.pid not in _pids(scene))
    if level is None and alone:
        level = used_series
    total = track.lasting("memory_total_bytes")
    used = last(used_series)
    free = last(track.series.get("memory_free_bytes"))
    if free is None and used is not None and total is not None:
        free = max(0.0, total - used)
    held = last(level)
    entry: dict[str, Any] = {
        "index": track.info.index,
        "name": track.info.name,
        "total_bytes": total,
        "used_bytes": used,
        "free_bytes": free,
        "job_bytes": held,
        "others_bytes": max(0.0, used - held) if used is not None and held is not None else None,
        "used_share": _share(total - free if total is not None and free is not None else used, total),
        "job_share": _share(held, total),
        "holders": _holders(scene.window, track),
        **_shared(scene, track, total),
    }
    if level is not None:
        entry |= _growth(scene.window.times_s, level, track, work, free)
        if entry.get("growth") != "steady":
            entry |= _slowly(scene, track, free)
        entry |= _start(scene, key)
    return entry


def _growth(
    times_s: Series, level: Series, track: DeviceTrack, work: Work | None, free: float | None
) -> dict[str, Any]:
    seen = known(level)
    if not seen.size:
        return {}
    facts: dict[str, Any] = {
        "growth": "none",
        "constant": _constant(seen),
    }
    middles, levels = binned(times_s, level)
    if len(levels) < _LEAST_PARTS or middles[-1] - middles[0] < _LEAST_S:
        return {**facts, "growth": None}
    rise = float(levels[-1] - levels[0])
    if rise < max(_LEAST_RISE, _LEAST_RISE_SHARE * float(levels[0])):
        return facts
    steps = np.diff(levels)
    per_s = slope(middles, levels)
    rising = int(np.sum(steps > 0.1 * rise / len(steps)))
    fallen = float(-steps[steps < 0].sum())
    half = np.interp(middles[0] + (middles[-1] - middles[0]) / 2, middles, levels)
    third = np.interp(middles[0] + (middles[-1] - middles[0]) * 2 / 3, middles, levels)
    span = float(middles[-1] - middles[0])
    facts |= {
        "growth_bytes": rise,
        "growth_bytes_per_s": per_s,
        "growth_s": round(span, 1),
        "rising_parts": rising,
        "parts": len(steps),
        "trend": round(trend(levels), 2),
    }
    if float(steps.max()) > _ONE_STEP * rise:
        kind = "step"
    elif fallen > 0.2 * rise or levels[-1] - half < _LATE_HALF * rise or levels[-1] - third < _LATE_THIRD * rise:
        kind = "slowing"
    elif rising < _RISING_PARTS * len(steps):
        kind = "step"
    elif _stopped(times_s, level, rise):
        kind = "slowing"
    elif _loads(track, work, rise / span):
        kind = "loading"
    else:
        kind = "steady"
    if kind != "steady" and kind != "loading":
        found = _steps(times_s, level)
        if found:
            facts |= found
            kind, per_s = "steps", float(found["growth_bytes_per_s"])
    facts["growth"] = kind
    if kind in ("steady", "steps") and free is not None and per_s > 0:
        facts["full_in_s"] = round(free / per_s)
    return facts


def _stopped(times_s: Series, level: Series, rise: float) -> bool:
    """Whether the last rise is longer ago than such rises are apart."""
    there = ~np.isnan(level)
    times = times_s[there]
    moments = times[1:][np.diff(level[there]) > 0.01 * rise]
    if len(moments) < 3:
        return False
    usual = float(np.median(np.diff(moments)))
    return bool(times[-1] - moments[-1] > 2 * max(usual, float(np.median(np.diff(times)))))


def _steps(times_s: Series, level: Series) -> dict[str, Any]:
    """A rise in few steps that are alike in size and distance, the last of which is not longer ago than they are
    apart: an allocator that takes large pieces, for something small that rises all the time. A warm-up takes pieces of
    different sizes at first and none later."""
    there = ~np.isnan(level)
    times, seen = times_s[there], level[there]
    changes = np.diff(seen)
    places = np.flatnonzero(changes >= _LEAST_STEP)
    if len(places) < 2 or float(-changes[changes < 0].sum()) > 0.02 * float(changes[places].sum()):
        return {}
    sizes, moments = changes[places], times[places + 1]
    apart = np.diff(moments)
    alike = sizes.max() <= _ALIKE * sizes.min() and apart.max() <= 2 * apart.min()
    if not alike or float(sizes.sum()) < 0.9 * float(seen[-1] - seen[0]) or apart.min() < _LEAST_S:
        return {}
    if len(places) == 2 and sizes.max() > _START_SHARE * seen[0]:
        return {}
    if times[-1] - moments[-1] > _STILL * apart.max() or sizes.min() < _LEAST_RISE_SHARE * seen[0]:
        return {}
    return {
        "growth_steps": len(places),
        "growth_bytes_per_s": float(sizes[1:].sum() / (moments[-1] - moments[0])),
        "growth_s": round(float(times[-1] - times[0]), 1),
    }


def _slowly(scene: Scene, track: DeviceTrack, free: float | None) -> dict[str, Any]:
    """A rise that only minutes show: all that was seen since the largest step, where that is long."""
    assert scene.whole_job is not None
    key = track.info.key
    level = per_process(scene.whole_job, key, "process_memory_bytes")
    if level is None or len(scene.whole) <= len(scene.window) or scene.whole.seconds < _MINUTES_S:
        return {}
    there = np.flatnonzero(~np.isnan(level))
    steps = np.diff(level[there])
    if not steps.size:
        return {}
    start = int(there[int(np.argmax(steps)) + 1]) if float(steps.max()) > 0.1 * float(np.nanmax(level)) else 0
    times = scene.whole.times_s[start:]
    if len(times) < _LEAST_PARTS or times[-1] - times[0] < _MINUTES_S:
        return {}
    part = scene.whole.part(start).devices[key]
    found = _growth(times, level[start:], part, None, free)
    return found if found.get("growth") == "steady" else {}


def _constant(seen: Series) -> bool | None:
    """Whether the level stays, after the one step that made most of it."""
    if seen.size < 3:
        return None
    steps = np.diff(seen)
    after = seen[int(np.argmax(steps)) + 1 :] if float(steps.max()) > 0.5 * float(seen.max()) else seen
    return bool(after.size >= 3 and after.max() - after.min() <= 0.01 * after.max())


def _loads(track: DeviceTrack, work: Work | None, rise_per_s: float) -> bool:
    """Whether the rise is data that comes in, while nothing is computed with it yet."""
    arriving = mean(track.series.get("pcie_rx_bytes_per_s"))
    computing = mean(track.series.get("sm_activity"))
    busy = mean(work.busy) if work is not None else None
    if computing is not None:
        if computing >= _COMPUTES:
            return False
    elif busy is not None and busy >= _COPIES_BUSY:
        return False
    if arriving is not None:
        return arriving >= _LOADED_SHARE * rise_per_s
    return busy is not None and busy < _IDLE_BUSY


def _start(scene: Scene, key: Any) -> dict[str, Any]:
    """How the level came about, where the window begins before it."""
    assert scene.whole_job is not None
    level = per_process(scene.whole_job, key, "process_memory_bytes")
    if level is None:
        return {}
    seen = known(level)
    # A process is listed with its first memory: what came before is none at all.
    born = bool(np.isnan(level[0]))
    steps = np.diff(np.concatenate(([0.0], seen)) if born else seen)
    top = float(seen.max())
    if not steps.size or top <= 0 or float(steps.max()) <= 0.05 * top:
        return {}
    return {"first_step_share": round(float(steps.max()) / top, 3)}


def _shared(scene: Scene, track: DeviceTrack, total: float | None) -> dict[str, Any]:
    assert scene.job is not None
    if not may_spill(track.info):
        return {}
    own = per_process(scene.job, track.info.key, "process_shared_bytes")
    series = own if own is not None else track.series.get("shared_used_bytes")
    if series is None or not known(series).size:
        return {}
    seen = known(series)
    count = max(1, len(seen) // 5)
    used = track.series.get("memory_used_bytes")
    return {
        "shared_bytes": float(np.median(seen[-count:])),
        "shared_growth_bytes": float(np.median(seen[-count:]) - np.median(seen[:count])),
        "shared_source": track.sources.get("shared_used_bytes"),
        "dedicated_share": _share(middle(used), total),
        "power_share": _share(middle(track.series.get("power_w")), middle(track.series.get("power_limit_w"))),
    }


def _holders(window: Window, track: DeviceTrack) -> list[dict[str, Any]] | None:
    held: list[tuple[float, ProcessTrack]] = []
    for process in window.processes:
        found = last(process.uses.get(track.info.key, {}).get("process_memory_bytes"))
        if found and not _gone(process):
            held.append((found, process))
    held.sort(key=lambda entry: -entry[0])
    return [{"pid": one.pid, "name": one.last.name or None, "bytes": size} for size, one in held[:4]] or None


def _gone(process: ProcessTrack) -> bool:
    return not process.present[-3:].any()


def _sum(scene: Scene, metric: str) -> float | None:
    assert scene.job is not None
    means = [found for track in scene.job.processes if (found := mean(track.series.get(metric))) is not None]
    return sum(means) if means else None


def _pids(scene: Scene) -> set[int]:
    assert scene.job is not None
    return {track.pid for track in scene.job.processes}


def _share(part: float | None, whole: float | None) -> float | None:
    return round(part / whole, 4) if part is not None and whole else None


def _rounded(value: float | None, digits: int) -> float | None:
    return None if value is None else round(value, digits)
