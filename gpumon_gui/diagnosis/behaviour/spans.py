"""Knows: which parts of a window show a finding, so that a chart can mark them. Must not know: whether a finding holds.

A part is marked by what the finding is about (no work on the GPU, a throttle reason, a low P-state); a finding that is
about all of the work, such as kernels that are too small, has the whole steady part.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from gpumon_gui.core.metrics import ClockReason
from gpumon_gui.diagnosis.behaviour.window import DeviceTrack, Series, Window
from gpumon_gui.diagnosis.finding import Finding

#: The code of the span that is no finding: the part of the window that was judged.
STEADY: Final = ""
#: A verdict may be called stable after so much of the steady part: eight times what NVML's figures look back at most.
ENOUGH_S: Final = 8.0
#: Breaks up to so long do not part a span: NVML's figures look back up to a second.
_JOIN_S: Final = 1.0
#: A chart that has more marks shows nothing.
_MOST: Final = 60
#: Busy less than this is no work: a desktop draws, a monitor asks.
_IDLE: Final = 0.05
#: A P-state this high number is one without load (NVIDIA: P0–P2 are those of work).
_LOW_PSTATE: Final = 5

Mask = npt.NDArray[np.bool_]
Tracks = Sequence[DeviceTrack]


@dataclass(frozen=True, slots=True)
class Span:
    """A part of the time line that shows a finding: UTC seconds; ``code`` of the finding (:data:`STEADY`: what was
    judged), ``subject`` as there."""

    code: str
    subject: str
    start_utc_s: float
    end_utc_s: float


def spans(window: Window, jobs: tuple[Mapping[str, Any], ...], findings: tuple[Finding, ...]) -> tuple[Span, ...]:
    """The judged part of every job, then for each finding the parts of it that show it on the devices of its job (all
    of them for a finding about the machine). ``jobs``: the facts."""
    devices = {str(job.get("subject")): _devices(job) for job in jobs}
    steady = {str(job.get("subject")): _steady_s(window, job) for job in jobs}
    found = [Span(STEADY, subject, *_utc(window, since, len(window) - 1)) for subject, since in steady.items()]
    for finding in findings:
        since = steady.get(finding.subject, 0)
        show = _SHOWN.get(finding.code)
        part = window.part(since)
        keys = devices.get(finding.subject)
        tracks = [track for key, track in part.devices.items() if keys is None or str(key) in keys]
        mask = show(tracks) if show is not None else None
        parts = _ranges(part, mask) if mask is not None else []
        if parts:
            found += [Span(finding.code, finding.subject, *_utc(part, *ends)) for ends in parts]
        else:
            found.append(Span(finding.code, finding.subject, *_utc(part, 0, len(part) - 1)))
    return tuple(found[:_MOST])


def _devices(job: Mapping[str, Any]) -> Sequence[str] | None:
    program = job.get("program")
    found = program.get("devices") if isinstance(program, Mapping) else None
    return found if isinstance(found, list | tuple) else None


def _steady_s(window: Window, job: Mapping[str, Any]) -> int:
    program = job.get("program")
    skipped = program.get("skipped_s") if isinstance(program, Mapping) else None
    if not isinstance(skipped, int | float):
        return 0
    at = int(np.searchsorted(window.times_s, window.times_s[0] + skipped - 0.06))  # told in tenths of a second
    return min(at, len(window) - 1)


def _utc(window: Window, first: int, last: int) -> tuple[float, float]:
    return float(window.utc_s[first]), float(window.utc_s[last])


def _ranges(window: Window, mask: Mask) -> list[tuple[int, int]]:
    """First and last index of each run of True; runs that are close are one."""
    found: list[tuple[int, int]] = []
    for index in np.flatnonzero(mask):
        at = int(index)
        near = found and window.times_s[at] - window.times_s[found[-1][1]] <= max(_JOIN_S, 1.5 * window.interval_s)
        if near:
            found[-1] = (found[-1][0], at)
        else:
            found.append((at, at))
    return [ends for ends in found if ends[1] > ends[0]]


def _idle(tracks: Tracks) -> Mask | None:
    """No device works; where one does not say, it cannot be told."""
    busy = [track.series.get("gpu_utilization", track.series.get("engine_utilization")) for track in tracks]
    known = [series for series in busy if series is not None]
    if not known or len(known) < len(busy):
        return None
    idle: Mask = np.max(known, axis=0) <= _IDLE  # with a missing value it is missing: not less than anything
    return idle


def _any(name: str, test: Callable[[Series], Mask]) -> Callable[[Tracks], Mask | None]:
    """On at least one of the devices; a value that is missing shows nothing."""

    def shown(tracks: Tracks) -> Mask | None:
        found = None
        for track in tracks:
            if name in track.series:
                here = test(np.nan_to_num(track.series[name]))
                found = here if found is None else found | here
        return found

    return shown


def _reason(reason: ClockReason) -> Callable[[Tracks], Mask | None]:
    return _any("throttle_reasons", lambda masks: masks.astype(np.int64) & int(reason) != 0)


_SHOWN: Final[Mapping[str, Callable[[Tracks], Mask | None]]] = {
    "gpu-idle-gaps-cpu-phase": _idle,
    "input-pipeline-bound": _idle,
    "gpu-memory-held-idle": _idle,
    "gpu-thermal-throttling": _reason(ClockReason.HEAT),
    "gpu-power-throttling": _reason(ClockReason.POWER),
    "gpu-stuck-in-low-pstate": _any("pstate", lambda states: states >= _LOW_PSTATE),
}
