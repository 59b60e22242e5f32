"""Knows: how one process is described at length. Must not know: the table."""

from __future__ import annotations

from collections.abc import Mapping

from PySide6.QtCore import Qt, Signal, Slot
from PySide6.QtGui import QColor, QPainter, QPaintEvent, QPalette
from PySide6.QtWidgets import QFormLayout, QHBoxLayout, QLabel, QScrollArea, QSizePolicy, QVBoxLayout, QWidget

from gpumon_gui.core.files import printable
from gpumon_gui.core.messages import N_, _
from gpumon_gui.core.model import DeviceKey, ProcessSample
from gpumon_gui.core.values import NOT_READ, number
from gpumon_gui.telemetry.derive.engine_names import engine_name
from gpumon_gui.ui import formatters, moments
from gpumon_gui.ui.models.process_model import Col, Row, command_line
from gpumon_gui.ui.theme import L, S, Text, Theme
from gpumon_gui.ui.widgets.button import FlatButton
from gpumon_gui.ui.widgets.scroll_bar import use_thin_bars

_FIELDS: tuple[tuple[str, str], ...] = (
    ("state", N_("State")),
    ("devices", N_("Devices")),
    ("command", N_("Command line")),
    ("parents", N_("Started by")),
    ("framework", N_("Framework")),
    ("environment", N_("Environment")),
    ("executable", N_("Executable")),
    ("started", N_("Started")),
)


class ProcessDetails(QWidget):
    """The selected process. Stays as it was, and says so, when the process ends.

    Signals:
        closed(): the user wants the pane away.
    """

    closed = Signal()

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._theme = theme
        self._row: Row | None = None
        self._names: Mapping[DeviceKey, str] = {}
        self._is_listed = False
        self._title = QLabel(self)
        self._title.setFont(theme.font(Text.SUBTITLE))
        self._title.setTextFormat(Qt.TextFormat.PlainText)
        self._close = FlatButton(theme, "close", "", self)
        self._close.clicked.connect(self.closed)
        head = QHBoxLayout()
        head.setSpacing(S)
        head.addWidget(self._title, 1)
        head.addWidget(self._close)

        body = QWidget(self)
        self._form = QFormLayout(body)
        self._form.setContentsMargins(0, 0, 0, 0)
        self._form.setHorizontalSpacing(L)
        self._form.setVerticalSpacing(S // 2)
        self._form.setLabelAlignment(Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignTop)
        self._form.setFieldGrowthPolicy(QFormLayout.FieldGrowthPolicy.AllNonFixedFieldsGrow)
        self._captions: dict[str, QLabel] = {}
        self._values: dict[str, QLabel] = {}
        for name, _label in _FIELDS:
            caption, value = QLabel(body), QLabel(body)
            caption.setAlignment(Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignTop)
            value.setTextFormat(Qt.TextFormat.PlainText)
            value.setWordWrap(True)
            value.setTextInteractionFlags(
                Qt.TextInteractionFlag.TextSelectableByMouse | Qt.TextInteractionFlag.TextSelectableByKeyboard
            )
            value.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Preferred)
            self._captions[name], self._values[name] = caption, value
            self._form.addRow(caption, value)
        scroll = QScrollArea(self)
        scroll.setWidget(body)
        scroll.setWidgetResizable(True)
        scroll.setFrameShape(QScrollArea.Shape.NoFrame)
        scroll.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        use_thin_bars(scroll, theme)
        scroll.viewport().setAutoFillBackground(False)
        body.setAutoFillBackground(False)

        layout = QVBoxLayout(self)
        layout.setContentsMargins(L, S, S, S)
        layout.setSpacing(S)
        layout.addLayout(head)
        layout.addWidget(scroll, 1)
        theme.changed.connect(self._recolour)
        self._recolour()
        self.retranslate()

    @property
    def row(self) -> Row | None:
        """The process on show."""
        return self._row

    def field(self, name: str) -> str:
        """What a field says; empty while it is not on show."""
        return self._values[name].text() if self._form.isRowVisible(self._values[name]) else ""

    @property
    def title(self) -> str:
        """The heading."""
        return self._title.text()

    def show_row(self, row: Row | None, names: Mapping[DeviceKey, str], *, listed: bool) -> None:
        """Show a process; ``names`` are the devices' short names, ``listed`` whether the newest sample has it."""
        self._row, self._names, self._is_listed = row, names, listed
        self._write()

    def retranslate(self) -> None:
        """Write the texts again."""
        self._close.setToolTip(_("Close the details"))
        self._close.setAccessibleName(_("Close the details"))
        for name, label in _FIELDS:
            self._captions[name].setText(_(label))
        self._write()

    def _write(self) -> None:
        if self._row is None:
            return
        process, cells = self._row.process, self._row.cells
        title = _("{name} (PID {pid})").format(name=printable(process.name), pid=process.pid)
        self._set(self._title, title)
        state, why = cells[Col.STATE].text, cells[Col.STATE].tip
        self._put("state", _("Has ended.") if not self._is_listed else f"{state}\n{why}" if why else state)
        self._put("devices", "\n".join(self._device_lines(process)))
        self._put("command", command_line(process))
        self._put("parents", " ‹ ".join(process.parents))
        self._put("framework", process.framework)
        self._put("environment", process.environment)
        self._put("executable", process.executable)
        started = process.started_utc_s
        self._put("started", "" if started is None else moments.moment(started))

    def _device_lines(self, process: ProcessSample) -> list[str]:
        lines = []
        for use in process.uses:
            gpu = use.values.get("process_gpu_utilization", NOT_READ)
            held = use.values.get("process_memory_bytes", NOT_READ)
            engine = f" ({engine_name(use.engine)})" if use.engine else ""
            known = []
            if number(gpu) is not None:
                known.append(formatters.value_text("process_gpu_utilization", gpu) + engine)
            if number(held) is not None:
                known.append(formatters.value_text("process_memory_bytes", held))
            device = self._names.get(use.device, str(use.device))
            lines.append(f"{device}: {', '.join(known) if known else formatters.DASH}")
        return lines or [_("None")]

    def _put(self, name: str, text: str) -> None:
        label = self._values[name]
        self._set(label, text)
        if self._form.isRowVisible(label) != bool(text):
            self._form.setRowVisible(label, bool(text))

    @staticmethod
    def _set(label: QLabel, text: str) -> None:
        if label.text() != text:
            label.setText(text)

    @Slot()
    def _recolour(self) -> None:
        for caption in self._captions.values():
            palette = caption.palette()
            palette.setColor(QPalette.ColorRole.WindowText, QColor(self._theme.colours.muted))
            caption.setPalette(palette)
        self.update()

    def paintEvent(self, event: QPaintEvent) -> None:
        painter = QPainter(self)
        painter.fillRect(self.rect(), QColor(self._theme.colours.surface))
        painter.setPen(QColor(self._theme.colours.border))
        painter.drawLine(0, 0, self.width(), 0)
        painter.end()
