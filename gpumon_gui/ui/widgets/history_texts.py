"""Knows: how figures of the history are said. Must not know: widgets, files."""

from __future__ import annotations

import math

import numpy as np

from gpumon_gui.core.messages import N_, _
from gpumon_gui.core.metrics import METRICS, Unit
from gpumon_gui.history.buckets import Figures, Series
from gpumon_gui.history.reading import Reading, Span, StoredDevice
from gpumon_gui.ui import formatters, moments
from gpumon_gui.ui.charts.history_plot import nearest
from gpumon_gui.ui.theme import Series as Colour
from gpumon_gui.ui.widgets.history_readout import Row

DAY_S = 86_400

#: What is on show until the user chooses: the first two that have values stand for the load.
USUAL = ("gpu_utilization", "engine_utilization", "memory_used_bytes", "power_w", "temperature_c")
USUAL_HOST = ("cpu_utilization", "ram_used_bytes")
MOST_USUAL = 4

_COLOURS: dict[str, Colour] = {
    "memory_used_bytes": Colour.MEMORY,
    "memory_utilization": Colour.MEMORY,
    "dram_activity": Colour.MEMORY,
    "shared_used_bytes": Colour.SHARED,
    "pcie_rx_bytes_per_s": Colour.SHARED,
    "pcie_tx_bytes_per_s": Colour.SHARED,
    "temperature_c": Colour.RAM,
    "memory_temperature_c": Colour.RAM,
    "power_w": Colour.CPU,
    "fan_ratio": Colour.CPU,
    "cpu_utilization": Colour.CPU,
    "ram_used_bytes": Colour.RAM,
    "swap_used_bytes": Colour.SHARED,
}
_STEPS: dict[int, str] = {
    1: N_("each second"),
    10: N_("every 10 seconds"),
    60: N_("every minute"),
    3600: N_("every hour"),
}


def colour_of(metric: str) -> Colour:
    """The colour of a metric's curve."""
    return _COLOURS.get(metric, Colour.ENGINE)


def usual(device: StoredDevice, reading: Reading | None) -> tuple[str, ...]:
    """What to show of a device when nothing was chosen."""
    if device.is_host:
        return USUAL_HOST
    if reading is None or not reading.series:
        return USUAL[:1] + USUAL[2:]
    return tuple(metric for metric in USUAL if metric in reading.series)[:MOST_USUAL] or tuple(reading.series)[:2]


def label(metric: str) -> str:
    """The name of a metric."""
    return _(METRICS[metric].label)


def value(metric: str, number: float) -> str:
    """A number, or a dash."""
    return formatters.number_text(metric, number) if math.isfinite(number) else formatters.DASH


def axis_label(metric: str, number: float) -> str:
    """A round number as short as it can be: ``24 GB`` for ``24.0 GB``."""
    return value(metric, number).replace(".0 ", " ")


def extent(metric: str, low: float, high: float) -> str:
    """``12 – 87 %``; empty when both are the same or missing."""
    if not (math.isfinite(low) and math.isfinite(high)):
        return ""
    first, last = value(metric, low), value(metric, high)
    if first == last:
        return ""
    number, _space, unit = first.rpartition(" ")
    return f"{number if number and last.endswith(f' {unit}') else first} – {last}"


def energy(joules: float) -> str:
    """``1.2 kWh``, ``340 Wh``."""
    if not math.isfinite(joules):
        return formatters.DASH
    hours = joules / 3600
    return f"{hours / 1000:,.2f} kWh" if hours >= 1000 else f"{hours:,.0f} Wh" if hours >= 10 else f"{hours:,.1f} Wh"


def caption_figure(metric: str, figures: Figures | None) -> str:
    """What stands above a chart: mean and extent of the span."""
    if figures is None or not math.isfinite(figures.mean):
        return _("no value")
    between = extent(metric, figures.low, figures.high)
    mean = _("mean {value}").format(value=value(metric, figures.mean))
    return f"{mean}  ·  {between}" if between else mean


def at(metric: str, series: Series, utc_s: float, reach_s: float) -> tuple[str, str]:
    """The value at a moment and its extent; a dash where the nearest point is further away than ``reach_s``."""
    near = nearest(series, utc_s)
    if near is None or abs(float(series.time_s[near]) - utc_s) > reach_s:
        return formatters.DASH, ""
    mean = float(series.mean[near])
    return value(metric, mean), extent(metric, float(series.low[near]), float(series.high[near]))


def rows_of_span(
    device: StoredDevice, reading: Reading, shown: tuple[str, ...], other: Reading | None
) -> tuple[Row, ...]:
    """Mean and extent of every metric; with ``other`` its figures below; power with its energy."""
    rows = []
    for metric in device.metrics:
        parts = [one.figures.get(metric) for one in (reading, other) if one is not None]
        if not any(parts):
            continue
        colour = colour_of(metric) if metric in shown else None
        lines = tuple(_figure_line(metric, figures) for figures in parts)
        rows.append(Row(label(metric), lines, colour))
        if METRICS[metric].unit is Unit.WATT:
            rows.append(
                Row(
                    _("Energy"),
                    tuple((formatters.DASH if f is None else energy(f.integral), "") for f in parts),
                    colour,
                )
            )
    return tuple(rows)


def rows_at(
    device: StoredDevice,
    reading: Reading,
    shown: tuple[str, ...],
    other: Reading | None,
    utc_s: float,
    shift_s: float,
    columns: int,
) -> tuple[Row, ...]:
    """The value of every metric at a moment, and at the same moment of the other span."""
    rows = []
    for metric in device.metrics:
        lines = []
        for one, moment_s in ((reading, utc_s), (other, utc_s - shift_s)):
            if one is not None:
                reach_s = max(6.0, 1.5 * one.step_s, 1.5 * one.span.length_s / max(1, columns))
                series = one.series.get(metric)
                lines.append((formatters.DASH, "") if series is None else at(metric, series, moment_s, reach_s))
        if metric in reading.series or (other is not None and metric in other.series):
            rows.append(Row(label(metric), tuple(lines), colour_of(metric) if metric in shown else None))
    return tuple(rows)


def span_text(span: Span) -> str:
    """``29 Nov 2026 20:00 – 30 Nov 2026 20:00``; with seconds where they matter."""
    return moments.span(span.left_s, span.right_s, seconds=span.length_s < 600)


def step_text(step_s: int) -> str:
    """How fine the values are."""
    return _(_STEPS.get(step_s, "")) or formatters.duration(step_s)


def has_value(reading: Reading | None, metric: str) -> bool:
    """Whether a metric has any value in the span."""
    figures = None if reading is None else reading.figures.get(metric)
    return figures is not None and math.isfinite(figures.mean)


def highest(reading: Reading | None, metric: str) -> float:
    """The highest value of a metric, 0 without one."""
    series = None if reading is None else reading.series.get(metric)
    if series is None or not np.isfinite(series.high).any():
        return 0.0
    return float(np.nanmax(series.high))


def _figure_line(metric: str, figures: Figures | None) -> tuple[str, str]:
    if figures is None:
        return formatters.DASH, ""
    return value(metric, figures.mean), extent(metric, figures.low, figures.high)
