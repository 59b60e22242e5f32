"""Knows: what a memory snapshot of PyTorch tells: who holds memory, holes, what only grows. Must not know: rules.

The layout is that of ``torch.cuda.memory._snapshot()`` (torch/cuda/memory.py and torch/csrc/cuda/memory_snapshot.cpp,
torch 1.13 to 2.13): ``segments`` with ``blocks`` and ``device_traces``, one list of events per GPU, a ring of the
newest ones. Old snapshots are the bare list of segments, with ``history`` in place of ``frames``.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

from gpumon_gui.core.errors import UnreadableInput
from gpumon_gui.core.files import shown
from gpumon_gui.core.messages import _
from gpumon_gui.diagnosis.profiles import restricted_pickle
from gpumon_gui.diagnosis.profiles.opening import Bounded

_TOP: Final = 15
#: A call site grows when at least so many of its blocks were never given back …
_GROWING_COUNT: Final = 8
#: … of all that it took at least this share …
_GROWING_UNFREED: Final = 0.9
#: … and each quarter of the record has at least this share of them: parameters are made once, at the start, and what a
#: step computes is there at the end only.
_GROWING_SPREAD: Final = 0.08
#: Less than this is no leak worth a word, and no larger than what caches hold.
_GROWING_BYTES: Final = 4 << 20
_LIBRARY: Final = ("site-packages", "dist-packages", "/torch/", "\\torch\\", "<frozen", "/lib/python")
_COUNTED: Final = ("reserved_bytes", "allocated_bytes", "fragmented_bytes", "releasable_bytes", "requested_bytes")
UNKNOWN_SITE: Final = "?"
_INACTIVE: Final = "inactive"


@dataclass(slots=True)
class _Site:
    count: int = 0
    size: int = 0


@dataclass(slots=True)
class _Traced:
    """What one call site took during the record."""

    taken: int = 0
    freed: int = 0
    kept: list[tuple[int, int]] = field(default_factory=list)  #: place in the record, size


def read(source: Bounded, path: Path) -> dict[str, Any]:
    """The facts ``memory_snapshot``. Raises UnreadableInput."""
    snapshot = restricted_pickle.load(source, path)
    if isinstance(snapshot, list):
        snapshot = {"segments": snapshot}
    segments = snapshot.get("segments") if isinstance(snapshot, Mapping) else None
    if not isinstance(segments, list) or not all(isinstance(one, Mapping) for one in segments):
        raise UnreadableInput(
            _("{path}: a pickle, but no memory snapshot of PyTorch: it has no segments.").format(path=shown(path))
        )
    facts: dict[str, Any] = {"file": path.name}
    facts.update(_memory(segments))
    traces = snapshot.get("device_traces")
    if isinstance(traces, list) and any(traces):
        facts.update(_history(traces))
    settings = snapshot.get("allocator_settings")
    if isinstance(settings, Mapping) and isinstance(settings.get("expandable_segments"), bool):
        facts["expandable_segments"] = settings["expandable_segments"]
    return facts


def _memory(segments: list[Mapping[str, Any]]) -> dict[str, Any]:
    """Reserved, allocated, holes, and the call sites that hold most."""
    devices: dict[int, dict[str, int]] = {}
    sites: dict[str, _Site] = {}
    for segment in segments:
        total = _size(segment.get("total_size"))
        device = devices.setdefault(
            _size(segment.get("device")),
            dict.fromkeys(_COUNTED, 0),
        )
        free = largest = used = requested = 0
        for block in _mappings(segment.get("blocks")):
            size = _size(block.get("size"))
            if block.get("state") == _INACTIVE:
                free += size
                largest = max(largest, size)
                continue
            used += size
            requested += _size(block.get("requested_size")) or size
            site = sites.setdefault(_site(_frames(block)), _Site())
            site.count += 1
            site.size += size
        device["segments"] = device.get("segments", 0) + 1
        device["reserved_bytes"] += total
        device["allocated_bytes"] += used
        device["requested_bytes"] += requested
        # A segment without any block in use goes back to the driver when memory is short: no fragmentation.
        device["fragmented_bytes" if used else "releasable_bytes"] += free
        if used:
            device["largest_hole_bytes"] = max(device.get("largest_hole_bytes", 0), largest)
    facts: dict[str, Any] = {"devices": [{"index": index, **devices[index]} for index in sorted(devices)]}
    for key in (
        "reserved_bytes",
        "allocated_bytes",
        "fragmented_bytes",
        "releasable_bytes",
        "requested_bytes",
        "segments",
    ):
        facts[key] = sum(device.get(key, 0) for device in devices.values())
    facts["largest_hole_bytes"] = max((device.get("largest_hole_bytes", 0) for device in devices.values()), default=0)
    if facts["reserved_bytes"]:
        facts["fragmented_share"] = min(1.0, facts["fragmented_bytes"] / facts["reserved_bytes"])
    ranked = sorted(sites.items(), key=lambda item: (-item[1].size, item[0]))
    facts["live"] = [{"site": name, "count": site.count, "bytes": site.size} for name, site in ranked[:_TOP]]
    facts["live_sites"] = len(sites)
    return facts


def _history(traces: list[Any]) -> dict[str, Any]:
    """What the record says: call sites that only grow, and failed requests."""
    sites: dict[str, _Traced] = {}
    names: dict[int, str] = {}  # the frames of one place are one object in the pickle
    entries, out_of_memory = 0, []
    allocated = [0] * 4
    freed = [0] * 4
    for trace in traces:
        record = list(_mappings(trace))
        entries += len(record)
        living: dict[int, tuple[str, int, int]] = {}
        for place, entry in enumerate(record):
            action, size = entry.get("action"), _size(entry.get("size"))
            quarter = 4 * place // len(record)
            if action == "alloc":
                frames = entry.get("frames")
                key = id(frames)
                name = names.get(key)
                if name is None:
                    name = names[key] = _site(frames)
                living[_size(entry.get("addr"))] = (name, place, size)
                sites.setdefault(name, _Traced()).taken += 1
                allocated[quarter] += size
            elif action in ("free", "free_requested"):
                gone = living.pop(_size(entry.get("addr")), None)
                if gone is not None:
                    sites[gone[0]].freed += 1
                    freed[quarter] += size
            elif action == "oom":
                out_of_memory.append({"requested_bytes": size, "device_free_bytes": _size(entry.get("device_free"))})
        for name, place, size in living.values():
            sites[name].kept.append((4 * place // len(record), size))
    facts: dict[str, Any] = {"trace_entries": entries, "growing": _growing(sites)}
    # Within one step everything is kept for the backward pass: only where memory also comes back is it a pattern.
    facts["freed_meanwhile"] = all(back >= 0.05 * taken > 0 for back, taken in zip(freed, allocated, strict=True))
    if out_of_memory:
        facts["out_of_memory"] = {"count": len(out_of_memory), **out_of_memory[0]}
    return facts


def _growing(sites: Mapping[str, _Traced]) -> list[dict[str, Any]]:
    """The call sites whose blocks are taken all the time and not given back, largest first."""
    found: list[dict[str, Any]] = []
    for name, site in sites.items():
        size = sum(one for _quarter, one in site.kept)
        if len(site.kept) < _GROWING_COUNT or size < _GROWING_BYTES or len(site.kept) < _GROWING_UNFREED * site.taken:
            continue
        quarters = [sum(one for quarter, one in site.kept if quarter == number) for number in range(4)]
        if min(quarters) >= _GROWING_SPREAD * size:
            found.append({"site": name, "count": len(site.kept), "freed": site.freed, "bytes": size})
    return sorted(found, key=lambda one: (-one["bytes"], one["site"]))[:_TOP]


def _frames(block: Mapping[str, Any]) -> Any:
    """Where a block was asked for: ``frames``, or in old snapshots those of its newest history entry."""
    frames = block.get("frames")
    if frames:
        return frames
    history = list(_mappings(block.get("history")))
    return history[0].get("frames") if history else None


def _site(frames: Any) -> str:
    """``function (file:line)`` of the innermost frame that is the user's own code; frames stand innermost first."""
    library = ""
    for frame in _mappings(frames):
        name, file, line = frame.get("name"), frame.get("filename"), frame.get("line")
        if not isinstance(file, str) or not isinstance(name, str) or file in ("", "??"):
            continue
        text = f"{name[:120]} ({file[:300]}:{line if isinstance(line, int) else '?'})"
        if file.endswith(".py") and not any(part in file for part in _LIBRARY):
            return text
        library = library or text
    return library or UNKNOWN_SITE


def _mappings(value: Any) -> Iterator[Mapping[str, Any]]:
    return (entry for entry in value if isinstance(entry, Mapping)) if isinstance(value, list | tuple) else iter(())


def _size(value: Any) -> int:
    """A count of bytes, an address or a number of a device; 0 for anything else."""
    return value if isinstance(value, int) and not isinstance(value, bool) and 0 <= value < 1 << 64 else 0
