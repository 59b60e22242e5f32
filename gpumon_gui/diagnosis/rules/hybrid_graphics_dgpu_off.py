"""Knows: a laptop whose NVIDIA card is switched off. Must not know: the other rules."""

from __future__ import annotations

from gpumon_gui.core.messages import N_
from gpumon_gui.diagnosis import advice, hardware
from gpumon_gui.diagnosis.facts import View
from gpumon_gui.diagnosis.finding import Confidence, Severity, Step
from gpumon_gui.diagnosis.rule import CLEAR, Help, Hit, Lacks, Outcome, Rule, Scope, cite, quote


def _check(view: View) -> Outcome:
    if hardware.has_nvidia(view) is True or view.text("os.family") == "macos":
        return CLEAR
    laptop = view.flag("host.laptop")
    if laptop is False or hardware.in_container(view):
        return CLEAR
    off = view.signal("dgpu-switched-off", "gpu-stuck-asleep")
    code = next((sign for sign in view.signals("windows-device-code") if sign.values.get("code") == 45), None)
    facts = cite(view, "gpus", "host.laptop", "driver.version", "driver.nvidia_smi_path")
    if off is not None or code is not None:
        return Hit(Confidence.HIGH if off is not None else Confidence.MEDIUM, quote(off, code) + facts)
    had_driver = view.text("driver.version") is not None or view.text("driver.nvidia_smi_path") is not None
    if hardware.has_nvidia(view) is False and laptop and had_driver:
        return Hit(Confidence.MEDIUM, facts + quote(view.signal("smi-no-devices")))
    return Lacks(("gpus", "host.laptop"))


def _advise(view: View, _hit: Hit) -> tuple[Step, ...]:
    if view.text("os.family") == "linux":
        look = "lspci -nn | grep -Ei 'vga|3d|display'"
        return (advice.say(_LINUX, "supergfxctl -g; prime-select query; envycontrol --query"), advice.check(look))
    return (advice.say(_WINDOWS), advice.check("nvidia-smi"))


_WINDOWS = N_(
    "In the maker's program (Armoury Crate, G-Helper, Lenovo Vantage, MSI Center …) choose Standard, Hybrid or "
    "Optimized instead of Eco, iGPU only or Integrated, and restart."
)
_LINUX = N_(
    "See the graphics mode and switch it to hybrid (supergfxctl -m Hybrid, prime-select on-demand, envycontrol -s "
    "hybrid), then restart:"
)

RULE = Rule(
    code="hybrid-graphics-dgpu-off",
    scope=Scope.MACHINE,
    step=4,
    severity=Severity.BLOCKS,
    title=N_("The laptop's NVIDIA card is switched off by its power or graphics mode"),
    help=Help(
        what=N_("Whether a laptop hides its NVIDIA card from the system."),
        why=N_("In Eco or iGPU mode the card is not on the bus at all: no driver or framework can find it."),
        how=N_(
            "NVIDIA's driver is installed, only another maker's GPU is there, and the machine is a laptop; or the "
            "mode itself is printed."
        ),
        wrong=N_("The driver may be left over from a card that was taken out."),
        todo=N_("Switch the graphics mode to hybrid and restart."),
    ),
    check=_check,
    advise=_advise,
    explains=("amd-gpu-with-cuda-build", "intel-gpu-with-cuda-build", "code-runs-on-cpu", "driver-module-not-loaded"),
)
