"""Knows: how the keyboard walks over figures that stand side by side: Tab reaches one of them, the arrows the others.
Must not know: what they show."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import QEvent, QObject, Qt
from PySide6.QtGui import QKeyEvent
from PySide6.QtWidgets import QWidget

_STEPS = {Qt.Key.Key_Left: -1, Qt.Key.Key_Up: -1, Qt.Key.Key_Right: 1, Qt.Key.Key_Down: 1}


class ArrowFocus(QObject):
    """Belongs to the widget around them. They are drawn again when the focus comes and goes."""

    def __init__(self, widgets: Sequence[QWidget], parent: QWidget) -> None:
        super().__init__(parent)
        self._widgets = tuple(widgets)
        for widget in widgets:
            widget.setFocusPolicy(Qt.FocusPolicy.NoFocus)
            widget.installEventFilter(self)

    def settle(self) -> None:
        """After some were shown or hidden: the one that Tab reaches is on show."""
        shown = [widget for widget in self._widgets if not widget.isHidden()]
        if shown and not any(widget.focusPolicy() & Qt.FocusPolicy.TabFocus for widget in shown):
            self._stop_at(shown[0])

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """The arrows, and the focus."""
        if event.type() in (QEvent.Type.FocusIn, QEvent.Type.FocusOut) and isinstance(watched, QWidget):
            watched.update()
            if event.type() == QEvent.Type.FocusIn:
                self._stop_at(watched)
        elif event.type() == QEvent.Type.KeyPress and isinstance(event, QKeyEvent):
            step = _STEPS.get(Qt.Key(event.key()))
            shown = [widget for widget in self._widgets if not widget.isHidden()]
            if step is not None and watched in shown:
                at = shown.index(watched) + step
                if 0 <= at < len(shown):  # past both ends the page scrolls
                    shown[at].setFocus(Qt.FocusReason.TabFocusReason)
                    return True
        return False

    def _stop_at(self, stop: QWidget) -> None:
        for widget in self._widgets:
            policy = Qt.FocusPolicy.TabFocus if widget is stop else Qt.FocusPolicy.NoFocus
            if widget.focusPolicy() != policy:
                widget.setFocusPolicy(policy)
