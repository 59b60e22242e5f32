"""Watching a program in the window: from its row to a verdict that stands, changes, is marked on charts, and ends."""

from __future__ import annotations

import json
import sys
import threading
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from datetime import datetime
from itertools import pairwise
from pathlib import Path

import pytest
from PySide6.QtCore import QEvent, QPoint, QPointF, Qt
from PySide6.QtGui import QAccessible, QAccessibleAnnouncementEvent, QGuiApplication, QMouseEvent
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QFileDialog, QScrollArea, QToolTip, QWidget
from pytestqt.qtbot import QtBot

from gpumon_gui.app import awaited
from gpumon_gui.app.replaying import ReplayOrigin, demo_recording
from gpumon_gui.app.watches import Watches, alert_of, marker_of
from gpumon_gui.bridge import watching
from gpumon_gui.bridge.alerts import AlertCentre
from gpumon_gui.bridge.feed import Feed, FeedState, FeedStatus
from gpumon_gui.bridge.translation import Translation
from gpumon_gui.bridge.watching import CAPACITY, MOST, Program, Watched, WatchWorker, can_be_watched
from gpumon_gui.core import messages
from gpumon_gui.core.model import DeviceKey, ProcessPresence, ProcessSample, Sample
from gpumon_gui.diagnosis.behaviour.watcher import Turn, Watcher
from gpumon_gui.diagnosis.finding import Confidence, Finding, Severity
from gpumon_gui.history.marker import Marker, MarkerKind
from gpumon_gui.ui import announce, moments
from gpumon_gui.ui.charts.bands import BandStyle
from gpumon_gui.ui.main_window import MainWindow
from gpumon_gui.ui.theme import Scheme, Theme
from gpumon_gui.ui.widgets import watch_texts
from gpumon_gui.ui.widgets.help_page import HelpWindow
from gpumon_gui.ui.widgets.watch_panel import WatchPanel
from gpumon_gui.ui.widgets.watch_split import WatchSplit
from tests.qt.test_main_window import RecordingOrigin
from tests.qt.test_stretch import LONGER, Longer, cut, settle
from tests.unit.diagnosis.test_made_up_workloads import FOUR_BUSY, HEALTHY
from tests.unit.diagnosis.workloads import KEY, PID, record, then

LOADING = record(FOUR_BUSY, seconds=25.0)
CHANGING = record(then(HEALTHY, 25.0, FOUR_BUSY), seconds=52.0)


class Keeping:
    """Notes the marks that a history would get."""

    def __init__(self) -> None:
        self.markers: list[Marker] = []

    def add_marker(self, marker: Marker) -> None:
        self.markers.append(marker)


class AlertsOf:
    """The part of the alerts that a watch uses."""

    def __init__(self, feed: Feed) -> None:
        self.centre = AlertCentre(feed)


@pytest.fixture
def feed(qapp: QApplication) -> Iterator[Feed]:
    made = Feed()
    made.set_status(FeedStatus(FeedState.LIVE))
    yield made
    made.deleteLater()


@pytest.fixture
def translation(qapp: QApplication) -> Iterator[Translation]:
    made = Translation()
    yield made
    made.set_language("en")
    made.deleteLater()


@pytest.fixture
def origin() -> RecordingOrigin:
    return RecordingOrigin()


@pytest.fixture
def window(feed: Feed, translation: Translation, origin: RecordingOrigin, qtbot: QtBot) -> Iterator[MainWindow]:
    theme = Theme()
    theme.set_scheme(Scheme.LIGHT)
    made = MainWindow(feed, theme, translation, origin)
    qtbot.addWidget(made)
    made.resize(1200, 800)
    made.show()
    made.activateWindow()
    qtbot.waitUntil(made.isActiveWindow, timeout=5000)
    yield made
    assert made.close_down()
    theme.set_scheme(Scheme.SYSTEM)
    theme.deleteLater()


@pytest.fixture
def keeping() -> Keeping:
    return Keeping()


@pytest.fixture
def watches(window: MainWindow, feed: Feed, translation: Translation, keeping: Keeping) -> Watches:
    # All of a core: the samples of a minute come within a moment.
    return Watches(window, feed, translation, keeping, AlertsOf(feed), share=1.0)  # type: ignore[arg-type]


@pytest.fixture
def see(watches: Watches, feed: Feed, qtbot: QtBot) -> Callable[[Sequence[Sample]], None]:
    """Give samples and wait until the newest was judged (or is less than a verdict old)."""

    began: list[float] = []

    def seen(samples: Sequence[Sample]) -> None:
        began.append(samples[0].monotonic_s)
        for sample in samples:
            if sample.monotonic_s < began[0]:
                began[0] = sample.monotonic_s
            feed.push(sample)
        first = watches.watching.watched[0]
        wanted_s = samples[-1].monotonic_s - began[0] - watching.JUDGE_S - 0.5

        def is_there() -> bool:
            now = watches.watching.state(first.program)
            return now is not None and (now.ended or bool(now.fault) or now.seen_s >= wanted_s)

        qtbot.waitUntil(is_there, timeout=20000)

    return seen


def program_of(sample: Sample, pid: int = PID) -> Program:
    return Program.of(next(process for process in sample.processes if process.pid == pid))


def panel_of(watches: Watches) -> WatchPanel:
    panel = watches.panel
    assert panel is not None
    return panel


def asked(origin: RecordingOrigin) -> tuple[int, ...]:
    """The pids that are read now."""
    return origin.demands[-1].pids


def verdict_code(watches: Watches) -> str | None:
    state = panel_of(watches).watched()
    assert state is not None
    assert state.verdict is not None
    assert state.verdict.stable
    return None if state.verdict.primary is None else state.verdict.primary.code


def choose_row(window: MainWindow, feed: Feed, sample: Sample) -> None:
    feed.push(sample)
    window.show_page("processes")
    window.pages["processes"].refresh()
    assert window.pages["processes"].select(PID)


def without(sample: Sample, pid: int = PID) -> Sample:
    return replace(sample, processes=tuple(one for one in sample.processes if one.pid != pid))


# -- from a row to a verdict


def test_the_button_of_a_row_leads_to_a_verdict_beside_the_charts(
    window: MainWindow, watches: Watches, feed: Feed, see: Callable[[Sequence[Sample]], None]
) -> None:
    choose_row(window, feed, LOADING[0])
    button = window.pages["processes"].watch_button
    QTest.mouseClick(button, Qt.MouseButton.LeftButton)
    assert window.page == "performance"
    panel = panel_of(watches)
    assert panel.isVisible()
    assert panel.card.sentence.text() == "Watching …"
    see(LOADING[1:15])
    assert "more" in panel.card.waiting.text()
    assert panel.card.bar.isVisible()
    see(LOADING[15:])
    assert verdict_code(watches) == "input-pipeline-bound"
    assert panel.card.hasFocus()
    assert panel.card.accessibleName().startswith("The GPU waits for data")
    assert panel.card.sentence.text().startswith("The GPU waits for data")
    assert panel.card.mark.kind == "attention"
    assert panel.card.status.text.startswith("Slow · certain")
    assert not panel.card.waiting.isVisible()
    assert "GPU busy: " in panel.block.text
    assert "job." not in panel.block.text
    assert "num_workers" in panel.block.text


