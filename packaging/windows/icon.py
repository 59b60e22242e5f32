"""Knows: how the drawing of the program's icon becomes a Windows icon file. Must not know: where it is used.

icon.py DRAWING.svg FILE.ico
"""

from __future__ import annotations

import struct
import sys
from pathlib import Path

from PySide6.QtCore import QBuffer, QByteArray, QIODevice, Qt
from PySide6.QtGui import QImage, QPainter
from PySide6.QtSvg import QSvgRenderer

#: Task bar, tray and Explorer at 100 to 400 percent.
SIZES = (16, 20, 24, 32, 40, 48, 64, 96, 128, 256)


def icon(drawing: Path) -> bytes:
    """An icon file with a PNG of each size."""
    renderer = QSvgRenderer(str(drawing))
    if not renderer.isValid():
        raise ValueError(f"{drawing} is no drawing that Qt can read")
    pictures = [_png(renderer, size) for size in SIZES]
    head = struct.pack("<HHH", 0, 1, len(SIZES))
    at = len(head) + 16 * len(SIZES)
    entries = b""
    for size, data in zip(SIZES, pictures, strict=True):
        entries += struct.pack("<BBBBHHII", size % 256, size % 256, 0, 0, 1, 32, len(data), at)
        at += len(data)
    return head + entries + b"".join(pictures)


def _png(renderer: QSvgRenderer, size: int) -> bytes:
    image = QImage(size, size, QImage.Format.Format_ARGB32)
    image.fill(Qt.GlobalColor.transparent)
    painter = QPainter(image)
    renderer.render(painter)
    painter.end()
    data = QByteArray()
    buffer = QBuffer(data)
    buffer.open(QIODevice.OpenModeFlag.WriteOnly)
    image.save(buffer, "PNG")  # type: ignore[call-overload,unused-ignore]
    return bytes(data.data())


if __name__ == "__main__":
    Path(sys.argv[2]).write_bytes(icon(Path(sys.argv[1])))
