"""Sentences that wrap."""

from __future__ import annotations

from PySide6.QtWidgets import QLabel
from pytestqt.qtbot import QtBot

from gpumon_gui.ui.theme import Theme
from gpumon_gui.ui.widgets.section import wrapped


def test_no_line_ends_between_a_figure_and_its_unit(qtbot: QtBot) -> None:
    label = wrapped(Theme())
    qtbot.addWidget(label)
    sentence = "Good above 70 %"
    label.setText(sentence)
    assert label.text() == sentence  # as it was said, for copying and comparing
    assert QLabel.text(label).endswith("above 70\N{NO-BREAK SPACE}%")


def test_words_behind_a_figure_stay_words(qtbot: QtBot) -> None:
    label = wrapped(Theme())
    qtbot.addWidget(label)
    for sentence in ("Every 4 seconds", "Needs 2 Windows machines", "12 h200 cards"):
        label.setText(sentence)
        assert QLabel.text(label) == sentence
