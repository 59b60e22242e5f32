"""Knows: a temperature as a number box, in the unit the user reads. Must not know: what it is the temperature of."""

from __future__ import annotations

from PySide6.QtCore import Signal, Slot
from PySide6.QtWidgets import QWidget

from gpumon_gui.core.formatters import celsius_of, degrees_of, degrees_unit
from gpumon_gui.ui.theme import Theme
from gpumon_gui.ui.widgets.fields import Spin


class TemperatureSpin(Spin):
    """Whole degrees. What it is given and tells is °C, whatever it shows.

    Signals:
        chosen(float): the user chose another temperature, °C.
    """

    chosen = Signal(float)

    def __init__(self, low_c: float, high_c: float, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(theme, parent)
        self._low_c, self._high_c = low_c, high_c
        self._now_c = low_c
        self.setKeyboardTracking(False)
        self.retranslate()
        self.valueChanged.connect(self._on_value)

    @property
    def celsius(self) -> float:
        """What it shows, in °C."""
        return self._now_c

    def set_celsius(self, value: float) -> None:
        """Show this; not a choice."""
        self._now_c = value
        blocked = self.blockSignals(True)
        self.setRange(round(degrees_of(self._low_c)), round(degrees_of(self._high_c)))
        self.setValue(degrees_of(value))
        self.blockSignals(blocked)

    def retranslate(self) -> None:
        """The unit may be another."""
        self.setSuffix(f" {degrees_unit()}")
        self.set_celsius(self._now_c)

    @Slot(float)
    def _on_value(self, degrees: float) -> None:
        self._now_c = min(max(round(celsius_of(degrees), 2), self._low_c), self._high_c)
        self.chosen.emit(self._now_c)
