"""Knows: a virtual GPU without a licence. Must not know: the other rules."""

from __future__ import annotations

from gpumon_gui.core.messages import N_
from gpumon_gui.diagnosis import advice, hardware
from gpumon_gui.diagnosis.facts import View
from gpumon_gui.diagnosis.finding import Confidence, Severity, Step
from gpumon_gui.diagnosis.rule import CLEAR, Help, Hit, Lacks, Outcome, Rule, Scope, cite, quote


def _check(view: View) -> Outcome:
    cards = hardware.gpus(view)
    virtual = any(card.get("vgpu") is True for card in cards)
    states = [str(card["vgpu_license_status"]) for card in cards if card.get("vgpu_license_status")]
    printed = view.signal("vgpu-license-status")
    if printed is not None:
        states.append(str(printed.values.get("status", "")))
    said = view.signal("vgpu-unlicensed")
    busy = view.signal("cuda-error-46")
    evidence = cite(view, "gpus") + quote(printed, said, busy)
    if said is not None or any(state.lower().startswith(("unlicensed", "expired")) for state in states):
        # Without a licence it works for about 20 minutes and is slowed down then; some versions refuse at once.
        severity = Severity.BLOCKS if busy is not None or view.flag("torch.cuda_available") is False else None
        return Hit(Confidence.HIGH, evidence, severity=severity)
    if any(state.lower().startswith("licensed") for state in states):
        return CLEAR
    if busy is not None and not virtual and view.text("os.virtual_machine"):
        return Hit(Confidence.LOW, evidence + cite(view, "os.virtual_machine"), severity=Severity.BLOCKS)
    if virtual and busy is not None:
        return Hit(Confidence.MEDIUM, evidence, severity=Severity.BLOCKS)
    if cards and all(card.get("vgpu") is False for card in cards):
        return CLEAR
    return Lacks(("gpus.vgpu_license_status",))


def _advise(view: View, _hit: Hit) -> tuple[Step, ...]:
    look = 'nvidia-smi -q | findstr /C:"License"' if advice.is_windows(view) else "nvidia-smi -q | grep -i license"
    return (advice.say(_TOKEN), advice.check(look))


_TOKEN = N_(
    "Give the virtual machine a licence: put the client configuration token where the vGPU driver looks for it and "
    "restart the licence service (nvidia-gridd on Linux). Ask whoever runs the host."
)

RULE = Rule(
    code="vgpu-unlicensed",
    scope=Scope.MACHINE,
    step=4,
    severity=Severity.SLOWS,
    title=N_("The virtual GPU (vGPU) has no licence, so it is slowed down or refused"),
    help=Help(
        what=N_("Whether a virtual GPU has a valid licence."),
        why=N_(
            "Without one it works for about 20 minutes and then slows down, or CUDA says busy or unavailable. "
            "nvidia-smi looks normal."
        ),
        how=N_("The licence status in nvidia-smi -q, or the messages of the licence service."),
        wrong=N_("Not wrong when the status is printed. Busy or unavailable alone has other causes too."),
        todo=N_("Get a licence for the virtual machine."),
    ),
    check=_check,
    advise=_advise,
    explains=("driver-install-broken", "gpu-power-throttling", "gpu-stuck-in-low-pstate"),
)
