"""The Settings page: every option can be seen and changed, takes effect at once and is kept."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from pathlib import Path

import pytest
from PySide6.QtCore import QPoint, QPointF, QRect, Qt
from PySide6.QtGui import QWheelEvent
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QComboBox, QWidget
from pytestqt.qtbot import QtBot

from gpumon_gui.app.alerts import limits_of
from gpumon_gui.app.origins import End
from gpumon_gui.app.preferences import Preferences
from gpumon_gui.bridge.feed import Feed
from gpumon_gui.bridge.settings import Settings
from gpumon_gui.bridge.translation import Translation
from gpumon_gui.core.formatters import celsius
from gpumon_gui.core.messages import language
from gpumon_gui.settings.catalogue import OPTIONS
from gpumon_gui.settings.option import Option
from gpumon_gui.settings.store import NAME, load
from gpumon_gui.settings.values import Values
from gpumon_gui.ui.main_window import MainWindow
from gpumon_gui.ui.pages.settings import SettingsPage
from gpumon_gui.ui.theme import Scheme, Theme
from gpumon_gui.ui.widgets.fields import Spin
from gpumon_gui.ui.widgets.paths_list import PathsList
from gpumon_gui.ui.widgets.switch import Switch
from tests.qt.test_main_window import RecordingOrigin


class Bench:
    """A window with settings that are kept in a folder."""

    def __init__(self, qtbot: QtBot, folder: Path, *, keeps: bool = True) -> None:
        self.feed, self.theme, self.translation = Feed(), Theme(), Translation()
        self.window = MainWindow(self.feed, self.theme, self.translation, RecordingOrigin())
        qtbot.addWidget(self.window)
        self.settings = Settings(folder, Values())
        self.preferences = Preferences(self.settings, self.window, keeps=keeps)
        self.preferences.apply_to_window("settings")
        page = self.window.pages["settings"]
        assert isinstance(page, SettingsPage)
        self.page = page
        self.window.show()
        qtbot.waitExposed(self.window)

    def control(self, key: str) -> object:
        return self.page.rows[key].control

    def close(self) -> None:
        assert self.preferences.close(5.0) == End()
        self.translation.set_language("en")
        self.theme.set_scheme(Scheme.SYSTEM)
        for part in (self.feed, self.theme, self.translation):
            part.deleteLater()


@pytest.fixture
def bench(qtbot: QtBot, qapp: QApplication, tmp_path: Path) -> Iterator[Bench]:
    made = Bench(qtbot, tmp_path / "用户")
    yield made
    made.close()


def test_every_shown_option_has_a_row_with_a_name(bench: Bench) -> None:
    shown = {option.key for option in OPTIONS if option.section}
    assert set(bench.page.rows) == shown
    for row in bench.page.rows.values():
        assert row.label.text()
        assert row.control.accessibleName().endswith(row.label.text().lstrip("… "))
    spoken = [row.control.accessibleName() for row in bench.page.rows.values()]
    assert len(set(spoken)) == len(spoken)  # "… for" says of what
    assert bench.page.rows["alerts.memory_full.minutes"].control.accessibleName() == (
        "GPU memory will soon be full: within"
    )


def test_tab_reaches_every_control_and_brings_it_into_sight(bench: Bench) -> None:
    bench.window.resize(900, 600)
    first = bench.control("general.language")
    assert isinstance(first, QWidget)
    bench.window.activateWindow()
    first.setFocus(Qt.FocusReason.TabFocusReason)
    reached = []
    for _step in range(80):
        now = bench.window.focusWidget()
        found = next((key for key, row in bench.page.rows.items() if row.isAncestorOf(now)), None)
        if found is None:
            break
        reached.append(found)
        view = bench.page.area.viewport()
        place = QRect(now.mapTo(view, QPoint()), now.size())
        assert view.rect().contains(place), f"{found} is out of sight"
        QTest.keyClick(now, Qt.Key.Key_Tab)
    in_order = list(dict.fromkeys(reached))
    assert in_order == list(bench.page.rows)


def test_all_are_reset_at_once_and_that_can_be_undone(bench: Bench) -> None:
    page, settings = bench.page, bench.settings
    settings.set("general.last_page", "history")  # kept by the program itself
    assert not page.reset_button.isEnabled()
    chosen = {"general.theme": "dark", "alerts.quiet_minutes": 25, "diagnostics.interpreters": ("/opt/python",)}
    for key, value in chosen.items():
        settings.set(key, value)
    QTest.mouseClick(page.reset_button, Qt.MouseButton.LeftButton)
    assert dict(settings.values.chosen) == {"general.last_page": "history"}
    assert bench.theme.scheme is Scheme.SYSTEM
    assert not page.reset_button.isEnabled()
    QTest.mouseClick(bench.window.message.undo_button, Qt.MouseButton.LeftButton)
    assert dict(settings.values.chosen) == {**chosen, "general.last_page": "history"}
    assert bench.window.message.text == ""


def test_what_is_chosen_in_the_menus_of_a_recorded_or_scripted_window_is_for_that_window(
    qtbot: QtBot, qapp: QApplication, tmp_path: Path
) -> None:
    for keeps, kept in ((False, set()), (True, {"general.theme", "general.last_page"})):
        bench = Bench(qtbot, tmp_path / str(keeps), keeps=keeps)
        bench.window.menus.schemes.chosen.emit(Scheme.DARK)
        bench.window.show_page("processes")
        assert bench.theme.scheme is Scheme.DARK
        assert set(bench.settings.values.chosen) == kept
        bench.page.rows["alerts.quiet_minutes"].edited.emit("alerts.quiet_minutes", 25)
        assert set(bench.settings.values.chosen) == kept | {"alerts.quiet_minutes"}
        bench.close()


def test_after_a_reset_the_page_stays_where_it_is(bench: Bench, qtbot: QtBot) -> None:
    bench.window.activateWindow()
    qtbot.waitUntil(bench.window.isActiveWindow, timeout=5000)
    bench.settings.set("alerts.quiet_minutes", 25)
    page, bar = bench.page, bench.page.area.verticalScrollBar()
    page.reset_button.setFocus()
    qtbot.waitUntil(lambda: bar.value() > 0)
    before = bar.value()
    QTest.keyClick(page.reset_button, Qt.Key.Key_Space)
    assert not page.reset_button.isEnabled()
    assert page.hasFocus()
    assert bar.value() >= before  # the message above takes some of the height


def test_every_control_can_be_worked_by_key(bench: Bench) -> None:
    for key, row in bench.page.rows.items():
        control, before = row.control, bench.settings.values.get(key)
        if not control.isEnabled() or isinstance(control, PathsList):
            continue
        control.setFocus()
        step = Qt.Key.Key_Space if isinstance(control, Switch) else Qt.Key.Key_Up
        QTest.keyClick(control, step)
        if bench.settings.values.get(key) == before:  # it stood at its end
            QTest.keyClick(control, Qt.Key.Key_Down)
        assert bench.settings.values.get(key) != before, key
        bench.settings.set(key, before)


def test_a_choice_takes_effect_at_once_and_is_kept(bench: Bench, qtbot: QtBot, tmp_path: Path) -> None:
    box = bench.control("general.theme")
    assert isinstance(box, QComboBox)
    box.setFocus()
    QTest.keyClick(box, Qt.Key.Key_End)
    assert bench.theme.scheme is Scheme.DARK
    qtbot.waitUntil(lambda: load(tmp_path / "用户").values.text("general.theme") == "dark", timeout=5000)


def test_the_menu_and_the_page_say_the_same(bench: Bench) -> None:
    bench.window.menus.schemes.actions()[1].trigger()
    box = bench.control("general.theme")
    assert isinstance(box, QComboBox)
    assert box.currentData() == "light"
    bench.window.menus.speeds.actions()[-1].trigger()
    assert bench.settings.values.text("general.update_speed") == "normal"  # a pause is for now


def test_the_language_changes_every_row(bench: Bench) -> None:
    before = {key: row.label.text() for key, row in bench.page.rows.items()}
    box = bench.control("general.language")
    assert isinstance(box, QComboBox)
    box.setCurrentIndex(box.findData("zh_CN"))
    assert language() == "zh_CN"
    assert box.currentData() == "zh_CN"
    bench.translation.set_language("en")
    assert {key: row.label.text() for key, row in bench.page.rows.items()} == before


def test_a_switch_by_mouse_and_by_key_and_what_hangs_on_it(bench: Bench) -> None:
    switch, minutes = bench.control("alerts.held_idle.on"), bench.control("alerts.held_idle.minutes")
    assert isinstance(switch, Switch)
    assert isinstance(minutes, Spin)
    QTest.mouseClick(switch, Qt.MouseButton.LeftButton)
    assert not bench.settings.values.flag("alerts.held_idle.on")
    assert not minutes.isEnabled()
    switch.setFocus()
    QTest.keyClick(switch, Qt.Key.Key_Space)
    assert minutes.isEnabled()


def test_what_is_of_no_use_here_is_grey_and_says_why_once(bench: Bench) -> None:
    why = ["There is no tray."]
    keys = ("tray.stay", "tray.icon")
    bench.page.add_hindrance(keys, lambda: why[0])
    first, second = (bench.page.rows[key] for key in keys)
    assert not first.control.isEnabled()
    assert not second.control.isEnabled()
    assert first.help.text() == "There is no tray."
    assert first.control.accessibleDescription() == "There is no tray."
    assert second.help.isHidden()
    bench.settings.set("tray.stay", True)  # the menu of the window
    assert not first.control.isEnabled()
    why[0] = ""  # a desktop may get one
    bench.page.activate()
    assert first.control.isEnabled()
    assert second.control.isEnabled()
    assert first.help.isHidden()


def test_a_number_counts_once_it_is_whole(bench: Bench) -> None:
    spin = bench.control("alerts.temperature.celsius")
    assert isinstance(spin, Spin)
    seen: list[object] = []
    bench.page.rows["alerts.temperature.celsius"].edited.connect(lambda _key, value: seen.append(value))
    spin.setFocus()
    spin.selectAll()
    QTest.keyClicks(spin, "85")
    QTest.keyClick(spin, Qt.Key.Key_Return)
    assert seen == [85]
    assert spin.text() == "85 °C"


def test_the_wheel_over_a_control_changes_nothing(bench: Bench) -> None:
    box = bench.control("general.update_speed")
    assert isinstance(box, QComboBox)
    bench.page.setFocus()
    event = QWheelEvent(
        QPointF(5, 5),
        QPointF(5, 5),
        QPoint(0, -120),
        QPoint(0, -120),
        Qt.MouseButton.NoButton,
        Qt.KeyboardModifier.NoModifier,
        Qt.ScrollPhase.NoScrollPhase,
        False,
    )
    QApplication.sendEvent(box, event)
    assert bench.settings.values.text("general.update_speed") == "normal"


def test_interpreters_are_added_and_removed(bench: Bench) -> None:
    paths = bench.control("diagnostics.interpreters")
    assert isinstance(paths, PathsList)
    paths.add("C:\\用户\\python.exe")
    paths.add("/opt/py/bin/python")
    paths.add("/opt/py/bin/python")
    assert bench.settings.values.texts("diagnostics.interpreters") == ("C:\\用户\\python.exe", "/opt/py/bin/python")
    paths.list.setCurrentRow(0)
    QTest.keyClick(paths.list, Qt.Key.Key_Delete)
    assert bench.settings.values.texts("diagnostics.interpreters") == ("/opt/py/bin/python",)
    assert paths.list.count() == 1


def test_temperatures_in_fahrenheit(bench: Bench) -> None:
    bench.settings.set("general.temperature", "fahrenheit")
    assert celsius(100) == "212 °F"
    bench.settings.set("general.temperature", "celsius")
    assert celsius(100) == "100 °C"


def test_a_limit_is_chosen_in_the_unit_that_is_read(bench: Bench) -> None:
    key = "alerts.temperature.celsius"
    spin = bench.control(key)
    assert isinstance(spin, Spin)
    assert spin.text() == "90 °C"
    bench.settings.set("general.temperature", "fahrenheit")
    assert spin.text() == "194 °F"
    assert bench.settings.values.number(key) == 90
    spin.setFocus()
    spin.selectAll()
    QTest.keyClicks(spin, "200")
    QTest.keyClick(spin, Qt.Key.Key_Return)
    assert spin.text() == "200 °F"
    assert limits_of(bench.settings.values).temperature_c == pytest.approx((200 - 32) / 1.8, abs=0.01)
    spin.selectAll()
    QTest.keyClicks(spin, "248")
    QTest.keyClick(spin, Qt.Key.Key_Return)
    assert bench.settings.values.number(key) == 120
    bench.settings.set("general.temperature", "celsius")
    assert spin.text() == "120 °C"
    assert spin.minimum() == 40


def test_the_last_page_is_kept(bench: Bench) -> None:
    bench.window.show_page("processes")
    assert bench.settings.values.text("general.last_page") == "processes"


def test_a_disk_that_is_full_is_told(bench: Bench, qtbot: QtBot, tmp_path: Path) -> None:
    (tmp_path / "用户").write_text("in the way")
    bench.settings.set("general.theme", "dark")
    qtbot.waitUntil(lambda: not bench.window.message.isHidden(), timeout=5000)
    assert bench.theme.scheme is Scheme.DARK


def test_a_switch_for_what_lies_elsewhere(bench: Bench) -> None:
    from gpumon_gui.settings.option import Flag

    asked: list[object] = []
    option = Option("elsewhere", Flag(default=False), "Label", section="tray")
    row = bench.page.add_flag(option, lambda: True, lambda _key, value: asked.append(value))
    bench.page.activate()
    assert isinstance(row.control, Switch)
    assert row.control.isChecked()
    assert asked == []
    QTest.mouseClick(row.control, Qt.MouseButton.LeftButton)
    assert asked == [False]


def test_the_last_change_before_the_end_is_kept(qapp: QApplication, tmp_path: Path) -> None:
    for number in range(5):
        folder = tmp_path / str(number)
        settings = Settings(folder, Values())
        settings.set("general.theme", "dark")
        assert settings.close()
        assert load(folder).values.text("general.theme") == "dark"
        settings.deleteLater()


def test_a_last_change_that_cannot_be_written_is_known(qapp: QApplication, tmp_path: Path) -> None:
    folder = tmp_path / "file"
    folder.write_text("no folder")
    settings = Settings(folder, Values())
    settings.set("general.theme", "dark")
    assert settings.close()
    assert "settings.toml: cannot be written" in settings.last_fault
    settings.set("general.theme", "light")  # too late: nobody is harmed
    settings.deleteLater()


def test_a_folder_that_does_not_answer_is_left_behind(
    qapp: QApplication, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    free = threading.Event()
    monkeypatch.setattr("gpumon_gui.settings.store.save", lambda *_things: free.wait(30))
    settings = Settings(tmp_path, Values())
    settings.set("general.theme", "dark")
    assert not settings.close(0.05)
    free.set()
    assert settings.close(30)
    settings.deleteLater()


def test_what_was_repaired_is_said_in_the_language_that_the_settings_choose(bench: Bench, tmp_path: Path) -> None:
    (tmp_path / NAME).write_text('[general]\nlanguage = "zh_CN"\ntheme = "pink"\n', encoding="utf-8")
    loaded = load(tmp_path)  # before the language is known
    bench.translation.set_language(loaded.values.text("general.language"))
    text = loaded.repairs[0].text()
    assert "“主题”" in text
    assert "“跟随系统”" in text
