"""Knows: how a window of samples becomes facts and a diagnosis. Must not know: features, rules, sources of samples.

From Python::

    behaviour = judge(samples)              # every program that uses a GPU
    behaviour = judge(samples, pid=4711)    # one program, with its workers and ranks
    [finding.code for finding in behaviour.diagnosis.findings]
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from gpumon_gui.core.model import Sample
from gpumon_gui.diagnosis.behaviour.features.table import OF_JOB, OF_WINDOW, Feature
from gpumon_gui.diagnosis.behaviour.jobs import LONG_ENDED_S, UNLISTED, Job, jobs_of, lifetime, running
from gpumon_gui.diagnosis.behaviour.rolling import window_of
from gpumon_gui.diagnosis.behaviour.scene import Scene
from gpumon_gui.diagnosis.behaviour.steady import steady_start
from gpumon_gui.diagnosis.behaviour.window import Window
from gpumon_gui.diagnosis.engine import diagnose
from gpumon_gui.diagnosis.facts import Document, Origin
from gpumon_gui.diagnosis.finding import Diagnosis
from gpumon_gui.diagnosis.rule import Rule
from gpumon_gui.diagnosis.rules.table import RULES

_ORIGIN = "watch"
#: What the operating system tells of programs: parts of a job's facts, and the beginnings of names in other parts.
_OF_SYSTEM_PARTS = ("program", "cpu")
_OF_SYSTEM_NAMES = ("cpu", "read", "write", "workers")
_SYSTEM = "host"
#: Series that tell which instrument the facts of a device are from.
_TELLING = ("gpu_utilization", "memory_used_bytes", "power_w")


@dataclass(frozen=True, slots=True)
class Behaviour:
    """The facts of a window and what the rules make of them."""

    document: Document
    diagnosis: Diagnosis


def judge(
    samples: Sequence[Sample],
    pid: int | None = None,
    given: Mapping[str, Any] | None = None,
    rules: Sequence[Rule] = RULES,
) -> Behaviour:
    """Judge what was seen. ``given``: facts known besides (``os``, ``host``, ``gpus``, ``driver``). Raises ValueError
    without a sample."""
    return judge_window(window_of(samples), pid, given, rules)


def judge_window(
    window: Window,
    pid: int | None = None,
    given: Mapping[str, Any] | None = None,
    rules: Sequence[Rule] = RULES,
    recent_s: float = math.inf,
    now: bool = False,
) -> Behaviour:
    """Judge a window; the steady part is looked for in its last ``recent_s`` seconds. ``now``: what runs at its end
    counts; a program that ended before is left out."""
    document = facts_of(window, pid, given, recent_s, now)
    return Behaviour(document, diagnose(document, rules))


def facts_of(
    window: Window,
    pid: int | None = None,
    given: Mapping[str, Any] | None = None,
    recent_s: float = math.inf,
    now: bool = False,
) -> Document:
    """The facts document: ``window`` about the machine, ``jobs[]`` about each program (with ``subject``)."""
    jobs = jobs_of(window, pid)
    seen = window
    if now and pid is None and jobs:
        jobs = running(window, jobs)
        if not jobs:  # all have ended: the machine is what it has been since
            seen = window.part(int(np.searchsorted(window.times_s, window.times_s[-1] - LONG_ENDED_S)))
    # Who else uses the devices matters also to a program that was asked for alone.
    everybody = jobs if pid is None else jobs_of(window)
    machine = _features(OF_WINDOW, Scene(seen, seen, None, None, jobs))
    found = [_job_facts(window, job, _others(job, everybody), recent_s) for job in jobs]
    facts = {**(given or {}), "window": machine, "jobs": found}
    return Document(facts, origins=_origins(window, found))


def _origins(window: Window, jobs: Sequence[Mapping[str, Any]]) -> dict[str, Origin]:
    """What is known of devices is from their instrument (if it is one), of programs from the operating system."""
    time_utc_s = float(window.utc_s[-1])
    seen = [track.sources.get(series) for track in window.devices.values() for series in _TELLING]
    instruments = {source for source in seen if source}
    device = instruments.pop() if len(instruments) == 1 else _ORIGIN
    origins = {name: Origin(device, time_utc_s=time_utc_s) for name in ("window", "jobs")}
    for number, job in enumerate(jobs):
        for part, facts in job.items():
            names = facts if isinstance(facts, Mapping) else {}
            paths = [f"{part}.{name}" for name in names if str(name).startswith(_OF_SYSTEM_NAMES)]
            for path in [part] if part in _OF_SYSTEM_PARTS else paths:
                origins[f"jobs.{number}.{path}"] = Origin(_SYSTEM, time_utc_s=time_utc_s)
    return origins


def _others(job: Job, everybody: tuple[Job, ...]) -> tuple[Job, ...]:
    """The jobs that share no process with this one."""
    own = {track.pid for track in job.processes}
    return tuple(other for other in everybody if not own & {track.pid for track in other.processes})


def _job_facts(window: Window, job: Job, others: tuple[Job, ...], recent_s: float) -> dict[str, Any]:
    born, gone = lifetime(window, job)
    gone = gone or len(window)
    before = max(int(np.searchsorted(window.times_s, window.times_s[-1] - recent_s)), born)
    recent = window.part(before, gone)
    start = before + steady_start(recent, _within(recent, job), tuple(_within(recent, other) for other in others))
    steady = window.part(start, gone)
    steady_others = tuple(_within(steady, other) for other in others)
    scene = Scene(window, steady, _within(steady, job), job, steady_others)
    subject = "unlisted" if job.pid == UNLISTED else f"pid {job.pid}"
    return {"subject": subject, **_features(OF_JOB, scene)}


def _within(part: Window, job: Job) -> Job:
    """The job with its series cut to a part of the window."""
    cut = {(track.pid, track.last.started_utc_s): track for track in part.processes}
    return replace(job, processes=tuple(cut[(track.pid, track.last.started_utc_s)] for track in job.processes))


def _features(table: Sequence[tuple[str, Feature]], scene: Scene) -> dict[str, Any]:
    facts = {key: _known(feature(scene)) for key, feature in table}
    return {key: part for key, part in facts.items() if part}


def _known(facts: Mapping[str, Any]) -> dict[str, Any]:
    """Without what is unknown, at every depth."""
    return {
        key: _known(value) if isinstance(value, Mapping) else value for key, value in facts.items() if value is not None
    }
