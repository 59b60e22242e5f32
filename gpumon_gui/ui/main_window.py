"""Knows: the window around the pages: navigation, tool row, banner, status line, keys. Must not know: what pages show.

Only the visible page is drawn, and only what it needs is read (``core.model.Demand``); a hidden window draws nothing.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any, Protocol

from PySide6.QtCore import QElapsedTimer, QEvent, QSize, QStandardPaths, Qt, Signal, SignalInstance, Slot
from PySide6.QtGui import (
    QAction,
    QActionGroup,
    QCloseEvent,
    QFont,
    QHideEvent,
    QKeyEvent,
    QKeySequence,
    QResizeEvent,
    QShortcut,
    QShowEvent,
)
from PySide6.QtWidgets import QFileDialog, QHBoxLayout, QLabel, QMenu, QStackedWidget, QVBoxLayout, QWidget

from gpumon_gui.bridge.feed import Feed, FeedState
from gpumon_gui.bridge.ticker import Ticker
from gpumon_gui.bridge.translation import Translation
from gpumon_gui.core import messages
from gpumon_gui.core.messages import N_, _
from gpumon_gui.core.model import Demand
from gpumon_gui.ui import icons
from gpumon_gui.ui.about import about_box
from gpumon_gui.ui.pages.table import PAGES, PageEntry
from gpumon_gui.ui.theme import L, S, Scheme, Text, Theme
from gpumon_gui.ui.widgets.button import FlatButton
from gpumon_gui.ui.widgets.message_bar import MessageBar, Tone
from gpumon_gui.ui.widgets.rail import Rail
from gpumon_gui.ui.widgets.status_strip import StatusStrip

#: Update speeds of Task Manager: seconds between two samples, None when paused.
SPEEDS: tuple[tuple[str, str, float | None], ...] = (
    ("high", N_("High"), 0.5),
    ("normal", N_("Normal"), 1.0),
    ("low", N_("Low"), 4.0),
    ("paused", N_("Paused"), None),
)
SCHEMES: tuple[tuple[Scheme, str], ...] = (
    (Scheme.SYSTEM, N_("As the system")),
    (Scheme.LIGHT, N_("Light")),
    (Scheme.DARK, N_("Dark")),
)
#: Each language by its own name, so that nobody is lost in one they cannot read.
LANGUAGE_NAMES: dict[str, str] = {"en": "English", "zh_CN": "简体中文"}
#: A start that takes longer than this is explained.
PATIENCE_MS = 2500
SMALLEST = (720, 480)
USUAL = (1180, 780)
#: Timers are not exact: a sample this share of an interval after the last one is the next one.
_OF_A_GAP = 0.9


class Origin(Protocol):
    """Where the samples come from: a sampler or a recording."""

    def set_demand(self, demand: Demand) -> None:
        """Read this and no more."""
        ...

    def pause(self) -> None:
        """Give no samples any more."""
        ...

    def resume(self) -> None:
        """Give samples again."""
        ...

    def toggle(self) -> None:
        """Pause or resume."""
        ...

    def refresh(self) -> None:
        """Give a sample now, whatever the update speed."""
        ...

    def retranslate(self) -> None:
        """Say the status again, in the language of now."""
        ...


class MainWindow(QWidget):
    """The window. Lives in the GUI thread; owns pages and ticker, not the feed and what fills it.

    Signals:
        closing(): the user closes the window.
        chose(str, str): the user chose something in a menu that is kept: the setting's key and its value.
        page_shown(str): another page is on show.
    """

    closing = Signal()
    chose = Signal(str, str)
    page_shown = Signal(str)

    def __init__(
        self,
        feed: Feed,
        theme: Theme,
        translation: Translation,
        origin: Origin,
        *,
        recorded: bool = False,
        replay_bar: QWidget | None = None,
        subject: str = "",
    ) -> None:
        """``recorded``: the samples are not of this moment, so nothing can be done to their processes. ``subject``
        stands in the title, translated where there is a translation."""
        super().__init__()
        self._feed = feed
        self._theme = theme
        self._translation = translation
        self._origin = origin
        self._is_recorded = recorded
        self._subject = subject
        self._speed = self._speed_before_pause = "normal"
        self._page: PageEntry = PAGES[0]
        self._demand: Demand | None = None
        self._keep_awake = False
        self._background_processes = False
        self._watched_pids: tuple[int, ...] = ()
        self._watch_interval_s = 1.0
        self._closers: list[Callable[[], bool]] = []
        self._is_leaving = False
        #: Asked when the user closes the window: whether the program stays, hidden.
        self.stays_when_closed: Callable[[], bool] = _never
        self._texts: list[tuple[Callable[[str], Any], str]] = []
        self._starting = QElapsedTimer()
        self._starting.start()

        self.setWindowIcon(icons.icon("app", ""))
        self.setMinimumSize(*SMALLEST)
        self.resize(QSize(*USUAL).boundedTo(self.screen().availableSize()))

        self.rail = Rail(theme, [(entry.name, entry.icon, entry.label) for entry in PAGES], self)
        self.heading = QLabel(self)
        font = QFont(theme.font(Text.VALUE))
        font.setWeight(QFont.Weight.DemiBold)
        self.heading.setFont(font)
        self.speed_button = FlatButton(theme, "speed", "", self)
        self.more_button = FlatButton(theme, "more", "", self)
        self.banner = MessageBar(theme, parent=self)
        self.message = MessageBar(theme, closable=True, parent=self)
        self.stack = QStackedWidget(self)
        self.status = StatusStrip(theme, self)
        self.replay_bar = replay_bar
        self.pages: dict[str, Any] = {}
        for entry in PAGES:
            page = self.pages[entry.name] = entry.make(feed, theme, self)
            self.stack.addWidget(page)
            if recorded and hasattr(page, "set_recorded"):
                page.set_recorded()

        self._make_menus()
        self._lay_out()
        self._make_keys()

        self.ticker = Ticker(feed, self)
        self.ticker.due.connect(self._refresh)
        self.rail.chosen.connect(self.show_page)
        translation.changed.connect(self.retranslate)
        theme.changed.connect(self.update)
        self.retranslate()
        self.show_page(self._page.name)

    # -- what others call

    @property
    def page(self) -> str:
        """The name of the page on show."""
        return self._page.name

    @Slot(str)
    def show_page(self, name: str) -> None:
        """Bring a page on show. KeyError for an unknown name."""
        self._page = next(entry for entry in PAGES if entry.name == name)
        widget = self.pages[name]
        self.rail.select(name)
        self.stack.setCurrentWidget(widget)
        self.heading.setText(_(self._page.label))
        self._send_demand()
        if self.ticker.is_active:
            self._activate()
        self.page_shown.emit(name)

    def set_speed(self, name: str) -> None:
        """Choose an update speed by its name in :data:`SPEEDS`."""
        if name == self._speed:
            return
        was_paused = self._speed == "paused"
        if not was_paused:
            self._speed_before_pause = self._speed
        self._speed = name
        self._check(self._speed_actions, name)
        if name == "paused":
            self._origin.pause()
        elif was_paused:
            self._origin.resume()
        self._send_demand()
        self._label_buttons()
        self.ticker.request()

    @property
    def is_recorded(self) -> bool:
        """Whether a recording is on show: it has no update speed."""
        return self._is_recorded

    @property
    def is_paused(self) -> bool:
        """Whether the user stopped the updates."""
        return self._feed.status.state is FeedState.PAUSED or self._speed == "paused"

    @property
    def speed_actions(self) -> list[QAction]:
        """The update speeds, for another menu."""
        return list(self._speed_actions.values())

    def add_option(self, label: str, slot: Callable[[bool], Any]) -> QAction:
        """A further entry of the menu "⋯" that is on or off; ``label`` is untranslated."""
        action = QAction(self._more_menu)
        action.setCheckable(True)
        action.setText(_(label))
        action.triggered.connect(slot)
        self._more_menu.insertAction(self._options_end, action)
        self._texts.append((action.setText, label))
        return action

    @property
    def options_shown(self) -> SignalInstance:
        """The menu "⋯" is about to show."""
        return self._more_menu.aboutToShow

    @Slot()
    def bring_up(self) -> None:
        """Show the window in front of the others."""
        self.setWindowState(self.windowState() & ~Qt.WindowState.WindowMinimized)
        self.show()
        self.raise_()
        self.activateWindow()

    @Slot()
    def quit(self) -> None:
        """Close the window and end, whatever a closed window otherwise means."""
        self._is_leaving = True
        if self.isVisible():
            self.close()
        else:
            self.ticker.stop()
            self.closing.emit()

    def let_go(self) -> None:
        """From now on closing the window ends the program: the session ends."""
        self._is_leaving = True

    def set_scheme(self, scheme: Scheme) -> None:
        """Choose colours."""
        self._theme.set_scheme(scheme)
        self._check(self._scheme_actions, scheme)

    def set_language(self, name: str | None) -> None:
        """Choose a language; None follows the system."""
        self._translation.set_language(name)

    def set_keep_awake(self, on: bool) -> None:
        """Whether a laptop's GPU is read also where that wakes it, while the window is on the screen."""
        self._keep_awake = on
        self._send_demand()

    def set_background_processes(self, on: bool) -> None:
        """Whether the users of the GPU are read also while nobody looks: alerts need them."""
        self._background_processes = on
        self._send_demand()

    def set_watched(self, pids: tuple[int, ...], interval_s: float) -> None:
        """Read these programs with every detail each ``interval_s``, hidden or not; the window keeps its own pace.
        Nothing of the kind without ``pids``."""
        self._watched_pids, self._watch_interval_s = pids, interval_s
        self._send_demand()

    def add_closer(self, close: Callable[[], bool]) -> None:
        """Called by :meth:`close_down`; False: a worker does not end."""
        self._closers.append(close)

    def add_tool(self, widget: QWidget) -> None:
        """A further button in the tool row, left of the menu."""
        self._tools.insertWidget(self._tools.count() - 1, widget)

    def toggle_pause(self) -> None:
        """Pause or go on."""
        if self._is_recorded:
            self._origin.toggle()
        else:
            self.set_speed(self._speed_before_pause if self._speed == "paused" else "paused")

    def save_page(self, file: Path) -> bool:
        """Write the page as PNG; says what came of it."""
        if self.pages[self._page.name].grab().save(str(file), "PNG"):
            self.message.say(_("Saved as {file}.").format(file=file), Tone.GOOD)
            return True
        self.message.say(_("{file} cannot be written.").format(file=file), Tone.ATTENTION)
        return False

    def close_down(self) -> bool:
        """Stop what the window itself runs, before the origin is closed. False: a worker does not end."""
        self.ticker.stop()
        ended = [page.close_tasks() for page in self.pages.values() if hasattr(page, "close_tasks")]
        ended += [close() for close in self._closers]
        return all(ended)

    @Slot()
    def retranslate(self) -> None:
        """Write every text again, in the language now in use."""
        for setter, text in self._texts:
            setter(_(text))
        program, subject = "GPUMon", self._subject
        if subject:
            program = _("{subject} – {program}").format(subject=_(subject), program=program)
        self.setWindowTitle(program)
        self.heading.setText(_(self._page.label))
        self.more_button.setToolTip(_("View, language, about"))
        self.more_button.setAccessibleName(_("More"))
        self._check(self._language_actions, messages.language())
        self._origin.retranslate()
        self._label_buttons()
        self.rail.retranslate()
        self.status.retranslate()
        self.message.retranslate()
        if self.replay_bar is not None and hasattr(self.replay_bar, "retranslate"):
            self.replay_bar.retranslate()
        for page in self.pages.values():
            page.retranslate()
        self._refresh_frame()

    # -- refresh

    @Slot()
    def _refresh(self) -> None:
        self.pages[self._page.name].refresh()
        self._refresh_frame()

    def _refresh_frame(self) -> None:
        """What stands around the page: banner and status line."""
        status = self._feed.status
        # Live with a text: a source is left out, a recording has stopped.
        if status.text and status.state in (FeedState.STALE, FeedState.LIVE):
            self.banner.say(status.text, Tone.ATTENTION)
        elif status.text and status.state is FeedState.STARTING and self._starting.elapsed() > PATIENCE_MS:
            self.banner.say(status.text, Tone.INFO)
        else:
            self.banner.hide()
        self.status.refresh(self._feed.latest, status, self._speed_text())

    def _activate(self) -> None:
        """The page has come on show."""
        page = self.pages[self._page.name]
        if hasattr(page, "activate"):
            page.activate()
        self._refresh()

    def _send_demand(self) -> None:
        visible = self._is_on_screen()
        interval = next(seconds for name, _label, seconds in SPEEDS if name == self._speed)
        # Hidden, only the tray's icon and the charts' past need it.
        shown_s = 1.0 if interval is None else interval if visible else max(interval, 1.0)
        watches = bool(self._watched_pids) and not self._is_recorded
        self._feed.least_gap_s = _OF_A_GAP * shown_s if watches and self._watch_interval_s < shown_s else 0.0
        demand = Demand(
            interval_s=min(shown_s, self._watch_interval_s) if watches else shown_s,
            details=(visible and self._page.details) or watches,
            processes=(visible and self._page.processes) or self._background_processes or watches,
            cpu_processes=visible and self._page.cpu_processes,
            pids=self._watched_pids if watches else (),
            keep_awake=visible and self._keep_awake,
        )
        if demand != self._demand:
            self._demand = demand
            self._origin.set_demand(demand)

    def _is_on_screen(self) -> bool:
        return self.isVisible() and not self.isMinimized()

    def _follow_visibility(self) -> None:
        before = self.ticker.is_active
        self._send_demand()
        self.ticker.set_active(self._is_on_screen())
        if self.ticker.is_active and not before:
            self._activate()

    # -- construction

    def _lay_out(self) -> None:
        tools = self._tools = QHBoxLayout()
        tools.setContentsMargins(L, S, S, S)
        tools.setSpacing(S // 2)
        tools.addWidget(self.heading)
        tools.addStretch(1)
        tools.addWidget(self.speed_button)
        tools.addWidget(self.more_button)
        bars = QVBoxLayout()
        bars.setContentsMargins(L, 0, L, 0)
        bars.setSpacing(S)
        bars.addWidget(self.banner)
        bars.addWidget(self.message)
        column = QVBoxLayout()
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(0)
        column.addLayout(tools)
        column.addLayout(bars)
        column.addWidget(self.stack, 1)
        if self.replay_bar is not None:
            self.replay_bar.setParent(self)
            column.addWidget(self.replay_bar)
        middle = QHBoxLayout()
        middle.setContentsMargins(0, 0, 0, 0)
        middle.setSpacing(0)
        middle.addWidget(self.rail)
        middle.addLayout(column, 1)
        outer = QVBoxLayout(self)
        outer.setContentsMargins(0, 0, 0, 0)
        outer.setSpacing(0)
        outer.addLayout(middle, 1)
        outer.addWidget(self.status)
        self.speed_button.setVisible(not self._is_recorded)

    def _make_menus(self) -> None:
        speed_menu, more = QMenu(self), QMenu(self)
        self._speed_actions = self._choices(
            speed_menu,
            [(name, label) for name, label, _seconds in SPEEDS],
            "normal",
            self.set_speed,
            "general.update_speed",
        )
        theme_menu, language_menu = more.addMenu(""), more.addMenu("")
        self._scheme_actions = self._choices(
            theme_menu,
            [(scheme, label) for scheme, label in SCHEMES],
            self._theme.scheme,
            self.set_scheme,
            "general.theme",
        )
        self._language_actions = self._choices(
            language_menu,
            [(name, "") for name in messages.LANGUAGES],
            messages.language(),
            self.set_language,
            "general.language",
        )
        for name, action in self._language_actions.items():
            action.setText(LANGUAGE_NAMES[name])
        self._more_menu, self._options_end = more, more.addSeparator()
        refresh = self._action(more, N_("Refresh now"), self._on_refresh_now, "F5")
        save = self._action(more, N_("Save page as picture…"), self._on_save, "Ctrl+S")
        more.addSeparator()
        about = self._action(more, N_("About GPUMon"), self._on_about)
        leave = self._action(more, N_("Quit"), self.quit, "Ctrl+Q")
        self._texts += [
            (theme_menu.menuAction().setText, N_("Theme")),
            (language_menu.menuAction().setText, N_("Language")),
        ]
        self.actions_by_name = {"refresh": refresh, "save": save, "about": about, "quit": leave}
        self.speed_button.set_menu(speed_menu)
        self.more_button.set_menu(more)

    def _choices(
        self, menu: QMenu, entries: list[tuple[Any, str]], chosen: Any, choose: Callable[[Any], None], key: str
    ) -> dict[Any, QAction]:
        """Entries of which one is ticked; ``key`` of the setting that keeps the choice."""
        group = QActionGroup(menu)
        actions = {}
        for value, label in entries:
            action = QAction(menu)
            action.setCheckable(True)
            action.setChecked(value == chosen)
            # The partial's target outlives the action: both belong to this window.
            action.triggered.connect(partial(self._choose, choose, key, value))
            group.addAction(action)
            menu.addAction(action)
            actions[value] = action
            if label:
                self._texts.append((action.setText, label))
        return actions

    def _action(self, menu: QMenu, label: str, slot: Callable[[], Any], keys: str = "") -> QAction:
        action = QAction(menu)
        action.triggered.connect(slot)
        if keys:
            action.setShortcut(QKeySequence(keys))
        menu.addAction(action)
        self.addAction(action)
        self._texts.append((action.setText, label))
        return action

    def _make_keys(self) -> None:
        for position, entry in enumerate(PAGES, start=1):
            shortcut = QShortcut(QKeySequence(f"Ctrl+{position}"), self)
            shortcut.setObjectName(entry.name)
            shortcut.activated.connect(self._on_page_key)
        find = QShortcut(QKeySequence(QKeySequence.StandardKey.Find), self)
        find.activated.connect(self._on_find)

    @staticmethod
    def _check(actions: dict[Any, QAction], value: Any) -> None:
        if value in actions:
            actions[value].setChecked(True)

    def _label_buttons(self) -> None:
        speed = self._speed_text()
        self.speed_button.set_text(speed)
        self.speed_button.setToolTip(_("Update speed"))
        self.speed_button.setAccessibleName(_("Update speed: {speed}").format(speed=speed))

    def _speed_text(self) -> str:
        return next(_(label) for name, label, _seconds in SPEEDS if name == self._speed)

    # -- slots

    def _choose(self, choose: Callable[[Any], None], key: str, value: Any, *_checked: bool) -> None:
        choose(value)
        self.chose.emit(key, str(value))

    @Slot()
    def _on_page_key(self) -> None:
        self.show_page(self.sender().objectName())

    @Slot()
    def _on_find(self) -> None:
        page = next((name for name, one in self.pages.items() if hasattr(one, "focus_search")), None)
        if page is not None:
            if self._page.name != page:
                self.show_page(page)
            self.pages[page].focus_search()

    @Slot()
    def _on_refresh_now(self) -> None:
        self._feed.show_next()
        self._origin.refresh()
        self._refresh()

    @Slot()
    def _on_save(self) -> None:
        folder = QStandardPaths.writableLocation(QStandardPaths.StandardLocation.PicturesLocation) or "."
        dialog = QFileDialog(self, _("Save page as picture"), str(Path(folder) / f"gpumon-{self._page.name}.png"))
        dialog.setAcceptMode(QFileDialog.AcceptMode.AcceptSave)
        dialog.setNameFilter(_("PNG picture") + " (*.png)")
        dialog.setDefaultSuffix("png")
        dialog.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        dialog.fileSelected.connect(self._on_file_chosen)
        dialog.open()

    @Slot(str)
    def _on_file_chosen(self, file: str) -> None:
        self.save_page(Path(file))

    @Slot()
    def _on_about(self) -> None:
        about_box(self).open()

    # -- Qt's events

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if event.key() == Qt.Key.Key_Space and not event.modifiers():
            self.toggle_pause()
        elif event.key() == Qt.Key.Key_Escape and not self.message.isHidden():
            self.message.hide()
        else:
            super().keyPressEvent(event)

    def showEvent(self, event: QShowEvent) -> None:
        super().showEvent(event)
        self._follow_visibility()

    def hideEvent(self, event: QHideEvent) -> None:
        super().hideEvent(event)
        self._follow_visibility()

    def changeEvent(self, event: QEvent) -> None:
        super().changeEvent(event)
        if event.type() == QEvent.Type.WindowStateChange:
            self._follow_visibility()

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self.rail.fit(self.width())

    def closeEvent(self, event: QCloseEvent) -> None:
        if not self._is_leaving and self.stays_when_closed():
            event.ignore()
            self.hide()
            return
        self.ticker.stop()
        self.closing.emit()
        super().closeEvent(event)


def _never() -> bool:
    return False
