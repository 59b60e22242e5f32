"""Knows: a kernel module and driver libraries of different versions. Must not know: the other rules."""

from __future__ import annotations

from gpumon_gui.core.messages import N_
from gpumon_gui.diagnosis import advice, hardware, machine
from gpumon_gui.diagnosis.facts import View
from gpumon_gui.diagnosis.finding import Confidence, Severity, Step
from gpumon_gui.diagnosis.rule import CLEAR, Help, Hit, Lacks, Outcome, Rule, Scope, cite, quote
from gpumon_gui.diagnosis.versions import same_series


def _check(view: View) -> Outcome:
    if machine.is_wsl(view):
        return CLEAR  # the libraries of WSL have a version of their own
    printed = view.signal("driver-library-mismatch")
    paths = ("driver.library_version", "driver.kernel_module_version")
    library, module = view.version(paths[0]), view.version(paths[1])
    if printed is not None:
        return Hit(Confidence.HIGH, quote(printed) + cite(view, *paths))
    if library is not None and module is not None:
        return Hit(Confidence.HIGH, cite(view, *paths)) if not same_series(library, module) else CLEAR
    combination = view.signal("cuda-error-803")
    if combination is not None and not hardware.in_container(view):
        return Hit(Confidence.MEDIUM, quote(combination))
    return Lacks(paths)


def _advise(view: View, _hit: Hit) -> tuple[Step, ...]:
    steps = [advice.say(_RESTART, "sudo reboot")]
    if hardware.in_container(view):
        steps = [advice.say(_HOST)]
    steps.append(
        advice.say(
            _COMPARE, "cat /proc/driver/nvidia/version; dpkg -l | grep -E 'nvidia-(driver|utils|dkms)|libnvidia'"
        )
    )
    steps.append(advice.check("nvidia-smi"))
    return tuple(steps)


_RESTART = N_("Restart the computer: the running kernel still has the old module loaded.")
_HOST = N_("Restart the host, then start the container again: its libraries come from the host's driver.")
_COMPARE = N_(
    "If it stays, the packages are only half upgraded. All of these must have one version; reinstall those that differ:"
)

RULE = Rule(
    code="driver-library-mismatch",
    scope=Scope.MACHINE,
    step=4,
    severity=Severity.BLOCKS,
    title=N_("The driver's libraries and its kernel module have different versions"),
    help=Help(
        what=N_("Whether the loaded kernel module and the driver's libraries come from the same driver."),
        why=N_(
            "They must match to the last digit. After an update, usually in the background, they do not until a "
            "restart."
        ),
        how=N_(
            "What NVML, TensorFlow or CUDA (error 803) print, or the version in /proc/driver/nvidia/version against "
            "libnvidia-ml."
        ),
        wrong=N_(
            "Hardly. Error 803 without version numbers can also come from a compatibility library in a container."
        ),
        todo=N_("Restart; if that does not help, bring all driver packages to one version."),
    ),
    check=_check,
    advise=_advise,
    explains=("code-runs-on-cpu", "driver-module-not-loaded", "cuda-unknown-error-uvm", "container-lost-gpu-cgroup"),
)
