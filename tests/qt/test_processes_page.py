"""The page that says who uses the GPU: selection that stays, an end that hits only what was meant, honest emptiness."""

from __future__ import annotations

import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from dataclasses import replace

import psutil
import pytest
from PySide6.QtCore import Qt
from PySide6.QtGui import QGuiApplication
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QMessageBox
from pytestqt.qtbot import QtBot

from gpumon_gui.bridge.feed import Feed, FeedState, FeedStatus
from gpumon_gui.core import messages
from gpumon_gui.core.model import ProcessPresence, ProcessSample
from gpumon_gui.system import end_process as ending
from gpumon_gui.system.end_process import EndRequest, EndResult, end_process
from gpumon_gui.ui.models.process_model import SHORT_ROLE, Col
from gpumon_gui.ui.pages.processes import ProcessesPage
from gpumon_gui.ui.theme import Theme
from tests.qt.samples import GIB, device_key
from tests.qt.test_process_model import NOTEBOOK, ON_CPU, TRAINING, UNKNOWN, drawn, gpu_use, make_process, sample_of

ALL = (TRAINING, NOTEBOOK, UNKNOWN, ON_CPU)
DEAF = "import signal; signal.signal(signal.SIGTERM, signal.SIG_IGN); print('ready', flush=True); input()"
OBEDIENT = "print('ready', flush=True); input()"


@pytest.fixture
def feed(qapp: QApplication) -> Iterator[Feed]:
    made = Feed()
    made.set_status(FeedStatus(FeedState.LIVE))
    yield made
    made.deleteLater()


@pytest.fixture
def page(feed: Feed, qtbot: QtBot) -> Iterator[ProcessesPage]:
    made = ProcessesPage(feed, Theme())
    qtbot.addWidget(made)
    made.resize(1000, 600)
    made.show()
    yield made
    assert made.close_tasks()


@pytest.fixture
def show(page: ProcessesPage, feed: Feed) -> Callable[..., None]:
    """Show a sample with these processes."""
    count = iter(range(1, 100))

    def shown(*processes: ProcessSample) -> None:
        feed.push(sample_of(*processes, sequence=next(count)))
        page.refresh()

    return shown


