"""Knows: how parts of a page are set apart: headings, cards, wrapped text. Must not know: their content."""

from __future__ import annotations

from PySide6.QtCore import QPointF, QRectF, QSize, Qt
from PySide6.QtGui import QColor, QPainter, QPaintEvent, QPalette, QPen
from PySide6.QtWidgets import QHBoxLayout, QLabel, QScrollBar, QSizePolicy, QVBoxLayout, QWidget

from gpumon_gui.ui.theme import RADIUS, L, M, S, Text, Theme
from gpumon_gui.ui.unbroken import unbroken


class Card(QWidget):
    """A quiet surface with a hairline border."""

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._theme = theme
        self._back = ""
        self._line = ""
        theme.changed.connect(self.update)

    def set_colours(self, back: str, line: str = "") -> None:
        """Another background and border (``#rrggbb``); empty for those of the theme."""
        if (back, line) != (self._back, self._line):
            self._back, self._line = back, line
            self.update()

    def paintEvent(self, event: QPaintEvent) -> None:
        """Draw the surface."""
        colours = self._theme.colours
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setPen(QPen(QColor(self._line or colours.border), 1.0))
        painter.setBrush(QColor(self._back or colours.surface))
        painter.drawRoundedRect(QRectF(self.rect()).adjusted(0.5, 0.5, -0.5, -0.5), RADIUS, RADIUS)
        painter.end()


class Section(QWidget):
    """A heading and what belongs to it."""

    def __init__(self, theme: Theme, content: QWidget, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._heading = QLabel(self)
        self._heading.setFont(theme.font(Text.SUBTITLE))
        box = QVBoxLayout(self)
        box.setContentsMargins(0, 0, 0, 0)
        box.setSpacing(S)
        box.addWidget(self._heading)
        box.addWidget(content, 1)

    def set_heading(self, text: str) -> None:
        """What stands above."""
        if text != self._heading.text():
            self._heading.setText(text)


class Sentence(QLabel):
    """A label whose figures keep their units on the same line."""

    def __init__(self, parent: QWidget | None) -> None:
        super().__init__(parent)
        self._text = ""

    def text(self) -> str:
        """As it was said."""
        return self._text

    def setText(self, text: str) -> None:
        """Say something else."""
        self._text = text
        super().setText(unbroken(text))


class _Wrapped(Sentence):
    def minimumSizeHint(self) -> QSize:
        # A wrapping label otherwise asks for the height it would need when very narrow.
        return QSize(1, self.fontMetrics().height())


def wrapped(theme: Theme, role: Text = Text.BODY, *, muted: bool = False, parent: QWidget | None = None) -> QLabel:
    """A label for sentences: wraps, can be selected, never takes rich text."""
    label = _Wrapped(parent)
    label.setFont(theme.font(role))
    label.setWordWrap(True)
    label.setTextFormat(Qt.TextFormat.PlainText)
    label.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
    label.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Minimum)
    if muted:
        label.setForegroundRole(QPalette.ColorRole.PlaceholderText)
    return label


def set_text(label: QLabel, text: str) -> None:
    """New text only when it is new: setting it lays the page out again."""
    if text != label.text():
        label.setText(text)


class Mark(QWidget):
    """A round mark that differs in colour and in shape: tick, exclamation mark, cross, dash."""

    SIZE = 16

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._theme = theme
        self._kind = "info"
        self.setFixedSize(self.SIZE, self.SIZE)
        theme.changed.connect(self.update)

    @property
    def kind(self) -> str:
        """``good``, ``attention``, ``bad``, ``info`` or ``none``."""
        return self._kind

    def set_kind(self, kind: str) -> None:
        """Show another mark."""
        if kind != self._kind:
            self._kind = kind
            self.update()

    def paintEvent(self, event: QPaintEvent) -> None:
        """Draw the mark."""
        painter = QPainter(self)
        paint_mark(painter, QRectF(self.rect()), self._kind, self._theme)
        painter.end()


def paint_mark(painter: QPainter, area: QRectF, kind: str, theme: Theme) -> None:
    """Paint a mark into ``area`` (square)."""
    colours = theme.colours
    painter.save()
    painter.setRenderHint(QPainter.RenderHint.Antialiasing)
    painter.translate(area.topLeft())
    painter.scale(area.width() / 16, area.height() / 16)
    painter.setPen(Qt.PenStyle.NoPen)
    painter.setBrush(QColor(colours.tone(kind, colours.faint)))
    painter.drawEllipse(QRectF(0.5, 0.5, 15, 15))
    pen = QPen(QColor(colours.chart_back), 1.7)
    pen.setCapStyle(Qt.PenCapStyle.RoundCap)
    painter.setPen(pen)
    lines = {
        "good": ((4.6, 8.3, 7.0, 10.7), (7.0, 10.7, 11.4, 5.6)),
        "attention": ((8.0, 4.2, 8.0, 8.8), (8.0, 11.6, 8.0, 11.7)),
        "bad": ((5.4, 5.4, 10.6, 10.6), (10.6, 5.4, 5.4, 10.6)),
        "info": ((8.0, 7.4, 8.0, 11.8), (8.0, 4.5, 8.0, 4.6)),
    }
    for x1, y1, x2, y2 in lines.get(kind, ((5.0, 8.0, 11.0, 8.0),)):
        painter.drawLine(QPointF(x1, y1), QPointF(x2, y2))
    painter.restore()


class SlimScrollBar(QScrollBar):
    """The thin, rounded scroll bar of Windows 11 where the style has none; follows the theme."""

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(Qt.Orientation.Vertical, parent)
        self._theme = theme
        self._is_active = False
        theme.changed.connect(self._recolour)
        self._recolour()

    def set_active(self, is_active: bool) -> None:
        """Whether the keys scroll it now: the handle then has the colour of the focus."""
        if is_active != self._is_active:
            self._is_active = is_active
            self._recolour()

    def _recolour(self) -> None:
        if self.style().name().lower() == "windows11":
            return
        colours = self._theme.colours
        handle = colours.accent if self._is_active else colours.border
        self.setStyleSheet(
            "QScrollBar { background: transparent; width: 12px; margin: 0; }"
            f"QScrollBar::handle {{ background: {handle}; border-radius: 3px; min-height: 32px; margin: 3px; }}"
            f"QScrollBar::handle:hover {{ background: {colours.faint}; }}"
            "QScrollBar::add-line, QScrollBar::sub-line { height: 0; }"
            "QScrollBar::add-page, QScrollBar::sub-page { background: transparent; }"
        )


class Banner(Card):
    """One sentence with a mark, across the page; hidden when there is nothing to say."""

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(theme, parent)
        self._mark = Mark(theme, self)
        self._label = wrapped(theme, parent=self)
        row = QHBoxLayout(self)
        row.setContentsMargins(M, S, L, S)
        row.setSpacing(S)
        row.addWidget(self._mark, 0, Qt.AlignmentFlag.AlignTop)
        row.addWidget(self._label, 1)
        theme.changed.connect(self._recolour)
        self.hide()

    @property
    def text(self) -> str:
        """What it says; empty when hidden."""
        return "" if self.isHidden() else self._label.text()

    def say(self, kind: str, text: str) -> None:
        """Show a sentence, or hide for an empty one."""
        self._mark.set_kind(kind)
        set_text(self._label, text)
        self._recolour()
        if bool(text) == self.isHidden():
            self.setVisible(bool(text))

    def _recolour(self) -> None:
        colours = self._theme.colours
        kind = self._mark.kind
        self.set_colours(colours.tone_back(kind, colours.info_back), colours.tone(kind, colours.info))
