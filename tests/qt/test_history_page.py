"""The History page in the real window: zoom, pan, cross-hair, markers, export, compare, empty, off."""

from __future__ import annotations

import csv
import dataclasses
import io
import json
import os
import sqlite3
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from types import ModuleType

import numpy as np
import pytest
from PySide6.QtCore import QPoint, QPointF, Qt
from PySide6.QtGui import QAction, QGuiApplication, QImage, QWheelEvent
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QFileDialog, QMessageBox, QWidget
from pytestqt.qtbot import QtBot

from gpumon_gui.bridge.feed import Feed, FeedState, FeedStatus
from gpumon_gui.bridge.history import History
from gpumon_gui.bridge.history_reader import ExportForm
from gpumon_gui.bridge.translation import Translation
from gpumon_gui.core import messages
from gpumon_gui.core.clock import FakeClock
from gpumon_gui.history.marker import Marker, MarkerKind
from gpumon_gui.history.reading import Span
from gpumon_gui.history.retention import HistoryOptions
from gpumon_gui.history.schema import DAY_S, HOUR_S
from gpumon_gui.ui.charts.history_plot import AXIS_WIDTH
from gpumon_gui.ui.main_window import MainWindow
from gpumon_gui.ui.pages.history import HistoryPage
from gpumon_gui.ui.theme import Scheme, Theme
from gpumon_gui.ui.widgets import history_texts as texts
from tests.conftest import packaging_module
from tests.qt.samples import START_UTC_S, device_key, make_sample
from tests.qt.test_main_window import RecordingOrigin
from tests.qt.test_stretch import LONGER, Longer, cut, settle

NOW_S = START_UTC_S + 8 * HOUR_S  # a quarter of an hour ends
DAYS = 4
PATIENCE_MS = 8000


@pytest.fixture(scope="session")
def demo() -> ModuleType:
    return packaging_module("demo_history")


