"""What a window keeps of the past: only a live one of this machine, steered by the settings, alerts as marks; and how
the writer behaves when the disk is slow."""

from __future__ import annotations

import dataclasses
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QWidget
from pytestqt.qtbot import QtBot

from gpumon_gui.app.alerts import Alerts
from gpumon_gui.app.arguments import Arguments, Screenshot, WrongUsage, parse
from gpumon_gui.app.keeping import Keeping, marker_of, options_of
from gpumon_gui.bridge.feed import Feed, FeedState, FeedStatus
from gpumon_gui.bridge.history import History
from gpumon_gui.bridge.history_writer import HistoryWriter
from gpumon_gui.bridge.settings import Settings
from gpumon_gui.bridge.translation import Translation
from gpumon_gui.core.clock import SystemClock
from gpumon_gui.core.errors import OutputFailed
from gpumon_gui.diagnosis.alerts.alert import Alert
from gpumon_gui.history.marker import MarkerKind
from gpumon_gui.history.reading import HistoryReader, Span
from gpumon_gui.history.retention import HistoryOptions
from gpumon_gui.history.schema import HOUR_S
from gpumon_gui.history.store import HistoryStore
from gpumon_gui.settings.values import Values
from gpumon_gui.system.paths import folders
from gpumon_gui.ui.main_window import MainWindow
from gpumon_gui.ui.theme import Theme
from tests.qt.samples import START_UTC_S, device_key, make_sample
from tests.qt.test_main_window import RecordingOrigin

PATIENCE_MS = 8000
posix_only = pytest.mark.skipif("__import__('os').name != 'posix'", reason="XDG folders")


@pytest.fixture
def data(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The user's data folder."""
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path))
    return tmp_path / "gpumon"


@pytest.fixture
def feed(qapp: QApplication) -> Iterator[Feed]:
    made = Feed()
    made.set_status(FeedStatus(FeedState.LIVE))
    yield made
    made.deleteLater()


@pytest.fixture
def window(feed: Feed, qtbot: QtBot) -> Iterator[MainWindow]:
    translation, theme = Translation(), Theme()
    made = MainWindow(feed, theme, translation, RecordingOrigin())
    qtbot.addWidget(made)
    yield made
    assert made.close_down()
    theme.deleteLater()
    translation.deleteLater()


def settings_of(window: MainWindow) -> Settings:
    return Settings(None, Values(), window)


@posix_only
def test_a_live_window_writes_into_the_users_folder(data: Path, window: MainWindow, feed: Feed) -> None:
    keeping = Keeping(window, feed, settings_of(window), Arguments())
    for number in range(3):
        feed.push(make_sample(number + 1, gpus=2))
    assert keeping.close(5.0)
    reader = HistoryReader(data / "history.db")
    contents = reader.contents()
    assert len(contents.devices) == 3
    reading = reader.read(1, ("power_w",), Span(START_UTC_S, START_UTC_S + 10), 1000)
    assert reading is not None
    assert reading.figures["power_w"].covered_s == 3.0
    reader.close()


@posix_only
def test_a_history_that_is_off_leads_to_the_last_hour(data: Path, window: MainWindow, feed: Feed, qtbot: QtBot) -> None:
    keeping = Keeping(window, feed, settings_of(window), Arguments())
    history = keeping.history
    assert history is not None
    window.show()
    window.show_page("history")
    button = window.pages["history"].empty.hour_button
    history.set_options(HistoryOptions(is_on=False))
    feed.push(make_sample(1, gpus=2))  # the window remembers it, the history does not
    qtbot.waitUntil(button.isVisible, timeout=5000)
    button.click()
    assert (window.page, window.pages["performance"].span()) == ("performance", HOUR_S)
    window.show_page("history")
    history.set_options(HistoryOptions())
    qtbot.waitUntil(button.isHidden, timeout=5000)
    assert keeping.close(5.0)


