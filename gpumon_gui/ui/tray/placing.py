"""Knows: where a small window stands: where it was left, beside an icon, never off the screen. Must not know: the
window."""

from __future__ import annotations

from PySide6.QtCore import QPoint, QRect, QSize
from PySide6.QtGui import QGuiApplication, QScreen

from gpumon_gui.ui.theme import M

#: No screen is as large; Qt fails beyond its own numbers.
_FARTHEST = 1 << 20


def corner(size: QSize, place: tuple[str, ...], icon: QRect) -> QPoint:
    """The remembered ``place`` (screen name, x and y from that screen's corner, as texts), moved into its screen; else
    beside the icon where that is known; else the lower right corner of the main screen."""
    screen, at = _remembered(place)
    if at is None and icon.isValid():
        near = QGuiApplication.screenAt(icon.center()) or QGuiApplication.primaryScreen()
        return beside(icon, size, near.availableGeometry().adjusted(M, M, -M, -M))
    area = screen.availableGeometry()
    if at is None:
        at = QPoint(area.width() - size.width() - M, area.height() - size.height() - M)
    return _within(area, area.topLeft() + at, size)


def beside(icon: QRect, size: QSize, area: QRect) -> QPoint:
    """At the edge of the panel that the icon is in; without covering the icon, where there is room for both."""
    at = _within(area, icon.center() - QRect(QPoint(), size).center(), size)
    if QRect(at, size).intersects(icon):  # the panel lies over the room for windows
        above, below = icon.top() - size.height() - M, icon.bottom() + M
        if area.top() <= above or below + size.height() <= area.bottom() + 1:
            at.setY(above if area.top() <= above else below)
        else:
            left, right = icon.left() - size.width() - M, icon.right() + M
            at.setX(left if area.left() <= left else right)
    return _within(area, at, size)


def _within(area: QRect, at: QPoint, size: QSize) -> QPoint:
    return QPoint(
        max(area.left(), min(at.x(), area.left() + area.width() - size.width())),
        max(area.top(), min(at.y(), area.top() + area.height() - size.height())),
    )


def _remembered(place: tuple[str, ...]) -> tuple[QScreen, QPoint | None]:
    main = QGuiApplication.primaryScreen()
    if len(place) != 3:
        return main, None
    name, x, y = place
    screen = next((one for one in QGuiApplication.screens() if one.name() == name), None)
    try:
        return (screen or main), (QPoint(_bounded(x), _bounded(y)) if screen is not None else None)
    except ValueError:
        return main, None


def _bounded(text: str) -> int:
    return max(-_FARTHEST, min(int(text), _FARTHEST))
