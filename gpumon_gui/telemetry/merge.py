"""Knows: how several sources' views of one card become one device. Must not know: how a source reads.

Identity is decided by ``core.identity`` (PCI address, LUID, UUID). The order of the sources is their rank: for each
metric the first source with a number wins and stands in the reading; nothing is averaged.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from gpumon_gui.core.identity import key_of, same_device
from gpumon_gui.core.model import (
    DeviceInfo,
    DeviceKey,
    DeviceKind,
    DeviceSample,
    DeviceState,
    ProcessUse,
    UseKind,
)
from gpumon_gui.core.values import Missing, Reading, Reason, Value, number

# The worst thing a source says about a card is what the user must see.
_SEVERITY = (
    DeviceState.OK,
    DeviceState.SICK,
    DeviceState.ASLEEP,
    DeviceState.LOST,
    DeviceState.NOT_ANSWERING,
)
# Reasons that say least: any other reason explains a missing value better.
_WEAK = (Reason.NOT_READ, Reason.NOT_SUPPORTED)


@dataclass(frozen=True, slots=True)
class Merged:
    """The inventory, and under which key each source's device is found in it."""

    inventory: tuple[DeviceInfo, ...]
    keys: Mapping[tuple[str, DeviceKey], DeviceKey]


def merge_infos(by_source: Mapping[str, Sequence[DeviceInfo]]) -> Merged:
    """One entry per card. ``by_source`` is in rank order."""
    groups: list[list[tuple[str, DeviceInfo]]] = []
    for source, infos in by_source.items():
        for info in infos:
            mine = [group for group in groups if any(same_device(info, other) for _, other in group)]
            joined = [member for group in mine for member in group] + [(source, info)]
            groups = [group for group in groups if group not in mine]
            groups.append(joined)
    keys: dict[tuple[str, DeviceKey], DeviceKey] = {}
    inventory = []
    for group in groups:
        info = _one([info for _, info in group])
        inventory.append(info)
        for source, member in group:
            keys[(source, member.key)] = info.key
    inventory = [_with_parent(info, keys, groups) for info in inventory]
    inventory.sort(key=_order)
    return Merged(tuple(inventory), keys)


def merge_samples(
    merged: Merged, by_source: Mapping[str, Mapping[DeviceKey, DeviceSample]]
) -> dict[DeviceKey, DeviceSample]:
    """One sample per card, metrics from the highest-ranking source that has a number."""
    samples: dict[DeviceKey, DeviceSample] = {}
    for source, devices in by_source.items():
        for key, sample in devices.items():
            target = merged.keys.get((source, key))
            if target is None:
                continue
            before = samples.get(target)
            samples[target] = replace(sample, key=target) if before is None else _joined(before, sample)
    return samples


def merge_uses(merged: Merged, by_source: Mapping[str, Sequence[ProcessUse]]) -> tuple[ProcessUse, ...]:
    """One use per process and card."""
    uses: dict[tuple[int, DeviceKey], ProcessUse] = {}
    for source, listed in by_source.items():
        for use in listed:
            target = merged.keys.get((source, use.device))
            if target is None:
                continue
            key = (use.pid, target)
            before = uses.get(key)
            if before is None:
                uses[key] = replace(use, device=target)
                continue
            uses[key] = replace(
                before,
                kind=use.kind if before.kind is UseKind.UNKNOWN else before.kind,
                values=merge_values(before.values, use.values),
                engine=before.engine or use.engine,
            )
    limits = {info.key: _limits(info) for info in merged.inventory}
    return tuple(_bounded(use, limits[use.device]) for use in uses.values())


def _limits(info: DeviceInfo) -> dict[str, float]:
    """The most that one process can have of each sort of memory, where the card's size is known. What counts as its own
    memory may lie in the machine's (integrated GPUs, memory that was moved out)."""
    own, shared = (number(info.static.get(name)) for name in ("memory_total_bytes", "shared_total_bytes"))
    limits = {}
    if own is not None and shared is not None and own + shared > 0:
        limits["process_memory_bytes"] = own + shared
    if shared:
        limits["process_shared_bytes"] = shared
    return limits


