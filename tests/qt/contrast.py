"""How two colours stand out from each other."""

from __future__ import annotations

from PySide6.QtGui import QColor


def contrast(one: QColor | str, other: QColor | str) -> float:
    """The contrast ratio of WCAG 2.2: 1 to 21."""
    low, high = sorted((_luminance(QColor(one)), _luminance(QColor(other))))
    return (high + 0.05) / (low + 0.05)


def _luminance(colour: QColor) -> float:
    shares: list[float] = [colour.redF(), colour.greenF(), colour.blueF()]
    parts: list[float] = [part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in shares]
    return 0.2126 * parts[0] + 0.7152 * parts[1] + 0.0722 * parts[2]