@pytest.fixture
def child() -> Iterator[Callable[[str], subprocess.Popen[bytes]]]:
    """Starts a real process that runs some Python and waits until it has begun."""
    started: list[subprocess.Popen[bytes]] = []

    def start(code: str) -> subprocess.Popen[bytes]:
        process = subprocess.Popen([sys.executable, "-c", code], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        started.append(process)
        assert process.stdout is not None
        assert process.stdout.readline().strip() == b"ready"
        return process

    yield start
    for process in started:
        process.kill()
        process.communicate()


def listed(process: subprocess.Popen[bytes], name: str = "victim", age_s: float = 0.0) -> ProcessSample:
    started = psutil.Process(process.pid).create_time() - age_s
    return make_process(process.pid, name, gpu_use(process.pid, 0.5), started_utc_s=started)


def names(page: ProcessesPage) -> list[str]:
    return drawn(page.proxy, (Col.NAME,)).split("\n")


def asked(page: ProcessesPage) -> str:
    """The open question; empty without one."""
    return "" if page.question is None else page.question.text()


def answer(page: ProcessesPage, button: str) -> None:
    """Press a button of the open question."""
    box = page.question
    assert box is not None
    found = next(one for one in box.buttons() if one.text().replace("&", "") == button)
    QTest.mouseClick(found, Qt.MouseButton.LeftButton)


# -- the list


def test_the_busiest_process_comes_first(page: ProcessesPage, show: Callable[..., None]) -> None:
    show(*ALL)
    assert names(page) == ["python", "jupyter", "训练", "blob"]
    assert not page.empty.isVisible()


def test_selection_and_scroll_position_survive_updates_sorting_and_newcomers(
    page: ProcessesPage, show: Callable[..., None]
) -> None:
    crowd = [make_process(1000 + i, f"p{i}", gpu_use(1000 + i, i / 100)) for i in range(60)]
    show(*crowd)
    assert page.select(1020)
    bar = page.table.verticalScrollBar()
    bar.setValue(700)
    where = bar.value()
    assert where > 0
    show(make_process(1, "new", gpu_use(1, 0.0)), *crowd[:30], *[replace(one, user="x") for one in crowd[31:]])
    row = page.selected()
    assert row is not None
    assert row.process.pid == 1020
    assert bar.value() == where
    page.table.sortByColumn(Col.NAME, Qt.SortOrder.AscendingOrder)
    row = page.selected()
    assert row is not None
    assert row.process.pid == 1020


def test_when_the_selected_process_ends_no_other_one_is_selected(
    page: ProcessesPage, show: Callable[..., None]
) -> None:
    show(*ALL)
    page.select(7)
    show(TRAINING, UNKNOWN, ON_CPU)
    assert page.selected() is None
    assert page.details.isVisible()
    assert page.details.title == "jupyter (PID 7)"
    assert page.details.field("state") == "Has ended."


def test_the_search_and_the_device_filter(page: ProcessesPage, show: Callable[..., None]) -> None:
    show(*ALL)
    page.focus_search()
    QTest.keyClicks(page.search, "pytorch")
    assert names(page) == ["python"]
    page.search.clear()
    page.devices.choose(device_key(1))
    assert names(page) == ["python", "jupyter"]
    page.devices.choose(None)
    assert len(names(page)) == 4


def test_details_say_who_it_is(page: ProcessesPage, show: Callable[..., None]) -> None:
    one = replace(
        TRAINING, command=("python", "train it.py"), parents=("bash", "sshd"), environment="ml", executable="/x/python"
    )
    show(one)
    page.select(41)
    assert "train it.py" in page.details.field("command")
    assert page.details.field("parents") == "bash ‹ sshd"
    assert page.details.field("environment") == "ml"
    assert page.details.field("framework") == "PyTorch"
    show(replace(one, environment=""))
    assert page.details.field("environment") == ""  # a framework is none
    assert page.details.field("framework") == "PyTorch"
    assert page.details.field("devices") == "GPU 0: 90 % (Compute 0), 13.0 GB\nGPU 1: 40 %, 12.0 GB"


def test_columns_are_chosen_in_the_header(page: ProcessesPage) -> None:
    menu = page.table.columns_menu()
    action = next(one for one in menu.actions() if one.text() == "Command line")
    assert page.table.isColumnHidden(Col.COMMAND)
    action.trigger()
    assert not page.table.isColumnHidden(Col.COMMAND)
    menu.deleteLater()


def shown_columns(page: ProcessesPage) -> set[Col]:
    return {column for column in Col if not page.table.isColumnHidden(column)}


@pytest.mark.parametrize("width", [720, 820, 900, 1000, 1180])
@pytest.mark.parametrize("language", ["en", "zh_CN"])
def test_columns_fit_the_room_the_most_important_ones_first(page: ProcessesPage, width: int, language: str) -> None:
    messages.set_language(language)
    page.retranslate()
    page.resize(width - 48, 600)
    assert not page.table.horizontalScrollBar().maximum()
    assert shown_columns(page) >= {Col.NAME, Col.PID, Col.STATE, Col.GPU, Col.MEMORY, Col.CPU}
    header = page.table.horizontalHeader()
    assert header.length() == page.table.viewport().width()
    assert all(header.least(column) <= header.sectionSize(column) for column in shown_columns(page))  # type: ignore[attr-defined]


def test_a_column_that_gave_way_comes_back_with_the_room(page: ProcessesPage) -> None:
    page.resize(1400, 600)
    everything, widths = shown_columns(page), [page.table.columnWidth(column) for column in Col]
    page.resize(760, 600)
    assert Col.USER not in shown_columns(page)
    page.resize(1400, 600)
    assert shown_columns(page) == everything
    assert [page.table.columnWidth(column) for column in Col] == widths


def test_a_column_that_is_asked_for_stays_and_others_give_way(page: ProcessesPage) -> None:
    page.resize(760, 600)
    menu = page.table.columns_menu()
    user = next(one for one in menu.actions() if one.text() == "User")
    assert not user.isChecked()
    before = shown_columns(page)
    user.trigger()
    assert Col.USER in shown_columns(page)
    assert before - shown_columns(page)
    assert not page.table.horizontalScrollBar().maximum()
    menu.deleteLater()


def test_a_border_that_is_moved_stays_and_the_last_column_ends_with_the_table(page: ProcessesPage) -> None:
    page.resize(1400, 600)
    page.table.setColumnWidth(Col.NAME, 180)
    header = page.table.horizontalHeader()
    assert header.length() == page.table.viewport().width()
    page.resize(1390, 600)
    assert page.table.columnWidth(Col.NAME) == 180
    assert header.length() == page.table.viewport().width()


def test_columns_are_as_wide_as_the_words_of_the_language_or_as_the_user_made_them(page: ProcessesPage) -> None:
    def widths() -> dict[Col, int]:
        return {column: page.table.columnWidth(column) for column in shown_columns(page)}

    page.resize(1400, 600)
    english = widths()
    messages.set_language("zh_CN")
    page.retranslate()
    assert widths()[Col.MEMORY] < english[Col.MEMORY]
    page.table.setColumnWidth(Col.NAME, 180)
    messages.set_language("en")
    page.retranslate()
    last = Col.USER  # it takes what is left
    assert {**widths(), last: 0} == {**english, Col.NAME: 180, last: 0}


def test_the_last_border_stays_where_the_table_ends(page: ProcessesPage) -> None:
    page.resize(1400, 600)
    header = page.table.horizontalHeader()
    shown, last = shown_columns(page), Col(header.logicalIndex(max(map(header.visualIndex, shown_columns(page)))))
    for width in (40, 900):
        page.table.setColumnWidth(last, width)
        assert header.length() == page.table.viewport().width()
    page.resize(1390, 600)
    assert shown_columns(page) == shown  # none gave way to it
    assert header.length() == page.table.viewport().width()


def test_a_column_in_which_nothing_stands_gives_way_before_another_gets_narrower(
    page: ProcessesPage, show: Callable[..., None]
) -> None:
    room = 1400
    page.resize(room, 600)
    show(*(replace(one, environment="") for one in ALL))
    everything = shown_columns(page)
    assert Col.ENVIRONMENT in everything  # there is room
    usual = page.table.columnWidth(Col.ENGINE)
    while Col.ENVIRONMENT in shown_columns(page):
        assert page.table.columnWidth(Col.ENGINE) == usual
        room -= 10
        page.resize(room, 600)
    assert shown_columns(page) == everything - {Col.ENVIRONMENT}
    assert page.table.columnWidth(Col.ENGINE) == usual
    show(replace(TRAINING, environment="ml"))
    assert shown_columns(page) == everything
    show(replace(TRAINING, environment=""))
    assert shown_columns(page) == everything  # columns do not jump with each process


def test_where_there_is_little_room_the_engine_stands_without_the_word_gpu(
    page: ProcessesPage, show: Callable[..., None]
) -> None:
    show(TRAINING)
    index = page.model.index(0, Col.ENGINE)
    assert index.data() == "GPU 0 - Compute 0"
    assert index.data(SHORT_ROLE) == "0 - Compute 0"


def test_what_may_be_cut_is_in_the_tool_tip(page: ProcessesPage, show: Callable[..., None]) -> None:
    show(replace(TRAINING, user="a rather long name", environment="ml"))
    for column, text in ((Col.ENGINE, "GPU 0"), (Col.USER, "a rather long name"), (Col.ENVIRONMENT, "ml")):
        assert text in page.model.index(0, column).data(Qt.ItemDataRole.ToolTipRole)


def test_a_header_says_its_name_also_where_it_is_cut(page: ProcessesPage) -> None:
    tip = Qt.ItemDataRole.ToolTipRole
    assert page.model.headerData(Col.USER, Qt.Orientation.Horizontal, tip) == "User"
    assert page.model.headerData(Col.RAM, Qt.Orientation.Horizontal, tip) == "Memory\nResident system memory"


def test_sorting_without_a_mouse(page: ProcessesPage, show: Callable[..., None]) -> None:
    header = page.table.horizontalHeader()
    for words, column, order in (
        ("Name", Col.NAME, Qt.SortOrder.AscendingOrder),
        ("CPU cores", Col.CPU, Qt.SortOrder.DescendingOrder),
        ("Ascending", Col.CPU, Qt.SortOrder.AscendingOrder),
    ):
        menu = page.table.sort_menu()
        entries = {action.text(): action for action in menu.actions()}
        entries[words].trigger()
        assert (header.sortIndicatorSection(), header.sortIndicatorOrder()) == (column, order)
        menu.deleteLater()
    assert "Command line" not in entries  # a column that is not on show


def test_copy(page: ProcessesPage, show: Callable[..., None]) -> None:
    show(replace(TRAINING, command=("python", "train it.py")))
    page.select(41)
    QTest.keyClick(page.table, Qt.Key.Key_C, Qt.KeyboardModifier.ControlModifier)
    assert (
        QGuiApplication.clipboard().text().startswith("python\t41\tComputing on GPU\t90 %\tGPU 0 - Compute 0\t25.0 GB")
    )
    page.copy_command()
    assert QGuiApplication.clipboard().text() in ("python 'train it.py'", 'python "train it.py"')


def test_an_empty_list_explains_itself(page: ProcessesPage, show: Callable[..., None]) -> None:
    assert page.empty.text.startswith("Waiting for the first reading")
    show()
    assert page.empty.isVisible()
    assert "device memory are in use, yet the driver lists no process" in page.empty.text
    show(*ALL)
    page.search.setText("no such process")
    assert "device filter: 4" in page.empty.text


def test_a_page_that_was_hidden_waits_for_a_reading_of_its_own(page: ProcessesPage, show: Callable[..., None]) -> None:
    show()
    page.activate()
    assert page.empty.text.startswith("Not read yet")
    show()
    show()
    assert page.empty.text.startswith("Processes are hidden")


def test_coming_back_keeps_rows_and_selection_until_the_next_reading(
    page: ProcessesPage, show: Callable[..., None], feed: Feed
) -> None:
    show(*ALL)
    page.select(7)
    feed.push(sample_of(sequence=50))  # while another page was on show: nobody asked for processes
    page.activate()
    assert len(names(page)) == 4
    feed.push(sample_of(*ALL, sequence=52))
    page.refresh()
    row = page.selected()
    assert row is not None
    assert row.process.pid == 7


# -- ending


def test_ending_asks_and_does_nothing_on_cancel(
    page: ProcessesPage, show: Callable[..., None], child: Callable[[str], subprocess.Popen[bytes]]
) -> None:
    process = child(OBEDIENT)
    show(listed(process))
    page.select(process.pid)
    page.ask_end()
    assert asked(page) == f"End victim (PID {process.pid})?"
    answer(page, "Cancel")
    assert asked(page) == ""
    assert process.poll() is None


def test_ending_a_real_process(
    page: ProcessesPage, show: Callable[..., None], child: Callable[[str], subprocess.Popen[bytes]], qtbot: QtBot
) -> None:
    process = child(OBEDIENT)
    show(listed(process))
    page.select(process.pid)
    page.ask_end()
    answer(page, "End task")
    qtbot.waitUntil(lambda: page.message.text == f"victim (PID {process.pid}) has ended.", timeout=10_000)
    assert process.wait(10) != 0


@pytest.mark.skipif(sys.platform == "win32", reason="on Windows a process cannot refuse")
def test_one_that_does_not_listen_is_killed_only_after_a_second_question(
    page: ProcessesPage,
    show: Callable[..., None],
    child: Callable[[str], subprocess.Popen[bytes]],
    qtbot: QtBot,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(ending, "PATIENCE_S", 0.3)
    process = child(DEAF)
    show(listed(process))
    page.select(process.pid)
    page.ask_end()
    answer(page, "End task")
    qtbot.waitUntil(lambda: page.question is not None and "Kill it?" in page.question.text(), timeout=10_000)
    assert process.poll() is None
    answer(page, "Kill")
    qtbot.waitUntil(lambda: page.message.text == f"victim (PID {process.pid}) has ended.", timeout=10_000)
    assert process.wait(10) == -9


def test_a_recycled_pid_is_never_hit(
    page: ProcessesPage, show: Callable[..., None], child: Callable[[str], subprocess.Popen[bytes]], qtbot: QtBot
) -> None:
    process = child(OBEDIENT)
    show(listed(process, age_s=60.0))  # the process in the list started a minute earlier
    page.select(process.pid)
    page.ask_end()
    answer(page, "End task")
    qtbot.waitUntil(lambda: "belongs to another process now. Nothing was done." in page.message.text, timeout=10_000)
    assert process.poll() is None


def test_one_that_is_gone_already(child: Callable[[str], subprocess.Popen[bytes]]) -> None:
    process = child(OBEDIENT)
    request = EndRequest(process.pid, psutil.Process(process.pid).create_time(), "x")
    process.kill()
    process.communicate()
    assert end_process(request, threading.Event()).result is EndResult.GONE


def test_permission_denied_is_said_plainly(
    page: ProcessesPage,
    show: Callable[..., None],
    child: Callable[[str], subprocess.Popen[bytes]],
    qtbot: QtBot,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def refuse(self: psutil.Process) -> None:
        raise psutil.AccessDenied(self.pid)

    monkeypatch.setattr(psutil.Process, "terminate", refuse)
    process = child(OBEDIENT)
    show(listed(process))
    page.select(process.pid)
    page.ask_end()
    answer(page, "End task")
    qtbot.waitUntil(lambda: page.message.text.startswith("Permission denied: victim"), timeout=10_000)


def test_what_cannot_be_ended_is_not_offered(page: ProcessesPage, show: Callable[..., None]) -> None:
    gone = make_process(5, "gone", gpu_use(5, 0.0, GIB), presence=ProcessPresence.EXITED)
    unpinned = make_process(6, "unpinned", gpu_use(6, 0.0), started_utc_s=None)
    show(gone, unpinned, TRAINING)
    for pid in (5, 6):
        page.select(pid)
        row = page.selected()
        assert row is not None
        menu = page.menu(row)
        assert not page._actions["end"].isEnabled()
        menu.deleteLater()
        page.ask_end()
        assert page.question is None


def test_processes_of_a_recording_cannot_be_ended(page: ProcessesPage, show: Callable[..., None]) -> None:
    page.set_recorded()
    show(*ALL)
    page.select(41)
    row = page.selected()
    assert row is not None
    menu = page.menu(row)
    offered = [action.text() for action in menu.actions() if action.isEnabled()]
    menu.deleteLater()
    assert "Open file location" not in offered, "the program may be on another machine"
    page.ask_end()
    assert page.question is None
    assert not page.findChildren(QMessageBox)
