"""Knows: how questions about the history are answered in a thread of their own, the newest one first.
Must not know: widgets, how the file is laid out.

The file is opened for each question: nobody has to wait for a reader when it is moved aside or deleted.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from enum import StrEnum
from pathlib import Path

from PySide6.QtCore import Signal, Slot
from PySide6.QtGui import QImage

from gpumon_gui.bridge.mailbox import Mailbox
from gpumon_gui.bridge.picture import encoded
from gpumon_gui.bridge.worker import Worker, fault_text
from gpumon_gui.core.clock import Clock
from gpumon_gui.core.errors import GpumonError, OutputFailed, UnreadableInput
from gpumon_gui.core.messages import _
from gpumon_gui.core.whole_file import write_whole
from gpumon_gui.history import export
from gpumon_gui.history.marker import Marker
from gpumon_gui.history.reading import Contents, HistoryReader, Reading, Span, StoredDevice

#: Work for so long, then let the GUI thread have the interpreter for as long: it is drawing what came before.
_STRETCH_S = 0.002
_BREATH_S = 0.002


@dataclass(frozen=True, slots=True)
class Question:
    """What is to be shown: all metrics of ``device`` (None: only what there is) over ``span`` on so many columns, and
    of another device or span to compare with. A newer question replaces one that waits or is being answered."""

    number: int
    device: StoredDevice | None = None
    span: Span | None = None
    columns: int = 1000
    other: tuple[StoredDevice, Span] | None = None


@dataclass(frozen=True, slots=True)
class Answer:
    """``fault`` is one translated line when the file cannot be read; ``is_damage``: and never will be."""

    question: Question
    contents: Contents = field(default_factory=Contents)
    reading: Reading | None = None
    other: Reading | None = None
    markers: tuple[Marker, ...] = ()
    fault: str = ""
    is_damage: bool = False


class ExportForm(StrEnum):
    """What kind of file."""

    CSV = "csv"
    JSON = "json"
    PNG = "png"


@dataclass(frozen=True, slots=True)
class ExportOrder:
    """What to write where; ``image`` only for a picture, which the GUI thread has drawn."""

    form: ExportForm
    path: Path
    device: StoredDevice | None = None
    span: Span | None = None
    columns: int = 1000
    image: QImage | None = None


@dataclass(frozen=True, slots=True)
class Exported:
    """How an export went: ``fault`` is empty or one translated line."""

    path: Path
    fault: str = ""


class Reader(Worker):
    """Owns no file between two questions. ``newest`` is set by the GUI thread: older questions are given up.

    Signals:
        answered(object): an :class:`Answer`.
        exported(object): an :class:`Exported`.
    """

    answered = Signal(object)
    exported = Signal(object)

    def __init__(self, path: Path, clock: Clock) -> None:
        super().__init__()
        self.questions: Mailbox[Question] = Mailbox()
        self.newest = 0
        self._path = path
        self._clock = clock
        self._breath_due_s = 0.0

    @Slot()
    def look(self) -> None:
        """Answer the newest question."""
        question = self.questions.take()
        if question is None:
            return
        try:
            answer = self._answer(question)
        except Exception as error:  # noqa: BLE001 - a fault of ours: whoever waits is told
            self.tell_fault(error)
            answer = Answer(question, fault=fault_text(error))
        if answer is not None and not self.stop_event.is_set():
            self.answered.emit(answer)

    @Slot(object)
    def export(self, order: ExportOrder) -> None:
        """Write a file."""
        try:
            write_whole(order.path, self._content(order))
        except export.Ended:
            return
        except GpumonError as error:
            self.exported.emit(Exported(order.path, str(error)))
        except Exception as error:  # noqa: BLE001 - the same
            self.tell_fault(error)
            self.exported.emit(Exported(order.path, fault_text(error)))
        else:
            self.exported.emit(Exported(order.path))

    def _answer(self, question: Question) -> Answer | None:
        def is_old() -> bool:
            return question.number != self.newest or self.stop_event.is_set()

        if not self._path.exists():
            return Answer(question)
        try:
            reader = HistoryReader(self._path, self._breathe)
            try:
                contents = reader.contents()
                if question.device is None or question.span is None:
                    return Answer(question, contents)
                span = question.span
                found = reader.read(question.device.number, question.device.metrics, span, question.columns, is_old)
                other = None
                if question.other is not None and found is not None:
                    device, before = question.other
                    other = reader.read(device.number, device.metrics, before, question.columns, is_old)
                if found is None or (question.other is not None and other is None):
                    return None
                return Answer(question, contents, found, other, reader.markers(span))
            finally:
                reader.close()
        except UnreadableInput as error:
            return Answer(question, fault=str(error), is_damage=error.is_damage)

    def _content(self, order: ExportOrder) -> bytes:
        if order.form is ExportForm.PNG:
            if order.image is None:
                raise OutputFailed(_("There is nothing to export."))
            return encoded(order.image)
        if order.device is None or order.span is None:
            raise OutputFailed(_("There is nothing to export."))
        reader = HistoryReader(self._path, self._go_on)
        try:
            content = export.table(reader, order.device, order.span, order.columns)
        finally:
            reader.close()
        write: Callable[[export.Table, Callable[[], None]], bytes]
        write = export.as_csv if order.form is ExportForm.CSV else export.as_json
        return write(content, self._go_on)

    def _go_on(self) -> None:
        if self.stop_event.is_set():
            raise export.Ended
        self._breathe()

    def _breathe(self) -> None:
        now_s = self._clock.now().monotonic_s
        if now_s >= self._breath_due_s:
            self.stop_event.wait(_BREATH_S)
            self._breath_due_s = now_s + _BREATH_S + _STRETCH_S
