"""Knows: checks inside a kernel that fail. Must not know: the other rules."""

from __future__ import annotations

from gpumon_gui.core.messages import N_
from gpumon_gui.diagnosis import advice
from gpumon_gui.diagnosis.facts import View
from gpumon_gui.diagnosis.finding import Confidence, Severity, Step
from gpumon_gui.diagnosis.rule import Help, Hit, Rule, Scope, said

_SAYS = "cuda-error-710"


def _advise(view: View, _hit: Hit) -> tuple[Step, ...]:
    return (
        advice.say(
            N_("Run it once on the CPU, or with this variable: then the error names the line."),
            advice.set_variable(view, "CUDA_LAUNCH_BLOCKING", "1"),
        ),
        advice.say(
            N_(
                "There, compare the smallest and the largest index with the size: labels go from 0 to the number of "
                "classes minus 1, tokens to the size of the vocabulary minus 1."
            )
        ),
        advice.say(N_("Start the program anew afterwards: until then every call on the GPU fails.")),
    )


RULE = Rule(
    code="cuda-device-side-assert",
    scope=Scope.MACHINE,
    step=9,
    severity=Severity.CRASHES,
    title=N_(
        "A check inside a kernel (an assert) failed: usually an index is out of range, such as a label or token "
        "too large"
    ),
    help=Help(
        what=N_("Whether a kernel stopped at one of its own checks (an assert)."),
        why=N_("It is a fault in the program or its data. GPU, driver and installation are in order."),
        how=N_('CUDA reports error 710, "device-side assert triggered".'),
        wrong=N_("The line in the error may be a later one: kernels run while Python goes on."),
        todo=N_("Find the line with CUDA_LAUNCH_BLOCKING=1 and compare indices with sizes."),
    ),
    check=said(_SAYS, Confidence.MEDIUM),
    needs=((f"signal:{_SAYS}",),),
    advise=_advise,
)