@pytest.mark.parametrize("key", [Qt.Key.Key_Return, Qt.Key.Key_Enter])
def test_enter_on_a_row_watches_it(window: MainWindow, watches: Watches, feed: Feed, key: Qt.Key) -> None:
    choose_row(window, feed, LOADING[0])
    table = window.pages["processes"].table
    table.setFocus()
    QTest.keyClick(table, key)
    assert [one.program.pid for one in watches.watching.watched] == [PID]
    assert window.page == "performance"


def test_the_menu_and_a_double_click_do_too(window: MainWindow, watches: Watches, feed: Feed) -> None:
    choose_row(window, feed, LOADING[0])
    page = window.pages["processes"]
    menu = page.menu(page.selected())
    action = menu.actions()[0]
    assert (action.text(), action.isEnabled()) == ("Watch", True)
    action.trigger()
    menu.deleteLater()
    assert watches.watching.pids == (PID,)
    watches.watching.stop(watches.watching.watched[0].program)
    window.show_page("processes")
    where = page.table.visualRect(page.proxy.index(0, 0)).center()
    QTest.mouseClick(page.table.viewport(), Qt.MouseButton.LeftButton, pos=where)
    QTest.mouseDClick(page.table.viewport(), Qt.MouseButton.LeftButton, pos=where)
    assert len(watches.watching.watched) == 1


def test_the_performance_page_offers_who_uses_its_gpu(window: MainWindow, watches: Watches, feed: Feed) -> None:
    page = window.pages["performance"]
    feed.push(LOADING[0])
    page.refresh()
    menu = page._programs
    menu.aboutToShow.emit()
    texts = [action.text() for action in menu.actions()]
    assert texts == [f"python (PID {PID})"]  # its loading processes use no GPU
    menu.triggered.emit(menu.actions()[0])
    assert watches.watching.pids == (PID,)


def test_a_gpu_without_programs_says_so(window: MainWindow, watches: Watches, feed: Feed) -> None:
    page = window.pages["performance"]
    feed.push(replace(LOADING[0], processes=()))
    page.refresh()
    page._programs.aboutToShow.emit()
    (action,) = page._programs.actions()
    assert not action.isEnabled()
    page._programs.triggered.emit(action)
    assert watches.watching.watched == ()


def test_one_that_was_asked_for_at_the_start_is_watched_when_it_is_seen(
    watches: Watches, origin: RecordingOrigin, feed: Feed
) -> None:
    watches.watch_when_seen(PID)
    assert asked(origin) == (PID,)  # or it might never be listed
    feed.push(without(LOADING[0]))
    assert not watches.watching.watched
    feed.push(LOADING[1])
    assert [one.program.pid for one in watches.watching.watched] == [PID]
    watches.watching.stop(watches.watching.watched[0].program)
    feed.push(LOADING[2])
    assert not watches.watching.watched


