"""Knows: errors of the card itself. Must not know: the other rules."""

from __future__ import annotations

from gpumon_gui.core.messages import N_
from gpumon_gui.diagnosis import advice
from gpumon_gui.diagnosis.facts import Signal, View
from gpumon_gui.diagnosis.finding import Confidence, Severity, Step
from gpumon_gui.diagnosis.rule import CLEAR, Help, Hit, Lacks, Outcome, Rule, Scope, quote

_XID = "kernel-xid"
_BUS = "gpu-fell-off-the-bus"
_ECC = "cuda-error-214"  # uncorrectable ECC error
#: NVIDIA's list of Xid errors: fell off the bus; double-bit ECC; row remapping failed; contained/uncontained ECC.
_SURE = (48, 64, 79, 95)
#: These have other possible causes as well (driver, NVLink, software).
_LIKELY = (62, 74, 92, 94)


def _check(view: View) -> Outcome:
    xids = view.signals(_XID)
    sure = _first(xids, _SURE) or view.signal(_BUS, _ECC)
    if sure is not None:
        return Hit(Confidence.HIGH, quote(sure))
    likely = _first(xids, _LIKELY)
    if likely is not None:
        return Hit(Confidence.MEDIUM, quote(likely))
    return CLEAR if xids else Lacks(("log",))


def _first(xids: tuple[Signal, ...], wanted: tuple[int, ...]) -> Signal | None:
    return next((signal for signal in xids if signal.values.get("xid") in wanted), None)


def _advise(view: View, _hit: Hit) -> tuple[Step, ...]:
    events = "Get-WinEvent -FilterHashtable @{LogName='System'; ProviderName='nvlddmkm'} -MaxEvents 20"
    look = events if advice.is_windows(view) else "sudo dmesg | grep -i xid"
    return (
        advice.say(
            N_(
                "Switch the computer off (a restart may not suffice). Seat the card and its power cables anew, one "
                "cable per plug; remove riser cables; undo overclocking; check the temperature and the power supply."
            )
        ),
        advice.say(N_("See whether it comes back under load, also with another program and in another slot:"), look),
        advice.say(N_("If it does in another computer too, the card is defective.")),
    )


RULE = Rule(
    code="gpu-hardware-or-power-fault",
    scope=Scope.MACHINE,
    step=4,
    severity=Severity.CRASHES,
    title=N_("The GPU failed: a fault of the card, its power or its slot"),
    help=Help(
        what=N_("Whether the driver reported an error of the hardware."),
        why=N_("A card that falls off the bus or has memory errors stops every program until a restart."),
        how=N_(
            "The number of the Xid error in the kernel log: 79 (fell off the bus), 48, 64 and 95 (memory errors) are "
            "sure signs, 62, 74, 92 and 94 likely ones. Xid 13, 31 and 43 are faults of programs."
        ),
        wrong=N_("Xid 79 can also come from power management of the PCIe slot or a driver error."),
        todo=N_("Check power, seat and temperature; try another slot, then another computer."),
    ),
    check=_check,
    needs=((f"signal:{_XID}", f"signal:{_BUS}", f"signal:{_ECC}"),),
    advise=_advise,
    explains=("gpu-lost", "driver-not-responding"),
    links=("https://docs.nvidia.com/deploy/xid-errors/",),
)
