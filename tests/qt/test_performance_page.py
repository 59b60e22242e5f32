"""What the Performance page says, as text, for machines that are well, sick, large or empty."""

from __future__ import annotations

import dataclasses
import gc
import weakref
from collections.abc import Callable, Iterator

import numpy as np
import pytest
import shiboken6
from PySide6.QtCore import Qt
from PySide6.QtGui import QFontMetrics, QGuiApplication
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QLabel, QScrollArea, QWidget
from pytestqt.qtbot import QtBot

from gpumon_gui.bridge.feed import Feed, FeedState, FeedStatus
from gpumon_gui.core import messages
from gpumon_gui.core.model import DeviceState, SourceHealth, SourceState
from gpumon_gui.core.values import Missing, Reading, Reason
from gpumon_gui.ui.charts.plot import Plot
from gpumon_gui.ui.pages.performance import PerformancePage
from gpumon_gui.ui.theme import Theme
from gpumon_gui.ui.widgets.numbers_grid import NumberCell
from tests.qt.samples import (
    GIB,
    device_key,
    device_values,
    make_device,
    make_info,
    make_process,
    make_sample,
    windows_engines,
)


@pytest.fixture
def feed() -> Iterator[Feed]:
    yield Feed()
    messages.set_language("en")


@pytest.fixture
def page(feed: Feed, qtbot: QtBot) -> PerformancePage:
    made = PerformancePage(feed, Theme())
    qtbot.addWidget(made)
    made.resize(1100, 2200)
    made.show()
    return made


def lines(page: PerformancePage) -> list[str]:
    """What the adapter list shows."""
    model = page.adapters.model
    return [str(model.data(model.index(row))) for row in range(model.rowCount())]


def dimmed(page: PerformancePage) -> list[bool]:
    """Which lines of the adapter list are grey."""
    model = page.adapters.model
    return [model.entry(row).line.dimmed for row in range(model.rowCount())]


def test_one_gpu(page: PerformancePage, feed: Feed) -> None:
    for number in range(1, 12):
        feed.push(make_sample(number, processes=(make_process(),)))
        page.refresh()
    assert lines(page) == ["GPU 0, H200, 87 %  ·  57 °C"]
    assert page.selected() == device_key(0)
    texts = page.numbers.texts() | page.details.texts()
    assert texts["Dedicated GPU memory"] == "61.2 / 140.0 GB"
    assert texts["Power"] == "590 / 700 W"
    assert texts["PCIe link"] == "5.0 ×16"
    assert texts["Physical location"] == "PCI bus 16, device 0, function 0"
    assert "Fan" not in texts  # not supported: folded away
    assert [button.text() for button in page.engines.buttons] == [
        "GPU-Util (NVML)",
        "SM activity",
        "Tensor core activity",
        "Memory bandwidth",
    ]
    assert page.engines.charts[0].accessibleName() == "GPU 0 GPU-Util (NVML) 87 percent"
    assert page.gauges.sentence == "The gauges agree within what each of them measures."
    assert [row[:3] for row in page.indicators.texts()] == [
        ("good", "GPU utilization", "87 %"),
        ("good", "GPU memory", "61.2 / 140.0 GB"),
        ("good", "P-state", "P0"),
        ("good", "Temperature", "57 °C"),
        ("good", "Power and clocks", "590 / 700 W"),
    ]


def test_missing_value_is_a_dash_with_its_reason_and_a_gap(page: PerformancePage, feed: Feed) -> None:
    for number in range(1, 6):
        gone = Missing(Reason.NO_PERMISSION, "nvml")
        values = device_values(0.5, gpu_utilization=gone if number > 3 else Reading(0.5, "nvml"))
        feed.push(make_sample(number, devices=(make_device(0, values),)))
    page.refresh()
    chart = page.engines.charts[0]
    assert chart.figure.text == "—"
    assert "needs administrator rights" in page.engines.buttons[0].toolTip()
    assert chart.accessibleName().endswith("no value")
    assert np.isnan(chart.drawn()[1]).tolist() == [False, False, False, True, True]


