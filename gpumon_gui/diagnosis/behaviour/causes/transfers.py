"""Knows: a GPU that waits for copies over PCIe. Must not know: the other causes."""

from __future__ import annotations

from gpumon_gui.core.formatters import speed
from gpumon_gui.core.messages import N_
from gpumon_gui.diagnosis import tuning
from gpumon_gui.diagnosis.behaviour.causes.picture import (
    LEAST_S,
    at_work,
    counts,
    part,
    shares,
    speeds,
    transfer_confidence,
)
from gpumon_gui.diagnosis.facts import View
from gpumon_gui.diagnosis.finding import Confidence, Severity, Step
from gpumon_gui.diagnosis.rule import CLEAR, Hit, Lacks, Outcome

_KERNELS = N_("The GPU waits for copies: {rate} go over PCIe, while it computes {kernels} of the time")
_BUSY = N_("The GPU waits for copies: {rate} go over PCIe, while it draws little power")
_ENGINE = N_("The GPU waits for copies: its copy engine works {engine} of the time, its compute engines {kernels}")


def watch(view: View) -> Outcome:
    """Judge a program by its behaviour."""
    work = at_work(view, alone=True)
    if isinstance(work, Lacks):
        return work
    seen, _busy = work
    if not seen.traffic_known:
        return Lacks(("job.transfers.rx_bytes_per_s",))
    if seen.seconds < LEAST_S:
        return Lacks(("job.program.seconds",))
    confidence = transfer_confidence(seen)
    if confidence is None:
        return CLEAR
    values = {
        "rate": speed(seen.rate) if seen.rate is not None else "?",
        "kernels": part(seen.kernels),
        "engine": part(seen.engine),
    }
    title = _BUSY if seen.kernels is None else _ENGINE if seen.rate is None else _KERNELS
    evidence = (
        *speeds(
            view,
            "job.transfers.rx_bytes_per_s",
            "job.transfers.tx_bytes_per_s",
            "job.transfers.link_bytes_per_s",
        ),
        *shares(view, "job.activity.busy", "job.activity.kernels", "job.activity.sm", "job.transfers.engine"),
        *counts(view, "job.cpu.main", "job.activity.power_w"),
    )
    severity = Severity.INFO if confidence is Confidence.LOW else None
    return Hit(confidence, evidence, values, severity=severity, title=title)


def advise(view: View, _hit: Hit) -> tuple[Step, ...]:
    """Fewer and faster copies."""
    return tuning.steps(view, "transfers", "keep-on-gpu")
