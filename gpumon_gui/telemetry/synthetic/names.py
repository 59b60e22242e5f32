"""Knows: what the scripted machines are called, in the order of the table. Must not know: what they are.

A name is checked before a process is started for it; the machines themselves are 5 MB of code.
"""

from __future__ import annotations

from typing import Final

from gpumon_gui.core.messages import _


class UnknownScenario(ValueError):  # noqa: N818 - reads as a statement
    """There is no scenario of that name. The message lists those that exist."""


NAMES: Final[tuple[str, ...]] = (
    "one-gpu-training",
    "h200-serving",
    "idle-holding",
    "laptop-hybrid",
    "eight-gpus",
    "sixteen-gpus",
    "twenty-gpus",
    "mixed-vendors",
    "lost-gpu-at-start",
    "lost-gpu-while-described",
    "lost-gpu",
    "reset-required",
    "hot-unplug",
    "hot-plug",
    "driver-restart",
    "driver-gone",
    "hang",
    "hang-one-gpu",
    "hang-in-init",
    "killed-in-call",
    "crash-in-call",
    "slow-driver",
    "rubbish-bytes",
    "all-ones",
    "dcgm-blanks",
    "over-100-percent",
    "stale-samples",
    "593-watt-laptop",
    "negative-values",
    "counter-wrap",
    "frozen-power",
    "nan-metrics",
    "unified-memory",
    "no-driver",
    "library-damaged",
    "driver-not-loaded",
    "driver-mismatch",
    "no-permission",
    "no-device",
    "partly-refused",
    "old-driver",
    "struct-535",
    "struct-refused",
    "mig",
    "vgpu",
    "wddm",
    "process-names",
    "dead-processes",
    "recycled-pid",
    "foreign-pids",
    "hidden-processes",
    "absurd-list",
    "short-lived",
    "amd-only",
    "intel-only",
    "amd-unplugged",
    "windows-laptop",
    "windows-asleep",
    "windows-sums",
    "windows-no-counters",
)


def check_name(name: str) -> None:
    """Raises UnknownScenario with the names that exist."""
    if name not in NAMES:
        text = _("there is no scenario “{name}”. There are: {names}")
        raise UnknownScenario(text.format(name=name, names=", ".join(sorted(NAMES))))
