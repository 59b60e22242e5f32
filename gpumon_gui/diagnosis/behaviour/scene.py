"""Knows: what a feature may look at: a job within a window. Must not know: any feature."""

from __future__ import annotations

from dataclasses import dataclass

from gpumon_gui.diagnosis.behaviour.jobs import Job
from gpumon_gui.diagnosis.behaviour.window import Window


@dataclass(frozen=True, slots=True)
class Scene:
    """``whole`` is everything seen, ``window`` its steady part (start-up and what came before a change of the
    workload are cut off). ``job`` is cut to the steady part, ``whole_job`` is not; both None where nothing uses a GPU.
    ``others`` are the other jobs on the same machine, steady part."""

    whole: Window
    window: Window
    job: Job | None
    whole_job: Job | None
    others: tuple[Job, ...]
