"""Knows: the charts of dedicated and shared memory. Must not know: where the figures come from."""

from __future__ import annotations

import numpy as np
from PySide6.QtWidgets import QWidget

from gpumon_gui.core.messages import N_, _
from gpumon_gui.core.values import Reading, number
from gpumon_gui.ui import formatters
from gpumon_gui.ui.charts.chart_grid import ChartGrid
from gpumon_gui.ui.charts.decimate import top_step
from gpumon_gui.ui.charts.time_chart import TimeChart
from gpumon_gui.ui.theme import Series, Theme
from gpumon_gui.ui.widgets.engine_panel import spoken
from gpumon_gui.ui.widgets.subject import Subject

#: Upper ends of the axis where the device has no limit to show, bytes.
_STEPS = tuple(float(formatters.GIB * size) for size in (0.25, 0.5, 1, 2, 4, 8, 16, 32, 64, 128))
_CHARTS = (
    (
        N_("Dedicated GPU memory"),
        (N_("Dedicated memory"), N_("Dedicated")),
        "memory_used_bytes",
        "memory_total_bytes",
        Series.MEMORY,
    ),
    (
        N_("Shared GPU memory"),
        (N_("Shared memory"), N_("Shared")),
        "shared_used_bytes",
        "shared_total_bytes",
        Series.SHARED,
    ),
)


class MemoryPanel:
    """Two charts that end at the limits of the device; one that the device has not is left out."""

    def __init__(self, theme: Theme, grid: ChartGrid, parent: QWidget) -> None:
        """The charts become children of ``parent``, whose layout is ``grid``."""
        self.charts = [TimeChart(theme, series, formatters.memory, parent=parent) for *_rest, series in _CHARTS]
        for chart in self.charts:
            grid.add_memory(chart)

    def show_subject(self, subject: Subject) -> None:
        """Draw the newest past of a device."""
        for chart, (label, shorter, used, total, _series) in zip(self.charts, _CHARTS, strict=True):
            offered = subject.offered(used)
            if chart.isHidden() == offered:
                chart.setVisible(offered)
            if not offered:
                continue
            times, values = subject.series(used)
            limit = number(subject.value(total))
            if limit is None:
                finite = values[np.isfinite(values)]
                limit = top_step(float(finite.max()) if len(finite) else 0.0, _STEPS)
            figure = formatters.memory_pair(subject.value(used), subject.value(total))
            chart.figure.set_sample(formatters.memory_pair(Reading(limit, ""), subject.value(total)))
            chart.set_top(limit)
            chart.set_span(subject.span_s)
            chart.set_dimmed(subject.dimmed)
            tip = formatters.value_tip(used, subject.value(used))
            names = [_(name) for name in (label, *shorter)]
            caption = next((name for name in names if chart.has_room(name)), names[-1])
            chart.set_texts(caption, figure, spoken(subject.title, _(label), figure), tip)
            chart.caption.set_tip(tip)
            chart.set_data(times, values, subject.now_s, subject.now_utc_s)

    def retranslate(self) -> None:
        """Axis texts; captions come with the next sample."""
        for chart in self.charts:
            chart.retranslate()

    def expose(self) -> None:
        """Scrolling may have brought charts into sight."""
        for chart in self.charts:
            chart.expose()