def test_cuda_comes_on_show_under_windows_and_the_users_choice_stays(page: PerformancePage, feed: Feed) -> None:
    def push(first: int, last: int, busy: dict[str, float]) -> None:
        for number in range(first, last):
            values = device_values(0.4, details=False, memory_gib=6.1, shared_used_bytes=Reading(0.4 * GIB, "pdh"))
            feed.push(make_sample(number, devices=(make_device(0, values, windows_engines(busy)),)))
            page.refresh()

    push(1, 12, {"3D": 0.05})
    assert [button.text() for button in page.engines.buttons] == ["3D", "Copy", "Video Encode", "Video Decode"]
    page.engines.buttons[0].picked.emit("engine:phys_0_eng_8")
    push(12, 30, {"3D": 0.05, "Cuda": 0.95})
    names = [button.text() for button in page.engines.buttons]
    assert names[0] == "Optical Flow 0"
    assert "Cuda" in names
    assert page.numbers.texts()["Utilization · Cuda"] == "95 %"
    assert not page.memory.charts[1].isHidden()
    assert "many tiny kernels" in page.gauges.sentence
    assert "system sees the engine occupied 95 %" in page.gauges.sentence


def test_gauges_that_a_device_does_not_have_give_way_to_the_reason(page: PerformancePage, feed: Feed) -> None:
    feed.push(make_sample(1))
    page.refresh()
    assert page.gauges.absent == "OS engine time: The driver gives the operating system no engine times."
    feed.push(make_sample(2, devices=(make_device(0, device_values(details=False)),)))
    page.refresh()
    assert [card.isVisible() for card in page.gauges.cards] == [True, False, False, False, True]
    assert "SM activity, Tensor cores: Only NVIDIA's data-centre GPUs" in page.gauges.absent
    asleep = make_device(0, {}, state=DeviceState.ASLEEP)
    feed.restore({}, make_sample(3, devices=(asleep,)))
    page.refresh()
    assert page.gauges.absent == ""  # nobody knows what it has
    assert all(card.isVisible() for card in page.gauges.cards)


@pytest.mark.parametrize("size", [(1150, 726), (1150, 680), (2300, 1300)])
def test_charts_take_the_free_height_and_leave_the_gauges_in_sight(
    page: PerformancePage, feed: Feed, qtbot: QtBot, size: tuple[int, int]
) -> None:
    page.resize(*size)
    feed.push(make_sample(1))
    page.refresh()
    view = page.findChildren(QScrollArea)[0].viewport()

    def gauges_are_the_last_in_sight() -> None:
        bottom = page.gauges.mapTo(view, page.gauges.rect().bottomLeft()).y()
        assert view.height() * 0.6 < bottom < view.height()

    qtbot.waitUntil(gauges_are_the_last_in_sight, timeout=2000)
    assert page.engines.charts[0].height() > 150


def test_charts_beside_each_other_stand_in_line_in_every_language(page: PerformancePage, feed: Feed) -> None:
    for number, language in enumerate(("en", "zh_CN", "en"), start=1):
        messages.set_language(language)
        values = device_values(0.4, shared_used_bytes=Reading(0.4 * GIB, "pdh"))
        feed.push(make_sample(number, devices=(make_device(0, values, windows_engines()),)))
        page.refresh()
        page.retranslate()
        QApplication.processEvents()
        charts = (*page.engines.charts, *page.memory.charts)
        assert len({plot.y() for chart in charts for plot in chart.findChildren(Plot)}) == 1, language


def test_the_caption_of_a_chart_is_spoken_in_the_language_of_now(page: PerformancePage, feed: Feed) -> None:
    said = []
    for number, language in enumerate(("en", "zh_CN"), start=1):
        messages.set_language(language)
        page.retranslate()
        feed.push(make_sample(number))
        page.refresh()
        button = page.engines.buttons[0]
        said.append((button.text(), button.accessibleName()))
    assert said[0] == ("GPU-Util (NVML)", "Engine of this chart: GPU-Util (NVML)")
    assert said[1][0] == said[0][0]  # the name is no word of a language
    assert said[1][1].startswith("此图表的引擎")


