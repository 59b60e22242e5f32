"""What a chart shows, says and spares."""

from __future__ import annotations

import weakref

import numpy as np
import pytest
from PySide6.QtCore import QEvent, QObject, QPoint, Qt
from PySide6.QtGui import QColor, QFocusEvent, QImage, QPaintEvent
from PySide6.QtTest import QTest
from pytestqt.qtbot import QtBot

from gpumon_gui.ui.charts.bands import Band, BandStyle
from gpumon_gui.ui.charts.chart_grid import places
from gpumon_gui.ui.charts.plot import Plot
from gpumon_gui.ui.charts.time_chart import TimeChart
from gpumon_gui.ui.theme import Theme

TIMES = np.arange(0.0, 61.0)


@pytest.fixture
def chart(qtbot: QtBot) -> TimeChart:
    made = TimeChart(Theme())
    qtbot.addWidget(made)
    made.resize(400, 200)
    return made


class Painted(QObject):
    """The lowest row of each repaint of a widget."""

    def __init__(self) -> None:
        super().__init__()
        self.lowest: list[int] = []

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        if isinstance(event, QPaintEvent):
            self.lowest.append(event.region().boundingRect().bottom())
        return False


def column_colours(chart: TimeChart, share: float) -> set[str]:
    """Colours in the pixel column at ``share`` of the plot's width, just above the lower edge."""
    plot = chart.findChildren(Plot)[0]
    image: QImage = chart.grab().toImage()
    at = plot.mapTo(chart, QPoint(round(plot.width() * share), plot.height()))
    ratio = image.devicePixelRatio()
    return {QColor(image.pixel(int(at.x() * ratio), int((at.y() - up) * ratio))).name() for up in range(3, 9)}


def test_values_are_filled_and_missing_ones_are_not(chart: TimeChart, qtbot: QtBot) -> None:
    theme = Theme()
    values = np.full(61, 0.8)
    values[25:36] = np.nan
    chart.show()
    chart.set_data(TIMES, values, 60.0, 0.0)
    empty = QColor(theme.colours.chart_back).name()
    grid = QColor(theme.colours.chart_grid).name()
    assert column_colours(chart, 0.52) <= {empty, grid}
    assert empty not in column_colours(chart, 0.12)


def test_a_steady_value_is_filled_down_to_zero_when_it_is_new(chart: TimeChart, qtbot: QtBot) -> None:
    plot = chart.findChildren(Plot)[0]
    painted = Painted()
    plot.viewport().installEventFilter(painted)
    with qtbot.waitExposed(chart):
        chart.show()
    qtbot.waitUntil(lambda: bool(painted.lowest))
    for _ in range(2):
        painted.lowest.clear()
        chart.set_data(TIMES, np.full(61, 0.8), 60.0, 0.0)
        qtbot.waitUntil(lambda: bool(painted.lowest))
    assert max(painted.lowest) >= plot.viewport().height() - 1


def test_texts(chart: TimeChart) -> None:
    chart.set_texts("Compute", "87 %", "GPU 0 Compute 87 percent")
    assert (chart.caption.text, chart.figure.text) == ("Compute", "87 %")
    assert chart.accessibleName() == "GPU 0 Compute 87 percent"


def test_the_keyboard_walks_from_value_to_value_and_each_is_announced(
    chart: TimeChart, qtbot: QtBot, monkeypatch: pytest.MonkeyPatch
) -> None:
    said: list[str] = []
    monkeypatch.setattr("gpumon_gui.ui.charts.time_chart.announce", lambda _widget, text: said.append(text))
    values = np.linspace(0.0, 0.6, 61)
    values[58] = np.nan
    chart.set_texts("", "60 %", "GPU 0 Compute 60 percent", "GPU-Util\nSource: NVML")
    chart.set_data(TIMES, values, 60.0, 1_000_060.0)
    chart.show()
    assert chart.focusPolicy() & Qt.FocusPolicy.TabFocus
    for key in (Qt.Key.Key_Left, Qt.Key.Key_Left, Qt.Key.Key_Left, Qt.Key.Key_Home, Qt.Key.Key_Left, Qt.Key.Key_End):
        QTest.keyClick(chart, key)
    assert [text.split(",")[0] for text in said] == ["60 %", "59 %", "no value", "0 %", "0 %", "60 %"]
    assert chart.foot.startswith("60 %")
    chart.set_data(TIMES + 5.0, values, 65.0, 1_000_065.0)  # time goes on, the cross-hair stays on its moment
    assert chart.cursor_utc_s == 1_000_060.0
    assert chart.foot.startswith("55 %")
    QTest.keyClick(chart, Qt.Key.Key_Escape)
    assert chart.foot == "60 seconds"
    assert "NVML" in chart.accessibleDescription()
    assert "NVML" in chart.whatsThis()


def test_the_cross_hair_is_seen_while_the_chart_has_the_keyboard(chart: TimeChart, qtbot: QtBot) -> None:
    chart.set_data(TIMES, np.zeros(61), 60.0, 1_000_060.0)
    chart.show()
    before = column_colours(chart, 0.25)
    chart.focusInEvent(QFocusEvent(QEvent.Type.FocusIn, Qt.FocusReason.TabFocusReason))
    for key in (Qt.Key.Key_Home, *[Qt.Key.Key_Right] * 15):
        QTest.keyClick(chart, key)
    assert column_colours(chart, 0.25) != before
    chart.focusOutEvent(QFocusEvent(QEvent.Type.FocusOut, Qt.FocusReason.TabFocusReason))
    assert column_colours(chart, 0.25) == before


