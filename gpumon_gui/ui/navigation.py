"""Knows: which page of the window is on show, how one gets to another, which are not offered. Must not know: what pages
show, what stands around them."""

from __future__ import annotations

import logging
from collections.abc import Callable
from typing import Any

from PySide6.QtCore import QObject, Qt, Signal, Slot
from PySide6.QtGui import QFont, QKeySequence, QShortcut
from PySide6.QtWidgets import QLabel, QStackedWidget, QWidget

from gpumon_gui.core.messages import _
from gpumon_gui.ui.page_shelf import PageShelf
from gpumon_gui.ui.pages.table import PAGES, PageEntry
from gpumon_gui.ui.theme import Text, Theme
from gpumon_gui.ui.widgets.rail import Rail

_log = logging.getLogger("gpumon.window")


class Navigation(QObject):
    """The rail at the left, the heading and the pages; Ctrl and a number lead to a page as they stand there, Ctrl+F
    to the search.

    Signals:
        shown(): another page is on show, or the same again.
        refused(str): why a page is not shown, in a sentence.
    """

    shown = Signal()
    refused = Signal(str)

    def __init__(self, theme: Theme, make: Callable[[PageEntry], Any], window: QWidget) -> None:
        """``make`` makes a page when it is first wanted."""
        super().__init__(window)
        self._make = make
        self._hidden: dict[str, str] = {}
        self.entry: PageEntry = PAGES[0]
        self.rail = Rail(theme, [(entry.name, entry.icon, entry.label) for entry in PAGES], window)
        self.heading = QLabel(window)
        font = QFont(theme.font(Text.VALUE))
        font.setWeight(QFont.Weight.DemiBold)
        self.heading.setFont(font)
        self.stack = QStackedWidget(window)
        self.pages = PageShelf((entry.name for entry in PAGES), self._make_page)
        self._keys = [QShortcut(QKeySequence(f"Ctrl+{number}"), window) for number, _page in enumerate(PAGES, start=1)]
        for shortcut in self._keys:
            shortcut.activated.connect(self._on_page_key)
        find = QShortcut(QKeySequence(QKeySequence.StandardKey.Find), window)
        find.activated.connect(self._on_find)
        self.rail.chosen.connect(self.show_page)

    @property
    def page(self) -> Any:
        """The page on show."""
        return self.pages[self.entry.name]

    @Slot(str)
    def show_page(self, name: str) -> None:
        """Bring a page on show; one that is hidden gives way to the first, which says why. One that cannot be made
        leaves the page on show. StopIteration for an unknown name."""
        entry = next(entry for entry in PAGES if entry.name == name)
        if name in self._hidden:
            self.refused.emit(_("{what}: {value}").format(what=_(entry.label), value=_(self._hidden[name])))
            entry = PAGES[0]
        try:
            page = self.pages[entry.name]
        except Exception as error:
            self.rail.select(self.entry.name)
            # Else a fault of ours, told by who catches it. Without any page there is no window.
            if not isinstance(error, (ImportError, SyntaxError)) or not self.pages.made():
                raise
            _log.warning("page %s: %s: %s", entry.name, type(error).__name__, error)
            why = _("{page} cannot be loaded. GPUMon may have been changed on disk: start it again.")
            self.refused.emit(why.format(page=_(entry.label)))
            return
        self.entry = entry
        self.rail.select(entry.name)
        self.stack.setCurrentWidget(page)
        self.heading.setText(_(entry.label))
        self.shown.emit()

    def hide_page(self, name: str, why: str) -> None:
        """Offer a page no longer that has nothing to show in this window; ``why`` is untranslated."""
        self._hidden[name] = why
        self.rail.hide_page(name)
        if self.entry.name == name:
            self.show_page(PAGES[0].name)

    def retranslate(self) -> None:
        """Write every text again, in the language now in use."""
        self.heading.setText(_(self.entry.label))
        self.rail.retranslate()
        for page in self.pages.made():
            page.retranslate()

    def _make_page(self, name: str) -> Any:
        page = self._make(next(entry for entry in PAGES if entry.name == name))
        self.stack.addWidget(page)
        return page

    @Slot()
    def _on_page_key(self) -> None:
        offered = [entry.name for entry in PAGES if entry.name not in self._hidden]
        number = next(number for number, shortcut in enumerate(self._keys) if shortcut is self.sender())
        if number < len(offered):
            self.show_page(offered[number])
            self.page.setFocus(Qt.FocusReason.TabFocusReason)  # of the page: what it is about, where it has such

    @Slot()
    def _on_find(self) -> None:
        name = next((name for name in self.pages if hasattr(self.pages[name], "focus_search")), None)
        if name is not None:
            if self.entry.name != name:
                self.show_page(name)
            self.page.focus_search()
