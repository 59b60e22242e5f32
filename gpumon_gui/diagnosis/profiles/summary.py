"""Knows: how the sums of a profile become facts: shares, gaps, rankings. Must not know: file formats, rules.

The window is from the first marked step to the end of the last, else from the first event to the last. In it a GPU
computes (a kernel runs), waits for a copy between computer and GPU (only a copy runs), or is idle; the three shares
add up to 1. Idle time is attributed to what the CPU was doing (:class:`Doing`). With several GPUs shares are means.
"""

from __future__ import annotations

from array import array
from collections.abc import Iterable, Mapping
from typing import Any, Final

import numpy as np

from gpumon_gui.diagnosis.profiles.collect import Device, Named, Totals
from gpumon_gui.diagnosis.profiles.host import UNRECORDED, Doing
from gpumon_gui.diagnosis.profiles.host import doing as doing_of
from gpumon_gui.diagnosis.profiles.intervals import EMPTY, Set

_TOP: Final = 15
_TOP_GAPS: Final = 8
#: Between two kernels in a row lie some microseconds; a gap is longer.
GAP_US: Final = 10.0
_SECOND: Final = 1e6


def facts(totals: Totals, about: Mapping[str, Any]) -> dict[str, Any]:
    """The facts ``profile``."""
    found: dict[str, Any] = {**about, "event_count": totals.events, "damaged_event_count": totals.damaged}
    window = _window(totals)
    if window is None:
        return found
    start, end = window
    found["duration_s"] = (end - start) / _SECOND
    if totals.steps:
        lengths = sorted(behind - begin for begin, behind in totals.steps)
        found["step_count"] = len(lengths)
        found["step_median_s"] = lengths[len(lengths) // 2] / _SECOND
    found["operators"], found["operators_by"] = _operators(totals)
    found["kernels"] = _ranking(totals.kernels.values())
    found["kernel_count"] = sum(device.kernel_count for device in totals.devices.values())
    found["copies"] = _copies(totals)
    if found["kernel_count"]:
        _about_kernels(totals, start, end, found)
        _about_time(totals, start, end, found)
    _about_waits(totals, start, end, found)
    return {name: _rounded(value) for name, value in found.items()}


def _rounded(value: Any) -> Any:
    """Six digits: more are noise, and facts are shown."""
    if isinstance(value, float):
        return float(f"{value:.6g}")
    if isinstance(value, list):
        return [_rounded(entry) for entry in value]
    return {name: _rounded(entry) for name, entry in value.items()} if isinstance(value, dict) else value


def _window(totals: Totals) -> tuple[float, float] | None:
    if totals.steps:
        start, end = min(begin for begin, _ in totals.steps), max(behind for _, behind in totals.steps)
        # Steps may be marked in a part of the program only, or on another clock: then everything counts.
        if end - start >= 0.5 * (totals.end - totals.start):
            return start, end
    return (totals.start, totals.end) if totals.end > totals.start else None


def _ranking(names: Iterable[Named]) -> list[dict[str, Any]]:
    ranked = sorted(names, key=lambda one: (-one.total_us, one.name))
    total = sum(one.total_us for one in ranked)
    return [_row(one.name, one.count, one.total_us, total) for one in ranked[:_TOP] if one.total_us > 0]


def _row(name: str, count: int, total_us: float, whole_us: float) -> dict[str, Any]:
    return {
        "name": name,
        "count": count,
        "seconds": total_us / _SECOND,
        "share": total_us / whole_us if whole_us else 0.0,
    }


def _operators(totals: Totals) -> tuple[list[dict[str, Any]], str]:
    """The operators by the time of their kernels; in a profile without a GPU by the CPU's own time in them."""
    ids = np.array(totals.op_links, dtype=np.int64)
    names = np.array(totals.op_names, dtype=np.int32)
    if totals.operators:
        return _ranking(totals.operators.values()), "device"
    if len(totals.kernel_links) and len(ids):
        linked = ids >= 0
        order = np.argsort(ids[linked], kind="stable")
        sorted_ids, sorted_names = ids[linked][order], names[linked][order]
        wanted = np.array(totals.kernel_links, dtype=np.int64)
        place = np.minimum(np.searchsorted(sorted_ids, wanted), max(0, len(sorted_ids) - 1))
        hit = (sorted_ids[place] == wanted) if len(sorted_ids) else np.zeros(len(wanted), dtype=np.bool_)
        owner = sorted_names[place[hit]] if len(sorted_ids) else np.empty(0, dtype=np.int32)
        lengths = np.array(totals.kernel_link_us, dtype=np.float64)[hit]
        if len(owner):
            return _by_name(totals, owner, lengths), "device"
    if totals.kernels or not len(ids):
        return [], "device"
    return _by_name(totals, names, _self_times(totals)), "cpu"


def _by_name(totals: Totals, owner: Any, lengths: Any) -> list[dict[str, Any]]:
    size = len(totals.host_names)
    sums, counts = np.bincount(owner, lengths, size), np.bincount(owner, minlength=size)
    whole = float(sums.sum())
    top = np.argsort(-sums, kind="stable")[:_TOP]
    return [_row(totals.host_names[one], int(counts[one]), float(sums[one]), whole) for one in top if sums[one] > 0]


def _self_times(totals: Totals) -> Any:
    """Each operator's time without that of the operators inside it."""
    starts, lengths = np.array(totals.op_starts), np.array(totals.op_lengths, dtype=np.float64)
    threads = np.array(totals.op_threads)
    own = lengths.copy()
    stack: list[tuple[float, int]] = []
    thread = None
    for one in np.lexsort((-lengths, starts, threads)).tolist():
        if threads[one] != thread:
            thread = threads[one]
            stack.clear()
        begin = starts[one]
        while stack and stack[-1][0] <= begin:
            stack.pop()
        if stack:
            own[stack[-1][1]] -= lengths[one]
        stack.append((begin + lengths[one], one))
    return np.maximum(own, 0.0)


def _copies(totals: Totals) -> list[dict[str, Any]]:
    rows = []
    for direction, one in sorted(totals.copies.items(), key=lambda item: -item[1].total_us):
        row = {"direction": direction, "count": one.count, "seconds": one.total_us / _SECOND, "bytes": one.size}
        if one.pageable_us or one.pinned_us:
            row["pageable_share"] = one.pageable_us / (one.pageable_us + one.pinned_us)
        rows.append(row)
    return rows


def _about_kernels(totals: Totals, start: float, end: float, found: dict[str, Any]) -> None:
    lengths = np.array(totals.lengths)
    found["kernel_median_us"] = float(np.median(lengths))
    found["kernels_per_s"] = _begun(totals.starts, start, end) / ((end - start) / _SECOND)
    kernels = totals.kernels.values()
    whole = sum(one.total_us for one in kernels)
    heavy = sum(one.total_us for one in kernels if one.heavy or one.tensor)
    tensor = sum(one.total_us for one in kernels if one.tensor)
    if whole > 0:
        found["tensor_core_share"] = tensor / whole
        found["heavy_share"] = heavy / whole
    if heavy > 0:
        found["heavy_tensor_core_share"] = tensor / heavy
    capabilities = [device.capability for device in totals.devices.values() if device.capability is not None]
    if capabilities:
        found["compute_capability"] = "{}.{}".format(*max(capabilities))


def _about_time(totals: Totals, start: float, end: float, found: dict[str, Any]) -> None:
    """Busy, copying, idle; gaps and what the CPU did in them."""
    doing = {kind: collector.result() for kind, collector in totals.doing.items()}
    used = {index: device for index, device in sorted(totals.devices.items()) if device.kernel_count}
    rows, idle_shares, lost = [], [], []
    count, seconds, longest = 0, 0.0, []
    for index, device in used.items():
        kernels, copying = device.kernels.result(), device.copying.result()
        idle = (kernels | copying).gaps(start, end)
        rows.append({**_device(index, device, kernels, copying, start, end), "idle_share": idle.total / (end - start)})
        by_kind = _attributed(idle, doing)
        idle_shares.append({kind: float(lengths.sum()) / (end - start) for kind, lengths in by_kind.items()})
        lost.append(_lost_to_waits(idle, doing, start, end) / (end - start))
        lengths = idle.ends - idle.starts
        gaps = lengths >= GAP_US
        count += int(gaps.sum())
        seconds += float(lengths[gaps].sum()) / _SECOND
        for place in np.argsort(-lengths, kind="stable")[: min(_TOP_GAPS, int(gaps.sum()))].tolist():
            kind = max(by_kind, key=lambda name: float(by_kind[name][place]))
            longest.append((float(lengths[place]), float(idle.starts[place]), index, kind))
    found["devices"] = rows
    for key in ("busy_share", "copy_share", "idle_share", "collective_share", "exposed_collective_share"):
        found[f"gpu_{key}"] = float(np.mean([row[key] for row in rows]))
    found["idle_while"] = {
        kind: float(np.mean([shares[kind] for shares in idle_shares])) for kind in (*map(str, Doing), UNRECORDED)
    }
    found["sync_loss_share"] = float(np.mean(lost))
    found["gap_count"], found["gap_seconds"] = count, seconds
    found["gaps"] = [
        {"start_s": (begin - start) / _SECOND, "seconds": length / _SECOND, "device": index, "while": kind,
         "event": _longest_in(totals, begin, begin + length, kind)}
        for length, begin, index, kind in sorted(longest, reverse=True)[:_TOP_GAPS]
    ]  # fmt: skip


def _device(index: int, device: Device, kernels: Set, copying: Set, start: float, end: float) -> dict[str, Any]:
    length = end - start
    busy = kernels.clipped(start, end)
    copies, collective = copying.clipped(start, end), device.communicating.result().clipped(start, end)
    computing = device.computing.result()
    row: dict[str, Any] = {
        "index": index,
        "busy_share": busy.total / length,
        "copy_share": (copies.total - float(kernels.within(copies).sum())) / length,
        "collective_share": collective.total / length,
        "exposed_collective_share": (collective.total - float(computing.within(collective).sum())) / length,
        "kernel_count": device.kernel_count,
        "kernel_s": device.kernel_us / _SECOND,
    }
    if device.name:
        row["name"] = device.name
    return row


def _attributed(idle: Set, doing: Mapping[Doing, Set]) -> dict[str, Any]:
    """For each idle interval how long the CPU did what."""
    by_kind: dict[str, Any] = {}
    so_far, before = EMPTY, np.zeros(len(idle.starts))
    for kind in Doing:
        so_far = so_far | doing[kind]
        covered = so_far.within(idle)
        by_kind[str(kind)] = np.maximum(covered - before, 0.0)
        before = covered
    by_kind[UNRECORDED] = np.maximum(idle.ends - idle.starts - before, 0.0)
    return by_kind


def _lost_to_waits(idle: Set, doing: Mapping[Doing, Set], start: float, end: float) -> float:
    """Time that the waits of the CPU for the GPU cost at most.

    While the CPU waits it starts nothing; so the GPU is idle behind the wait, until new work reaches it. Without the
    wait that work would have been started meanwhile: of each wait the shorter of the two counts, its own length and the
    idle time between its end and the end of the next. Idle time in the data loader or in a compiler is not the wait's.
    """
    waits = doing[Doing.SYNCHRONISE].clipped(start, end)
    if not len(waits.starts):
        return 0.0
    other = doing[Doing.DATA_LOADER] | doing[Doing.COMPILE]
    bounds = np.concatenate((waits.ends, [end]))
    both = idle.covered_until(bounds) + other.covered_until(bounds) - (idle | other).covered_until(bounds)
    behind = np.diff(idle.covered_until(bounds) - both)
    return float(np.minimum(waits.ends - waits.starts, behind).sum())


def _longest_in(totals: Totals, begin: float, end: float, kind: str) -> str:
    """The event of this kind that covers most of a gap, of those that are known by name."""
    best, name = 0.0, ""
    for length, start, called in totals.longest:
        overlap = min(end, start + length) - max(begin, start)
        if overlap > best and doing_of(called) == kind:
            best, name = overlap, called
    return name


def _about_waits(totals: Totals, start: float, end: float, found: dict[str, Any]) -> None:
    length = end - start
    loader = totals.doing[Doing.DATA_LOADER].result().clipped(start, end)
    found["data_loader_share"] = loader.total / length
    waits = totals.doing[Doing.SYNCHRONISE].result().clipped(start, end)
    found["sync_count"] = _begun(totals.wait_starts, start, end)
    found["sync_share"] = waits.total / length
    found["item_count"] = _begun(totals.item_starts, start, end)


def _begun(starts: array[float], start: float, end: float) -> int:
    """How many events began in the window."""
    moments = np.array(starts)
    return int(np.count_nonzero((moments >= start) & (moments <= end)))
