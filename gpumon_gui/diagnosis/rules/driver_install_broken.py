"""Knows: a driver of Windows that is installed badly. Must not know: the other rules."""

from __future__ import annotations

from gpumon_gui.core.messages import N_
from gpumon_gui.diagnosis import advice, hardware, machine
from gpumon_gui.diagnosis.facts import View
from gpumon_gui.diagnosis.finding import Confidence, Severity, Step
from gpumon_gui.diagnosis.rule import CLEAR, Help, Hit, Lacks, Outcome, Rule, Scope, cite, quote


def _check(view: View) -> Outcome:
    if view.text("os.family") in ("linux", "macos") or hardware.has_nvidia(view) is False:
        return CLEAR
    windows = view.text("os.family") == "windows"
    stopped = next((sign for sign in view.signals("windows-device-code") if sign.values.get("code") == 43), None)
    missing = next((sign for sign in view.signals("library-missing") if sign.values.get("name") == "nvcuda"), None)
    busy = view.signal("cuda-error-46")
    facts = cite(view, "gpus", "driver.version", "os.name")
    if any(gpu.get("vgpu") for gpu in hardware.gpus(view)) or machine.is_wsl(view):
        return Lacks(("driver.version",))
    if stopped is not None:
        return Hit(Confidence.MEDIUM, quote(stopped) + facts)
    if missing is not None:
        return Hit(Confidence.HIGH if hardware.has_nvidia(view) else Confidence.MEDIUM, quote(missing) + facts)
    if busy is not None:
        return Hit(Confidence.MEDIUM if windows else Confidence.LOW, quote(busy) + facts)
    if windows and view.flag("driver.nvidia_smi_works") is True:
        return CLEAR
    if windows and hardware.has_nvidia(view) and view.flag("driver.nvidia_smi_works") is False:
        return Hit(Confidence.MEDIUM, cite(view, "driver.nvidia_smi_works", "driver.nvidia_smi_error") + facts)
    none = view.signal("torch-no-driver")
    if windows and none is not None:
        return Hit(Confidence.MEDIUM if hardware.has_nvidia(view) else Confidence.LOW, quote(none) + facts)
    return Lacks(("driver.nvidia_smi_works",))


def _advise(_view: View, _hit: Hit) -> tuple[Step, ...]:
    return (
        advice.say(_MODE, "nvidia-smi -q -d COMPUTE"),
        advice.say(_CLEAN),
        advice.check("nvidia-smi"),
    )


_MODE = N_("See that the compute mode is Default: another mode lets only one program, or none, use the card.")
_CLEAN = N_(
    "Download the driver for your card from nvidia.com, choose Custom installation, tick Perform a clean installation, "
    "and restart."
)

RULE = Rule(
    code="driver-install-broken",
    scope=Scope.MACHINE,
    step=4,
    severity=Severity.BLOCKS,
    title=N_("The NVIDIA driver in Windows is missing or damaged"),
    help=Help(
        what=N_("Whether Windows has a working NVIDIA driver for a card that is there."),
        why=N_("Without it CUDA cannot open the card, whatever toolkit or framework is installed."),
        how=N_(
            'nvcuda.dll cannot be found, nvidia-smi fails although the card is there, CUDA says "busy or unavailable" '
            "outside a virtual machine, or Windows stopped the device (code 43)."
        ),
        wrong=N_(
            '"Busy or unavailable" also comes from a compute mode other than Default or a vGPU without a licence.'
        ),
        todo=N_("Install the driver anew, with a clean installation."),
    ),
    check=_check,
    advise=_advise,
    explains=("code-runs-on-cpu", "nvidia-smi-not-on-path"),
)
