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
    return [each for each in (widget, *widget.findChildren(QWidget)) if each.focusPolicy() & Qt.FocusPolicy.TabFocus]
