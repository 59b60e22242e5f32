"""Knows: one option as a line: label and help at the left, its control at the right. Must not know: any option."""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtCore import Qt, Signal, Slot
from PySide6.QtWidgets import QComboBox, QHBoxLayout, QLabel, QVBoxLayout, QWidget

from gpumon_gui.core.messages import _
from gpumon_gui.settings.option import Choice, Flag, Number, Option, OptionValue, Texts
from gpumon_gui.settings.words import title
from gpumon_gui.ui.theme import L, M, S, Text, Theme
from gpumon_gui.ui.widgets.fields import Combo, Spin
from gpumon_gui.ui.widgets.paths_list import PathsList
from gpumon_gui.ui.widgets.section import set_text, wrapped
from gpumon_gui.ui.widgets.switch import Switch
from gpumon_gui.ui.widgets.temperature_spin import TemperatureSpin

#: Controls of one width make one edge.
_NARROWEST = 180
_NARROWEST_NUMBER = 108


class OptionRow(QWidget):
    """Shows an option and lets it be changed.

    Signals:
        edited(str, object): the user chose another value for the option of that key.
    """

    edited = Signal(str, object)

    def __init__(self, theme: Theme, option: Option, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.option = option
        self.label = wrapped(theme, parent=self)
        self.help = wrapped(theme, Text.CAPTION, muted=True, parent=self)
        self._filling = False
        self._is_allowed, self._why_not = True, ""
        self.control, self._show, self._texts = self._make(theme)
        self.label.setBuddy(self.control)
        texts = QVBoxLayout()
        texts.setSpacing(2)
        texts.addWidget(self.label)
        texts.addWidget(self.help)
        below = isinstance(option.kind, Texts)
        row = QHBoxLayout() if not below else QVBoxLayout()
        row.setSpacing(S if below else L)
        row.addLayout(texts, 0 if below else 1)
        row.addWidget(self.control, 0, Qt.AlignmentFlag(0) if below else Qt.AlignmentFlag.AlignVCenter)
        indent = L if option.needs else 0
        row.setContentsMargins(L + indent, M, L, M)
        self.setLayout(row)
        self.retranslate()

    def show_value(self, value: OptionValue) -> None:
        """Show what holds now; not an edit."""
        self._filling = True
        self._show(value)
        self._filling = False

    def set_allowed(self, on: bool, why_not: str = "") -> None:
        """Whether it can be changed now. ``why_not``: what stands in the place of its help meanwhile."""
        self._is_allowed, self._why_not = on, why_not
        self._tell_help()
        self.label.setEnabled(on)
        self.control.setEnabled(on)

    def _tell_help(self) -> None:
        help_text = _(self.option.help) if self.option.help else ""
        set_text(self.help, help_text if self._is_allowed else self._why_not or help_text)
        self.help.setVisible(bool(self.help.text()))
        self.control.setAccessibleDescription(self.help.text())

    @Slot()
    def retranslate(self) -> None:
        """Write every text again."""
        set_text(self.label, _(self.option.label))
        self._tell_help()
        self.control.setAccessibleName(title(self.option))  # without the row above it
        self._filling = True
        self._texts()
        self._filling = False

    def _edit(self, value: object) -> None:
        if not self._filling:
            self.edited.emit(self.option.key, value)

    def _make(self, theme: Theme) -> tuple[QWidget, Callable[[OptionValue], object], Callable[[], object]]:
        kind = self.option.kind
        if isinstance(kind, Flag):
            switch = Switch(theme, self)
            switch.toggled.connect(self._on_toggled)
            return switch, lambda value: switch.setChecked(bool(value)), _nothing
        if isinstance(kind, Choice):
            box = Combo(theme, self)
            box.setSizeAdjustPolicy(QComboBox.SizeAdjustPolicy.AdjustToContents)
            box.setMinimumWidth(_NARROWEST)
            for word, _label in kind.choices:
                box.addItem("", word)
            box.currentIndexChanged.connect(self._on_index)
            return box, lambda value: box.setCurrentIndex(box.findData(value)), lambda: _label_choices(box, kind)
        if isinstance(kind, Number) and kind.is_celsius:
            degrees = TemperatureSpin(kind.low, kind.high, theme, self)
            degrees.setMinimumWidth(_NARROWEST_NUMBER)
            degrees.chosen.connect(self._on_celsius)
            return degrees, lambda value: degrees.set_celsius(float(value)), degrees.retranslate
        if isinstance(kind, Number):
            spin = _spin(kind, theme, self)
            spin.valueChanged.connect(self._on_number)
            return spin, lambda value: spin.setValue(float(value)), lambda: _label_number(spin, kind)
        paths = PathsList(theme, self)
        paths.edited.connect(self._on_paths)
        return paths, lambda value: paths.set_paths(value if isinstance(value, tuple) else ()), paths.retranslate

    @Slot(bool)
    def _on_toggled(self, on: bool) -> None:
        self._edit(on)

    @Slot(int)
    def _on_index(self, index: int) -> None:
        assert isinstance(self.control, QComboBox)
        self._edit(self.control.itemData(index))

    @Slot()
    def _on_number(self) -> None:
        assert isinstance(self.control, Spin)
        self._edit(self.control.value())

    @Slot(float)
    def _on_celsius(self, value: float) -> None:
        self._edit(value)

    @Slot(tuple)
    def _on_paths(self, paths: tuple[str, ...]) -> None:
        self._edit(paths)


def _spin(kind: Number, theme: Theme, parent: QWidget) -> Spin:
    spin = Spin(theme, parent)
    spin.setDecimals(0 if kind.whole else 1)
    spin.setRange(kind.low, kind.high)
    spin.setSingleStep(kind.step)
    spin.setKeyboardTracking(False)  # "1" on the way to "15" is no choice
    spin.setMinimumWidth(_NARROWEST_NUMBER)
    return spin


def _label_choices(box: QComboBox, kind: Choice) -> None:
    for index, (_word, label) in enumerate(kind.choices):
        box.setItemText(index, _(label))
    box.updateGeometry()


def _label_number(spin: Spin, kind: Number) -> None:
    before, _mark, after = _(kind.unit).partition("{value}")
    spin.setPrefix(before)
    spin.setSuffix(after)


def _nothing() -> None:
    """A switch has no text."""


def heading(theme: Theme, parent: QWidget) -> QLabel:
    """The title above a group of rows."""
    label = QLabel(parent)
    label.setFont(theme.font(Text.SUBTITLE))
    return label
