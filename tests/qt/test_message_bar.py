"""The line of words: the newest is on show, what has to be read stays until it is closed."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from pytestqt.qtbot import QtBot

from gpumon_gui.ui.theme import Theme
from gpumon_gui.ui.widgets.button import FlatButton
from gpumon_gui.ui.widgets.message_bar import MessageBar, Tone


@pytest.fixture
def bar(qtbot: QtBot) -> Iterator[MessageBar]:
    theme = Theme()
    made = MessageBar(theme, closable=True)
    qtbot.addWidget(made)
    yield made
    theme.deleteLater()


def test_a_sentence_takes_the_place_of_the_last_one(bar: MessageBar) -> None:
    assert bar.text == ""
    bar.say("First.", Tone.ATTENTION)
    bar.say("Second.", Tone.GOOD)
    assert (bar.text, bar._tone) == ("Second.", Tone.GOOD)


def test_what_stays_is_there_until_it_is_closed(bar: MessageBar) -> None:
    bar.say("A setting was not usable.", Tone.ATTENTION, stays=True)
    bar.say("Another one.", Tone.INFO, stays=True)
    bar.say("Saved.", Tone.GOOD)
    bar.say("Saved again.", Tone.GOOD)
    assert bar.text == "A setting was not usable.\nAnother one.\nSaved again."
    assert bar.accessibleName() == bar.text
    assert bar._tone is Tone.ATTENTION  # as bad as the worst of them
    (button,) = (one for one in bar.findChildren(FlatButton) if not one.isHidden())
    QTest.mouseClick(button, Qt.MouseButton.LeftButton)
    assert bar.isHidden()
    bar.say("Saved.", Tone.GOOD)
    assert (bar.text, bar._tone) == ("Saved.", Tone.GOOD)


def test_the_last_thing_can_be_taken_back_and_only_that(bar: MessageBar) -> None:
    undone: list[str] = []
    bar.show()
    bar.say("Off.", undo=lambda: undone.append("off"))
    assert bar.undo_button.text() == "Undo"
    bar.say("Saved.")
    assert bar.undo_button.isHidden()
    bar.say("Look here.", stays=True)
    bar.say("Off.", undo=lambda: undone.append("again"))
    QTest.mouseClick(bar.undo_button, Qt.MouseButton.LeftButton)
    assert undone == ["again"]
    assert bar.text == "Look here."
    assert bar.undo_button.isHidden()