def test_the_list_keeps_the_telling_part_of_a_name(page: PerformancePage, feed: Feed) -> None:
    names = ("AMD Navi 31 [Radeon RX 7900 XT/7900 XTX]", "NVIDIA GeForce RTX 4090", "Intel Alder Lake-P GT2 [Iris Xe]")
    feed.push(make_sample(1, gpus=3, inventory=tuple(make_info(n, name=name) for n, name in enumerate(names))))
    page.refresh()
    assert [line.split(", ")[1] for line in lines(page)] == ["Radeon RX 7900 XT/7900 XTX", "RTX 4090", "Iris Xe"]
    model, role = page.adapters.model, Qt.ItemDataRole
    for row, name in enumerate(names):
        assert model.data(model.index(row), role.ToolTipRole) == name
        assert name in str(model.data(model.index(row), role.AccessibleTextRole))


def test_sixteen_gpus_and_the_keyboard(page: PerformancePage, feed: Feed) -> None:
    feed.push(make_sample(1, gpus=16))
    page.refresh()
    assert len(lines(page)) == 16
    view = page.adapters.view()
    QTest.keyClick(view, Qt.Key.Key_End)
    assert page.selected() == device_key(15)
    feed.push(make_sample(2, gpus=16))
    page.refresh()
    assert page.selected() == device_key(15)
    assert view.currentIndex().row() == 15
    page.select(device_key(3))
    assert view.currentIndex().row() == 3


def test_lost_gpu_keeps_its_last_values_with_their_age(page: PerformancePage, feed: Feed) -> None:
    feed.push(make_sample(1, gpus=2))
    lost = make_device(0, {}, state=DeviceState.LOST, detail="GPU_IS_LOST")
    feed.push(make_sample(13, gpus=2, devices=(lost, make_device(1))))
    page.refresh()
    assert lines(page) == ["GPU 0, H200, lost, —", "GPU 1, H200, 87 %  ·  57 °C"]
    assert page.banner.text.startswith("The driver lost this GPU.")
    assert page.banner.text.endswith("(GPU_IS_LOST) The greyed values are 12 s old.")
    assert page.numbers.texts()["GPU temperature"] == "57 °C"
    assert page.gauges.sentence == "No current values, so there is nothing to compare."
    assert {row[0] for row in page.indicators.texts()} == {"none"}
    page.select(device_key(1))
    assert page.banner.text == ""


@pytest.mark.parametrize(
    ("source", "code", "said"),
    [
        ("pdh", "gpu-counters-unavailable", "Run 'lodctr /R' in an administrator's command prompt, then restart."),
        ("pdh", "counters-no-permission", "Add it to the group 'Performance Monitor Users'."),
        ("nvml", "driver-library-mismatch", "Restart the computer."),
        ("nvml", "driver-restarted", ""),
    ],
)
def test_a_source_that_needs_repair_says_so_above_the_charts(
    page: PerformancePage, feed: Feed, source: str, code: str, said: str
) -> None:
    sample = make_sample(1)
    inventory = tuple(dataclasses.replace(info, vendor="nvidia", luid=0xC7A5) for info in sample.inventory)
    health = (SourceHealth(source, SourceState.FAILED, code),)
    feed.push(dataclasses.replace(sample, inventory=inventory, health=health))
    page.refresh()
    assert page.banner.text.endswith(said)
    assert bool(page.banner.text) == bool(said)


def test_lost_gpu_after_a_seek_shows_its_past(page: PerformancePage, feed: Feed) -> None:
    feed.store(make_sample(1))
    feed.push(make_sample(5, devices=(make_device(0, {}, state=DeviceState.LOST),)))
    page.refresh()
    assert page.numbers.texts()["GPU temperature"] == "57 °C"
    assert page.banner.text.endswith("The greyed values are 4 s old.")


def test_silent_sampler_greys_the_values_and_leaves_the_words_to_the_window(page: PerformancePage, feed: Feed) -> None:
    feed.push(make_sample(1))
    page.refresh()
    assert dimmed(page) == [False]
    feed.set_status(FeedStatus(FeedState.STALE, "The sampler does not answer.", 7.0))
    page.refresh()
    assert page.banner.text == ""
    assert dimmed(page) == [True]
    assert page.gauges.sentence == "These are old values. The verdict comes back with new ones."
    assert {(row[0], row[3]) for row in page.indicators.texts()} == {("none", "An old value.")}
    feed.set_status(FeedStatus(FeedState.LIVE))
    page.refresh()
    assert page.banner.text == ""


