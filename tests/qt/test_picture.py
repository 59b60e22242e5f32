"""Pictures become files in one way, whatever their name."""

from __future__ import annotations

import pytest
from PySide6.QtGui import QColor, QImage, QPixmap

from gpumon_gui.bridge.picture import encoded


@pytest.mark.parametrize(
    ("form", "begins"), [("PNG", b"\x89PNG"), ("jpg", b"\xff\xd8"), ("docx", b"\x89PNG"), ("", b"\x89PNG")]
)
def test_a_picture_has_the_form_asked_for_or_is_png(qapp: object, form: str, begins: bytes) -> None:
    picture = QPixmap(3, 2)
    picture.fill(QColor("red"))
    content = encoded(picture, form)
    assert content.startswith(begins)
    read = QImage.fromData(content)
    assert (read.width(), read.height()) == (3, 2)
    assert encoded(picture.toImage()).startswith(b"\x89PNG")


def test_nothing_is_no_picture(qapp: object) -> None:
    assert encoded(QImage()) == b""
