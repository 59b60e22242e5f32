"""Knows: which processes belong together: a program with its ranks, workers and helpers. Must not know: what they do.

A job is a root process and everything started below it. Ranks of one launcher are one job: they wait for each other.
Programs that one shell started on a GPU each (a sweep) are not: they only look alike.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Final

import numpy as np

from gpumon_gui.core.model import DeviceKey
from gpumon_gui.diagnosis.behaviour.window import DeviceTrack, ProcessTrack, Window

#: Options by which a launcher tells a rank which one it is (torch.distributed.launch, DeepSpeed, MPI wrappers), and the
#: handles that Python's multiprocessing gives its children.
_RANK_OPTION: Final = re.compile(r"-*(local[_-]?)?(rank|world[_-]?size)|(pipe_handle|tracker_fd|parent_pid)", re.ASCII)
_NUMBERED: Final = re.compile(r"(pipe_handle|tracker_fd|parent_pid|(?:local[_-]?)?rank)\s*=\s*\d+", re.ASCII)
#: Traffic between GPUs that somebody must have started (NVLink rests at zero).
_TALKS_BYTES_PER_S: Final = 1e6
#: What a GPU sends over PCIe while it exchanges nothing: answers to the program that feeds it (12 MB/s in training).
_QUIET_BYTES_PER_S: Final = 30e6
#: Busy for less than this share of the time a GPU may as well have drawn a desktop.
_WORKS: Final = 0.05
#: Seconds after which a program that is not listed any more has ended; and until that is all there is to say.
_ENDED_S, _ENDED_SAMPLES = 3.0, 3
LONG_ENDED_S: Final = 10.0
#: The pid of a job that nobody can name.
UNLISTED: Final = 0


@dataclass(frozen=True, slots=True)
class Job:
    """``pid`` names it (:data:`UNLISTED`: nobody knows); ``processes`` are all of it, those with a GPU first;
    ``devices`` the ones it uses. ``presumed``: the driver lists no program anywhere, so that the devices that work are
    taken for those of the only program there is."""

    pid: int
    processes: tuple[ProcessTrack, ...]
    devices: tuple[DeviceKey, ...]
    presumed: bool = False


def jobs_of(window: Window, pid: int | None = None) -> tuple[Job, ...]:
    """The jobs in a window, those with a GPU first; only that of ``pid`` and below where one is given.

    Without ``pid``: every process that computes on a GPU or has a framework loaded, with whatever was started by the
    same parent out of those (ranks of a launcher) or below it.

    In a container, in WSL and in logs of nvidia-smi no program is listed: then a GPU that works is that of the program
    asked for, or of the only one with a framework, or of one that has no name.
    """
    unlisted = _unlisted(window)
    jobs = _listed(window, pid)
    if not unlisted:
        return jobs
    if pid is not None and len(_listed(window, None)) > 1:
        return jobs  # whose work it is cannot be told
    if len(jobs) == 1:
        return (replace(jobs[0], devices=unlisted, presumed=True),)
    return jobs if jobs or pid is not None else (Job(UNLISTED, (), unlisted, presumed=True),)


def running(window: Window, jobs: tuple[Job, ...]) -> tuple[Job, ...]:
    """Without the jobs that have ended; one that ended a moment ago is kept where no other runs."""
    ended = {job.pid: _ended_s(window, job) for job in jobs}
    still = tuple(job for job in jobs if not ended[job.pid])
    return still or tuple(job for job in jobs if ended[job.pid] <= LONG_ENDED_S)


def _ended_s(window: Window, job: Job) -> float:
    """Seconds since it ended; 0 while it runs, and for one that has no name."""
    _first, end = lifetime(window, job)
    return float(window.times_s[-1] - window.times_s[end - 1]) if end else np.inf


def lifetime(window: Window, job: Job) -> tuple[int, int]:
    """The samples in which a job was there, first and end: what a device did before or after is somebody else's. All of
    them for a job that has no name; (0, 0) for one that was never listed."""
    if not job.processes:
        return 0, len(window)
    there = np.flatnonzero(np.any([track.present for track in job.processes], axis=0))
    if not there.size:
        return 0, 0
    first, last = int(there[0]), int(there[-1])
    # Lists of processes may be read less often than figures of devices, and single ones fail.
    ended = len(window) - last > _ENDED_SAMPLES and window.times_s[-1] - window.times_s[last] > _ENDED_S
    return first, last + 1 if ended else len(window)


def _unlisted(window: Window) -> tuple[DeviceKey, ...]:
    """The devices that work while no program is listed on any."""
    if any(track.uses for track in window.processes):
        return ()
    return tuple(key for key, track in window.devices.items() if _works(track))


def _works(track: DeviceTrack) -> bool:
    busy = track.series.get("gpu_utilization", track.series.get("engine_utilization"))
    return busy is not None and float(np.nanmean(busy)) >= _WORKS


def _listed(window: Window, pid: int | None) -> tuple[Job, ...]:
    tracks = {track.pid: track for track in window.processes}
    if pid is not None:
        below = [track for track in tracks.values() if pid == track.pid or pid in _line(track, tracks)]
        return (_job(pid, below),) if below else ()
    groups: dict[int, list[ProcessTrack]] = {}
    for track in tracks.values():
        if track.uses and not track.computes and not track.last.framework:
            continue  # draws only
        groups.setdefault(_root(track, tracks, window), []).append(track)
    jobs = [_job(root, members) for root, members in groups.items()]
    return tuple(sorted(jobs, key=lambda job: (not job.devices, job.pid)))


def belong_together(job: Job) -> bool:
    """Whether the processes of a job are sure to be one program: one of them started the others, or their commands
    number them or name Python's multiprocessing. Else they only look so: the same command, started by one parent."""
    using = [track for track in job.processes if track.uses]
    listed = {track.pid for track in job.processes}
    if len(using) < 2 or sum(track.last.ppid in listed for track in using) >= len(using) - 1:
        return True
    return all(_command(track) != track.last.command or _is_child(track) for track in using)


