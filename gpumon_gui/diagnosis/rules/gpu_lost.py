"""Knows: a GPU that the driver has lost. Must not know: the other rules."""

from __future__ import annotations

from gpumon_gui.core.messages import N_
from gpumon_gui.diagnosis import advice
from gpumon_gui.diagnosis.behaviour.parts import parts
from gpumon_gui.diagnosis.evidence import measured, told
from gpumon_gui.diagnosis.facts import View
from gpumon_gui.diagnosis.finding import Confidence, Severity, Step
from gpumon_gui.diagnosis.rule import CLEAR, Help, Hit, Lacks, Outcome, Rule, Scope, cite, quote

_SAID = "gpu-lost"
#: What nvidia-smi says of a card that does not answer; a lost one is the usual reason.
_UNKNOWN = "gpu-handle-unknown-error"
_ERROR = "driver.nvidia_smi_error"
_LOST = "driver.lost_gpus"


def _check(view: View) -> Outcome:
    said = view.signal(_SAID)
    error = view.text(_ERROR)
    if said is not None or (error is not None and "gpu is lost" in error.lower()):
        return Hit(Confidence.HIGH, quote(said) + cite(view, _ERROR))
    lost = view.get(_LOST)
    if isinstance(lost, list | tuple) and lost:
        return Hit(Confidence.HIGH, cite(view, _LOST))
    unknown = view.signal(_UNKNOWN)
    if unknown is not None:
        return Hit(Confidence.MEDIUM, quote(unknown))
    works = view.flag("driver.nvidia_smi_works")
    return CLEAR if works or error is not None else Lacks((_ERROR,))


def _watch(view: View) -> Outcome:
    devices = [part for part in parts(view, "window.health.devices") if part.text("state") is not None]
    if not devices:
        return Lacks(("window.health.devices",))
    lost = [part for part in devices if part.text("state") == "lost"]
    if not lost:
        return CLEAR
    names = ", ".join(f"{part.label} ({part.text('name') or '?'})" for part in lost)
    return Hit(Confidence.HIGH, (measured(view, "window.health.devices", told(N_("{gpus}: lost"), gpus=names)),))


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
        how=N_(
            'nvidia-smi or the driver\'s library says "GPU is lost", or cannot determine the handle of a card for an '
            "unknown error."
        ),
        wrong=N_("An external GPU that was unplugged gives the same message."),
        todo=N_("Restart, then look for a fault of power, slot or card."),
    ),
    check=_check,
    watch=_watch,
    watch_scope=Scope.MACHINE,
    advise=_advise,
    explains=("driver-not-responding",),
)
