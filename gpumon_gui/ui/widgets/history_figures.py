"""Knows: how the history is shown: charts above each other, and the figures beside them. Must not know: who asks."""

from __future__ import annotations

from dataclasses import replace

from PySide6.QtCore import Slot
from PySide6.QtWidgets import QHBoxLayout, QWidget

from gpumon_gui.core.files import printable
from gpumon_gui.core.messages import _
from gpumon_gui.history.reading import Span, StoredDevice
from gpumon_gui.ui import moments
from gpumon_gui.ui.announce import announce
from gpumon_gui.ui.charts.axis import time_ticks, value_top
from gpumon_gui.ui.charts.history_plot import Drawing, Flag
from gpumon_gui.ui.charts.history_stack import HistoryStack
from gpumon_gui.ui.theme import L, S, Theme
from gpumon_gui.ui.widgets import history_texts as texts
from gpumon_gui.ui.widgets.history_asking import HistoryAsking
from gpumon_gui.ui.widgets.history_readout import HistoryReadout


class HistoryFigures(QWidget):
    """The charts and the list of figures: of the span, or of the moment under the cross-hair."""

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.stack = HistoryStack(theme, self)
        self.readout = HistoryReadout(theme, self)
        self.asked: HistoryAsking | None = None
        self._chosen: dict[bool, tuple[str, ...]] = {}  # the machine's charts are others than a card's
        row = QHBoxLayout(self)
        row.setContentsMargins(0, 0, 0, 0)
        row.setSpacing(L - S)  # the figures have room for their ring
        row.addWidget(self.stack, 1)
        row.addWidget(self.readout)
        self.stack.cursor_moved.connect(self._on_cursor)

    @property
    def shown_metrics(self) -> tuple[str, ...]:
        """The metrics that have a chart, from the top down."""
        return tuple(self.stack.charts)

    def toggle(self, device: StoredDevice, metric: str) -> None:
        """Give a metric a chart, or take it away; the last one stays."""
        now = self.shown_metrics
        order = now + tuple(name for name in device.metrics if name not in now)
        chosen = tuple(name for name in order if name in set(now) ^ {metric})
        if chosen:
            self._chosen[device.is_host] = chosen

    def show_asked(self, asked: HistoryAsking, device: StoredDevice) -> None:
        """Draw what is known."""
        self.asked = asked
        span, title = asked.span, asked.title(device)
        chosen = self._chosen.get(device.is_host)
        metrics = texts.usual(device, asked.reading) if chosen is None else chosen
        self.stack.set_metrics({metric: texts.colour_of(metric) for metric in metrics})
        self.stack.set_span(span)
        self.stack.set_markers(asked.markers)
        name = _("History of {name}, {span}").format(name=title, span=texts.span_text(span))
        if name != self.stack.accessibleName():
            self.stack.setAccessibleName(name)
        self._draw(asked, title, span, metrics)
        self._show_figures()

    def span_said(self) -> str:
        """What a screen reader is told after a move."""
        asked = self.asked
        if asked is None or asked.device is None:
            return ""
        parts = [asked.title(asked.device), texts.span_text(asked.span)]
        if asked.other is not None:
            parts.append(self._second_line(None))
        return "; ".join(parts)

    def copied_text(self) -> str:
        """The figures with what they are of: the device, the span and, where two are compared, the other one."""
        asked = self.asked
        if asked is None or asked.device is None:
            return ""
        second = self.readout.second.text
        if asked.other is not None and asked.compared is not None and self.stack.cursor_s is None:
            second = _("Second curve: {when}").format(when=self._named(*asked.compared))
        head = (self._named(asked.device, asked.span), self.readout.heading.text, second)
        return "\n".join((*(line for line in head if line), *self.readout.lines()))

    def _named(self, device: StoredDevice, span: Span) -> str:
        title = "" if self.asked is None else self.asked.title(device)
        names = (title,) if device.is_host else (title, device.name)
        return " · ".join(dict.fromkeys((*(printable(name) for name in names if name), texts.span_text(span))))

    def _draw(self, asked: HistoryAsking, title: str, span: Span, metrics: tuple[str, ...]) -> None:
        reading, other = asked.reading, asked.other
        common = Drawing(
            span,
            shift_s=asked.shift_s,
            flags=tuple(Flag(marker.utc_s, marker.tone, marker.end_utc_s) for marker in asked.markers),
            ticks=tuple(tick.utc_s for tick in time_ticks(span.left_s, span.right_s, self.stack.columns())),
        )
        for metric in metrics:
            top = value_top(metric, max(texts.highest(reading, metric), texts.highest(other, metric)))
            has_scale = texts.has_value(reading, metric) or texts.has_value(other, metric)
            drawing = replace(
                common,
                top=top,
                labels=tuple(texts.axis_label(metric, share * top) for share in (1.0, 0.5, 0.0)) if has_scale else (),
                has_shapes=metric == metrics[0],
                series=common.series if reading is None else reading.series.get(metric, common.series),
                other=common.other if other is None else other.series.get(metric, common.other),
            )
            self.stack.set_drawing(metric, drawing)
            figure = "" if reading is None else texts.caption_figure(metric, reading.figures.get(metric))
            name = texts.label(metric)
            self.stack.charts[metric].set_texts(name, figure, f"{title} {name}: {figure}")

    @Slot()
    def _on_cursor(self) -> None:
        self._show_figures()
        if self.stack.is_by_keys and self.stack.cursor_s is not None and self.asked is not None:
            shown = {texts.label(metric) for metric in self.shown_metrics}
            rows = [row for row in self.readout.rows.rows if row.name in shown]
            said = [f"{row.name} {_(', ').join(value for value, _extent in row.lines)}" for row in rows]
            announce(self.stack, "; ".join((self.readout.heading.text, *said)))

    def _show_figures(self) -> None:
        asked = self.asked
        if asked is None or asked.device is None or asked.reading is None:
            self.readout.show_rows(_("Reading…") if asked is not None and asked.is_asking else "", "", ())
            return
        device, reading, other = asked.device, asked.reading, asked.other
        shown, cursor_s = self.shown_metrics, self.stack.cursor_s
        if cursor_s is None:
            heading = _("In this span")
            rows = texts.rows_of_span(device, reading, shown, other)
        else:
            heading = moments.moment(cursor_s, seconds=reading.step_s < 60)
            rows = texts.rows_at(device, reading, shown, other, cursor_s, asked.shift_s, self.stack.columns())
        second = self._second_line(cursor_s) if rows else _("Nothing was kept of this time.")
        self.readout.show_rows(heading, second, rows)
        spoken = self.readout.text().replace("\t", " ").replace("\n", "; ")
        if spoken != self.stack.accessibleDescription():
            self.stack.setAccessibleDescription(spoken)

    def _second_line(self, cursor_s: float | None) -> str:
        asked = self.asked
        compared = None if asked is None else asked.compared
        if asked is None or compared is None or asked.other is None or asked.device is None:
            return _("Mean, lowest to highest")
        device, span = compared
        moment_s = span.left_s if cursor_s is None else cursor_s - asked.shift_s
        when = moments.moment(moment_s, seconds=False)
        if device.number != asked.device.number:
            when = f"{asked.title(device)}, {when}"
        return _("Second curve: {when}").format(when=when)
