"""Knows: nvidia-smi that is installed but not found by name. Must not know: the other rules."""

from __future__ import annotations

from gpumon_gui.core.messages import N_
from gpumon_gui.diagnosis import advice
from gpumon_gui.diagnosis.facts import View
from gpumon_gui.diagnosis.finding import Confidence, Severity, Step
from gpumon_gui.diagnosis.rule import CLEAR, Help, Hit, Lacks, Outcome, Rule, Scope, cite, quote

_SAID = "nvidia-smi-not-found"
_PATH = "driver.nvidia_smi_path"
_ON_PATH = "driver.nvidia_smi_on_path"


def _check(view: View) -> Outcome:
    said = view.signal(_SAID)
    path, on_path = view.text(_PATH), view.flag(_ON_PATH)
    if path is None:
        return Lacks((_PATH,)) if said is not None or on_path is None else CLEAR
    if said is None and on_path is not False:
        return CLEAR if on_path else Lacks((_ON_PATH,))
    return Hit(Confidence.HIGH, cite(view, _PATH, _ON_PATH) + quote(said), {"path": path})


def _advise(view: View, hit: Hit) -> tuple[Step, ...]:
    path = hit.values["path"]
    folder = path.rpartition("\\" if advice.is_windows(view) else "/")[0]
    if advice.is_windows(view):
        command = f'[Environment]::SetEnvironmentVariable("Path", $env:Path + ";{folder}", "User")'
        return (
            advice.say(N_("Add its folder to the PATH (PowerShell), then open a new terminal:"), command),
            advice.check("nvidia-smi"),
        )
    return (
        advice.say(N_("Call it by its full path, or add its folder to the PATH:"), f'export PATH="$PATH:{folder}"'),
    )


RULE = Rule(
    code="nvidia-smi-not-on-path",
    scope=Scope.MACHINE,
    step=4,
    severity=Severity.INFO,
    title=N_("nvidia-smi is installed but not found by its name: it is {path}"),
    help=Help(
        what=N_("Whether a terminal finds nvidia-smi."),
        why=N_('"nvidia-smi is not recognized" is often taken for a missing driver.'),
        how=N_("The program exists in one of the driver's folders, and that folder is not on the PATH."),
        wrong=N_("Not wrong. Frameworks do not need nvidia-smi at all."),
        todo=N_("Add the folder to the PATH."),
    ),
    check=_check,
    advise=_advise,
)
