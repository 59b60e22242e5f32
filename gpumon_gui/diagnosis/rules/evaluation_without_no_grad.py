"""Knows: evaluation that records what gradients need. Must not know: the other rules."""

from __future__ import annotations

from gpumon_gui.core.messages import N_
from gpumon_gui.diagnosis.facts import View
from gpumon_gui.diagnosis.finding import Confidence, Severity, Step
from gpumon_gui.diagnosis.rule import Help, Hit, Lacks, Outcome, Rule, Scope
from gpumon_gui.diagnosis.script.sign import Sign, needs, with_script
from gpumon_gui.diagnosis.script.sign import advise as better

_CODE = "evaluation-without-no-grad"
_IN_SCRIPT = (
    Sign(
        "script-eval-with-gradients",
        Confidence.MEDIUM,
        N_("Evaluate without recording; {name}.eval() alone does not switch that off ({place}):"),
        "with torch.inference_mode():\n    for inputs, targets in loader:\n        ...",
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
    severity=Severity.SLOWS,
    title=N_("The evaluation also records what gradients need: it takes more memory and time ({place})"),
    help=Help(
        what=N_("Whether a loop over test data runs without torch.no_grad() or inference_mode()."),
        why=N_(
            "PyTorch keeps the results of all layers for a backward pass that never comes. That limits the batch size "
            "of the evaluation and can end it with an out-of-memory error although training fits."
        ),
        how=N_(
            "In a script: the model is called in a loop over test data after .eval(), nothing there computes "
            "gradients, and nothing switches them off."
        ),
        wrong=N_("Gradients may be switched off in another file, or the loop may need them (attacks, explanations)."),
        todo=N_("Put the loop under torch.inference_mode()."),
    ),
    check=_check,
    needs=(needs(*_IN_SCRIPT),),
    advise=_advise,
    frameworks=("torch",),
    links=("https://pytorch.org/docs/stable/notes/autograd.html#locally-disabling-gradient-computation",),
)