@posix_only
@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (Arguments(demo=True), "A recording is on show"),
        (Arguments(replay=Path("x.gpumon")), "A recording is on show"),
        (Arguments(scenario="eight-gpus"), "A scripted machine is on show"),
    ],
)
def test_what_is_not_of_this_machine_has_no_history(
    arguments: Arguments, said: str, data: Path, window: MainWindow, feed: Feed, qtbot: QtBot
) -> None:
    window.show()
    window.show_page("history")
    keeping = Keeping(window, feed, settings_of(window), arguments)
    assert window.page == "performance"
    assert not any(item.isVisible() for item in window.rail.findChildren(QWidget, "history"))
    window.activateWindow()
    qtbot.waitUntil(window.isActiveWindow, timeout=5000)
    QTest.keyClick(window, Qt.Key.Key_4, Qt.KeyboardModifier.ControlModifier)
    assert (window.page, window.message.text) == ("settings", "")  # the fourth that is offered
    window.show_page("history")  # as the command line may ask
    assert window.message.text.startswith(f"History: {said}")
    rows = window.pages["settings"].rows
    assert rows["history.on"].help.text().startswith(said)
    assert not rows["history.most_gigabytes"].control.isEnabled()
    feed.push(make_sample(1))
    assert keeping.close(5.0)
    assert not data.exists()


@posix_only
@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (Arguments(screenshot=Screenshot(Path("x.png"))), "Nothing was kept on this machine yet"),
    ],
)
def test_nothing_else_writes(arguments: Arguments, said: str, data: Path, window: MainWindow, feed: Feed) -> None:
    keeping = Keeping(window, feed, settings_of(window), arguments)
    window.show()
    window.show_page("history")
    feed.push(make_sample(1))
    assert said in window.pages["history"].empty.text()
    assert keeping.close(5.0)
    assert not data.exists()


def test_a_file_of_elsewhere_is_shown_and_not_written(
    tmp_path: Path, window: MainWindow, feed: Feed, qtbot: QtBot
) -> None:
    path = tmp_path / "of-a-friend.db"
    store = HistoryStore(path)
    store.close()
    before = path.read_bytes()
    keeping = Keeping(window, feed, settings_of(window), Arguments(demo=True, history=path))
    window.show()
    window.show_page("history")
    feed.push(make_sample(1))
    qtbot.waitUntil(lambda: not window.pages["history"].asked.is_asking, timeout=PATIENCE_MS)
    assert keeping.close(5.0)
    assert path.read_bytes() == before


def test_the_command_line_names_a_file(tmp_path: Path) -> None:
    (tmp_path / "h.db").touch()
    assert parse(["--history", str(tmp_path / "h.db")]).history == tmp_path / "h.db"
    with pytest.raises(WrongUsage, match="there is no file"):
        parse(["--history", str(tmp_path / "gone.db")])


@posix_only
def test_settings_steer_it_at_once(data: Path, window: MainWindow, feed: Feed, qtbot: QtBot) -> None:
    settings = settings_of(window)
    keeping = Keeping(window, feed, settings, Arguments())
    assert keeping.history is not None
    feed.push(make_sample(1))
    settings.set("history.on", False)
    qtbot.waitUntil(lambda: "switched off" in keeping.history.status.reason, timeout=PATIENCE_MS)  # type: ignore[union-attr]
    settings.set("history.on", True)
    settings.set("history.fine_hours", 12)
    settings.set("history.most_gigabytes", 2.5)
    assert keeping.history.options == HistoryOptions(seconds_s=12 * 3600, most_bytes=round(2.5 * (1 << 30)))
    assert keeping.close(5.0)


@posix_only
@pytest.mark.parametrize("before", ["en", "zh_CN"], ids=["all the time", "since before the page was made"])
def test_why_nothing_is_kept_is_said_in_the_language_of_now(
    data: Path, window: MainWindow, feed: Feed, qtbot: QtBot, before: str
) -> None:
    settings = settings_of(window)
    settings.set("history.on", False)
    window.set_language(before)
    keeping = Keeping(window, feed, settings, Arguments())
    window.set_language("en")
    window.show()
    window.show_page("history")
    empty = window.pages["history"].empty
    qtbot.waitUntil(lambda: "It is switched off in the settings." in empty.text(), timeout=PATIENCE_MS)
    window.set_language("zh_CN")
    assert "已在设置中关闭" in empty.text()
    window.set_language("en")
    assert "It is switched off in the settings." in empty.text()
    assert keeping.close(5.0)


