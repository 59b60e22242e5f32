"""Knows: a line of words above or below a page, calm and closable. Must not know: what happened."""

from __future__ import annotations

from collections.abc import Callable
from enum import StrEnum

from PySide6.QtCore import QRectF, Qt, Slot
from PySide6.QtGui import QColor, QPainter, QPaintEvent, QPalette
from PySide6.QtWidgets import QHBoxLayout, QSizePolicy, QWidget

from gpumon_gui.core.messages import _
from gpumon_gui.ui import icons
from gpumon_gui.ui.announce import announce
from gpumon_gui.ui.theme import RADIUS, L, M, S, Text, Theme
from gpumon_gui.ui.widgets.button import FlatButton
from gpumon_gui.ui.widgets.section import Sentence

ICON = 18


class Tone(StrEnum):
    """How it sounds, the worst last; colour and drawing both tell."""

    GOOD = "good"
    INFO = "info"
    ATTENTION = "attention"
    BAD = "bad"


_ICONS = {Tone.GOOD: "done", Tone.INFO: "info", Tone.ATTENTION: "warning", Tone.BAD: "end_task"}


class MessageBar(QWidget):
    """Hidden until it has something to say. Never takes the focus, never covers anything."""

    def __init__(self, theme: Theme, *, closable: bool = False, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._theme = theme
        self._tone = Tone.INFO
        self._stays: tuple[str, ...] = ()
        self._stays_tone = Tone.GOOD
        self._label = Sentence(self)
        self._label.setWordWrap(True)
        self._label.setTextFormat(Qt.TextFormat.PlainText)
        self._label.setFont(theme.font(Text.BODY))
        self._label.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
        layout = QHBoxLayout(self)
        layout.setContentsMargins(M + ICON + M, S, S if closable else L, 2 * S)  # S below stays free
        layout.addWidget(self._label, 1)
        self._undo: Callable[[], None] | None = None
        self.undo_button = FlatButton(theme, "", "", self, framed=True)
        self.undo_button.clicked.connect(self._on_undo)
        self.undo_button.hide()
        layout.addWidget(self.undo_button, 0, Qt.AlignmentFlag.AlignTop)
        self._close: FlatButton | None = None
        if closable:
            self._close = FlatButton(theme, "close", "", self)
            self._close.clicked.connect(self.hide)
            layout.addWidget(self._close, 0, Qt.AlignmentFlag.AlignTop)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Maximum)
        theme.changed.connect(self._recolour)
        self._recolour()
        self.retranslate()
        self.hide()

    @property
    def text(self) -> str:
        """What it says; empty while hidden."""
        return self._label.text() if not self.isHidden() else ""

    def say(
        self, text: str, tone: Tone = Tone.INFO, *, stays: bool = False, undo: Callable[[], None] | None = None
    ) -> None:
        """Show a sentence in place of the last one. One that ``stays`` is there until the bar is closed, above what is
        said later. ``undo`` takes back what it tells of, as long as it is the last one."""
        self._undo = undo
        self.undo_button.setVisible(undo is not None)
        if stays:
            self._stays = tuple(dict.fromkeys((*self._stays, text)))
            self._stays_tone = max(self._stays_tone, tone, key=list(Tone).index)
        if self._stays:
            tone = max(self._stays_tone, tone, key=list(Tone).index)
        whole = "\n".join(dict.fromkeys((*self._stays, text)))
        if tone is not self._tone:
            self._tone = tone
            self.update()
        is_new = whole != self._label.text() or self.isHidden()
        if whole != self._label.text():
            self._label.setText(whole)
            self.setAccessibleName(whole)
        self.show()
        if is_new and self.isVisible():
            announce(self, text)

    @Slot()
    def hide(self) -> None:
        """Close it, with what stayed."""
        self._stays, self._stays_tone, self._undo = (), Tone.GOOD, None
        super().hide()

    def retranslate(self) -> None:
        """Write the fixed texts again."""
        self.undo_button.set_text(_("Undo"))
        if self._close is not None:
            self._close.setToolTip(_("Close this message"))
            self._close.setAccessibleName(_("Close this message"))

    @Slot()
    def _on_undo(self) -> None:
        undo = self._undo
        if self._stays:
            self.say(self._stays[-1])
        else:
            self.hide()
        if undo is not None:
            undo()

    @Slot()
    def _recolour(self) -> None:
        palette = self._label.palette()
        palette.setColor(QPalette.ColorRole.WindowText, QColor(self._theme.colours.text))
        self._label.setPalette(palette)
        self.update()

    def paintEvent(self, event: QPaintEvent) -> None:
        colours = self._theme.colours
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setPen(QColor(colours.border))
        painter.setBrush(QColor(colours.tone_back(self._tone)))
        painter.drawRoundedRect(QRectF(self.rect()).adjusted(0.5, 0.5, -0.5, -0.5 - S), RADIUS, RADIUS)
        top = min((self.height() - S - ICON) / 2, S + 2.0 + 4)
        icons.draw(painter, _ICONS[self._tone], colours.tone(self._tone), QRectF(M, top, ICON, ICON))
        painter.end()
