"""The language of the running window."""

from __future__ import annotations

from PySide6.QtCore import QEvent
from PySide6.QtWidgets import QApplication

from gpumon_gui.bridge.translation import Translation


def test_switching_back_and_forth_keeps_no_old_texts(qapp: QApplication) -> None:
    translation = Translation()
    for _round in range(3):
        assert translation.set_language("zh_CN") == "zh_CN"
        assert translation.set_language("en") == "en"
    qapp.sendPostedEvents(None, QEvent.Type.DeferredDelete)
    assert translation.children() == []