def test_the_defaults_of_the_settings_are_those_of_the_store() -> None:
    assert options_of(Values()) == HistoryOptions()


def test_an_alert_becomes_a_mark_of_its_own_kind() -> None:
    alert = Alert("run_ended", "pid 1", START_UTC_S, "", "{name} ended.", {"name": "train.py"}, device_key())
    marker = marker_of(alert)
    assert (marker.kind, marker.tone, marker.sentence()) == (MarkerKind.RUN_ENDED, "good", "train.py ended.")
    assert marker_of(dataclasses.replace(alert, kind="lost")).tone == "bad"
    assert marker_of(dataclasses.replace(alert, kind="held_idle")).kind is MarkerKind.ALERT


@posix_only
def test_alerts_leave_marks(data: Path, window: MainWindow, feed: Feed) -> None:
    settings = settings_of(window)
    keeping = Keeping(window, feed, settings, Arguments())
    theme, translation = Theme(), Translation()
    alerts = Alerts(window, feed, theme, translation, settings)
    keeping.mark_alerts(alerts)
    alerts.centre.raised.emit(Alert("lost", "GPU 0", START_UTC_S, "", "{n} is lost.", {"n": "GPU 0"}, device_key()))
    feed.push(make_sample(1))
    assert keeping.close(5.0)
    reader = HistoryReader(data / "history.db")
    (marker,) = reader.markers(Span(START_UTC_S - 10, START_UTC_S + 10))
    assert (marker.code, marker.sentence(), marker.device) == ("lost", "GPU 0 is lost.", device_key())
    reader.close()
    theme.deleteLater()
    translation.deleteLater()


# -- the writer


def test_a_slow_disk_delays_nobody_and_is_counted(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, qtbot: QtBot
) -> None:
    """The disk does not answer: offers return at once, the queue is bounded, what did not fit is counted."""
    free = threading.Event()
    begun = threading.Event()
    write = HistoryStore.write

    def slow(self: HistoryStore, *things: object) -> bool:
        begun.set()
        free.wait(10.0)
        return write(self, *things)  # type: ignore[arg-type]

    monkeypatch.setattr(HistoryStore, "write", slow)
    history = History(tmp_path / "history.db", SystemClock())
    history.offer(make_sample(1))
    assert begun.wait(10.0)
    for number in range(500):
        history.offer(make_sample(number + 2))
    assert history.dropped == 500 - 120
    free.set()
    with qtbot.waitSignal(history.written, timeout=PATIENCE_MS):
        pass
    assert history.close(10.0)
    history.deleteLater()


def test_what_is_ordered_while_the_disk_is_slow_is_done(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, qapp: QApplication
) -> None:
    """The queue is full of samples, and the program ends: "delete all" is no sample."""
    free, begun = threading.Event(), threading.Event()
    write = HistoryStore.write

    def slow(self: HistoryStore, *things: object) -> bool:
        begun.set()
        free.wait(10.0)
        return write(self, *things)  # type: ignore[arg-type]

    monkeypatch.setattr(HistoryStore, "write", slow)
    history = History(tmp_path / "history.db", SystemClock())
    history.offer(make_sample(1))
    assert begun.wait(10.0)
    for number in range(200):
        history.offer(make_sample(number + 2))
        history.flush()
    history.clear()
    history.offer(make_sample(300))  # finds no room
    history.set_options(HistoryOptions(is_on=False))
    history.flush()
    free.set()
    assert history.close(10.0)
    reader = HistoryReader(tmp_path / "history.db")
    assert reader.contents().devices == ()
    reader.close()
    history.deleteLater()


def _filled(path: Path) -> None:
    history = History(path, SystemClock())
    history.offer(make_sample(1))
    assert history.close(10.0)
    history.deleteLater()


