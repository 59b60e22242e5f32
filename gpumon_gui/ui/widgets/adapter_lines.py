"""Knows: what the list of adapters says and draws of each. Must not know: the list, which one is chosen."""

from __future__ import annotations

import numpy as np

from gpumon_gui.bridge.feed import HOST, Feed
from gpumon_gui.core.messages import N_, _
from gpumon_gui.core.model import DeviceSample, DeviceState, Sample
from gpumon_gui.core.values import Value, number
from gpumon_gui.telemetry.derive.adapters import Adapter, short_name_of
from gpumon_gui.telemetry.derive.engines import busiest
from gpumon_gui.ui import formatters
from gpumon_gui.ui.charts.decimate import Array
from gpumon_gui.ui.charts.spark import POINTS
from gpumon_gui.ui.formatters import title_of
from gpumon_gui.ui.widgets.adapter_list import Entry, Line

#: A state in one word, and the colour of its badge.
BADGES: dict[DeviceState, tuple[str, str]] = {
    DeviceState.ASLEEP: (N_("asleep"), "info"),
    DeviceState.LOST: (N_("lost"), "bad"),
    DeviceState.SICK: (N_("invalid data"), "bad"),
    DeviceState.NOT_ANSWERING: (N_("no answer"), "bad"),
}
_EMPTY: Array = np.empty(0)


def entry(feed: Feed, sample: Sample, adapter: Adapter, *, is_stale: bool) -> Entry:
    """An adapter of the list."""
    return Entry(adapter.info.key, _line(sample, adapter, is_stale), _spark(feed, sample, adapter))


def cpu(feed: Feed, sample: Sample, *, is_stale: bool) -> tuple[Line, Array]:
    """The line of the processor, and its curve."""
    text = formatters.value_text("cpu_utilization", sample.host.values.get("cpu_utilization"))
    return Line(_("CPU"), "", text, dimmed=is_stale), _of_host(feed, "cpu_utilization")


def ram(feed: Feed, sample: Sample, *, is_stale: bool) -> tuple[Line, Array]:
    """The line of the machine's memory, and its curve (a share of all)."""
    host = sample.host.values
    total, used = number(host.get("ram_total_bytes")), _of_host(feed, "ram_used_bytes")
    pair = formatters.memory_pair(host.get("ram_used_bytes"), host.get("ram_total_bytes"))
    return Line(_("Memory"), "", pair, dimmed=is_stale), used / total if total else used * np.nan


def _of_host(feed: Feed, metric: str) -> Array:
    ring = feed.ring(HOST)
    return ring.column(metric, POINTS)[-POINTS:] if ring else _EMPTY


def _line(sample: Sample, adapter: Adapter, is_stale: bool) -> Line:
    device = sample.devices.get(adapter.info.key)
    state = DeviceState.NOT_ANSWERING if device is None else device.state
    badge, mark = BADGES.get(state, ("", ""))
    parts = []
    if device is not None and state is DeviceState.OK:
        parts = [formatters.value_text("engine_utilization", _headline(device))]
        if number(device.values.get("temperature_c")) is not None:
            parts.append(formatters.value_text("temperature_c", device.values["temperature_c"]))
    return Line(
        title_of(adapter),
        short_name_of(adapter),
        "  ·  ".join(parts) or formatters.DASH,
        _(badge),
        mark,
        is_stale or state is not DeviceState.OK,
        full_name=adapter.info.name,
        indent=adapter.parent_number is not None,
    )


def _spark(feed: Feed, sample: Sample, adapter: Adapter) -> Array:
    ring = feed.ring(adapter.info.key)
    device = sample.devices.get(adapter.info.key)
    if ring is None or device is None:
        return _EMPTY
    for column in ("engine_utilization", "gpu_utilization"):
        if column in ring.names:
            return ring.column(column, POINTS)
    engine = busiest(device)
    return _EMPTY if engine is None else ring.column(engine.series, POINTS)


def _headline(device: DeviceSample) -> Value | None:
    engine = busiest(device)
    return device.values.get("gpu_utilization") if engine is None else engine.value
