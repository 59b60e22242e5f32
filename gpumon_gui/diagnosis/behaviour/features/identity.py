"""Knows: what was looked at: for how long, how often, which program, which devices. Must not know: what it did."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from gpumon_gui.diagnosis.behaviour.scene import Scene


def of_window(scene: Scene) -> Mapping[str, Any]:
    """``seconds``, ``samples``, ``interval_s``, ``start_utc_s``, ``end_utc_s`` of everything seen;
    ``devices``: ``[{key, name, index}]``."""
    whole = scene.whole
    return {
        "seconds": round(whole.seconds, 2),
        "samples": len(whole),
        "interval_s": round(whole.interval_s, 2),
        "start_utc_s": round(float(whole.utc_s[0]), 2),
        "end_utc_s": round(float(whole.utc_s[-1]), 2),
        "devices": [
            {"key": str(key), "name": track.info.name, "index": track.info.index}
            for key, track in whole.devices.items()
        ],
    }


def of_job(scene: Scene) -> Mapping[str, Any]:
    """``pid``, ``pids``, ``name``, ``framework`` (as loaded in any of its processes), ``environment``; ``seconds``,
    ``samples``, ``start_utc_s``, ``end_utc_s`` of the steady part, and ``skipped_s`` before it. ``devices``: keys
    of those it uses.
    ``presumed``: the driver lists no program, so the GPU that works is taken for its."""
    if scene.job is None:
        return {}
    processes = scene.job.processes
    named = next((track.last for track in processes if track.last.name), None)
    frameworks = dict.fromkeys(name for track in processes for name in track.last.framework.split(", ") if name)
    return {
        "pid": scene.job.pid or None,
        "presumed": scene.job.presumed or None,
        "pids": [track.pid for track in processes],
        "devices": [str(key) for key in scene.job.devices],
        "name": named.name if named is not None else None,
        "framework": ", ".join(frameworks) or None,
        "environment": next((track.last.environment for track in processes if track.last.environment), None),
        "seconds": round(scene.window.seconds, 2),
        "samples": len(scene.window),
        "start_utc_s": round(float(scene.window.utc_s[0]), 2) if len(scene.window) else None,
        "end_utc_s": round(float(scene.window.utc_s[-1]), 2) if len(scene.window) else None,
        "skipped_s": round(float(scene.window.times_s[0] - scene.whole.times_s[0]), 1) if len(scene.window) else None,
    }
