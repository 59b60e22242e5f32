"""Knows: memory that a program takes more of with each step. Must not know: the other rules."""

from __future__ import annotations

import math

from gpumon_gui.core.formatters import memory
from gpumon_gui.core.messages import N_
from gpumon_gui.diagnosis import in_profile, tuning
from gpumon_gui.diagnosis.behaviour.parts import Part, parts
from gpumon_gui.diagnosis.evidence import measured, told
from gpumon_gui.diagnosis.facts import View
from gpumon_gui.diagnosis.finding import GPU_MEMORY, Confidence, Severity, Step
from gpumon_gui.diagnosis.rule import CLEAR, Help, Hit, Lacks, Outcome, Rule, Scope
from gpumon_gui.diagnosis.script.sign import Sign, needs, with_script
from gpumon_gui.diagnosis.script.sign import advise as better

_CODE = "gpu-memory-growing"
_KEEPS = N_("The script keeps losses together with what computed them: memory grows with each step ({place})")
_IN_SCRIPT = (
    Sign(
        "script-loss-sum",
        Confidence.MEDIUM,
        N_("Add a copy without its graph to {name} ({place}):"),
        "total += loss.detach()",
        title=_KEEPS,
    ),
    Sign(
        "script-loss-list",
        Confidence.MEDIUM,
        N_("Put a copy without its graph into {name} ({place}):"),
        "losses.append(loss.detach())",
        title=_KEEPS,
    ),
)
#: Without any kernels there are no steps that keep something: memory is reserved, or data are loaded.
_NO_STEPS = 0.005
#: A cache that is being filled rises as evenly, for some seconds.
_LIKELY_S = 12.0
#: A cache of some GiB is full by then; a rise over this time, in nearly all of its parts, hardly ends by itself.
_SURE_S = 20.0
_SURE_TREND = 0.9
#: Against a cache that has a bound nobody sees from outside (a text that grows longer, a replay buffer).
_SURE_GROWN = 0.1
_SURE_MINUTE_S = 60.0
_SURE_STEPS = 5
_WATCHED = N_("The program takes {rate} more of {gpu} every minute")
_FULL_IN_S = N_("The program takes {rate} more of {gpu} every minute: it is full in about {time} s")
_FULL_IN_MIN = N_("The program takes {rate} more of {gpu} every minute: it is full in about {time} min")
_FULL_IN_H = N_("The program takes {rate} more of {gpu} every minute: it is full in about {time} h")


def _check(view: View) -> Outcome:
    outcome = with_script(view, Lacks(("log",)), _CODE, _IN_SCRIPT)
    return in_profile.weighed(in_profile.growing_memory(view), outcome)


def _until_full(part: Part) -> float:
    left = part.number("full_in_s")
    return math.inf if left is None else left


def _watch(view: View) -> Outcome:
    devices = [part for part in parts(view, "job.memory.devices") if part.text("growth") is not None]
    if not devices:
        return Lacks(("job.memory.devices",))
    rising = [
        part for part in devices if part.text("growth") in ("steady", "steps") and part.number("growth_bytes_per_s")
    ]
    busy = view.number("job.memory.gpu_busy_mean")
    if not rising or (busy is not None and busy < _NO_STEPS):
        return CLEAR
    first = min(rising, key=_until_full)
    per_s, grown = first.number("growth_bytes_per_s") or 0.0, first.number("growth_bytes") or 0.0
    steps = first.number("growth_steps") if first.text("growth") == "steps" else None
    seconds, left = first.number("growth_s") or 0.0, first.number("full_in_s")
    title, time = _full_in(left)
    values = {"gpu": first.label, "rate": memory(per_s * 60), "time": time}
    evidence = (
        measured(
            view,
            "job.memory.devices",
            told(N_("{gpu} +{size} in {seconds} s"), gpu=first.label, size=memory(grown), seconds=f"{seconds:.0f}"),
            told(N_("in {count} equal steps"), count=f"{steps:.0f}")
            if steps is not None
            else told(
                N_("rising in {count} of {parts} parts of the time"),
                count=f"{first.number('rising_parts') or 0:.0f}",
                parts=f"{first.number('parts') or 0:.0f}",
            ),
        ),
    )
    if steps is not None:
        # Two steps may be all there is; the third at the same distance is no accident.
        confidence = Confidence.LOW if steps < 3 else Confidence.MEDIUM if steps < _SURE_STEPS else Confidence.HIGH
        return Hit(confidence, evidence, values, title=title)
    # A GPU that works while it rises is no program that is still being started.
    works = (busy or 0.0) >= 0.03
    before = max(1.0, (first.number("job_bytes") or 0.0) - grown)
    much = grown >= _SURE_GROWN * before or seconds >= _SURE_MINUTE_S
    sure = works and much and seconds >= _SURE_S and (first.number("trend") or 0.0) >= _SURE_TREND
    confidence = Confidence.HIGH if sure else Confidence.MEDIUM if seconds >= _LIKELY_S else Confidence.LOW
    return Hit(confidence, evidence, values, title=title)


def _full_in(seconds: float | None) -> tuple[str, str]:
    """The title and its time: ``95`` s, ``12`` min, ``3.5`` h."""
    if seconds is None:
        return _WATCHED, ""
    if seconds < 120:
        return _FULL_IN_S, f"{seconds:.0f}"
    return (_FULL_IN_MIN, f"{seconds / 60:.0f}") if seconds < 7200 else (_FULL_IN_H, f"{seconds / 3600:.1f}")


def _advise(view: View, _hit: Hit) -> tuple[Step, ...]:
    if view.is_job:
        return tuning.steps(view, "keep-no-graph", "memory-record")
    recorded = tuning.steps(view, "keep-no-graph") if view.known("memory_snapshot") else ()
    return (*better(view, _IN_SCRIPT), *recorded)


RULE = Rule(
    code=_CODE,
    scope=Scope.MACHINE,
    step=9,
    severity=Severity.CRASHES,
    title=N_("The program takes more GPU memory with each step, until there is none left"),
    help=Help(
        what=N_("Whether the GPU memory of a program rises steadily while it works."),
        why=N_("It ends with an out-of-memory error after minutes or hours, however small the batch is."),
        how=N_(
            "In a script: a loss that is added up or kept in a list across steps without .detach() or .item(); it "
            "holds the graph it was computed by. Watched: a rise of at least 64 MB and 2 percent in most parts of the "
            "time, which does not slow down, is no single step, and is no data that is being loaded. In a memory "
            "snapshot: one line of the program takes blocks in each quarter of the record and gives none back."
        ),
        wrong=N_(
            "Kept losses may be needed for a later backward pass in another function. A cache with a bound rises as "
            "well until it is full."
        ),
        todo=N_("Keep values only: loss.detach() or, once in many steps, loss.item()."),
    ),
    check=_check,
    watch=_watch,
    needs=((*needs(*_IN_SCRIPT), "memory_snapshot.growing"),),
    advise=_advise,
    short_of=(GPU_MEMORY,),
    links=("https://pytorch.org/docs/stable/notes/faq.html#my-model-reports-cuda-runtime-error-2-out-of-memory",),
)
