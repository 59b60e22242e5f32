"""Knows: where the panel of a watch stands: beside the page where there is room, else below it.
Must not know: what is in either.
"""

from __future__ import annotations

from PySide6.QtCore import QEvent, Qt
from PySide6.QtGui import QColor, QPainter, QPaintEvent, QResizeEvent
from PySide6.QtWidgets import QScrollArea, QSplitter, QSplitterHandle, QWidget

from gpumon_gui.ui.theme import Theme
from gpumon_gui.ui.widgets.section import Banner
from gpumon_gui.ui.widgets.watch_panel import WatchPanel

#: From this width on charts and panel fit beside each other.
WIDE = 960
_BESIDE = 380
_BESIDE_MOST = 520
_BESIDE_SHARE = 0.33
_SHARE = 0.5
_LEAST_PAGE = 150
#: The border goes this share of the height up or down to where a part of the page ends.
_GIVES = 0.12


class _Handle(QSplitterHandle):
    """Nothing but a hairline; the style's dots would lie on the page's last line."""

    def __init__(self, theme: Theme, orientation: Qt.Orientation, parent: QSplitter) -> None:
        super().__init__(orientation, parent)
        self._theme = theme
        theme.changed.connect(self.update)

    def paintEvent(self, event: QPaintEvent) -> None:
        painter = QPainter(self)
        painter.setPen(QColor(self._theme.colours.border))
        if self.orientation() == Qt.Orientation.Vertical:
            painter.drawLine(0, self.height() - 1, self.width(), self.height() - 1)
        else:
            painter.drawLine(self.width() - 1, 0, self.width() - 1, self.height())
        painter.end()


class WatchSplit(QSplitter):
    """Page first, panel second; the user may move the border."""

    def __init__(self, theme: Theme, page: QWidget, parent: QWidget | None = None) -> None:
        super().__init__(Qt.Orientation.Vertical, parent)
        self._theme = theme
        self.panel: WatchPanel | None = None
        self.setChildrenCollapsible(False)
        self.setHandleWidth(5)
        page.setMinimumHeight(_LEAST_PAGE)
        self.addWidget(page)
        self.setStretchFactor(0, 1)

    def createHandle(self) -> QSplitterHandle:
        """Called by Qt for each border."""
        return _Handle(self._theme, self.orientation(), self)

    def make_panel(self) -> WatchPanel:
        """The panel, hidden at first; made when it is needed for the first time."""
        if self.panel is None:
            self.panel = WatchPanel(self._theme, self)
            self.panel.hide()
            self.addWidget(self.panel)
            self.setStretchFactor(1, 0)
            self.panel.folded.connect(self._arrange)
        return self.panel

    def show_panel(self, on: bool) -> None:
        """Show or hide it."""
        if self.panel is not None and self.panel.isHidden() == on:
            self.panel.setVisible(on)
            self._arrange()

    def _arrange(self, *_changed: object) -> None:
        """A folded panel is a line below the page, whatever the room."""
        panel = self.panel
        if panel is None or panel.isHidden():
            return
        beside = self.width() >= WIDE and not panel.is_folded
        panel.set_beside(beside)
        self.setOrientation(Qt.Orientation.Horizontal if beside else Qt.Orientation.Vertical)
        if panel.is_folded:
            panel.setMaximumHeight(self._folded_height(panel))
        else:
            panel.setMaximumHeight(16777215)
        if beside:
            panel.setMinimumSize(300, 0)
            width = max(_BESIDE, min(_BESIDE_MOST, round(self.width() * _BESIDE_SHARE)))
            self.setSizes([self.width() - width, width])
            return
        panel.setMinimumSize(0, 0 if panel.is_folded else 150)
        height = self.height()
        below = self._folded_height(panel) if panel.is_folded else max(150, round(height * _SHARE))
        above = max(_LEAST_PAGE, height - below)
        if not panel.is_folded:
            above = min(self._ends(), key=lambda end: abs(end - above), default=above)
            if abs(above - (height - below)) > height * _GIVES:
                above = max(_LEAST_PAGE, height - below)
        self.setSizes([above, height - above])

    def _folded_height(self, panel: WatchPanel) -> int:
        """For its sentence at the width that there is; the hint alone is for a narrow column."""
        layout = panel.layout()
        return panel.sizeHint().height() if layout is None else layout.totalHeightForWidth(self.width())

    def _ends(self) -> list[int]:
        """How high the page is with its first parts, when each is as low as it can be."""
        page = self.widget(0)
        if not isinstance(page, QScrollArea):
            return []
        content = page.widget()
        layout = None if content is None else content.layout()
        if layout is None:
            return []
        margins = layout.contentsMargins()
        room = self.width() - page.verticalScrollBar().sizeHint().width() - margins.left() - margins.right()
        ends, top = [], margins.top()
        for number in range(layout.count()):
            item = layout.itemAt(number)
            if item is None or item.isEmpty() or isinstance(item.widget(), Banner):  # a banner comes and goes
                continue
            top += item.minimumHeightForWidth(room) if item.hasHeightForWidth() else item.minimumSize().height()
            ends.append(top + layout.spacing() // 2)
            top += layout.spacing()
        return [end for end in ends if end >= _LEAST_PAGE]

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Another place where there is other room; what the user set stays otherwise."""
        super().resizeEvent(event)
        panel = self.panel
        if panel is None or panel.isHidden() or panel.is_folded:
            return
        if (self.width() >= WIDE) != (self.orientation() == Qt.Orientation.Horizontal):
            self._arrange()

    def changeEvent(self, event: QEvent) -> None:
        """A larger font needs more room for the folded line."""
        super().changeEvent(event)
        if event.type() == QEvent.Type.FontChange:
            self._arrange()
