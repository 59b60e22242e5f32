"""Knows: the page that says who uses the GPU. Must not know: how samples are taken, the window around it."""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise
from pathlib import Path

from PySide6.QtCore import QItemSelection, QPoint, Qt, Signal, Slot
from PySide6.QtGui import (
    QAction,
    QColor,
    QGuiApplication,
    QIcon,
    QKeySequence,
    QPalette,
    QResizeEvent,
)
from PySide6.QtWidgets import (
    QHBoxLayout,
    QLineEdit,
    QMenu,
    QMessageBox,
    QSplitter,
    QVBoxLayout,
    QWidget,
)

from gpumon_gui.bridge.feed import Feed, FeedState
from gpumon_gui.bridge.tasks import EndRequest
from gpumon_gui.bridge.watching import Program, can_be_watched
from gpumon_gui.core.messages import _, ngettext
from gpumon_gui.core.model import DeviceKey, ProcessPresence, ProcessSample, Sample
from gpumon_gui.telemetry.derive.emptiness import Emptiness, explain
from gpumon_gui.telemetry.derive.process_state import process_id
from gpumon_gui.telemetry.derive.python_program import is_python, program_label
from gpumon_gui.ui import formatters, icons
from gpumon_gui.ui.models.process_model import ProcessFilter, ProcessModel, Row, command_line, device_names
from gpumon_gui.ui.open_location import open_location
from gpumon_gui.ui.theme import L, M, S, Text, Theme
from gpumon_gui.ui.widgets.button import FlatButton
from gpumon_gui.ui.widgets.device_filter import DeviceFilter
from gpumon_gui.ui.widgets.empty_notice import EmptyNotice
from gpumon_gui.ui.widgets.end_question import EndQuestion
from gpumon_gui.ui.widgets.message_bar import MessageBar, Tone
from gpumon_gui.ui.widgets.process_details import ProcessDetails
from gpumon_gui.ui.widgets.process_table import ProcessTable
from gpumon_gui.ui.widgets.text import FixedLabel


