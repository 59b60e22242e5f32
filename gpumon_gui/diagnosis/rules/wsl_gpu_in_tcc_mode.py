"""Knows: a card in TCC mode, which WSL cannot see. Must not know: the other rules."""

from __future__ import annotations

from gpumon_gui.core.messages import N_
from gpumon_gui.diagnosis import advice, hardware
from gpumon_gui.diagnosis.facts import View
from gpumon_gui.diagnosis.finding import Confidence, Severity, Step
from gpumon_gui.diagnosis.rule import CLEAR, Help, Hit, Lacks, Outcome, Rule, Scope, cite, quote


def _check(view: View) -> Outcome:
    models = [str(gpu["driver_model"]).upper() for gpu in hardware.gpus(view) if gpu.get("driver_model")]
    tcc = any(model.startswith("TCC") for model in models)
    blocked = view.signal("nvml-blocked-by-system")
    wsl = view.flag("os.wsl")
    facts = cite(view, "gpus", "os.wsl")
    if blocked is not None and wsl is not False:
        if hardware.in_container(view) and not tcc:
            # A container in WSL that may not open the device says the same.
            return Hit(Confidence.LOW, quote(blocked) + facts)
        return Hit(Confidence.HIGH if tcc or wsl else Confidence.MEDIUM, quote(blocked) + facts)
    none = view.signal("wsl-no-adapters")
    if none is not None and not models:
        return Hit(Confidence.LOW, quote(none) + facts)
    if tcc and wsl is True:
        return Hit(Confidence.HIGH, facts)
    if models and not tcc:
        return CLEAR
    if wsl is False and blocked is None:
        return CLEAR
    return Lacks(("gpus.driver_model",))


def _advise(_view: View, _hit: Hit) -> tuple[Step, ...]:
    return (
        advice.say(_SWITCH, "nvidia-smi -g 0 -dm 0"),
        advice.say(_CANNOT),
        advice.check("wsl.exe nvidia-smi"),
    )


_SWITCH = N_("In Windows, as administrator, switch the card to WDDM, then restart:")
_CANNOT = N_(
    "Some cards know no WDDM without a vGPU or RTX licence; use them from Windows itself, or from Linux without WSL."
)

RULE = Rule(
    code="wsl-gpu-in-tcc-mode",
    scope=Scope.MACHINE,
    step=4,
    severity=Severity.BLOCKS,
    title=N_("The card is in TCC mode in Windows, so WSL cannot see it"),
    help=Help(
        what=N_("Whether a card that is to be used in WSL runs in the driver model TCC."),
        why=N_("WSL shares cards through Windows' display driver model; a card in TCC mode is not part of it."),
        how=N_(
            'The driver model in nvidia-smi\'s table in Windows, or "GPU access blocked by the operating system" in '
            "WSL."
        ),
        wrong=N_("The message alone can also come from an old Windows or WSL."),
        todo=N_("Switch the card to WDDM."),
    ),
    check=_check,
    advise=_advise,
    explains=("code-runs-on-cpu", "driver-module-not-loaded", "wsl-linux-driver-shadows-libcuda"),
    links=("https://docs.nvidia.com/cuda/wsl-user-guide/",),
)