def test_no_device_explains_itself(page: PerformancePage, feed: Feed, qtbot: QtBot) -> None:
    page.refresh()
    assert "Waiting for the first reading" in page.empty.text()
    health = (SourceHealth("nvml", SourceState.FAILED, "driver-library-mismatch"),)
    feed.push(make_sample(1, gpus=0, health=health))
    page.refresh()
    assert page.empty.isVisible()
    assert "NVML: The NVIDIA driver was updated" in page.empty.text()
    assert "Restart the computer." in page.empty.text()
    with qtbot.waitSignal(page.diagnose_wanted):  # the next step is at hand
        page.empty.run_button.click()
    assert page.adapters.isVisible()
    assert not lines(page)
    assert page.adapters.cpu.line.figure == "31 %"  # the machine is shown still
    feed.push(make_sample(2))
    page.refresh()
    assert not page.empty.isVisible()
    assert lines(page) == ["GPU 0, H200, 87 %  ·  57 °C"]


def test_every_figure_can_be_copied_as_lines(page: PerformancePage, feed: Feed) -> None:
    feed.push(make_sample(1, processes=(make_process(),)))
    page.refresh()
    QTest.keyClick(page.adapters.view(), Qt.Key.Key_C, Qt.KeyboardModifier.ControlModifier)
    text = QGuiApplication.clipboard().text()
    assert text.startswith("GPU 0\nNVIDIA H200\n")
    for line in ("GPU-Util (NVML)\t87 %", "Dedicated GPU memory\t61.2 / 140.0 GB", "PCIe link\t5.0 ×16"):
        assert line in text.splitlines()
    assert page.gauges.sentence in text
    for label, *_rest in (row[1:] for row in page.indicators.texts()):
        assert f"\n{label}\t" in text


def test_each_chart_says_its_value_in_words_and_its_counter(page: PerformancePage, feed: Feed) -> None:
    feed.push(make_sample(1))
    page.refresh()
    charts = [chart for chart in (*page.engines.charts, *page.memory.charts) if chart.isVisible()]
    spoken = [chart.accessibleName() for chart in charts]
    assert spoken[0] == "GPU 0 GPU-Util (NVML) 87 percent"
    assert spoken[4] == "GPU 0 Dedicated GPU memory 61.2 of 140.0 GB"
    assert all("Source: NVML" in chart.accessibleDescription() for chart in charts)


def test_the_keyboard_walks_over_figures_and_gauges_which_name_their_counter(
    page: PerformancePage, feed: Feed, qtbot: QtBot
) -> None:
    feed.push(make_sample(1))
    page.refresh()
    page.activateWindow()
    for part, first, second in (
        (page.numbers, "Utilization · GPU-Util 87 percent", "Dedicated GPU memory 61.2 of 140.0 GB"),
        (page.gauges, page.gauges.cards[0].label.text + " 87 percent", ""),
    ):
        stops = [w for w in part.findChildren(QWidget) if w.focusPolicy() & Qt.FocusPolicy.TabFocus and w.isVisible()]
        assert len(stops) == 1  # one stop of Tab, however many figures there are
        assert stops[0].accessibleName() == first
        assert "Source: NVML" in stops[0].accessibleDescription()
        assert "Source: NVML" in stops[0].whatsThis()
        stops[0].setFocus(Qt.FocusReason.TabFocusReason)
        QTest.keyClick(stops[0], Qt.Key.Key_Right)
        now = page.focusWidget()
        assert now is not None
        assert now is not stops[0]
        assert not second or now.accessibleName() == second
        QTest.keyClick(now, Qt.Key.Key_Left)
        assert page.focusWidget() is stops[0]


@pytest.mark.parametrize("width", [660, 720, 852, 930, 1100, 1400])
def test_no_caption_is_cut_at_any_width(page: PerformancePage, feed: Feed, width: int) -> None:
    page.resize(width, 900)
    shared = device_values(shared_used_bytes=Reading(100.2 * GIB, "pdh"), shared_total_bytes=Reading(128 * GIB, "pdh"))
    for number in (1, 2):  # laid out, and told again
        feed.push(make_sample(number, devices=(make_device(values=shared),)))
        page.refresh()
        QApplication.processEvents()
    captions = [chart.caption for chart in page.memory.charts]
    captions += [cell.caption for cell in page.numbers.findChildren(NumberCell)]
    shown = [caption for caption in captions if caption.isVisible()]
    assert len(shown) >= 7
    for caption in shown:
        assert QFontMetrics(caption.font()).horizontalAdvance(caption.text) <= caption.width(), caption.text


