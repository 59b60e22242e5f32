"""Knows: which processes belong together: a program with its ranks, workers and helpers. Must not know: what they do.

A job is a root process and everything started below it. Ranks of one launcher are one job: they wait for each other.
"""

from __future__ import annotations

from dataclasses import dataclass

from gpumon_gui.core.model import DeviceKey
from gpumon_gui.diagnosis.behaviour.window import ProcessTrack, Window


@dataclass(frozen=True, slots=True)
class Job:
    """``pid`` names it; ``processes`` are all of it, those with a GPU first; ``devices`` the ones it uses."""

    pid: int
    processes: tuple[ProcessTrack, ...]
    devices: tuple[DeviceKey, ...]


def jobs_of(window: Window, pid: int | None = None) -> tuple[Job, ...]:
    """The jobs in a window, the one with the most GPU memory first; only that of ``pid`` and below where one is given.

    Without ``pid``: every process that computes on a GPU or has a framework loaded, with whatever was started by the
    same parent out of those (ranks of a launcher) or below it.
    """
    tracks = {track.pid: track for track in window.processes}
    if pid is not None:
        below = [track for track in tracks.values() if pid == track.pid or pid in _line(track, tracks)]
        return (_job(pid, below),) if below else ()
    groups: dict[int, list[ProcessTrack]] = {}
    for track in tracks.values():
        if track.uses and not track.computes and not track.last.framework:
            continue  # draws only
        groups.setdefault(_root(track, tracks), []).append(track)
    jobs = [_job(root, members) for root, members in groups.items()]
    return tuple(sorted(jobs, key=lambda job: (not job.devices, job.pid)))


def _root(track: ProcessTrack, tracks: dict[int, ProcessTrack]) -> int:
    """The oldest listed ancestor; for siblings of one unlisted launcher the smallest pid among them.

    Only ranks are siblings: processes of one parent that run the same command on a GPU each. Two programs started from
    one shell share a parent too.
    """
    line = _line(track, tracks)
    oldest = tracks[line[-1]] if line else track
    if oldest.last.ppid in (None, 0, 1) or not oldest.uses:
        return oldest.pid
    ranks = [
        other.pid
        for other in tracks.values()
        if other.uses and other.last.ppid == oldest.last.ppid and _program(other) == _program(oldest)
    ]
    return min([oldest.pid, *ranks])


def _program(track: ProcessTrack) -> tuple[str, ...]:
    """What was started: interpreter and script, without what tells ranks apart."""
    return track.last.command[:3] or (track.last.name,)


def _line(track: ProcessTrack, tracks: dict[int, ProcessTrack]) -> list[int]:
    """Listed ancestors, nearest first. Pids can be reused, so a circle is possible."""
    line: list[int] = []
    parent = track.last.ppid
    while parent is not None and parent in tracks and parent not in line and parent != track.pid:
        line.append(parent)
        parent = tracks[parent].last.ppid
    return line


def _job(pid: int, members: list[ProcessTrack]) -> Job:
    ordered = sorted(members, key=lambda track: (not track.uses, track.pid != pid, track.pid))
    devices = dict.fromkeys(key for track in ordered for key in track.uses)
    return Job(pid, tuple(ordered), tuple(devices))
