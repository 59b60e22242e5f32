"""Knows: the window around the pages: navigation, tool row, banner, status line. Must not know: what pages show, what
stands in the menus.

Only the visible page is drawn, and only what it needs is read (``core.model.Demand``); a hidden window draws nothing.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

from PySide6.QtCore import QElapsedTimer, QEvent, QSize, Qt, Signal, SignalInstance, Slot
from PySide6.QtGui import (
    QAction,
    QCloseEvent,
    QFont,
    QHideEvent,
    QKeyEvent,
    QKeySequence,
    QResizeEvent,
    QShortcut,
    QShowEvent,
)
from PySide6.QtWidgets import QHBoxLayout, QLabel, QStackedWidget, QVBoxLayout, QWidget

from gpumon_gui.bridge.feed import Feed, FeedState
from gpumon_gui.bridge.ticker import Ticker
from gpumon_gui.bridge.translation import Translation
from gpumon_gui.core.messages import _
from gpumon_gui.core.model import Demand
from gpumon_gui.ui import icons
from gpumon_gui.ui.about import about_box
from gpumon_gui.ui.origin import Origin
from gpumon_gui.ui.page_picture import ask_for_picture, write_picture
from gpumon_gui.ui.page_shelf import PageShelf
from gpumon_gui.ui.pages.table import PAGES, PageEntry
from gpumon_gui.ui.theme import L, S, Scheme, Text, Theme
from gpumon_gui.ui.wanted_readings import WantedReadings
from gpumon_gui.ui.widgets.button import FlatButton
from gpumon_gui.ui.widgets.message_bar import MessageBar, Tone
from gpumon_gui.ui.widgets.rail import Rail
from gpumon_gui.ui.widgets.status_strip import StatusStrip
from gpumon_gui.ui.widgets.tab_order import put_behind
from gpumon_gui.ui.window_menus import SPEEDS, WindowMenus

#: A start that takes longer than this is explained.
PATIENCE_MS = 2500
SMALLEST = (720, 480)
USUAL = (1180, 780)


class MainWindow(QWidget):
    """The window. Lives in the GUI thread; owns pages and ticker, not the feed and what fills it.

    Signals:
        closing(): the user closes the window.
        chose(str, str): the user chose something in a menu that is kept: the setting's key and its value.
        page_shown(str): another page is on show.
        went_out_of_sight(): the window is hidden now.
    """

    closing = Signal()
    chose = Signal(str, str)
    page_shown = Signal(str)
    went_out_of_sight = Signal()

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
        self._wanted = WantedReadings()
        self._demand: Demand | None = None
        self._hidden: dict[str, str] = {}
        self._closers: list[Callable[[], bool]] = []
        self._is_leaving = False
        #: Asked when the user closes the window: whether the program stays, hidden.
        self.stays_when_closed: Callable[[], bool] = _never
        #: The program's own log, where there is one.
        self.log_file: Path | None = None
        self._starting = QElapsedTimer()
        self._starting.start()

        self.setWindowIcon(icons.icon("app", ""))
        room = self.screen().availableSize()
        self.setMinimumSize(QSize(*SMALLEST).boundedTo(room))
        self.resize(QSize(*USUAL).boundedTo(room))

        self.rail = Rail(theme, [(entry.name, entry.icon, entry.label) for entry in PAGES], self)
        self.heading = QLabel(self)
        font = QFont(theme.font(Text.VALUE))
        font.setWeight(QFont.Weight.DemiBold)
        self.heading.setFont(font)
        self.speed_button = FlatButton(theme, "speed", "", self)
        self.more_button = FlatButton(theme, "more", "", self)
        self._last_tool: QWidget = self.speed_button
        self.banner = MessageBar(theme, parent=self)
        self.message = MessageBar(theme, closable=True, parent=self)
        self.stack = QStackedWidget(self)
        self.status = StatusStrip(theme, self)
        self.replay_bar = replay_bar
        self.pages = PageShelf((entry.name for entry in PAGES), self._make_page)

        self.menus = WindowMenus(self, theme.scheme)
        self.speed_button.set_menu(self.menus.speed)
        self.more_button.set_menu(self.menus.more)
        self._lay_out()
        self._make_keys()

        self.ticker = Ticker(feed, self)
        self.ticker.due.connect(self._refresh)
        self._follow_menus()
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
        """Bring a page on show; one that is hidden gives way to the first, which says why. StopIteration for an unknown
        name."""
        page = next(entry for entry in PAGES if entry.name == name)
        if name in self._hidden:
            self.message.say(f"{_(page.label)}: {_(self._hidden[name])}", Tone.INFO)
            page = PAGES[0]
            name = page.name
        self._page = page
        widget = self.pages[name]
        self.rail.select(name)
        self.stack.setCurrentWidget(widget)
        self.heading.setText(_(self._page.label))
        self._send_demand()
        if self.ticker.is_active:
            self._activate()
        self.page_shown.emit(name)

    def hide_page(self, name: str, why: str) -> None:
        """Offer a page no longer that has nothing to show in this window; ``why`` is untranslated."""
        self._hidden[name] = why
        self.rail.hide_page(name)
        if self._page.name == name:
            self.show_page(PAGES[0].name)

    def set_speed(self, name: str) -> None:
        """Choose an update speed by its name in ``window_menus.SPEEDS``."""
        if name == self._speed:
            return
        was_paused = self._speed == "paused"
        if not was_paused:
            self._speed_before_pause = self._speed
        self._speed = name
        self._wanted.interval_s = next(seconds for speed, _label, seconds in SPEEDS if speed == name)
        self.menus.speeds.tick(name)
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
        return self.menus.speeds.actions()

    def add_option(self, label: str, slot: Callable[[bool], Any], keys: str = "") -> QAction:
        """A further entry of the menu "⋯" that is on or off; ``label`` is untranslated."""
        return self.menus.add_option(label, slot, keys)

    @property
    def options_shown(self) -> SignalInstance:
        """The menu "⋯" is about to show."""
        return self.menus.more.aboutToShow

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
        self.menus.schemes.tick(scheme)

    def set_language(self, name: str | None) -> None:
        """Choose a language; None follows the system."""
        self._translation.set_language(name)

    def set_keep_awake(self, on: bool) -> None:
        """Whether a laptop's GPU is read also where that wakes it, while the window is on the screen."""
        self._wanted.keep_awake = on
        self._send_demand()

    def set_background_processes(self, on: bool) -> None:
        """Whether the users of the GPU are read also while nobody looks: alerts need them."""
        self._wanted.background_processes = on
        self._send_demand()

    def set_watched(self, pids: tuple[int, ...], interval_s: float) -> None:
        """Read these programs with every detail each ``interval_s``, hidden or not; the window keeps its own pace.
        Nothing of the kind without ``pids``."""
        self._wanted.pids = () if self._is_recorded else pids
        self._wanted.pids_interval_s = interval_s
        self._send_demand()

    def add_closer(self, close: Callable[[], bool]) -> None:
        """Called by :meth:`close_down`; False: a worker does not end."""
        self._closers.append(close)

    def add_tool(self, widget: QWidget) -> None:
        """A further button in the tool row, left of the menu."""
        self._tools.insertWidget(self._tools.count() - 1, widget)
        put_behind(self._last_tool, widget, self.more_button)
        self._last_tool = widget

    def toggle_pause(self) -> None:
        """Pause or go on."""
        if self._is_recorded:
            self._origin.toggle()
        else:
            self.set_speed(self._speed_before_pause if self._speed == "paused" else "paused")

    def save_page(self, file: Path) -> bool:
        """Write the page as PNG; says what came of it."""
        if write_picture(self.pages[self._page.name], file):
            self.message.say(_("Saved as {file}.").format(file=file), Tone.GOOD)
            return True
        self.message.say(_("{file} cannot be written.").format(file=file), Tone.ATTENTION)
        return False

    def close_down(self) -> bool:
        """Stop what the window itself runs, before the origin is closed. False: a worker does not end."""
        self.ticker.stop()
        ended = [page.close_tasks() for page in self.pages.made() if hasattr(page, "close_tasks")]
        ended += [close() for close in self._closers]
        return all(ended)

    @Slot()
    def retranslate(self) -> None:
        """Write every text again, in the language now in use."""
        self.menus.retranslate()
        program, subject = "GPUMon", self._subject
        if subject:
            program = _("{subject} – {program}").format(subject=_(subject), program=program)
        self.setWindowTitle(program)
        self.heading.setText(_(self._page.label))
        self.more_button.setToolTip(_("View, language, about"))
        self.more_button.setAccessibleName(_("More"))
        self._origin.retranslate()
        self._label_buttons()
        self.rail.retranslate()
        self.status.retranslate()
        self.message.retranslate()
        if self.replay_bar is not None and hasattr(self.replay_bar, "retranslate"):
            self.replay_bar.retranslate()
        for page in self.pages.made():
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
        on_screen = self._is_on_screen()
        self._feed.least_gap_s = self._wanted.least_gap_s(on_screen=on_screen)
        demand = self._wanted.demand(self._page, on_screen=on_screen)
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

    def _make_page(self, name: str) -> Any:
        page: Any = next(entry for entry in PAGES if entry.name == name).make(self._feed, self._theme, self)
        self.stack.addWidget(page)
        if self.replay_bar is not None:
            put_behind(page, self.replay_bar)
        if self._is_recorded and hasattr(page, "set_recorded"):
            page.set_recorded()
        page.retranslate()
        return page

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

    def _follow_menus(self) -> None:
        menus = self.menus
        menus.speeds.chosen.connect(self._on_speed)
        menus.schemes.chosen.connect(self._on_scheme)
        menus.languages.chosen.connect(self._on_language)
        menus.refresh_wanted.connect(self._on_refresh_now)
        menus.save_wanted.connect(self._on_save)
        menus.about_wanted.connect(self._on_about)
        menus.quit_wanted.connect(self.quit)

    def _make_keys(self) -> None:
        for position, entry in enumerate(PAGES, start=1):
            shortcut = QShortcut(QKeySequence(f"Ctrl+{position}"), self)
            shortcut.setObjectName(entry.name)
            shortcut.activated.connect(self._on_page_key)
        find = QShortcut(QKeySequence(QKeySequence.StandardKey.Find), self)
        find.activated.connect(self._on_find)

    def _label_buttons(self) -> None:
        speed = self._speed_text()
        self.speed_button.set_text(speed)
        self.speed_button.setToolTip(_("Update speed"))
        self.speed_button.setAccessibleName(_("Update speed: {speed}").format(speed=speed))

    def _speed_text(self) -> str:
        return next(_(label) for name, label, _seconds in SPEEDS if name == self._speed)

    # -- slots

    @Slot(object)
    def _on_speed(self, name: str) -> None:
        self.set_speed(name)
        self.chose.emit("general.update_speed", name)

    @Slot(object)
    def _on_scheme(self, scheme: Scheme) -> None:
        self.set_scheme(scheme)
        self.chose.emit("general.theme", str(scheme))

    @Slot(object)
    def _on_language(self, name: str) -> None:
        self.set_language(name)
        self.chose.emit("general.language", name)

    @Slot()
    def _on_page_key(self) -> None:
        name = self.sender().objectName()
        if name not in self._hidden:
            self.show_page(name)

    @Slot()
    def _on_find(self) -> None:
        page = next((name for name in self.pages if hasattr(self.pages[name], "focus_search")), None)
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
        ask_for_picture(self, self._page.name, self._on_file_chosen)

    @Slot(str)
    def _on_file_chosen(self, file: str) -> None:
        self.save_page(Path(file))

    @Slot()
    def _on_about(self) -> None:
        about_box(self, self.log_file).open()

    # -- Qt's events

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if event.key() == Qt.Key.Key_Space and not event.modifiers():
            self.toggle_pause()
        elif event.key() == Qt.Key.Key_Escape and not self.message.isHidden():
            self.message.hide()
        elif event.matches(QKeySequence.StandardKey.Copy) and hasattr(self.pages[self._page.name], "copy"):
            self.pages[self._page.name].copy()  # nothing that could copy has the keyboard
        else:
            super().keyPressEvent(event)

    def showEvent(self, event: QShowEvent) -> None:
        super().showEvent(event)
        self._follow_visibility()

    def hideEvent(self, event: QHideEvent) -> None:
        super().hideEvent(event)
        self._follow_visibility()
        self.went_out_of_sight.emit()

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
