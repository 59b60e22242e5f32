"""From where a diagnosis is started (rail, key, tray), and the page of the first start."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QLabel
from pytestqt.qtbot import QtBot

from gpumon_gui.app.arguments import Arguments, Screenshot
from gpumon_gui.app.diagnosing import Diagnosing, is_live
from gpumon_gui.bridge.feed import Feed
from gpumon_gui.bridge.settings import Settings
from gpumon_gui.bridge.translation import Translation
from gpumon_gui.settings.values import Values
from gpumon_gui.system.paths import Folders
from gpumon_gui.ui.main_window import MainWindow
from gpumon_gui.ui.pages.table import PAGES
from gpumon_gui.ui.pages.welcome import Welcome
from gpumon_gui.ui.theme import Theme
from gpumon_gui.ui.tray.icon import Tray
from tests.qt.test_main_window import feed, origin, theme, translation, window  # noqa: F401 - fixtures
from tests.qt.test_process_model import TRAINING

Make = Callable[[Arguments], Diagnosing]


@pytest.fixture
def settings(window: MainWindow) -> Iterator[Settings]:  # noqa: F811
    made = Settings(None, Values(), window)
    yield made
    made.close()


@pytest.fixture
def make(
    window: MainWindow,  # noqa: F811
    theme: Theme,  # noqa: F811
    translation: Translation,  # noqa: F811
    settings: Settings,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> Make:
    monkeypatch.setattr("gc.freeze", lambda: None)
    monkeypatch.setattr("gpumon_gui.app.diagnosing.folders", lambda: Folders(tmp_path, tmp_path, tmp_path, tmp_path))

    def made(arguments: Arguments) -> Diagnosing:
        return Diagnosing(window, theme, translation, settings, arguments)

    return made


def welcome_of(window: MainWindow) -> Welcome | None:  # noqa: F811
    shown = window.stack.currentWidget()
    return shown if isinstance(shown, Welcome) else None


def has_begun(window: MainWindow) -> bool:  # noqa: F811
    page = window.pages["diagnostics"]
    return window.page == "diagnostics" and page.wizard is not None and page.stack.currentWidget() is page.wizard


@pytest.mark.parametrize("page", [entry.name for entry in PAGES])
def test_the_button_is_there_on_every_page(page: str, make: Make, window: MainWindow, qtbot: QtBot) -> None:  # noqa: F811
    diagnosing = make(Arguments())
    window.show_page(page)
    window.resize(720, 480)
    qtbot.waitUntil(diagnosing.button.isVisible)
    QTest.mouseClick(diagnosing.button, Qt.MouseButton.LeftButton)
    qtbot.waitUntil(lambda: has_begun(window), timeout=20_000)


@pytest.mark.parametrize("arguments", [Arguments(scenario="one-gpu-training"), Arguments(demo=True)])
def test_whose_the_results_are_is_said_where_something_else_is_on_show(
    arguments: Arguments,
    make: Make,
    window: MainWindow,  # noqa: F811
) -> None:
    diagnosing = make(arguments)
    window.show()
    window.show_page("diagnostics")
    page = window.pages["diagnostics"]
    assert page.whose.isVisible()
    assert "about the computer that GPUMon runs on" in page.whose.text
    assert not window.pages["processes"].can_diagnose(replace(TRAINING, name="python"))
    asked: list[tuple[object, ...]] = []
    page.run_for = lambda *about: asked.append(about)
    diagnosing._on_process(4711, "python")
    assert asked == [(None, "")]  # what has that number here is another program


def test_nothing_is_said_of_this_machine(make: Make, window: MainWindow) -> None:  # noqa: F811
    make(Arguments())
    window.show()
    window.show_page("diagnostics")
    assert window.pages["diagnostics"].whose.isHidden()
    assert window.pages["processes"].can_diagnose(replace(TRAINING, name="python"))


def test_what_cannot_be_loaded_is_told_once(
    make: Make,
    window: MainWindow,  # noqa: F811
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def changed(entry: object) -> object:
        raise ImportError("planted")

    diagnosing = make(Arguments())
    monkeypatch.setattr(window.navigation, "_make", changed)
    for act in (diagnosing.run, lambda: diagnosing._on_process(4711, "python")):
        window.message.hide()
        act()
        assert window.message.text.startswith("Diagnostics cannot be loaded.")
        assert window.page == "performance"


def test_a_wizard_that_cannot_be_loaded_is_not_waited_for(
    make: Make,
    window: MainWindow,  # noqa: F811
    qtbot: QtBot,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setitem(sys.modules, "gpumon_gui.ui.wizard.wizard", None)
    monkeypatch.setattr("gpumon_gui.ui.pages.diagnostics._PARTS", ("gpumon_gui.diagnosis.checking",))
    diagnosing = make(Arguments())
    window.show_page("diagnostics")
    page = window.pages["diagnostics"]
    with qtbot.captureExceptions() as told:
        diagnosing.run()
        qtbot.waitUntil(lambda: bool(told), timeout=20_000)
    assert page.stack.currentWidget() is page.overview


def test_a_key_starts_it(make: Make, window: MainWindow, qtbot: QtBot) -> None:  # noqa: F811
    make(Arguments())
    QTest.keyClick(window, Qt.Key.Key_D, Qt.KeyboardModifier.ControlModifier)
    qtbot.waitUntil(lambda: has_begun(window), timeout=20_000)


def test_the_tray_starts_it_and_shows_the_window(
    make: Make,
    window: MainWindow,  # noqa: F811
    feed: Feed,  # noqa: F811
    translation: Translation,  # noqa: F811
    qtbot: QtBot,
) -> None:
    diagnosing = make(Arguments())
    tray = Tray(window, feed, lambda: None, window)
    diagnosing.use_tray(tray)
    entry = tray.menu.actions()[1]
    assert entry.text() == "Run diagnostics"
    translation.set_language("zh_CN")
    assert entry.text() != ""
    translation.set_language("en")
    window.hide()
    entry.trigger()
    assert window.isVisible()
    qtbot.waitUntil(lambda: has_begun(window), timeout=20_000)
    tray.close()


# -- first start


def test_the_first_start_says_what_is_read_and_what_stays(
    make: Make,
    window: MainWindow,  # noqa: F811
    settings: Settings,
    translation: Translation,  # noqa: F811
) -> None:
    diagnosing = make(Arguments())
    diagnosing.welcome()
    welcome = welcome_of(window)
    assert welcome is not None
    said = " ".join(label.text() for label in welcome.findChildren(QLabel))
    assert "What is read" in said
    assert "GPUMon sends nothing" in said
    assert QApplication.focusWidget() is welcome.run_button
    translation.set_language("zh_CN")
    translation.set_language("en")
    assert welcome_of(window) is welcome
    QTest.mouseClick(welcome.done_button, Qt.MouseButton.LeftButton)
    assert welcome_of(window) is None
    assert window.stack.currentWidget() is window.pages["performance"]
    assert window.heading.text() == "Performance"
    assert settings.values.flag("general.welcomed")


def test_the_first_start_offers_the_diagnosis(make: Make, window: MainWindow, settings: Settings, qtbot: QtBot) -> None:  # noqa: F811
    diagnosing = make(Arguments())
    diagnosing.welcome()
    QTest.keyClick(QApplication.focusWidget() or window, Qt.Key.Key_Return)
    qtbot.waitUntil(lambda: has_begun(window), timeout=20_000)
    assert settings.values.flag("general.welcomed")


def test_another_page_leaves_it_too_and_it_comes_once(make: Make, window: MainWindow, settings: Settings) -> None:  # noqa: F811
    make(Arguments()).welcome()
    window.show_page("processes")
    assert welcome_of(window) is None
    assert settings.values.flag("general.welcomed")
    make(Arguments()).welcome()
    assert welcome_of(window) is None


@pytest.mark.parametrize(
    "arguments",
    [
        Arguments(demo=True),
        Arguments(replay=Path("x.gpumon")),
        Arguments(scenario="one-gpu-training"),
        Arguments(screenshot=Screenshot(Path("x.png"))),
        Arguments(tray=True),
    ],
)
def test_nobody_is_welcomed_who_looks_at_something_else(arguments: Arguments, make: Make, window: MainWindow) -> None:  # noqa: F811
    make(arguments).welcome()
    assert welcome_of(window) is None


def test_the_page_can_be_asked_for(make: Make, window: MainWindow, settings: Settings) -> None:  # noqa: F811
    settings.set("general.welcomed", True)
    make(Arguments(demo=True, welcome=True)).welcome()
    assert welcome_of(window) is not None
    assert is_live(Arguments())
