"""No text of the window is cut at 1280 × 800: in both languages, and with texts that are 30 % longer."""

from __future__ import annotations

import gettext
from collections.abc import Callable, Iterator

import pytest
from PySide6.QtCore import Qt
from PySide6.QtGui import QFontMetrics
from PySide6.QtWidgets import (
    QAbstractButton,
    QAbstractSpinBox,
    QApplication,
    QComboBox,
    QLabel,
    QLineEdit,
    QVBoxLayout,
    QWidget,
)
from pytestqt.qtbot import QtBot

from gpumon_gui.bridge.alerts import AlertCentre
from gpumon_gui.bridge.feed import Feed, FeedState, FeedStatus
from gpumon_gui.bridge.translation import Translation
from gpumon_gui.core import messages
from gpumon_gui.core.model import DeviceState, Sample, SourceHealth, SourceState
from gpumon_gui.core.values import Missing, Reading, Reason
from gpumon_gui.diagnosis.alerts import run_ended
from gpumon_gui.diagnosis.alerts.alert import Alert
from gpumon_gui.telemetry.derive.process_state import STATE_TEXT
from gpumon_gui.ui.main_window import MainWindow
from gpumon_gui.ui.models.process_model import Col
from gpumon_gui.ui.pages.table import PAGES
from gpumon_gui.ui.pages.welcome import Welcome
from gpumon_gui.ui.text_height import text_height
from gpumon_gui.ui.theme import XS, M, S, Text, Theme
from gpumon_gui.ui.widgets.alert_list import Bell, alert_text
from gpumon_gui.ui.widgets.command_box import CodeText, CommandBox
from gpumon_gui.ui.widgets.engine_panel import CaptionButton
from gpumon_gui.ui.widgets.process_table import ProcessTable
from gpumon_gui.ui.widgets.quiet_list import QuietList
from gpumon_gui.ui.widgets.text import FixedLabel
from tests.qt.samples import GIB, device_values, make_device, make_info, make_process, make_sample, windows_engines
from tests.qt.test_main_window import RecordingOrigin

SIZE = (1280, 800)
LONGER = "longer"


class Longer(gettext.NullTranslations):
    """Every text 30 % longer, in short words, as a wordier language would have it."""

    def gettext(self, message: str) -> str:
        """The text and its tail."""
        missing = round(len(message) * 0.3)
        return message + "".join(" xn"[n % 3] for n in range(missing)).rstrip()

    def ngettext(self, msgid1: str, msgid2: str, n: int) -> str:
        """The right form and its tail."""
        return self.gettext(msgid1 if n == 1 else msgid2)


def training(number: int) -> Sample:
    """A card with every gauge, under Linux."""
    return make_sample(number, processes=(make_process(),))


def laptop(number: int) -> Sample:
    """A GeForce under Windows: engines, shared memory, no SM activity."""
    gone = Missing(Reason.NOT_SUPPORTED, "nvml")
    values = device_values(
        0.4,
        details=False,
        shared_used_bytes=Reading(0.4 * GIB, "pdh"),
        shared_total_bytes=Reading(15.9 * GIB, "dxgi"),
        sm_activity=gone,
        tensor_activity=gone,
        driver_date=Reading("2026-08-14", "dxgi"),
        directx_version=Reading("12 (FL 12.2)", "dxgi"),
        hags=Reading("on", "dxgi"),
        throttle_reasons=Reading(0x20 | 0x04, "nvml"),
    )
    devices = (make_device(0, values, windows_engines({"3D": 0.05, "Cuda": 0.95})),)
    names = ("nvml", "dxgi", "pdh", "host")
    health = tuple(SourceHealth(name, SourceState.OK, reads=number) for name in names)
    return make_sample(number, devices=devices, processes=(make_process(),), health=health)


def starved(number: int) -> Sample:
    """Memory is held and nothing runs: the table has the longest sentences."""
    return make_sample(number, compute=0.0, processes=(make_process(),))


def lost(number: int) -> Sample:
    """One of two cards falls off the bus."""
    state = DeviceState.OK if number < 6 else DeviceState.LOST
    devices = (make_device(0, state=state, values={} if number >= 6 else None), make_device(1))
    return make_sample(number, devices=devices, inventory=(make_info(0), make_info(1)))


SCENES: dict[str, Callable[[int], Sample]] = {
    "training": training,
    "laptop": laptop,
    "starved": starved,
    "lost": lost,
}


