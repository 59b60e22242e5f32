"""Knows: memory that a program takes more of with each step. Must not know: the other rules."""

from __future__ import annotations

from gpumon_gui.core.messages import N_
from gpumon_gui.diagnosis.facts import View
from gpumon_gui.diagnosis.finding import Confidence, Severity, Step
from gpumon_gui.diagnosis.rule import Help, Hit, Lacks, Outcome, Rule, Scope
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


def _check(view: View) -> Outcome:
    return with_script(view, Lacks(("log",)), _CODE, _IN_SCRIPT)


def _advise(view: View, _hit: Hit) -> tuple[Step, ...]:
    return better(view, _IN_SCRIPT)


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
            "holds "
            "the graph it was computed by."
        ),
        wrong=N_("Kept losses may be needed for a later backward pass in another function."),
        todo=N_("Keep values only: loss.detach() or, once in many steps, loss.item()."),
    ),
    check=_check,
    needs=(needs(*_IN_SCRIPT),),
    advise=_advise,
    links=("https://pytorch.org/docs/stable/notes/faq.html#my-model-reports-cuda-runtime-error-2-out-of-memory",),
)
