"""Knows: how a process is ended: the question before, the harder one after, what came of it. Must not know: how it is
chosen."""

from __future__ import annotations

from PySide6.QtCore import QObject, Qt, Slot
from PySide6.QtWidgets import QMessageBox, QWidget

from gpumon_gui.bridge.tasks import EndOutcome, EndRequest, EndResult, EndTasks
from gpumon_gui.core.messages import _
from gpumon_gui.ui.widgets.message_bar import MessageBar, Tone
from gpumon_gui.ui.widgets.questions import set_sign


class EndQuestion(QObject):
    """One question at a time, over a page. Lives in the GUI thread.

    Attributes:
        question: the open one, if any.
    """

    def __init__(self, message: MessageBar, page: QWidget) -> None:
        """``message`` says what came of it."""
        super().__init__(page)
        self._page = page
        self._message = message
        self._tasks = EndTasks(self)
        self._tasks.finished.connect(self._on_finished)
        self.question: QMessageBox | None = None

    def ask(self, request: EndRequest) -> None:
        """Ask whether a process shall be ended."""
        self._ask(
            request,
            _("End {name} (PID {pid})?").format(name=request.name, pid=request.pid),
            _("What the process has not saved is lost."),
            _("End task"),
        )

    def close(self) -> bool:
        """Stop the worker thread; False when it does not end in time."""
        return self._tasks.close()

    def _ask(self, request: EndRequest, question: str, detail: str, button: str) -> None:
        box = QMessageBox(self._page)
        box.setWindowTitle(_("End task"))
        box.setText(question)
        box.setInformativeText(detail)
        box.setTextFormat(Qt.TextFormat.PlainText)
        accept = box.addButton(button, QMessageBox.ButtonRole.AcceptRole)
        box.setDefaultButton(box.addButton(QMessageBox.StandardButton.Cancel))
        set_sign(box)
        box.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        self.question = box

        def answered() -> None:
            self.question = None
            if box.clickedButton() is accept:
                self._tasks.end(request)

        box.finished.connect(answered)
        box.open()

    @Slot(object)
    def _on_finished(self, outcome: EndOutcome) -> None:
        named = {"name": outcome.request.name, "pid": outcome.request.pid}
        if outcome.result is EndResult.STILL_RUNNING and not outcome.request.force:
            force = EndRequest(outcome.request.pid, outcome.request.started_utc_s, outcome.request.name, force=True)
            self._ask(
                force,
                _("{name} (PID {pid}) was asked to end and still runs. Kill it?").format(**named),
                _("A killed process cannot save anything or clean up."),
                _("Kill"),
            )
            return
        tone = Tone.GOOD if outcome.result is EndResult.ENDED else Tone.ATTENTION
        texts = {
            EndResult.ENDED: _("{name} (PID {pid}) has ended."),
            EndResult.STILL_RUNNING: _(
                "{name} (PID {pid}) does not end: a call in the kernel or the driver does not return. It goes away "
                "when that call ends, at the latest with a restart of the computer."
            ),
            EndResult.GONE: _("{name} (PID {pid}) had already ended."),
            EndResult.RECYCLED: _(
                "{name} had already ended, and PID {pid} belongs to another process now. Nothing was done."
            ),
            EndResult.DENIED: _(
                "Permission denied: {name} (PID {pid}) belongs to another account. Start GPUMon with administrator "
                "rights to end it."
            ),
            EndResult.FAILED: _("{name} (PID {pid}) could not be ended ({detail})."),
        }
        self._message.say(texts[outcome.result].format(**named, detail=outcome.detail), tone)
