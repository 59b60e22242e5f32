"""Knows: what a value and a GPU are called where they are shown. Must not know: Qt, widgets."""

from __future__ import annotations

from gpumon_gui.core.formatters import (
    DASH,
    GIB,
    KIB,
    MIB,
    WORDS,
    celsius,
    duration,
    megahertz,
    memory,
    memory_pair,
    number_text,
    pair,
    percent,
    span,
    speed,
    throttle,
    value_text,
    watts,
)
from gpumon_gui.core.messages import _
from gpumon_gui.core.metrics import METRICS
from gpumon_gui.core.reasons import missing_text
from gpumon_gui.core.values import Missing, Value
from gpumon_gui.telemetry.derive.adapters import title_of
from gpumon_gui.telemetry.provenance import counter, source_name

__all__ = [
    "DASH",
    "GIB",
    "KIB",
    "MIB",
    "WORDS",
    "celsius",
    "duration",
    "megahertz",
    "memory",
    "memory_pair",
    "number_text",
    "pair",
    "percent",
    "reason_text",
    "source_line",
    "span",
    "speed",
    "throttle",
    "title_of",
    "value_text",
    "value_tip",
    "watts",
]


def value_tip(metric_id: str, value: Value | None) -> str:
    """The tool tip: what the figure means, where it comes from and, when it is missing, why. Lines of plain text."""
    metric = METRICS[metric_id]
    lines = [_(metric.label)]
    if metric.help:
        lines.append(_(metric.help))
    if isinstance(value, Missing):
        lines.append(_("No value: {reason}").format(reason=missing_text(value)))
    source = value.source if value is not None else ""
    if source:
        lines.append(source_line(source, counter(source, metric_id)))
    return "\n".join(lines)


def reason_text(value: Value | None) -> str:
    """Why there is no value, as a sentence; empty when there is one."""
    return missing_text(value) if isinstance(value, Missing) else ""


def source_line(source: str, name: str) -> str:
    """``Source: NVML, nvmlDeviceGetUtilizationRates: gpu``."""
    where = source_name(source)
    return _("Source: {source}").format(source=f"{where}, {name}" if name else where)
