"""Knows: what a fact is called in words, and how its figure is read. Must not know: rules, where it is shown.

Paths are for those who write rules; people read "GPU busy". What has no words here keeps its path.
"""

from __future__ import annotations

import time
from enum import StrEnum
from typing import Final

from gpumon_gui.core.formatters import percent, speed
from gpumon_gui.core.messages import N_, _
from gpumon_gui.diagnosis.finding import Evidence
from gpumon_gui.diagnosis.out_of_memory import size_text


class Form(StrEnum):
    """What a bare number of a fact is. Text, and numbers that carry a unit already, stay as they are."""

    TEXT = ""
    SHARE = "share"
    WATTS = "W"
    SECONDS = "s"
    SPEED = "speed"
    MICROSECONDS = "µs"
    SIZE = "size"


#: Path → what it is called, and what a bare number of it is.
FACTS: Final[dict[str, tuple[str, Form]]] = {
    "job.activity": (N_("Work on the GPU"), Form.TEXT),
    "job.activity.alone": (N_("No other program works on the GPU"), Form.TEXT),
    "job.activity.busy": (N_("GPU busy"), Form.SHARE),
    "job.activity.card_busy": (N_("The whole GPU busy, whoever works"), Form.SHARE),
    "job.activity.device": (N_("GPU"), Form.TEXT),
    "job.activity.devices": (N_("GPUs that work"), Form.TEXT),
    "job.activity.fill": (N_("Share of the GPU that its kernels fill"), Form.SHARE),
    "job.activity.kernels": (N_("Time with kernels"), Form.SHARE),
    "job.activity.load": (N_("Power of its work, of what the limit allows"), Form.SHARE),
    "job.activity.memory_controller": (N_("Memory controller busy"), Form.SHARE),
    "job.activity.occupancy": (N_("Occupancy of the SMs"), Form.SHARE),
    "job.activity.power_w": (N_("Power"), Form.WATTS),
    "job.activity.size": (N_("Size of the kernels"), Form.TEXT),
    "job.activity.size_by": (N_("Size of the kernels judged by"), Form.TEXT),
    "job.activity.sm": (N_("SM activity"), Form.SHARE),
    "job.activity.waiting_power_w": (N_("Power while it waits"), Form.WATTS),
    "job.clocks.devices": (N_("Clocks under load"), Form.TEXT),
    "job.cpu.age_s": (N_("Age of the program"), Form.SECONDS),
    "job.cpu.cores": (N_("CPU cores in use by the program and what it started"), Form.TEXT),
    "job.cpu.machine": (N_("CPU of the whole computer"), Form.SHARE),
    "job.cpu.machine_cores": (N_("CPU cores of the computer"), Form.TEXT),
    "job.cpu.main": (N_("CPU cores in use by the main process"), Form.TEXT),
    "job.cpu.programs": (N_("Processes that use a GPU"), Form.TEXT),
    "job.cpu.read_bytes_per_s": (N_("Read from disk"), Form.SPEED),
    "job.cpu.threads": (N_("Threads of the main process"), Form.TEXT),
    "job.cpu.workers": (N_("Helper processes at work"), Form.TEXT),
    "job.cpu.workers_cores": (N_("CPU cores in use by helper processes"), Form.TEXT),
    "job.cpu.workers_full": (N_("Helper processes with a full core"), Form.TEXT),
    "job.cpu.workers_listed": (N_("Helper processes"), Form.TEXT),
    "job.groups": (N_("GPUs side by side"), Form.TEXT),
    "job.groups.alternation": (N_("Time in which only one of the GPUs works"), Form.SHARE),
    "job.groups.busy_least": (N_("The least busy GPU"), Form.SHARE),
    "job.groups.busy_most": (N_("The busiest GPU"), Form.SHARE),
    "job.groups.busy_spread": (N_("How much the busy share swings"), Form.SHARE),
    "job.groups.busy_sum": (N_("All GPUs together busy"), Form.SHARE),
    "job.groups.busy_sum_high": (N_("All GPUs together busy, at most"), Form.SHARE),
    "job.groups.correlation": (N_("How alike the GPUs work over time (1: alike, -1: in turns)"), Form.TEXT),
    "job.groups.coupled": (N_("The GPUs exchange data"), Form.TEXT),
    "job.groups.coupled_by": (N_("The GPUs exchange data over"), Form.TEXT),
    "job.groups.devices": (N_("GPUs side by side"), Form.TEXT),
    "job.groups.exchange_bytes_per_s": (N_("Data exchanged per GPU"), Form.SPEED),
    "job.groups.processes": (N_("Processes that use a GPU"), Form.TEXT),
    "job.groups.sm_correlation": (N_("How alike the SMs of the GPUs work over time"), Form.TEXT),
    "job.groups.spare": (N_("GPUs that nobody uses"), Form.TEXT),
    "job.groups.strays": (N_("Memory on another process's GPU"), Form.TEXT),
    "job.memory": (N_("GPU memory"), Form.TEXT),
    "job.memory.cpu_cores": (N_("CPU cores in use"), Form.TEXT),
    "job.memory.devices": (N_("GPU memory"), Form.TEXT),
    "job.memory.gpu_busy_high": (N_("GPU busy, at most"), Form.SHARE),
    "job.memory.gpu_busy_mean": (N_("GPU busy"), Form.SHARE),
    "job.memory.read_bytes_per_s": (N_("Read from disk"), Form.SPEED),
    "job.memory.seconds": (N_("Watched for"), Form.SECONDS),
    "job.phases.active": (N_("GPU busy between the pauses"), Form.SHARE),
    "job.phases.cpu_in_gaps": (N_("CPU cores in use during the pauses"), Form.TEXT),
    "job.phases.cpu_in_work": (N_("CPU cores in use between the pauses"), Form.TEXT),
    "job.phases.gap_s": (N_("Length of a pause of the GPU"), Form.SECONDS),
    "job.phases.gap_share": (N_("Time in pauses of the GPU"), Form.SHARE),
    "job.phases.gaps": (N_("Pauses of the GPU"), Form.TEXT),
    "job.phases.gaps_enclosed": (N_("Pauses of the GPU between work"), Form.TEXT),
    "job.phases.high_level": (N_("GPU busy, the highest tenth of the time"), Form.SHARE),
    "job.phases.idle": (N_("Time without work on the GPU"), Form.SHARE),
    "job.phases.low_level": (N_("GPU busy, the lowest tenth of the time"), Form.SHARE),
    "job.phases.period_s": (N_("From one pause of the GPU to the next"), Form.SECONDS),
    "job.phases.read_in_gaps": (N_("Read from disk during the pauses"), Form.SPEED),
    "job.phases.turns": (N_("Changes between much and little work"), Form.TEXT),
    "job.phases.variation": (N_("How much the work swings"), Form.SHARE),
    "job.phases.workers_in_gaps": (N_("CPU cores in use by helper processes during the pauses"), Form.TEXT),
    "job.phases.workers_in_work": (N_("CPU cores in use by helper processes between the pauses"), Form.TEXT),
    "job.phases.write_in_gaps": (N_("Written to disk during the pauses"), Form.SPEED),
    "job.precision.dram": (N_("GPU memory at work"), Form.SHARE),
    "job.precision.fp16": (N_("16-bit units at work"), Form.SHARE),
    "job.precision.fp32": (N_("32-bit units at work"), Form.SHARE),
    "job.precision.fp64": (N_("64-bit units at work"), Form.SHARE),
    "job.precision.kernels": (N_("Time with kernels"), Form.SHARE),
    "job.precision.memory_controller": (N_("Memory controller busy"), Form.SHARE),
    "job.precision.tensor": (N_("Tensor cores at work"), Form.SHARE),
    "job.precision.tensor_cores": (N_("The GPU has tensor cores"), Form.TEXT),
    "job.program": (N_("Program"), Form.TEXT),
    "job.program.framework": (N_("Framework"), Form.TEXT),
    "job.program.pid": (N_("Process"), Form.TEXT),
    "job.program.samples": (N_("Readings"), Form.TEXT),
    "job.program.seconds": (N_("Judged time"), Form.SECONDS),
    "job.progress": (N_("Progress"), Form.TEXT),
    "job.progress.devices": (N_("Busy without a trace of work"), Form.TEXT),
    "job.transfers.copies": (N_("Time with copies alone"), Form.SHARE),
    "job.transfers.engine": (N_("Copy engines busy"), Form.SHARE),
    "job.transfers.link_bytes_per_s": (N_("What the PCIe link can carry"), Form.SPEED),
    "job.transfers.link_share": (N_("PCIe link in use"), Form.SHARE),
    "job.transfers.peer_bytes_per_s": (N_("Between GPUs"), Form.SPEED),
    "job.transfers.rx_bytes_per_s": (N_("From the computer to the GPU"), Form.SPEED),
    "job.transfers.time": (N_("Time that copying takes"), Form.SHARE),
    "job.transfers.tx_bytes_per_s": (N_("From the GPU to the computer"), Form.SPEED),
    "memory_snapshot.fragmented_bytes": (N_("Free in holes between blocks in use"), Form.SIZE),
    "memory_snapshot.growing": (N_("Only takes memory"), Form.TEXT),
    "memory_snapshot.largest_hole_bytes": (N_("The largest hole"), Form.SIZE),
    "memory_snapshot.out_of_memory.requested_bytes": (N_("Asked for in vain"), Form.SIZE),
    "memory_snapshot.reserved_bytes": (N_("Reserved"), Form.SIZE),
    "memory_snapshot.trace_entries": (N_("Events in the record"), Form.TEXT),
    "profile.compute_capability": (N_("Compute capability"), Form.TEXT),
    "profile.data_loader_share": (N_("Time in the data loader"), Form.SHARE),
    "profile.gpu_busy_share": (N_("GPU busy"), Form.SHARE),
    "profile.gpu_collective_share": (N_("Time in which the GPUs exchange data"), Form.SHARE),
    "profile.gpu_copy_share": (N_("Time with copies alone"), Form.SHARE),
    "profile.gpu_exposed_collective_share": (N_("Time in which the GPUs only exchange data"), Form.SHARE),
    "profile.heavy_share": (N_("Heavy arithmetic, of the time of all kernels"), Form.SHARE),
    "profile.heavy_tensor_core_share": (N_("Heavy arithmetic that runs on tensor cores"), Form.SHARE),
    "profile.idle_while.copy": (N_("GPU idle while the CPU prepares copies"), Form.SHARE),
    "profile.idle_while.data_loader": (N_("GPU idle while the CPU is in the data loader"), Form.SHARE),
    "profile.item_count": (N_("Single values fetched from the GPU"), Form.TEXT),
    "profile.kernel_median_us": (N_("Median length of the kernels"), Form.MICROSECONDS),
    "profile.kernels_per_s": (N_("Kernels per second"), Form.TEXT),
    "profile.sync_count": (N_("Times the CPU waited for the GPU"), Form.TEXT),
    "profile.sync_loss_share": (N_("GPU idle after the CPU had waited for it"), Form.SHARE),
    "window.health.busiest": (N_("The busiest GPU"), Form.SHARE),
    "window.health.devices": (N_("The GPUs of this computer"), Form.TEXT),
    "window.seen": (N_("Watched"), Form.TEXT),
    "window.seen.devices": (N_("GPUs that were watched"), Form.TEXT),
    "window.seen.seconds": (N_("Watched for"), Form.SECONDS),
    **{
        f"{framework}.proof.{part}": (name, Form.TEXT)
        for framework in ("torch", "tensorflow", "jax", "cupy")
        for part, name in (
            ("claimed", N_("What the framework says")),
            ("seen", N_("What was seen of it")),
            ("why", N_("Judged as")),
        )
    },
}