def test_a_sentence_that_was_clicked_copies_its_selection_or_else_the_page(page: PerformancePage, feed: Feed) -> None:
    feed.push(make_sample(1))
    page.refresh()
    sentence = next(label for label in page.gauges.findChildren(QLabel) if label.text() == page.gauges.sentence)
    QTest.keyClick(sentence, Qt.Key.Key_C, Qt.KeyboardModifier.ControlModifier)
    assert QGuiApplication.clipboard().text() == page.text()
    sentence.setSelection(4, 6)
    QTest.keyClick(sentence, Qt.Key.Key_C, Qt.KeyboardModifier.ControlModifier)
    assert QGuiApplication.clipboard().text() == sentence.text()[4:10]


def test_the_context_menu_copies_and_leads_on(page: PerformancePage, feed: Feed, qtbot: QtBot) -> None:
    feed.push(make_sample(1, processes=(make_process(),)))
    page.refresh()
    menu = page.menu()
    actions = {action.text(): action for action in menu.actions()}
    actions["Copy"].trigger()
    assert QGuiApplication.clipboard().text() == page.text()
    assert actions["60 s"].isChecked()
    actions["5 min"].trigger()
    assert page.span() == 300
    assert actions["Watch"].menu() is not None
    with qtbot.waitSignal(page.diagnose_wanted):
        actions["Run diagnostics"].trigger()
    menu.deleteLater()


def test_unplugged_device_gives_way_to_another(page: PerformancePage, feed: Feed) -> None:
    feed.push(make_sample(1, gpus=2))
    page.refresh()
    page.select(device_key(1))
    feed.push(make_sample(2, gpus=1))
    page.refresh()
    assert page.selected() == device_key(0)


def test_span_reaches_every_chart(page: PerformancePage, feed: Feed) -> None:
    for number in range(400):
        feed.store(make_sample(number))
    page.refresh()
    assert len(page.engines.charts[0].drawn()[0]) == 62  # 60 s and one sample before the edge
    page.set_span(300)
    assert page.span() == 300
    assert len(page.engines.charts[0].drawn()[0]) == 302
    assert len(page.memory.charts[0].drawn()[0]) == 302


def test_nothing_is_done_when_nothing_changed(
    page: PerformancePage, feed: Feed, monkeypatch: pytest.MonkeyPatch
) -> None:
    feed.push(make_sample(1))
    page.refresh()
    calls: list[object] = []
    monkeypatch.setattr(type(page.engines), "show_subject", lambda self, subject: calls.append(subject))
    page.refresh()
    assert calls == []
    page.hide()
    feed.push(make_sample(2))
    page.refresh()
    assert calls == []
    page.show()
    assert len(calls) == 1


def test_language_switch(page: PerformancePage, feed: Feed, monkeypatch: pytest.MonkeyPatch) -> None:
    feed.push(make_sample(1))
    page.refresh()
    original: Callable[[str], str] = messages._
    catalogue = messages._state["catalogue"]
    monkeypatch.setattr(type(catalogue), "gettext", lambda self, text: f"⟪{text}⟫")
    page.retranslate()
    assert "⟪Power⟫" in page.numbers.texts()
    assert page.indicators.texts()[0][1] == "⟪GPU utilization⟫"
    assert lines(page)[0].startswith("⟪GPU 0⟫")
    assert original("x") == "⟪x⟫"


def test_info_without_pci_address_or_values(page: PerformancePage, feed: Feed) -> None:
    feed.push(make_sample(1, devices=(), inventory=(make_info(0),)))
    page.refresh()
    assert lines(page) == ["GPU 0, H200, no answer, —"]
    assert page.banner.text == "The driver does not answer for this GPU."


def test_page_is_freed(feed: Feed, qtbot: QtBot) -> None:
    theme = Theme()
    page = PerformancePage(feed, theme)
    page.show()
    feed.push(make_sample(1))
    page.refresh()
    gone = weakref.ref(page)
    page.close()
    page.deleteLater()
    qtbot.waitUntil(lambda: (p := gone()) is None or not shiboken6.isValid(p), timeout=2000)
    del page
    gc.collect()
    assert gone() is None
