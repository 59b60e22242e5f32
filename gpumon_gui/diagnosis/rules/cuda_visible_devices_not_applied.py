"""Knows: a device number beyond what CUDA_VISIBLE_DEVICES leaves. Must not know: the other rules."""

from __future__ import annotations

from gpumon_gui.core.messages import N_
from gpumon_gui.diagnosis import advice
from gpumon_gui.diagnosis.facts import UNKNOWN, View
from gpumon_gui.diagnosis.finding import Confidence, Severity, Step
from gpumon_gui.diagnosis.rule import CLEAR, Help, Hit, Lacks, Outcome, Rule, Scope, cite, quote

_VARIABLE = "environment.CUDA_VISIBLE_DEVICES"


def _check(view: View) -> Outcome:
    refused = view.signal("cuda-invalid-device-ordinal")
    if refused is None:
        return Lacks(("log",))
    if view.get(_VARIABLE) is UNKNOWN:
        return Lacks((_VARIABLE,))
    value = view.text(_VARIABLE)
    names = [name for name in (value or "").split(",") if name.strip()]
    if not names or names[0].strip() == "-1":
        return CLEAR  # nothing is renumbered
    evidence = cite(view, _VARIABLE) + quote(refused)
    return Hit(Confidence.HIGH, evidence, {"value": ",".join(names), "last": str(len(names) - 1)})


def _advise(view: View, hit: Hit) -> tuple[Step, ...]:
    return (
        advice.say(
            N_(
                "Inside the program the visible GPUs count from 0 again: with CUDA_VISIBLE_DEVICES={value} the last "
                'one is cuda:{last}. Use that number, or plain "cuda".'
            ),
            **hit.values,
        ),
        advice.check(advice.run_python(view, "import torch; print(torch.cuda.device_count())")),
    )


RULE = Rule(
    code="cuda-visible-devices-not-applied",
    scope=Scope.MACHINE,
    step=5,
    severity=Severity.CRASHES,
    title=N_("The program asks for a GPU number that CUDA_VISIBLE_DEVICES={value} does not leave"),
    help=Help(
        what=N_("Whether device numbers in the program fit CUDA_VISIBLE_DEVICES."),
        why=N_(
            "With CUDA_VISIBLE_DEVICES=1 the only GPU is cuda:0 inside the program. Asking for cuda:1 fails; a "
            "variable that is not exported leaves the program on GPU 0 without a word."
        ),
        how=N_('CUDA answered "invalid device ordinal" while the variable is set.'),
        wrong=N_("The same message comes for a number beyond the machine's own GPUs when the variable is not set."),
        todo=N_("Count from 0 inside the program, and set the variable on the same line or export it first."),
    ),
    check=_check,
    advise=_advise,
)
