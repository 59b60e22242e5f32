"""Knows: a GPU that the driver has lost. Must not know: the other rules."""

from __future__ import annotations

from gpumon_gui.core.messages import N_
from gpumon_gui.diagnosis import advice
from gpumon_gui.diagnosis.facts import View
from gpumon_gui.diagnosis.finding import Confidence, Severity, Step
from gpumon_gui.diagnosis.rule import CLEAR, Help, Hit, Lacks, Outcome, Rule, Scope, cite, quote

_SAID = "gpu-lost"
_ERROR = "driver.nvidia_smi_error"


def _check(view: View) -> Outcome:
    said = view.signal(_SAID)
    error = view.text(_ERROR)
    if said is not None or (error is not None and "gpu is lost" in error.lower()):
        return Hit(Confidence.HIGH, quote(said) + cite(view, _ERROR))
    works = view.flag("driver.nvidia_smi_works")
    return CLEAR if works or error is not None else Lacks((_ERROR,))


def _advise(_view: View, _hit: Hit) -> tuple[Step, ...]:
    return (
        advice.say(N_("Restart the computer: until then no program can use this GPU.")),
        advice.say(
            N_("If it happens again, look for the cause in the kernel log:"), "sudo dmesg | grep -i -e xid -e nvrm"
        ),
        advice.check("nvidia-smi"),
    )


RULE = Rule(
    code="gpu-lost",
    scope=Scope.MACHINE,
    step=4,
    severity=Severity.BLOCKS,
    title=N_("The driver has lost the GPU"),
    help=Help(
        what=N_("Whether a GPU answers that it is lost."),
        why=N_("The driver no longer reaches the card; nothing runs on it until a restart."),
        how=N_('nvidia-smi or the driver\'s library says "GPU is lost".'),
        wrong=N_("Not wrong: the message is certain. An external GPU that was unplugged gives it too."),
        todo=N_("Restart, then look for a fault of power, slot or card."),
    ),
    check=_check,
    advise=_advise,
    explains=("driver-not-responding",),
)