@pytest.fixture
def feed(qapp: QApplication) -> Iterator[Feed]:
    made = Feed()
    made.set_status(FeedStatus(FeedState.LIVE))
    yield made
    made.deleteLater()


@pytest.fixture(params=["en", "zh_CN", LONGER])
def window(
    request: pytest.FixtureRequest, feed: Feed, qtbot: QtBot, monkeypatch: pytest.MonkeyPatch
) -> Iterator[MainWindow]:
    """The window in one language."""
    translation = Translation()
    translation.set_language("en" if request.param == LONGER else request.param)
    if request.param == LONGER:
        monkeypatch.setitem(messages._state, "catalogue", Longer())
    made = MainWindow(feed, Theme(), translation, RecordingOrigin())
    qtbot.addWidget(made)
    made.resize(*SIZE)
    made.show()
    yield made
    made.close_down()
    translation.set_language("en")
    translation.deleteLater()


def show(window: MainWindow, feed: Feed, scene: str, page: str) -> None:
    """Half a minute of a scene, on that page."""
    window.show_page(page)
    for number in range(1, 34):
        feed.push(SCENES[scene](number))
    window.ticker.request()
    window._refresh()
    if page == "processes":
        window.pages[page].table.selectRow(0)
    window._refresh()
    settle()


def settle() -> None:
    """Layouts ask their parents for room, one level at a time."""
    for _level in range(6):
        QApplication.processEvents()


def cut(window: QWidget) -> list[str]:
    """What does not fit where it stands and is not in a tool tip either."""
    return [
        f"{type(widget).__name__}: {words!r} on {widget.width()} × {widget.height()}"
        for widget in window.findChildren(QWidget)
        if widget.isVisible() and (words := _cut(widget)) and words not in widget.toolTip()
    ]


def _cut(widget: QWidget) -> str:
    metrics = QFontMetrics(widget.font())
    if isinstance(widget, FixedLabel):
        return widget.text if metrics.horizontalAdvance(widget.text) > widget.width() else ""
    if isinstance(widget, QLabel):
        if widget.wordWrap():
            too_small = widget.heightForWidth(widget.width()) > widget.height()
        else:
            too_small = widget.sizeHint().width() > widget.width()
        return widget.text() if too_small else ""
    if isinstance(widget, CaptionButton):
        return widget.text() if widget.shown_text() != widget.text() else ""
    if isinstance(widget, QAbstractButton):
        return widget.text() if widget.sizeHint().width() > widget.width() else ""
    if isinstance(widget, QLineEdit) and not isinstance(widget.parent(), QAbstractSpinBox):
        room = widget.width() - 2 * widget.height()  # an icon at each end
        return widget.placeholderText() if metrics.horizontalAdvance(widget.placeholderText()) > room else ""
    if isinstance(widget, QComboBox):
        return widget.currentText() if metrics.horizontalAdvance(widget.currentText()) > _field_room(widget) else ""
    if isinstance(widget, QAbstractSpinBox):
        words = widget.text()
        return words if metrics.horizontalAdvance(words) > widget.lineEdit().width() - XS else ""
    if isinstance(widget, CodeText):
        return widget.text if widget.heightForWidth(widget.width()) > widget.height() else ""
    if isinstance(widget, ProcessTable):
        header = widget.horizontalHeader()
        shown = [column for column in range(header.count()) if not header.isSectionHidden(column)]
        narrow = [c for c in shown if header.least(c) > header.sectionSize(c)]  # type: ignore[attr-defined]
        heads = [str(widget.model().headerData(c, header.orientation())) for c in narrow]
        body = QFontMetrics(Theme().font(Text.BODY))
        room = widget.columnWidth(Col.STATE) - 3 * S - 9  # margins, and the mark with its distance
        states = [messages._(text) for text in STATE_TEXT.values()]
        heads += [text for text in states if body.elidedText(text, Qt.TextElideMode.ElideRight, room) != text]
        return ", ".join(heads)
    return ""


def _field_room(widget: QComboBox) -> int:
    return widget.width() - (2 * S + 2 + 2 * M)  # the text's distance, and the arrow


@pytest.mark.parametrize("page", [entry.name for entry in PAGES])
@pytest.mark.parametrize("scene", SCENES)
def test_nothing_is_cut(window: MainWindow, feed: Feed, scene: str, page: str) -> None:
    show(window, feed, scene, page)
    assert cut(window) == []


