"""Knows: the facts about a machine that make advice for a watched program fit it. Must not know: how it is watched."""

from __future__ import annotations

from collections.abc import Mapping
from threading import Event
from typing import Any

from gpumon_gui.core.model import Sample
from gpumon_gui.core.values import number, text


def machine_here(sample: Sample) -> dict[str, Any]:
    """Facts about this machine; cheap, nothing is run."""
    from gpumon_gui.diagnosis.live_gateway import LiveGateway  # only loaded when asked for
    from gpumon_gui.diagnosis.probes.system import probe

    found = dict(probe(LiveGateway(), Event()).facts)
    return {**found, **_of_devices(sample), "host": {**found.get("host", {}), **_host(sample)}}


def machine_recorded(sample: Sample, meta: Mapping[str, str]) -> dict[str, Any]:
    """The same from what a recorder noted."""
    system = meta.get("system", "").lower()
    family = next((name for name in ("windows", "linux") if system.startswith(name)), None)
    facts = _of_devices(sample)
    host = _host(sample)
    return {**facts, **({"os": {"family": family}} if family else {}), **({"host": host} if host else {})}


def _of_devices(sample: Sample) -> dict[str, Any]:
    gpus = []
    driver = None
    for info in sample.inventory:
        if info.parent is not None:
            continue
        gpu = {
            "name": info.name,
            "vendor": info.vendor or None,
            "memory_total_bytes": number(info.static.get("memory_total_bytes")),
            "compute_capability": text(info.static.get("compute_capability")),
            "driver_model": text(info.static.get("driver_model")),
        }
        gpus.append({key: value for key, value in gpu.items() if value is not None})
        if info.vendor == "nvidia" and driver is None:
            driver = text(info.static.get("driver_version"))
    return {**({"gpus": gpus} if gpus else {}), **({"driver": {"version": driver}} if driver else {})}


def _host(sample: Sample) -> dict[str, Any]:
    facts: dict[str, Any] = {"cpu_count": len(sample.host.cores) or None}
    total = number(sample.host.values.get("ram_total_bytes"))
    facts["memory_total_bytes"] = int(total) if total is not None else None
    return {key: value for key, value in facts.items() if value is not None}
