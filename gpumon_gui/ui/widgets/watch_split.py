"""Knows: where the panel of a watch stands: beside the page where there is room, else below it.
Must not know: what is in either.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QEvent, Qt, Slot
from PySide6.QtGui import QColor, QPainter, QPaintEvent, QResizeEvent
from PySide6.QtWidgets import QScrollArea, QSplitter, QSplitterHandle, QWidget

from gpumon_gui.ui.charts.chart_grid import ChartGrid
from gpumon_gui.ui.theme import Theme
from gpumon_gui.ui.widgets.section import Banner

if TYPE_CHECKING:
    from gpumon_gui.ui.widgets.watch_panel import WatchPanel

#: From this width on charts and panel fit beside each other: the window as it begins is as wide.
WIDE = 760
_BESIDE = 380
_BESIDE_MOST = 520
_BESIDE_SHARE = 0.33
#: Beside each other neither is narrower (the page has what it needs), below each other lower.
_NARROWEST = 300
_LOWEST_PAGE, _LOWEST_PANEL = 124, 150
#: Qt's own word for no limit.
_ANY = (1 << 24) - 1


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
    """Page first, panel second; the user may move the border. Where it was moved to counts from then on, beside and
    below each for itself.

    Attributes:
        shares: which share of the room the panel was given beside the page (True) and below it.
    """

    def __init__(self, theme: Theme, page: QWidget, parent: QWidget | None = None) -> None:
        super().__init__(Qt.Orientation.Vertical, parent)
        self._theme = theme
        self._page = page
        self.panel: WatchPanel | None = None
        self.shares: dict[bool, float] = {}
        self.setChildrenCollapsible(False)
        self.setHandleWidth(5)
        self.addWidget(page)
        self.setStretchFactor(0, 1)
        self.splitterMoved.connect(self._on_moved)

    def createHandle(self) -> QSplitterHandle:
        """Called by Qt for each border."""
        return _Handle(self._theme, self.orientation(), self)

    def make_panel(self) -> WatchPanel:
        """The panel, hidden at first; made when it is needed for the first time."""
        if self.panel is None:
            from gpumon_gui.ui.widgets.watch_panel import WatchPanel  # only for who watches

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
        if beside:
            self._page.setMinimumSize(max(_NARROWEST, min(self._page_width(), self.width() - _NARROWEST)), 0)
            panel.setMinimumSize(_NARROWEST, 0)
        else:
            self._page.setMinimumSize(0, _LOWEST_PAGE)
            panel.setMinimumSize(0, 0 if panel.is_folded else _LOWEST_PANEL)
        folded = self._folded_height(panel) if panel.is_folded else 0
        panel.setMaximumHeight(folded or _ANY)
        whole = (self.width() if beside else self.height()) - self.handleWidth()
        share = self.shares.get(beside)
        if folded:
            size = folded
        elif share is not None:
            size = round(whole * share)
        elif beside:
            size = max(_BESIDE, min(_BESIDE_MOST, round(whole * _BESIDE_SHARE)))
        else:
            size = whole - max((end for end in self._ends() if end <= whole / 2), default=_LOWEST_PAGE)
        self.setSizes([whole - size, size])

    @Slot()
    def _on_moved(self) -> None:
        if self.panel is not None and not self.panel.is_folded:
            page, panel = self.sizes()
            self.shares[self.orientation() == Qt.Orientation.Horizontal] = panel / max(1, page + panel)

    def _folded_height(self, panel: WatchPanel) -> int:
        """For its sentence at the width that there is; the hint alone is for a narrow column."""
        layout = panel.layout()
        return panel.sizeHint().height() if layout is None else layout.totalHeightForWidth(self.width())

    def _page_width(self) -> int:
        """The least at which nothing of the page is cut: it does not scroll sideways."""
        page = self._page
        content = page.widget() if isinstance(page, QScrollArea) else None
        if not isinstance(page, QScrollArea) or content is None:
            return page.minimumSizeHint().width()
        return content.minimumSizeHint().width() + page.verticalScrollBar().sizeHint().width()

    def _ends(self) -> list[int]:
        """How high the page is with its first parts, when each is as low as it can be: none of them is cut there."""
        page = self._page
        content = page.widget() if isinstance(page, QScrollArea) else None
        layout = None if content is None else content.layout()
        if not isinstance(page, QScrollArea) or layout is None:
            return []
        margins = layout.contentsMargins()
        room = self.width() - page.verticalScrollBar().sizeHint().width() - margins.left() - margins.right()
        ends, top = [], margins.top()
        for number in range(layout.count()):
            item = layout.itemAt(number)
            if item is None or item.isEmpty() or isinstance(item.widget(), Banner):  # a banner comes and goes
                continue
            part = item.widget()
            rows = None if part is None else part.layout()
            if isinstance(rows, ChartGrid):
                heights = rows.row_ends(room)
            elif item.hasHeightForWidth():
                heights = [item.minimumHeightForWidth(room)]
            else:
                heights = [item.minimumSize().height()]
            ends += [top + height + layout.spacing() // 2 for height in heights]
            top += max(heights, default=0) + layout.spacing()
        return ends

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Another place where there is other room."""
        super().resizeEvent(event)
        self._arrange()

    def event(self, event: QEvent) -> bool:
        """A verdict that is longer needs more room where it stands alone."""
        done = super().event(event)
        if event.type() == QEvent.Type.LayoutRequest and self.panel is not None and self.panel.is_folded:
            self._arrange()
        return done

    def changeEvent(self, event: QEvent) -> None:
        """A larger font needs more room for the folded line."""
        super().changeEvent(event)
        if event.type() == QEvent.Type.FontChange:
            self._arrange()
