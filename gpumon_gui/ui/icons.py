"""Knows: the program's own drawings and how they take a colour. Must not know: what they stand for.

The files are SVG with ``currentColor``; they are drawn as vectors at the size and scale of the screen they are on.
"""

from __future__ import annotations

from functools import lru_cache

from PySide6.QtCore import QByteArray, QRectF, QSize
from PySide6.QtGui import QIcon, QPainter, QPixmap
from PySide6.QtSvg import QSvgRenderer

from gpumon_gui.core.resources import resource_root

#: Every drawing shipped; a test compares it with the folder.
NAMES = (
    "app",
    "bell",
    "close",
    "collapse",
    "copy",
    "diagnostics",
    "done",
    "end_task",
    "expand",
    "history",
    "info",
    "menu",
    "more",
    "pause",
    "performance",
    "play",
    "processes",
    "report",
    "search",
    "settings",
    "speed",
    "stop",
    "warning",
    "watch",
)


def draw(painter: QPainter, name: str, colour: str, rect: QRectF) -> None:
    """Draw an icon in a colour (``#rrggbb``) into a square."""
    _renderer(name, colour).render(painter, rect)


def icon(name: str, colour: str, sizes: tuple[int, ...] = (16, 20, 24, 32, 48, 64, 128, 256)) -> QIcon:
    """A QIcon for what Qt or the desktop draws itself: menus, title bar, task bar."""
    result = QIcon()
    for size in sizes:
        pixmap = QPixmap(QSize(size, size))
        pixmap.fill("transparent")
        painter = QPainter(pixmap)
        draw(painter, name, colour, QRectF(0, 0, size, size))
        painter.end()
        result.addPixmap(pixmap)
    return result


@lru_cache(maxsize=128)
def _renderer(name: str, colour: str) -> QSvgRenderer:
    source = (resource_root() / "icons" / f"{name}.svg").read_text(encoding="utf-8")
    return QSvgRenderer(QByteArray(source.replace("currentColor", colour).encode()))