def _is_child(track: ProcessTrack) -> bool:
    """Whether Python's multiprocessing started it, as one of several."""
    return any("multiprocessing" in word for word in track.last.command)


def _root(track: ProcessTrack, tracks: dict[int, ProcessTrack], window: Window) -> int:
    """The oldest listed ancestor; for siblings of one unlisted launcher the smallest pid among them."""
    line = _line(track, tracks)
    oldest = tracks[line[-1]] if line else track
    if not oldest.uses or oldest.last.ppid in (None, 0):
        return oldest.pid
    ranks = [other.pid for other in tracks.values() if _are_ranks(oldest, other, window)]
    return min([oldest.pid, *ranks])


def _are_ranks(one: ProcessTrack, other: ProcessTrack, window: Window) -> bool:
    """Whether two processes are ranks of one launcher: children of one parent with a GPU each that run the same
    command at the same time, except for what numbers them. GPUs that are seen to exchange nothing belong to separate
    programs, and orphans (children of process 1) belong together only where their GPUs are seen to exchange something.
    """
    if one is other or not other.uses or one.last.ppid != other.last.ppid or one.last.name != other.last.name:
        return False
    if _command(one) != _command(other) or not np.any(one.present & other.present):
        return False
    talks = _talk(window, {*one.uses, *other.uses})
    return talks is True if one.last.ppid == 1 else talks is not False


def _command(track: ProcessTrack) -> tuple[str, ...]:
    """What was started, without what tells ranks apart."""
    return _unnumbered(track.last.command)


@lru_cache(maxsize=1024)  # asked for every pair of processes, each second
def _unnumbered(command: tuple[str, ...]) -> tuple[str, ...]:
    words: list[str] = []
    skip = False
    for word in command:
        if skip and word.isdigit():
            skip = False
            continue
        name, given, _value = word.partition("=")
        is_rank = _RANK_OPTION.fullmatch(name.lower()) is not None
        skip = is_rank and not given
        words.append(name if is_rank else _NUMBERED.sub(r"\1", word))
    return tuple(words)


def _talk(window: Window, keys: set[DeviceKey]) -> bool | None:
    """Whether these GPUs exchange data over NVLink; None where nobody counts it, or where they work on nothing yet."""
    traffic, busy = [], []
    for key in keys:
        series = window.devices[key].series if key in window.devices else {}
        if "nvlink_tx_bytes_per_s" not in series or "sm_activity" not in series:
            return None
        traffic.append(float(np.nanmax(series["nvlink_tx_bytes_per_s"])))
        busy.append(float(np.nanmax(series["sm_activity"])))
    if len(traffic) > 1 and min(traffic) >= _TALKS_BYTES_PER_S:
        return True
    # Cards without a bridge exchange over PCIe, which other traffic uses too: nothing can be said then.
    sent = [window.devices[key].series.get("pcie_tx_bytes_per_s") for key in keys]
    if any(series is None or not np.nanmedian(series) < _QUIET_BYTES_PER_S for series in sent):
        return None
    return False if min(busy) > 0.2 else None


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
