"""Tab goes where the eye goes."""

from __future__ import annotations

from PySide6.QtWidgets import QWidget
from pytestqt.qtbot import QtBot

from gpumon_gui.ui.theme import Theme
from gpumon_gui.ui.wizard.choose_page import ChoosePage


def test_what_to_diagnose_is_reached_from_the_top_down(qtbot: QtBot) -> None:
    page = ChoosePage(Theme())
    qtbot.addWidget(page)
    buttons = [page.all_button, page.none_button, page.add_button, page.again_button]
    wanted: list[QWidget] = [*buttons, page.environments, page.process, page.runs_in, page.proof]
    stops: list[QWidget] = []
    at = page.nextInFocusChain()
    while at is not None and at is not page:
        stops.append(at)
        at = at.nextInFocusChain()
    assert [stop for stop in stops if stop in wanted] == wanted
