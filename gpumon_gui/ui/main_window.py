"""Knows: the window: what stands around the pages, when they are drawn, how it opens and closes. Must not know: what
pages show, what stands in the menus, how one gets to a page (``navigation``), what is read (``pace``).

Only the visible page is drawn; a hidden window draws nothing.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

from PySide6.QtCore import QElapsedTimer, QEvent, QSize, Qt, Signal, SignalInstance, Slot
from PySide6.QtGui import QAction, QCloseEvent, QHideEvent, QKeyEvent, QKeySequence, QResizeEvent, QShowEvent
from PySide6.QtWidgets import QHBoxLayout, QVBoxLayout, QWidget

from gpumon_gui.bridge.feed import Feed, FeedState
from gpumon_gui.bridge.ticker import Ticker
from gpumon_gui.bridge.translation import Translation
from gpumon_gui.core.messages import _
from gpumon_gui.ui import icons
from gpumon_gui.ui.about import about_box
from gpumon_gui.ui.navigation import Navigation
from gpumon_gui.ui.origin import Origin
from gpumon_gui.ui.pace import Pace
from gpumon_gui.ui.page_picture import ask_for_picture, write_picture
from gpumon_gui.ui.pages.table import PageEntry
from gpumon_gui.ui.theme import L, S, Scheme, Theme
from gpumon_gui.ui.widgets.button import FlatButton
from gpumon_gui.ui.widgets.message_bar import MessageBar, Tone
from gpumon_gui.ui.widgets.status_strip import StatusStrip
from gpumon_gui.ui.widgets.tab_order import put_behind
from gpumon_gui.ui.window_menus import WindowMenus

#: A start that takes longer than this is explained.
PATIENCE_MS = 2500
SMALLEST = (720, 480)
USUAL = (1180, 780)
#: Of a screen that is smaller than that, title bar and borders need so much: they are known when the window is shown.
FRAME = QSize(16, 40)


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
        self._closers: list[Callable[[], bool]] = []
        self._is_leaving = False
        #: Asked when the user closes the window: whether the program stays, hidden.
        self.stays_when_closed: Callable[[], bool] = _never
        #: The program's own log, where there is one.
        self.log_file: Path | None = None
        self._starting = QElapsedTimer()
        self._starting.start()

        self.setWindowIcon(icons.icon("app", ""))
        room = self.screen().availableSize() - FRAME
        self.setMinimumSize(QSize(*SMALLEST).boundedTo(room))
        self.resize(QSize(*USUAL).boundedTo(room))

        self.pace = Pace(feed, origin, self, recorded=recorded)
        self.navigation = Navigation(theme, self._make_page, self)
        self.rail, self.heading, self.stack = self.navigation.rail, self.navigation.heading, self.navigation.stack
        self.pages = self.navigation.pages
        self.speed_button = FlatButton(theme, "speed", "", self)
        self.more_button = FlatButton(theme, "more", "", self)
        self._last_tool: QWidget = self.speed_button
        self.banner = MessageBar(theme, parent=self)
        self.message = MessageBar(theme, closable=True, parent=self)
        self.status = StatusStrip(theme, self)
        self.replay_bar = replay_bar

        self.menus = WindowMenus(self, theme.scheme)
        self.speed_button.set_menu(self.menus.speed)
        self.more_button.set_menu(self.menus.more)
        self._lay_out()

        self.ticker = Ticker(feed, self)
        self.ticker.due.connect(self._refresh)
        self._follow_menus()
        self.pace.speed_changed.connect(self._on_speed_changed)
        self.navigation.refused.connect(self._on_refused)
        self.navigation.shown.connect(self._on_page_shown)
        translation.changed.connect(self.retranslate)
        theme.changed.connect(self.update)
        self.retranslate()
        self.show_page(self.page)

    # -- what others call

    @property
    def page(self) -> str:
        """The name of the page on show."""
        return self.navigation.entry.name

    def show_page(self, name: str) -> None:
        """Bring a page on show. StopIteration for an unknown name."""
        self.navigation.show_page(name)

    @property
    def is_recorded(self) -> bool:
        """Whether a recording is on show: it has no update speed."""
        return self._is_recorded

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

    def add_closer(self, close: Callable[[], bool]) -> None:
        """Called by :meth:`close_down`; False: a worker does not end."""
        self._closers.append(close)

    def add_tool(self, widget: QWidget) -> None:
        """A further button in the tool row, left of the menu."""
        self._tools.insertWidget(self._tools.count() - 1, widget)
        put_behind(self._last_tool, widget, self.more_button)
        self._last_tool = widget

    def save_page(self, file: Path) -> bool:
        """Write the page as PNG; says what came of it."""
        if write_picture(self.navigation.page, file):
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
        self.more_button.setToolTip(_("View, language, about"))
        self.more_button.setAccessibleName(_("More"))
        self._origin.retranslate()
        self._label_buttons()
        self.navigation.retranslate()
        self.status.retranslate()
        self.message.retranslate()
        if self.replay_bar is not None and hasattr(self.replay_bar, "retranslate"):
            self.replay_bar.retranslate()
        self._refresh_frame()

    # -- refresh

    @Slot()
    def _refresh(self) -> None:
        self.navigation.page.refresh()
        self._refresh_frame()

    def _refresh_frame(self) -> None:
        """What stands around the page: banner and status line."""
        status = self._feed.status
        # Live with a text: a source is left out.
        if status.text and status.state in (FeedState.STALE, FeedState.LIVE):
            self.banner.say(status.text, Tone.ATTENTION)
        elif status.text and status.state is FeedState.STARTING and self._starting.elapsed() > PATIENCE_MS:
            self.banner.say(status.text, Tone.INFO)
        else:
            self.banner.hide()
        self.status.refresh(self._feed.latest, status, self.pace.speed_text)

    def _activate(self) -> None:
        """The page has come on show."""
        page = self.navigation.page
        if hasattr(page, "activate"):
            page.activate()
        self._refresh()

    def _is_on_screen(self) -> bool:
        return self.isVisible() and not self.isMinimized()

    def _follow_visibility(self) -> None:
        before = self.ticker.is_active
        self.pace.follow(self.navigation.entry, on_screen=self._is_on_screen())
        self.ticker.set_active(self._is_on_screen())
        if self.ticker.is_active and not before:
            self._activate()

    # -- construction

    def _make_page(self, entry: PageEntry) -> Any:
        page: Any = entry.make(self._feed, self._theme, self)
        if self.replay_bar is not None:
            put_behind(page, self.replay_bar)
        if self._is_recorded and hasattr(page, "set_recorded"):
            page.set_recorded()
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

    def _label_buttons(self) -> None:
        speed = self.pace.speed_text
        self.speed_button.set_text(speed)
        self.speed_button.setToolTip(_("Update speed"))
        self.speed_button.setAccessibleName(_("Update speed: {speed}").format(speed=speed))

    # -- slots

    @Slot()
    def _on_page_shown(self) -> None:
        self.pace.follow(self.navigation.entry, on_screen=self._is_on_screen())
        if self.ticker.is_active:
            self._activate()
        self.page_shown.emit(self.page)

    @Slot(str)
    def _on_refused(self, why: str) -> None:
        self.message.say(why, Tone.INFO)

    @Slot(str)
    def _on_speed_changed(self, name: str) -> None:
        self.menus.speeds.tick(name)
        self._label_buttons()
        self.ticker.request()

    @Slot(object)
    def _on_speed(self, name: str) -> None:
        self.pace.set_speed(name)
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
    def _on_refresh_now(self) -> None:
        self._feed.show_next()
        self._origin.refresh()
        self._refresh()

    @Slot()
    def _on_save(self) -> None:
        ask_for_picture(self, self.page, self._on_file_chosen)

    @Slot(str)
    def _on_file_chosen(self, file: str) -> None:
        self.save_page(Path(file))

    @Slot()
    def _on_about(self) -> None:
        about_box(self, self.log_file).open()

    # -- Qt's events

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if event.key() == Qt.Key.Key_Space and not event.modifiers():
            self.pace.toggle()
        elif event.key() == Qt.Key.Key_Escape and not self.message.isHidden():
            self.message.hide()
        elif event.matches(QKeySequence.StandardKey.Copy) and hasattr(self.navigation.page, "copy"):
            self.navigation.page.copy()  # nothing that could copy has the keyboard
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