@pytest.fixture(scope="session")
def month(demo: ModuleType, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Four days of two scripted cards; a copy is taken where something is changed."""
    path = tmp_path_factory.mktemp("history") / "history.db"
    demo.fill(path, demo.Machine(2, float(DAYS), int(NOW_S)))
    return path


@pytest.fixture
def feed(qapp: QApplication) -> Iterator[Feed]:
    made = Feed()
    made.set_status(FeedStatus(FeedState.LIVE))
    yield made
    made.deleteLater()


@pytest.fixture
def clock() -> FakeClock:
    return FakeClock(NOW_S)


@pytest.fixture
def window(feed: Feed, qtbot: QtBot) -> Iterator[MainWindow]:
    translation = Translation()
    theme = Theme()
    theme.set_scheme(Scheme.LIGHT)
    made = MainWindow(feed, theme, translation, RecordingOrigin())
    qtbot.addWidget(made)
    made.resize(1280, 800)
    made.show()
    made.activateWindow()
    qtbot.waitUntil(made.isActiveWindow, timeout=5000)
    made.show_page("history")
    yield made
    assert made.close_down()
    translation.set_language("en")
    theme.set_scheme(Scheme.SYSTEM)
    theme.deleteLater()
    translation.deleteLater()


@pytest.fixture
def page(window: MainWindow) -> HistoryPage:
    made = window.pages["history"]
    assert isinstance(made, HistoryPage)
    return made


@pytest.fixture
def make_history(clock: FakeClock) -> Iterator[Callable[..., History]]:
    made: list[History] = []

    def make(path: Path, **more: object) -> History:
        made.append(History(path, clock, **more))  # type: ignore[arg-type]
        return made[-1]

    yield make
    for history in made:
        assert history.close()
        history.deleteLater()


@pytest.fixture
def filled(page: HistoryPage, month: Path, make_history: Callable[..., History], qtbot: QtBot) -> HistoryPage:
    """The page over four days of two cards, read only."""
    page.set_history(make_history(month, is_written=False))
    page.asked.set_range(DAY_S)
    wait_for(page, qtbot)
    return page


def wait_for(page: HistoryPage, qtbot: QtBot) -> None:
    """Until what is on show is the answer to what was asked."""

    def is_there() -> bool:
        span, reading = page.asked.span, page.asked.reading
        return reading is not None and not page.asked.is_asking and abs(reading.span.left_s - span.left_s) < 2.0

    qtbot.waitUntil(is_there, timeout=PATIENCE_MS)
    settle()


def keep(history: History, utc_s: float) -> None:
    """A sample of one GPU, written now."""
    history.offer(dataclasses.replace(make_sample(1), utc_s=utc_s))
    history.flush()


def _says(page: HistoryPage, text: str) -> bool:
    return text in page.message.text


def place(page: HistoryPage, share: float, metric: int = 0) -> QPoint:
    """A point of the canvas: so far from the left edge of the plots, in the middle of one of them."""
    chart = list(page.stack.charts.values())[metric]
    x = AXIS_WIDTH + share * page.stack.columns()
    return QPoint(round(x), chart.y() + chart.plot.y() + chart.plot.height() // 2)


def wheel(page: HistoryPage, share: float, turns: int, modifiers: Qt.KeyboardModifier | None = None) -> None:
    position = QPointF(place(page, share))
    event = QWheelEvent(
        position,
        page.stack.canvas.mapToGlobal(position),
        QPoint(),
        QPoint(0, 120 * turns),
        Qt.MouseButton.NoButton,
        Qt.KeyboardModifier.NoModifier if modifiers is None else modifiers,
        Qt.ScrollPhase.NoScrollPhase,
        False,
    )
    QApplication.sendEvent(page.stack.canvas, event)


def trigger(page: HistoryPage, menu: str, text: str) -> None:
    """Choose an entry of one of the page's menus."""
    shown = getattr(page.menus, menu)
    shown.aboutToShow.emit()
    action = next(action for action in shown.actions() if text in action.text())
    assert action.isEnabled()
    action.trigger()


# -- what is shown


def test_a_day_of_the_first_card_is_shown_with_its_figures(filled: HistoryPage) -> None:
    assert filled.asked.device is not None
    assert filled.asked.device.name == "NVIDIA H200"
    assert filled.head.device_button.text() == "GPU 0"
    assert filled.figures.shown_metrics == ("gpu_utilization", "memory_used_bytes", "power_w", "temperature_c")
    reading = filled.asked.reading
    assert reading is not None
    assert abs(reading.span.length_s - DAY_S) < 2
    power = reading.figures["power_w"]
    assert 30 <= power.low <= power.mean <= power.high < 800
    said = filled.figures.readout.text()
    assert "In this span" in said
    assert "Energy" in said
    assert "kWh" in said
    assert "mean" in filled.stack.charts["power_w"].figure.text
    assert "GPU 0 Power: mean" in filled.stack.charts["power_w"].accessibleName()
    assert filled.stack.accessibleName().startswith("History of GPU 0, ")
    assert filled.foot.size_label.text.startswith("History: ")
    assert "since" in filled.foot.size_label.text
    assert filled.foot.delete_button.isHidden()  # this file is only looked at


def test_curve_band_and_axis_are_drawn(filled: HistoryPage) -> None:
    plot = filled.stack.charts["gpu_utilization"].plot
    image = plot.grab().toImage()
    colours = {image.pixelColor(x, y).name() for x in range(60, image.width(), 2) for y in range(0, image.height(), 2)}
    assert len(colours) > 8
    labels = [text for _x, text in filled.stack.axis.labels()]
    assert len(labels) >= 4
    assert any(":" in text for text in labels)
    assert plot.drawing.labels == ("100 %", "50 %", "0 %")


def test_a_gap_is_a_gap(filled: HistoryPage, qtbot: QtBot, demo: ModuleType) -> None:
    """While the machine was off nothing is drawn, and the cross-hair says so."""
    filled.asked.set_range(7 * DAY_S)
    wait_for(filled, qtbot)
    series = filled.asked.reading.series["power_w"]  # type: ignore[union-attr]
    assert np.isnan(series.mean).any()
    off = [at for at in np.arange(NOW_S - DAYS * DAY_S, NOW_S, 600.0) if demo.asleep(np.array([at]))[0]]
    filled.stack.set_cursor_at(float(off[len(off) // 2]))
    assert "Power	—" in filled.figures.readout.text()


def test_a_span_without_values_says_so(filled: HistoryPage, qtbot: QtBot, demo: ModuleType) -> None:
    moments = np.arange(NOW_S - DAYS * DAY_S, NOW_S, 600.0)
    off = moments[[bool(demo.asleep(np.array([at]))[0]) for at in moments]]
    filled.show_span(off[1], off[1] + 600)
    wait_for(filled, qtbot)
    assert filled.figures.shown_metrics == ("gpu_utilization", "memory_used_bytes", "power_w", "temperature_c")
    for chart in filled.stack.charts.values():
        assert chart.figure.text == "no value"
        assert chart.plot.drawing.labels == ()  # no scale is made up
    assert "Nothing was kept of this time." in filled.figures.readout.text()


def test_another_device_and_other_charts(filled: HistoryPage, qtbot: QtBot) -> None:
    trigger(filled, "device", "GPU 1")
    wait_for(filled, qtbot)
    assert filled.head.device_button.text() == "GPU 1"
    trigger(filled, "metrics", "SM activity")
    assert filled.figures.shown_metrics[-1] == "sm_activity"
    trigger(filled, "metrics", "Power")
    assert "power_w" not in filled.figures.shown_metrics
    trigger(filled, "device", "CPU and memory")
    wait_for(filled, qtbot)
    assert list(filled.figures.shown_metrics) == ["cpu_utilization", "ram_used_bytes"]
    trigger(filled, "device", "GPU 0")
    wait_for(filled, qtbot)
    assert filled.figures.shown_metrics[-1] == "sm_activity"  # the choice is kept


def test_what_has_no_value_cannot_be_chosen(filled: HistoryPage) -> None:
    menu = filled.menus.metrics
    menu.aboutToShow.emit()
    enabled = {action.text(): action.isEnabled() for action in menu.actions()}
    assert enabled["Fan"] is False
    assert enabled["SM clock"] is True


# -- moving


def test_each_range_is_shown(filled: HistoryPage, qtbot: QtBot) -> None:
    for button in filled.head.range_choice._group.buttons():
        QTest.mouseClick(button, Qt.MouseButton.LeftButton)
        wait_for(filled, qtbot)
        seconds = filled.head.range_choice._group.id(button)
        assert abs(filled.asked.span.length_s - seconds) < 1
        assert not filled.head.now_button.isEnabled()


def test_the_wheel_zooms_at_the_pointer(filled: HistoryPage, qtbot: QtBot) -> None:
    before = filled.asked.span
    at_s = filled.stack.utc_at(place(filled, 0.25).x())
    wheel(filled, 0.25, 3)
    wait_for(filled, qtbot)
    after = filled.asked.span
    assert after.length_s == pytest.approx(before.length_s / 1.3**3, rel=1e-6)
    assert filled.stack.utc_at(place(filled, 0.25).x()) == pytest.approx(at_s, abs=before.length_s / 1000)
    wheel(filled, 0.25, -3)
    wait_for(filled, qtbot)
    assert filled.asked.span.length_s == pytest.approx(before.length_s, rel=1e-6)


def test_shift_and_wheel_pan(filled: HistoryPage, qtbot: QtBot) -> None:
    before = filled.asked.span
    wheel(filled, 0.5, 1, Qt.KeyboardModifier.ShiftModifier)
    wait_for(filled, qtbot)
    assert filled.asked.span.left_s == pytest.approx(before.left_s - before.length_s / 8, abs=1)


def test_a_drag_zooms_to_the_part_and_a_double_click_goes_back(filled: HistoryPage, qtbot: QtBot) -> None:
    left_s, right_s = (filled.stack.utc_at(place(filled, share).x()) for share in (0.4, 0.6))
    canvas = filled.stack.canvas
    QTest.mousePress(canvas, Qt.MouseButton.LeftButton, pos=place(filled, 0.4))
    QTest.mouseMove(canvas, place(filled, 0.5))
    QTest.mouseMove(canvas, place(filled, 0.6))
    QTest.mouseRelease(canvas, Qt.MouseButton.LeftButton, pos=place(filled, 0.6))
    wait_for(filled, qtbot)
    assert filled.asked.span.left_s == pytest.approx(left_s, abs=60)
    assert filled.asked.span.right_s == pytest.approx(right_s, abs=60)
    assert filled.head.now_button.isEnabled()
    assert filled.head.range_choice._group.checkedButton() is None  # none of the ranges is on show
    QTest.mouseDClick(canvas, Qt.MouseButton.LeftButton, pos=place(filled, 0.5))
    wait_for(filled, qtbot)
    assert filled.head.range_choice._group.checkedId() == DAY_S
    assert filled.asked.span.length_s == DAY_S
    assert not filled.head.now_button.isEnabled()


def test_shift_and_drag_pan(filled: HistoryPage, qtbot: QtBot) -> None:
    before = filled.asked.span
    canvas, shift = filled.stack.canvas, Qt.KeyboardModifier.ShiftModifier
    QTest.mousePress(canvas, Qt.MouseButton.LeftButton, shift, place(filled, 0.25))
    QTest.mouseMove(canvas, place(filled, 0.5))
    QTest.mouseRelease(canvas, Qt.MouseButton.LeftButton, shift, place(filled, 0.5))
    wait_for(filled, qtbot)
    assert filled.asked.span.left_s == pytest.approx(before.left_s - before.length_s / 4, abs=before.length_s / 200)


def test_everything_by_keyboard(filled: HistoryPage, qtbot: QtBot) -> None:
    stack = filled.stack
    stack.setFocus(Qt.FocusReason.TabFocusReason)
    day = filled.asked.span
    QTest.keyClick(stack, Qt.Key.Key_Plus)
    wait_for(filled, qtbot)
    assert filled.asked.span.length_s == pytest.approx(day.length_s / 1.3)
    QTest.keyClick(stack, Qt.Key.Key_Minus)
    wait_for(filled, qtbot)
    assert filled.asked.span.length_s == pytest.approx(day.length_s)
    QTest.keyClick(stack, Qt.Key.Key_Left)
    wait_for(filled, qtbot)
    assert filled.asked.span.right_s == pytest.approx(day.right_s - day.length_s / 8, abs=2)
    QTest.keyClick(stack, Qt.Key.Key_PageUp)
    wait_for(filled, qtbot)
    QTest.keyClick(stack, Qt.Key.Key_Home)
    wait_for(filled, qtbot)
    assert filled.asked.span.left_s == pytest.approx(NOW_S - DAYS * DAY_S, abs=2)
    QTest.keyClick(stack, Qt.Key.Key_Right)
    wait_for(filled, qtbot)
    QTest.keyClick(stack, Qt.Key.Key_End)
    wait_for(filled, qtbot)
    assert filled.asked.span.right_s == pytest.approx(NOW_S, abs=2)
    QTest.keyClick(stack, Qt.Key.Key_Right, Qt.KeyboardModifier.ShiftModifier)
    assert stack.cursor_s == pytest.approx((filled.asked.span.left_s + filled.asked.span.right_s) / 2)
    QTest.keyClick(stack, Qt.Key.Key_Right, Qt.KeyboardModifier.ShiftModifier)
    assert (stack.cursor_s or 0.0) > (filled.asked.span.left_s + filled.asked.span.right_s) / 2
    assert "Power" in stack.accessibleDescription()
    QTest.keyClick(stack, Qt.Key.Key_Escape)
    assert stack.cursor_s is None
    QTest.keyClick(stack, Qt.Key.Key_Plus)
    QTest.keyClick(stack, Qt.Key.Key_Backspace)
    wait_for(filled, qtbot)
    assert filled.asked.span.length_s == DAY_S


def test_tab_reaches_every_control_from_top_to_bottom(filled: HistoryPage, window: MainWindow) -> None:
    filled.foot.delete_button.show()  # as for a history that is written
    filled.head.device_button.setFocus(Qt.FocusReason.TabFocusReason)
    reached: list[QWidget | None] = []
    while window.focusWidget() not in reached:
        reached.append(window.focusWidget())
        QTest.keyClick(window.focusWidget(), Qt.Key.Key_Tab)
    places = [
        reached.index(widget)
        for widget in (
            filled.head.device_button,
            filled.head.zoom_in_button,
            filled.head.metrics_button,
            filled.head.compare_button,
            filled.head.export_button,
            filled.stack,
            filled.figures.readout._scroll,
            filled.foot.delete_button,
        )
    ]
    assert places == sorted(places)


def test_the_keys_of_the_charts_work_on_the_whole_page_and_are_written_down(filled: HistoryPage, qtbot: QtBot) -> None:
    before = filled.asked.span
    filled.head.export_button.setFocus()
    QTest.keyClick(filled.head.export_button, Qt.Key.Key_Plus)
    wait_for(filled, qtbot)
    assert filled.asked.span.length_s == pytest.approx(before.length_s / 1.3)
    assert filled.head.zoom_in_button.toolTip() == "Zoom in (+)"
    QTest.keyClick(filled.head.export_button, Qt.Key.Key_Backspace)
    assert filled.asked.is_at_range
    assert "Backspace" in filled.head.now_button.toolTip()
    assert "Shift+M" in filled.stack.whatsThis()


@pytest.fixture
def told(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """What a screen reader is told."""
    found: list[str] = []
    for place in ("pages.history", "widgets.history_figures"):
        monkeypatch.setattr(f"gpumon_gui.ui.{place}.announce", lambda _widget, text: found.append(text))
    return found


def test_moves_are_told_to_a_screen_reader(filled: HistoryPage, told: list[str], qtbot: QtBot) -> None:
    stack = filled.stack
    stack.setFocus(Qt.FocusReason.TabFocusReason)
    wait_for(filled, qtbot)
    told.clear()
    for key in (Qt.Key.Key_Plus, Qt.Key.Key_Left, Qt.Key.Key_Home, Qt.Key.Key_End, Qt.Key.Key_Backspace):
        QTest.keyClick(stack, key)
        wait_for(filled, qtbot)
        assert told[-1] == f"GPU 0; {filled.head.span_label.text.split(' · ')[0]}"
    assert len(told) == 5
    QTest.keyClick(stack, Qt.Key.Key_Right, Qt.KeyboardModifier.ShiftModifier)
    assert told[-1].startswith(filled.figures.readout.heading.text + "; GPU utilization ")
    assert " °C; Power " in told[-1]
    assert "PCIe" not in told[-1]  # only what has a chart
    count = len(told)
    QTest.keyClick(stack, Qt.Key.Key_Escape)
    filled.asked.ask()  # time goes on
    wait_for(filled, qtbot)
    assert len(told) == count


def test_two_spans_are_compared_by_keyboard(filled: HistoryPage, told: list[str], qtbot: QtBot) -> None:
    QTest.keyClick(filled.head.compare_button, Qt.Key.Key_Return)
    menu = filled.menus.compare
    assert menu.isVisible()
    while menu.activeAction() is None or "A day earlier" not in menu.activeAction().text():
        QTest.keyClick(menu, Qt.Key.Key_Down)
    QTest.keyClick(menu, Qt.Key.Key_Return)
    qtbot.waitUntil(lambda: filled.asked.other is not None, timeout=PATIENCE_MS)
    assert "Second curve: " in told[-1]
    filled.stack.setFocus()
    QTest.keyClick(filled.stack, Qt.Key.Key_Right, Qt.KeyboardModifier.ShiftModifier)
    row = filled.figures.readout.rows.rows[0]
    assert f"{row.name} {row.lines[0][0]}, {row.lines[1][0]}" in told[-1]
    QTest.keyClick(filled.stack, Qt.Key.Key_Escape)
    QTest.keyClick(filled.stack, Qt.Key.Key_Escape)
    assert filled.asked.compared is None


def test_no_key_waits_for_all_charts(filled: HistoryPage, qtbot: QtBot) -> None:
    """A chart takes some milliseconds to draw: they are drawn one by one, each in its turn."""
    plots = [chart.plot for chart in filled.stack.charts.values()]

    def undrawn() -> int:
        return sum(plot._is_stale for plot in plots)

    qtbot.waitUntil(lambda: undrawn() == 0, timeout=PATIENCE_MS)
    filled.stack.pan(-0.5)
    assert undrawn() == len(plots)
    filled.stack._draw_next()
    assert undrawn() == len(plots) - 1
    first = next(plot for plot in plots if not plot._is_stale)
    filled.stack.pan(-0.5)  # the next one is drawn, not the first again
    filled.stack._draw_next()
    assert first._is_stale
    wait_for(filled, qtbot)
    qtbot.waitUntil(lambda: undrawn() == 0, timeout=PATIENCE_MS)


def test_no_zoom_or_pan_leads_into_nothing(filled: HistoryPage, qtbot: QtBot) -> None:
    for _step in range(80):
        filled.stack.zoom(1.3, filled.asked.span.right_s)
    assert filled.asked.span.length_s == 30.0
    for _step in range(120):
        filled.stack.zoom(1 / 1.3)
    assert filled.asked.span.length_s == 400.0 * DAY_S
    for _step in range(30):
        filled.stack.pan(5.0)
    assert filled.asked.span.right_s <= NOW_S + 1
    for _step in range(30):
        filled.stack.pan(-5.0)
    assert filled.asked.span.right_s > NOW_S - DAYS * DAY_S
    filled.asked.set_range(HOUR_S)
    wait_for(filled, qtbot)


def test_zooming_far_in_shows_seconds(filled: HistoryPage, qtbot: QtBot) -> None:
    filled.show_span(NOW_S - 700, NOW_S - 400)
    wait_for(filled, qtbot)
    assert filled.asked.reading is not None
    assert filled.asked.reading.step_s == 1
    assert len(filled.asked.reading.series["power_w"]) >= 300
    assert "each second" in filled.head.span_label.text


# -- the cross-hair


def test_the_cross_hair_shows_every_figure_of_that_time(filled: HistoryPage, qtbot: QtBot) -> None:
    canvas = filled.stack.canvas
    QTest.mouseMove(canvas, place(filled, 0.5))
    span = filled.asked.span
    middle = pytest.approx((span.left_s + span.right_s) / 2, abs=span.length_s / 100)
    qtbot.waitUntil(lambda: filled.stack.cursor_s == middle, timeout=3000)  # the real pointer may come first
    at = filled.stack.cursor_s
    said = filled.figures.readout.text()
    for name in ("GPU utilization", "Power", "SM clock", "PCIe received", "GPU temperature"):
        assert name in said
    assert "Energy" not in said
    series = filled.asked.reading.series["power_w"]  # type: ignore[union-attr]
    assert at is not None
    near = int(np.argmin(np.abs(series.time_s - at)))
    assert f"{series.mean[near]:,.0f} W" in said


# -- markers


def test_markers_are_pointed_at_clicked_and_reached_by_key(filled: HistoryPage, qtbot: QtBot) -> None:
    assert filled.asked.markers
    marker = filled.asked.markers[1]
    chart = next(iter(filled.stack.charts.values()))
    spot = QPoint(round(filled.stack.x_of(marker.utc_s)), chart.y() + chart.plot.y() + 5)
    assert filled.stack.marker_at(QPointF(spot)) == marker
    QTest.mouseClick(filled.stack.canvas, Qt.MouseButton.LeftButton, pos=spot)
    assert marker.sentence() in filled.message.text
    assert filled.stack.cursor_s == marker.utc_s
    filled.stack.setFocus()
    QTest.keyClick(filled.stack, Qt.Key.Key_M)
    assert filled.asked.markers[2].sentence() in filled.message.text
    QTest.keyClick(filled.stack, Qt.Key.Key_M, Qt.KeyboardModifier.ShiftModifier)
    assert marker.sentence() in filled.message.text
    assert filled.stack.marker_at(QPointF(spot.x(), spot.y() + 60)) is None


def test_another_cards_markers_are_not_shown(filled: HistoryPage, qtbot: QtBot) -> None:
    assert filled.asked.markers
    trigger(filled, "device", "GPU 1")
    wait_for(filled, qtbot)
    assert not filled.asked.markers
    trigger(filled, "device", "CPU and memory")
    wait_for(filled, qtbot)
    assert filled.asked.markers  # the machine has all


def test_captions_say_what_the_figure_is(filled: HistoryPage) -> None:
    chart = filled.stack.charts["gpu_utilization"]
    tip = filled.stack.tip_at(QPointF(200, chart.y() + 3))
    assert "at least one kernel was running" in tip
    assert filled.stack.tip_at(QPointF(place(filled, 0.5))) == ""


def test_the_context_menu_offers_the_export(filled: HistoryPage, qtbot: QtBot) -> None:
    filled.stack.customContextMenuRequested.emit(QPoint(100, 100))
    assert filled.menus.export.isVisible()
    filled.menus.export.close()


# -- comparing


def test_a_span_is_compared_with_the_day_before(filled: HistoryPage, qtbot: QtBot) -> None:
    trigger(filled, "compare", "A day earlier")
    qtbot.waitUntil(lambda: filled.asked.other is not None, timeout=PATIENCE_MS)
    other = filled.asked.other
    assert other is not None
    assert other.span.left_s == pytest.approx(filled.asked.span.left_s - DAY_S, abs=2)
    drawing = filled.stack.charts["power_w"].plot.drawing
    assert len(drawing.other) > 100
    assert drawing.shift_s == pytest.approx(DAY_S, abs=2)
    rows = {row.name: row for row in filled.figures.readout.rows.rows}
    assert len(rows["Power"].lines) == 2
    assert len(rows["Energy"].lines) == 2
    assert "kWh" in rows["Energy"].lines[1][0]
    assert "Second curve:" in filled.figures.readout.second.text
    QTest.mouseMove(filled.stack.canvas, place(filled, 0.5))
    assert len(filled.figures.readout.rows.rows[0].lines) == 2
    QTest.keyClick(filled, Qt.Key.Key_Escape)
    assert filled.asked.other is None
    assert len(filled.stack.charts["power_w"].plot.drawing.other) == 0


def test_a_kept_span_is_compared_with_another_card(filled: HistoryPage, qtbot: QtBot) -> None:
    trigger(filled, "compare", "Keep what is on show")
    qtbot.waitUntil(lambda: filled.asked.other is not None, timeout=PATIENCE_MS)
    kept = filled.asked.span
    trigger(filled, "device", "GPU 1")
    wait_for(filled, qtbot)
    compared = filled.asked.compared
    assert compared is not None
    assert compared[0].number != filled.asked.device.number  # type: ignore[union-attr]
    assert compared[1] == kept
    assert filled.figures.readout.second.text.startswith("Second curve: GPU 0")
    trigger(filled, "compare", "With nothing")
    assert filled.asked.compared is None


# -- export


def test_the_visible_span_is_exported(filled: HistoryPage, qtbot: QtBot, tmp_path: Path) -> None:
    filled.show_span(NOW_S - 600, NOW_S - 300)
    wait_for(filled, qtbot)
    for form in ExportForm:
        path = tmp_path / f"表 1.{form.value}"
        filled.saving.export(path, form)
        qtbot.waitUntil(partial(_says, filled, f"Saved as {path}"), timeout=PATIENCE_MS)
    rows = list(csv.DictReader(io.StringIO((tmp_path / "表 1.csv").read_text(encoding="utf-8-sig"))))
    assert len(rows) == 300
    assert "power_w [watt] mean" in rows[0]
    assert len(json.loads((tmp_path / "表 1.json").read_bytes())["time_utc_s"]) == 300
    image = QImage(str(tmp_path / "表 1.png"))
    assert image.width() > 900
    assert sorted(file.suffix for file in tmp_path.iterdir()) == [".csv", ".json", ".png"]


def test_the_export_dialog_takes_the_form_from_the_name(filled: HistoryPage, qtbot: QtBot, tmp_path: Path) -> None:
    trigger(filled, "export", "JSON")
    dialog = filled.findChild(QFileDialog)
    assert dialog is not None
    assert dialog.defaultSuffix() == "json"
    dialog.fileSelected.emit(str(tmp_path / "x.json"))
    dialog.close()
    qtbot.waitUntil(lambda: "Saved as" in filled.message.text, timeout=PATIENCE_MS)
    assert json.loads((tmp_path / "x.json").read_bytes())["schema"] == "gpumon-history/1"


def test_a_failed_export_is_one_clear_message(filled: HistoryPage, qtbot: QtBot, tmp_path: Path) -> None:
    filled.saving.export(tmp_path / "no" / "x.csv", ExportForm.CSV)
    qtbot.waitUntil(lambda: "cannot be written" in filled.message.text, timeout=PATIENCE_MS)
    assert str(tmp_path / "no" / "x.csv") in filled.message.text


def test_ctrl_c_copies_the_figures(filled: HistoryPage) -> None:
    filled.stack.setFocus()
    QTest.keyClick(filled.stack, Qt.Key.Key_C, Qt.KeyboardModifier.ControlModifier)
    copied = QGuiApplication.clipboard().text()
    assert "Power\t" in copied
    assert " W" in copied
    name = filled.asked.device.name  # type: ignore[union-attr]
    assert copied.splitlines()[0] == f"GPU 0 · {name} · {texts.span_text(filled.asked.span)}"  # it stands alone


def test_a_copied_comparison_says_what_both_are_of(filled: HistoryPage, qtbot: QtBot) -> None:
    trigger(filled, "compare", "Keep what is on show")
    qtbot.waitUntil(lambda: filled.asked.other is not None, timeout=PATIENCE_MS)
    trigger(filled, "device", "GPU 1")
    wait_for(filled, qtbot)
    qtbot.waitUntil(lambda: filled.asked.other is not None, timeout=PATIENCE_MS)
    lines = filled.copied_text().splitlines()
    assert lines[0].startswith("GPU 1 · ")
    (second,) = (line for line in lines if line.startswith("Second curve: "))
    assert second.startswith("Second curve: GPU 0 · ")
    assert second.endswith(texts.span_text(filled.asked.compared[1]))  # type: ignore[index]


# -- nothing, off, on again


def test_without_a_history_the_page_says_why(page: HistoryPage) -> None:
    page.set_history(None, "A recording is on show.")
    assert "No history" in page.empty.text()
    assert "A recording is on show." in page.empty.text()
    assert not page.head.export_button.isVisible()


def test_an_empty_history_explains_itself_and_fills(
    page: HistoryPage, make_history: Callable[..., History], tmp_path: Path, clock: FakeClock, qtbot: QtBot, feed: Feed
) -> None:
    history = make_history(tmp_path / "new" / "history.db")
    page.set_history(history)
    qtbot.waitUntil(lambda: not page.asked.is_asking, timeout=PATIENCE_MS)
    assert "No history yet" in page.empty.text()
    assert not page.off_bar.text
    for number in range(3):
        sample = dataclasses.replace(make_sample(number + 1, gpus=2), utc_s=NOW_S - 30 + number)
        feed.push(sample)
        history.offer(sample)
    wait_for(page, qtbot)
    assert page.head.device_button.text() == "GPU 0"
    assert page.asked.reading is not None
    qtbot.waitUntil(lambda: "power_w" in page.asked.reading.series, timeout=PATIENCE_MS)  # type: ignore[union-attr]
    assert "at most" in page.foot.size_label.text
    assert page.foot.delete_button.isVisible()


def test_new_samples_appear_while_the_page_looks_at_now(
    page: HistoryPage, make_history: Callable[..., History], tmp_path: Path, clock: FakeClock, qtbot: QtBot
) -> None:
    history = make_history(tmp_path / "history.db")
    page.set_history(history)
    keep(history, NOW_S - 100.0)
    wait_for(page, qtbot)
    asked: list[object] = []
    history.answered.connect(asked.append)
    clock.advance(20.0)
    with qtbot.waitSignal(history.written, timeout=PATIENCE_MS):
        history.offer(dataclasses.replace(make_sample(2), utc_s=NOW_S + 15.0))
        history.flush()
    page.refresh()
    qtbot.waitUntil(lambda: bool(asked), timeout=PATIENCE_MS)
    assert page.asked.reading is not None
    assert page.asked.reading.span.right_s == pytest.approx(NOW_S + 20.0)


def test_a_hidden_page_asks_and_draws_nothing(
    filled: HistoryPage, window: MainWindow, month: Path, qtbot: QtBot
) -> None:
    asked: list[object] = []
    assert filled.asked.history is not None
    filled.asked.history.answered.connect(asked.append)
    window.show_page("performance")
    filled.refresh()
    filled.asked._on_written()
    filled.asked.set_range(HOUR_S)
    settle()
    assert asked == []
    window.show_page("history")
    qtbot.waitUntil(lambda: bool(asked), timeout=PATIENCE_MS)


def test_off_because_of_a_locked_file_and_on_again(
    page: HistoryPage,
    make_history: Callable[..., History],
    tmp_path: Path,
    qtbot: QtBot,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("gpumon_gui.core.database.BUSY_S", 0.05)
    monkeypatch.setattr("gpumon_gui.bridge.history_writer.RETRY_S", 0.0)
    path = tmp_path / "history.db"
    history = make_history(path)
    page.set_history(history)
    with qtbot.waitSignal(history.written, timeout=PATIENCE_MS):
        keep(history, NOW_S - 50)
    other = sqlite3.connect(path, isolation_level=None)
    other.execute("BEGIN IMMEDIATE")
    keep(history, NOW_S - 49)
    qtbot.waitUntil(lambda: "in use by another program" in page.off_bar.text, timeout=PATIENCE_MS)
    assert page.off_bar.text.startswith("History is off: ")
    other.execute("ROLLBACK")
    other.close()
    qtbot.waitUntil(lambda: page.off_bar.text == "", timeout=PATIENCE_MS)
    assert page.message.text == "History is kept again."
    page.asked.ask()
    qtbot.waitUntil(lambda: _seconds(page) == 2, timeout=PATIENCE_MS)  # what came meanwhile is there too


def _seconds(page: HistoryPage) -> int:
    figures = None if page.asked.reading is None else page.asked.reading.figures.get("power_w")
    if figures is None:
        page.asked.ask()
        return 0
    if figures.covered_s != 2:
        page.asked.ask()
    return round(figures.covered_s)


def test_a_damaged_file_is_put_aside_and_told(
    page: HistoryPage, make_history: Callable[..., History], tmp_path: Path, qtbot: QtBot
) -> None:
    path = tmp_path / "history.db"
    path.write_bytes(b"this is no database" * 1000)
    history = make_history(path)
    page.set_history(history)
    qtbot.waitUntil(lambda: "damaged" in page.off_bar.text, timeout=PATIENCE_MS)  # the reader found it first
    keep(history, NOW_S - 50)
    wait_for(page, qtbot)
    qtbot.waitUntil(lambda: "was kept as" in page.off_bar.text, timeout=PATIENCE_MS)
    (aside,) = tmp_path.glob("history-corrupt-*.db")
    assert aside.read_bytes() == b"this is no database" * 1000
    assert history.status.is_kept


def test_a_newer_file_switches_the_history_off_and_stays_as_it_is(
    page: HistoryPage, make_history: Callable[..., History], tmp_path: Path, month: Path, qtbot: QtBot
) -> None:
    path = tmp_path / "history.db"
    path.write_bytes(month.read_bytes())
    connection = sqlite3.connect(path)
    connection.execute("PRAGMA user_version = 2")
    connection.close()
    before = path.read_bytes()
    history = make_history(path)
    page.set_history(history)
    history.offer(make_sample(1))
    qtbot.waitUntil(lambda: "made by a newer GPUMon" in page.off_bar.text, timeout=PATIENCE_MS)
    assert "made by a newer GPUMon" in page.empty.text()
    assert path.read_bytes() == before


def test_switched_off_in_the_settings_and_on_again(
    page: HistoryPage, make_history: Callable[..., History], tmp_path: Path, qtbot: QtBot
) -> None:
    history = make_history(tmp_path / "history.db")
    page.set_history(history)
    with qtbot.waitSignal(history.written, timeout=PATIENCE_MS):
        keep(history, NOW_S - 50)
    history.set_options(HistoryOptions(is_on=False))
    qtbot.waitUntil(lambda: "switched off in the settings" in page.off_bar.text, timeout=PATIENCE_MS)
    history.set_options(HistoryOptions(seconds_s=HOUR_S))
    qtbot.waitUntil(lambda: page.off_bar.text == "", timeout=PATIENCE_MS)


def test_everything_is_deleted_after_a_question(
    page: HistoryPage, make_history: Callable[..., History], tmp_path: Path, qtbot: QtBot
) -> None:
    history = make_history(tmp_path / "history.db")
    page.set_history(history)
    keep(history, NOW_S - 50)
    wait_for(page, qtbot)
    QTest.mouseClick(page.foot.delete_button, Qt.MouseButton.LeftButton)
    box = page.findChild(QMessageBox)
    assert box is not None
    delete = next(button for button in box.buttons() if button.text() == "Delete")
    QTest.mouseClick(delete, Qt.MouseButton.LeftButton)
    qtbot.waitUntil(lambda: "No history yet" in page.empty.text() and page.empty.isVisible(), timeout=PATIENCE_MS)
    qtbot.waitUntil(lambda: not page.asked.contents.devices and not page.asked.is_asking, timeout=PATIENCE_MS)


def test_markers_are_kept_with_the_samples(
    page: HistoryPage, make_history: Callable[..., History], tmp_path: Path, qtbot: QtBot
) -> None:
    history = make_history(tmp_path / "history.db")
    page.set_history(history)
    history.add_marker(
        Marker(NOW_S - 60, MarkerKind.ALERT, "lost", "{n} is lost.", (("n", "GPU 0"),), "", device_key())
    )
    keep(history, NOW_S - 50)
    wait_for(page, qtbot)
    qtbot.waitUntil(lambda: [m.sentence() for m in page.asked.markers] == ["GPU 0 is lost."], timeout=PATIENCE_MS)


def test_show_span_goes_to_the_device_and_time_of_a_finding(
    filled: HistoryPage, qtbot: QtBot, demo: ModuleType
) -> None:
    filled.show_span(NOW_S - 5000, NOW_S - 4000, demo.info(1).key)
    wait_for(filled, qtbot)
    assert filled.head.device_button.text() == "GPU 1"
    assert filled.asked.span == Span(NOW_S - 5000, NOW_S - 4000)


@pytest.mark.skipif("__import__('os').name != 'posix' or __import__('os').geteuid() != 0", reason="mounts a disk")
def test_off_because_the_disk_is_full_and_on_again(
    page: HistoryPage,
    make_history: Callable[..., History],
    tmp_path: Path,
    qtbot: QtBot,
    clock: FakeClock,
) -> None:
    disk = tmp_path / "disk"
    disk.mkdir()
    if os.system(f"mount -t tmpfs -o size=192k tmpfs '{disk}' 2>/dev/null"):
        pytest.skip("this container may not mount")
    try:
        stuffing = disk / "stuffing"
        stuffing.write_bytes(b"x" * 90_000)
        history = make_history(disk / "history.db")
        page.set_history(history)
        keep(history, NOW_S - 100)
        for number in range(40):
            history.add_marker(Marker(NOW_S - number, MarkerKind.ALERT, "x", "y" * 900))
        history.flush()
        qtbot.waitUntil(lambda: "the disk is full" in page.off_bar.text, timeout=PATIENCE_MS)
        keep(history, NOW_S - 98)  # what comes meanwhile waits
        stuffing.unlink()
        clock.advance(31.0)
        history.flush()  # the writer looks at its clock
        qtbot.waitUntil(lambda: page.off_bar.text == "", timeout=PATIENCE_MS)
        qtbot.waitUntil(lambda: _seconds(page) >= 2, timeout=PATIENCE_MS)
        assert history.close()
    finally:
        os.system(f"umount '{disk}' 2>/dev/null || umount -l '{disk}'")


# -- look


@pytest.mark.parametrize("language", ["en", "zh_CN", LONGER])
@pytest.mark.parametrize("size", [(1280, 800), (900, 600)])
def test_nothing_is_cut(
    filled: HistoryPage,
    window: MainWindow,
    language: str,
    size: tuple[int, int],
    qtbot: QtBot,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    if language == LONGER:
        monkeypatch.setitem(messages._state, "catalogue", Longer())
        window.retranslate()
    else:
        window.set_language(language)
    window.resize(*size)
    settle()
    trigger(filled, "compare", messages._("A week earlier"))
    wait_for(filled, qtbot)
    assert cut(window) == []


@pytest.mark.parametrize("scheme", [Scheme.DARK, Scheme.LIGHT])
def test_the_plots_follow_the_theme(filled: HistoryPage, window: MainWindow, scheme: Scheme) -> None:
    window.set_scheme(scheme)
    settle()
    plot = filled.stack.charts["gpu_utilization"].plot
    colour = plot.grab().toImage().pixelColor(plot.width() - 3, 3)
    assert (colour.lightness() < 128) == (scheme is Scheme.DARK)


def test_menus_name_their_entries(filled: HistoryPage) -> None:
    for menu in (filled.menus.device, filled.menus.metrics, filled.menus.compare, filled.menus.export):
        menu.aboutToShow.emit()
        assert all(action.text() or action.isSeparator() for action in menu.actions() if isinstance(action, QAction))
