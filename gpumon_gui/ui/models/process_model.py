"""Knows: the processes of a sample as a table that changes in place. Must not know: the view that shows it.

A row is one process, named by pid and start time. An update touches only cells whose text changed and never resets
the model, so selection, scroll position and an open menu survive. Lives in the GUI thread.
"""

from __future__ import annotations

import shlex
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import dataclass, replace
from enum import IntEnum
from typing import Any

from PySide6.QtCore import (
    QAbstractTableModel,
    QModelIndex,
    QObject,
    QPersistentModelIndex,
    QSortFilterProxyModel,
    Qt,
    Signal,
)

from gpumon_gui.bridge.worker import assert_gui_thread
from gpumon_gui.core.files import printable
from gpumon_gui.core.messages import N_, _
from gpumon_gui.core.model import DeviceKey, DeviceSample, ProcessSample, ProcessUse, Sample
from gpumon_gui.core.values import NOT_READ, Value, number
from gpumon_gui.telemetry.derive.adapters import adapters
from gpumon_gui.telemetry.derive.engine_names import engine_name
from gpumon_gui.telemetry.derive.process_state import (
    Judgement,
    ProcessId,
    ProcessState,
    StateTracker,
    busiest,
    process_id,
    state_help,
    state_text,
    total,
)
from gpumon_gui.ui import formatters, moments
from gpumon_gui.ui.tips import plain

#: From here on one block of cells is announced instead of each.
MANY_CHANGES = 40

AnyIndex = QModelIndex | QPersistentModelIndex

SORT_ROLE = int(Qt.ItemDataRole.UserRole)
PROCESS_ROLE = SORT_ROLE + 1
#: Share 0..1 for the tint behind a number; None: no tint.
HEAT_ROLE = SORT_ROLE + 2
#: Header only: what the whole machine uses of this column, as text.
TOTAL_ROLE = SORT_ROLE + 3
STATE_ROLE = SORT_ROLE + 4
#: What stands where there is no room for the text; None: as much of it as fits.
SHORT_ROLE = SORT_ROLE + 5


class Col(IntEnum):
    """Columns in their order."""

    NAME = 0
    PID = 1
    STATE = 2
    GPU = 3
    ENGINE = 4
    MEMORY = 5
    SHARED = 6
    CPU = 7
    RAM = 8
    FRAMEWORK = 9
    ENVIRONMENT = 10
    USER = 11
    COMMAND = 12
    READ = 13
    STARTED = 14


#: Columns that give way where there is no room for all, in this order; name, state and GPU never do.
GIVES_WAY = (Col.USER, Col.ENGINE, Col.RAM, Col.ENVIRONMENT, Col.FRAMEWORK, Col.PID, Col.MEMORY, Col.CPU)
_WIDTH = len(Col)
_LONGEST = 300  # characters of a cell: more are never seen, and cost the layout of their glyphs


@dataclass(frozen=True, slots=True)
class Column:
    """A column: its header, what it means, whether it holds numbers, whether it is on show at first, and a text as
    wide as its usual content. ``least``: a text that it must have room for where there is little; empty for the usual
    one."""

    header: str
    help: str
    sample: str
    numeric: bool = False
    shown: bool = True
    least: str = ""


