"""Knows: CUDA that cannot start although nvidia-smi works. Must not know: the other rules."""

from __future__ import annotations

from gpumon_gui.core.messages import N_
from gpumon_gui.diagnosis import advice, hardware, machine
from gpumon_gui.diagnosis.facts import View
from gpumon_gui.diagnosis.finding import Confidence, Severity, Step
from gpumon_gui.diagnosis.rule import CLEAR, Help, Hit, Lacks, Outcome, Rule, Scope, cite, quote


def _check(view: View) -> Outcome:
    if view.text("os.family") in ("windows", "macos") or machine.is_wsl(view) or hardware.has_nvidia(view) is False:
        return CLEAR
    uvm = view.signal("nvidia-uvm-missing")
    unknown = view.signal("torch-unknown-error")
    if unknown is None:
        unknown = next((sign for sign in view.signals("cuda-error-999") if sign.values.get("at_start")), None)
    if unknown is None and uvm is None:
        return Lacks(("log",))
    facts = cite(view, "driver.nvidia_smi_works", "driver.uvm_loaded", "os.resumed_from_suspend", "os.container")
    if view.flag("driver.nvidia_smi_works") is False or view.signal("smi-no-driver", "driver-library-mismatch"):
        return CLEAR  # then the driver itself is at fault
    broken = uvm is not None or view.flag("driver.uvm_loaded") is False
    if broken or view.flag("os.resumed_from_suspend") is True or view.flag("driver.nvidia_smi_works"):
        return Hit(Confidence.HIGH, quote(unknown, uvm) + facts)
    return Hit(Confidence.MEDIUM, quote(unknown) + facts)


def _advise(view: View, _hit: Hit) -> tuple[Step, ...]:
    steps = []
    if hardware.in_container(view):
        steps.append(advice.say(_PODMAN, "sudo nvidia-modprobe -u -c=0; ls -l /dev/nvidia-uvm*"))
    steps.append(advice.say(_RELOAD, "sudo rmmod nvidia_uvm; sudo modprobe nvidia_uvm; ls -l /dev/nvidia*"))
    steps.append(advice.say(_KEEP))
    steps.append(advice.check(advice.run_python(view, "import torch; print(torch.cuda.is_available())")))
    return tuple(steps)


_RELOAD = N_("Close programs that use CUDA, then load the module nvidia_uvm anew (a restart does the same):")
_PODMAN = N_("On the host, create the device files, then start the container again:")
_KEEP = N_(
    "If it comes back after each suspend, set the driver's option NVreg_PreserveVideoMemoryAllocations=1 and enable "
    "the service nvidia-suspend."
)

RULE = Rule(
    code="cuda-unknown-error-uvm",
    scope=Scope.MACHINE,
    step=4,
    severity=Severity.BLOCKS,
    title=N_("CUDA cannot start although the driver runs: the module nvidia_uvm is broken or missing"),
    help=Help(
        what=N_("Whether CUDA's memory module (nvidia_uvm) works."),
        why=N_(
            "nvidia-smi does not need it, CUDA does. It often breaks when a laptop wakes up, or is missing in a "
            "container."
        ),
        how=N_(
            'CUDA error 999 ("unknown error") at the very start, while the driver answers. The hint about '
            "CUDA_VISIBLE_DEVICES in PyTorch's text is a guess."
        ),
        wrong=N_("An unknown error in the middle of a run is something else."),
        todo=N_("Load nvidia_uvm anew or restart."),
    ),
    check=_check,
    advise=_advise,
    explains=("code-runs-on-cpu", "cuda-visible-devices-hides-gpu", "cuda-visible-devices-set-too-late"),
)
