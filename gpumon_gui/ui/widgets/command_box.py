"""Knows: a command or code that can be copied, exactly as it is. Must not know: what it does."""

from __future__ import annotations

import re

from PySide6.QtCore import QPointF, QSize, Qt, QTimer, Slot
from PySide6.QtGui import (
    QColor,
    QFontMetricsF,
    QGuiApplication,
    QPainter,
    QPaintEvent,
    QResizeEvent,
    QTextLayout,
    QTextOption,
)
from PySide6.QtWidgets import QBoxLayout, QSizePolicy, QVBoxLayout, QWidget

from gpumon_gui.core.messages import _
from gpumon_gui.ui.theme import M, S, Theme
from gpumon_gui.ui.widgets.button import HEIGHT, FlatButton
from gpumon_gui.ui.widgets.section import Card

_SAID_MS = 2000
#: What goes on in a second row stands this many letters further right than its first.
_HANGING = 4
#: A box is as wide before its code makes room for a button beside it; code that needs more goes above.
_ROOMY = 480
#: Behind these code goes on below without a word being broken; Qt knows blanks and hyphens.
_ENDS = re.compile(r"[,=(\[{/\\]")


class CodeText(QWidget):
    """Text of equal width whose long lines go on below, broken between words, or within one where they must be: a
    label would cut them."""

    def __init__(self, theme: Theme, text: str, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._theme = theme
        self.text = text
        self.setFont(theme.code_font())
        policy = QSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Minimum)
        policy.setHeightForWidth(True)
        self.setSizePolicy(policy)
        theme.changed.connect(self.update)

    def hasHeightForWidth(self) -> bool:
        return True

    def heightForWidth(self, width: int) -> int:
        return self._lay_out(width, None)

    def sizeHint(self) -> QSize:
        width = max(QFontMetricsF(self.font()).horizontalAdvance(line) for line in self.text.split("\n"))
        return QSize(round(width) + 1, self.heightForWidth(round(width) + 1))

    def minimumSizeHint(self) -> QSize:
        return QSize(1, round(QFontMetricsF(self.font()).height()))

    def paintEvent(self, event: QPaintEvent) -> None:
        painter = QPainter(self)
        painter.setPen(QColor(self._theme.colours.text))
        self._lay_out(self.width(), painter)
        painter.end()

    def _lay_out(self, width: int, painter: QPainter | None) -> int:
        """Its height at that width; drawn where there is a painter."""
        letter = QFontMetricsF(self.font()).horizontalAdvance("0")
        option = QTextOption()
        option.setWrapMode(QTextOption.WrapMode.WrapAtWordBoundaryOrAnywhere)
        top = 0.0
        for text in self.text.split("\n"):
            layout = QTextLayout(_ENDS.sub("\\g<0>\N{ZERO WIDTH SPACE}", text) or " ", self.font())
            layout.setTextOption(option)
            indent = len(text) - len(text.lstrip(" "))
            hanging = min((indent + _HANGING) * letter, width / 3)
            layout.beginLayout()
            left = 0.0
            while (line := layout.createLine()).isValid():
                line.setLineWidth(max(letter, width - left))
                line.setPosition(QPointF(left, top))
                top += line.height()
                left = hanging
            layout.endLayout()
            if painter is not None:
                layout.draw(painter, QPointF(0, 0))
        return round(top + 0.5)


class CommandBox(Card):
    """Monospace text and a button that copies it."""

    def __init__(self, theme: Theme, command: str, parent: QWidget | None = None) -> None:
        super().__init__(theme, parent)
        self.command = command
        theme.changed.connect(self._recolour)
        self._code = CodeText(theme, command, self)
        self._code.setAccessibleName(command)
        self.copy_button = FlatButton(theme, "copy", "", self)
        self.copy_button.clicked.connect(self.copy)
        self._said = QTimer(self)
        self._said.setSingleShot(True)
        self._said.setInterval(_SAID_MS)
        self._said.timeout.connect(self.retranslate)
        self._recolour()
        row = self._row = QBoxLayout(QBoxLayout.Direction.LeftToRight, self)
        row.setContentsMargins(M, S // 2, S // 2, S // 2)
        row.setSpacing(S)
        text = QVBoxLayout()
        line = round(QFontMetricsF(self._code.font()).height())
        around = max(0, (HEIGHT - line) // 2)
        text.setContentsMargins(0, around, M - S // 2, around)
        text.addWidget(self._code)
        row.addLayout(text, 1)
        row.addWidget(self.copy_button, 0, Qt.AlignmentFlag.AlignTop | Qt.AlignmentFlag.AlignRight)
        self.retranslate()

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Code that has too little room beside the button stands above it."""
        needed = self._code.sizeHint().width() + self.copy_button.sizeHint().width() + M + S + S // 2
        fits = self.width() >= min(needed, _ROOMY)
        self._row.setDirection(QBoxLayout.Direction.LeftToRight if fits else QBoxLayout.Direction.TopToBottom)
        self._row.setSpacing(S if fits else 0)

    @Slot()
    def retranslate(self) -> None:
        """Write every text again."""
        self.copy_button.set_text(_("Copy"))
        self.copy_button.setAccessibleName(_("Copy the command: {command}").format(command=self.command))

    @Slot()
    def _recolour(self) -> None:
        self.set_colours(self._theme.colours.chart_back)

    @Slot()
    def copy(self) -> None:
        """Put the command on the clipboard."""
        QGuiApplication.clipboard().setText(self.command)
        self.copy_button.set_text(_("Copied"))
        self._said.start()
