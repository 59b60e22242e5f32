"""Knows: how a picture becomes the bytes of a file. Must not know: what is on it, where it goes."""

from __future__ import annotations

from PySide6.QtCore import QBuffer, QByteArray, QIODevice
from PySide6.QtGui import QImage, QPixmap


def encoded(picture: QImage | QPixmap, form: str = "PNG") -> bytes:
    """The picture in this form where Qt knows it, else as PNG; empty for a picture without a pixel.

    Who wants a file writes it by Python: Qt knows no names that are not UTF-8, and does not say why it failed.
    """
    for name in (form, "PNG"):
        content = QByteArray()
        buffer = QBuffer(content)
        buffer.open(QIODevice.OpenModeFlag.WriteOnly)
        if name and picture.save(buffer, name):  # type: ignore[call-overload]
            return bytes(content.data())
    return b""