@pytest.mark.parametrize("is_on", [True, False])
def test_deleting_that_fails_is_told_and_tried_again(
    is_on: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, qtbot: QtBot
) -> None:
    path = tmp_path / "history.db"
    _filled(path)
    clear, write = HistoryStore.clear, HistoryStore.write
    written: list[object] = []

    def refused(self: HistoryStore) -> None:
        raise OutputFailed("history.db: in use by another program.")

    def noted(self: HistoryStore, *things: object) -> bool:
        written.append(things)
        return write(self, *things)  # type: ignore[arg-type]

    monkeypatch.setattr("gpumon_gui.bridge.history_writer.RETRY_S", 0.01)
    monkeypatch.setattr(HistoryStore, "clear", refused)
    monkeypatch.setattr(HistoryStore, "write", noted)
    history = History(path, SystemClock(), HistoryOptions(is_on=is_on))
    history.clear()
    qtbot.waitUntil(lambda: "still there" in history.status.note, timeout=PATIENCE_MS)
    said = history.status.reason if is_on else history.status.note
    assert "in use by another program" in said
    assert history.status.is_kept is False
    assert ("switched off" in history.status.reason) is not is_on
    with qtbot.waitSignal(history.written, timeout=PATIENCE_MS):
        monkeypatch.setattr(HistoryStore, "clear", clear)
    qtbot.waitUntil(lambda: history.status.note == "", timeout=PATIENCE_MS)
    assert history.status.is_kept is is_on
    assert history.close(5.0)
    assert bool(written) is is_on  # who is off writes nothing
    reader = HistoryReader(path)
    assert reader.contents().devices == ()
    reader.close()
    history.deleteLater()


def test_deleting_makes_no_file_while_it_is_off(tmp_path: Path, qtbot: QtBot) -> None:
    history = History(tmp_path / "history.db", SystemClock(), HistoryOptions(is_on=False))
    with qtbot.waitSignal(history.written, timeout=PATIENCE_MS):
        history.clear()
    assert history.close(5.0)
    assert list(tmp_path.iterdir()) == []
    history.deleteLater()


def test_a_fault_of_ours_is_told_and_the_rest_is_written(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, qtbot: QtBot, uncaught: list[BaseException]
) -> None:
    write = HistoryStore.write
    faults = iter([ZeroDivisionError("of ours")])

    def broken(self: HistoryStore, *things: object) -> bool:
        for fault in faults:
            raise fault
        return write(self, *things)  # type: ignore[arg-type]

    monkeypatch.setattr(HistoryStore, "write", broken)
    history = History(tmp_path / "history.db", SystemClock())
    with qtbot.waitSignal(history.status_changed, timeout=PATIENCE_MS):
        history.offer(make_sample(1))
    assert "ZeroDivisionError" in history.status.reason
    assert not history.status.is_kept
    assert [type(error) for error in uncaught] == [ZeroDivisionError]
    history.offer(make_sample(2))
    assert history.close(5.0)
    reader = HistoryReader(tmp_path / "history.db")
    reading = reader.read(1, ("power_w",), Span(START_UTC_S, START_UTC_S + 10), 1000)
    assert reading is not None
    assert reading.figures["power_w"].covered_s == 2.0
    reader.close()
    history.deleteLater()


def test_closing_writes_what_was_offered(tmp_path: Path, qapp: QApplication) -> None:
    history = History(tmp_path / "history.db", SystemClock())
    for number in range(50):
        history.offer(make_sample(number + 1))
    assert history.close(10.0)
    history.offer(make_sample(99))  # too late: nobody is harmed
    reader = HistoryReader(tmp_path / "history.db")
    reading = reader.read(1, ("power_w",), Span(START_UTC_S, START_UTC_S + 200), 1000)
    assert reading is not None
    assert reading.figures["power_w"].covered_s == 50.0
    reader.close()
    history.deleteLater()


def test_nothing_runs_before_the_first_sample(tmp_path: Path, qapp: QApplication) -> None:
    history = History(tmp_path / "history.db", SystemClock())
    history.flush()
    assert history.close()
    assert not (tmp_path / "history.db").exists()
    history.deleteLater()


def test_the_folder_of_the_user_is_where_it_lies() -> None:
    assert folders().data.name.lower() in ("gpumon", "data")


def test_a_writer_that_is_off_makes_no_file(tmp_path: Path, qapp: QApplication) -> None:
    history = History(tmp_path / "history.db", SystemClock(), HistoryOptions(is_on=False))
    assert "switched off" in history.status.reason
    history.offer(make_sample(1))
    assert history.close()
    assert not (tmp_path / "history.db").exists()
    assert isinstance(history._writer, HistoryWriter)
    history.deleteLater()
