"""Knows: a GPU that no longer answers. Must not know: the other rules."""

from __future__ import annotations

from gpumon_gui.core.messages import N_
from gpumon_gui.diagnosis import advice
from gpumon_gui.diagnosis.facts import View
from gpumon_gui.diagnosis.finding import Confidence, Severity, Step
from gpumon_gui.diagnosis.rule import CLEAR, Help, Hit, Lacks, Outcome, Rule, Scope, cite, quote


def _check(view: View) -> Outcome:
    lost = view.signal("gpu-lost", "gpu-fell-off-the-bus")
    handle = view.signal("gpu-handle-failed")
    stated = view.get("driver.lost_gpus")
    if lost is not None:
        return Hit(Confidence.HIGH, quote(lost, handle))
    if isinstance(stated, list | tuple):
        return Hit(Confidence.HIGH, cite(view, "driver.lost_gpus")) if stated else CLEAR
    if handle is not None:
        return Hit(Confidence.MEDIUM, quote(handle))
    return Lacks(("driver.lost_gpus",))


def _advise(view: View, _hit: Hit) -> tuple[Step, ...]:
    steps = [advice.say(_RESTART)]
    if view.text("os.family") != "windows":
        steps.insert(0, advice.say(_LOG, "sudo dmesg | grep -Ei 'xid|nvrm'"))
    return (*steps, advice.say(_AGAIN), advice.check("nvidia-smi"))


_LOG = N_("Read the reason in the kernel's log (the Xid number):")
_RESTART = N_("Shut the computer down and switch it on again; until then this card stays lost.")
_AGAIN = N_(
    "If it happens again, look at power cables, riser, temperature and power supply; try the card in another slot or machine."
)

RULE = Rule(
    code="gpu-lost",
    scope=Scope.MACHINE,
    step=4,
    severity=Severity.BLOCKS,
    title=N_("A GPU no longer answers: the driver calls it lost"),
    help=Help(
        what=N_("Whether the driver has lost a card that it knew."),
        why=N_("The card is gone until the next start. Whatever ran on it has failed, and other calls may hang."),
        how=N_('NVML or nvidia-smi answer "GPU is lost", or the kernel saw the card fall off the bus.'),
        wrong=N_("A virtual machine whose card was taken away looks the same."),
        todo=N_("Restart; if it returns, suspect power, heat, slot or the card."),
    ),
    check=_check,
    advise=_advise,
    explains=("driver-not-responding", "driver-module-not-loaded", "code-runs-on-cpu"),
    links=("https://docs.nvidia.com/deploy/xid-errors/",),
)