def test_a_process_that_is_none_is_said_at_once_and_waited_for(
    window: MainWindow, watches: Watches, feed: Feed, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(awaited, "_exists", lambda _pid: False)
    watches.watch_when_seen(PID)
    assert f"no process {PID}" in window.message.text
    feed.push(LOADING[0])
    assert [one.program.pid for one in watches.watching.watched] == [PID]
    assert window.message.isHidden()


@pytest.mark.parametrize("is_here", [True, False])
def test_a_process_that_is_not_listed_is_said_after_a_while_of_readings(
    window: MainWindow, watches: Watches, feed: Feed, is_here: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(awaited, "_exists", lambda _pid: is_here)  # of another machine nobody asks here
    watches.watch_when_seen(PID, is_here=is_here)
    began_s = LOADING[0].monotonic_s
    for sample in LOADING:
        feed.push(without(sample))
        passed_s = sample.monotonic_s - began_s
        assert window.message.isHidden() is (passed_s < awaited.PATIENCE_S)
    assert f"{PID} was not seen in 20 s" in window.message.text
    window.message.hide()
    feed.push(without(replace(LOADING[-1], monotonic_s=began_s + 60.0)))
    assert window.message.isHidden()  # said once
    feed.push(replace(LOADING[-1], monotonic_s=began_s + 61.0))
    assert [one.program.pid for one in watches.watching.watched] == [PID]


def test_another_one_that_is_asked_for_takes_the_place_of_the_first(
    watches: Watches, origin: RecordingOrigin, feed: Feed
) -> None:
    watches.watch_when_seen(PID)
    watches.watch_when_seen(99)
    assert asked(origin) == (99,)
    feed.push(LOADING[0])
    assert not watches.watching.watched


def test_a_program_that_does_not_come_to_the_gpu_is_said(
    watches: Watches, feed: Feed, see: Callable[[Sequence[Sample]], None]
) -> None:
    def off(sample: Sample) -> Sample:
        return replace(sample, processes=tuple(replace(process, uses=()) for process in sample.processes))

    feed.push(off(LOADING[0]))
    watches.watch(program_of(LOADING[0]))
    panel = panel_of(watches)
    see([off(sample) for sample in LOADING[1:30]])
    assert panel.notice.isHidden()
    see([off(sample) for sample in LOADING[30:]])
    assert "not used a GPU so far" in panel.notice.text
    later = LOADING[-1].monotonic_s - LOADING[0].monotonic_s + 0.25
    see([replace(sample, monotonic_s=sample.monotonic_s + later) for sample in LOADING[:12]])
    assert panel.notice.isHidden()


def test_without_a_gpu_it_is_said_where_it_can_be_seen(window: MainWindow, watches: Watches, feed: Feed) -> None:
    feed.push(replace(LOADING[0], inventory=(), devices={}))
    watches.watch(program_of(LOADING[0]))
    page, panel = window.pages["performance"], panel_of(watches)
    assert page.empty.isVisible()  # why there is none
    assert panel.isVisible()
    assert "finds no GPU" in panel.notice.text
    assert not window.message.isVisible()  # nothing stays behind on other pages
    feed.push(LOADING[1])
    page.refresh()
    watches._on_changed()
    assert not page.empty.isVisible()
    assert panel.notice.isHidden()


def test_without_a_gpu_the_verdict_is_given_and_leads_to_the_programs_environment(
    window: MainWindow, watches: Watches, feed: Feed, see: Callable[[Sequence[Sample]], None]
) -> None:
    def without(sample: Sample) -> Sample:
        processes = tuple(replace(one, uses=(), framework="PyTorch", name="python") for one in sample.processes)
        return replace(sample, inventory=(), devices={}, processes=processes)

    samples = [without(sample) for sample in LOADING]
    feed.push(samples[0])
    watches.watch(program_of(samples[0]))
    panel, page = panel_of(watches), window.pages["performance"]
    see(samples[1:])
    assert "sees no GPU in this machine: the program (PyTorch)" in panel.card.sentence.text()
    assert panel.notice.isHidden()  # it would say the same
    wanted: list[tuple[int, str]] = []
    page.program_diagnose_wanted.connect(lambda pid, name: wanted.append((pid, name)))
    page.empty.run_button.click()
    assert [pid for pid, _name in wanted] == [PID]


def test_watching_again_and_again_leaves_nothing_behind(watches: Watches, feed: Feed, qtbot: QtBot) -> None:
    program = program_of(LOADING[0])
    watches.watch(program)
    panel = panel_of(watches)
    thread, widgets = watches.watching._thread, len(panel.findChildren(QWidget))
    for _time in range(10):
        watches.watch(program)
        feed.push(LOADING[0])
        watches.watching.stop(program)
    assert watches.watching._thread is thread
    assert len(panel.findChildren(QWidget)) == widgets
    worker = watches.watching._worker
    assert worker is not None
    qtbot.waitUntil(lambda: not worker._queue and not worker._followed, timeout=5000)


def test_what_has_ended_cannot_be_watched(window: MainWindow, watches: Watches, feed: Feed) -> None:
    gone = replace(LOADING[0].processes[0], presence=ProcessPresence.EXITED)
    assert not can_be_watched(gone)
    choose_row(window, feed, replace(LOADING[0], processes=(gone,)))
    page = window.pages["processes"]
    assert not page.watch_button.isEnabled()
    page.watch()
    assert watches.watching.watched == ()


# -- it changes with the program


def test_a_change_of_the_workload_changes_the_verdict_and_is_listed(
    watches: Watches,
    window: MainWindow,
    keeping: Keeping,
    see: Callable[[Sequence[Sample]], None],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    heard: list[str] = []

    class Spoken:
        AnnouncementPoliteness = QAccessible.AnnouncementPoliteness

        @staticmethod
        def updateAccessibility(event: QAccessibleAnnouncementEvent) -> None:
            assert event.politeness() == Spoken.AnnouncementPoliteness.Polite
            heard.append(event.message())

    monkeypatch.setattr(announce, "QAccessible", Spoken)
    watches.watch(program_of(CHANGING[0]))
    window.pages["performance"].watch_button.setFocus()
    before = QApplication.focusWidget()
    half = next(index for index, sample in enumerate(CHANGING) if sample.monotonic_s >= 124.0)
    see(CHANGING[:half])
    panel = panel_of(watches)
    assert verdict_code(watches) is None
    assert panel.card.mark.kind == "good"
    assert panel.card.sentence.text() == "Nothing that was looked for holds the GPU back."
    assert not panel.block.isVisible()
    see(CHANGING[half:])
    assert verdict_code(watches) == "input-pipeline-bound"
    assert panel.card.mark.kind == "attention"
    newest, oldest = panel.turn_text.split("\n")
    assert "The GPU waits for data" in newest
    assert oldest.endswith("Nothing that was looked for holds the GPU back.")
    assert [text.partition(": ")[0] for text in heard] == [f"python (PID {PID})"] * 2
    assert "waits for data" in heard[1]
    assert QApplication.focusWidget() is before  # nothing takes the focus
    marks = [(marker.kind, marker.code, marker.tone) for marker in keeping.markers]
    assert marks == [
        (MarkerKind.VERDICT, "", "good"),
        (MarkerKind.VERDICT, "input-pipeline-bound", "attention"),
    ]
    assert keeping.markers[0].sentence() == "Nothing that was looked for holds the GPU back."
    assert keeping.markers[1].sentence().startswith("The GPU waits for data: it works")
    assert keeping.markers[1].utc_s > keeping.markers[0].utc_s
    assert keeping.markers[1].device == KEY


def test_while_something_else_is_seen_the_old_verdict_stays(
    watches: Watches, see: Callable[[Sequence[Sample]], None]
) -> None:
    watches.watch(program_of(CHANGING[0]))
    panel = panel_of(watches)
    said: list[tuple[str, str]] = []
    watches.watching.changed.connect(lambda: said.append((panel.card.sentence.text(), panel.card.waiting.text())))
    see(CHANGING)
    while_changing = [sentence for sentence, waiting in said if waiting.startswith("Something else is seen now")]
    assert while_changing
    assert set(while_changing) == {"Nothing that was looked for holds the GPU back."}


def test_how_bad_it_is_changes_with_the_verdict_only(watches: Watches, see: Callable[[Sequence[Sample]], None]) -> None:
    watches.watch(program_of(LOADING[0]))
    see(LOADING)
    state = panel_of(watches).watched()
    assert state is not None
    assert state.verdict is not None
    assert state.verdict.primary is not None
    milder = replace(state.verdict.primary, severity=Severity.INFO)
    behaviour = state.verdict.behaviour
    behaviour = replace(behaviour, diagnosis=replace(behaviour.diagnosis, findings=(milder,)))
    verdict = replace(state.verdict, behaviour=behaviour, primary=milder, stable=False, needs_s=5.0)
    unsure = replace(state, verdict=verdict)
    assert watch_texts.status(unsure).startswith("Slow · ")
    assert watch_texts.waiting(unsure) == ""


def test_figures_change_without_new_widgets(watches: Watches, see: Callable[[Sequence[Sample]], None]) -> None:
    watches.watch(program_of(LOADING[0]))
    see(LOADING[:70])
    panel = panel_of(watches)
    commands, parts = list(panel.block.commands), list(panel.block._parts)
    see(LOADING[70:])
    assert panel.block.commands == commands
    assert panel.block._parts == parts


def test_a_finding_says_where_its_figures_are_from_and_how_it_was_decided(
    watches: Watches, see: Callable[[Sequence[Sample]], None]
) -> None:
    watches.watch(program_of(LOADING[0]))
    see(LOADING)
    panel = panel_of(watches)
    state = panel.watched()
    assert state is not None
    assert state.verdict is not None
    finding = state.verdict.primary
    assert finding is not None
    start, end = finding.evidence[0].start_utc_s, finding.evidence[0].end_utc_s
    assert start is not None
    assert end is not None
    assert f"test · {moments.clock(start)} – {moments.clock(end)}" in panel.block.text
    told = [source.text() for *_line, source in panel.block._lines if source.isVisible()]
    assert [source.split(" · ")[0] for source in told] == ["test", "the operating system"]  # each once
    panel.card.setFocus(Qt.FocusReason.TabFocusReason)
    QTest.keyClick(panel.card, Qt.Key.Key_Tab)
    focused = QApplication.focusWidget()
    assert focused is panel.block.evidence
    QTest.keyClick(focused, Qt.Key.Key_C, Qt.KeyboardModifier.ControlModifier)
    assert QGuiApplication.clipboard().text().splitlines()[0].startswith("GPU busy: ")
    QTest.keyClick(panel.block.help_button, Qt.Key.Key_Return)
    help_window = panel.findChild(HelpWindow)
    assert help_window is not None
    assert help_window.isVisible()
    assert "How it is decided" in help_window.page.text
    QTest.keyClick(panel.block.help_button, Qt.Key.Key_Return)
    assert len(panel.findChildren(HelpWindow)) == 1
    QTest.keyClick(help_window, Qt.Key.Key_Escape)
    assert not help_window.isVisible()


def test_tab_goes_through_the_panel_from_left_to_right_and_down(
    watches: Watches, see: Callable[[Sequence[Sample]], None]
) -> None:
    watches.watch(program_of(LOADING[0]))
    see(LOADING)
    panel = panel_of(watches)
    order = [panel.report_button, panel.stop_button, panel.fold_button, panel.card, panel.block.evidence]
    order[0].setFocus(Qt.FocusReason.TabFocusReason)
    for one, following in pairwise(order):
        QTest.keyClick(one, Qt.Key.Key_Tab)
        assert QApplication.focusWidget() is following


def test_advice_can_be_copied_by_keyboard(watches: Watches, see: Callable[[Sequence[Sample]], None]) -> None:
    watches.watch(program_of(LOADING[0]))
    see(LOADING)
    box = panel_of(watches).block.commands[1]
    box.copy_button.setFocus(Qt.FocusReason.TabFocusReason)
    QTest.keyClick(box.copy_button, Qt.Key.Key_Return)
    assert QGuiApplication.clipboard().text() == box.command
    assert "num_workers" in box.command
    box._said.stop()


def test_a_gpu_that_does_little_for_no_known_reason_is_not_called_well(watches: Watches) -> None:
    watches.watch(program_of(LOADING[0]))
    watcher = Watcher(PID, rules=())  # nothing is looked for
    for sample in LOADING:
        watcher.add(sample)
        watcher.verdict()
    verdict = watcher.verdict()
    assert verdict is not None
    assert verdict.history
    state = watches.watching.watched[0]
    watches.watching._set((replace(state, verdict=replace(verdict, stable=True)),))
    panel = panel_of(watches)
    assert panel.card.sentence.text() == "No cause was found for the time in which the GPU is idle."
    assert panel.card.mark.kind == "info"


# -- marks on the charts


def test_the_verdict_is_marked_on_the_charts_and_the_pointer_tells_what_it_is(
    watches: Watches, window: MainWindow, see: Callable[[Sequence[Sample]], None]
) -> None:
    watches.watch(program_of(LOADING[0]))
    see(LOADING)
    page = window.pages["performance"]
    page.refresh()
    chart = page.engines.charts[0]
    styles = {band.style for band in chart.bands}
    assert styles == {BandStyle.JUDGED, BandStyle.FINDING}
    finding = next(band for band in chart.bands if band.style is BandStyle.FINDING)
    assert finding.tone == "attention"
    middle = (finding.start_utc_s + finding.end_utc_s) / 2 - LOADING[-1].utc_s
    assert "The GPU waits for data" in chart.explanation(middle)
    assert "The GPU waits" not in chart.explanation(finding.start_utc_s - LOADING[-1].utc_s - 5.0)
    with_marks = chart.grab().toImage()
    chart.set_bands(())
    assert chart.grab().toImage() != with_marks


def test_the_tool_tip_of_a_mark_shows(
    watches: Watches, window: MainWindow, see: Callable[[Sequence[Sample]], None], monkeypatch: pytest.MonkeyPatch
) -> None:
    shown: list[str] = []
    monkeypatch.setattr(QToolTip, "showText", lambda _where, text, _of: shown.append(text))
    watches.watch(program_of(LOADING[0]))
    see(LOADING)
    chart = window.pages["performance"].engines.charts[0]
    viewport = chart._plot.viewport()
    at = QPointF(viewport.width() * 0.9, 10)
    move = QMouseEvent(
        QEvent.Type.MouseMove,
        at,
        viewport.mapToGlobal(at),
        Qt.MouseButton.NoButton,
        Qt.MouseButton.NoButton,
        Qt.KeyboardModifier.NoModifier,
    )
    QApplication.sendEvent(viewport, move)
    assert "This part was judged." in shown[-1]


def test_a_chosen_finding_is_marked_instead(watches: Watches, see: Callable[[Sequence[Sample]], None]) -> None:
    watches.watch(program_of(LOADING[0]))
    see(LOADING)
    panel = panel_of(watches)
    state = panel.watched()
    assert state is not None
    assert state.verdict is not None
    best = state.verdict.primary
    assert best is not None
    other = Finding("gpu-memory-nearly-full", best.subject, Severity.INFO, Confidence.LOW, "GPU memory is nearly full")
    diagnosis = replace(state.verdict.behaviour.diagnosis, findings=(best, other))
    spans = (*state.verdict.spans, replace(state.verdict.spans[-1], code=other.code))
    verdict = replace(state.verdict, behaviour=replace(state.verdict.behaviour, diagnosis=diagnosis), spans=spans)
    watches.watching._set((replace(state, verdict=verdict),))
    (one,) = [other for other in panel.others if not other.isHidden()]
    QTest.mouseClick(one.head, Qt.MouseButton.LeftButton)
    assert one.block.isVisible()
    assert one.head.accessibleName() == "GPU memory is nearly full, expanded"
    bands = watches._performance.bands
    assert [band.text for band in bands if band.style is BandStyle.CHOSEN] == ["GPU memory is nearly full"]
    assert not [band for band in bands if band.style is BandStyle.FINDING]
    QTest.keyClick(one.head, Qt.Key.Key_Return)
    bands = watches._performance.bands
    assert not [band for band in bands if band.style is BandStyle.CHOSEN]
    assert [band for band in bands if band.style is BandStyle.FINDING]


@pytest.mark.parametrize("scheme", [Scheme.LIGHT, Scheme.DARK])
@pytest.mark.parametrize("by_keyboard", [False, True])
def test_the_evidence_leads_to_its_part_of_the_charts(
    watches: Watches,
    window: MainWindow,
    see: Callable[[Sequence[Sample]], None],
    scheme: Scheme,
    by_keyboard: bool,
) -> None:
    window.set_scheme(scheme)
    watches.watch(program_of(LOADING[0]))
    see(LOADING)
    panel, page = panel_of(watches), window.pages["performance"]
    page.refresh()
    settle()
    page._scroll.verticalScrollBar().setValue(200)
    page._selected = DeviceKey("another")
    chart = page.engines.charts[0]
    before = chart.grab().toImage()
    if by_keyboard:
        panel.block.evidence.setFocus(Qt.FocusReason.TabFocusReason)
        QTest.keyClick(panel.block.evidence, Qt.Key.Key_Tab)
        QTest.keyClick(panel.show_button, Qt.Key.Key_Return)
        assert panel.show_button.hasFocus()
    else:
        QTest.mouseClick(panel.show_button, Qt.MouseButton.LeftButton)
    assert page.selected() == KEY
    assert page._scroll.verticalScrollBar().value() == 0
    (chosen,) = [band for band in chart.bands if band.style is BandStyle.CHOSEN]
    assert chosen.text.startswith("The GPU waits for data")
    assert chart.grab().toImage() != before
    see([replace(sample, monotonic_s=sample.monotonic_s + 30.0, utc_s=sample.utc_s + 30.0) for sample in LOADING[:10]])
    page.refresh()
    assert [band.text for band in page.bands if band.style is BandStyle.CHOSEN]  # it goes on with the verdict


def test_a_finding_that_began_long_ago_makes_the_axis_longer(watches: Watches, window: MainWindow, feed: Feed) -> None:
    watches.watch(program_of(LOADING[0]))
    page = window.pages["performance"]
    feed.push(LOADING[-1])
    now = LOADING[-1].utc_s
    page.reach(now - 50.0)
    assert page.span() == 60
    page.reach(now - 200.0)
    assert page.span() == 300
    page.reach(now - 9999.0)
    assert page.span() == 3600


def test_another_gpu_has_no_marks(
    watches: Watches, window: MainWindow, feed: Feed, see: Callable[[Sequence[Sample]], None]
) -> None:
    watches.watch(program_of(LOADING[0]))
    see(LOADING)
    page = window.pages["performance"]
    assert page.engines.charts[0].bands
    page.mark(page.bands, ())
    assert page.engines.charts[0].bands == ()


# -- the end of a program


def test_a_program_that_ends_keeps_its_verdict_and_says_what_it_took(
    watches: Watches, window: MainWindow, origin: RecordingOrigin, see: Callable[[Sequence[Sample]], None]
) -> None:
    watches.watch(program_of(LOADING[0]))
    assert asked(origin) == (PID,)
    gone = [without(sample) for sample in LOADING[-25:]]
    see([*LOADING[:-25], *gone])
    panel = panel_of(watches)
    state = panel.watched()
    assert state is not None
    assert state.ended
    assert panel.card.sentence.text().startswith("The GPU waits for data")
    assert panel.card.ending.text().startswith("The program has ended after 2 min 0 s. The GPU used ")
    assert "Wh in the 20 s that were watched" in panel.card.ending.text()
    assert asked(origin) == ()
    assert origin.demands[-1].interval_s == 1.0
    assert watches.watching.pids == ()


def test_another_process_with_the_same_pid_is_not_the_program(
    watches: Watches, see: Callable[[Sequence[Sample]], None]
) -> None:
    def reborn(sample: Sample) -> Sample:
        processes = tuple(
            replace(one, started_utc_s=(one.started_utc_s or 0.0) + 500.0) if one.pid == PID else one
            for one in sample.processes
        )
        return replace(sample, processes=processes)

    watches.watch(program_of(LOADING[0]))
    see([*LOADING[:-25], *(reborn(sample) for sample in LOADING[-25:])])
    state = panel_of(watches).watched()
    assert state is not None
    assert state.ended


def test_a_program_that_ends_at_once_is_not_judged(watches: Watches, see: Callable[[Sequence[Sample]], None]) -> None:
    watches.watch(program_of(LOADING[0]))
    see([LOADING[0], *(without(sample) for sample in LOADING[1:30])])
    panel = panel_of(watches)
    assert panel.card.sentence.text() == "It ended before anything could be seen of it."
    assert panel.card.ending.text().startswith("The program has ended after")


def test_a_program_that_ended_before_it_was_watched_is_not_waited_for(
    watches: Watches, see: Callable[[Sequence[Sample]], None]
) -> None:
    watches.watch(program_of(LOADING[0]))
    see([without(sample) for sample in LOADING])
    panel = panel_of(watches)
    assert panel.card.sentence.text() == "It ended before anything could be seen of it."
    assert panel.card.ending.text() == "The program has ended."
    assert watches.watching.pids == ()


def test_a_program_of_a_recording_is_waited_for_where_it_had_not_begun(
    watches: Watches, feed: Feed, see: Callable[[Sequence[Sample]], None]
) -> None:
    watches.watch(program_of(LOADING[0]))
    hour_before = [replace(without(one), utc_s=one.utc_s - 3600.0) for one in LOADING[:40]]
    see(hour_before)
    assert watches.watching.pids == (PID,)
    feed.restore({}, LOADING[0])
    see(LOADING[1:])
    assert verdict_code(watches) == "input-pipeline-bound"


def test_the_interpreter_is_hurried_only_while_something_is_watched(watches: Watches) -> None:
    before = sys.getswitchinterval()
    program = program_of(LOADING[0])
    watches.watch(program)
    assert sys.getswitchinterval() < before
    watches.watching.stop(program)
    assert sys.getswitchinterval() == before


# -- several programs


def two(samples: Sequence[Sample]) -> list[Sample]:
    """A second program beside, on the CPU of which nothing is known."""

    def twin(process: ProcessSample) -> ProcessSample:
        return replace(process, pid=7000, ppid=1, name="other", command=("other",))

    return [
        replace(sample, processes=(*sample.processes, twin(next(p for p in sample.processes if p.pid == PID))))
        for sample in samples
    ]


def test_two_programs_are_watched_side_by_side(
    watches: Watches, window: MainWindow, origin: RecordingOrigin, see: Callable[[Sequence[Sample]], None]
) -> None:
    samples = two(LOADING)
    first, second = program_of(samples[0]), program_of(samples[0], 7000)
    watches.watch(first)
    watches.watch(second)
    assert asked(origin) == (PID, 7000)
    panel = panel_of(watches)
    assert panel.current == second
    see(samples)
    assert all(one.verdict is not None for one in watches.watching.watched)
    assert panel.choice.isVisible()
    assert panel.choice.text() == "2 of 2"
    panel._menu.triggered.emit(panel._menu.actions()[0])
    assert panel.current == first
    assert panel._name.text().startswith(f"python (PID {PID})")
    QTest.mouseClick(panel.stop_button, Qt.MouseButton.LeftButton)
    assert panel.current == second
    assert not panel.choice.isVisible()
    assert asked(origin) == (7000,)
    panel.stop_button.setFocus()
    QTest.keyClick(panel.stop_button, Qt.Key.Key_Return)
    assert not panel.isVisible()
    assert asked(origin) == ()
    assert window.pages["performance"].engines.charts[0].bands == ()


def test_watching_the_same_again_only_shows_it(watches: Watches, window: MainWindow) -> None:
    program = program_of(LOADING[0])
    watches.watch(program)
    window.show_page("processes")
    watches.watch(program)
    assert len(watches.watching.watched) == 1
    assert window.page == "performance"


def test_a_program_that_calls_itself_something_else_is_the_same(watches: Watches) -> None:
    program = program_of(LOADING[0])
    watches.watch(program)
    watches.watch(replace(program, name="train: epoch 3"))
    assert [one.program.name for one in watches.watching.watched] == [program.name]


def test_no_more_than_a_few_programs(watches: Watches, window: MainWindow) -> None:
    for pid in range(MOST):
        watches.watch(Program(100 + pid, 1.0, "p"))
    watches.watch(Program(999, 1.0, "one too many"))
    assert len(watches.watching.watched) == MOST
    assert window.message.text == f"{MOST} programs are watched already. Stop watching one of them first."


def test_a_program_that_has_ended_makes_room(watches: Watches) -> None:
    for pid in range(MOST):
        watches.watch(Program(100 + pid, 1.0, "p"))
    states = watches.watching.watched
    watches.watching._set((replace(states[0], ended=True), *states[1:]))
    watches.watch(Program(999, 1.0, "new"))
    assert [one.program.pid for one in watches.watching.watched] == [101, 102, 103, 999]


# -- what is read for it


def test_it_is_read_often_and_in_full_also_while_the_window_is_hidden(
    watches: Watches, window: MainWindow, origin: RecordingOrigin, feed: Feed, see: Callable[[Sequence[Sample]], None]
) -> None:
    watches.watch(program_of(LOADING[0]))
    window.hide()
    demand = origin.demands[-1]
    assert (demand.interval_s, demand.details, demand.processes, demand.pids) == (0.25, True, True, (PID,))
    see(LOADING)
    assert verdict_code(watches) == "input-pipeline-bound"
    window.show()
    assert panel_of(watches).isVisible()
    watches.watching.stop(watches.watching.watched[0].program)
    assert origin.demands[-1].interval_s == 1.0
    window.hide()
    assert not origin.demands[-1].details
    assert not origin.demands[-1].processes


def test_the_window_keeps_the_pace_the_user_chose(watches: Watches, feed: Feed, window: MainWindow) -> None:
    shown: list[Sample] = []
    feed.sample_arrived.connect(shown.append)
    watches.watch(program_of(LOADING[0]))
    for sample in LOADING:  # five a second
        feed.push(sample)
    assert len(shown) == pytest.approx(25, abs=1)
    ring = feed.ring(KEY)
    assert ring is not None
    assert len(ring) == len(shown)
    watches.watching.stop(watches.watching.watched[0].program)
    shown.clear()
    for sample in record(HEALTHY, seconds=3.0):
        feed.push(sample)
    assert len(shown) == 14


def test_f5_shows_the_next_sample_at_once(watches: Watches, feed: Feed, window: MainWindow) -> None:
    watches.watch(program_of(LOADING[0]))
    feed.push(LOADING[0])
    feed.push(LOADING[1])
    assert feed.latest is LOADING[0]
    window.menus.refresh.trigger()
    feed.push(LOADING[2])
    assert feed.latest is LOADING[2]


def test_a_machine_whose_sweep_takes_long_is_read_less_often(
    watches: Watches, feed: Feed, origin: RecordingOrigin
) -> None:
    watches.watch(program_of(LOADING[0]))
    for sample in LOADING[:10]:
        feed.push(replace(sample, cost=replace(sample.cost, sweep_s=0.03)))
    assert origin.demands[-1].interval_s == pytest.approx(0.6)


def test_paused_updates_are_told(watches: Watches, feed: Feed) -> None:
    watches.watch(program_of(LOADING[0]))
    panel = panel_of(watches)
    assert panel.notice.text == ""
    feed.set_status(FeedStatus(FeedState.PAUSED))
    assert panel.notice.text == "Updates are paused, so nothing new is seen."
    feed.set_status(FeedStatus(FeedState.LIVE))
    assert panel.notice.text == ""


# -- the panel


def test_it_folds_to_its_verdict_and_opens_again(
    watches: Watches, window: MainWindow, see: Callable[[Sequence[Sample]], None]
) -> None:
    watches.watch(program_of(LOADING[0]))
    see(LOADING)
    panel = panel_of(watches)
    open_height = panel.height()
    panel.fold_button.setFocus(Qt.FocusReason.TabFocusReason)
    QTest.keyClick(panel.fold_button, Qt.Key.Key_Return)
    assert panel.card.isVisible()
    assert not panel.block.isVisible()
    assert panel.height() < open_height / 2
    assert panel.fold_button.accessibleName() == "Show everything"
    QTest.mouseClick(panel.fold_button, Qt.MouseButton.LeftButton)
    assert panel.block.isVisible()


@pytest.mark.parametrize(("width", "beside"), [(1600, True), (1180, True), (1000, False), (900, False)])
def test_it_stands_beside_the_charts_where_there_is_room_else_below(
    watches: Watches, window: MainWindow, see: Callable[[Sequence[Sample]], None], width: int, beside: bool
) -> None:
    window.resize(width, 600)
    watches.watch(program_of(LOADING[0]))
    see(LOADING)
    panel, page = panel_of(watches), window.pages["performance"]
    assert (panel.x() > 0) is beside
    assert panel.height() >= 150
    assert page._scroll.height() >= 124  # a row of charts
    assert panel.card.sentence.height() >= panel.card.sentence.heightForWidth(panel.card.sentence.width())


@pytest.mark.parametrize("language", ["en", "zh_CN"])
@pytest.mark.parametrize("size", [(1180, 780), (900, 600)])
def test_verdict_proof_and_the_next_step_are_seen_without_scrolling(
    watches: Watches,
    window: MainWindow,
    feed: Feed,
    translation: Translation,
    see: Callable[[Sequence[Sample]], None],
    size: tuple[int, int],
    language: str,
) -> None:
    translation.set_language(language)
    window.resize(*size)
    choose_row(window, feed, LOADING[0])  # the charts were never on show before
    QTest.mouseClick(window.pages["processes"].watch_button, Qt.MouseButton.LeftButton)
    see(LOADING[1:])
    settle()
    panel, view = panel_of(watches), panel_of(watches).body.viewport()
    step = panel.block._steps[0]
    assert step.mapTo(view, step.rect().bottomLeft()).y() < view.height()
    proof = panel.block._lines[2][1]
    assert proof.mapTo(view, proof.rect().bottomLeft()).y() < view.height()
    split = window.pages["performance"].split
    page_ends = split.sizes()[0]
    assert split.orientation() == Qt.Orientation.Horizontal or page_ends in split._ends()  # no chart is cut


def test_keys_and_wheel_scroll_it_from_the_verdict_too(
    watches: Watches, window: MainWindow, see: Callable[[Sequence[Sample]], None]
) -> None:
    window.resize(900, 600)
    watches.watch(program_of(LOADING[0]))
    assert panel_of(watches).not_evaluated.isHidden()  # everything is still open
    see(LOADING)
    panel = panel_of(watches)
    settle()
    bar = panel.body.verticalScrollBar()
    assert panel.card.hasFocus()
    for key, value in (
        (Qt.Key.Key_Down, bar.singleStep()),
        (Qt.Key.Key_End, bar.maximum()),
        (Qt.Key.Key_PageUp, bar.maximum() - bar.pageStep()),
        (Qt.Key.Key_Home, 0),
        (Qt.Key.Key_PageDown, bar.pageStep()),
    ):
        QTest.keyClick(panel.card, key)
        assert bar.value() == value
    QTest.keyClick(panel.card, Qt.Key.Key_Tab)
    assert panel.block.evidence.hasFocus()  # no stop in between where nothing is to be seen
    QTest.keyClick(panel.block.evidence, Qt.Key.Key_End)
    assert bar.value() == bar.maximum()


def drag(split: QWidget, by: QPoint) -> None:
    handle = split.handle(1)  # type: ignore[attr-defined]
    middle = handle.rect().center()
    QTest.mousePress(handle, Qt.MouseButton.LeftButton, pos=middle)
    there = handle.mapToGlobal(middle + by)
    move = QMouseEvent(
        QEvent.Type.MouseMove,
        QPointF(handle.mapFromGlobal(there)),
        QPointF(there),
        Qt.MouseButton.NoButton,
        Qt.MouseButton.LeftButton,
        Qt.KeyboardModifier.NoModifier,
    )
    QApplication.sendEvent(handle, move)
    QTest.mouseRelease(handle, Qt.MouseButton.LeftButton, pos=middle)


def test_where_the_border_was_moved_to_it_stays(
    watches: Watches, window: MainWindow, see: Callable[[Sequence[Sample]], None]
) -> None:
    watches.watch(program_of(LOADING[0]))
    see(LOADING)
    panel, split = panel_of(watches), window.pages["performance"].split
    usual = panel.width()
    drag(split, QPoint(60, 0))  # the other way the page has no more to give
    moved = panel.width()
    assert moved == usual - 60
    for _time in range(2):
        panel.toggle_fold()
    assert panel.width() == pytest.approx(moved, abs=2)
    window.resize(900, 700)
    settle()
    assert split.orientation() == Qt.Orientation.Vertical
    usual = panel.height()
    drag(split, QPoint(0, 40))
    assert panel.height() == usual - 40
    window.resize(1200, 800)
    settle()
    assert panel.width() == pytest.approx(moved, abs=2)
    window.resize(900, 700)
    settle()
    assert panel.height() == pytest.approx(usual - 40, abs=2)


def test_a_longer_verdict_is_not_cut_where_it_stands_alone(
    watches: Watches, window: MainWindow, see: Callable[[Sequence[Sample]], None]
) -> None:
    window.resize(900, 600)
    watches.watch(program_of(LOADING[0]))
    panel = panel_of(watches)
    panel.toggle_fold()
    settle()
    low = panel.height()
    see(LOADING)
    settle()
    assert panel.height() > low
    assert cut(panel) == []


def test_the_language_changes_while_it_watches(
    watches: Watches, translation: Translation, see: Callable[[Sequence[Sample]], None]
) -> None:
    watches.watch(program_of(LOADING[0]))
    see(LOADING)
    panel = panel_of(watches)
    translation.set_language("zh_CN")
    assert panel.card.status.text.startswith("变慢 · 确定")
    translation.set_language("en")
    assert panel.card.status.text.startswith("Slow · certain")


def test_what_could_not_be_judged_is_told(watches: Watches, see: Callable[[Sequence[Sample]], None]) -> None:
    watches.watch(program_of(LOADING[0]))
    see(LOADING)
    panel = panel_of(watches)
    assert "could not be judged" in panel.not_evaluated.head.text()
    assert "Whether heat holds the clocks down. Not known: Clocks under load." in panel.open_text
    panel.not_evaluated.head.click()
    assert panel.not_evaluated.body is not None
    assert panel.not_evaluated.body.isVisible()


@pytest.mark.parametrize("language", ["en", "zh_CN", LONGER])
@pytest.mark.parametrize(("width", "height"), [(900, 600), (1180, 780), (1600, 900)])
def test_no_text_of_the_panel_is_cut(
    watches: Watches,
    window: MainWindow,
    translation: Translation,
    see: Callable[[Sequence[Sample]], None],
    monkeypatch: pytest.MonkeyPatch,
    language: str,
    width: int,
    height: int,
) -> None:
    window.resize(width, height)
    watches.watch(program_of(LOADING[0]))
    see(LOADING)
    if language == LONGER:
        monkeypatch.setitem(messages._state, "catalogue", Longer())
        window.retranslate()
    else:
        translation.set_language(language)
    panel = panel_of(watches)
    for fold in (panel.turns, panel.not_evaluated, *panel.others):
        fold.set_open(True)
    settle()
    assert cut(panel) == []
    assert not panel.body.horizontalScrollBar().isVisible()


@pytest.mark.parametrize("language", ["en", "zh_CN"])
def test_beside_the_panel_no_chart_loses_its_end_at_any_width(
    watches: Watches,
    window: MainWindow,
    translation: Translation,
    see: Callable[[Sequence[Sample]], None],
    language: str,
) -> None:
    translation.set_language(language)
    watches.watch(program_of(LOADING[0]))
    see(LOADING[:3])
    window.pages["performance"].refresh()
    split = panel_of(watches).parentWidget()
    assert isinstance(split, WatchSplit)
    scroll = split.widget(0)
    assert isinstance(scroll, QScrollArea)
    content = scroll.widget()
    assert content is not None
    arrangements = set()
    for width in range(720, 1401, 20):
        window.resize(width, 700)
        settle()
        arrangements.add(split.orientation())
        assert content.width() <= scroll.viewport().width(), width
    assert len(arrangements) == 2
    split.setSizes([1, 1000])  # the border as far to the left as it goes
    settle()
    assert content.width() <= scroll.viewport().width()


# -- recordings


def test_a_seek_starts_over(watches: Watches, feed: Feed, see: Callable[[Sequence[Sample]], None]) -> None:
    watches.watch(program_of(LOADING[0]))
    see(LOADING)
    assert verdict_code(watches) == "input-pipeline-bound"
    feed.restore({}, LOADING[0])
    state = panel_of(watches).watched()
    assert state is not None
    assert state.verdict is None
    assert panel_of(watches).card.sentence.text() == "Watching …"
    see(LOADING[1:])
    assert verdict_code(watches) == "input-pipeline-bound"


def test_the_demo_is_watched_while_it_plays_and_after_a_seek(
    feed: Feed, translation: Translation, keeping: Keeping, qtbot: QtBot
) -> None:
    origin = ReplayOrigin(feed, demo_recording(), loop=False)
    theme = Theme()
    window = MainWindow(feed, theme, translation, origin, recorded=True)
    qtbot.addWidget(window)
    window.show()
    watches = Watches(window, feed, translation, keeping, share=1.0)  # type: ignore[arg-type]
    origin.start()
    qtbot.waitUntil(lambda: feed.latest is not None and any(p.uses for p in feed.latest.processes), timeout=10000)
    latest = feed.latest
    assert latest is not None
    program = Program.of(next(process for process in latest.processes if process.uses))
    watches.watch(program)
    origin.replay.set_speed(64.0)

    def has_verdict() -> bool:
        state = watches.watching.state(program)
        return state is not None and state.verdict is not None and bool(state.verdict.history)

    qtbot.waitUntil(has_verdict, timeout=20000)
    origin.replay.pause()
    origin.replay.seek(0.0)
    qtbot.waitUntil(lambda: not has_verdict(), timeout=10000)
    origin.replay.play()
    qtbot.waitUntil(has_verdict, timeout=20000)
    assert keeping.markers == []  # it happened long ago
    watches.watching.stop(program)
    origin.replay.seek(origin.replay.duration_s)
    qtbot.waitUntil(lambda: feed.status.is_over, timeout=20000)
    watches.watch(program)
    assert panel_of(watches).notice.text == "The recording is over. Play it again to see what the program does."
    origin.replay.play()  # from the beginning
    qtbot.waitUntil(lambda: panel_of(watches).notice.text == "", timeout=20000)
    qtbot.waitUntil(has_verdict, timeout=20000)
    assert window.close_down()
    assert origin.close(3.0).is_over
    origin.deleteLater()
    theme.deleteLater()


# -- what leaves a mark elsewhere


def test_only_what_stops_or_crashes_a_program_raises_an_alert(watches: Watches, feed: Feed) -> None:
    program = Program(PID, 1.0, "python")
    watches.watch(program)
    state = watches.watching.watched[0]
    centre = watches._alerts.centre  # type: ignore[union-attr]
    slow = Finding("input-pipeline-bound", "pid 4000", Severity.SLOWS, Confidence.HIGH, "The GPU waits")
    cpu = Finding(
        "code-runs-on-cpu", "pid 4000", Severity.BLOCKS, Confidence.HIGH, "Runs on the {device}", {"device": "CPU"}
    )

    def with_turns(*turns: Turn) -> Watched:
        watcher = Watcher(PID)
        for sample in LOADING[:20]:
            watcher.add(sample)
        verdict = watcher.verdict()
        assert verdict is not None
        return replace(state, verdict=replace(verdict, history=turns))

    watches.watching._set((with_turns(Turn(5.0, slow)),))
    assert not centre.alerts
    watches.watching._set((with_turns(Turn(5.0, slow), Turn(9.0, cpu)),))
    (alert,) = centre.alerts
    assert (alert.kind, alert.pid, alert.values["verdict"]) == ("verdict", PID, "Runs on the CPU")
    assert centre.unread == 1
    watches.watching._set((with_turns(Turn(5.0, slow), Turn(9.0, cpu)),))
    assert len(centre.alerts) == 1  # told once
    assert alert_of(program, Turn(9.0, cpu), None).text == "{program}: {verdict}"
    assert marker_of(program, Turn(9.0, cpu), None).tone == "bad"


def test_the_history_tells_an_idle_gpu_from_a_healthy_one() -> None:
    program = Program(PID, 1.0, "python")
    healthy, idle = (marker_of(program, Turn(9.0, None, is_idle), None) for is_idle in (False, True))
    assert (healthy.tone, healthy.sentence()) == ("good", "Nothing that was looked for holds the GPU back.")
    assert (idle.tone, idle.sentence()) == ("info", "No cause was found for the time in which the GPU is idle.")


def test_a_report_is_saved_on_what_is_known_and_the_verdict_copied(
    watches: Watches,
    see: Callable[[Sequence[Sample]], None],
    window: MainWindow,
    tmp_path: Path,
    qtbot: QtBot,
) -> None:
    watches.watch(program_of(LOADING[0]))
    panel = panel_of(watches)
    assert not panel.report_button.isEnabled()
    see(LOADING)
    panel.card.setFocus()
    QTest.keyClick(panel.card, Qt.Key.Key_C, Qt.KeyboardModifier.ControlModifier)
    sentence = panel.card.sentence.text()
    assert sentence.rstrip(".") in QApplication.clipboard().text()
    QTest.mouseClick(panel.report_button, Qt.MouseButton.LeftButton)
    (dialog,) = window.findChildren(QFileDialog)
    dialog.reject()
    for name, written in (("bericht 图.md", "bericht 图.md"), ("report", "report.html"), ("x.json", "x.json")):
        watches.report.save_as(str(tmp_path / name))
        qtbot.waitUntil((tmp_path / written).exists, timeout=10000)
        qtbot.waitUntil(lambda: written in window.message.text, timeout=5000)  # noqa: B023
        assert sentence.rstrip(".") in (tmp_path / written).read_text(encoding="utf-8")
    made = json.loads((tmp_path / "x.json").read_text(encoding="utf-8"))
    assert datetime.fromisoformat(made["time_utc"]).timestamp() == pytest.approx(LOADING[-1].utc_s, abs=2.0)
    facts = made["facts"]["watch"]
    assert facts["seconds"] == pytest.approx(LOADING[-1].monotonic_s - LOADING[0].monotonic_s, abs=1.0)
    (turn,) = facts["turns"]
    assert turn["title"].startswith(sentence[:20])  # with the figures of that moment
    assert turn["from_s"] == 0.0  # it was so from the beginning
    watches.report.save_as(str(tmp_path / "no folder" / "x.html"))
    qtbot.waitUntil(lambda: "no folder" in window.message.text, timeout=5000)


# -- the worker


def test_a_fault_of_our_own_is_told_and_the_others_go_on(
    watches: Watches,
    see: Callable[[Sequence[Sample]], None],
    monkeypatch: pytest.MonkeyPatch,
    uncaught: list[BaseException],
) -> None:
    samples = two(LOADING)
    right = Watcher.verdict

    def sometimes(self: Watcher) -> object:
        if self._pid == PID:
            raise ZeroDivisionError("oops")
        return right(self)

    monkeypatch.setattr(Watcher, "verdict", sometimes)
    watches.watch(program_of(samples[0], 7000))
    watches.watch(program_of(samples[0]))
    see(samples)
    panel = panel_of(watches)
    assert panel.card.sentence.text() == "GPUMon could not judge (ZeroDivisionError: oops)."
    assert [str(error) for error in uncaught] == ["oops"]  # in the dialog of faults too
    assert panel.card.mark.kind == "bad"
    other = watches.watching.state(program_of(samples[0], 7000))
    assert other is not None
    assert other.verdict is not None


def test_the_queue_is_bounded_and_orders_are_never_lost() -> None:
    worker = WatchWorker(lambda _sample: {})
    for _number in range(CAPACITY + 5):
        worker.offer(LOADING[0])
    worker.offer(watching._Start(Program(1, None, "p")))
    assert worker.missed == 5
    assert len(worker._queue) == CAPACITY + 1


def test_judging_rests_when_samples_come_faster_than_life(qtbot: QtBot, feed: Feed) -> None:
    made = watching.Watching(feed, lambda _sample: {}, share=0.001)
    program = program_of(LOADING[0])
    made.start(program)
    posts: list[Watched] = []
    made.changed.connect(lambda: posts.append(made.watched[0]))
    for sample in LOADING:
        feed.push(sample)
    qtbot.waitUntil(lambda: any(one.verdict is not None for one in posts), timeout=10000)
    assert made._worker is not None
    qtbot.waitUntil(lambda: not made._worker._queue, timeout=10000)  # type: ignore[union-attr]
    assert len([one for one in posts if one.seen_s]) <= 2  # of twenty-five seconds
    assert made.close()
    made.deleteLater()


def test_nothing_runs_before_something_is_watched(watches: Watches) -> None:
    assert watches.watching._thread is None
    assert watches.panel is None
    assert "watching" not in [thread.name for thread in threading.enumerate()]


def test_closing_in_the_middle_of_a_verdict_leaves_nothing(watches: Watches, feed: Feed, window: MainWindow) -> None:
    watches.watch(program_of(LOADING[0]))
    for sample in LOADING:
        feed.push(sample)
    assert window.close_down()
    assert watches.watching._thread is None
