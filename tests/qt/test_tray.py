"""The icon in the tray: what it shows, when it is painted, its menu, and what a closed window means."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import pytest
from PySide6.QtCore import Qt
from PySide6.QtGui import QAction, QColor, QIcon, QImage, QPainter
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QSystemTrayIcon
from pytestqt.qtbot import QtBot

from gpumon_gui.app.desktop import Desktop
from gpumon_gui.app.first import Entry
from gpumon_gui.bridge.feed import Feed, FeedState, FeedStatus
from gpumon_gui.bridge.translation import Translation
from gpumon_gui.core.errors import OutputFailed
from gpumon_gui.core.model import DeviceKind, DeviceState
from gpumon_gui.core.values import Missing, Reading, Reason
from gpumon_gui.system.autostart import StartState
from gpumon_gui.ui.main_window import MainWindow
from gpumon_gui.ui.theme import DARK, LIGHT, Series, Theme
from gpumon_gui.ui.tray import icon as tray_icon
from gpumon_gui.ui.tray.icon import Tray
from gpumon_gui.ui.tray.meter import SIZES, STEPS, Meter, meter_icon, meter_pixmap, steps
from gpumon_gui.ui.tray.reading import MOST_CHARACTERS, meter_of, words_of
from tests.qt.contrast import contrast
from tests.qt.samples import device_key, device_values, make_device, make_info, make_sample
from tests.qt.test_main_window import RecordingOrigin

pytestmark = [
    pytest.mark.usefixtures("qapp"),
    pytest.mark.qt_log_ignore(
        "No such signal QPlatformNativeInterface::systemTrayWindowChanged", extend=True
    ),  # offscreen
]
LIVE = FeedStatus(FeedState.LIVE)


class FakeAutostart:
    """A system that remembers, refuses, or has it switched off elsewhere."""

    def __init__(self, answer: StartState = StartState.ON, *, refused: bool = False) -> None:
        self._state, self._answer, self._refused = StartState.OFF, answer, refused

    def state(self) -> StartState:
        return self._state

    def set_on(self, on: bool) -> StartState:
        if self._refused:
            raise OutputFailed("gpumon.desktop: cannot be written (disk full).")
        self._state = self._answer if on else StartState.OFF
        return self._state


@pytest.fixture
def feed(qapp: QApplication) -> Iterator[Feed]:
    made = Feed()
    made.set_status(LIVE)
    yield made
    made.deleteLater()


@pytest.fixture
def origin() -> RecordingOrigin:
    return RecordingOrigin()


@pytest.fixture
def parts(qapp: QApplication) -> Iterator[tuple[Theme, Translation]]:
    theme, translation = Theme(), Translation()
    yield theme, translation
    translation.set_language("en")
    theme.deleteLater()
    translation.deleteLater()


@pytest.fixture
def window(feed: Feed, parts: tuple[Theme, Translation], origin: RecordingOrigin, qtbot: QtBot) -> Iterator[MainWindow]:
    made = MainWindow(feed, *parts, origin)
    qtbot.addWidget(made)
    yield made
    made.let_go()
    assert made.close_down()


@pytest.fixture
def desktop(window: MainWindow, feed: Feed, parts: tuple[Theme, Translation]) -> Iterator[Desktop]:
    made = Desktop(window, feed, *parts, Entry(), autostart=FakeAutostart())
    yield made
    made.close()


@pytest.fixture
def a_tray(monkeypatch: pytest.MonkeyPatch) -> None:
    """The offscreen desktop says that it has a tray."""
    monkeypatch.setattr(Tray, "is_available", staticmethod(lambda: True))


def column(meter: Meter, series: Series, size: int = 16) -> int:
    """How many pixels high a level is."""
    image = meter_pixmap(meter, size).toImage().convertToFormat(QImage.Format.Format_ARGB32)
    colours = DARK if meter.light is False else LIGHT
    wanted = QColor(colours.muted if meter.dimmed else colours.series[series])
    x = size // 4 if series is Series.ENGINE else size - 1 - size // 4
    return sum(image.pixelColor(x, y).rgb() == wanted.rgb() for y in range(size))


# -- the picture


@pytest.mark.parametrize("size", SIZES)
def test_the_levels_grow_with_the_values_and_do_not_mix(size: int) -> None:
    heights = [column(Meter(value, 5), Series.ENGINE, size) for value in range(STEPS + 1)]
    assert heights[0] == 0
    assert heights == sorted(heights)
    assert heights[1] > 0
    assert heights[-1] == size - 4 * max(1, size // 16)
    assert len({column(Meter(value, 5), Series.MEMORY, size) for value in range(STEPS + 1)}) == 1
    assert column(Meter(5, STEPS), Series.MEMORY, size) == heights[-1]


def test_nothing_known_is_not_nothing_in_use() -> None:
    assert column(Meter(None, None), Series.ENGINE) == 0
    assert meter_pixmap(Meter(None, 0), 16).toImage() != meter_pixmap(Meter(0, 0), 16).toImage()


@pytest.mark.parametrize("light", [True, False, None])
def test_what_is_not_of_now_is_grey(light: bool | None) -> None:
    now, then = Meter(10, 10, light=light), Meter(10, 10, dimmed=True, light=light)
    assert column(then, Series.ENGINE) == column(now, Series.ENGINE) > 0
    assert column(then, Series.MEMORY) == column(now, Series.MEMORY) > 0


@pytest.mark.parametrize(
    ("light", "panels"),
    [(True, ("#ffffff", "#eeeeee")), (False, ("#000000", "#202020")), (None, ("#000000", "#ffffff"))],
)
def test_levels_stand_out_from_the_task_bar(light: bool | None, panels: tuple[str, ...]) -> None:
    for panel in panels:
        for value in (0, STEPS // 2, STEPS):
            image = QImage(16, 16, QImage.Format.Format_ARGB32)
            image.fill(QColor(panel))
            painter = QPainter(image)
            painter.drawPixmap(0, 0, meter_pixmap(Meter(value, value, light=light), 16))
            painter.end()
            for x in (4, 11):
                frame, bottom = image.pixelColor(x, 1), image.pixelColor(x, 12)
                assert contrast(frame, QColor(panel)) >= 2.0
                assert value == 0 or contrast(bottom, QColor(panel)) >= 3.0


def test_where_nothing_is_known_stands_the_programs_own_icon(desktop: Desktop, feed: Feed, window: MainWindow) -> None:
    desktop.tray.refresh()
    own = window.windowIcon().pixmap(16, 16).toImage()
    assert desktop.tray.icon.icon().pixmap(16, 16).toImage() == own
    feed.push(make_sample())
    desktop.tray.refresh()
    assert desktop.tray.icon.icon().pixmap(16, 16).toImage() != own


def test_every_size_a_tray_asks_for_is_painted_not_scaled(qapp: QApplication) -> None:
    assert sorted(size.width() for size in meter_icon(Meter(3, 4)).availableSizes()) == list(SIZES)


@pytest.mark.parametrize(
    ("share", "step"), [(None, None), (0.0, 0), (0.004, 0), (0.01, 1), (0.5, 10), (0.99, 19), (1.0, 20), (1.7, 20)]
)
def test_little_is_not_nothing_and_nearly_is_not_full(share: float | None, step: int | None) -> None:
    assert steps(share) == step


# -- what it says


def test_the_busiest_and_the_fullest_of_several() -> None:
    busy = make_device(0, device_values(0.8, memory_gib=14.0))
    full = make_device(1, device_values(0.1, memory_gib=133.0))
    sample = make_sample(gpus=2, devices=(busy, full))
    assert meter_of(sample, LIVE, light=None) == Meter(16, 19)
    assert words_of(sample, LIVE).splitlines() == [
        "GPU 0: GPU-Util (NVML) 80 %, 14.0 / 140.0 GB, 57 °C",
        "GPU 1: GPU-Util (NVML) 10 %, 133.0 / 140.0 GB, 57 °C",
    ]


def test_one_gpu_is_told_in_full() -> None:
    assert words_of(make_sample(), LIVE) == "NVIDIA H200\nGPU-Util (NVML) 87 %\nMemory 61.2 / 140.0 GB\n57 °C"


@pytest.mark.parametrize(
    ("status", "line"),
    [
        (FeedStatus(FeedState.STALE, "…", 12.0), "Not answering: values are 12 s old"),
        (FeedStatus(FeedState.PAUSED, "…"), "Paused"),
        (FeedStatus(FeedState.STARTING), "Starting…"),
        (FeedStatus(FeedState.REPLAY), "NVIDIA H200"),
    ],
)
def test_what_is_not_of_now_is_said(status: FeedStatus, line: str) -> None:
    assert words_of(make_sample(), status).splitlines()[0] == line
    assert meter_of(make_sample(), status, light=False).dimmed is (status.state in (FeedState.STALE, FeedState.PAUSED))


@pytest.mark.parametrize("state", [DeviceState.LOST, DeviceState.NOT_ANSWERING])
def test_a_gpu_or_readings_that_do_not_answer_are_trouble(state: DeviceState) -> None:
    devices = [make_device(0), make_device(1, state=state)]
    assert meter_of(make_sample(gpus=2, devices=devices), LIVE, light=None).trouble
    asleep = [make_device(0), make_device(1, state=DeviceState.ASLEEP)]
    assert not meter_of(make_sample(gpus=2, devices=asleep), LIVE, light=None).trouble
    assert meter_of(make_sample(), FeedStatus(FeedState.STALE, "", 9), light=None).trouble
    assert not meter_of(make_sample(), FeedStatus(FeedState.PAUSED), light=None).trouble


@pytest.mark.parametrize("light", [True, False, None])
@pytest.mark.parametrize("size", SIZES)
def test_trouble_is_a_mark_not_only_a_colour(light: bool | None, size: int) -> None:
    paused = meter_pixmap(Meter(5, 5, dimmed=True, light=light), size).toImage()
    trouble = meter_pixmap(Meter(5, 5, dimmed=True, light=light, trouble=True), size).toImage()
    bad = QColor((DARK if light is False else LIGHT).bad).rgb()

    def marked(image: QImage) -> int:
        return sum(image.pixelColor(x, y).rgb() == bad for x in range(size) for y in range(size))

    assert marked(trouble) > size
    assert not marked(paused)


def test_a_still_icon_shows_trouble_too(desktop: Desktop, feed: Feed, a_tray: None) -> None:
    desktop.tray.set_still(True)
    feed.push(make_sample())
    desktop.tray.refresh()
    well = desktop.tray.icon.icon().pixmap(32, 32).toImage()
    feed.set_status(FeedStatus(FeedState.STALE, "The driver does not answer.", 9))
    desktop.tray.refresh()
    assert desktop.tray.icon.icon().pixmap(32, 32).toImage() != well
    feed.set_status(LIVE)
    desktop.tray.refresh()
    assert desktop.tray.icon.icon().pixmap(32, 32).toImage() == well


def test_a_gpu_chosen_in_the_mini_monitor_is_the_one_the_window_shows(
    desktop: Desktop, window: MainWindow, feed: Feed
) -> None:
    feed.push(make_sample(gpus=2))
    window.show_page("settings")
    desktop.mini.wanted.emit(device_key(1))
    assert window.isVisible()
    assert window.page == "performance"
    assert window.pages["performance"].selected() == device_key(1)


def test_missing_is_neither_zero_nor_full() -> None:
    values = device_values(
        gpu_utilization=Missing(Reason.NOT_SUPPORTED), memory_used_bytes=Missing(Reason.NOT_SUPPORTED)
    )
    sample = make_sample(devices=(make_device(0, values),))
    assert meter_of(sample, LIVE, light=True) == Meter(light=True)
    assert words_of(sample, LIVE) == "NVIDIA H200\nUtilization —\nMemory — / 140.0 GB\n57 °C"
    asleep = make_sample(devices=(make_device(0, {}, state=DeviceState.ASLEEP),))
    assert meter_of(asleep, LIVE, light=None) == Meter()
    assert words_of(asleep, LIVE) == "NVIDIA H200\nasleep"
    assert words_of(make_sample(gpus=0), LIVE) == "GPUMon\nNo GPU"
    assert words_of(None, FeedStatus()) == "GPUMon\nStarting…"


def test_software_adapters_do_not_count_beside_a_gpu() -> None:
    infos = (make_info(0), make_info(1, "Microsoft Basic Render Driver", DeviceKind.SOFTWARE, "Microsoft"))
    devices = (make_device(0, device_values(0.2)), make_device(1, {"gpu_utilization": Reading(0.9, "pdh")}))
    sample = make_sample(devices=devices, inventory=infos)
    assert meter_of(sample, LIVE, light=False).utilization == 4
    assert "Basic" not in words_of(sample, LIVE)


def test_where_there_is_no_room_the_tip_leaves_the_counter_to_the_mini_monitor() -> None:
    assert words_of(make_sample(gpus=3), LIVE).splitlines()[2].startswith("GPU 2: 87 %, ")


@pytest.mark.parametrize("gpus", [4, 16])
def test_windows_does_not_cut_the_tip_off(gpus: int) -> None:
    words = words_of(make_sample(gpus=gpus), LIVE)
    assert len(words) <= MOST_CHARACTERS
    assert words.endswith("\n…")
    assert len(words.splitlines()[-2]) > 20  # whole lines
    named = replace(make_sample(), inventory=(make_info(0, "显卡😀" * 100),))
    assert len(words_of(named, LIVE).encode("utf-16-le")) // 2 <= MOST_CHARACTERS


# -- painted only when it changes


def test_equal_levels_are_not_painted_again(
    desktop: Desktop, feed: Feed, a_tray: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    painted: list[Meter] = []

    def paint(meter: Meter) -> QIcon:
        painted.append(meter)
        return meter_icon(meter)

    monkeypatch.setattr(tray_icon, "meter_icon", paint)
    for number, compute in enumerate((0.50, 0.505, 0.51, 0.70), start=1):
        feed.push(make_sample(number, compute=compute))
        desktop.tray.refresh()
    assert [meter.utilization for meter in painted] == [10, 14]
    assert desktop.tray.icon.toolTip().startswith("NVIDIA H200\nGPU-Util (NVML) 70 %")


def test_samples_reach_the_icon_by_themselves(desktop: Desktop, feed: Feed, a_tray: None, qtbot: QtBot) -> None:
    desktop.start(hidden=True)
    feed.push(make_sample(compute=0.33))
    qtbot.waitUntil(lambda: "GPU-Util (NVML) 33 %" in desktop.tray.icon.toolTip(), timeout=5000)
    feed.set_status(FeedStatus(FeedState.STALE, "…", 7.0))
    qtbot.waitUntil(lambda: "values are 7 s old" in desktop.tray.icon.toolTip(), timeout=5000)


# -- clicks and menu


def test_a_double_click_brings_the_window(desktop: Desktop, window: MainWindow, a_tray: None) -> None:
    reason = QSystemTrayIcon.ActivationReason.DoubleClick
    desktop.start(hidden=True)
    assert not window.isVisible()
    desktop.tray.icon.activated.emit(QSystemTrayIcon.ActivationReason.Context)
    assert not window.isVisible()
    desktop.tray.icon.activated.emit(reason)
    assert window.isVisible()
    window.showMinimized()
    desktop.tray.icon.activated.emit(reason)
    assert not window.isMinimized()
    assert not desktop.mini.isVisible()


def test_a_single_click_shows_and_hides_the_mini_monitor(
    desktop: Desktop, window: MainWindow, a_tray: None, qtbot: QtBot
) -> None:
    desktop.start(hidden=True)
    for shown in (True, False):
        desktop.tray.icon.activated.emit(QSystemTrayIcon.ActivationReason.Trigger)
        qtbot.waitUntil(lambda shown=shown: desktop.mini.isVisible() is shown, timeout=5000)  # type: ignore[misc]
    assert not window.isVisible()


def test_the_first_close_into_the_tray_says_so_once(
    desktop: Desktop, window: MainWindow, a_tray: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    told: list[str] = []
    monkeypatch.setattr(desktop.tray, "notify", lambda title, _text, _about=None: told.append(title))
    desktop.start(hidden=False)
    desktop.stay.trigger()
    for _time in range(2):
        window.show()
        window.close()
    assert told == ["Still running"]


def test_the_menu(desktop: Desktop, window: MainWindow, origin: RecordingOrigin, a_tray: None, qtbot: QtBot) -> None:
    tray = desktop.tray
    texts = [action.text() for action in tray.menu.actions() if not action.isSeparator()]
    assert texts == ["Open GPUMon", "Mini monitor", "Update speed", "Pause", "Quit"]
    assert tray.menu.defaultAction() is tray.open_action
    desktop.start(hidden=True)
    tray.open_action.trigger()
    assert window.isVisible()
    named(tray.speed_menu.actions(), "Low").trigger()
    assert origin.demands[-1].interval_s == 4.0
    tray.pause_action.trigger()
    assert origin.calls[-1] == "pause"
    tray.menu.aboutToShow.emit()
    assert tray.pause_action.isChecked()
    tray.pause_action.trigger()
    assert origin.calls[-1] == "resume"
    tray.menu.aboutToShow.emit()
    assert not tray.pause_action.isChecked()
    with qtbot.waitSignal(window.closing):
        tray.quit_action.trigger()
    assert not window.isVisible()


def test_quit_works_from_a_hidden_window(desktop: Desktop, window: MainWindow, a_tray: None, qtbot: QtBot) -> None:
    desktop.start(hidden=True)
    with qtbot.waitSignal(window.closing):
        desktop.tray.quit_action.trigger()


def test_the_menu_speaks_the_language_of_the_window(desktop: Desktop, window: MainWindow) -> None:
    window.set_language("zh_CN")
    texts = [action.text() for action in desktop.tray.menu.actions() if not action.isSeparator()]
    assert texts[0] == "打开 GPUMon"
    assert texts[2:] == ["更新速度", "暂停", "退出"]


def test_a_recording_has_no_update_speed(feed: Feed, parts: tuple[Theme, Translation], qtbot: QtBot) -> None:
    made = MainWindow(feed, *parts, RecordingOrigin(), recorded=True)
    qtbot.addWidget(made)
    tray = Tray(made, feed, lambda: False, made)
    assert [action.text() for action in tray.menu.actions() if not action.isSeparator()] == [
        "Open GPUMon",
        "Pause",
        "Quit",
    ]
    tray.close()
    assert made.close_down()


# -- closing, hiding, and no tray


def test_closing_ends_the_program_unless_it_stays_in_the_tray(
    desktop: Desktop, window: MainWindow, a_tray: None, qtbot: QtBot
) -> None:
    desktop.start(hidden=False)
    assert window.isVisible()
    assert desktop.tray.icon.isVisible()
    desktop.stay.trigger()
    with qtbot.assertNotEmitted(window.closing):
        window.close()
    assert not window.isVisible()
    window.bring_up()
    desktop.stay.trigger()
    with qtbot.waitSignal(window.closing):
        window.close()


def test_logging_off_ends_it_all_the_same(desktop: Desktop, window: MainWindow, a_tray: None, qtbot: QtBot) -> None:
    desktop.start(hidden=True)
    window.bring_up()
    desktop.on_session_end()
    with qtbot.waitSignal(window.closing):
        window.close()


def test_hidden_it_reads_what_the_icon_needs(
    desktop: Desktop, window: MainWindow, origin: RecordingOrigin, a_tray: None
) -> None:
    desktop.start(hidden=True)
    window.pace.set_speed("high")
    hidden = origin.demands[-1]
    assert (hidden.interval_s, hidden.details, hidden.processes, hidden.cpu_processes) == (1.0, False, False, False)
    window.bring_up()
    assert origin.demands[-1].interval_s == 0.5
    assert origin.demands[-1].details
    window.close()
    assert origin.demands[-1] == hidden


def test_without_a_tray_the_window_comes_and_says_why(
    desktop: Desktop, window: MainWindow, monkeypatch: pytest.MonkeyPatch, qtbot: QtBot
) -> None:
    monkeypatch.setattr(Tray, "is_available", staticmethod(lambda: False))
    desktop.start(hidden=True, patience_ms=0)
    assert window.isVisible()
    assert window.message.text == "This desktop has no tray, so GPUMon shows its window."
    window.options_shown.emit()
    assert not desktop.stay.isEnabled()
    assert desktop.stay.toolTip() == "This desktop has no tray."
    rows = window.pages["settings"].rows
    assert rows["tray.stay"].help.text() == "This desktop has no tray."
    assert not rows["tray.stay"].control.isEnabled()
    monkeypatch.setattr(Tray, "is_available", staticmethod(lambda: True))  # it came later
    window.show_page("settings")
    assert rows["tray.stay"].control.isEnabled()
    assert desktop.tray.is_shown
    monkeypatch.setattr(Tray, "is_available", staticmethod(lambda: False))
    with qtbot.waitSignal(window.closing):
        window.close()


@pytest.mark.parametrize("has_tray", [True, False])
def test_an_ordinary_start_is_hidden_or_minimised_where_the_user_set_that(
    desktop: Desktop, window: MainWindow, has_tray: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Tray, "is_available", staticmethod(lambda: has_tray))
    desktop.settings.set("general.start_hidden", True)
    desktop.start(hidden=False, is_plain=True)
    assert window.isVisible() is not has_tray
    assert window.isMinimized() is not has_tray
    assert not desktop.stay.isChecked()  # that is another setting
    desktop.start(hidden=False)  # a page was asked for, a second start
    assert window.isVisible()


def test_the_mini_monitor_opens_without_a_tray_too_by_menu_and_key(
    desktop: Desktop, window: MainWindow, qtbot: QtBot
) -> None:
    with qtbot.waitActive(window):
        desktop.start(hidden=False)
        window.activateWindow()
    assert desktop.mini_option in window.menus.more.actions()
    QTest.keyClick(window, Qt.Key.Key_M, Qt.KeyboardModifier.ControlModifier)
    assert desktop.mini.isVisible()
    window.options_shown.emit()
    assert desktop.mini_option.isChecked()
    desktop.mini_option.trigger()
    assert not desktop.mini.isVisible()


def test_a_tray_that_comes_late_is_waited_for(
    desktop: Desktop, window: MainWindow, monkeypatch: pytest.MonkeyPatch, qtbot: QtBot
) -> None:
    answers = iter([False, False, False])
    monkeypatch.setattr(Tray, "is_available", staticmethod(lambda: next(answers, True)))
    desktop.start(hidden=True)
    assert not desktop.tray.icon.isVisible()
    qtbot.waitUntil(desktop.tray.icon.isVisible, timeout=5000)
    assert not window.isVisible()
    assert desktop.stay.isChecked()


def test_a_tray_that_went_does_not_swallow_the_window(
    desktop: Desktop, window: MainWindow, monkeypatch: pytest.MonkeyPatch, qtbot: QtBot
) -> None:
    monkeypatch.setattr(Tray, "is_available", staticmethod(lambda: True))
    desktop.start(hidden=True)
    window.bring_up()
    monkeypatch.setattr(Tray, "is_available", staticmethod(lambda: False))
    with qtbot.waitSignal(window.closing):
        window.close()


# -- start with the system


def test_starting_with_the_system_is_switched_in_the_menu(desktop: Desktop, window: MainWindow) -> None:
    window.options_shown.emit()
    assert not desktop.with_system.isChecked()
    desktop.with_system.trigger()
    window.options_shown.emit()
    assert desktop.with_system.isChecked()
    desktop.with_system.trigger()
    assert not desktop.with_system.isChecked()
    assert window.message.text == ""


@pytest.mark.parametrize(
    ("autostart", "said"),
    [
        (FakeAutostart(StartState.BLOCKED), "is switched off in"),
        (FakeAutostart(refused=True), "cannot be written (disk full)"),
    ],
)
def test_what_cannot_be_switched_is_said(
    autostart: FakeAutostart, said: str, window: MainWindow, feed: Feed, parts: tuple[Theme, Translation]
) -> None:
    made = Desktop(window, feed, *parts, Entry(), autostart=autostart)
    made.with_system.trigger()
    assert not made.with_system.isChecked()
    assert said in window.message.text
    made.close()


def named(actions: list[QAction], text: str) -> QAction:
    """The entry of that name."""
    return next(action for action in actions if action.text() == text)
