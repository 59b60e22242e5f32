"""Knows: what stands above the charts of the history: device, range, span, and the buttons. Must not know: charts."""

from __future__ import annotations

from PySide6.QtCore import Qt
from PySide6.QtGui import QKeySequence
from PySide6.QtWidgets import QHBoxLayout, QVBoxLayout, QWidget

from gpumon_gui.core.messages import _
from gpumon_gui.telemetry.derive.adapters import short_name
from gpumon_gui.ui.theme import M, S, Text, Theme
from gpumon_gui.ui.widgets import history_texts as texts
from gpumon_gui.ui.widgets.button import FlatButton
from gpumon_gui.ui.widgets.history_asking import RANGES, HistoryAsking
from gpumon_gui.ui.widgets.span_choice import SpanChoice
from gpumon_gui.ui.widgets.text import FixedLabel


class HistoryHead(QWidget):
    """Two rows: whose history and how much of it; which part exactly and what can be done with it."""

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.device_button = FlatButton(theme, "", "", self, framed=True)
        self.name = FixedLabel(theme, Text.BODY, muted=True, parent=self)
        self.range_choice = SpanChoice(theme, self, RANGES)
        self.span_label = FixedLabel(theme, Text.BODY, parent=self)
        self.zoom_out_button = FlatButton(theme, "", "−", self, framed=True)
        self.zoom_in_button = FlatButton(theme, "", "+", self, framed=True)
        self.now_button = FlatButton(theme, "", "", self, framed=True)
        self.metrics_button = FlatButton(theme, "", "", self, framed=True)
        self.compare_button = FlatButton(theme, "", "", self, framed=True)
        self.export_button = FlatButton(theme, "", "", self, framed=True)
        head = QHBoxLayout()
        head.setSpacing(M)
        head.addWidget(self.device_button)
        head.addWidget(self.name, 1)
        head.addWidget(self.range_choice)
        tools = QHBoxLayout()
        tools.setSpacing(S)
        tools.addWidget(self.span_label, 1)
        for button in (self.zoom_out_button, self.zoom_in_button, self.now_button):
            tools.addWidget(button)
        tools.addSpacing(S)
        for button in (self.metrics_button, self.compare_button, self.export_button):
            tools.addWidget(button)
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(S)
        column.addLayout(head)
        column.addLayout(tools)

    def show_asked(self, asked: HistoryAsking) -> None:
        """Say what is on show."""
        device, span = asked.device, asked.span
        self.range_choice.set_span(round(span.length_s))
        self.now_button.setEnabled(not asked.is_at_range)
        step = "" if asked.reading is None else texts.step_text(asked.reading.step_s)
        self.span_label.set_text(" · ".join(part for part in (texts.span_text(span), step) if part))
        if device is not None:
            title = asked.title(device)
            self.device_button.set_text(title)
            self.device_button.setAccessibleName(_("Device: {name}").format(name=f"{title} {device.name}"))
            self.name.set_text(device.name, short_name(device.name))

    def retranslate(self) -> None:
        """Write every text again, in the language now in use."""
        self.range_choice.retranslate()
        self.range_choice.setAccessibleName(_("Time span of the history"))
        self.now_button.set_text(_("Now"))
        self.metrics_button.set_text(_("Charts"))
        self.compare_button.set_text(_("Compare"))
        self.export_button.set_text(_("Export"))
        for button, name in (
            (self.device_button, _("Device")),
            (self.zoom_in_button, _("Zoom in")),
            (self.zoom_out_button, _("Zoom out")),
            (self.now_button, _("Go to now")),
            (self.metrics_button, _("Charts on show")),
            (self.compare_button, _("Compare with another time")),
            (self.export_button, _("Export what is on show")),
        ):
            button.setAccessibleName(name)
            button.setToolTip(name)
        for button, key in (
            (self.zoom_in_button, Qt.Key.Key_Plus),
            (self.zoom_out_button, Qt.Key.Key_Minus),
            (self.now_button, Qt.Key.Key_Backspace),
        ):
            shown = QKeySequence(key).toString(QKeySequence.SequenceFormat.NativeText)
            button.setToolTip(f"{button.accessibleName()} ({shown})")
