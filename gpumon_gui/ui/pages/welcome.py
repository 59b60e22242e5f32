"""Knows: the page of the first start: what is read, what never leaves the machine, where to begin.
Must not know: when it is shown."""

from __future__ import annotations

from PySide6.QtCore import Qt, Signal, Slot
from PySide6.QtWidgets import QHBoxLayout, QLabel, QVBoxLayout, QWidget

from gpumon_gui.core.messages import N_, _
from gpumon_gui.ui.theme import XL, L, M, S, Text, Theme
from gpumon_gui.ui.widgets.accent_button import AccentButton
from gpumon_gui.ui.widgets.button import FlatButton
from gpumon_gui.ui.widgets.scroll_column import Content, ScrollColumn
from gpumon_gui.ui.widgets.section import Card, Mark, set_text, wrapped

_WIDEST = 720
_PARTS: tuple[tuple[str, str, str], ...] = (
    (
        "info",
        N_("What is read"),
        N_(
            "The counters of the graphics driver and of the system, once a second, and which programs use the GPU. "
            "Nothing is changed; a sleeping GPU is not woken."
        ),
    ),
    (
        "good",
        N_("What never leaves this computer"),
        N_(
            "All of it. GPUMon sends nothing and has no account. A history of figures stays in your own folder. "
            "If you save a report, names, addresses and folders of yours are replaced in it, and you see it first."
        ),
    ),
    (
        "info",
        N_("Does your code compute on the GPU?"),
        N_(
            "Diagnostics look at your Python environments, let PyTorch or TensorFlow compute for some seconds while "
            "GPUMon watches, and say what is wrong and what to do. They start only when you say so."
        ),
    ),
)


class Welcome(QWidget):
    """Signals:
    run_wanted(): start the diagnosis.
    done(): go on to the program.
    """

    run_wanted = Signal()
    done = Signal()

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._title = wrapped(theme, Text.TITLE, parent=self)
        self._rows: list[tuple[QLabel, QLabel]] = []
        content = Content(_WIDEST, self)
        column = content.column
        column.setContentsMargins(L, L, L, XL)
        column.setSpacing(M)
        column.addWidget(self._title)
        for kind, _title, _words in _PARTS:
            column.addWidget(self._card(theme, kind, content))
        self.run_button = AccentButton(theme, "diagnostics", "", content, large=True)
        self.done_button = FlatButton(theme, "", "", content, framed=True)
        self.run_button.clicked.connect(self.run_wanted)
        self.done_button.clicked.connect(self.done)
        buttons = QHBoxLayout()
        buttons.setSpacing(M)
        buttons.addWidget(self.run_button)
        buttons.addWidget(self.done_button)
        buttons.addStretch(1)
        column.addSpacing(S)
        column.addLayout(buttons)
        column.addStretch(1)
        area = ScrollColumn(theme, self)
        area.setWidget(content)
        outer = QVBoxLayout(self)
        outer.setContentsMargins(0, 0, 0, 0)
        outer.addWidget(area)
        self.retranslate()

    @Slot()
    def retranslate(self) -> None:
        """Write every text again."""
        set_text(self._title, _("Welcome to GPUMon"))
        for (title, words), (_kind, title_text, words_text) in zip(self._rows, _PARTS, strict=True):
            set_text(title, _(title_text))
            set_text(words, _(words_text))
        self.run_button.set_text(_("Run diagnostics"))
        self.done_button.set_text(_("Go to the monitor"))

    def _card(self, theme: Theme, kind: str, parent: QWidget) -> Card:
        card = Card(theme, parent)
        mark = Mark(theme, card)
        mark.set_kind(kind)
        title = wrapped(theme, Text.STRONG, parent=card)
        words = wrapped(theme, parent=card)
        self._rows.append((title, words))
        texts = QVBoxLayout()
        texts.setSpacing(2)
        texts.addWidget(title)
        texts.addWidget(words)
        row = QHBoxLayout(card)
        row.setContentsMargins(L, M, L, M)
        row.setSpacing(M)
        row.addWidget(mark, 0, Qt.AlignmentFlag.AlignTop)
        row.addLayout(texts, 1)
        return card
