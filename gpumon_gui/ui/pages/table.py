"""Knows: which pages the window has, in their order. Must not know: the window.

A new page is one line here, and its name in ``app.arguments.PAGES``.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol

from PySide6.QtWidgets import QWidget

from gpumon_gui.bridge.feed import Feed
from gpumon_gui.core.messages import N_
from gpumon_gui.ui.pages.performance import PerformancePage
from gpumon_gui.ui.pages.processes import ProcessesPage
from gpumon_gui.ui.pages.settings import SettingsPage
from gpumon_gui.ui.theme import Theme


class Page(Protocol):
    """What the window asks of a page, besides being a widget."""

    def refresh(self) -> None:
        """Show the newest sample of the feed. Called only while visible."""
        ...

    def retranslate(self) -> None:
        """Write every text again, in the language now in use."""
        ...


@dataclass(frozen=True, slots=True)
class PageEntry:
    """A page: its name on the command line, icon, label, and what must be read for it (see ``core.model.Demand``)."""

    name: str
    icon: str
    label: str
    make: Callable[[Feed, Theme, QWidget], QWidget]
    details: bool = False
    processes: bool = False
    cpu_processes: bool = False


# What is not on show at the start is made when it is wanted for the first time, and loaded then where it is large.
def _diagnostics(feed: Feed, theme: Theme, parent: QWidget) -> QWidget:
    from gpumon_gui.ui.pages.diagnostics import DiagnosticsPage

    return DiagnosticsPage(feed, theme, parent)


def _history(feed: Feed, theme: Theme, parent: QWidget) -> QWidget:
    from gpumon_gui.ui.pages.history import HistoryPage

    return HistoryPage(feed, theme, parent)


PAGES: tuple[PageEntry, ...] = (
    # "The GPU is not called" can only be said by who knows whether a process holds its memory.
    PageEntry("performance", "performance", N_("Performance"), PerformancePage, details=True, processes=True),
    PageEntry("processes", "processes", N_("Processes"), ProcessesPage, processes=True, cpu_processes=True),
    # The wizard offers the programs that run.
    PageEntry("diagnostics", "report", N_("Diagnostics"), _diagnostics, processes=True, cpu_processes=True),
    PageEntry("history", "history", N_("History"), _history),
    PageEntry("settings", "settings", N_("Settings"), SettingsPage),
)
