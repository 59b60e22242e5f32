"""Knows: every device of the machine during the window: state, load, engines. Must not know: the doings of jobs."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

import numpy as np

from gpumon_gui.core.model import ProcessPresence
from gpumon_gui.diagnosis.behaviour.scene import Scene
from gpumon_gui.diagnosis.behaviour.series import mean
from gpumon_gui.diagnosis.behaviour.window import DeviceTrack

#: The four graphs that Windows' Task Manager shows first: 3D, Copy, Video Encode, Video Decode (or Video Processing).
_DRAWING: Final = ("3d",)
_DEFAULT: Final = (*_DRAWING, "copy", "video")
#: Where CUDA and OpenCL run (facts about Windows' engines; HAGS may rename them).
_COMPUTE: Final = ("cuda", "compute")
#: NVML gives whole per cent; what is below this may be another's blink.
_WORKS: Final = 0.02


def of_window(scene: Scene) -> Mapping[str, Any]:
    """``devices[]``: ``index``, ``name``, ``state`` (``ok``, ``lost``, ``not_answering`` …), ``busy`` (mean of the
    driver's utilization), ``power_w``, ``engines_default`` (the busiest of the engines that Task Manager shows first,
    mean; Windows only: its name for drawing is none of Linux's), ``engines_compute`` (the busiest of those that
    compute), ``has_compute_engine``; ``busiest``: the highest ``busy``; ``unexplained``: a device works, and no program
    that is seen from here is on it (a container, WSL, a driver that lists nobody)."""
    devices = [_device(track) for track in scene.window.devices.values()]
    busy = [entry["busy"] for entry in devices if entry["busy"] is not None]
    return {
        "devices": devices or None,
        "busiest": max(busy) if busy else None,
        "unexplained": any(_is_unexplained(scene, track) for track in scene.window.devices.values()) if busy else None,
    }


def _is_unexplained(scene: Scene, track: DeviceTrack) -> bool:
    busy = mean(track.series.get("gpu_utilization"))
    return (busy or 0.0) >= _WORKS and not any(
        process.last.presence is not ProcessPresence.FOREIGN and track.info.key in process.uses
        for process in scene.window.processes
    )


def _device(track: DeviceTrack) -> dict[str, Any]:
    busy = mean(track.series.get("gpu_utilization"))
    if busy is None:
        busy = mean(track.series.get("engine_utilization"))
    return {
        "index": track.info.index,
        "name": track.info.name,
        "state": str(track.state),
        "busy": None if busy is None else round(busy, 3),
        "power_w": mean(track.series.get("power_w")),
        "engines_default": _busiest(track, _DEFAULT) if any(_is(name, _DRAWING) for name in track.engines) else None,
        "engines_compute": _busiest(track, _COMPUTE),
        "has_compute_engine": any(_is(name, _COMPUTE) for name in track.engines) if track.engines else None,
    }


def _busiest(track: DeviceTrack, words: tuple[str, ...]) -> float | None:
    means = [
        found for name, series in track.engines.items() if _is(name, words) and (found := mean(series)) is not None
    ]
    return round(float(np.max(means)), 3) if means else None


def _is(name: str, words: tuple[str, ...]) -> bool:
    return name.lower().startswith(words)
