"""Knows: that Task Manager's first graphs do not show CUDA. Must not know: the other rules."""

from __future__ import annotations

from gpumon_gui.core.formatters import percent
from gpumon_gui.core.messages import N_
from gpumon_gui.diagnosis import advice
from gpumon_gui.diagnosis.behaviour.parts import Part, parts
from gpumon_gui.diagnosis.evidence import measured, told
from gpumon_gui.diagnosis.facts import View
from gpumon_gui.diagnosis.finding import Confidence, Severity, Step
from gpumon_gui.diagnosis.rule import CLEAR, Help, Hit, Lacks, Outcome, Rule, Scope

#: Somebody who looks at the graphs sees next to nothing while the card works.
_WORKS, _SHOWN = 0.3, 0.15


def _watch(view: View) -> Outcome:
    devices = [part for part in parts(view, "window.health.devices") if part.number("engines_default") is not None]
    if not devices:
        return Lacks(("window.health.devices",))
    for part in devices:
        computing = _computing(part)
        shown = part.number("engines_default") or 0.0
        if computing is None or computing < _WORKS or shown > _SHOWN:
            continue
        values = {"gpu": part.label, "computing": percent(computing), "shown": f"{percent(shown)}"}
        evidence = measured(
            view,
            "window.health.devices",
            told(N_("{gpu} computes {share}"), gpu=part.label, share=percent(computing)),
            told(N_("3D, Copy and Video engines at most {share}"), share=percent(shown)),
        )
        seen = part.number("engines_compute") is not None
        return Hit(Confidence.HIGH if seen else Confidence.MEDIUM, (evidence,), values)
    return CLEAR


def _computing(part: Part) -> float | None:
    found = part.number("engines_compute")
    return part.number("busy") if found is None else found


def _advise(_view: View, _hit: Hit) -> tuple[Step, ...]:
    return (
        advice.say(
            N_(
                "In Task Manager, Performance, GPU: click on the name of a graph (3D, Copy …) and choose Cuda or "
                "Compute_0. If neither is offered, believe the driver's figure instead:"
            ),
            "nvidia-smi",
        ),
    )


RULE = Rule(
    code="task-manager-wrong-engine",
    scope=Scope.JOB,
    step=9,
    severity=Severity.INFO,
    title=N_("{gpu} computes {computing} of the time, but Task Manager's first graphs show at most {shown}"),
    help=Help(
        what=N_("Whether Windows' Task Manager hides that the GPU computes."),
        why=N_("Its four graphs show 3D, Copy and Video by default; CUDA runs on another engine."),
        how=N_("The engines that compute are at least 30 percent busy, the shown ones at most 15 percent."),
        wrong=N_("Graphs that were changed before show it."),
        todo=N_("Choose the Cuda or Compute_0 graph."),
    ),
    watch=_watch,
    watch_scope=Scope.MACHINE,
    advise=_advise,
)
