"""Knows: how a window of samples becomes facts and a diagnosis. Must not know: features, rules, sources of samples.

From Python::

    behaviour = judge(samples)              # every program that uses a GPU
    behaviour = judge(samples, pid=4711)    # one program, with its workers and ranks
    [finding.code for finding in behaviour.diagnosis.findings]
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from gpumon_gui.core.model import Sample
from gpumon_gui.diagnosis.behaviour.features.table import OF_JOB, OF_WINDOW, Feature
from gpumon_gui.diagnosis.behaviour.jobs import Job, jobs_of
from gpumon_gui.diagnosis.behaviour.scene import Scene
from gpumon_gui.diagnosis.behaviour.steady import steady_start
from gpumon_gui.diagnosis.behaviour.window import Window, window_of
from gpumon_gui.diagnosis.engine import diagnose
from gpumon_gui.diagnosis.facts import Document, Origin
from gpumon_gui.diagnosis.finding import Diagnosis
from gpumon_gui.diagnosis.rule import Rule
from gpumon_gui.diagnosis.rules.table import RULES

_ORIGIN = "watch"


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
    if not samples:
        raise ValueError("no samples")
    document = facts_of(window_of(samples), pid, given)
    return Behaviour(document, diagnose(document, rules))


def facts_of(window: Window, pid: int | None = None, given: Mapping[str, Any] | None = None) -> Document:
    """The facts document: ``window`` about the machine, ``jobs[]`` about each program (with ``subject``)."""
    jobs = jobs_of(window, pid)
    # Who else uses the devices matters also to a program that was asked for alone.
    everybody = jobs if pid is None else jobs_of(window)
    machine = _features(OF_WINDOW, Scene(window, window, None, None, jobs))
    found = [_job_facts(window, job, _others(job, everybody)) for job in jobs]
    origin = Origin(_ORIGIN, time_utc_s=float(window.utc_s[-1]))
    return Document({**(given or {}), "window": machine, "jobs": found}, origins={"window": origin, "jobs": origin})


def _others(job: Job, everybody: tuple[Job, ...]) -> tuple[Job, ...]:
    """The jobs that share no process with this one."""
    own = {track.pid for track in job.processes}
    return tuple(other for other in everybody if not own & {track.pid for track in other.processes})


def _job_facts(window: Window, job: Job, others: tuple[Job, ...]) -> dict[str, Any]:
    start = steady_start(window, job, others)
    steady = window.part(start) if start else window
    if start:
        cut = {track.pid: track for track in steady.processes}
        steady_job = Job(job.pid, tuple(cut[track.pid] for track in job.processes), job.devices)
        others = tuple(Job(o.pid, tuple(cut[track.pid] for track in o.processes), o.devices) for o in others)
    else:
        steady_job = job
    return {"subject": f"pid {job.pid}", **_features(OF_JOB, Scene(window, steady, steady_job, job, others))}


def _features(table: Sequence[tuple[str, Feature]], scene: Scene) -> dict[str, Any]:
    facts = {key: _known(feature(scene)) for key, feature in table}
    return {key: part for key, part in facts.items() if part}


def _known(facts: Mapping[str, Any]) -> dict[str, Any]:
    """Without what is unknown, at every depth."""
    return {
        key: _known(value) if isinstance(value, Mapping) else value for key, value in facts.items() if value is not None
    }
