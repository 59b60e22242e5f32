"""Knows: errors that the card itself reports. Must not know: the other rules."""

from __future__ import annotations

from gpumon_gui.core.messages import N_
from gpumon_gui.diagnosis import advice
from gpumon_gui.diagnosis.facts import View
from gpumon_gui.diagnosis.finding import Confidence, Severity, Step
from gpumon_gui.diagnosis.rule import CLEAR, Help, Hit, Lacks, Outcome, Rule, Scope, cite, quote

#: Xids that NVIDIA's catalogue lays to hardware, power or the bus; many others are an application's own fault.
_HARDWARE = {48, 54, 62, 63, 64, 74, 79, 92, 94, 95, 110, 119, 120, 136, 140, 143, 144, 145, 149, 150}
#: Of these, the ones that leave no doubt.
_SURE = {48, 54, 64, 79, 95}


def _check(view: View) -> Outcome:
    xids = [sign for sign in view.signals("kernel-xid") if sign.values.get("xid") in _HARDWARE]
    bus = view.signal("gpu-fell-off-the-bus")
    memory = view.signal("cuda-error-214")
    if bus is not None or any(sign.values.get("xid") in _SURE for sign in xids):
        return Hit(Confidence.HIGH, quote(bus, *xids[:3], memory) + cite(view, "gpus"))
    if xids or memory is not None:
        return Hit(Confidence.MEDIUM, quote(*xids[:3], memory) + cite(view, "gpus"))
    return CLEAR if view.signal("kernel-xid") is not None else Lacks(("log",))


def _advise(view: View, _hit: Hit) -> tuple[Step, ...]:
    steps = [advice.say(_POWER), advice.say(_LIMIT, "nvidia-smi -q -d POWER,TEMPERATURE,ECC")]
    if view.text("os.family") != "windows":
        steps.insert(0, advice.say(_LOG, "sudo dmesg | grep -i xid"))
    return (*steps, advice.say(_SWAP))


_LOG = N_("Read all Xids with their times; what runs then tells heat, load and idle apart:")
_POWER = N_(
    "Take back overclocking and undervolting; check power cables (one per connector), the riser and the seat of the card."
)
_LIMIT = N_("Look at power, temperature and memory errors, and try a lower power limit (nvidia-smi -pl):")
_SWAP = N_(
    "If it returns, try the card in another machine, or another power supply: then it is a case for the warranty."
)

RULE = Rule(
    code="gpu-hardware-or-power-fault",
    scope=Scope.MACHINE,
    step=4,
    severity=Severity.CRASHES,
    title=N_("The GPU reports a fault of its hardware, its power or its slot"),
    help=Help(
        what=N_("Whether the kernel's log holds errors (Xid) that come from the card, its power or the bus."),
        why=N_("Then any program fails sooner or later, and no change of software helps for good."),
        how=N_(
            "Xid 79 (fallen off the bus), 48, 64 and 95 (memory errors) and others that NVIDIA's catalogue lays to hardware; ECC errors that CUDA reports."
        ),
        wrong=N_(
            "Some of these numbers can also come from a fault in the driver. Xid 13, 31, 43 and 45 are mostly the program's own."
        ),
        todo=N_("Check power, heat and seat; then swap parts."),
    ),
    check=_check,
    advise=_advise,
    explains=("gpu-lost", "driver-not-responding", "driver-module-not-loaded", "code-runs-on-cpu"),
    links=("https://docs.nvidia.com/deploy/xid-errors/",),
)
