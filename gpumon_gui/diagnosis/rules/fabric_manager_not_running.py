"""Knows: NVSwitch machines without their fabric manager. Must not know: the other rules."""

from __future__ import annotations

from gpumon_gui.core.messages import N_
from gpumon_gui.diagnosis import advice
from gpumon_gui.diagnosis.facts import View
from gpumon_gui.diagnosis.finding import Confidence, Severity, Step
from gpumon_gui.diagnosis.rule import CLEAR, Help, Hit, Lacks, Outcome, Rule, Scope, cite, quote


def _check(view: View) -> Outcome:
    not_ready = view.signal("cuda-error-802")
    failed = view.signal("fabric-manager-failed", "fabric-manager-version-differs")
    facts = cite(view, "gpus", "driver.version")
    if not_ready is not None or failed is not None:
        sure = not_ready is not None or view.signal("fabric-manager-version-differs") is not None
        return Hit(Confidence.HIGH if sure else Confidence.MEDIUM, quote(not_ready, failed) + facts)
    if view.known("driver.fabric_manager"):
        manager = cite(view, "driver.fabric_manager") + facts
        own, driver = view.version("driver.fabric_manager.version"), view.version("driver.version")
        if view.flag("driver.fabric_manager.running") is False:
            return Hit(Confidence.HIGH, manager)
        if own is not None and driver is not None and own != driver:
            return Hit(Confidence.HIGH, manager)
        return CLEAR if view.flag("driver.fabric_manager.running") else Lacks(("driver.fabric_manager.running",))
    return Lacks(("driver.fabric_manager",))


def _advise(view: View, _hit: Hit) -> tuple[Step, ...]:
    version = view.text("driver.version") or ""
    steps = []
    if version:
        steps.append(
            advice.say(_SAME, "nv-fabricmanager --version; systemctl status nvidia-fabricmanager", version=version)
        )
    else:
        steps.append(
            advice.say(_COMPARE, "nv-fabricmanager --version; nvidia-smi --query-gpu=driver_version --format=csv")
        )
    steps.append(advice.say(_START, "sudo systemctl enable --now nvidia-fabricmanager"))
    steps.append(advice.check(advice.run_python(view, "import torch; print(torch.cuda.is_available())")))
    return tuple(steps)


_SAME = N_("The fabric manager must have exactly the driver's version, {version}:")
_COMPARE = N_("The fabric manager must have exactly the driver's version. Compare:")
_START = N_("Start it (in a container or virtual machine: on the host):")

RULE = Rule(
    code="fabric-manager-not-running",
    scope=Scope.MACHINE,
    step=4,
    severity=Severity.BLOCKS,
    title=N_("The GPUs of this NVSwitch machine are not ready: the fabric manager does not run or has another version"),
    help=Help(
        what=N_("Whether the fabric manager of a machine with NVSwitch (A100, H100 and newer as SXM) runs."),
        why=N_("Until it has set up the links, CUDA refuses every GPU with error 802, while nvidia-smi looks normal."),
        how=N_("CUDA error 802 (system not yet initialized), or a message of the fabric manager."),
        wrong=N_(
            "Error 802 also appears for a short time after the start of the machine, and where confidential "
            "computing is not ready."
        ),
        todo=N_("Install the fabric manager in the driver's version and start it."),
    ),
    check=_check,
    advise=_advise,
    explains=("code-runs-on-cpu", "cuda-visible-devices-hides-gpu"),
)
