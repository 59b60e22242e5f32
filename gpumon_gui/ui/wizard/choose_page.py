"""Knows: the wizard's first page: what shall be checked. Must not know: how it is checked."""

from __future__ import annotations

from collections.abc import Iterable

from PySide6.QtCore import QSize, Qt, Signal, Slot
from PySide6.QtWidgets import (
    QComboBox,
    QHBoxLayout,
    QLabel,
    QListWidgetItem,
    QVBoxLayout,
    QWidget,
)

from gpumon_gui.bridge.diagnosis_job import Environments
from gpumon_gui.core.files import printable
from gpumon_gui.core.messages import _, ngettext
from gpumon_gui.core.model import ProcessSample
from gpumon_gui.diagnosis.ask import Ask, Proving
from gpumon_gui.diagnosis.environments.base import Environment
from gpumon_gui.telemetry.derive.python_program import is_python, program_label
from gpumon_gui.ui.theme import XL, L, M, S, Text, Theme
from gpumon_gui.ui.widgets.button import FlatButton
from gpumon_gui.ui.widgets.fields import Combo
from gpumon_gui.ui.widgets.interpreter_menu import InterpreterMenu
from gpumon_gui.ui.widgets.quiet_list import QuietList
from gpumon_gui.ui.widgets.scroll_column import Content, ScrollColumn
from gpumon_gui.ui.widgets.section import Card, set_text, wrapped
from gpumon_gui.ui.widgets.switch import Switch
from gpumon_gui.ui.wizard.given_box import GivenBox
from gpumon_gui.ui.wizard.words import environment_line, environment_title

WIDEST = 860
_PATH = int(Qt.ItemDataRole.UserRole)


class _Choice(Combo):
    def __init__(self, theme: Theme, parent: QWidget) -> None:
        super().__init__(theme, parent)
        self.setMinimumContentsLength(24)
        self.setSizeAdjustPolicy(QComboBox.SizeAdjustPolicy.AdjustToMinimumContentsLengthWithIcon)


class EnvironmentList(QuietList):
    """Environments with tick boxes; Space ticks. As high as its rows: the page scrolls."""

    def __init__(self, theme: Theme, parent: QWidget) -> None:
        super().__init__(theme, parent)
        self.setWordWrap(False)
        self.setTextElideMode(Qt.TextElideMode.ElideMiddle)
        self.setVerticalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)

    def fit(self) -> None:
        """Take the height of the rows."""
        heights = [self.sizeHintForRow(row) for row in range(self.count())]
        heights = heights or [2 * self.fontMetrics().height()]
        self.setFixedHeight(sum(height + 4 for height in heights) + 6)

    def sizeHint(self) -> QSize:
        return QSize(240, self.height())


