"""Knows: which causes a profile and a memory snapshot show, by which thresholds. Must not know: rules, file formats.

Each function answers with a hit, with :data:`CLEAR`, or with None where the facts say nothing about its cause; a rule
adds it to what it knows from elsewhere with :func:`weighed`. Shares are parts of the recorded time
(``profiles/summary.py`` says how they are counted). The thresholds: from a seventh of the time on a cause is worth a
change (``LIKELY``), from a third on it is the main one (``CLEAR_CUT``). A profiler slows the CPU and hardly the GPU, so
that a profile shows more waiting for the CPU than there is without it: smaller shares are no finding.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from gpumon_gui.core.formatters import memory
from gpumon_gui.core.messages import N_
from gpumon_gui.diagnosis import tuning
from gpumon_gui.diagnosis.facts import View
from gpumon_gui.diagnosis.finding import Confidence, Evidence, Step
from gpumon_gui.diagnosis.out_of_memory import IDLE_SHARE
from gpumon_gui.diagnosis.rule import CLEAR, Answer, Hit, Outcome, cite

Judged = Hit | Answer | None

LIKELY: Final = 0.15
CLEAR_CUT: Final = 1 / 3
#: Fewer waits than this are the start and the end of a profile.
_WAITS: Final = 8
#: A launch costs the CPU 5 to 10 microseconds (more under a profiler): a GPU with kernels no longer than that starves.
_SHORT_KERNEL_US: Final = 12.0
#: Below this the units that a kernel uses do not decide how long the program takes.
_BUSY: Final = 0.3
_HEAVY: Final = 0.3
_FEW_ON_TENSOR_CORES: Final = 0.1
#: Tensor cores came with Volta.
_FIRST_TENSOR_CORES: Final = (7, 0)
#: From here on holes are fragmentation even if no request has failed yet.
_HOLES: Final = 0.3
_HOLES_BYTES: Final = 64 << 20

DATA: Final = N_("For {share} of the profile the GPU was idle because the program waited for its data loader")
DATA_ON_CPU: Final = N_("For {share} of the profile the program waited for its data loader")
WAITS: Final = N_(
    "The CPU waits for the GPU {count} times, and then the GPU waits for the CPU: without that the program could take "
    "up to {share} less time"
)
COPIES: Final = N_(
    "For {share} of the profile the GPU only waited for copies; {pageable} of their time is from pageable memory"
)
COPIES_PLAIN: Final = N_("For {share} of the profile the GPU only waited for copies between it and the computer")
SMALL: Final = N_(
    "Half of the kernels take less than {median}: the GPU, {busy} busy, is done before the next one is started"
)
PLAIN: Final = N_(
    "{heavy} of the GPU's time goes into matrix products and convolutions, {tensor} of that on tensor cores"
)
COMMUNICATION: Final = N_("For {share} of the profile the GPU did nothing but communicate with other GPUs")
GROWING: Final = N_("Memory taken in {site} is not given back: {count} blocks, {size}, and more all the time")
HOLES: Final = N_(
    "In the memory snapshot {share} of the reserved memory ({size}) is free in holes between blocks in use"
)
HOLES_FAILED: Final = N_("A request for {request} failed while {size} were free in holes between blocks in use")


def weighed(found: Judged, otherwise: Outcome) -> Outcome:
    """What a profile shows counts before what is guessed or printed; where it shows nothing of a cause, guesses (low
    confidence) fall silent."""
    if isinstance(found, Hit):
        return found
    if found is None or (isinstance(otherwise, Hit) and otherwise.confidence is not Confidence.LOW):
        return otherwise
    return CLEAR


def better(view: View, *topics: str) -> tuple[Step, ...]:
    """What to change, by topic (``tuning``), for the framework of the profile; nothing without a profile."""
    return tuning.steps(view, *topics) if view.known("profile") or view.known("memory_snapshot") else ()


def waiting_for_data(view: View) -> Judged:
    """The GPU is idle while the CPU is in the data loader; without a GPU the loader's own time counts."""
    share = view.number("profile.idle_while.data_loader")
    evidence = "profile.idle_while.data_loader"
    title = DATA
    if share is None:
        share, evidence, title = view.number("profile.data_loader_share"), "profile.data_loader_share", DATA_ON_CPU
    if share is None:
        return None
    return _by_share(view, share, title, {}, evidence, "profile.gpu_busy_share")


def waiting_after_each_wait(view: View) -> Judged:
    """The GPU runs dry each time the CPU has waited for it (how it is counted: ``profiles/summary.py``)."""
    share, count = view.number("profile.sync_loss_share"), view.number("profile.sync_count")
    if share is None or count is None:
        return None
    if count < _WAITS:
        return CLEAR
    values = {"count": f"{count:,.0f}"}
    return _by_share(view, share, WAITS, values, "profile.sync_loss_share", "profile.sync_count", "profile.item_count")


