"""Knows: the wizard's second page: each check on its own line while it runs. Must not know: what is checked."""

from __future__ import annotations

from PySide6.QtCore import QElapsedTimer, QRectF, QSize, Qt, QTimer, Slot
from PySide6.QtGui import QIcon, QPainter, QPixmap
from PySide6.QtWidgets import QFrame, QHeaderView, QTreeWidget, QTreeWidgetItem, QVBoxLayout, QWidget

from gpumon_gui.core.messages import _
from gpumon_gui.diagnosis.ask import Ask
from gpumon_gui.diagnosis.checking import Step
from gpumon_gui.diagnosis.collect import Progress, State
from gpumon_gui.ui.theme import L, S, Text, Theme
from gpumon_gui.ui.widgets.fields import FlatHeader, Framed, SlimBar
from gpumon_gui.ui.widgets.scroll_bar import use_thin_bars
from gpumon_gui.ui.widgets.section import Mark, paint_mark, set_text, wrapped
from gpumon_gui.ui.wizard.words import STATE, step_subject, step_title

_TICK_MS = 200
_MARKS = {
    State.DONE: "good",
    State.FAILED: "attention",
    State.TIMED_OUT: "attention",
    State.CANCELLED: "none",
}
_CHECK, _SUBJECT, _STATE, _TIME = range(4)


