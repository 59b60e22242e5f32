"""Knows: clocks, P-state, heat and power of the devices a job works on, while they work. Must not know: what is bad."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

import numpy as np

from gpumon_gui.core.metrics import ClockReason
from gpumon_gui.diagnosis.behaviour.scene import Scene
from gpumon_gui.diagnosis.behaviour.series import known, mean, middle
from gpumon_gui.diagnosis.behaviour.trends import slope
from gpumon_gui.diagnosis.behaviour.window import DeviceTrack, Series, Window

#: Below this share of time with kernels a card may clock down by itself between them.
_LOADED: Final = 0.5
#: A steadier load, for comparing before with after.
_FULL: Final = 0.8
_BITS: Final = {
    "idle_share": ClockReason.IDLE,
    "application_clocks_share": ClockReason.APPLICATION_CLOCKS,
    "power_cap_share": ClockReason.POWER_CAP,
    "slowdown_share": ClockReason.HARDWARE_SLOWDOWN,
    "sync_boost_share": ClockReason.SYNC_BOOST,
    "thermal_share": ClockReason.HEAT,
    "brake_share": ClockReason.POWER_BRAKE,
    "display_clocks_share": ClockReason.DISPLAY_CLOCKS,
}
#: Both sides of a step must last so long: power and utilization look back a second.
_SIDE_S: Final = 3.0
#: Places that are tried for a step.
_MOST_PLACES: Final = 200
#: A step of the clock that is no boosting up and down.
_STEP: Final = 0.8


def of_job(scene: Scene) -> Mapping[str, Any]:
    """``devices[]`` of the job, as they are under load (at least half of the time with kernels) in the steady part.

    A device: ``index``, ``name``, ``loaded_s`` (seconds under load), ``busy_mean`` there, ``clock_mhz`` (median),
    ``clock_low_mhz`` (tenth part), ``clock_max_mhz``, ``clock_share``, ``clock_trend_per_min`` (share of the maximum
    per minute), ``pstate`` (median); shares of the loaded time with each reason: ``idle_share``,
    ``application_clocks_share``, ``power_cap_share``, ``slowdown_share`` (hardware slowdown), ``thermal_share``
    (software or hardware), ``brake_share`` …, and ``no_reason_share`` (none but idle); ``temperature_c``,
    ``temperature_high_c``, ``slowdown_c``; ``power_w``, ``power_limit_w``, ``power_limit_default_w``, ``power_share``.
    ``step``: where the clock fell for good at unchanged load, in all that was seen: ``at_utc_s``, ``clock_before_mhz``,
    ``clock_after_mhz``, ``limit_before_w``, ``limit_after_w``, ``power_before_w``, ``power_after_w``,
    ``temperature_after_c``, ``thermal_share_after``.
    """
    if scene.job is None:
        return {}
    found = [
        entry
        for key in scene.job.devices
        if key in scene.window.devices and (entry := _device(scene, scene.window.devices[key]))
    ]
    return {"devices": found} if found else {}


def _device(scene: Scene, track: DeviceTrack) -> dict[str, Any]:
    window, series = scene.window, track.series
    whole = scene.whole.devices[track.info.key]
    busy = _busy(track)
    if busy is None:
        return {}
    loaded = np.nan_to_num(busy) >= _LOADED
    step_s = window.interval_s
    loaded_s = float(loaded.sum()) * step_s
    if loaded.sum() < 3:
        return {}
    clock = _of(series, "clock_sm_mhz", "clock_graphics_mhz", loaded)
    top = track.lasting("clock_sm_max_mhz") or track.lasting("clock_graphics_max_mhz")
    limit = middle(_of(series, "power_limit_w", "", loaded))
    power = middle(_of(series, "power_w", "", loaded))
    temperature = _of(series, "temperature_c", "", loaded)
    seen_clock = known(clock)
    slowdown = [
        value
        for name in ("temperature_max_operating_c", "temperature_slowdown_c")
        if (value := track.lasting(name)) is not None and value > 0
    ]
    usual = middle(clock)
    return {
        "index": track.info.index,
        "name": track.info.name,
        "loaded_s": round(loaded_s, 1),
        "busy_mean": round(float(np.nanmean(busy[loaded])), 3),
        "clock_mhz": usual,
        "clock_low_mhz": float(np.quantile(seen_clock, 0.1)) if seen_clock.size else None,
        "clock_max_mhz": top,
        "clock_share": round(usual / top, 3) if usual is not None and top else None,
        "clock_trend_per_min": _trend(window, loaded, clock, top),
        "pstate": middle(_of(series, "pstate", "", loaded)),
        **_reasons(series, loaded),
        "temperature_c": middle(temperature),
        "temperature_high_c": float(known(temperature).max()) if known(temperature).size else None,
        "slowdown_c": min(slowdown) if slowdown else None,
        "power_w": power,
        "power_limit_w": limit,
        "power_limit_default_w": track.lasting("power_limit_default_w"),
        "power_share": round(power / limit, 3) if power is not None and limit else None,
        "step": _step(scene.whole, whole, all_busy) if (all_busy := _busy(whole)) is not None else None,
    }


def _busy(track: DeviceTrack) -> Series | None:
    for name in ("gpu_utilization", "graphics_activity", "engine_utilization"):
        if name in track.series:
            return track.series[name]
    return None


def _of(series: Mapping[str, Series], name: str, instead: str, mask: Any) -> Series | None:
    found = series.get(name, series.get(instead) if instead else None)
    return None if found is None else found[mask]


def _reasons(series: Mapping[str, Series], loaded: Any) -> dict[str, float]:
    seen = known(_of(series, "throttle_reasons", "", loaded))
    if seen.size < 3:
        return {}
    shares = {name: round(_share(seen, reason), 3) for name, reason in _BITS.items()}
    return {**shares, "no_reason_share": round(1.0 - _share(seen, ~int(ClockReason.IDLE)), 3)}


def _share(reasons: Series, wanted: int) -> float:
    """The share of the readings that give any of these reasons."""
    return float(np.mean(reasons.astype(np.int64) & int(wanted) != 0))


def _trend(window: Window, loaded: Any, clock: Series | None, top: float | None) -> float | None:
    if clock is None or not top:
        return None
    times = window.times_s[loaded][~np.isnan(clock)]
    values = known(clock)
    if len(values) < 8 or times[-1] - times[0] < 5:
        return None
    pick = np.linspace(0, len(values) - 1, min(len(values), 120)).astype(int)
    return round(slope(times[pick], values[pick]) * 60 / top, 3)


def _parted(times: Series, values: Series, places: range) -> int | None:
    """The place that parts high clocks before from low ones after it best; None where none does."""
    best: tuple[float, int] | None = None
    for cut in places:
        if times[cut] - times[0] < _SIDE_S or times[-1] - times[cut] < _SIDE_S:
            continue
        before, after = values[:cut], values[cut:]
        ratio = float(np.median(after) / np.median(before)) if np.median(before) > 0 else 1.0
        # The levels do not overlap: boosting up and down, or a slow slide, is no step.
        if ratio <= _STEP and np.quantile(after, 0.9) < np.quantile(before, 0.1):
            spread = float(np.abs(before - np.median(before)).sum() + np.abs(after - np.median(after)).sum())
            if best is None or spread < best[0]:
                best = (spread, cut)
    return None if best is None else best[1]


def _step(window: Window, track: DeviceTrack, busy: Series) -> dict[str, Any] | None:
    """The cut that parts clocks (or limits) best, among samples under full load."""
    full = np.nan_to_num(busy) >= _FULL
    clock = track.series.get("clock_sm_mhz", track.series.get("clock_graphics_mhz"))
    if clock is None or full.sum() < 8:
        return None
    full &= ~np.isnan(clock)
    times, values = window.times_s[full], clock[full]
    if not len(values) or values.min() >= _STEP * values.max():
        return None  # no step is so large, wherever it is
    stride = max(1, len(values) // _MOST_PLACES)
    cut = _parted(times, values, range(2, len(values) - 1, stride))
    if cut is not None and stride > 1:
        near = range(max(2, cut - stride), min(len(values) - 1, cut + stride + 1))
        cut = _parted(times, values, near) or cut
    if cut is None:
        return None
    edge = slice(max(0, cut - 2), min(len(values), cut + 3))
    sudden = float(values[edge].max() - values[edge].min())
    if sudden < 0.7 * float(np.median(values[:cut]) - np.median(values[cut:])):
        return None  # it slid
    other = {
        name: track.series[metric][full]
        for name, metric in (("limit", "power_limit_w"), ("power", "power_w"))
        if metric in track.series
    }
    temperature = track.series.get("temperature_c")
    limited = _of(track.series, "throttle_reasons", "", full)
    reasons = known(None if limited is None else limited[cut:])
    facts: dict[str, Any] = {
        "at_utc_s": round(float(window.utc_s[full][cut]), 1),
        "clock_before_mhz": float(np.median(values[:cut])),
        "clock_after_mhz": float(np.median(values[cut:])),
        "temperature_after_c": middle(temperature[full][cut:]) if temperature is not None else None,
        "thermal_share_after": _share(reasons, ClockReason.HEAT) if reasons.size else None,
        "busy_before": mean(busy[full][:cut]),
        "busy_after": mean(busy[full][cut:]),
    }
    for name, found in other.items():
        facts[f"{name}_before_w"], facts[f"{name}_after_w"] = middle(found[:cut]), middle(found[cut:])
    return facts
