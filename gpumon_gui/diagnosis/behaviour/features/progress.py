"""Knows: for how long a device has been busy without anything that work leaves behind. Must not know: why."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

import numpy as np

from gpumon_gui.diagnosis.behaviour.rest import rest_w
from gpumon_gui.diagnosis.behaviour.scene import Scene
from gpumon_gui.diagnosis.behaviour.series import mean, middle, smooth
from gpumon_gui.diagnosis.behaviour.window import Series, Window
from gpumon_gui.diagnosis.behaviour.work import Work, work_of

_BUSY: Final = 0.95
#: Memory traffic of a kernel that only looks at a flag: the counter of an H200 shows some millionths. NVML gives whole
#: percents.
_NO_MEMORY: Final = 0.005
#: A GPU that is given nothing to do exchanges 2 MB/s with the host (H200 at rest, with the readings themselves);
#: feeding it with the smallest kernels takes some 90 MB/s.
_NO_TRAFFIC: Final = 4e6
#: Figures are means over so long, and over three samples at least.
_SMOOTH_S: Final = 1.5
_SMOOTH_SAMPLES: Final = 3.1
#: Power like at rest: above it by this share of what is left to the limit, or below this share of the limit where no
#: rest was seen. One spinning block on each of a few SMs keeps the clocks up, which is most of what it costs.
_REST_SPAN: Final = 0.15
_REST_SHARE: Final = 0.4


def of_job(scene: Scene) -> Mapping[str, Any]:
    """``devices[]``: ``index``, ``name``, ``stalled_s``: seconds up to the end of the window in which it was at least
    95 % busy without memory traffic (or with a part of it unknown), traffic with the host or other GPUs, at a power
    like at rest; ``busy``, ``power_w``, ``power_limit_w``, ``rest_w``, ``traffic_known``, ``memory_known``,
    ``sm`` in that time."""
    if scene.whole_job is None:
        return {}
    found = [
        entry for work in work_of(scene.whole, scene.whole_job, scene.others) if (entry := _device(scene.whole, work))
    ]
    return {"devices": found} if found else {}


def _device(window: Window, work: Work) -> dict[str, Any]:
    power = work.of_device("power_w")
    limit = middle(work.track.series.get("power_limit_w"))
    if power is None or not limit:
        return {}
    rest = rest_w(window, work)
    ceiling = _REST_SHARE * limit if rest is None else rest + _REST_SPAN * (limit - rest)
    memory = work.of_device("dram_activity")
    if memory is None:
        memory = work.of_device("memory_utilization")
    traffic = _traffic(work)
    times, seconds = window.times_s, max(_SMOOTH_S, _SMOOTH_SAMPLES * window.interval_s)
    # Single readings are off now and then, and samples without a value say nothing against it.
    stalled = np.nan_to_num(smooth(work.busy, times, seconds), nan=1.0) >= _BUSY
    stalled &= np.nan_to_num(smooth(power, times, seconds), nan=0.0) <= ceiling
    for series, most in ((memory, _NO_MEMORY), (traffic, _NO_TRAFFIC)):
        if series is not None:
            stalled &= np.nan_to_num(smooth(series, times, seconds), nan=0.0) <= most
    others = np.flatnonzero(~stalled)
    start = int(others[-1]) + 1 if others.size else 0
    if start >= len(window) - 1:
        return {}
    return {
        "index": work.track.info.index,
        "name": work.track.info.name,
        "stalled_s": round(float(window.times_s[-1] - window.times_s[start]), 1),
        "busy": _round(mean(work.busy[start:])),
        "power_w": _round(mean(power[start:])),
        "power_limit_w": limit,
        "rest_w": _round(rest),
        "sm": _round(mean(_cut(work.of_device("sm_activity"), start))),
        "memory_known": memory is not None,
        "traffic_known": traffic is not None,
    }


def _traffic(work: Work) -> Series | None:
    names = ("pcie_rx_bytes_per_s", "pcie_tx_bytes_per_s", "nvlink_rx_bytes_per_s", "nvlink_tx_bytes_per_s")
    found = [series for name in names if (series := work.of_device(name)) is not None]
    return np.max(np.nan_to_num(np.vstack(found), nan=0.0), axis=0) if found else None


def _cut(series: Series | None, start: int) -> Series | None:
    return None if series is None else series[start:]


def _round(value: float | None) -> float | None:
    return None if value is None else round(value, 3)
