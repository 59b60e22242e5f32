"""Knows: a sample as the lines of text a user gets to see. Must not know: how a window arranges them.

One line per fact, so that a test can say "this must be seen" with a piece of text. Everything goes through the
product's own words (``core.reasons``, ``telemetry.derive``).
"""

from __future__ import annotations

from collections.abc import Mapping

from gpumon_gui.core.messages import _
from gpumon_gui.core.metrics import METRICS, Unit
from gpumon_gui.core.model import Sample
from gpumon_gui.core.reasons import DEVICE_STATE_TEXT, health_text, missing_text
from gpumon_gui.core.values import Missing, Value
from gpumon_gui.telemetry.derive.emptiness import explain
from gpumon_gui.telemetry.derive.process_state import StateTracker, process_id, state_text

GIB = 1 << 30


def lines(sample: Sample, tracker: StateTracker) -> list[str]:
    """What the user sees of a sample. ``tracker`` must have been fed every sample before this one."""
    seen = [f"{health.name}: {health_text(health)}" for health in sample.health if health_text(health)]
    names = {info.key: info.name for info in sample.inventory}
    for info in sample.inventory:
        seen += [f"{info.name} | {line}" for line in _values(info.static)]
        device = sample.devices.get(info.key)
        if device is None:
            seen.append(f"{info.name}: nothing at all")
            continue
        if _(DEVICE_STATE_TEXT[device.state]):
            seen.append(f"{info.name}: {_(DEVICE_STATE_TEXT[device.state])}")
        seen += [f"{info.name} | {line}" for line in _values(device.values)]
        seen += [f"{info.name} | engine {e.name}: {shown(e.utilization, Unit.RATIO)}" for e in device.engines]
    judged = tracker.update(sample)
    for process in sample.processes:
        who = f"{process.name or 'PID'} {process.pid}"
        seen.append(f"{who}: {state_text(judged[process_id(process)])}")
        for use in process.uses:
            seen += [f"{who} | {line}" for line in _values(use.values)]
            seen.append(f"{who} | on {names[use.device]}")
        seen += [f"{who} | {line}" for line in _values(process.values)]
    if not sample.processes:
        why = explain(sample)
        seen += [f"no processes: {why.title}", why.explanation("some GiB")]
    seen += [f"host | {line}" for line in _values(sample.host.values)]
    return seen


def _values(values: Mapping[str, Value]) -> list[str]:
    return [f"{_(METRICS[metric].label)}: {shown(value, METRICS[metric].unit)}" for metric, value in values.items()]


def shown(value: Value, unit: Unit) -> str:
    """A value as a table shows it: never a number for a missing one."""
    if isinstance(value, Missing):
        return f"— {missing_text(value)}"
    content = value.value
    if isinstance(content, str):
        return content
    if unit is Unit.RATIO:
        return f"{100 * content:.0f} %"
    if unit is Unit.BYTES:
        return f"{content / GIB:.1f} GiB"
    if unit is Unit.BYTES_PER_S:
        return f"{content / 1e6:.1f} MB/s"
    return f"{content:.1f} {unit.value}"
