"""Knows: a column that scrolls up and down, as wide as is good to read. Must not know: what stands in it."""

from __future__ import annotations

from PySide6.QtCore import QPoint, QSize, Qt, Slot
from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import QApplication, QFrame, QScrollArea, QVBoxLayout, QWidget

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

        application = QApplication.instance()
        assert isinstance(application, QApplication)
        application.focusChanged.connect(self._on_focus)

    @Slot(QWidget, QWidget)
    def _on_focus(self, _old: QWidget | None, now: QWidget | None) -> None:
        """What has the focus is seen, wherever it comes from. Qt brings it into sight only when it comes from within,
        and of a box only the caret. A press of the mouse moves nothing: its release would miss."""
        inside = self.widget()
        if inside is None or now is None or not inside.isAncestorOf(now) or QGuiApplication.mouseButtons():
            return
        top, half = now.mapTo(inside, QPoint(0, 0)), now.height() // 2
        if now.height() > self.viewport().height():
            self.verticalScrollBar().setValue(top.y() - S)
        else:
            self.ensureVisible(top.x() + now.width() // 2, top.y() + half, now.width() // 2 + S, half + S)
