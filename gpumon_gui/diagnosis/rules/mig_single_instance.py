"""Knows: a GPU that is divided into instances (MIG). Must not know: the other rules."""

from __future__ import annotations

from gpumon_gui.core.messages import N_
from gpumon_gui.diagnosis import advice, hardware
from gpumon_gui.diagnosis.facts import View
from gpumon_gui.diagnosis.finding import Confidence, Severity, Step
from gpumon_gui.diagnosis.rule import CLEAR, Help, Hit, Lacks, Outcome, Rule, Scope, cite, quote


def _check(view: View) -> Outcome:
    cards = hardware.gpus(view)
    modes = [str(card["mig_mode"]).lower() for card in cards if card.get("mig_mode")]
    named = [card for card in cards if " mig " in f" {str(card.get('name', '')).lower()} "]
    listed = view.signals("mig-device-listed")
    used = view.signal("mig-device-in-use")
    failed = view.signal("torch-device-count-assert")
    variable = view.text("environment.CUDA_VISIBLE_DEVICES") or ""
    enabled = any(mode.startswith("enabled") for mode in modes) or bool(named) or bool(listed) or used is not None
    if not enabled and not variable.startswith("MIG-"):
        if modes:
            return CLEAR
        if failed is not None:
            return Hit(Confidence.LOW, quote(failed), severity=Severity.CRASHES)
        return Lacks(("gpus.mig_mode",))
    evidence = cite(view, "gpus", "environment.CUDA_VISIBLE_DEVICES", "torch.device_count") + quote(
        used, failed, *listed[:3]
    )
    count = view.number("torch.device_count")
    visible = failed is not None or count == 1 or len(listed) > 1 or bool(view.signal("cuda-invalid-device-ordinal"))
    severity = Severity.CRASHES if failed is not None else None
    return Hit(Confidence.HIGH if visible or bool(modes) else Confidence.MEDIUM, evidence, severity=severity)


def _advise(view: View, _hit: Hit) -> tuple[Step, ...]:
    return (
        advice.say(_LIST, "nvidia-smi -L"),
        advice.say(_CHOOSE, advice.set_variable(view, "CUDA_VISIBLE_DEVICES", "MIG-UUID")),
        advice.say(_OFF, "sudo nvidia-smi -i 0 -mig 0"),
        advice.check(advice.run_python(view, "import torch; print(torch.cuda.device_count())")),
    )


_LIST = N_("List the instances and their identifiers (MIG-…):")
_CHOOSE = N_("Give each process one instance, in place of MIG-UUID:")
_OFF = N_("Or turn MIG off (nobody may use the card then, and its instances are gone):")

RULE = Rule(
    code="mig-single-instance",
    scope=Scope.MACHINE,
    step=5,
    severity=Severity.SLOWS,
    title=N_("The GPU is divided into instances (MIG): a process can use only one of them"),
    help=Help(
        what=N_("Whether MIG is on."),
        why=N_(
            "A process sees one instance with its share of memory and cores, however many there are. Utilization "
            "reads N/A, which is not 0."
        ),
        how=N_("The MIG mode that nvidia-smi reports, or instances that are listed or chosen."),
        wrong=N_("No fault where one instance is what you want."),
        todo=N_("Start one process per instance, make one bigger instance, or turn MIG off."),
    ),
    check=_check,
    advise=_advise,
    explains=("cuda-visible-devices-hides-gpu", "cuda-visible-devices-not-applied"),
    links=("https://docs.nvidia.com/datacenter/tesla/mig-user-guide/",),
)
