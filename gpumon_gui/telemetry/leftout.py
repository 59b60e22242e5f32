"""Knows: how a sample looks while a source is left out. Must not know: when that is, processes.

The source's devices stay where they were, its numbers become missing, and its health says why.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from dataclasses import dataclass

from gpumon_gui.core.identity import same_device
from gpumon_gui.core.model import (
    DeviceInfo,
    DeviceKey,
    DeviceSample,
    DeviceState,
    EngineSample,
    Sample,
    SourceHealth,
    SourceState,
)
from gpumon_gui.core.values import Missing, Reason, Value


@dataclass(frozen=True, slots=True)
class Known:
    """What a source had told about its devices: their description, and every metric with its value missing.

    ``order`` is the order of all devices at that time.
    """

    source: str
    infos: tuple[DeviceInfo, ...] = ()
    devices: Mapping[DeviceKey, DeviceSample] = dataclasses.field(default_factory=dict)
    order: tuple[DeviceKey, ...] = ()


def known_from(last: Sample | None, source: str) -> Known:
    """What is known of a source from the last good sample; nothing if it never delivered."""
    if last is None:
        return Known(source)
    infos = tuple(info for info in last.inventory if source in info.sources)
    return Known(
        source,
        infos,
        {info.key: _unanswered(info, last.devices[info.key], source) for info in infos if info.key in last.devices},
        tuple(info.key for info in last.inventory),
    )


def with_known(sample: Sample, known: Known, code: str, detail: str) -> Sample:
    """The sample with the devices and metrics of a source that was not read. ``code``: its health's."""
    inventory = {info.key: info for info in sample.inventory}
    devices = dict(sample.devices)
    for info in known.infos:
        is_shared = info.key in inventory
        if not is_shared and any(same_device(info, other) for other in sample.inventory):
            continue  # another source sees the card under another key
        inventory[info.key] = info  # the fuller description: of all sources
        before = known.devices.get(info.key)
        now = devices.get(info.key)
        if before is not None:
            devices[info.key] = before if now is None else _both(before, now)
    place = {key: number for number, key in enumerate(known.order)}
    health = SourceHealth(known.source, SourceState.NOT_ANSWERING, code, detail)
    return dataclasses.replace(
        sample,
        inventory=tuple(sorted(inventory.values(), key=lambda info: place.get(info.key, len(place)))),
        devices=devices,
        health=(*(other for other in sample.health if other.name != known.source), health),
    )


def _unanswered(info: DeviceInfo, device: DeviceSample, source: str) -> DeviceSample:
    """What the source gave for a device, without the numbers."""
    is_only = info.sources == (source,)
    gone = Missing(Reason.NOT_ANSWERING, source)
    values: dict[str, Value] = {
        metric: gone for metric, value in device.values.items() if is_only or value.source == source
    }
    engines = tuple(
        dataclasses.replace(engine, utilization=gone)
        for engine in device.engines
        if is_only or engine.utilization.source == source
    )
    return DeviceSample(device.key, DeviceState.NOT_ANSWERING, "", values, engines)


def _both(before: DeviceSample, now: DeviceSample) -> DeviceSample:
    """What other sources still say of the device, beside what is missing now."""
    engines: dict[str, EngineSample] = {engine.id: engine for engine in (*before.engines, *now.engines)}
    return dataclasses.replace(now, values={**before.values, **now.values}, engines=tuple(engines.values()))
