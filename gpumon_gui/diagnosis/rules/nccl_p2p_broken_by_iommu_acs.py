"""Knows: transfers between GPUs that the IOMMU or ACS breaks. Must not know: the other rules."""

from __future__ import annotations

from gpumon_gui.core.messages import N_
from gpumon_gui.diagnosis import advice
from gpumon_gui.diagnosis.facts import View
from gpumon_gui.diagnosis.finding import Confidence, Severity, Step
from gpumon_gui.diagnosis.rule import CLEAR, Help, Hit, Lacks, Outcome, Rule, Scope, cite, quote

_ACS = "pcie-acs-redirects"
_ACS_OFF = "pcie-acs-off"
_FAULT = "iommu-page-fault"
_TIMEOUT = "nccl-timeout"


def _check(view: View) -> Outcome:
    acs, fault, timeout = view.signal(_ACS), view.signal(_FAULT), view.signal(_TIMEOUT)
    count = view.number("gpu_count")
    if count is not None and count < 2:
        return CLEAR
    if fault is not None:
        return Hit(Confidence.HIGH if timeout or acs else Confidence.MEDIUM, quote(fault, acs, timeout))
    if acs is not None:
        if timeout is not None:
            return Hit(Confidence.HIGH, quote(acs, timeout))
        # ACS is on in many computers that are used for one GPU at a time.
        return Hit(Confidence.MEDIUM if count else Confidence.LOW, quote(acs) + cite(view, "gpu_count"))
    return CLEAR if view.signal(_ACS_OFF) is not None else Lacks(("log",))


def _advise(view: View, _hit: Hit) -> tuple[Step, ...]:
    return (
        advice.say(
            N_("Confirm it: without direct transfers it must run (slower):"),
            advice.set_variable(view, "NCCL_P2P_DISABLE", "1"),
        ),
        advice.say(
            N_(
                "Then switch ACS and the IOMMU (AMD-Vi, VT-d) off in the BIOS, or boot with iommu=pt. In a virtual "
                "machine keep NCCL_P2P_DISABLE=1."
            )
        ),
        advice.say(
            N_("Look at the bridges; all should show ReqRedir- and CmpltRedir-:"), "sudo lspci -vvv | grep ACSCtl"
        ),
    )


RULE = Rule(
    code="nccl-p2p-broken-by-iommu-acs",
    scope=Scope.MACHINE,
    step=9,
    severity=Severity.BLOCKS,
    title=N_("Direct transfers between GPUs do not work: PCIe access control (ACS) or the IOMMU redirects them"),
    help=Help(
        what=N_("Whether the computer's PCIe settings break transfers between GPUs."),
        why=N_(
            "Collectives of several GPUs then hang for ever, at 100 percent use and little power, without an error."
        ),
        how=N_(
            "lspci shows bridges with ReqRedir+ and CmpltRedir+, or the kernel log shows page faults of the IOMMU for "
            "the GPU. A time-out of NCCL alone has many other causes and is not enough."
        ),
        wrong=N_("With NVLink between the cards the PCIe settings do not matter."),
        todo=N_("Switch ACS and IOMMU off, or set NCCL_P2P_DISABLE=1."),
    ),
    check=_check,
    needs=((f"signal:{_ACS}", f"signal:{_ACS_OFF}", f"signal:{_FAULT}"),),
    advise=_advise,
    links=("https://docs.nvidia.com/deeplearning/nccl/user-guide/docs/troubleshooting.html",),
)
