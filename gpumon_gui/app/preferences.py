"""Knows: which part of the program each setting steers. Must not know: how settings are stored or shown."""

from __future__ import annotations

import contextlib
from collections.abc import Mapping
from typing import Any

from PySide6.QtCore import QObject, Slot

from gpumon_gui.app.arguments import PAGES, Arguments
from gpumon_gui.app.origins import End
from gpumon_gui.bridge.settings import Settings
from gpumon_gui.core.errors import GpumonError
from gpumon_gui.core.formatters import read_fahrenheit
from gpumon_gui.core.messages import N_, _
from gpumon_gui.settings.catalogue import BY_KEY
from gpumon_gui.settings.option import OptionValue, WrongValue
from gpumon_gui.settings.store import Repair, load
from gpumon_gui.settings.values import Values
from gpumon_gui.system.paths import folders
from gpumon_gui.ui.main_window import MainWindow
from gpumon_gui.ui.theme import Scheme
from gpumon_gui.ui.widgets.message_bar import Tone

_UNSAVED = N_("The last change of the settings could not be saved: the disk does not answer.")


def open_settings(arguments: Arguments) -> tuple[Settings, tuple[Repair, ...]]:
    """The settings of this user, and what had to be repaired in them. A picture is taken with the usual ones."""
    if arguments.screenshot is not None:
        return Settings(None, Values()), ()
    try:
        folder = folders().config
    except GpumonError as error:  # an account without a home: nothing can be kept
        return Settings(None, Values()), (Repair("", str(error)),)
    loaded = load(folder)
    if not loaded.can_be_kept:
        return Settings(None, loaded.values), loaded.repairs
    return Settings(
        folder, loaded.values, repaired=frozenset(repair.key for repair in loaded.repairs if repair.key)
    ), loaded.repairs


def chosen_language(values: Values) -> str | None:
    """The language chosen; None follows the system."""
    chosen = values.text("general.language")
    return None if chosen == "system" else chosen


class Preferences(QObject):
    """Carries choices between the settings and the window, both ways. Lives in the GUI thread.

    ``keeps`` False: what is chosen in the window's menus is for this window, a recording or a scripted machine; what is
    changed on the Settings page is kept all the same.
    """

    def __init__(self, settings: Settings, window: MainWindow, *, keeps: bool = True) -> None:
        super().__init__(window)
        self.settings = settings
        self._window = window
        settings.setParent(self)
        settings.changed.connect(self._on_changed)
        settings.failed.connect(self._on_failed)
        if keeps:
            window.chose.connect(self._on_chose)
            window.page_shown.connect(self._on_page)
        for name in window.pages:
            window.pages.when_made(name, self._bind)

    def _bind(self, page: Any) -> None:
        if hasattr(page, "bind_settings"):
            page.bind_settings(self.settings)
        if hasattr(page, "reset_wanted"):
            page.reset_wanted.connect(self._on_reset)

    def apply_to_window(self, page: str | None) -> None:
        """What the window starts with. ``page`` was asked for on the command line."""
        values = self.settings.values
        self._window.pace.set_speed(values.text("general.update_speed"))
        read_fahrenheit(values.text("general.temperature") == "fahrenheit")
        self._window.pace.set_keep_awake(values.text("performance.sleep") == "keep")
        self._choose_engines()
        wanted = page or values.text("general.page")
        if wanted == "last":
            wanted = values.text("general.last_page")
        self._window.show_page(wanted if wanted in PAGES else PAGES[0])

    def close(self, timeout_s: float) -> End:
        """Write what is not written yet; says so when that fails."""
        is_over = self.settings.close(timeout_s)
        return End(is_over, self.settings.last_fault if is_over else _(_UNSAVED))

    @Slot(str)
    def _on_changed(self, key: str) -> None:
        values = self.settings.values
        if key == "general.theme":
            self._window.set_scheme(Scheme(values.text(key)))
        elif key == "general.language":
            self._window.set_language(chosen_language(values))
        elif key == "general.update_speed":
            self._window.pace.set_speed(values.text(key))
        elif key == "general.temperature":
            read_fahrenheit(values.text(key) == "fahrenheit")
            self._window.retranslate()
        elif key == "performance.engines":
            self._choose_engines()
        elif key == "performance.sleep":
            self._window.pace.set_keep_awake(values.text(key) == "keep")

    def _choose_engines(self) -> None:
        self._window.pages["performance"].engines.set_follows(
            self.settings.values.text("performance.engines") == "busiest"
        )

    @Slot(str, str)
    def _on_chose(self, key: str, value: str) -> None:
        with contextlib.suppress(WrongValue):  # "paused" is for now, not for the next start
            self.settings.set(key, value)

    @Slot()
    def _on_reset(self) -> None:
        """Every option that is shown; what the program keeps for itself stays."""
        before = {key: value for key, value in self.settings.values.chosen.items() if BY_KEY[key].section}
        self._set_all({key: BY_KEY[key].default for key in before})
        text = _("All settings are back at their defaults.")
        self._window.message.say(text, Tone.GOOD, undo=lambda: self._set_all(before))

    def _set_all(self, values: Mapping[str, OptionValue]) -> None:
        for key, value in values.items():
            self.settings.set(key, value)

    @Slot(str)
    def _on_page(self, name: str) -> None:
        with contextlib.suppress(WrongValue):  # a page of a test
            self.settings.set("general.last_page", name)

    @Slot(str)
    def _on_failed(self, text: str) -> None:
        self._window.message.say(text, Tone.ATTENTION)