def label(what: str) -> str:
    """What a fact is called in the user's language; its path where it has no words."""
    known = FACTS.get(what)
    return what if known is None else _(known[0])


def has_words(what: str) -> bool:
    """Whether a fact has a name in words."""
    return what in FACTS


def said(evidence: Evidence) -> str:
    """What was measured in the user's language, without its time: ``16 %``, ``24.6 GB of 140.4 GB, GPU busy 0 %``."""
    if evidence.words:
        return _(", ").join(_(one.text).format(**one.values) for one in evidence.words)
    return figure(evidence.what, evidence.value)


def said_with_time(evidence: Evidence) -> str:
    """The same with the time it is from: ``16 % (30 s, 08:00:00-08:00:30 UTC)``."""
    start, end = evidence.start_utc_s, evidence.end_utc_s
    if start is None or end is None:
        return said(evidence)
    first, last = (time.strftime("%H:%M:%S", time.gmtime(moment)) for moment in (start, end))
    text = _("{figure} ({seconds} s, {start}-{end} UTC)")
    return text.format(figure=said(evidence), seconds=f"{end - start:.0f}", start=first, end=last)


def figure(what: str, bare: str) -> str:
    """The value of a fact as people read it, with its unit; what is written out already stays."""
    form = FACTS.get(what, ("", Form.TEXT))[1]
    if form is Form.TEXT:
        return {"True": _("yes"), "False": _("no"), "null": _("unknown")}.get(bare, bare)
    try:
        number = float(bare)
    except ValueError:
        return bare  # carries its unit
    if form is Form.SHARE:
        return percent(number, 0 if number >= 0.1 or number == 0 else 1)
    if form is Form.SPEED:
        return speed(number)
    if form is Form.SIZE:
        return size_text(number)
    return f"{number:g} {form.value}"
