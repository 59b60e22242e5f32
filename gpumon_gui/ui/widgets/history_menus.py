"""Knows: the menus of the History page: device, charts, comparison, export. Must not know: what an entry leads to."""

from __future__ import annotations

from typing import Any

from PySide6.QtCore import QObject, Signal, Slot
from PySide6.QtGui import QAction, QActionGroup, QKeySequence
from PySide6.QtWidgets import QMenu, QWidget

from gpumon_gui.bridge.history_reader import ExportForm
from gpumon_gui.core.messages import N_, _
from gpumon_gui.ui.widgets import history_texts as texts
from gpumon_gui.ui.widgets.button import FlatButton
from gpumon_gui.ui.widgets.history_asking import HistoryAsking
from gpumon_gui.ui.widgets.history_comparing import BEFORE, KEPT
from gpumon_gui.ui.widgets.history_figures import HistoryFigures
from gpumon_gui.ui.widgets.history_head import HistoryHead


class HistoryMenus(QObject):
    """Four menus below four buttons, filled when they open.

    Signals:
        device_chosen(object): a :class:`StoredDevice`.
        metric_toggled(str): a chart to show, or no more.
        comparison_chosen(str): a name of :data:`BEFORE`, :data:`KEPT`, or empty.
        keep_wanted(): keep what is on show to compare with.
        export_wanted(object): an :class:`ExportForm`.
        copy_wanted(): copy the figures.
    """

    device_chosen = Signal(object)
    metric_toggled = Signal(str)
    comparison_chosen = Signal(str)
    keep_wanted = Signal()
    export_wanted = Signal(object)
    copy_wanted = Signal()

    def __init__(self, asked: HistoryAsking, figures: HistoryFigures, head: HistoryHead, parent: QWidget) -> None:
        super().__init__(parent)
        self._asked = asked
        self._figures = figures
        self.device = self._menu(head.device_button, parent)
        self.metrics = self._menu(head.metrics_button, parent)
        self.compare = self._menu(head.compare_button, parent)
        self.export = self._menu(head.export_button, parent)
        self.device.aboutToShow.connect(self._fill_device)
        self.metrics.aboutToShow.connect(self._fill_metrics)
        self.compare.aboutToShow.connect(self._fill_compare)
        self.export.aboutToShow.connect(self._fill_export)

    def _menu(self, button: FlatButton, parent: QWidget) -> QMenu:
        menu = QMenu(parent)
        button.set_menu(menu)
        return menu

    @Slot()
    def _fill_device(self) -> None:
        self.device.clear()
        group = QActionGroup(self.device)
        now = self._asked.device
        for device in self._asked.devices:
            title = self._asked.title(device)
            text = f"{title}\t{device.name}" if device.name and device.name not in title else title
            action = self._add(
                self.device, text, device, self._on_device, is_on=now is not None and device.number == now.number
            )
            group.addAction(action)

    @Slot()
    def _fill_metrics(self) -> None:
        self.metrics.clear()
        device, reading = self._asked.device, self._asked.reading
        shown = self._figures.shown_metrics
        for metric in () if device is None else device.metrics:
            action = self._add(self.metrics, texts.label(metric), metric, self._on_metric, is_on=metric in shown)
            action.setEnabled(metric in shown or reading is None or metric in reading.series)

    @Slot()
    def _fill_compare(self) -> None:
        self.compare.clear()
        comparison = self._asked.comparison
        group = QActionGroup(self.compare)
        entries = [("", N_("With nothing")), *((name, label) for name, label, _seconds in BEFORE)]
        if comparison.has_kept:
            entries.append((KEPT, N_("With what was kept")))
        for name, label in entries:
            group.addAction(self._add(self.compare, _(label), name, self._on_compare, is_on=name == comparison.name))
        self.compare.addSeparator()
        keep = QAction(_("Keep what is on show, then go elsewhere"), self.compare)
        keep.triggered.connect(self.keep_wanted)
        self.compare.addAction(keep)

    @Slot()
    def _fill_export(self) -> None:
        self.export.clear()
        for form, label in (
            (ExportForm.CSV, N_("Table (CSV)…")),
            (ExportForm.JSON, N_("Data (JSON)…")),
            (ExportForm.PNG, N_("Picture (PNG)…")),
        ):
            self._add(self.export, _(label), form, self._on_export)
        self.export.addSeparator()
        copy = QAction(_("Copy the figures"), self.export)
        copy.setShortcut(QKeySequence(QKeySequence.StandardKey.Copy))
        copy.triggered.connect(self.copy_wanted)
        self.export.addAction(copy)

    @staticmethod
    def _add(menu: QMenu, text: str, data: object, slot: Any, *, is_on: bool | None = None) -> QAction:
        action = QAction(text, menu)
        if is_on is not None:
            action.setCheckable(True)
            action.setChecked(is_on)
        action.setData(data)
        action.triggered.connect(slot)
        menu.addAction(action)
        return action

    def _sent(self) -> Any:
        """The data of the entry that was chosen."""
        action = self.sender()
        assert isinstance(action, QAction)
        return action.data()

    @Slot()
    def _on_device(self) -> None:
        self.device_chosen.emit(self._sent())

    @Slot()
    def _on_metric(self) -> None:
        self.metric_toggled.emit(self._sent())

    @Slot()
    def _on_compare(self) -> None:
        self.comparison_chosen.emit(self._sent())

    @Slot()
    def _on_export(self) -> None:
        self.export_wanted.emit(ExportForm(self._sent()))  # Qt keeps the text only
