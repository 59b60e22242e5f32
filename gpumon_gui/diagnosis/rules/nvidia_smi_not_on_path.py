"""Knows: an nvidia-smi that is there but not found by name. Must not know: the other rules."""

from __future__ import annotations

import ntpath
import posixpath
import shlex

from gpumon_gui.core.messages import N_
from gpumon_gui.diagnosis import advice, hardware
from gpumon_gui.diagnosis.facts import View
from gpumon_gui.diagnosis.finding import Confidence, Severity, Step
from gpumon_gui.diagnosis.rule import CLEAR, Help, Hit, Lacks, Outcome, Rule, Scope, cite, quote


def _check(view: View) -> Outcome:
    on_path = view.flag("driver.nvidia_smi_on_path")
    where = view.text("driver.nvidia_smi_path")
    said = view.signal("smi-not-found")
    if on_path is True:
        return CLEAR
    facts = cite(view, "driver.nvidia_smi_path", "driver.nvidia_smi_on_path", "driver.version")
    if where is not None and (on_path is False or said is not None):
        return Hit(Confidence.HIGH, facts + quote(said))
    if (
        said is not None
        and not hardware.in_container(view)
        and hardware.has_nvidia(view)
        and view.text("driver.version")
    ):
        return Hit(Confidence.MEDIUM, quote(said) + facts)
    return Lacks(("driver.nvidia_smi_on_path",))


def _advise(view: View, _hit: Hit) -> tuple[Step, ...]:
    where = view.text("driver.nvidia_smi_path") or ""
    folder = ntpath.dirname(where) if advice.is_windows(view) else posixpath.dirname(where)
    if not folder and advice.is_windows(view):
        return (
            advice.say(
                _FIND, r"dir /s /b C:\Windows\System32\nvidia-smi.exe C:\Windows\System32\DriverStore\nvidia-smi.exe"
            ),
        )
    if not folder:
        return (advice.say(_FIND, "ls /usr/bin/nvidia-smi /usr/lib/wsl/lib/nvidia-smi"),)
    add = f'$env:Path += ";{folder}"' if advice.is_windows(view) else f"export PATH=$PATH:{shlex.quote(folder)}"
    return (advice.say(_ADD, add), advice.check("nvidia-smi"))


_FIND = N_("See where it is:")
_ADD = N_("Add its folder to PATH (this is for the open shell; the system's settings make it last):")

RULE = Rule(
    code="nvidia-smi-not-on-path",
    scope=Scope.MACHINE,
    step=4,
    severity=Severity.INFO,
    title=N_("nvidia-smi is installed but not found by its name"),
    help=Help(
        what=N_("Whether nvidia-smi can be started by name."),
        why=N_("Only guides and scripts that call it by name fail. CUDA and frameworks do not need it."),
        how=N_(
            "It lies in a known folder that is not on PATH, or the shell does not find it although a driver is there."
        ),
        wrong=N_("Where no driver is installed, its absence is a sign of that."),
        todo=N_("Add its folder to PATH."),
    ),
    check=_check,
    advise=_advise,
)
