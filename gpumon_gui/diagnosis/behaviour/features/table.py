"""Knows: every feature there is. Must not know: how any is computed."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from gpumon_gui.diagnosis.behaviour.features import (
    activity,
    clocks,
    cpu,
    devices,
    groups,
    identity,
    memory,
    phases,
    precision,
    progress,
    sharing,
    transfers,
)
from gpumon_gui.diagnosis.behaviour.scene import Scene

Feature = Callable[[Scene], Mapping[str, Any]]
"""Facts below one key; None values and empty mappings are left out: absent means unknown."""

#: Key of the machine's window facts → feature. They see the window, ``scene.job`` is None.
OF_WINDOW: tuple[tuple[str, Feature], ...] = (
    ("seen", identity.of_window),
    ("health", devices.of_window),
    ("sharing", sharing.of_window),
)
#: Key of a job's facts → feature.
OF_JOB: tuple[tuple[str, Feature], ...] = (
    ("program", identity.of_job),
    ("activity", activity.of_job),
    ("cpu", cpu.of_job),
    ("transfers", transfers.of_job),
    ("phases", phases.of_job),
    ("precision", precision.of_job),
    ("memory", memory.of_job),
    ("clocks", clocks.of_job),
    ("groups", groups.of_job),
    ("progress", progress.of_job),
)
