"""Knows: the navigation at the left edge. Must not know: what the pages show."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import QRectF, QSize, Qt, Signal, Slot
from PySide6.QtGui import QColor, QFontMetrics, QPainter, QPaintEvent
from PySide6.QtWidgets import QButtonGroup, QSizePolicy, QVBoxLayout, QWidget

from gpumon_gui.core.messages import _
from gpumon_gui.ui import icons
from gpumon_gui.ui.theme import XS, M, S, Theme
from gpumon_gui.ui.widgets.button import FlatButton
from gpumon_gui.ui.widgets.tab_order import put_behind

ICON = 20
ITEM_HEIGHT = 40
NARROW = 48


class _Item(FlatButton):
    """A page's entry: a bar at the left marks the one on show."""

    def __init__(self, theme: Theme, icon_name: str, label: str, parent: QWidget) -> None:
        super().__init__(theme, icon_name, "", parent)
        self._label_source = label
        self._wide = True
        self.setCheckable(True)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        self.retranslate()

    def retranslate(self) -> None:
        self._label = _(self._label_source)
        self.setAccessibleName(self._label)
        self.setToolTip("" if self._wide else self._label)
        self.updateGeometry()

    def set_wide(self, wide: bool) -> None:
        self._wide = wide
        self.retranslate()

    def sizeHint(self) -> QSize:
        width = NARROW - 2 * XS
        if self._wide:
            width = M + ICON + M + QFontMetrics(self.font()).horizontalAdvance(self._label) + M
        return QSize(width, ITEM_HEIGHT)

    def paintEvent(self, event: QPaintEvent) -> None:
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        self.paint_back(painter)
        colours = self._theme.colours
        middle = self.height() / 2
        if self.isChecked():
            painter.setBrush(QColor(colours.accent))
            painter.setPen(Qt.PenStyle.NoPen)
            painter.drawRoundedRect(QRectF(1, middle - 8, 3, 16), 1.5, 1.5)
        left = M if self._wide else (self.width() - ICON) / 2
        icons.draw(painter, self._icon_name, colours.text, QRectF(left, middle - ICON / 2, ICON, ICON))
        if self._wide:
            painter.setPen(QColor(colours.text))
            rect = QRectF(left + ICON + M, 0, self.width(), self.height())
            painter.drawText(rect, Qt.AlignmentFlag.AlignVCenter, self._label)
        painter.end()


class Rail(QWidget):
    """Icons with labels; narrow it shows icons only.

    Signals:
        chosen(str): the name of a page.
    """

    chosen = Signal(str)

    def __init__(self, theme: Theme, pages: Sequence[tuple[str, str, str]], parent: QWidget | None = None) -> None:
        """``pages``: name, icon and (untranslated) label of each."""
        super().__init__(parent)
        self._theme = theme
        self._wide = True
        self._by_user = False
        self._group = QButtonGroup(self)
        self._group.setExclusive(True)
        self._items: dict[str, _Item] = {}
        layout = QVBoxLayout(self)
        layout.setContentsMargins(XS, S, XS, S)
        layout.setSpacing(XS)
        self._toggle = FlatButton(theme, "menu", "", self)
        self._toggle.setFixedSize(NARROW - 2 * XS, ITEM_HEIGHT - XS)
        self._toggle.clicked.connect(self._on_toggled)
        layout.addWidget(self._toggle)
        for name, icon_name, label in pages:
            item = self._items[name] = _Item(theme, icon_name, label, self)
            item.setObjectName(name)
            self._group.addButton(item)
            layout.addWidget(item)
        layout.addStretch(1)
        self._layout = layout
        self._group.buttonClicked.connect(self._on_clicked)
        self.setSizePolicy(QSizePolicy.Policy.Fixed, QSizePolicy.Policy.Expanding)
        self.retranslate()

    def select(self, name: str) -> None:
        """Mark a page as the one on show."""
        self._items[name].setChecked(True)

    def hide_page(self, name: str) -> None:
        """Offer a page no longer."""
        self._items[name].hide()

    def add_action(self, icon_name: str, label: str) -> FlatButton:
        """A button at the lower end that does something on every page; ``label`` is untranslated."""
        item = _Item(self._theme, icon_name, label, self)
        item.setCheckable(False)
        item.set_wide(self._wide)
        put_behind(list(self._items.values())[-1], item)
        self._items[f"action {label}"] = item
        self._layout.addWidget(item)
        return item

    def fit(self, window_width: int) -> None:
        """Follow the width of the window until the user chooses."""
        if not self._by_user:
            self._set_wide(window_width >= 1100)

    @property
    def is_wide(self) -> bool:
        """Whether the labels are on show."""
        return self._wide

    def retranslate(self) -> None:
        """Write the texts again."""
        words = _("Show or hide the names of the pages")
        self._toggle.setToolTip(words)
        self._toggle.setAccessibleName(words)
        for item in self._items.values():
            item.retranslate()

    def _set_wide(self, wide: bool) -> None:
        if wide != self._wide:
            self._wide = wide
            for item in self._items.values():
                item.set_wide(wide)

    @Slot()
    def _on_toggled(self) -> None:
        self._by_user = True
        self._set_wide(not self._wide)

    def _on_clicked(self, item: QWidget) -> None:
        self.chosen.emit(item.objectName())
