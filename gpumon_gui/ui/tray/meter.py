"""Knows: how utilization and memory look in an icon of a few pixels. Must not know: feed, tray."""

from __future__ import annotations

from dataclasses import dataclass

from PySide6.QtCore import QRect, Qt
from PySide6.QtGui import QColor, QIcon, QPainter, QPixmap

from gpumon_gui.ui.theme import DARK, LIGHT, Colours, Series

#: A tray shows no more steps than these, so the icon is not painted more often.
STEPS = 20
#: What trays ask for: Windows at 100 to 300 percent, 22 and 44 elsewhere. Painted for each, so nothing is scaled.
SIZES = (16, 20, 22, 24, 28, 32, 40, 44, 48)
#: Seen on any panel.
_MIDDLE = "#8a8a8a"


@dataclass(frozen=True, slots=True)
class Meter:
    """What the icon shows: steps of 0 to :data:`STEPS`, None where nothing is known. ``dimmed``: not of this moment.
    ``light``: the task bar is; None where nobody can tell, as with the panels of Linux. ``trouble``: a GPU or the
    readings do not answer."""

    utilization: int | None = None
    memory: int | None = None
    dimmed: bool = False
    light: bool | None = None
    trouble: bool = False

    @property
    def is_empty(self) -> bool:
        """Whether nothing at all is known."""
        return self.utilization is None and self.memory is None


def steps(share: float | None) -> int | None:
    """A share of 0..1 in steps; what is not nothing shows at least one, what is not full never all."""
    if share is None:
        return None
    if share <= 0.005:
        return 0
    if share >= 0.995:
        return STEPS
    return min(max(round(share * STEPS), 1), STEPS - 1)


def meter_icon(meter: Meter) -> QIcon:
    """The icon in every size a tray may ask for."""
    icon = QIcon()
    for size in SIZES:
        icon.addPixmap(meter_pixmap(meter, size))
    return icon


def marked_icon(icon: QIcon) -> QIcon:
    """Another icon with the mark of trouble, in every size a tray may ask for."""
    marked = QIcon()
    for size in SIZES:
        pixmap = icon.pixmap(size, size)
        painter = QPainter(pixmap)
        _mark(painter, round(pixmap.width() / pixmap.devicePixelRatio()), LIGHT)
        painter.end()
        marked.addPixmap(pixmap)
    return marked


def meter_pixmap(meter: Meter, size: int) -> QPixmap:
    """The icon of so many pixels: utilization at the left, memory at the right, each from the bottom up."""
    pixmap = QPixmap(size, size)
    pixmap.fill(Qt.GlobalColor.transparent)
    painter = QPainter(pixmap)
    # The series of the light scheme stand at 3:1 against black too.
    colours = DARK if meter.light is False else LIGHT
    ink = QColor(_MIDDLE if meter.light is None else colours.text)
    edge = max(1, size // 16)
    width = (size - 4 * edge) // 2
    for value, series, left in (
        (meter.utilization, Series.ENGINE, edge),
        (meter.memory, Series.MEMORY, size - edge - width),
    ):
        fill = QColor(colours.muted if meter.dimmed else colours.series[series])
        _bar(painter, QRect(left, edge, width, size - 2 * edge), edge, value, fill, ink)
    if meter.trouble:
        _mark(painter, size, colours)
    painter.end()
    return pixmap


def _mark(painter: QPainter, size: int, colours: Colours) -> None:
    """An exclamation mark on a disc in the lower right corner, with a gap around it."""
    across = size * 9 // 16 | 1  # odd: the stroke stands in the middle, in whole pixels
    gap, stroke = max(1, size // 16), across // 9 | 1
    disc = QRect(size - across, size - across, across, across)
    painter.setRenderHint(QPainter.RenderHint.Antialiasing)
    painter.setPen(Qt.PenStyle.NoPen)
    painter.setCompositionMode(QPainter.CompositionMode.CompositionMode_Clear)
    painter.setBrush(Qt.GlobalColor.black)
    painter.drawEllipse(disc.adjusted(-gap, -gap, gap, gap))
    painter.setCompositionMode(QPainter.CompositionMode.CompositionMode_SourceOver)
    painter.setBrush(QColor(colours.bad))
    painter.drawEllipse(disc)
    ink, left, top, long = QColor(colours.window), disc.left() + (across - stroke) // 2, across * 2 // 9, across // 3
    painter.fillRect(QRect(left, disc.top() + top, stroke, long), ink)
    painter.fillRect(QRect(left, disc.bottom() + 1 - top - stroke, stroke, stroke), ink)


def _bar(painter: QPainter, area: QRect, edge: int, value: int | None, fill: QColor, ink: QColor) -> None:
    """A frame, and inside it the level. Whole pixels: at 16 of them every blur shows."""
    trough = QColor(ink)
    trough.setAlpha(60)
    frame = QColor(ink)
    frame.setAlpha(180 if value is not None else 90)
    inner = area.adjusted(edge, edge, -edge, -edge)
    for rect in (
        QRect(area.left(), area.top(), area.width(), edge),
        QRect(area.left(), inner.bottom() + 1, area.width(), edge),
        QRect(area.left(), inner.top(), edge, inner.height()),
        QRect(inner.right() + 1, inner.top(), edge, inner.height()),
    ):
        painter.fillRect(rect, frame)
    if value is None:  # hollow: not the same as nothing in use
        return
    height = -(-inner.height() * value // STEPS)
    painter.fillRect(inner, trough)
    painter.fillRect(QRect(inner.left(), inner.bottom() + 1 - height, inner.width(), height), fill)