def test_nothing_is_drawn_while_hidden(chart: TimeChart, monkeypatch: pytest.MonkeyPatch) -> None:
    drawn: list[int] = []
    monkeypatch.setattr(Plot, "set_data", lambda self, ago, values: drawn.append(len(ago)))
    chart.set_data(TIMES, np.zeros(61), 60.0, 0.0)
    assert drawn == []
    chart.show()
    assert drawn[-1:] == [61]  # what arrived while hidden
    drawn.clear()
    chart.set_data(TIMES, np.zeros(61), 60.0, 0.0)
    assert drawn == [61]


def test_chart_is_freed(qtbot: QtBot) -> None:
    theme = Theme()
    chart = TimeChart(theme)
    chart.show()
    chart.set_data(TIMES, np.zeros(61), 60.0, 0.0)
    plot = weakref.ref(chart.findChildren(Plot)[0])
    gone = weakref.ref(chart)
    chart.close()
    chart.deleteLater()
    qtbot.waitUntil(lambda: not _valid(gone), timeout=2000)
    del chart
    import gc

    gc.collect()
    assert gone() is None
    assert plot() is None


def _valid(ref: weakref.ref[TimeChart]) -> bool:
    import shiboken6

    found = ref()
    return found is not None and shiboken6.isValid(found)


def row_colours(chart: TimeChart, row: int) -> list[str]:
    """Colours along a row of the plot, counted from its upper edge."""
    plot = chart.findChildren(Plot)[0]
    image: QImage = plot.grab().toImage()
    ratio = image.devicePixelRatio()
    return [QColor(image.pixel(int(x * ratio), int(row * ratio))).name() for x in range(plot.width())]


def test_a_marked_part_has_a_strip_on_top_between_two_edges(chart: TimeChart) -> None:
    theme = Theme()
    chart.show()
    chart.set_data(TIMES, np.full(61, np.nan), 60.0, 1060.0)
    chart.set_bands((Band(1015.0, 1030.0, "waits", "attention"),))
    colour = QColor(theme.colours.attention).name()
    row = row_colours(chart, 1)
    width = len(row)
    inside = [x for x, one in enumerate(row) if one == colour]
    assert inside[0] == pytest.approx(width * 0.25, abs=2)
    assert inside[-1] == pytest.approx(width * 0.5, abs=2)
    assert len(inside) == inside[-1] - inside[0] + 1
    dashes = [y for y in range(8, 120) if row_colours(chart, y)[inside[0]] == colour]
    assert 10 < len(dashes) < 110  # dashed: told from a full edge without the colour


def test_marks_differ_without_their_colour(chart: TimeChart) -> None:
    chart.show()
    chart.set_data(TIMES, np.full(61, np.nan), 60.0, 1060.0)
    grey = []
    for style in BandStyle:
        chart.set_bands((Band(1015.0, 1030.0, "", "attention", style),))
        grey.append(chart.grab().toImage().convertToFormat(QImage.Format.Format_Grayscale8))
    assert grey[0] != grey[1] != grey[2] != grey[0]


def test_marks_out_of_sight_and_none_at_all_draw_nothing(chart: TimeChart) -> None:
    chart.show()
    chart.set_data(TIMES, np.full(61, 0.5), 60.0, 1060.0)
    plain = chart.grab().toImage()
    assert chart.findChildren(Plot)[0]._bands is None  # no item, no cost
    chart.set_bands((Band(900.0, 999.0, "long ago"),))
    assert chart.grab().toImage() == plain
    chart.set_bands((Band(1010.0, 1020.0, "waits"),))
    assert chart.grab().toImage() != plain
    chart.set_bands(())
    assert chart.grab().toImage() == plain


def test_the_tool_tip_names_the_marks_below_the_pointer(chart: TimeChart) -> None:
    chart.set_data(TIMES, np.full(61, 0.5), 60.0, 1060.0)
    chart.set_bands((Band(1010.0, 1020.0, "waits"), Band(1015.0, 1030.0, "is hot"), Band(1016.0, 1017.0, "waits")))
    assert chart.explanation(-44.0).split("\n")[2:] == ["waits", "is hot"]
    assert chart.explanation(-35.0).split("\n")[2:] == ["is hot"]
    assert chart.explanation(-5.0).startswith("50 %")


def test_the_tool_tip_says_nothing_of_a_time_before_the_first_value(chart: TimeChart) -> None:
    chart.set_data(TIMES[-5:], np.full(5, 0.5), 60.0, 1060.0)
    assert chart.explanation(-50.0) == ""
    assert chart.explanation(-3.0).startswith("50 %")
    chart.set_data(TIMES[:0], np.empty(0), 60.0, 1060.0)
    assert chart.explanation(-3.0) == ""


@pytest.mark.parametrize("widest", [1, 2, 3])
@pytest.mark.parametrize("memories", [0, 1, 2])
@pytest.mark.parametrize("engines", [0, 1, 2, 3, 4])
def test_charts_fill_their_grid_without_gaps_or_overlaps(engines: int, memories: int, widest: int) -> None:
    found = places(engines, memories, widest)
    assert len(found) == engines + memories
    cells = [
        (column, row)
        for place in found
        for column in range(place.column, place.column + place.columns)
        for row in range(place.row, place.row + place.rows)
    ]
    columns = max((column for column, _row in cells), default=0) + 1
    rows = max((row for _column, row in cells), default=-1) + 1
    assert columns <= widest
    assert sorted(cells) == [(column, row) for column in range(columns if found else 0) for row in range(rows)]


def test_four_engines_stand_two_by_two_with_memory_beside_them() -> None:
    assert [(place.column, place.row) for place in places(4, 2, 3)] == [(0, 0), (1, 0), (0, 1), (1, 1), (2, 0), (2, 1)]
    assert places(4, 1, 3)[-1].rows == 2