def _bounded(use: ProcessUse, limits: Mapping[str, float]) -> ProcessUse:
    """More than there is cannot be in use: one source does not know what another says of the card's size (Windows'
    accounting charges a process with terabytes after resume: winsiderss/systeminformer issue 2073)."""
    beyond: dict[str, Value] = {}
    for metric, limit in limits.items():
        value = use.values.get(metric)
        if isinstance(value, Reading) and not isinstance(value.value, str) and value.value > limit:
            beyond[metric] = Missing(Reason.IMPLAUSIBLE, value.source, f"{value.value:g}")
    return replace(use, values={**use.values, **beyond}) if beyond else use


def merge_values(first: Mapping[str, Value], second: Mapping[str, Value]) -> Mapping[str, Value]:
    """Numbers of ``first`` win over those of ``second``; of two missing values the one with the better reason."""
    values = dict(first)
    for metric, value in second.items():
        before = values.get(metric)
        if before is None or (isinstance(before, Missing) and _says_more(value, before)):
            values[metric] = value
    return values


def _says_more(value: Value, than: Missing) -> bool:
    return not isinstance(value, Missing) or (than.reason in _WEAK and value.reason not in _WEAK)


def _joined(first: DeviceSample, second: DeviceSample) -> DeviceSample:
    worse = max((first, second), key=lambda sample: _SEVERITY.index(sample.state))
    return replace(
        first,
        state=worse.state,
        detail=worse.detail or first.detail,
        values=merge_values(first.values, second.values),
        engines=first.engines + second.engines,
    )


def _one(infos: Sequence[DeviceInfo]) -> DeviceInfo:
    first = infos[0]
    if len(infos) == 1:
        return first
    static: Mapping[str, Value] = first.static
    for other in infos[1:]:
        static = merge_values(static, other.static)
    pci = next((info.pci_address for info in infos if info.pci_address), None)
    uuid = next((info.uuid for info in infos if info.uuid), None)
    luid = next((info.luid for info in infos if info.luid is not None), None)
    kind = next((info.kind for info in infos if info.kind is not DeviceKind.UNKNOWN), DeviceKind.UNKNOWN)
    # Windows' view decides what kind of adapter it is: NVML calls everything a card.
    kind = next((info.kind for info in infos if "dxgi" in info.sources), kind)
    # A source that knows nothing else of a card (it sleeps, or only counters name it) does not know its name either.
    name = next((info.name for info in infos if info.static), first.name)
    return replace(
        first,
        name=name,
        key=key_of(pci, luid, uuid, name),
        vendor=next((info.vendor for info in infos if info.vendor), ""),
        kind=kind,
        index=next((info.index for info in infos if "dxgi" in info.sources), first.index),
        pci_address=pci,
        luid=luid,
        uuid=uuid,
        sources=tuple(dict.fromkeys(source for info in infos for source in info.sources)),
        static=static,
    )


def _with_parent(
    info: DeviceInfo, keys: Mapping[tuple[str, DeviceKey], DeviceKey], groups: Sequence[list[tuple[str, DeviceInfo]]]
) -> DeviceInfo:
    """A MIG instance's parent under the key the card got in the inventory."""
    if info.parent is None:
        return info
    for group in groups:
        for source, _member in group:
            parent = keys.get((source, info.parent))
            if parent is not None:
                return replace(info, parent=parent)
    return info


def _order(info: DeviceInfo) -> tuple[str, str, int, str]:
    """Physical order (PCI), MIG instances behind their card, cards without an address last."""
    place = info.parent or info.key
    return (
        place.removeprefix("pci:") if place.startswith("pci:") else "~",
        place,
        -1 if not info.parent else info.index,
        info.key,
    )
