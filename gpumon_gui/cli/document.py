"""Knows: the JSON form of a snapshot (``gpumon-snapshot/1``). Must not know: how the reading came about.

Values are ``{"value": number or text, "unit", "source", "counter"}``, or ``{"value": null, "missing": reason,
"source", "detail"}``. Units are canonical: ratio (0..1), bytes, bytes/s, celsius, watt, joule, megahertz.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict
from datetime import UTC, datetime
from typing import Any

from gpumon_gui import __version__
from gpumon_gui.core.metrics import METRICS
from gpumon_gui.core.model import DeviceInfo, DeviceSample, ProcessSample, Sample
from gpumon_gui.core.reasons import health_text
from gpumon_gui.core.values import Missing, Value
from gpumon_gui.telemetry.provenance import counter

SCHEMA = "gpumon-snapshot/1"


def dump(sample: Sample) -> str:
    """The document as text; names that are not valid Unicode are escaped."""
    text = json.dumps(document(sample), ensure_ascii=False, indent=2, allow_nan=False)
    return text.encode("utf-8", "backslashreplace").decode("utf-8")


def document(sample: Sample) -> dict[str, Any]:
    """The document as maps and lists."""
    return {
        "schema": SCHEMA,
        "program": f"GPUMon {__version__}",
        "time_utc": datetime.fromtimestamp(sample.utc_s, UTC).isoformat(timespec="milliseconds"),
        "interval_s": round(sample.interval_s, 4),
        "devices": [_device(info, sample.devices.get(info.key)) for info in sample.inventory],
        "processes": [_process(process) for process in sample.processes],
        "host": {"metrics": values(sample.host.values), "cpu_cores": [round(core, 4) for core in sample.host.cores]},
        "sources": [{**asdict(health), "text": health_text(health)} for health in sample.health],
        "sampler": {
            "cpu": value("", sample.cost.cpu),
            "rss_bytes": value("", sample.cost.rss_bytes),
            "sweep_s": sample.cost.sweep_s,
        },
    }


def values(found: Mapping[str, Value]) -> dict[str, Any]:
    """Metric id → value."""
    return {metric: value(metric, found[metric]) for metric in sorted(found)}


def value(metric: str, found: Value) -> dict[str, Any]:
    """One value with its provenance."""
    if isinstance(found, Missing):
        plain: dict[str, Any] = {"value": None, "missing": found.reason}
        if found.source:
            plain["source"] = found.source
        if found.detail:
            plain["detail"] = found.detail
        return plain
    plain = {"value": found.value, "source": found.source}
    if metric in METRICS:
        plain["unit"] = METRICS[metric].unit
    name = counter(found.source, metric)
    if name:
        plain["counter"] = name
    return plain


def _device(info: DeviceInfo, device: DeviceSample | None) -> dict[str, Any]:
    return {
        "key": info.key,
        "name": info.name,
        "vendor": info.vendor,
        "kind": info.kind,
        "index": info.index,
        "pci_address": info.pci_address,
        "luid": None if info.luid is None else f"{info.luid:#018x}",
        "uuid": info.uuid,
        "parent": info.parent,
        "sources": list(info.sources),
        "state": device.state if device else None,
        "detail": device.detail if device else "",
        "metrics": values({**info.static, **(device.values if device else {})}),
        "engines": [
            {"id": e.id, "name": e.name, "kind": e.kind, "utilization": value("engine_utilization", e.utilization)}
            for e in (device.engines if device else ())
        ],
    }


def _process(process: ProcessSample) -> dict[str, Any]:
    return {
        "pid": process.pid,
        "started_utc": None
        if process.started_utc_s is None
        else datetime.fromtimestamp(process.started_utc_s, UTC).isoformat(timespec="seconds"),
        "name": process.name,
        "presence": process.presence,
        "ppid": process.ppid,
        "parents": list(process.parents),
        "command": list(process.command),
        "executable": process.executable,
        "user": process.user,
        "framework": process.framework,
        "environment": process.environment,
        "metrics": values(process.values),
        "uses": [
            {"device": use.device, "kind": use.kind, "engine": use.engine, "metrics": values(use.values)}
            for use in process.uses
        ],
    }
