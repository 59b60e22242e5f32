"""Knows: the menus of the window's tool row, their entries and keys. Must not know: what an entry leads to."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from PySide6.QtCore import QObject, Signal
from PySide6.QtGui import QAction, QActionGroup, QKeySequence
from PySide6.QtWidgets import QMenu, QWidget

from gpumon_gui.core import messages
from gpumon_gui.core.messages import N_, _
from gpumon_gui.ui.theme import Scheme
from gpumon_gui.ui.update_speeds import SPEEDS

SCHEMES: tuple[tuple[Scheme, str], ...] = (
    (Scheme.SYSTEM, N_("As the system")),
    (Scheme.LIGHT, N_("Light")),
    (Scheme.DARK, N_("Dark")),
)
#: Each language by its own name, so that nobody is lost in one they cannot read.
LANGUAGE_NAMES: dict[str, str] = {"en": "English", "zh_CN": "简体中文"}


class Choices(QActionGroup):
    """Entries of which one is ticked.

    Signals:
        chosen(object): the user chose another value.
    """

    chosen = Signal(object)

    def __init__(self, menu: QMenu, entries: Iterable[tuple[Any, str]], ticked: Any) -> None:
        """``entries``: value and (untranslated) label."""
        super().__init__(menu)
        self._entries: list[tuple[QAction, Any, str]] = []
        for value, label in entries:
            action = QAction(menu)
            action.setCheckable(True)
            action.setChecked(value == ticked)
            self.addAction(action)
            menu.addAction(action)
            self._entries.append((action, value, label))
        self.triggered.connect(self._on_triggered)

    def tick(self, value: Any) -> None:
        """Tick the entry of a value, if there is one; no choice of the user's."""
        for action, own, _label in self._entries:
            if own == value:
                action.setChecked(True)

    def retranslate(self) -> None:
        """Write every text again."""
        for action, _value, label in self._entries:
            action.setText(_(label))

    def _on_triggered(self, chosen: QAction) -> None:
        self.chosen.emit(next(value for action, value, _label in self._entries if action is chosen))


class WindowMenus(QObject):
    """The menu of the update speed and the menu "⋯". Keys work in the whole window.

    Signals:
        refresh_wanted(), save_wanted(), about_wanted(), quit_wanted(): the entries of these names.
    """

    refresh_wanted = Signal()
    save_wanted = Signal()
    about_wanted = Signal()
    quit_wanted = Signal()

    def __init__(self, window: QWidget, scheme: Scheme) -> None:
        super().__init__(window)
        self._texts: list[tuple[Callable[[str], Any], str]] = []
        self.speed, self.more = QMenu(window), QMenu(window)
        self.more.setToolTipsVisible(True)  # why an entry is grey
        self.speeds = Choices(self.speed, [(name, label) for name, label, _seconds in SPEEDS], "normal")
        theme_menu, language_menu = self.more.addMenu(""), self.more.addMenu("")
        self.schemes = Choices(theme_menu, SCHEMES, scheme)
        names = [(name, LANGUAGE_NAMES[name]) for name in messages.LANGUAGES]
        self.languages = Choices(language_menu, names, messages.language())
        self._options_end = self.more.addSeparator()
        self.refresh = self._add(N_("Refresh now"), self.refresh_wanted, "F5")
        self.save = self._add(N_("Save page as picture…"), self.save_wanted, "Ctrl+S")
        self.more.addSeparator()
        self.about = self._add(N_("About GPUMon"), self.about_wanted)
        self.quit = self._add(N_("Quit"), self.quit_wanted, "Ctrl+Q")
        self._texts += [
            (theme_menu.menuAction().setText, N_("Theme")),
            (language_menu.menuAction().setText, N_("Language")),
        ]
        self.retranslate()

    def add_option(self, label: str, slot: Callable[[bool], Any], keys: str = "") -> QAction:
        """A further entry that is on or off; ``label`` is untranslated."""
        action = QAction(self.more)
        action.setCheckable(True)
        if keys:
            self._give_keys(action, keys)
        action.setText(_(label))
        action.triggered.connect(slot)
        self.more.insertAction(self._options_end, action)
        self._texts.append((action.setText, label))
        return action

    def retranslate(self) -> None:
        """Write every text again, in the language now in use."""
        for setter, text in self._texts:
            setter(_(text))
        for choices in (self.speeds, self.schemes, self.languages):
            choices.retranslate()
        self.languages.tick(messages.language())

    def _add(self, label: str, wanted: Any, keys: str = "") -> QAction:
        action = QAction(self.more)
        action.triggered.connect(wanted)
        if keys:
            self._give_keys(action, keys)
        self.more.addAction(action)
        self._texts.append((action.setText, label))
        return action

    def _give_keys(self, action: QAction, keys: str) -> None:
        """They work in the whole window, the menu closed."""
        action.setShortcut(QKeySequence(keys))
        window = self.parent()
        assert isinstance(window, QWidget)
        window.addAction(action)
