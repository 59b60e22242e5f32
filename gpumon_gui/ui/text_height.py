"""Knows: how high a line of text is with the font that draws it. Must not know: what is written, where."""

from __future__ import annotations

from PySide6.QtGui import QFont, QFontMetrics

from gpumon_gui.core.messages import _

_ROOM = 100_000


def text_height(font: QFont, text: str = "") -> int:
    """The height of a line in the language on show. The font's own metrics do not know that its missing letters (a
    Chinese word) come from another, higher font; a word of the language does, and so does ``text``."""
    metrics = QFontMetrics(font)
    lines = (_("Memory"), text)
    return max(metrics.height(), *(metrics.boundingRect(0, 0, _ROOM, _ROOM, 0, line).height() for line in lines))