class RunningPage(QWidget):
    """Lines, a bar, and how long it has taken. Nothing here can be changed but by the wizard's Cancel."""

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._theme = theme
        self._lines: dict[tuple[str, str], QTreeWidgetItem] = {}
        self._progress: dict[tuple[str, str], Progress] = {}
        self._begun: dict[tuple[str, str], float] = {}
        self._names: dict[str, str] = {}
        self._clock = QElapsedTimer()
        self._is_cancelling = False
        self._icons: dict[str, QIcon] = {}
        self._status = wrapped(theme, Text.SUBTITLE, parent=self)
        self._hint = wrapped(theme, muted=True, parent=self)
        self.bar = SlimBar(theme, self)
        self.bar.setRange(0, 1000)
        self.tree = QTreeWidget(self)
        self.tree.setRootIsDecorated(False)
        self.tree.setColumnCount(4)
        self.tree.setUniformRowHeights(True)
        self.tree.setIconSize(QSize(Mark.SIZE, Mark.SIZE))
        self.tree.setTextElideMode(Qt.TextElideMode.ElideMiddle)
        use_thin_bars(self.tree, theme)
        self.tree.setFrameShape(QFrame.Shape.NoFrame)
        header = FlatHeader(theme, self.tree)
        header.align(_TIME)
        self.tree.setHeader(header)
        header.setStretchLastSection(False)
        header.setSectionResizeMode(_CHECK, QHeaderView.ResizeMode.Interactive)
        header.setSectionResizeMode(_SUBJECT, QHeaderView.ResizeMode.Stretch)
        header.setSectionResizeMode(_STATE, QHeaderView.ResizeMode.Interactive)
        header.setSectionResizeMode(_TIME, QHeaderView.ResizeMode.Interactive)
        self._timer = QTimer(self)
        self._timer.setInterval(_TICK_MS)
        self._timer.timeout.connect(self._on_tick)
        column = QVBoxLayout(self)
        column.setContentsMargins(L, S, L, S)
        column.setSpacing(S)
        column.addWidget(self._status)
        column.addWidget(self.bar)
        column.addWidget(self._hint)
        column.addWidget(Framed(theme, self.tree, self), 1)
        theme.changed.connect(self._recolour)
        self.retranslate()

    @property
    def status(self) -> str:
        """The sentence above the bar."""
        return self._status.text()

    def begin(self, ask: Ask) -> None:
        """A check begins."""
        self._names = {environment.path: environment.name for environment in ask.environments}
        self._lines.clear()
        self._progress.clear()
        self._begun.clear()
        self.tree.clear()
        self.bar.setValue(0)
        self._is_cancelling = False
        self._clock.start()
        self._timer.start()
        metrics = self.fontMetrics()
        self.tree.setColumnWidth(_CHECK, metrics.averageCharWidth() * 34)
        self.tree.setColumnWidth(_STATE, metrics.averageCharWidth() * 22)
        self.tree.setColumnWidth(_TIME, metrics.averageCharWidth() * 10)
        self._tell()

    def show_step(self, step: Step) -> None:
        """A line has changed."""
        progress = step.progress
        key = (progress.id, progress.subject)
        item = self._lines.get(key)
        if item is None:
            at_end = self.tree.verticalScrollBar().value() == self.tree.verticalScrollBar().maximum()
            item = self._lines[key] = QTreeWidgetItem(self.tree)
            item.setTextAlignment(_TIME, Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter)
            self._begun[key] = self._clock.elapsed() / 1000
            if at_end:
                self.tree.scrollToItem(item)
        self._progress[key] = progress
        self._write(item, progress)
        self.bar.setValue(round(step.fraction * 1000))
        self._tell()

    def show_cancelling(self) -> None:
        """The person has had enough."""
        self._is_cancelling = True
        self._tell()

    def end(self) -> None:
        """Nothing runs any more."""
        self._timer.stop()

    def lines(self) -> list[tuple[str, str, str, str]]:
        """What stands in the list; for tests."""
        items = [self.tree.topLevelItem(row) for row in range(self.tree.topLevelItemCount())]
        return [(item.text(0), item.text(1), item.text(2), item.text(3)) for item in items if item is not None]

    @Slot()
    def retranslate(self) -> None:
        """Write every text again."""
        self.tree.setHeaderLabels([_("Check"), _("Of"), _("State"), _("Time")])
        self.tree.setAccessibleName(_("Checks"))
        self.bar.setAccessibleName(_("Progress"))
        for key, item in self._lines.items():
            self._write(item, self._progress[key])
        set_text(
            self._hint,
            _("Other pages can be looked at meanwhile. Nothing is changed on this machine, and nothing leaves it."),
        )
        self._tell()

    def _write(self, item: QTreeWidgetItem, progress: Progress) -> None:
        item.setText(_CHECK, step_title(progress))
        item.setText(_SUBJECT, step_subject(progress, self._names))
        item.setToolTip(_SUBJECT, progress.subject if "<" not in progress.subject else "")
        state = _(STATE[progress.state])
        item.setText(_STATE, state)
        item.setToolTip(_STATE, progress.detail if "<" not in progress.detail else "")
        if progress.state is State.RUNNING:
            item.setIcon(_CHECK, self._icon("info"))
        else:
            item.setIcon(_CHECK, self._icon(_MARKS[progress.state]))
            item.setText(_TIME, _("{seconds} s").format(seconds=f"{progress.seconds:.1f}"))

    def _tell(self) -> None:
        seconds = self._clock.elapsed() / 1000 if self._clock.isValid() else 0.0
        if self._is_cancelling:
            text = _("Cancelling…")
        else:
            text = _("Checking… {percent} %, {seconds} s so far").format(
                percent=self.bar.value() // 10, seconds=f"{seconds:.0f}"
            )
        set_text(self._status, text)
        self.bar.setAccessibleDescription(text)

    @Slot()
    def _on_tick(self) -> None:
        self._tell()
        if not self.isVisible():
            return
        now_s = self._clock.elapsed() / 1000
        for key, progress in self._progress.items():
            if progress.state is State.RUNNING:
                self._lines[key].setText(_TIME, _("{seconds} s").format(seconds=f"{now_s - self._begun[key]:.0f}"))

    @Slot()
    def _recolour(self) -> None:
        self._icons.clear()
        for key, item in self._lines.items():
            self._write(item, self._progress[key])

    def _icon(self, kind: str) -> QIcon:
        icon = self._icons.get(kind)
        if icon is None:
            ratio = self.devicePixelRatioF()
            pixmap = QPixmap(QSize(Mark.SIZE, Mark.SIZE) * ratio)
            pixmap.setDevicePixelRatio(ratio)
            pixmap.fill(Qt.GlobalColor.transparent)
            painter = QPainter(pixmap)
            paint_mark(painter, QRectF(0, 0, Mark.SIZE, Mark.SIZE), kind, self._theme)
            painter.end()
            icon = self._icons[kind] = QIcon(pixmap)
        return icon
