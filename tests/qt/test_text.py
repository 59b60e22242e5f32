"""Text where there is no room for it: a label has a short form, code goes on below."""

from __future__ import annotations

import pytest
from PySide6.QtCore import QEvent, QObject, Signal
from PySide6.QtGui import QFont, QFontMetrics, QTextLayout
from PySide6.QtWidgets import QVBoxLayout, QWidget
from pytestqt.qtbot import QtBot

from gpumon_gui.bridge.translation import Translation
from gpumon_gui.ui.theme import Theme
from gpumon_gui.ui.widgets import command_box
from gpumon_gui.ui.widgets.command_box import CodeText
from gpumon_gui.ui.widgets.text import FixedLabel

NAME, SHORT = "NVIDIA GeForce RTX 4060 Laptop GPU", "RTX 4060 Laptop"


class Painted(QObject):
    """Tells when a widget was painted."""

    painted = Signal()

    def __init__(self, widget: QWidget) -> None:
        super().__init__(widget)
        widget.installEventFilter(self)

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        if event.type() is QEvent.Type.Paint:
            self.painted.emit()
        return False


@pytest.mark.parametrize(
    ("room_for", "shown"),
    [(NAME, NAME), (NAME[:-3], SHORT), (SHORT, SHORT), ("RTX 4060…", "RTX 4060…"), ("RT", "")],
    ids=["whole", "a letter too little", "the short form", "a part of it", "nothing that tells anything"],
)
def test_what_is_shown_of_a_name(qtbot: QtBot, room_for: str, shown: str) -> None:
    label = FixedLabel(Theme())
    qtbot.addWidget(label)
    label.resize(QFontMetrics(label.font()).horizontalAdvance(room_for) + 2, 20)
    label.set_text(NAME, SHORT)
    assert label.line() == shown
    assert label.text == label.accessibleName() == NAME
    assert (label.toolTip() == NAME) == (shown != NAME)


def test_another_short_form_of_the_same_is_drawn(qtbot: QtBot) -> None:
    window = QWidget()  # Windows lets no window be as narrow as that
    qtbot.addWidget(window)
    label = FixedLabel(Theme(), parent=window)
    label.resize(QFontMetrics(label.font()).horizontalAdvance("L4 (virtual)") + 2, 20)
    label.set_text("NVIDIA L4 of a server", "L4 (virtual)")
    painted = Painted(label).painted
    with qtbot.waitSignal(painted, timeout=5000):
        window.show()
    before = label.grab().toImage()
    with qtbot.waitSignal(painted, timeout=5000):
        label.set_text("NVIDIA L4 of a server", "L4")  # in another language
    assert label.grab().toImage() != before


def test_a_short_form_of_two_letters_is_shown(qtbot: QtBot) -> None:
    label = FixedLabel(Theme())
    qtbot.addWidget(label)
    label.resize(QFontMetrics(label.font()).horizontalAdvance("L4") + 1, 20)
    label.set_text("NVIDIA L4", "L4")
    assert label.line() == "L4"


def test_the_letters_of_another_language_have_room(qtbot: QtBot) -> None:
    translation, page = Translation(), QWidget()
    qtbot.addWidget(page)
    label = FixedLabel(Theme(), parent=page)
    column = QVBoxLayout(page)
    column.addWidget(label)
    column.addStretch(1)
    page.resize(300, 200)
    page.show()
    heights = []
    for language in ("en", "zh_CN", "en"):
        translation.set_language(language)
        qtbot.waitUntil(lambda: label.height() == label.sizeHint().height(), timeout=5000)
        heights.append(label.height())
    assert heights[0] == heights[2]
    translation.deleteLater()


def test_code_is_broken_between_its_words(qtbot: QtBot, monkeypatch: pytest.MonkeyPatch) -> None:
    made: list[QTextLayout] = []

    class Layout(QTextLayout):
        def __init__(self, text: str, font: QFont) -> None:
            super().__init__(text, font)
            made.append(self)

    monkeypatch.setattr(command_box, "QTextLayout", Layout)
    code = CodeText(Theme(), "    loss = loss_function(model(batch), target)")
    qtbot.addWidget(code)
    letter = QFontMetrics(code.font()).horizontalAdvance("0")
    for letters in (24, 33, 40):
        made.clear()
        code.heightForWidth(letters * letter)
        lines = [made[0].lineAt(number) for number in range(made[0].lineCount())]
        rows = [made[0].text()[line.textStart() :][: line.textLength()].replace("\u200b", "") for line in lines]
        assert len(rows) > 1
        assert all(row.endswith(("(", ",", "=", " ")) for row in rows[:-1]), rows
        assert "".join(rows) == code.text
