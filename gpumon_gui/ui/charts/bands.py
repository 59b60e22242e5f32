"""Knows: how parts of a chart's time are marked, behind its curve. Must not know: what the parts mean.

A part has a colour, a strip along the top and edges at both ends, so that it is told apart without the colour as well:
dashed edges for a finding, hatching and full edges for the chosen one, a bracket along the foot for what was judged.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from PySide6.QtCore import QLineF, QRectF, Qt
from PySide6.QtGui import QBrush, QColor, QPainter, QPen

_STRIP = 3.0
_TICK = 6.0
_FILL_ALPHA, _CHOSEN_ALPHA, _HATCH_ALPHA = 26, 34, 110
#: A part of a moment is still seen.
_NARROWEST = 2.0


class BandStyle(StrEnum):
    """How much a part stands out."""

    JUDGED = "judged"
    FINDING = "finding"
    CHOSEN = "chosen"


@dataclass(frozen=True, slots=True)
class Band:
    """A part of the time line: UTC seconds, what the tool tip says of it, ``good``, ``info``, ``attention`` or
    ``bad``."""

    start_utc_s: float
    end_utc_s: float
    text: str
    tone: str = "attention"
    style: BandStyle = BandStyle.FINDING


@dataclass(frozen=True, slots=True)
class PlacedBand:
    """The same in seconds before the right edge, with its colour."""

    start_s: float
    end_s: float
    colour: QColor
    style: BandStyle


def paint_bands(painter: QPainter, bands: tuple[PlacedBand, ...], span_s: float, area: QRectF) -> None:
    """Paint into ``area`` (pixels), the plot of the last ``span_s`` seconds."""
    for band in bands:
        left = area.left() + area.width() * (1.0 + max(band.start_s, -span_s) / span_s)
        right = area.left() + area.width() * (1.0 + min(band.end_s, 0.0) / span_s)
        if band.end_s <= -span_s or band.start_s >= 0.0:
            continue
        part = QRectF(round(left), area.top(), max(_NARROWEST, round(right) - round(left)), area.height())
        if band.style is BandStyle.JUDGED:
            _bracket(painter, part, band, span_s)
        else:
            _shade(painter, part, band, span_s)


def _bracket(painter: QPainter, part: QRectF, band: PlacedBand, span_s: float) -> None:
    foot = part.bottom() - 2.0
    lines = [QLineF(part.left(), foot, part.right(), foot)]
    if band.start_s >= -span_s:
        lines.append(QLineF(part.left() + 0.5, foot - _TICK, part.left() + 0.5, foot))
    if band.end_s < 0.0:
        lines.append(QLineF(part.right() - 0.5, foot - _TICK, part.right() - 0.5, foot))
    painter.setPen(QPen(band.colour, 1.0))
    painter.drawLines(lines)


def _shade(painter: QPainter, part: QRectF, band: PlacedBand, span_s: float) -> None:
    chosen = band.style is BandStyle.CHOSEN
    fill, hatch = QColor(band.colour), QColor(band.colour)
    fill.setAlpha(_CHOSEN_ALPHA if chosen else _FILL_ALPHA)
    painter.fillRect(part, fill)
    if chosen:
        hatch.setAlpha(_HATCH_ALPHA)
        painter.fillRect(part, QBrush(hatch, Qt.BrushStyle.BDiagPattern))
    painter.fillRect(QRectF(part.left(), part.top(), part.width(), _STRIP + (2.0 if chosen else 0.0)), band.colour)
    painter.setPen(QPen(band.colour, 1.0, Qt.PenStyle.SolidLine if chosen else Qt.PenStyle.DashLine))
    if band.start_s >= -span_s:
        painter.drawLine(QLineF(part.left(), part.top(), part.left(), part.bottom()))
    if band.end_s < 0.0:
        painter.drawLine(QLineF(part.right() - 1.0, part.top(), part.right() - 1.0, part.bottom()))