def waiting_for_copies(view: View) -> Judged:
    """Only a copy runs, or the CPU prepares one (pageable memory is staged first)."""
    share, staging = view.number("profile.gpu_copy_share"), view.number("profile.idle_while.copy")
    if share is None:
        return None
    pageable = [
        (seconds, part)
        for row in view.items("profile.copies")
        if isinstance(row, Mapping)
        and row.get("direction") in ("htod", "dtoh")
        and isinstance(seconds := row.get("seconds"), int | float)
        and isinstance(part := row.get("pageable_share"), int | float)
    ]
    whole = sum(seconds for seconds, _part in pageable)
    values = {}
    if whole > 0:
        values["pageable"] = f"{100 * sum(seconds * part for seconds, part in pageable) / whole:.0f} %"
    title = COPIES if values else COPIES_PLAIN
    return _by_share(
        view, share + (staging or 0.0), title, values, "profile.gpu_copy_share", "profile.idle_while.copy",
        "profile.gpu_busy_share",
    )  # fmt: skip


def kernels_too_short(view: View) -> Judged:
    """Short kernels, a GPU that is idle most of the time, and a CPU that is busy starting them."""
    median, busy = view.number("profile.kernel_median_us"), view.number("profile.gpu_busy_share")
    if median is None or busy is None:
        return None
    starting = sum(view.number(f"profile.idle_while.{kind}") or 0.0 for kind in ("launch", "operator", "unrecorded"))
    elsewhere = sum(view.number(f"profile.idle_while.{kind}") or 0.0 for kind in ("data_loader", "compile", "copy"))
    if median > _SHORT_KERNEL_US or busy >= 0.5 or starting < CLEAR_CUT or elsewhere >= starting:
        return CLEAR
    values = {"median": f"{median:.1f} µs", "busy": f"{100 * busy:.0f} %"}
    paths = ("profile.kernel_median_us", "profile.kernels_per_s", "profile.gpu_busy_share")
    sure = Confidence.HIGH if starting >= 0.5 and elsewhere < LIKELY else Confidence.MEDIUM
    return Hit(sure, cite(view, *paths), values, title=SMALL)


def without_tensor_cores(view: View) -> Judged:
    """Heavy arithmetic on a busy GPU that has tensor cores, hardly any of it on them."""
    heavy, tensor = view.number("profile.heavy_share"), view.number("profile.heavy_tensor_core_share")
    busy = view.number("profile.gpu_busy_share")
    if heavy is None or busy is None:
        return None
    capability = view.version("profile.compute_capability")
    if heavy < _HEAVY or tensor is None or tensor > _FEW_ON_TENSOR_CORES or busy < _BUSY:
        return CLEAR
    if capability is not None and capability[:2] < _FIRST_TENSOR_CORES:
        return CLEAR
    values = {"heavy": f"{100 * heavy:.0f} %", "tensor": f"{100 * tensor:.0f} %"}
    paths = ("profile.heavy_share", "profile.heavy_tensor_core_share", "profile.compute_capability")
    return Hit(Confidence.MEDIUM if capability is None else Confidence.HIGH, cite(view, *paths), values, title=PLAIN)


def communicating(view: View) -> Judged:
    """Collectives run and nothing else does."""
    share = view.number("profile.gpu_exposed_collective_share")
    if share is None:
        return None
    return _by_share(
        view, share, COMMUNICATION, {}, "profile.gpu_exposed_collective_share", "profile.gpu_collective_share"
    )


def growing_memory(view: View) -> Judged:
    """A call site of the snapshot's record only takes memory."""
    if not view.known("memory_snapshot.growing"):
        return None
    rows = [row for row in view.items("memory_snapshot.growing") if isinstance(row, Mapping)]
    first = next((row for row in rows if isinstance(row.get("bytes"), int) and isinstance(row.get("site"), str)), None)
    if first is None:
        return CLEAR
    values = {"site": str(first["site"]), "count": str(first.get("count", "?")), "size": memory(first["bytes"])}
    evidence = Evidence(
        "memory_snapshot.growing",
        f"{values['site']} · {values['count']} · {values['size']}",
        view.origin("memory_snapshot"),
    )
    # Within a single step everything is kept for the backward pass.
    sure = Confidence.MEDIUM if view.flag("memory_snapshot.freed_meanwhile") else Confidence.LOW
    return Hit(sure, (evidence, *cite(view, "memory_snapshot.trace_entries")), values, title=GROWING)


def holes_in_memory(view: View) -> Judged:
    """Free memory in pieces; a failed request that they could have served in one piece makes it certain."""
    share, holes = view.number("memory_snapshot.fragmented_share"), view.number("memory_snapshot.fragmented_bytes")
    if share is None or holes is None:
        return None
    request = view.number("memory_snapshot.out_of_memory.requested_bytes")
    paths = ["memory_snapshot.fragmented_bytes", "memory_snapshot.reserved_bytes", "memory_snapshot.largest_hole_bytes"]
    values = {"share": f"{100 * share:.0f} %", "size": memory(holes)}
    if request and holes >= request and share >= IDLE_SHARE:
        values["request"] = memory(request)
        paths.append("memory_snapshot.out_of_memory.requested_bytes")
        return Hit(Confidence.HIGH, cite(view, *paths), values, title=HOLES_FAILED)
    if share >= _HOLES and holes >= _HOLES_BYTES:
        return Hit(Confidence.MEDIUM, cite(view, *paths), values, title=HOLES)
    return CLEAR


def _by_share(view: View, share: float, title: str, values: Mapping[str, str], *paths: str) -> Judged:
    if share < LIKELY:
        return CLEAR
    sure = Confidence.HIGH if share >= CLEAR_CUT else Confidence.MEDIUM
    return Hit(sure, cite(view, *paths), {"share": f"{100 * share:.0f} %", **values}, title=title)