COLUMNS: dict[Col, Column] = {
    Col.NAME: Column(N_("Name"), "", "m" * 9, least="m" * 6),
    Col.PID: Column(N_("PID"), N_("Process identifier"), "888888", numeric=True),
    Col.STATE: Column(N_("State"), N_("What the process does with the GPU, from the last few seconds"), "m" * 17),
    Col.GPU: Column(
        N_("GPU"),
        N_("Utilization by this process of the GPU that it uses most, never a sum over GPUs"),
        "100.0 %",
        numeric=True,
    ),
    Col.ENGINE: Column(
        N_("GPU engine"), N_("GPU and engine that the process uses most"), "GPU 0 - Video Decode", least="0 - Compute"
    ),
    Col.MEMORY: Column(N_("Dedicated memory"), N_("Device memory held on all GPUs"), "Dedicated mem", numeric=True),
    Col.SHARED: Column(
        N_("Shared memory"), N_("System memory used through the GPU"), "Shared memo", numeric=True, shown=False
    ),
    # Of the machine, one busy core of 64 would be 2 %: the sign of most programs that starve a GPU would be lost.
    Col.CPU: Column(
        N_("CPU cores"),
        N_("Processor cores that are busy; above the name: of the whole machine"),
        "888.88",
        numeric=True,
    ),
    Col.RAM: Column(N_("Memory"), N_("Resident system memory"), "888.8 GB", numeric=True),
    Col.FRAMEWORK: Column(N_("Framework"), N_("Recognized from the loaded libraries"), "TensorFlow"),
    Col.ENVIRONMENT: Column(N_("Environment"), N_("Python environment of the process"), "m" * 8, least="m" * 5),
    Col.USER: Column(N_("User"), "", "m" * 5, least="m" * 3),
    Col.COMMAND: Column(N_("Command line"), "", "m" * 24, shown=False),
    Col.READ: Column(
        N_("Disk read"), N_("Read from storage, caches included"), "888.8 MB/s", numeric=True, shown=False
    ),
    Col.STARTED: Column(N_("Started"), "", "Dec 31, 2026 12:59:59 PM", shown=False),
}


@dataclass(frozen=True, slots=True)
class Cell:
    """One cell as shown. ``key`` is what it sorts by; None (a missing value) sorts last in both directions. The tool
    tip of a figure (metric, value) is written when somebody asks for it. ``short`` stands where there is no room for
    the text."""

    text: str
    key: float | str | None
    tip: str = ""
    heat: float | None = None
    figure: tuple[str, Value] | None = None
    short: str | None = None

    def tool_tip(self) -> str:
        """What the tool tip says; may be empty."""
        if self.figure is None:
            return self.tip
        figure = formatters.value_text(*self.figure)
        tip = formatters.value_tip(*self.figure)
        return tip if figure == self.text else f"{figure}\n{tip}"


@dataclass(frozen=True, slots=True)
class Row:
    """One process as shown. ``haystack`` is what the search looks through."""

    process: ProcessSample
    state: ProcessState
    cells: tuple[Cell, ...]
    haystack: str


