"""Knows: the Settings page: every option of the catalogue, in its sections. Must not know: what an option does."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from PySide6.QtCore import Qt, Signal, Slot
from PySide6.QtWidgets import QLabel, QVBoxLayout, QWidget

from gpumon_gui.bridge.feed import Feed
from gpumon_gui.bridge.settings import Settings
from gpumon_gui.core.messages import _
from gpumon_gui.settings.catalogue import BY_KEY, SECTIONS
from gpumon_gui.settings.option import Flag, Option
from gpumon_gui.settings.values import sections_of
from gpumon_gui.ui.theme import XL, L, M, S, Theme
from gpumon_gui.ui.widgets.button import FlatButton
from gpumon_gui.ui.widgets.option_row import OptionRow, heading
from gpumon_gui.ui.widgets.scroll_column import Content, ScrollColumn
from gpumon_gui.ui.widgets.section import Card

_WIDEST = 860


class SettingsPage(QWidget):
    """Changes take effect at once; there is nothing to confirm. The window gives it the settings once they are read.

    Signals:
        reset_wanted(): all of them as at first.
    """

    reset_wanted = Signal()

    def __init__(self, feed: Feed, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._theme = theme
        self._settings: Settings | None = None
        self.rows: dict[str, OptionRow] = {}
        self._headings: list[tuple[QLabel, str]] = []
        self._cards: dict[str, QVBoxLayout] = {}
        self._others: dict[str, Callable[[], bool]] = {}
        self._hindered: dict[str, Callable[[], str]] = {}
        content = Content(_WIDEST, self)
        self._column = content.column
        self._column.setContentsMargins(L, M, L, XL)
        self._column.setSpacing(S)
        for section, keys in sections_of().items():
            self._add_section(section, keys)
        self.reset_button = FlatButton(theme, "", "", self, framed=True)
        self.reset_button.clicked.connect(self.reset_wanted)
        self._column.addSpacing(M)
        self._column.addWidget(self.reset_button, 0, Qt.AlignmentFlag.AlignLeft)
        self._column.addStretch(1)
        self.area = ScrollColumn(theme, self)
        self.area.setWidget(content)
        box = QVBoxLayout(self)
        box.setContentsMargins(0, 0, 0, 0)
        box.addWidget(self.area)
        self.retranslate()

    def bind_settings(self, settings: Settings) -> None:
        """Show and change these."""
        self._settings = settings
        settings.changed.connect(self._on_changed)
        for key, row in self.rows.items():
            if key not in self._others:
                row.show_value(settings.values.get(key))
        self._allow()
        self._allow_reset()

    def add_flag(self, option: Option, is_on: Callable[[], bool], edited: Callable[[str, object], None]) -> OptionRow:
        """A switch whose state lies elsewhere (the start with the system). ``is_on`` is asked whenever the page comes
        on show."""
        assert isinstance(option.kind, Flag)
        row = self._add_row(self._cards[option.section], option)
        row.edited.connect(edited)
        self._others[option.key] = is_on
        return row

    def add_hindrance(self, keys: Iterable[str], why_not: Callable[[], str]) -> None:
        """These options may be of no use in this window or on this desktop. ``why_not`` is asked whenever the page
        comes on show; it says why in one line, or nothing."""
        self._hindered |= dict.fromkeys(keys, why_not)
        self._allow()

    def refresh(self) -> None:
        """Samples change nothing here."""

    def activate(self) -> None:
        """The page comes on show."""
        for key, is_on in self._others.items():
            self.rows[key].show_value(is_on())
        self._allow()

    @Slot()
    def retranslate(self) -> None:
        """Write every text again, in the language now in use."""
        for label, title in self._headings:
            label.setText(_(title))
        for row in self.rows.values():
            row.retranslate()
        self._allow()
        self.reset_button.set_text(_("Reset to defaults"))

    def _add_section(self, section: str, keys: list[str]) -> None:
        label = heading(self._theme, self)
        self._headings.append((label, dict(SECTIONS)[section]))
        card = Card(self._theme, self)
        box = self._cards[section] = QVBoxLayout(card)
        box.setContentsMargins(0, 0, 0, 0)
        box.setSpacing(0)
        for key in keys:
            row = self._add_row(box, BY_KEY[key])
            row.edited.connect(self._on_edited)
        if self._column.count():
            self._column.addSpacing(M)
        self._column.addWidget(label)
        self._column.addWidget(card)

    def _add_row(self, box: QVBoxLayout, option: Option) -> OptionRow:
        row = self.rows[option.key] = OptionRow(self._theme, option, self)
        box.addWidget(row)
        return row

    def _fill(self, key: str) -> None:
        if self._settings is None or key not in self.rows or key in self._others:
            return
        self.rows[key].show_value(self._settings.values.get(key))
        if any(row.option.needs == key for row in self.rows.values()):
            self._allow()

    def _allow(self) -> None:
        """What depends on a switch that is off, or on what is not there, is grey."""
        told: set[str] = set()
        for key, row in self.rows.items():
            why_not = self._hindered[key]() if key in self._hindered else ""
            needs = row.option.needs
            is_on = not needs or self._settings is None or self._settings.values.flag(needs)
            row.set_allowed(is_on and not why_not, "" if why_not in told else why_not)  # once, at the first
            told.add(why_not)

    def _allow_reset(self) -> None:
        """Only where something differs."""
        chosen = self._settings.values.chosen if self._settings is not None else {}
        differs = any(BY_KEY[key].section for key in chosen)
        if not differs and self.reset_button.hasFocus():
            self.setFocus()  # Qt would go on to the first row, and the page with it
        self.reset_button.setEnabled(differs)

    @Slot(str)
    def _on_changed(self, key: str) -> None:
        self._fill(key)
        self._allow_reset()

    @Slot(str, object)
    def _on_edited(self, key: str, value: object) -> None:
        if self._settings is not None:
            self._settings.set(key, value)
