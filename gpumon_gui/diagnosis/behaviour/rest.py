"""Knows: what a device draws while nothing runs on it. Must not know: features, rules."""

from __future__ import annotations

from typing import Final

import numpy as np
import numpy.typing as npt

from gpumon_gui.diagnosis.behaviour.series import level, middle
from gpumon_gui.diagnosis.behaviour.window import Series, Window
from gpumon_gui.diagnosis.behaviour.work import Work

#: NVML's power is the average of a second on most boards since Ampere; a little more for utilization before it.
_LAG_S: Final = 1.4
#: Busy for no more than this is rest.
_RESTS: Final = 0.01
#: Clocks that differ by no more than this are those of the work. Before a program opened it, the card slept.
_SAME_CLOCK: Final = 0.2
_LEAST_SAMPLES: Final = 3


def rest_w(whole: Window, work: Work) -> float | None:
    """Watts at about the clock of the work, wherever in the window the device of ``work`` rested; None where it never
    did, or where it is shared."""
    track = whole.devices[work.key]
    power, busy = track.series.get("power_w"), track.series.get("gpu_utilization")
    if power is None or busy is None or work.alone is False:
        return None
    rests = busy <= _RESTS
    clocks, usual = track.series.get("clock_sm_mhz"), middle(work.track.series.get("clock_sm_mhz"))
    if clocks is not None and usual:
        rests &= np.abs(clocks - usual) <= _SAME_CLOCK * usual
    there = power[_for_long(rests, whole.times_s) & np.isfinite(power)]
    return level(there, 0.25) if len(there) >= _LEAST_SAMPLES else None


def _for_long(rests: npt.NDArray[np.bool_], times_s: Series) -> npt.NDArray[np.bool_]:
    """Where it has rested for as long as the power looks back, and will in the next sample."""
    found = np.zeros(len(rests), dtype=np.bool_)
    since: float | None = None
    for index, value in enumerate(rests):
        if not value:
            since = None
        elif since is None:
            since = times_s[index]
        found[index] = since is not None and times_s[index] - since >= _LAG_S
    found[:-1] &= found[1:]
    return found
