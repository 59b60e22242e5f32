"""Knows: what stands in place of charts when there is no device. Must not know: the reasons (``core.reasons``)."""

from __future__ import annotations

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QHBoxLayout, QLabel, QVBoxLayout, QWidget

from gpumon_gui.core.messages import _
from gpumon_gui.core.model import Sample, SourceState
from gpumon_gui.core.reasons import health_text
from gpumon_gui.telemetry.provenance import source_name
from gpumon_gui.ui.theme import XL, L, M, S, Text, Theme
from gpumon_gui.ui.widgets.accent_button import AccentButton
from gpumon_gui.ui.widgets.section import Card, Mark, set_text, wrapped


class EmptyState(QWidget):
    """A title, a sentence, and what each source says with the next step.

    Signals:
        diagnose_wanted(): the installation shall be diagnosed.
    """

    diagnose_wanted = Signal()

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._theme = theme
        self._title = wrapped(theme, Text.TITLE, parent=self)
        self._text = wrapped(theme, muted=True, parent=self)
        self._card = Card(theme, self)
        self._rows = QVBoxLayout(self._card)
        self._rows.setContentsMargins(L, L, L, L)
        self._rows.setSpacing(M)
        self._shown: tuple[tuple[str, str, str], ...] | None = None
        self.run_button = AccentButton(theme, "diagnostics", parent=self)
        self.run_button.clicked.connect(self.diagnose_wanted)
        self.run_button.hide()
        inner = QWidget(self)
        inner.setMaximumWidth(640)
        column = QVBoxLayout(inner)
        column.setSpacing(M)
        column.addStretch(2)
        column.addWidget(self._title)
        column.addWidget(self._text)
        column.addSpacing(S)
        column.addWidget(self._card)
        column.addWidget(self.run_button, 0, Qt.AlignmentFlag.AlignLeft)
        column.addStretch(3)
        box = QHBoxLayout(self)
        box.setContentsMargins(XL, XL, XL, XL)
        box.addStretch(1)
        box.addWidget(inner, 20)
        box.addStretch(1)

    def explain(self, sample: Sample | None, status_text: str) -> None:
        """Say why there is nothing to see."""
        self.run_button.set_text(_("Run diagnostics"))
        self.run_button.setVisible(sample is not None)
        if sample is None:
            set_text(self._title, _("Waiting for the first reading"))
            set_text(self._text, status_text or _("The sampler is starting."))
            self._show_rows(())
            return
        set_text(self._title, _("No GPU to show"))
        set_text(
            self._text,
            _("GPUMon asked every source on this machine. What each of them answered, and what to do next:"),
        )
        self._show_rows(
            tuple(
                (_mark(health.state), source_name(health.name), health_text(health))
                for health in sample.health
                if health_text(health)
            )
        )

    def text(self) -> str:
        """Everything it says; for tests."""
        rows = [f"{name}: {words}" for _mark_kind, name, words in self._shown or ()]
        return "\n".join([self._title.text(), self._text.text(), *rows])

    def _show_rows(self, rows: tuple[tuple[str, str, str], ...]) -> None:
        if rows == self._shown:
            return
        self._shown = rows
        while (item := self._rows.takeAt(0)) is not None:
            widget = item.widget()
            if widget is not None:
                widget.deleteLater()
        for kind, name, words in rows:
            self._rows.addWidget(_SourceRow(self._theme, kind, name, words, self._card))
        self._card.setVisible(bool(rows))


class _SourceRow(QWidget):
    def __init__(self, theme: Theme, kind: str, name: str, words: str, parent: QWidget) -> None:
        super().__init__(parent)
        mark = Mark(theme, self)
        mark.set_kind(kind)
        title = QLabel(name, self)
        title.setFont(theme.font(Text.STRONG))
        title.setMinimumWidth(84)
        sentence = wrapped(theme, parent=self)
        sentence.setText(words)
        row = QHBoxLayout(self)
        row.setContentsMargins(0, 0, 0, 0)
        row.setSpacing(S)
        top = Qt.AlignmentFlag.AlignTop
        row.addWidget(mark, 0, top)
        row.addWidget(title, 0, top)
        row.addWidget(sentence, 1)


def _mark(state: SourceState) -> str:
    if state is SourceState.ABSENT:
        return "none"
    return "info" if state in (SourceState.OK, SourceState.RESTING) else "bad"
