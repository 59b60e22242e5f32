"""Knows: how busy a job keeps its GPU and how full its kernels are. Must not know: CPU, memory, rules."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from gpumon_gui.core.model import UseKind
from gpumon_gui.diagnosis.behaviour.jobs import Job
from gpumon_gui.diagnosis.behaviour.rest import rest_w
from gpumon_gui.diagnosis.behaviour.scene import Scene
from gpumon_gui.diagnosis.behaviour.series import mean, middle, rounded
from gpumon_gui.diagnosis.behaviour.work import Work, busy_anywhere, work_of

#: Below this share of time a ratio "per busy time" is noise: NVML counts whole percents.
LEAST_BUSY: Final = 0.03
#: SM activity over graphics activity: the share of the SMs that an average kernel keeps busy. Kernels with a block for
#: every SM reach 0.6 and more; a quarter leaves three of four SMs without work.
SMALL_FILL, FULL_FILL = 0.25, 0.4
#: Power above that of the waiting GPU, as a share of what is left to the limit, per busy time. Any kernel that fills
#: the SMs draws a third of the way to the limit and more, one that is limited by memory half of it.
SMALL_LOAD, FULL_LOAD = 0.2, 0.35
#: Memory controller's busy time per busy time. Kernels that fill a GPU move data for a good part of their time.
SMALL_MEMORY, FULL_MEMORY = 0.05, 0.2


def of_job(scene: Scene) -> Mapping[str, Any]:
    """The job's busiest device. ``busy``: share of time with kernels or copies on any of its devices; ``kernels``: with
    kernels, by hardware counters; ``sm``, ``occupancy``, ``memory_controller``, ``power_w``, ``power_share`` of its
    limit, ``clock_share`` of the highest clock: means. ``alone``: no other program works there (absent: not known);
    ``card_busy``: of the whole card, whoever works there; ``computes``: false for a program that may only draw.

    ``fill`` (SM activity per kernel time), ``load`` (power above waiting per busy time, as a share of what is left to
    the limit), ``memory`` (memory controller per busy time) say how full kernels are; ``size`` is the verdict
    (``small``, ``full``, ``between``) and ``size_by`` what it is from (``sm``, ``power``, ``memory``).

    ``device``, ``devices``: name of the busiest, number that work.
    """
    if scene.job is None or not len(scene.window):
        return {}
    works = work_of(scene.window, scene.job, scene.others)
    if not works:
        return {}
    work = works[0]
    busy = mean(busy_anywhere(works))
    kernels = mean(work.kernels)
    sm = mean(work.of_device("sm_activity"))
    memory = mean(work.of_device("memory_utilization"))
    power, limit = mean(work.of_device("power_w")), middle(work.track.series.get("power_limit_w"))
    clock = middle(work.of_device("clock_sm_mhz"))
    waiting = rest_w(scene.whole, work)
    own_busy = mean(work.busy) or 0.0
    fill = sm / kernels if sm is not None and kernels is not None and kernels >= LEAST_BUSY / 2 else None
    per_busy = max(own_busy, LEAST_BUSY)
    load = None
    if (
        power is not None
        and waiting is not None
        and waiting < power
        and limit
        and limit > waiting * 1.1
        and own_busy >= LEAST_BUSY
    ):
        load = max(0.0, power - waiting) / (limit - waiting) / per_busy
    memory_per_busy = memory / per_busy if memory is not None and own_busy >= LEAST_BUSY else None
    size, size_by = _size(fill, load, memory_per_busy, own_busy, power / limit if power and limit else None)
    return {
        "device": work.track.info.name,
        "devices": sum((mean(one.busy) or 0.0) >= LEAST_BUSY for one in works),
        "alone": work.alone,
        "computes": _computes(scene.job),
        "busy": rounded(busy),
        "card_busy": rounded(mean(work.track.series.get("gpu_utilization"))),
        "busy_source": "process" if work.alone is False else work.track.sources.get("gpu_utilization", "engines"),
        "kernels": rounded(kernels),
        "sm": rounded(sm),
        "occupancy": rounded(mean(work.of_device("sm_occupancy"))),
        "memory_controller": rounded(memory),
        "power_w": rounded(power, 1),
        "power_share": rounded(power / limit) if power is not None and limit else None,
        "waiting_power_w": rounded(waiting, 1),
        "clock_share": rounded(clock / top) if clock is not None and (top := _top_clock(work)) else None,
        "fill": rounded(fill),
        "load": rounded(load),
        "memory": rounded(memory_per_busy),
        "size": size,
        "size_by": size_by,
    }


def _computes(job: Job) -> bool | None:
    """Whether its work is known to be computing. Windows lists every window program as both: there a loaded framework
    or the engine decides."""
    uses = [use for track in job.processes for use in track.last.uses]
    if any(track.last.framework for track in job.processes) or any(use.kind is UseKind.COMPUTE for use in uses):
        return True
    engines = tuple(use.engine.lower() for use in uses if use.engine)
    if any(engine.startswith(("compute", "cuda")) for engine in engines):
        return True
    return False if uses else None


def _top_clock(work: Work) -> float | None:
    value = work.track.info.static.get("clock_sm_max_mhz")
    number = getattr(value, "value", None)
    return float(number) if isinstance(number, int | float) and number > 0 else None


def _size(
    fill: float | None, load: float | None, memory: float | None, busy: float, power_share: float | None
) -> tuple[str | None, str | None]:
    """How full kernels are, from the best figure there is."""
    if fill is not None:
        return _between(fill, SMALL_FILL, FULL_FILL), "sm"
    if load is not None:
        found = _between(load, SMALL_LOAD, FULL_LOAD)
        if found == "small" and memory is not None and memory >= 2 * SMALL_MEMORY:
            found = "between"  # little power, yet the memory works: not nothing
        elif found == "between" and memory is not None and memory >= FULL_MEMORY:
            found = "full"
        return found, "power"
    if power_share is not None and busy >= 0.5 and power_share / busy <= 0.3:
        return "small", "power"  # even if waiting cost nothing
    if memory is None:
        return None, None
    if memory >= FULL_MEMORY:
        return "full", "memory"
    # Whole percents: half a percent more may be behind the figure.
    return ("small" if memory + 0.005 / busy <= SMALL_MEMORY + 0.01 else "between"), "memory"


def _between(value: float, small: float, full: float) -> str:
    return "small" if value < small else "full" if value >= full else "between"