def test_nothing_is_cut_while_the_sampler_is_silent(window: MainWindow, feed: Feed) -> None:
    show(window, feed, "training", "performance")
    feed.set_status(FeedStatus(FeedState.STALE, "The NVIDIA driver has not answered.", 88.0))
    window._refresh()
    settle()
    assert cut(window) == []


@pytest.mark.parametrize("size", [SIZE, (900, 600)])
def test_nothing_is_cut_at_the_first_start(window: MainWindow, size: tuple[int, int]) -> None:
    window.resize(*size)
    welcome = Welcome(Theme(window), window)
    window.stack.addWidget(welcome)
    window.stack.setCurrentWidget(welcome)
    settle()
    assert cut(welcome) == []


def test_nothing_is_cut_in_the_list_of_alerts(window: MainWindow, feed: Feed) -> None:
    centre = AlertCentre(feed, None, window)
    bell = Bell(Theme(window), centre, window)
    window.add_tool(bell)
    bell.panel.open_below(bell)
    settle()
    assert cut(bell.panel) == []  # nothing has happened
    values = {"program": "train_the_whole_model.py", "pid": "4711", "time": "42 min", "energy": "310 Wh"}
    centre.add(Alert("run_ended", "4711", 1.8e9, run_ended.TITLE, run_ended.TEXT, values))
    bell.panel.open_below(bell)
    settle()
    assert cut(bell.panel) == []
    shown = bell.panel.list
    row = shown.visualItemRect(shown.item(0))
    words = row.adjusted(S, 0, -S, 0)
    needed = QFontMetrics(Theme(window).font(Text.BODY)).boundingRect(
        words, Qt.TextFlag.TextWordWrap, alert_text(centre.alerts[0])
    )
    assert shown.viewport().rect().contains(row)
    assert needed.height() + QFontMetrics(Theme(window).font(Text.STRONG)).height() <= row.height()
    bell.panel.close()


@pytest.mark.parametrize("window", ["en", "zh_CN"], indirect=True)
def test_a_row_is_as_high_as_the_letters_of_its_lines(window: MainWindow) -> None:
    """A Chinese word comes from a higher font than the one chosen, and takes the Latin letters down with it."""
    theme = Theme(window)
    rows = QuietList(theme, window)
    for text in ("gpy", "gpy\ngpy", "环境 gpy", "gpy\n虚拟环境 · /home/gpy", "环境\n虚拟环境 gpy"):
        rows.addItem(text)
        needed = 0
        for line, role in zip(text.split("\n"), (Text.BODY, Text.CAPTION), strict=False):
            needed += QFontMetrics(theme.font(role)).boundingRect(0, 0, 9999, 9999, 0, line).height()
        assert rows.sizeHintForRow(rows.count() - 1) >= needed + 2 * XS, text
    for role in (Text.STRONG, Text.CAPTION):
        spoken = QFontMetrics(theme.font(role)).boundingRect(0, 0, 9999, 9999, 0, f"gpy {messages._('Memory')}")
        assert text_height(theme.font(role)) >= spoken.height()


@pytest.mark.parametrize("width", [300, 460, 900])
def test_no_letter_of_code_is_cut(qtbot: QtBot, width: int) -> None:
    """A long name goes on in the next row, and the box grows."""
    theme = Theme()
    holder = QWidget()
    qtbot.addWidget(holder)
    box = CommandBox(theme, "batch = torchvision.transforms.v2.RandomHorizontalFlip()(batch)\n    print(batch)", holder)
    column = QVBoxLayout(holder)
    column.addWidget(box)
    column.addStretch(1)
    holder.resize(width, 400)
    holder.show()
    settle()
    assert cut(holder) == []
    narrow, wide = box._code.heightForWidth(120), box._code.heightForWidth(900)
    assert narrow > 2 * wide


def test_a_cut_text_is_found(qtbot: QtBot) -> None:
    frame = QWidget()
    qtbot.addWidget(frame)
    label = QLabel("far too long for its place", frame)
    label.setGeometry(0, 0, 40, 20)
    frame.show()
    assert len(cut(frame)) == 1


@pytest.mark.parametrize("window", ["en", "zh_CN"], indirect=True)
def test_the_columns_of_the_table_fit_the_window(window: MainWindow, feed: Feed) -> None:
    show(window, feed, "training", "processes")
    table = window.pages["processes"].table
    assert not table.horizontalScrollBar().isVisible()