class ProcessModel(QAbstractTableModel):
    """The processes of the newest sample. Give it every sample, also while its page is hidden: the state in words
    comes from the last seconds.

    Signals:
        bare_found(object): the columns of words in which nothing has stood so far; a missing figure has a reason to
            tell.
    """

    bare_found = Signal(object)

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._rows: list[Row] = []
        self._totals: dict[Col, str] = {}
        self._tracker = StateTracker()
        self._sample: Sample | None = None
        self._judged: Mapping[ProcessId, Judgement] = {}
        self._device: DeviceKey | None = None
        self._bare = frozenset(column for column in Col if not COLUMNS[column].numeric)

    # -- input

    def track(self, sample: Sample) -> None:
        """Note a sample for the states without touching the table."""
        self._sample = sample
        self._judged = self._tracker.update(sample)

    def update(self, sample: Sample) -> None:
        """Show a sample."""
        assert_gui_thread()
        if sample is not self._sample:
            self.track(sample)
        self._show()

    def clear(self) -> None:
        """Forget everything (a seek, a new source)."""
        self._tracker.clear()
        self._sample, self._judged = None, {}
        self._show()

    def set_device(self, device: DeviceKey | None) -> None:
        """Show only what happens on one device; None: all of them."""
        if device != self._device:
            self._device = device
            self._show()

    def retranslate(self) -> None:
        """Write every text again, in the language now in use."""
        self._show()
        self.headerDataChanged.emit(Qt.Orientation.Horizontal, 0, len(Col) - 1)

    # -- questions

    @property
    def device(self) -> DeviceKey | None:
        """The device the table is restricted to."""
        return self._device

    def row(self, number_: int) -> Row:
        """A row by its position in this model."""
        return self._rows[number_]

    def find(self, wanted: ProcessId) -> Row | None:
        """The row of a process, or None when it is not listed (any more)."""
        return next((row for row in self._rows if process_id(row.process) == wanted), None)

    # -- QAbstractTableModel

    def rowCount(self, parent: AnyIndex = QModelIndex()) -> int:  # noqa: B008 - Qt's signature
        return 0 if parent.isValid() else len(self._rows)

    def columnCount(self, parent: AnyIndex = QModelIndex()) -> int:  # noqa: B008
        return 0 if parent.isValid() else _WIDTH

    def data(self, index: AnyIndex, role: int = Qt.ItemDataRole.DisplayRole) -> Any:
        if not index.isValid():
            return None
        row = self._rows[index.row()]
        cell = row.cells[index.column()]
        if role == Qt.ItemDataRole.DisplayRole:
            return cell.text
        if role == Qt.ItemDataRole.TextAlignmentRole:
            side = Qt.AlignmentFlag.AlignRight if COLUMNS[Col(index.column())].numeric else Qt.AlignmentFlag.AlignLeft
            return side | Qt.AlignmentFlag.AlignVCenter
        if role == Qt.ItemDataRole.ToolTipRole:
            return plain(cell.tool_tip()) or None
        if role == Qt.ItemDataRole.AccessibleTextRole:
            return f"{_(COLUMNS[Col(index.column())].header)}: {cell.text}"
        if role == HEAT_ROLE:
            return cell.heat
        if role == SORT_ROLE:
            return cell.key
        if role == PROCESS_ROLE:
            return row.process
        if role == STATE_ROLE:
            return row.state
        if role == SHORT_ROLE:
            return cell.short
        return None

    def headerData(self, section: int, orientation: Qt.Orientation, role: int = Qt.ItemDataRole.DisplayRole) -> Any:
        if orientation is not Qt.Orientation.Horizontal or not 0 <= section < len(Col):
            return None
        column = COLUMNS[Col(section)]
        if role == Qt.ItemDataRole.DisplayRole:
            return _(column.header)
        if role == Qt.ItemDataRole.ToolTipRole:
            header = _(column.header)  # it may be cut where there is little room
            return f"{header}\n{_(column.help)}" if column.help else header
        if role == TOTAL_ROLE:
            return self._totals.get(Col(section), "")
        return None

    # -- the change from one sample to the next

    def _show(self) -> None:
        sample = self._sample
        wanted: dict[ProcessId, Row] = {}
        if sample is not None:
            names = device_names(sample)
            for process in sample.processes:
                uses = tuple(use for use in process.uses if self._device is None or use.device == self._device)
                if uses or self._device is None:
                    found = process_id(process)
                    wanted[found] = _row(process, uses, self._judged[found], names)
        self._drop(wanted)
        changes: list[tuple[int, int, int]] = []
        for position, old in enumerate(self._rows):
            new = self._rows[position] = wanted.pop(process_id(old.process))
            changes += [(position, first, last) for first, last in _changed_runs(old.cells, new.cells)]
        self._announce(changes)
        if wanted:
            first = len(self._rows)
            self.beginInsertRows(QModelIndex(), first, first + len(wanted) - 1)
            self._rows.extend(wanted.values())
            self.endInsertRows()
        self._note_bare()
        self._show_totals()

    def _drop(self, wanted: Mapping[ProcessId, Row]) -> None:
        position = len(self._rows) - 1
        while position >= 0:
            last = position
            while position >= 0 and process_id(self._rows[position].process) not in wanted:
                position -= 1
            if position < last:
                self.beginRemoveRows(QModelIndex(), position + 1, last)
                del self._rows[position + 1 : last + 1]
                self.endRemoveRows()
            position -= 1

    def _note_bare(self) -> None:
        """A column that has had a value counts from then on: the others must not jump with each process."""
        if not self._rows:
            return
        bare = frozenset(column for column in self._bare if all(row.cells[column].key is None for row in self._rows))
        if bare != self._bare:
            self._bare = bare
            self.bare_found.emit(bare)

    def _announce(self, changes: list[tuple[int, int, int]]) -> None:
        """Tell the views which cells changed; a crowd of them as one block, so that sorting happens once."""
        if len(changes) > MANY_CHANGES:
            rows, firsts, lasts = zip(*changes, strict=True)
            self.dataChanged.emit(self.index(rows[0], min(firsts)), self.index(rows[-1], max(lasts)))
            return
        for row, first, last in changes:
            self.dataChanged.emit(self.index(row, first), self.index(row, last))

    def _show_totals(self) -> None:
        totals = _totals(self._sample, self._device)
        if totals == self._totals:
            return
        changed = [column for column in Col if totals.get(column) != self._totals.get(column)]
        self._totals = totals
        for column in changed:
            self.headerDataChanged.emit(Qt.Orientation.Horizontal, column, column)