class ChoosePage(QWidget):
    """Environments, a process, files, the proof.

    Signals:
        changed(): the choice is another one.
        interpreter_added(str): a path was added by hand.
        search_wanted(): look for environments again.
    """

    changed = Signal()
    interpreter_added = Signal(str)
    search_wanted = Signal()

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._theme = theme
        self._environments: tuple[Environment, ...] = ()
        self._frameworks: dict[str, tuple[tuple[str, str], ...]] = {}
        self._versions: dict[str, str] = {}
        self._is_searching = True
        self._is_whole = False
        self._unticked: set[str] = set()  #: by their paths
        self._wanted: set[str] | None = None  #: only these are ticked when they are found
        self._processes: tuple[tuple[int, str], ...] = ()
        self._pid: int | None = None
        self._process_name = ""
        self._proving = Proving()
        self._is_filling = False
        self._headings: list[QLabel] = [self._heading() for _each in range(4)]

        self.all_button = FlatButton(theme, "", "", self)
        self.none_button = FlatButton(theme, "", "", self)
        self.add_button = FlatButton(theme, "", "", self)
        self.again_button = FlatButton(theme, "", "", self)
        self.environments = EnvironmentList(theme, self)
        self.environments.itemChanged.connect(self._on_ticked)
        self.environments.currentItemChanged.connect(self._on_row)
        self._found = wrapped(theme, muted=True, parent=self)
        self.all_button.clicked.connect(self._on_all)
        self.none_button.clicked.connect(self._on_none)
        self.interpreters = InterpreterMenu(self.interpreter_added, self)
        self.add_button.set_menu(self.interpreters)
        self.again_button.clicked.connect(self.search_wanted)
        self.process = _Choice(theme, self)
        self.process.currentIndexChanged.connect(self._on_process)
        self._process_help = wrapped(theme, Text.CAPTION, muted=True, parent=self)
        self.given = GivenBox(theme, self)
        self.given.changed.connect(self._on_given)
        self._runs_label = QLabel(self)
        self.runs_in = _Choice(theme, self)
        self._runs_label.setBuddy(self.runs_in)
        self.proof = Switch(theme, self)
        self.proof.setChecked(True)
        self.proof.toggled.connect(self._on_proof)
        self._proof_label = wrapped(theme, parent=self)
        self._proof_help = wrapped(theme, Text.CAPTION, muted=True, parent=self)
        self._lay_out()
        self.retranslate()

    # -- what the wizard calls

    @property
    def ask(self) -> Ask:
        """What is chosen."""
        ticked = self.ticked()
        given = self.given.given
        machine = bool(ticked or self._pid is not None) or given.is_empty
        index = self.runs_in.currentIndex()
        runs_in = self.runs_in.itemData(index) if index >= 0 and not given.is_empty else None
        proving = self._proving if self.proof.isChecked() and machine else None
        return Ask(machine, ticked, self._pid, self._process_name, given, runs_in, proving)

    @property
    def is_whole(self) -> bool:
        """Whether the search for environments has come to its end."""
        return self._is_whole

    def ticked(self) -> tuple[Environment, ...]:
        """The chosen environments."""
        chosen = {
            self.environments.item(row).data(_PATH)
            for row in range(self.environments.count())
            if self.environments.item(row).checkState() is Qt.CheckState.Checked
        }
        return tuple(environment for environment in self._environments if environment.path in chosen)

    def left_out(self) -> tuple[str, ...]:
        """Paths of those that are not chosen, also where they were not found this time."""
        return tuple(sorted(self._unticked))

    def set_proving(self, is_on: bool, proving: Proving) -> None:
        """The limits, and whether it is on at first."""
        self._proving = proving
        self.proof.setChecked(is_on)
        self._tell_proof()

    def begin(self, pid: int | None, name: str, left_out: Iterable[str] = ()) -> None:
        """A new choice: everything but ``left_out``, or the environment of one process (shown by ``name``) alone."""
        self._unticked, self._wanted = set(left_out), None if pid is None else set()
        self._pid, self._process_name = pid, name
        self.given.clear()
        self.show_searching()
        self._fill()
        self._fill_processes()

    def show_searching(self) -> None:
        """Environments are being looked for."""
        self._is_searching, self._is_whole = True, False
        self._tell_found()

    def show_environments(self, environments: Environments) -> None:
        """What was found."""
        self._is_searching = not environments.is_whole and not environments.found
        self._is_whole = environments.is_whole
        self._environments = environments.found
        self._frameworks = dict(environments.frameworks)
        self._versions |= dict(environments.versions)
        self._fill()

    def show_processes(self, processes: Iterable[ProcessSample]) -> None:
        """The programs that run now; of interest are those of Python."""
        found = tuple((one.pid, program_label(one)) for one in processes if is_python(one))
        if found != self._processes and not self.process.view().isVisible():
            self._processes = found
            self._fill_processes()

    def set_elsewhere(self) -> None:
        """The window shows another machine or another time: its processes are not here."""
        for widget in (self._headings[1], self._running):
            widget.hide()

    @Slot()
    def retranslate(self) -> None:
        """Write every text again."""
        titles = (_("Python environments"), _("A running program"), _("Files and output"), _("Proof"))
        for label, title in zip(self._headings, titles, strict=True):
            label.setText(title)
        self.all_button.set_text(_("All"))
        self.none_button.set_text(_("None"))
        self.add_button.set_text(_("Add interpreter…"))
        self.interpreters.retranslate()
        self.again_button.set_text(_("Look again"))
        self.environments.setAccessibleName(_("Python environments to check"))
        self.process.setAccessibleName(_("Running program to check"))
        set_text(
            self._process_help,
            _("Its environment is checked, with the environment variables that it was started with."),
        )
        self._runs_label.setText(_("The program runs in:"))
        set_text(self._proof_label, _("Let each framework compute for some seconds, and watch from outside"))
        self.proof.setAccessibleName(self._proof_label.text())
        self.given.retranslate()
        self._fill()
        self._fill_processes()
        self._tell_proof()

    # -- inside

    def _heading(self) -> QLabel:
        label = QLabel(self)
        label.setFont(self._theme.font(Text.SUBTITLE))
        return label

    def _lay_out(self) -> None:
        content = self._content = Content(WIDEST, self)
        column = content.column
        column.setContentsMargins(L, S, L, XL)
        column.setSpacing(S)
        buttons = QHBoxLayout()
        buttons.setSpacing(0)
        buttons.addWidget(self._headings[0], 1)
        for button in (self.all_button, self.none_button, self.add_button, self.again_button):
            buttons.addWidget(button)
        found = Card(self._theme, content)
        box = QVBoxLayout(found)
        box.setContentsMargins(S, S, S, S)
        box.addWidget(self._found)
        box.addWidget(self.environments)
        running = Card(self._theme, content)
        box = QVBoxLayout(running)
        box.setContentsMargins(L, M, L, M)
        box.setSpacing(S)
        box.addWidget(self.process)
        box.addWidget(self._process_help)
        self._running = running
        self._runs = QWidget(content)
        row = QHBoxLayout(self._runs)
        row.setContentsMargins(0, 0, 0, 0)
        row.addWidget(self._runs_label)
        row.addWidget(self.runs_in, 1)
        proof = Card(self._theme, content)
        texts = QVBoxLayout()
        texts.setSpacing(2)
        texts.addWidget(self._proof_label)
        texts.addWidget(self._proof_help)
        line = QHBoxLayout(proof)
        line.setContentsMargins(L, M, L, M)
        line.setSpacing(L)
        line.addLayout(texts, 1)
        line.addWidget(self.proof)
        column.addLayout(buttons)
        column.addWidget(found)
        column.addSpacing(M)
        column.addWidget(self._headings[1])
        column.addWidget(running)
        column.addSpacing(M)
        column.addWidget(self._headings[2])
        column.addWidget(self.given)
        column.addWidget(self._runs)
        column.addSpacing(M)
        column.addWidget(self._headings[3])
        column.addWidget(proof)
        column.addStretch(1)
        self.area = ScrollColumn(self._theme, self)
        self.area.setWidget(content)
        outer = QVBoxLayout(self)
        outer.setContentsMargins(0, 0, 0, 0)
        outer.addWidget(self.area)

    def _fill(self) -> None:
        self._is_filling = True
        row = max(0, self.environments.currentRow())
        self.environments.clear()
        for environment in self._environments:
            version = self._versions.get(environment.path, "")
            line = environment_line(environment, version, is_silent=self._is_whole and not version)
            title = environment_title(environment, self._frameworks.get(environment.path, ()))
            item = QListWidgetItem(f"{title}\n{line}")
            item.setData(_PATH, environment.path)
            item.setToolTip(printable(environment.path) if "<" not in environment.path else "")
            item.setFlags(item.flags() | Qt.ItemFlag.ItemIsUserCheckable)
            on = environment.path not in self._unticked
            if self._wanted is not None:
                on = environment.path in self._wanted
            item.setCheckState(Qt.CheckState.Checked if on else Qt.CheckState.Unchecked)
            self.environments.addItem(item)
        if self.environments.count():
            self.environments.setCurrentRow(min(row, self.environments.count() - 1))
        self.environments.fit()
        self._is_filling = False
        self._tell_found()
        self._fill_runs_in()
        self.changed.emit()

    def _tell_found(self) -> None:
        count = len(self._environments)
        if self._is_searching and not count:
            words = _("Looking for Python environments…")
        elif not count:
            words = _("No Python was found. Add the interpreter that your program runs in.")
        else:
            words = ngettext("{count} environment found", "{count} environments found", count).format(count=count)
            words = _("{found}, {ticked} ticked").format(found=words, ticked=len(self.ticked()))
        set_text(self._found, words)
        self.environments.setVisible(bool(count))

    def _fill_processes(self) -> None:
        self._is_filling = True
        self.process.clear()
        self.process.addItem(_("None"), None)
        pids = [pid for pid, _label in self._processes]
        for pid, label in self._processes:
            self.process.addItem(label, pid)
        if self._pid is not None and self._pid not in pids:
            self.process.addItem(self._process_name or f"PID {self._pid}", self._pid)
        self.process.setCurrentIndex(max(0, self.process.findData(self._pid)))
        self._is_filling = False
        self.changed.emit()

    def _fill_runs_in(self) -> None:
        before = self.runs_in.currentData()
        ticked = self.ticked()
        self.runs_in.clear()
        self.runs_in.addItem(_("I do not know"), None)
        for environment in ticked:
            self.runs_in.addItem(printable(environment.name), environment.path)
        index = self.runs_in.findData(before)
        self.runs_in.setCurrentIndex(index if index > 0 else 1 if len(ticked) == 1 else 0)
        self._runs.setVisible(bool(ticked) and not self.given.is_empty and self._pid is None)

    def _tell_proof(self) -> None:
        text = _(
            "It takes about {seconds} s for each GPU and at most {share} % of its free memory. Clocks, power limits "
            "and other programs are left alone. The limits are in the settings."
        )
        share = round(self._proving.memory_share * 100)
        set_text(self._proof_help, text.format(seconds=f"{self._proving.seconds:g}", share=share))

    @Slot(QListWidgetItem)
    def _on_ticked(self, _item: QListWidgetItem) -> None:
        if self._is_filling:
            return
        ticked = {environment.path for environment in self.ticked()}
        if self._wanted is not None:
            self._wanted = ticked
        else:
            self._unticked |= {environment.path for environment in self._environments}
            self._unticked -= ticked
        self._tell_found()
        self._fill_runs_in()
        self.changed.emit()

    @Slot(QListWidgetItem)
    def _on_row(self, item: QListWidgetItem | None) -> None:
        """The list is as high as it needs: the page follows the keys."""
        if item is not None and self.environments.hasFocus() and not self._is_filling:
            row = self.environments.visualItemRect(item)
            place = self.environments.viewport().mapTo(self._content, row.center())
            self.area.ensureVisible(place.x(), place.y(), 0, row.height())

    def _tick(self, on: bool) -> None:
        self._wanted = None
        self._unticked = set() if on else {environment.path for environment in self._environments}
        self._fill()

    @Slot()
    def _on_all(self) -> None:
        self._tick(True)

    @Slot()
    def _on_none(self) -> None:
        self._tick(False)

    @Slot(int)
    def _on_process(self, index: int) -> None:
        if self._is_filling:
            return
        self._pid = self.process.itemData(index)
        self._process_name = self.process.itemText(index) if self._pid is not None else ""
        self._fill_runs_in()
        self.changed.emit()

    @Slot()
    def _on_given(self) -> None:
        self._fill_runs_in()
        self.changed.emit()

    @Slot(bool)
    def _on_proof(self, _on: bool) -> None:
        self.changed.emit()
