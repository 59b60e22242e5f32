"""Knows: a column that scrolls up and down, as wide as is good to read. Must not know: what stands in it."""

from __future__ import annotations

from PySide6.QtCore import QPoint, QSize, Qt
from PySide6.QtWidgets import QFrame, QScrollArea, QVBoxLayout, QWidget

from gpumon_gui.ui.theme import S, Theme
from gpumon_gui.ui.widgets.scroll_bar import use_thin_bars


class Content(QWidget):
    """What scrolls. Sentences that wrap ask for the height they would need when narrow; the height for the width that
    there is counts alone."""

    def __init__(self, widest: int, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setMaximumWidth(widest)
        self.column = QVBoxLayout(self)

    def minimumSizeHint(self) -> QSize:
        return QSize(super().minimumSizeHint().width(), 0)


class ScrollColumn(QScrollArea):
    """Shows a :class:`Content`; takes no focus itself, what stands in it does."""

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        use_thin_bars(self, theme, on_window=True)
        self.setWidgetResizable(True)
        self.setFrameShape(QFrame.Shape.NoFrame)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setFocusPolicy(Qt.FocusPolicy.NoFocus)

    def focusNextPrevChild(self, next: bool) -> bool:
        """Qt brings only the caret of a box into sight; its frame is to be seen as well."""
        moved: bool = super().focusNextPrevChild(next)
        inside, focused = self.widget(), self.focusWidget()
        if moved and inside is not None and focused is not None and inside.isAncestorOf(focused):
            middle = focused.mapTo(inside, QPoint(focused.width() // 2, focused.height() // 2))
            self.ensureVisible(middle.x(), middle.y(), focused.width() // 2 + S, focused.height() // 2 + S)
        return moved