class ProcessFilter(QSortFilterProxyModel):
    """Sorts by value (missing ones last in both directions, equal ones by pid) and searches."""

    def __init__(self, model: ProcessModel, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._model = model
        self._search: tuple[str, ...] = ()
        self.setSourceModel(model)
        self.setDynamicSortFilter(True)

    def set_search(self, text: str) -> None:
        """Show rows that hold every word of ``text``; empty shows all."""
        words = tuple(text.casefold().split())
        if words != self._search:
            self.beginFilterChange()
            self._search = words
            self.endFilterChange(QSortFilterProxyModel.Direction.Rows)

    def row_of(self, index: AnyIndex) -> Row:
        """The row behind an index of this proxy."""
        return self._model.row(self.mapToSource(index).row())

    def filterAcceptsRow(self, source_row: int, source_parent: AnyIndex) -> bool:
        if not self._search:
            return True
        haystack = self._model.row(source_row).haystack
        return all(word in haystack for word in self._search)

    def lessThan(self, source_left: AnyIndex, source_right: AnyIndex) -> bool:
        left, right = self._model.row(source_left.row()), self._model.row(source_right.row())
        a, b = left.cells[source_left.column()].key, right.cells[source_right.column()].key
        down = self.sortOrder() is Qt.SortOrder.DescendingOrder
        if a == b:
            return (left.process.pid > right.process.pid) if down else (left.process.pid < right.process.pid)
        if a is None or b is None:
            return (a is None) == down
        if isinstance(a, str) or isinstance(b, str):
            return str(a) < str(b)
        return a < b


def device_names(sample: Sample) -> dict[DeviceKey, str]:
    """Short names of the devices in the order of their physical location, as Task Manager numbers them."""
    names = {}
    for adapter in adapters(sample.inventory):
        if adapter.parent_number is not None:
            name = _("GPU {card} · MIG {number}").format(card=adapter.parent_number, number=adapter.number)
        else:
            name = (_("NPU {number}") if adapter.is_npu else _("GPU {number}")).format(number=adapter.number)
        names[adapter.info.key] = name
    return names


def command_line(process: ProcessSample) -> str:
    """The command line as one would type it."""
    return shlex.join(process.command) if sys.platform != "win32" else subprocess.list2cmdline(process.command)


def _row(
    process: ProcessSample,
    uses: tuple[ProcessUse, ...],
    judgement: Judgement,
    names: Mapping[DeviceKey, str],
) -> Row:
    best = busiest(uses)
    gpu = best.utilization
    engine = names.get(best.device, "") if best.device is not None else ""
    if best.engine:
        engine = f"{engine} - {engine_name(best.engine)}"
    command = command_line(process)
    started = process.started_utc_s
    cells = {
        Col.NAME: _word(process.name, process.executable),
        Col.PID: Cell(str(process.pid), float(process.pid)),
        Col.STATE: Cell(state_text(judgement), state_text(judgement), state_help(judgement)),
        Col.GPU: _figure("process_gpu_utilization", gpu) if uses else _nothing(_("This process uses no GPU.")),
        Col.ENGINE: _engine(engine) if uses else _nothing(_("This process uses no GPU.")),
        Col.MEMORY: _held(uses, "process_memory_bytes"),
        Col.SHARED: _held(uses, "process_shared_bytes"),
        Col.CPU: _cores(process.values.get("process_cpu", NOT_READ)),
        Col.RAM: _figure("process_rss_bytes", process.values.get("process_rss_bytes", NOT_READ)),
        Col.FRAMEWORK: _word(process.framework),
        Col.ENVIRONMENT: _word(process.environment, process.environment),
        Col.USER: _word(process.user, process.user),
        Col.COMMAND: _word(command, command),
        Col.READ: _figure("process_read_bytes_per_s", process.values.get("process_read_bytes_per_s", NOT_READ)),
        Col.STARTED: _nothing("") if started is None else Cell(moments.moment(started), started),
    }
    words = (process.name, str(process.pid), command, process.user, process.environment, process.framework)
    return Row(process, judgement.state, tuple(cells[column] for column in Col), "\n".join(words).casefold())


def _changed_runs(old: tuple[Cell, ...], new: tuple[Cell, ...]) -> list[tuple[int, int]]:
    """First and last column of each run of neighbouring cells that differ."""
    runs: list[tuple[int, int]] = []
    for column, (before, after) in enumerate(zip(old, new, strict=True)):
        if before != after:
            if runs and runs[-1][1] == column - 1:
                runs[-1] = (runs[-1][0], column)
            else:
                runs.append((column, column))
    return runs


def _word(text: str, tip: str = "", short: str | None = None) -> Cell:
    if not text:
        return Cell(formatters.DASH, None)
    return Cell(printable(text[:_LONGEST]), text.casefold(), tip, short=short)


def _engine(name: str) -> Cell:
    return _word(name, name, name.removeprefix("GPU "))


def _nothing(tip: str) -> Cell:
    return Cell(formatters.DASH, None, tip)


def _figure(metric: str, value: Value) -> Cell:
    found = number(value)
    if found is None:
        return Cell(formatters.DASH, None, figure=(metric, value))
    heat = min(found, 1.0) if metric in ("process_gpu_utilization", "process_cpu") else None
    return Cell(formatters.value_text(metric, value), found, heat=heat, figure=(metric, value))


def _cores(value: Value) -> Cell:
    found = number(value)
    shown = _figure("process_cpu", value)
    return shown if found is None else replace(shown, text=f"{found:.2f}")


def _held(uses: tuple[ProcessUse, ...], metric: str) -> Cell:
    return _figure(metric, total(uses, metric)) if uses else _nothing(_("This process uses no GPU."))


def _totals(sample: Sample | None, device: DeviceKey | None) -> dict[Col, str]:
    """What stands above the headers, as in Task Manager: the busiest GPU, and how full and busy the machine is."""
    if sample is None:
        return {}
    devices = [found for key, found in sample.devices.items() if device is None or key == device]
    loads = [load for one in devices if (load := _load(one)) is not None]
    totals = {Col.GPU: max(loads)} if loads else {}
    used, size = 0.0, 0.0
    for one in devices:
        info = sample.info(one.key)
        now = number(one.values.get("memory_used_bytes"))
        limit = number(info.static.get("memory_total_bytes")) if info is not None and info.parent is None else None
        if now is not None and limit:
            used, size = used + now, size + limit
    if size:
        totals[Col.MEMORY] = used / size
    ram, limit = (number(sample.host.values.get(name)) for name in ("ram_used_bytes", "ram_total_bytes"))
    if ram is not None and limit:
        totals[Col.RAM] = ram / limit
    texts = {column: formatters.percent(share) for column, share in totals.items()}
    if sample.host.cores:
        texts[Col.CPU] = f"{sum(sample.host.cores):.1f}"
    return texts


def _load(device: DeviceSample) -> float | None:
    """GPU-Util, else the busiest engine as the operating system sees it."""
    found = number(device.values.get("gpu_utilization"))
    return number(device.values.get("engine_utilization")) if found is None else found
