"""Knows: a list whose chosen row is marked as quietly as the rest of the page. Must not know: its rows."""

from __future__ import annotations

from PySide6.QtCore import Qt, Slot
from PySide6.QtGui import QColor, QPalette
from PySide6.QtWidgets import QFrame, QListWidget, QWidget

from gpumon_gui.ui.theme import Theme
from gpumon_gui.ui.widgets.rows import RowDelegate
from gpumon_gui.ui.widgets.scroll_bar import use_thin_bars


class QuietList(QListWidget):
    """No frame, thin bars, the selection in the colour of a pressed button."""

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._theme = theme
        self.setFrameShape(QFrame.Shape.NoFrame)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setSpacing(2)
        self.setItemDelegate(RowDelegate(theme, self))
        self.setMouseTracking(True)
        use_thin_bars(self, theme)
        theme.changed.connect(self._recolour)
        self._recolour()

    @Slot()
    def _recolour(self) -> None:
        colours = self._theme.colours
        palette = QPalette(self.palette())
        for group in (QPalette.ColorGroup.Active, QPalette.ColorGroup.Inactive):
            palette.setColor(group, QPalette.ColorRole.Highlight, QColor(colours.selected))
            palette.setColor(group, QPalette.ColorRole.HighlightedText, QColor(colours.text))
            palette.setColor(group, QPalette.ColorRole.Base, QColor(colours.surface))
            palette.setColor(group, QPalette.ColorRole.Text, QColor(colours.text))
        self.setPalette(palette)
