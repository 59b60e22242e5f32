"""Dialogs speak the language that was chosen, and look like the program."""

from __future__ import annotations

from pathlib import Path

import pytest
from PySide6.QtWidgets import QFileDialog, QMessageBox, QWidget
from pytestqt.qtbot import QtBot

from gpumon_gui.bridge.translation import Translation
from gpumon_gui.core import messages
from gpumon_gui.ui.widgets.questions import file_dialog, set_sign

SOURCES = Path(__file__).parents[2] / "gpumon_gui"


@pytest.mark.parametrize(("system", "chosen", "native"), [("en_GB", "zh_CN", False), ("zh_CN", "zh_CN", True)])
def test_the_systems_file_dialog_is_used_in_its_own_language_alone(
    qtbot: QtBot, monkeypatch: pytest.MonkeyPatch, system: str, chosen: str, native: bool
) -> None:
    monkeypatch.setattr(messages, "system_language", lambda: system)
    holder = QWidget()
    qtbot.addWidget(holder)
    translation = Translation()
    translation.set_language(chosen)
    dialog = file_dialog(holder, "", saves=True)
    assert dialog.testOption(QFileDialog.Option.DontUseNativeDialog) is not native
    assert dialog.acceptMode() is QFileDialog.AcceptMode.AcceptSave
    translation.set_language("en")
    translation.deleteLater()


def test_every_file_dialog_comes_from_there() -> None:
    makers = [file.name for file in SOURCES.rglob("*.py") if "QFileDialog(" in file.read_text("utf-8")]
    assert makers == ["questions.py"]


def test_no_box_has_the_desktops_icons(qtbot: QtBot) -> None:
    box = QMessageBox()
    qtbot.addWidget(box)
    box.addButton(QMessageBox.StandardButton.Cancel)
    set_sign(box)
    assert not box.iconPixmap().isNull()
    assert all(button.icon().isNull() for button in box.buttons())
    makers = [file.name for file in SOURCES.rglob("*.py") if ".setIcon(QMessageBox" in file.read_text("utf-8")]
    assert makers == []
