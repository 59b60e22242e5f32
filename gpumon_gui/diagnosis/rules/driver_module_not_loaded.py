"""Knows: a kernel module of NVIDIA that is not loaded. Must not know: the other rules."""

from __future__ import annotations

from gpumon_gui.core.messages import N_
from gpumon_gui.diagnosis import advice, hardware, machine
from gpumon_gui.diagnosis.facts import View
from gpumon_gui.diagnosis.finding import Confidence, Severity, Step
from gpumon_gui.diagnosis.rule import CLEAR, Help, Hit, Lacks, Outcome, Rule, Scope, cite, quote

_SIGNS = (
    "nvidia-module-missing",
    "nvidia-module-rejected",
    "nvidia-module-build-failed",
    "nvidia-module-insert-failed",
)
_WEAK = ("torch-no-driver", "tf-kernel-driver-not-running", "torch-driver-init-failed", "cuda-error-303")


def _check(view: View) -> Outcome:
    if view.text("os.family") in ("windows", "macos") or machine.is_wsl(view):
        return CLEAR
    if hardware.has_nvidia(view) is False or view.signal("driver-library-mismatch") is not None:
        return CLEAR
    loaded = view.flag("driver.kernel_module_loaded")
    if loaded is True:
        return CLEAR
    told = view.signal("smi-no-driver", "nvml-driver-not-loaded")
    sign = view.signal(*_SIGNS)
    if told is None and sign is None and view.get("gpus") in ([], ()):
        return CLEAR  # a machine without any GPU needs no module
    facts = cite(
        view,
        "driver.kernel_module_loaded",
        "driver.kernel_module_installed",
        "driver.nouveau_loaded",
        "os.kernel",
        "os.secure_boot",
        "driver.nvidia_smi_error",
    )
    inside = hardware.in_container(view) is True
    if sign is not None or (loaded is False and not inside):
        known = hardware.has_nvidia(view) or told is not None or sign is not None or view.known("driver.version")
        return Hit(Confidence.HIGH if known else Confidence.MEDIUM, quote(sign, told) + facts, title=_title(view))
    if told is not None:
        return Hit(Confidence.MEDIUM if inside else Confidence.HIGH, quote(told) + facts, title=_title(view))
    if view.flag("driver.nvidia_smi_works") is True:
        return CLEAR
    nouveau = view.signal("nouveau-in-use")
    if nouveau is not None and hardware.has_nvidia(view):
        return Hit(Confidence.HIGH, quote(nouveau) + facts)
    library = next((sign for sign in view.signals("library-missing") if sign.values.get("name") == "cuda"), None)
    weak = view.signal(*_WEAK) or library
    if weak is not None and not inside and (hardware.has_nvidia(view) or view.signal("nouveau-in-use")):
        return Hit(Confidence.MEDIUM, quote(weak, view.signal("nouveau-in-use")) + facts)
    if weak is not None and not inside:
        return Hit(Confidence.LOW, quote(weak) + facts, title=_NO_DRIVER)
    return Lacks(("driver.kernel_module_loaded",))


def _title(view: View) -> str | None:
    if view.flag("os.secure_boot") is True or view.signal("nvidia-module-rejected") is not None:
        return N_("NVIDIA's kernel module is not loaded; Secure Boot is on and accepts only signed modules")
    return None


def _advise(view: View, hit: Hit) -> tuple[Step, ...]:
    steps = [advice.say(_INSTALL)] if hit.title == _NO_DRIVER else []
    steps += [advice.say(_LOOK, "lsmod | grep -E 'nvidia|nouveau'; dkms status; sudo modprobe nvidia")]
    if view.flag("os.secure_boot") is not False:
        steps.append(advice.say(_SIGN, "mokutil --sb-state; sudo update-secureboot-policy --enroll-key"))
    if view.signal("nouveau-in-use") is not None or view.flag("driver.nouveau_loaded"):
        steps.append(advice.say(_NOUVEAU))
    steps.append(
        advice.say(_HEADERS, "sudo apt install linux-headers-$(uname -r) && sudo dkms autoinstall && sudo reboot")
    )
    steps.append(advice.check("nvidia-smi"))
    return tuple(steps)


_NO_DRIVER = N_("The program found no NVIDIA driver: none is installed, or Linux has not loaded it")
_INSTALL = N_(
    "If the machine has an NVIDIA GPU and no driver, install the driver from nvidia.com/drivers and restart: on "
    "Windows that is all. Without an NVIDIA GPU nothing is broken: the program can compute on the CPU. On Linux with "
    "a driver installed, go on here."
)
_LOOK = N_("See whether the module is there and why it does not load:")
_SIGN = N_(
    "With Secure Boot on, the module must be signed: enroll its key (then restart and confirm), or turn Secure Boot "
    "off."
)
_NOUVEAU = N_("The nouveau driver holds the card: install NVIDIA's driver package, which blocks nouveau, and restart.")
_HEADERS = N_(
    "After a kernel update, build the module for the running kernel (here for Debian and Ubuntu), then restart:"
)

RULE = Rule(
    code="driver-module-not-loaded",
    scope=Scope.MACHINE,
    step=4,
    severity=Severity.BLOCKS,
    title=N_("NVIDIA's kernel module is not loaded, so no program can reach the card"),
    help=Help(
        what=N_("Whether Linux has loaded NVIDIA's kernel module."),
        why=N_("Without it there is no driver: nvidia-smi, CUDA and every framework fail."),
        how=N_(
            "The list of loaded modules, or what nvidia-smi says when it cannot reach the driver. Frequent reasons: a "
            "kernel update without a rebuilt module, Secure Boot, the nouveau driver."
        ),
        wrong=N_(
            "Inside a container the host's module counts. A log alone may be from a machine without an NVIDIA card."
        ),
        todo=N_("Build or sign the module for the running kernel, or start the kernel that worked before."),
    ),
    check=_check,
    advise=_advise,
    explains=(
        "code-runs-on-cpu",
        "cuda-visible-devices-hides-gpu",
        "nvidia-smi-not-on-path",
        "hybrid-graphics-dgpu-off",
    ),
)
