"""Knows: which arithmetic units a job's kernels use (hardware counters). Must not know: rules."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from gpumon_gui.diagnosis.behaviour.scene import Scene
from gpumon_gui.diagnosis.behaviour.series import mean, rounded
from gpumon_gui.diagnosis.behaviour.work import work_of
from gpumon_gui.diagnosis.compat.gpus import product

_UNITS: Final = ("tensor", "fp64", "fp32", "fp16", "dram")


def of_job(scene: Scene) -> Mapping[str, Any]:
    """The busiest device, where it has hardware counters and only this job works on it: ``tensor``, ``fp64``, ``fp32``,
    ``fp16`` and ``dram`` activity per time with kernels (1: that unit was busy while any kernel ran); ``tensor_cores``:
    whether the card has any (absent: not known); ``memory_controller``: share of time (no hardware counter needed)."""
    if scene.job is None:
        return {}
    works = work_of(scene.window, scene.job, scene.others)
    if not works:
        return {}
    work = works[0]
    kernels = mean(work.of_device("graphics_activity"))
    found = product(work.track.info.name)
    facts: dict[str, Any] = {
        "tensor_cores": None if found is None else found.tensor_cores,
        "memory_controller": rounded(mean(work.of_device("memory_utilization"))),
        "kernels": rounded(kernels),
    }
    if kernels is None or kernels < 0.05:
        return facts
    for unit in _UNITS:
        value = mean(work.of_device(f"{unit}_activity"))
        facts[unit] = None if value is None else rounded(value / kernels)
    return facts
