"""Knows: which part of a window a verdict is about. Must not know: what the verdict is."""

from __future__ import annotations

import numpy as np

from gpumon_gui.diagnosis.behaviour.jobs import Job
from gpumon_gui.diagnosis.behaviour.window import Window


def steady_start(window: Window, job: Job | None) -> int:
    """The index of the first sample of the steady part; 0 when everything is.

    Start-up: until the job's memory on its devices first reaches half of what it has in the last half of the window.
    """
    if job is None or len(window) < 4:
        return 0
    memory = np.zeros(len(window))
    for track in job.processes:
        for series in track.uses.values():
            memory += np.nan_to_num(series.get("process_memory_bytes", np.zeros(len(window))))
    usual = float(np.median(memory[len(memory) // 2 :]))
    if usual <= 0:
        return 0
    return min(int(np.argmax(memory >= usual / 2)), len(window) // 2)