class ProcessesPage(QWidget):
    """Table, search, device filter and details of the selected process. Lives in the GUI thread.

    Signals:
        watch_wanted(object): watch this :class:`Program`.
        diagnose_wanted(int, str): diagnose the environment of the process with that pid; how it is called.
    """

    watch_wanted = Signal(object)
    diagnose_wanted = Signal(int, str)

    def __init__(self, feed: Feed, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._feed = feed
        self._theme = theme
        self._names: dict[DeviceKey, str] = {}
        self._ready_from: int | None = None
        self._is_updating = False
        self._is_recorded = False
        self._is_of_here = True

        self.model = ProcessModel(self)
        self.proxy = ProcessFilter(self.model, self)
        self.table = ProcessTable(theme, self.proxy, self)
        self.model.bare_found.connect(self.table.set_bare)
        self.setFocusProxy(self.table)
        self.empty = EmptyNotice(theme, self.table.viewport())
        self.details = ProcessDetails(theme, self)
        self.message = MessageBar(theme, closable=True, parent=self)
        self._ending = EndQuestion(self.message, self)

        self.search = QLineEdit(self)
        self.search.setClearButtonEnabled(True)
        self.search.setMinimumWidth(180)
        self.search.setMaximumWidth(440)
        self._search_icon = QAction(self.search)
        self.search.addAction(self._search_icon, QLineEdit.ActionPosition.LeadingPosition)
        self.search.setMinimumHeight(32)
        self.devices = DeviceFilter(theme, self)
        self._count = FixedLabel(theme, Text.CAPTION, muted=True, parent=self)
        self._end_button = FlatButton(theme, "end_task", "", self)
        self.watch_button = FlatButton(theme, "watch", "", self)

        row = QHBoxLayout()
        row.setSpacing(M)
        row.addWidget(self.search, 3)
        row.addWidget(self.devices)
        row.addWidget(self._count, 1)
        row.addWidget(self.watch_button)
        row.addWidget(self._end_button)
        top = QWidget(self)
        top.setLayout(row)
        row.setContentsMargins(L, 0, L, S)

        self._splitter = QSplitter(Qt.Orientation.Vertical, self)
        self._splitter.setChildrenCollapsible(False)
        self._splitter.setHandleWidth(5)
        self._splitter.addWidget(self.table)
        self._splitter.addWidget(self.details)
        self._splitter.setStretchFactor(0, 1)
        self._splitter.setStretchFactor(1, 0)
        self.table.setMinimumHeight(120)
        self.details.setMinimumHeight(110)
        self.details.hide()

        bar = QHBoxLayout()
        bar.setContentsMargins(L, 0, L, 0)
        bar.addWidget(self.message)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setSpacing(0)
        layout.addWidget(top)
        layout.addLayout(bar)
        layout.addWidget(self._splitter, 1)

        for before, after in pairwise(
            (self.search, self.devices, self.watch_button, self._end_button, self.table, self.details)
        ):
            QWidget.setTabOrder(before, after)
        self._actions = self._make_actions()
        self.search.textChanged.connect(self._on_search)
        self.devices.chosen.connect(self._on_device)
        self.table.selectionModel().selectionChanged.connect(self._on_selection)
        self.table.menu_wanted.connect(self._open_menu)
        self.table.copy_wanted.connect(self.copy_row)
        self.table.end_wanted.connect(self.ask_end)
        self.table.watch_wanted.connect(self.watch)
        self.watch_button.clicked.connect(self.watch)
        self.details.closed.connect(self.table.clearSelection)
        self._end_button.clicked.connect(self.ask_end)
        feed.cleared.connect(self._on_cleared)
        theme.changed.connect(self._recolour)
        self._recolour()
        self.retranslate()

    # -- what the window calls

    def refresh(self) -> None:
        """Show the newest sample."""
        sample = self._feed.latest
        self._is_updating = True
        if sample is None:
            self.model.clear()
        elif not self._awaits(sample):  # until then the rows of before stay, with selection and scroll position
            self._names = device_names(sample)
            self._show_devices(sample)
            self.model.update(sample)
        self._is_updating = False
        self._show_state()

    def activate(self) -> None:
        """Called when the page comes on show. Processes are read only while somebody looks, so the newest sample may
        know of none: until one arrives that was asked for, the list says so."""
        sample = self._feed.latest
        self._ready_from = None if sample is None else sample.sequence + 2
        self.refresh()

    def set_recorded(self) -> None:
        """The samples are not of this moment: their processes cannot be ended."""
        self._is_recorded = True
        self.set_elsewhere()
        self._end_button.hide()
        self._show_state()

    def set_elsewhere(self) -> None:
        """The processes are not of this machine: neither their environments nor their files are here."""
        self._is_of_here = False

    def focus_search(self) -> None:
        """Put the cursor into the search field."""
        self.search.setFocus(Qt.FocusReason.ShortcutFocusReason)
        self.search.selectAll()

    def close_tasks(self) -> bool:
        """Stop the worker thread; False when it does not end in time."""
        return self._ending.close()

    def retranslate(self) -> None:
        """Write every text again."""
        self.search.setPlaceholderText(_("Search name, PID, command, user, environment"))
        self.search.setAccessibleName(_("Search processes"))
        self._end_button.set_text(_("End task"))
        self.watch_button.set_text(_("Watch"))
        self.watch_button.setToolTip(_("Find out what holds the selected program back"))
        texts = {
            "watch": _("Watch"),
            "diagnose": _("Diagnose its environment…"),
            "end": _("End task…"),
            "open": _("Open file location"),
            "copy": _("Copy row"),
            "command": _("Copy command line"),
        }
        for name, text in texts.items():
            self._actions[name].setText(text)
        self.devices.retranslate()
        self.message.retranslate()
        self.table.retranslate()
        self.details.retranslate()
        self.model.retranslate()
        sample = self._feed.latest
        if sample is not None:
            self._names = device_names(sample)
            self._show_devices(sample)
        self._show_state()

    # -- selection

    def selected(self) -> Row | None:
        """The row of the selected process, or None."""
        rows = self.table.selectionModel().selectedRows()
        return self.proxy.row_of(rows[0]) if rows else None

    def select(self, pid: int) -> bool:
        """Select a process by its pid, also one that the search or the choice of a GPU hides; False when it is not
        there."""
        if self._select(pid):
            return True
        sample = self._feed.latest
        if sample is None or all(process.pid != pid for process in sample.processes):
            return False
        self.search.clear()
        self.devices.choose(None)
        return self._select(pid)

    def _select(self, pid: int) -> bool:
        for number in range(self.proxy.rowCount()):
            index = self.proxy.index(number, 0)
            if self.proxy.row_of(index).process.pid == pid:
                self.table.selectRow(number)
                self.table.scrollTo(index)
                return True
        return False

    def can_end(self, process: ProcessSample) -> bool:
        """Whether a process can be ended from here: it runs, its start time is known, and it is no recording."""
        return (
            not self._is_recorded and process.presence is ProcessPresence.RUNNING and process.started_utc_s is not None
        )

    # -- actions

    @Slot()
    def watch(self) -> None:
        """Ask that the selected process be watched."""
        row = self.selected()
        if row is not None and can_be_watched(row.process):
            self.watch_wanted.emit(Program.of(row.process))

    @Slot()
    def diagnose(self) -> None:
        """Ask that the environment of the selected process be diagnosed."""
        row = self.selected()
        if row is not None and self.can_diagnose(row.process):
            self.diagnose_wanted.emit(row.process.pid, program_label(row.process))

    def can_diagnose(self, process: ProcessSample) -> bool:
        """Whether a process is a Python of this machine and moment."""
        return self._is_of_here and is_python(process)

    @Slot()
    def ask_end(self) -> None:
        """Ask whether the selected process shall be ended."""
        row = self.selected()
        if row is None or not self.can_end(row.process):
            return
        started = row.process.started_utc_s
        assert started is not None
        self._ending.ask(EndRequest(row.process.pid, started, row.process.name))

    @Slot()
    def copy_row(self) -> None:
        """Put the visible cells of the selected row on the clipboard, separated by tabs."""
        row = self.selected()
        if row is None:
            return
        header = self.table.horizontalHeader()
        order = [header.logicalIndex(visual) for visual in range(header.count())]
        cells = [row.cells[column].text for column in order if not self.table.isColumnHidden(column)]
        QGuiApplication.clipboard().setText("\t".join(cells))

    @Slot()
    def copy_command(self) -> None:
        """Put the command line of the selected process on the clipboard."""
        row = self.selected()
        if row is not None:
            QGuiApplication.clipboard().setText(command_line(row.process))

    @Slot()
    def open_file(self) -> None:
        """Show the program file of the selected process in its folder."""
        row = self.selected()
        if row is not None and not open_location(Path(row.process.executable)):
            self.message.say(
                _("The folder of {file} cannot be opened.").format(file=row.process.executable), Tone.ATTENTION
            )

    @property
    def question(self) -> QMessageBox | None:
        """The open question, if any."""
        return self._ending.question

    def menu(self, row: Row) -> QMenu:
        """The context menu of a process."""
        menu = QMenu(self)
        self._actions["watch"].setEnabled(can_be_watched(row.process))
        self._actions["diagnose"].setEnabled(self.can_diagnose(row.process))
        self._actions["end"].setEnabled(self.can_end(row.process))
        self._actions["open"].setEnabled(bool(row.process.executable) and self._is_of_here)
        self._actions["command"].setEnabled(bool(row.process.command))
        menu.addAction(self._actions["watch"])
        menu.addAction(self._actions["diagnose"])
        menu.addAction(self._actions["end"])
        menu.addSeparator()
        for name in ("open", "copy", "command"):
            menu.addAction(self._actions[name])
        menu.addSeparator()
        menu.addMenu(self.table.sort_menu(menu))  # the header cannot be reached by keyboard
        menu.addMenu(self.table.columns_menu(menu))
        return menu

    # -- inside

    def _make_actions(self) -> dict[str, QAction]:
        slots: dict[str, Callable[[], None]] = {
            "watch": self.watch,
            "diagnose": self.diagnose,
            "end": self.ask_end,
            "open": self.open_file,
            "copy": self.copy_row,
            "command": self.copy_command,
        }
        actions = {}
        for name, slot in slots.items():
            action = QAction(self)
            action.triggered.connect(slot)
            actions[name] = action
        # Shown only: the table itself handles the keys, so that they do not fire while the search has the focus.
        actions["copy"].setShortcut(QKeySequence(QKeySequence.StandardKey.Copy))
        actions["copy"].setShortcutContext(Qt.ShortcutContext.WidgetShortcut)
        actions["watch"].setShortcut(QKeySequence(Qt.Key.Key_Return))
        actions["watch"].setShortcutContext(Qt.ShortcutContext.WidgetShortcut)
        actions["end"].setShortcut(QKeySequence(Qt.Key.Key_Delete))
        actions["end"].setShortcutContext(Qt.ShortcutContext.WidgetShortcut)
        return actions

    @Slot(QPoint)
    def _open_menu(self, position: QPoint) -> None:
        row = self.selected()
        if row is not None:
            menu = self.menu(row)
            menu.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
            menu.popup(position)

    @Slot(str)
    def _on_search(self, text: str) -> None:
        self.proxy.set_search(text)
        self._show_state()

    @Slot(object)
    def _on_device(self, device: DeviceKey | None) -> None:
        self.model.set_device(device)
        self._show_state()

    @Slot(QItemSelection, QItemSelection)
    def _on_selection(self, _selected: QItemSelection, _deselected: QItemSelection) -> None:
        row = self.selected()
        if row is not None:
            self.details.show_row(row, self._names, listed=True)
            self._open_details()
        elif not self._is_updating:  # one that has ended stays readable
            self.details.hide()
        self._show_state()

    @Slot()
    def _on_cleared(self) -> None:
        self.model.clear()
        self._ready_from = None

    def _open_details(self) -> None:
        if self.details.isHidden():
            self.details.show()
            height = self._splitter.height()
            below = min(max(180, height // 3), max(110, height - 160))
            self._splitter.setSizes([height - below, below])

    def _followed(self) -> Row | None:
        """The newest row of the process in the details pane; None when it has ended."""
        shown = self.details.row
        return None if shown is None else self.model.find(process_id(shown.process))

    def _show_state(self) -> None:
        """Everything beside the table that follows from what is in it."""
        row = self.selected()
        self._end_button.setEnabled(row is not None and self.can_end(row.process))
        self.watch_button.setEnabled(row is not None and can_be_watched(row.process))
        if not self.details.isHidden() and self.details.row is not None:
            now = self._followed()
            self.details.show_row(now or self.details.row, self._names, listed=now is not None)
        self.table.set_dimmed(self._feed.status.state is FeedState.STALE)
        shown, known = self.proxy.rowCount(), self.model.rowCount()
        sample = self._feed.latest
        if shown:
            words = ngettext("{count} process", "{count} processes", known).format(count=known)
            if shown < known:
                words = _("{shown} of {count} processes").format(shown=shown, count=known)
            self._count.set_text(words)
        else:
            self._count.set_text("")
        self.empty.setVisible(not shown)
        if not shown:
            reason = self._reason(sample, known)
            self.empty.setGeometry(self.table.viewport().rect())
            self.empty.say(reason.title, reason.explanation(formatters.memory(reason.used_bytes)))

    def _reason(self, sample: Sample | None, known: int) -> Emptiness:
        hidden = known if known else (len(sample.processes) if sample is not None and self.model.device else 0)
        if sample is not None and not hidden and self._awaits(sample):
            return Emptiness("not-read")
        if sample is not None and not hidden and self._feed.status.state is FeedState.STALE:
            return Emptiness("stale")
        return explain(sample, self.model.device, hidden)

    def _awaits(self, sample: Sample) -> bool:
        """Whether a sample was taken before anybody asked for processes. One that was under way then may still be."""
        early = self._ready_from is not None and sample.sequence < self._ready_from
        return early and not sample.processes and not self._is_recorded

    def _show_devices(self, sample: Sample) -> None:
        labels = {info.key: info.name for info in sample.inventory}
        self.devices.set_devices({key: (short, labels[key]) for key, short in self._names.items()})
        if self.devices.device != self.model.device:
            self.model.set_device(self.devices.device)

    @Slot()
    def _recolour(self) -> None:
        colours = self._theme.colours
        self._search_icon.setIcon(QIcon(icons.icon("search", colours.muted)))
        palette = QPalette(self.search.palette())
        palette.setColor(QPalette.ColorRole.Base, QColor(colours.surface))
        self.search.setPalette(palette)

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self.empty.setGeometry(self.table.viewport().rect())
