"""Contrast of every scheme, and that the theme follows."""

from __future__ import annotations

import sys

import pytest
from PySide6.QtGui import QColor, QPalette
from PySide6.QtWidgets import QApplication, QToolTip
from pytestqt.qtbot import QtBot

from gpumon_gui.ui.theme import SCHEMES, Colours, Scheme, Theme
from tests.qt.contrast import contrast


@pytest.mark.parametrize("name", SCHEMES)
def test_contrast(name: str) -> None:
    colours: Colours = SCHEMES[name]
    for back in (colours.window, colours.surface, colours.selected, colours.hover):
        assert contrast(colours.text, back) >= 7.0, back
        assert contrast(colours.muted, back) >= 4.5, back
    for back in (colours.window, colours.surface):
        assert contrast(colours.faint, back) >= 4.0, back
    for series, colour in colours.series.items():
        assert contrast(colour, colours.chart_back) >= 3.0, series
    for mark, back in (
        (colours.good, colours.good_back),
        (colours.attention, colours.attention_back),
        (colours.bad, colours.bad_back),
        (colours.info, colours.info_back),
    ):
        assert contrast(mark, back) >= 4.5, mark
        assert contrast(colours.text, back) >= 7.0, back
    assert contrast(colours.accent, colours.on_accent) >= 4.5


def test_choosing_a_scheme_repaints(qapp: QApplication, qtbot: QtBot) -> None:
    theme = Theme()
    with qtbot.waitSignal(theme.changed):
        theme.set_scheme(Scheme.DARK)
    assert theme.colours.dark
    assert qapp.palette().color(QPalette.ColorRole.Window) == QColor(theme.colours.window)
    theme.set_scheme(Scheme.SYSTEM)
    assert not theme.colours.dark  # the offscreen platform knows no dark scheme


@pytest.mark.skipif(sys.platform == "win32", reason="Windows colours its own")
def test_tool_tips_have_the_colours_of_the_theme(qapp: QApplication) -> None:
    before = QToolTip.palette()
    theme = Theme()
    for scheme in (Scheme.DARK, Scheme.LIGHT):
        theme.set_scheme(scheme)
        tip = QToolTip.palette()
        back, text = (
            tip.color(role).name() for role in (QPalette.ColorRole.ToolTipBase, QPalette.ColorRole.ToolTipText)
        )
        assert (back, text) == (theme.colours.surface, theme.colours.text)
    theme.set_scheme(Scheme.SYSTEM)
    QToolTip.setPalette(before)
