"""Knows: a program that computes on the CPU beside a GPU. Must not know: the other causes, what a program printed."""

from __future__ import annotations

from gpumon_gui.core.messages import N_
from gpumon_gui.diagnosis import tuning
from gpumon_gui.diagnosis.behaviour.causes.picture import core_count, counts, look, shares
from gpumon_gui.diagnosis.behaviour.parts import parts
from gpumon_gui.diagnosis.facts import View
from gpumon_gui.diagnosis.finding import Confidence, Evidence, Severity, Step
from gpumon_gui.diagnosis.rule import CLEAR, Hit, Lacks, Outcome

#: Imports and reading data keep one core busy for some seconds, rarely two, and rarely for so long. What helpers do
#: (loading data, compiling) is no computation of the program itself.
_LEAST_S = 4.0
_ONE_CORE, _COMPUTES = 0.8, 1.7
_LONG_S = 15.0
_IDLE = 0.005
#: A context, with the libraries' work spaces, takes 250 to 700 MiB (measured: 450 MiB on an H200).
_CONTEXT = 1.2e9
#: A program that has opened the GPU may be starting (compiling, reading data).
_OPENED_S = 8.0
_START_S = 40.0

_MEMORY = "job.memory.devices"

_NOTHING = N_("The program computes on the CPU ({cores} cores): it has nothing on the GPU")
_OPENED = N_(
    "The program computes on the CPU ({cores} cores) and leaves the GPU idle, although it has opened it: perhaps the "
    "model was not moved there"
)


def watch(view: View) -> Outcome:
    """Judge a program by its behaviour."""
    seen = look(view)
    if not view.items("window.seen.devices"):
        return Lacks(("window.seen.devices",))
    if seen.cores is None:
        return Lacks(("job.cpu.cores",))
    if max(seen.busy or 0.0, seen.kernels or 0.0) >= _IDLE:
        return CLEAR
    if seen.cores < _ONE_CORE:
        return CLEAR
    values = {"cores": core_count(seen.cores), "kind": "watched"}
    evidence = (
        *counts(view, "job.cpu.cores", "job.cpu.threads", *(("job.cpu.workers",) if seen.workers else ())),
        *shares(view, "job.activity.busy", "job.cpu.machine"),
    )
    pids = view.items("job.program.pids")
    if seen.draws or (pids and view.number("job.program.pid") not in pids):
        return CLEAR  # a game, or what a program started that only draws
    if view.flag("window.health.unexplained") is True:
        return Lacks(("window.health.unexplained",))  # it may be this program's work, seen under another number
    if not view.known("job.activity.device") and any(one.number("job_bytes") for one in parts(view, _MEMORY)):
        return Lacks(("job.activity.busy",))  # it is on a GPU whose load nobody tells (MIG)
    if view.known("job.activity.device"):
        held = [one.number("job_bytes") or 0.0 for one in parts(view, _MEMORY)]
        if max(held, default=0.0) > _CONTEXT:
            return CLEAR  # more than an opened GPU takes: model or data are there
        return _opened(seen.main or 0.0, seen.seconds, values, evidence)
    if seen.seconds < _LEAST_S:
        return Lacks(("job.program.seconds",))
    framework = view.text("job.program.framework")
    if (seen.main or 0.0) >= _COMPUTES:
        confidence = Confidence.HIGH if framework and seen.seconds >= 8 else Confidence.MEDIUM
    else:
        confidence = Confidence.MEDIUM if framework and seen.seconds >= _LONG_S else Confidence.LOW
    return Hit(confidence, evidence, values, severity=_severity(confidence), title=_NOTHING)


def _opened(cores: float, seconds: float, values: dict[str, str], evidence: tuple[Evidence, ...]) -> Outcome:
    if cores < _COMPUTES or seconds < _OPENED_S:
        return CLEAR
    confidence = Confidence.MEDIUM if seconds >= _START_S else Confidence.LOW
    return Hit(confidence, evidence, values, severity=_severity(confidence), title=_OPENED)


def _severity(confidence: Confidence) -> Severity | None:
    return Severity.INFO if confidence is Confidence.LOW else None


def advise(view: View, _hit: Hit) -> tuple[Step, ...]:
    """Move model and data."""
    return tuning.steps(view, "to-gpu")
