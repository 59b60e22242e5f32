"""Knows: in which order Tab goes where widgets are made later than what stands below them. Must not know: pages."""

from __future__ import annotations

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QWidget


def put_behind(before: QWidget, *widgets: QWidget) -> None:
    """What is reached by Tab in ``widgets`` comes right behind what is in ``before``, in the order it was made."""
    last = _stops(before)[-1:]
    for widget in widgets:
        for stop in _stops(widget):
            if last:
                QWidget.setTabOrder(last[0], stop)
            last = [stop]


def _stops(widget: QWidget) -> list[QWidget]:
    """Not what is in a list that pops up: that is a window of its own."""
    inside = (each for each in (widget, *widget.findChildren(QWidget)) if each.window() is widget.window())
    return [each for each in inside if each.focusPolicy() & Qt.FocusPolicy.TabFocus]
