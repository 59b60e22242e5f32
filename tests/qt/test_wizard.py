"""The Run diagnostics wizard in the real window, by mouse and keyboard, over a recorded machine: from the button to a
saved report, a cancel in the middle, check again, what is given by file and clipboard, the redaction, kept results."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from functools import partial
from pathlib import Path
from threading import Event
from typing import Any

import psutil
import pytest
from PySide6.QtCore import QDir, QEvent, QMimeData, QObject, QPoint, QPointF, QRect, Qt, QUrl
from PySide6.QtGui import QDragEnterEvent, QDropEvent, QGuiApplication
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QFileDialog, QLabel, QLineEdit, QMessageBox, QPlainTextEdit, QWidget
from pytestqt.qtbot import QtBot

from gpumon_gui.app.arguments import Arguments
from gpumon_gui.app.diagnosing import Diagnosing
from gpumon_gui.bridge.diagnosis_files import Preview
from gpumon_gui.bridge.diagnosis_job import DiagnosisJob, Environments
from gpumon_gui.bridge.feed import Feed
from gpumon_gui.bridge.settings import Settings
from gpumon_gui.bridge.translation import Translation
from gpumon_gui.core import messages
from gpumon_gui.core.errors import GpumonError
from gpumon_gui.core.redact import Private
from gpumon_gui.diagnosis import results
from gpumon_gui.diagnosis.environments.base import Environment, Kind
from gpumon_gui.diagnosis.finding import Diagnosis
from gpumon_gui.diagnosis.gateway import Command, Gateway, Ran
from gpumon_gui.diagnosis.live_gateway import LiveGateway
from gpumon_gui.diagnosis.proof.run import NoInstruments
from gpumon_gui.diagnosis.recorded_gateway import RecordedGateway
from gpumon_gui.diagnosis.report import text, words
from gpumon_gui.diagnosis.report.words import HELP as HELP_PARTS
from gpumon_gui.diagnosis.rules.table import RULES
from gpumon_gui.settings.values import Values
from gpumon_gui.ui.main_window import MainWindow
from gpumon_gui.ui.pages.diagnostics import DiagnosticsPage
from gpumon_gui.ui.theme import Theme
from gpumon_gui.ui.widgets.button import FlatButton
from gpumon_gui.ui.widgets.help_page import HelpPage
from gpumon_gui.ui.widgets.section import Card
from gpumon_gui.ui.wizard.findings_page import folded
from gpumon_gui.ui.wizard.given_box import MOST_SHOWN
from gpumon_gui.ui.wizard.wizard import CHOOSE, FINDINGS, HELP, REPORT, RUNNING, Wizard
from tests.qt.test_main_window import (  # noqa: F401 - fixtures
    RecordingOrigin,
    feed,
    full_sample,
    origin,
    theme,
    translation,
    window,
)
from tests.qt.test_stretch import LONGER, Longer, cut, settle

MACHINE = Path(__file__).parents[1] / "machines" / "h200-torch-linux"
TOO_OLD = (
    "RuntimeError: The NVIDIA driver on your system is too old (found version 11040). Please update your GPU driver\n"
)
#: Words of this recording that a report must not have.
PRIVATE = Private(("torch",), ("/opt/torch",), ("gpu-server",))


class Machine(RecordedGateway):
    """The recorded machine, whose variables change as a person mends it; commands wait while they are held."""

    changes: Mapping[str, str] = {}

    def __init__(self) -> None:
        super().__init__(MACHINE)
        self.held = Event()
        self.was_asked = Event()
        self.held.set()

    def variables(self) -> Mapping[str, str]:
        """What the machine has, and what the test says."""
        return {**super().variables(), **self.changes}

    def run(self, command: Command, cancel: Event | None = None) -> Ran:
        """As recorded, when the test lets it."""
        self.was_asked.set()
        while not self.held.wait(0.01):
            if cancel is not None and cancel.is_set():
                break
        return super().run(command, cancel)


class Watched(NoInstruments):
    """Instruments that see nothing."""

    def close(self) -> None:
        """Nothing to end."""


def found(wizard: Wizard) -> Diagnosis:
    """What is on show."""
    assert wizard.findings.result is not None
    return wizard.findings.result.diagnosis


class Desk:
    """The window with everything around the wizard."""

    def __init__(self, window: MainWindow, diagnosing: Diagnosing, settings: Settings, qtbot: QtBot) -> None:  # noqa: F811
        self.window, self.diagnosing, self.settings, self.qtbot = window, diagnosing, settings, qtbot

    @property
    def page(self) -> DiagnosticsPage:
        page = self.window.pages["diagnostics"]
        assert isinstance(page, DiagnosticsPage)
        return page

    @property
    def wizard(self) -> Wizard:
        assert self.page.wizard is not None
        return self.page.wizard

    def until(self, holds: Callable[[], bool], timeout: int = 20_000) -> None:
        self.qtbot.waitUntil(holds, timeout=timeout)

    def click(self, button: QWidget) -> None:
        self.until(lambda: button.height() > button.fontMetrics().height() // 2)  # it has its place
        QTest.mouseClick(button, Qt.MouseButton.LeftButton)

    def key(self, key: Qt.Key) -> None:
        QTest.keyClick(QApplication.focusWidget() or self.window, key)

    def open(self) -> Wizard:
        """By the button that is always there."""
        self.click(self.diagnosing.button)
        self.until(lambda: self.page.wizard is not None and self.wizard.choose.environments.count() > 0)
        assert self.window.page == "diagnostics"
        assert self.wizard.page == CHOOSE
        return self.wizard

    def checked(self) -> Wizard:
        """Opened, and everything checked, by Enter alone."""
        wizard = self.open()
        self.key(Qt.Key.Key_Return)
        self.until(lambda: wizard.page == FINDINGS)
        return wizard

    def give(self, *files: Path) -> None:
        """Add files, until it is known what they are."""
        self.wizard.choose.given.add_files(files)
        self.until(lambda: self.wizard.choose.given.is_sorted)

    def save_to(self, file: Path) -> None:
        """Answer the dialog by its keys."""
        self.until(lambda: self.wizard.findChild(QFileDialog) is not None)
        dialog = self.wizard.findChild(QFileDialog)
        assert isinstance(dialog, QFileDialog)
        line = dialog.findChild(QLineEdit)
        assert isinstance(line, QLineEdit)
        line.setText(str(file))
        QTest.keyClick(line, Qt.Key.Key_Return)


def question(parent: QWidget) -> QMessageBox:
    """The one that is open."""
    box = parent.findChild(QMessageBox)
    assert isinstance(box, QMessageBox)
    return box


@pytest.fixture
def machine() -> Machine:
    return Machine()


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return tmp_path / "diagnoses"


@pytest.fixture
def gateway(machine: Machine) -> Callable[[], Gateway]:
    return lambda: machine


@pytest.fixture
def desk(
    window: MainWindow,  # noqa: F811
    theme: Theme,  # noqa: F811
    translation: Translation,  # noqa: F811
    feed: Feed,  # noqa: F811
    gateway: Callable[[], Gateway],
    folder: Path,
    monkeypatch: pytest.MonkeyPatch,
    qtbot: QtBot,
) -> Iterator[Desk]:
    monkeypatch.setattr("gc.freeze", lambda: None)  # the detectors of leaks look through what was there before
    settings = Settings(None, Values(), window)
    settings.set("diagnostics.proof", False)
    page = window.pages["diagnostics"]
    diagnosing = Diagnosing(window, theme, translation, settings, Arguments(screenshot=None))
    page.set_folder(folder, private=PRIVATE)
    page.set_job(DiagnosisJob(gateway=gateway, instruments=Watched))
    page.bind_settings(settings)
    feed.push(full_sample())
    yield Desk(window, diagnosing, settings, qtbot)
    settings.close()


# -- the whole way


def test_from_the_button_to_a_saved_report(desk: Desk, tmp_path: Path, machine: Machine) -> None:
    machine.changes = {"CUDA_VISIBLE_DEVICES": "-1"}
    wizard = desk.open()
    names = [wizard.choose.environments.item(row).text() for row in range(wizard.choose.environments.count())]
    assert any("/opt/torch/.venv/bin/python" in name and "virtual environment" in name for name in names)
    assert wizard.next_button.text() == "Check 2 environments"
    desk.click(wizard.next_button)
    desk.until(lambda: wizard.page == FINDINGS)
    lines = wizard.running.lines()
    assert ("NVIDIA driver", "this machine", "done") in [line[:3] for line in lines]
    assert any(line[0] == "PyTorch" and line[3].endswith(" s") for line in lines)
    claimed = [banner.text for banner in wizard.findings.banners if banner.verdict == "claimed"]
    assert any("PyTorch in torch/.venv " in text for text in claimed)
    card = wizard.findings.cards[0]
    assert card.code == "cuda-visible-devices-hides-gpu"
    assert card.is_open  # the first cause needs no click
    desk.key(Qt.Key.Key_Return)  # the focus is on it: closed
    desk.until(lambda: not card.is_open)
    desk.click(wizard.next_button)
    assert wizard.page == REPORT
    desk.until(lambda: "cuda-visible-devices-hides-gpu" in wizard.report.text.toPlainText())
    desk.click(wizard.next_button)
    desk.save_to(tmp_path / "report.html")
    desk.until(lambda: wizard.report.message.text != "")
    assert str(tmp_path / "report.html") in wizard.report.message.text
    written = (tmp_path / "report.html").read_text(encoding="utf-8")
    assert written.lower().startswith("<!doctype html>")
    assert "/opt/torch" not in written
    assert wizard.report.saved.isVisible()
    assert wizard.report.saved.file == tmp_path / "report.html"


def test_commands_are_copied_exactly_and_each_finding_has_its_page(desk: Desk, machine: Machine) -> None:
    machine.changes = {"CUDA_VISIBLE_DEVICES": "-1"}
    wizard = desk.checked()
    card = wizard.findings.cards[0]
    advised = [step.command for step in found(wizard).findings[0].advice if step.command]
    assert advised
    assert [box.command for box in card.block.commands] == advised
    desk.click(card.block.commands[0].copy_button)
    assert QGuiApplication.clipboard().text() == advised[0]
    assert card.block.commands[0].copy_button.text() == "Copied"
    desk.click(card.help_button)
    assert wizard.page == HELP
    assert "How it is decided" in wizard.help.text
    assert wizard.help.title.text() == card.finding["title"]
    desk.key(Qt.Key.Key_Escape)
    assert wizard.page == FINDINGS


def test_an_environment_says_which_frameworks_it_has_and_the_page_follows_the_keys(desk: Desk) -> None:
    wizard = desk.open()
    choose = wizard.choose
    many = tuple(Environment(f"/opt/{n}/bin/python", Kind.VENV, f"env{n}", f"/opt/{n}") for n in range(40))
    installed = (("torch", "2.5.1+cu124"), ("tensorflow", "2.15.0"))
    choose.show_environments(Environments(many, ((many[0].path, installed), (many[1].path, ()))))
    rows = choose.environments
    assert rows.item(0).text().startswith("env0 · PyTorch 2.5.1+cu124 · TensorFlow 2.15.0\n")
    assert rows.item(1).text().startswith("env1\n")
    settle()
    rows.setFocus(Qt.FocusReason.TabFocusReason)
    for key in (Qt.Key.Key_End, Qt.Key.Key_Home):
        QTest.keyClick(rows, key)
        view = choose.area.viewport()
        row = rows.visualItemRect(rows.currentItem())
        assert view.rect().contains(QRect(rows.viewport().mapTo(view, row.topLeft()), row.size()))


def test_an_environment_is_called_by_its_name_and_its_path_is_in_the_tool_tip(desk: Desk) -> None:
    page = desk.checked().findings
    (path, name) = next(iter(page._names.items()))
    said = [banner for banner in page.banners if name in banner.text]
    assert said
    assert all(path not in banner.text for banner in page.banners)
    assert all(path in banner.toolTip() for banner in said)


def test_every_rule_has_its_page(qtbot: QtBot) -> None:
    page = HelpPage(Theme())
    qtbot.addWidget(page)
    for rule in RULES:
        page.show_rule(rule.code, lambda: "Its title")
        assert page.title.text() == "Its title", rule.code
        assert all(page._texts[name].text() for name, _title in HELP_PARTS), rule.code


def test_what_could_not_be_judged_is_on_show_with_what_was_missing(desk: Desk) -> None:
    wizard = desk.checked()
    group = wizard.findings.groups["unknown"]
    assert "could not be judged" in group.head.title
    assert "Too little is known of:" in group.head.line
    desk.click(group.head)
    assert group.is_open
    clear = wizard.findings.groups["clear"]
    count = len({entry.code for entry in found(wizard).clear})
    assert clear.head.title.startswith(f"{count} cause")


def walk(wizard: Wizard) -> list[QWidget]:
    """Every stop of Tab on the findings, from the first one on; each is in sight and has a ring and a name."""
    stops: list[QWidget] = []
    for _turn in range(200):
        at = QApplication.focusWidget()
        assert at is not None
        if at in stops:
            break
        stops.append(at)
        if wizard.findings.area.isAncestorOf(at):
            settle()
            seen = wizard.findings.area.viewport().rect()
            top = at.mapTo(wizard.findings.area.viewport(), QPoint(0, 0))
            assert seen.contains(QPoint(max(0, top.x()), top.y() + min(8, at.height() - 1))), at.accessibleName()
            if not isinstance(at, QPlainTextEdit):  # it has a cursor
                image = at.grab().toImage()
                at.clearFocus()
                assert image != at.grab().toImage(), f"no ring: {at.accessibleName()}"
                at.setFocus(Qt.FocusReason.TabFocusReason)
        assert at.accessibleName() or getattr(at, "text", str)(), at
        QTest.keyClick(at, Qt.Key.Key_Tab)
    return stops


def test_the_findings_are_read_and_copied_by_keyboard_alone(desk: Desk, machine: Machine) -> None:
    machine.changes = {"CUDA_VISIBLE_DEVICES": "-1"}
    wizard = desk.checked()
    page = wizard.findings
    desk.until(lambda: page.cards[0].is_open)
    assert QApplication.focusWidget() is page.cards[0].head
    stops = walk(wizard)
    inside = [stop for stop in stops if page.area.isAncestorOf(stop)]
    card = page.cards[0]
    content = page.area.widget()
    assert content is not None

    def place(stop: QWidget) -> tuple[int, int]:
        corner = stop.mapTo(content, QPoint(0, 0))
        return corner.y(), corner.x()

    # From top to bottom, whatever was made when.
    ordered = sorted(inside, key=place)
    first = inside.index(page.banners[0])
    assert inside[first:] + inside[:first] == ordered
    block = card.block
    assert [stop for stop in inside if block.isAncestorOf(stop)] == [
        block.evidence,
        block.advice,
        *(box.copy_button for box in block.commands),
        block.help_button,
        card.check_button,
    ]
    assert {*page.banners, *(each.head for each in (*page.cards, *page.groups.values()))} <= set(inside)
    for banner in page.banners:
        assert banner.accessibleName() == banner.text
    for each in page.cards:
        assert each.head.title in each.head.accessibleName()
        assert text.status({**each.finding, "symptom_of": None}) in each.head.accessibleName()
    assert {wizard.back_button, wizard.again_button, wizard.next_button} <= set(stops)
    # The evidence, by Tab and Ctrl+C.
    card.head.setFocus(Qt.FocusReason.TabFocusReason)
    QTest.keyClick(card.head, Qt.Key.Key_Tab)
    focused = QApplication.focusWidget()
    assert focused is block.evidence
    assert "CUDA_VISIBLE_DEVICES" in focused.accessibleName()
    QTest.keyClick(focused, Qt.Key.Key_C, Qt.KeyboardModifier.ControlModifier)
    copied = QGuiApplication.clipboard().text()
    assert "CUDA_VISIBLE_DEVICES" in copied
    assert "-1" in copied


def test_who_does_not_see_the_findings_is_told_what_came_of_it(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    heard: list[str] = []
    monkeypatch.setattr("gpumon_gui.ui.wizard.wizard.announce", lambda _widget, text: heard.append(text))
    wizard = desk.checked()
    (said,) = heard
    assert said.startswith(wizard.findings.banners[0].text.split("\n")[0].rstrip("."))
    assert said.endswith("No finding needs action")


# -- cancel


def test_a_cancel_ends_it_at_once(desk: Desk, machine: Machine) -> None:
    machine.held.clear()
    wizard = desk.open()
    desk.page.job.find(())  # the versions are waited for by nobody
    machine.was_asked.clear()
    desk.key(Qt.Key.Key_Return)
    desk.until(machine.was_asked.is_set)
    assert wizard.page == RUNNING
    desk.key(Qt.Key.Key_Return)  # hit twice
    assert wizard.back_button.text() == "Cancel"
    assert wizard.back_button.isEnabled()
    with desk.qtbot.waitSignal(desk.page.job.ended, timeout=500):
        desk.key(Qt.Key.Key_Escape)
    assert wizard.page == CHOOSE
    assert not desk.page.job.is_running
    desk.until(lambda: wizard.message.text == "Cancelled. Nothing of it is left running.")
    machine.held.set()
    desk.click(wizard.next_button)  # and it can be run again
    desk.until(lambda: wizard.page == FINDINGS)


def test_a_second_click_on_the_button_that_starts_is_no_cancel(desk: Desk, machine: Machine) -> None:
    wizard = desk.open()
    machine.held.clear()
    place = wizard.next_button.mapTo(wizard, wizard.next_button.rect().center())
    for _click in range(2):
        QTest.mouseClick(wizard.childAt(place) or wizard, Qt.MouseButton.LeftButton)
        settle()
    assert wizard.page == RUNNING
    assert "Cancelling" not in wizard.running.status
    machine.held.set()
    desk.until(lambda: wizard.page == FINDINGS)


class SlowFile:
    """A file that is read until the test says so."""

    def __init__(self) -> None:
        self.is_read, self.release = Event(), Event()

    def __call__(self, *_given: object) -> object:
        self.is_read.set()
        assert self.release.wait(20)
        raise GpumonError("nobody wants it any more")


@pytest.fixture
def slow_file(monkeypatch: pytest.MonkeyPatch) -> Iterator[SlowFile]:
    slow = SlowFile()
    monkeypatch.setattr("gpumon_gui.diagnosis.checking.combined", slow)
    yield slow
    slow.release.set()


def test_a_file_that_takes_long_does_not_hold_a_cancel_up(desk: Desk, tmp_path: Path, slow_file: SlowFile) -> None:
    wizard = desk.open()
    desk.click(wizard.choose.none_button)
    (tmp_path / "x.log").write_text("epoch 1")
    desk.give(tmp_path / "x.log")
    desk.click(wizard.next_button)
    desk.until(slow_file.is_read.is_set)
    with desk.qtbot.waitSignal(desk.page.job.ended, timeout=600):
        desk.click(wizard.back_button)
    assert wizard.page == CHOOSE
    assert wizard.next_button.isEnabled()  # another check can begin at once
    # It is still read: what is not so yet is not said.
    assert wizard.message.text == "Cancelled. Its last step still runs to its end; nothing of it is used."
    with desk.qtbot.waitSignal(desk.page.job.settled, timeout=20_000):
        slow_file.release.set()
    assert wizard.message.text == "Cancelled. Nothing of it is left running."


def test_what_a_cancelled_check_leaves_does_not_speak_into_the_next_one(
    desk: Desk, tmp_path: Path, slow_file: SlowFile
) -> None:
    wizard = desk.open()
    desk.click(wizard.choose.none_button)
    (tmp_path / "x.log").write_text("epoch 1")
    desk.give(tmp_path / "x.log")
    desk.click(wizard.next_button)
    desk.until(slow_file.is_read.is_set)
    with desk.qtbot.waitSignal(desk.page.job.ended, timeout=600):
        desk.click(wizard.back_button)
    wizard.choose.given.clear()
    desk.click(wizard.choose.all_button)
    desk.click(wizard.next_button)
    desk.until(lambda: wizard.page == FINDINGS)
    with desk.qtbot.waitSignal(desk.page.job.settled, timeout=20_000):
        slow_file.release.set()
    assert wizard.message.text == ""
    assert wizard.page == FINDINGS


def test_a_search_that_a_check_interrupts_goes_on_after_a_cancel(desk: Desk, machine: Machine) -> None:
    machine.held.clear()  # the search does not come to its end
    desk.click(desk.diagnosing.button)
    desk.until(lambda: desk.page.wizard is not None)
    desk.until(machine.was_asked.is_set)
    wizard = desk.wizard
    assert not wizard.choose.is_whole
    desk.key(Qt.Key.Key_Return)
    assert wizard.page == RUNNING
    with desk.qtbot.waitSignal(desk.page.job.ended, timeout=600):
        desk.key(Qt.Key.Key_Escape)
    assert wizard.page == CHOOSE
    machine.held.set()
    desk.until(lambda: wizard.choose.is_whole)
    assert wizard.choose.environments.count() == 2
    assert wizard.next_button.text() == "Check 2 environments"


def sleepers() -> list[int]:
    """What the stand-in for an interpreter started. Others come and go meanwhile."""
    found = []
    for process in psutil.Process().children(recursive=True):
        with suppress(psutil.NoSuchProcess):
            if "sleep" in process.name():
                found.append(process.pid)
    return found


@pytest.mark.skipif(sys.platform == "win32", reason="a script is no program there")
class TestLive:
    """A real program that never answers."""

    @pytest.fixture
    def gateway(self) -> Callable[[], Gateway]:
        return LiveGateway

    def test_what_is_no_python_is_called_so(self, desk: Desk, tmp_path: Path) -> None:
        python = tmp_path / "编辑 器"
        python.write_text("#!/bin/sh\necho what\n", encoding="utf-8")
        python.chmod(0o755)
        desk.settings.set("diagnostics.interpreters", (str(python),))
        wizard = desk.open()
        item = wizard.choose.environments.item
        assert "does not answer" not in item(0).text()  # nobody knows yet
        desk.until(lambda: wizard.choose.is_whole, 60_000)
        assert item(0).text() == f"{python}\nit does not answer as a Python does"  # nothing says that it is installed

    def test_no_process_is_left_after_a_cancel(self, desk: Desk, tmp_path: Path) -> None:
        python = tmp_path / "python3"
        python.write_text("#!/bin/sh\nsleep 300 & sleep 300\n", encoding="utf-8")
        python.chmod(0o755)
        desk.settings.set("diagnostics.interpreters", (str(python),))
        wizard = desk.open()
        desk.click(wizard.choose.none_button)
        wizard.choose.environments.item(0).setCheckState(Qt.CheckState.Checked)
        assert wizard.choose.ticked()[0].path == str(python)
        desk.key(Qt.Key.Key_Return) if wizard.next_button.hasFocus() else desk.click(wizard.next_button)
        desk.until(lambda: len(sleepers()) == 2)
        with desk.qtbot.waitSignal(desk.page.job.ended, timeout=1000):
            desk.click(wizard.back_button)
        assert sleepers() == []

    def test_no_process_is_left_when_the_window_closes(self, desk: Desk, tmp_path: Path) -> None:
        python = tmp_path / "python3"
        python.write_text("#!/bin/sh\nsleep 300 & sleep 300\n", encoding="utf-8")
        python.chmod(0o755)
        desk.settings.set("diagnostics.interpreters", (str(python),))
        wizard = desk.open()
        desk.click(wizard.choose.none_button)
        wizard.choose.environments.item(0).setCheckState(Qt.CheckState.Checked)
        desk.click(wizard.next_button)
        desk.until(lambda: sleepers() != [])
        assert desk.window.close_down()
        assert sleepers() == []


def test_other_pages_can_be_looked_at_meanwhile(desk: Desk, machine: Machine) -> None:
    machine.held.clear()
    wizard = desk.open()
    desk.click(wizard.next_button)
    desk.until(lambda: wizard.page == RUNNING)
    desk.window.show_page("processes")
    desk.window.pages["processes"].focus_search()
    focused = QApplication.focusWidget()
    machine.held.set()
    desk.until(lambda: wizard.page == FINDINGS)
    assert QApplication.focusWidget() is focused  # nothing steals it
    assert desk.window.page == "processes"
    machine.held.clear()
    desk.click(wizard.again_button)
    desk.window.show_page("performance")
    desk.click(desk.diagnosing.button)  # a check that runs is shown instead of a new one
    assert desk.window.page == "diagnostics"
    assert wizard.page == RUNNING
    machine.held.set()
    desk.until(lambda: wizard.page == FINDINGS)


# -- again


def test_check_again_tells_what_is_gone_and_what_is_new(desk: Desk, machine: Machine) -> None:
    machine.changes = {"CUDA_VISIBLE_DEVICES": "-1"}
    wizard = desk.checked()
    desk.click(wizard.findings.cards[0].check_button)
    desk.until(lambda: wizard.page == FINDINGS and wizard.findings.message.text != "")
    assert wizard.findings.message.text == "Checked again: 1 still there."
    assert wizard.findings.cards[0].head.badge == "still there"
    machine.changes = {}
    desk.until(lambda: wizard.findings.cards[0].is_open)
    desk.click(wizard.findings.cards[0].check_button)
    desk.until(lambda: bool(wizard.findings.gone))
    assert wizard.findings.message.text == "Checked again: 1 gone."
    assert wizard.findings.gone[0].head.badge == "gone"
    assert wizard.findings.cards == []
    machine.changes = {"CUDA_VISIBLE_DEVICES": "-1"}
    desk.click(wizard.again_button)  # everything
    desk.until(lambda: bool(wizard.findings.cards))
    assert wizard.findings.cards[0].head.badge == "new"
    desk.until(lambda: desk.page.overview.list.count() == 2)  # a part takes its whole's place; all is a new one


def test_what_a_pasted_text_shows_is_not_checked_again(desk: Desk, machine: Machine) -> None:
    machine.changes = {"CUDA_VISIBLE_DEVICES": "-1"}
    wizard = desk.open()
    wizard.choose.given.paste.setPlainText("torch.OutOfMemoryError: CUDA out of memory.\n")
    desk.click(wizard.next_button)
    desk.until(lambda: wizard.page == FINDINGS)
    cards = {card.code: card for card in wizard.findings.cards}
    pasted, other = cards["oom-genuine"], cards["cuda-visible-devices-hides-gpu"]
    assert pasted.head.line.endswith("the log")
    for card in (pasted, other):
        card.set_open(True)
    assert not hasattr(pasted, "check_button")
    desk.click(other.check_button)
    desk.until(lambda: wizard.page == FINDINGS and wizard.findings.message.text != "")
    assert wizard.findings.message.text == "Checked again: 1 still there. What the pasted text shows stays as it is."
    machine.changes = {}
    desk.click(wizard.again_button)
    desk.until(lambda: bool(wizard.findings.gone))
    assert wizard.findings.message.text == "Checked again: 1 gone. What the pasted text shows stays as it is."
    assert {card.head.badge for card in wizard.findings.cards} == {""}


# -- what is given


def test_a_pasted_log_is_judged_alone(desk: Desk) -> None:
    wizard = desk.open()
    desk.click(wizard.choose.none_button)
    QGuiApplication.clipboard().setText("Traceback (most recent call last):\n" + TOO_OLD)
    wizard.choose.given.paste.setFocus()
    QTest.keyClick(wizard.choose.given.paste, Qt.Key.Key_V, Qt.KeyboardModifier.ControlModifier)
    assert wizard.next_button.text() == "Judge what is given"
    desk.click(wizard.next_button)
    desk.until(lambda: wizard.page == FINDINGS)
    assert wizard.findings.cards[0].code == "driver-too-old"
    evidence = found(wizard).findings[0].evidence[0]
    assert evidence.origin.line == 2
    unknown = wizard.findings.groups["unknown"].head
    assert unknown.text() == "Of other causes, what was given says too little"
    assert unknown.accessibleName() == "Of other causes, what was given says too little, collapsed"


def test_dropped_files_are_told_apart(desk: Desk, tmp_path: Path) -> None:
    log, script = tmp_path / "train.log", tmp_path / "train.py"
    log.write_text(TOO_OLD, encoding="utf-8")
    script.write_text("import torch\nmodel = torch.nn.Linear(3, 3)\n", encoding="utf-8")
    wizard = desk.open()
    data = QMimeData()
    data.setUrls([QUrl.fromLocalFile(str(log)), QUrl.fromLocalFile(str(script))])
    box = wizard.choose.given
    copy, none = Qt.DropAction.CopyAction, Qt.KeyboardModifier.NoModifier
    QApplication.sendEvent(box, QDragEnterEvent(QPoint(5, 5), copy, data, Qt.MouseButton.LeftButton, none))
    QApplication.sendEvent(box, QDropEvent(QPointF(5, 5), copy, data, Qt.MouseButton.LeftButton, none))
    desk.until(lambda: box.is_sorted)
    assert box.given.logs == (log,)
    assert box.given.scripts == (script,)
    QApplication.processEvents()  # a layout shows new rows with its next event
    box.add_button.setFocus()
    names = []
    for _turn in range(3):
        desk.key(Qt.Key.Key_Tab)
        focused = QApplication.focusWidget()
        assert focused is not None
        names.append(focused.accessibleName())
    assert names == [f"Remove {log}", f"Remove {script}", "What your program printed"]  # as they stand
    desk.click(wizard.next_button)
    desk.until(lambda: wizard.page == FINDINGS)
    assert "driver-too-old" in [card.code for card in wizard.findings.cards]
    assert wizard.findings.banners  # the machine was looked at as well
    unknown = wizard.findings.groups["unknown"].head.accessibleName()
    assert "Too little is known of" in unknown
    assert messages._(words.TOPIC["log"]) not in unknown  # it was given


def test_of_two_logs_both_are_kept_and_what_a_profile_replaces_is_told(desk: Desk, tmp_path: Path) -> None:
    names = ("a.txt", "b.txt", "old.pickle", "new.pickle")
    for name in names:
        (tmp_path / name).write_text(TOO_OLD)
    wizard = desk.open()
    box = wizard.choose.given
    box.add_files([tmp_path / name for name in names])
    desk.until(lambda: box.is_sorted)
    assert [log.name for log in box.given.logs] == ["a.txt", "b.txt"]
    assert box.given.profile == tmp_path / "new.pickle"
    assert "new.pickle is judged instead of old.pickle" in wizard.message.text
    QApplication.processEvents()  # a layout shows new rows with its next event
    desk.click(next(one for one in box.findChildren(FlatButton) if "a.txt" in one.accessibleName()))
    assert [log.name for log in box.given.logs] == ["b.txt"]


def test_a_drive_that_does_not_answer_holds_nothing_up(
    desk: Desk, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    release = Event()
    for name in ("dead.json", "live.log"):
        (tmp_path / name).write_text("{}")

    def kind(path: Path) -> str:
        assert path.name != "dead.json" or release.wait(20)
        return "facts" if path.suffix == ".json" else "log"

    wizard = desk.open()
    monkeypatch.setattr("gpumon_gui.diagnosis.checking.file_kind", kind)
    box = wizard.choose.given
    box.add_files([tmp_path / "dead.json"])
    row = f"Being looked at: {tmp_path / 'dead.json'}"
    desk.until(lambda: row in [label.text() for label in box.findChildren(QLabel) if label.isVisible()])
    assert not wizard.next_button.isEnabled()  # what is given is not left out silently
    box.add_files([tmp_path / "live.log"])
    desk.until(lambda: box.given.logs == (tmp_path / "live.log",))
    buttons = [button for button in box.findChildren(FlatButton) if "dead.json" in button.accessibleName()]
    desk.click(buttons[-1])
    assert wizard.next_button.isEnabled()
    with desk.qtbot.waitSignal(desk.page.job.file_sorted, timeout=20_000):
        release.set()
    assert box.given.facts is None  # it was taken out


def test_a_file_that_is_not_there_is_refused_at_once(desk: Desk, tmp_path: Path) -> None:
    wizard = desk.open()
    wizard.choose.given.add_files([tmp_path / "gone.log"])
    desk.until(lambda: str(tmp_path / "gone.log") in wizard.message.text)
    assert wizard.choose.given.is_empty


def _says(wizard: Wizard, text: str) -> bool:
    return wizard.message.text == text


@pytest.mark.skipif(sys.platform == "win32", reason="devices and pipes of POSIX")
def test_what_never_ends_is_refused_with_one_line(desk: Desk, tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe.json")
    (tmp_path / "zero.log").symlink_to("/dev/zero")
    wizard = desk.open()
    for name in ("pipe.json", "zero.log"):
        wizard.choose.given.add_files([tmp_path / name])
        text = f"{tmp_path / name}: is not a regular file."
        desk.until(partial(_says, wizard, text))
        assert wizard.choose.given.is_empty


def test_a_large_paste_is_kept_and_not_laid_out(desk: Desk) -> None:
    wizard = desk.open()
    desk.click(wizard.choose.none_button)
    QGuiApplication.clipboard().setText("epoch 1\n" * (MOST_SHOWN // 4) + TOO_OLD)
    QTest.keyClick(wizard.choose.given.paste, Qt.Key.Key_V, Qt.KeyboardModifier.ControlModifier)
    assert wizard.choose.given.paste.toPlainText() == ""
    assert TOO_OLD in wizard.choose.given.given.log_text
    desk.click(wizard.next_button)
    desk.until(lambda: wizard.page == FINDINGS)
    assert wizard.findings.cards[0].code == "driver-too-old"


def test_a_file_that_cannot_be_read_is_told_where_it_was_given(desk: Desk, tmp_path: Path) -> None:
    wizard = desk.open()
    desk.click(wizard.choose.none_button)
    missing = tmp_path / "gone.log"
    missing.write_text("epoch 1")
    desk.give(missing)
    missing.unlink()
    desk.click(wizard.next_button)
    desk.until(lambda: wizard.message.text != "")
    assert wizard.page == CHOOSE
    assert str(missing) in wizard.message.text


def test_a_process_brings_its_environment(desk: Desk) -> None:
    page = desk.window.pages["processes"]
    desk.window.show_page("processes")
    desk.until(lambda: page.model.rowCount() > 0)
    table = page.table
    for row in range(page.proxy.rowCount()):
        table.selectRow(row)
        chosen = page.selected()
        if chosen is not None and page.can_diagnose(chosen.process):
            break
    menu = page.menu(chosen)
    action = next(action for action in menu.actions() if action.text() == "Diagnose its environment…")
    action.trigger()
    menu.deleteLater()
    desk.until(lambda: desk.page.wizard is not None and desk.wizard.choose.environments.count() > 0)
    wizard = desk.wizard
    assert desk.window.page == "diagnostics"
    assert wizard.choose.ticked() == ()
    assert wizard.choose.ask.pid == chosen.process.pid
    assert str(chosen.process.pid) in wizard.choose.process.currentText()
    assert wizard.next_button.text() == "Check the program's environment"


# -- the report


@pytest.mark.parametrize("suffix", [".html", ".md", ".json"])
def test_the_preview_says_what_is_replaced(desk: Desk, suffix: str, tmp_path: Path) -> None:
    wizard = desk.checked()
    desk.click(wizard.next_button)
    wizard.report.forms[suffix].click()
    desk.until(lambda: wizard.report.replaced.topLevelItemCount() > 0 and wizard.report.suffix == suffix)
    rows = [wizard.report.replaced.topLevelItem(n) for n in range(wizard.report.replaced.topLevelItemCount())]
    told = {(row.text(0), row.text(1), row.text(2)) for row in rows if row is not None}
    assert ("home folder", "/opt/torch", "~") in told
    shown = wizard.report.text.toPlainText()
    assert "/opt/torch" not in shown
    assert "~/.venv/bin/python" in shown
    wizard.save_as(str(tmp_path / "report"))
    desk.until(lambda: wizard.report.message.text != "")
    written = (tmp_path / f"report{suffix}").read_text(encoding="utf-8")
    if suffix == ".html":
        assert "GPUMon report" in shown  # the page, not how it is written
        assert "</p>" not in shown
        assert "**Evidence**" not in shown
    else:
        assert written == shown
    assert "/opt/torch" not in written
    assert wizard.report.replaced.isVisible()
    assert wizard.report.replaced.horizontalScrollBar().maximum() == 0


def test_where_nothing_is_replaced_one_line_says_so(desk: Desk) -> None:
    wizard = desk.checked()
    desk.click(wizard.next_button)
    desk.until(lambda: wizard.report.text.toPlainText() != "")
    assert wizard.findings.result is not None
    wizard.report.show_preview(Preview(wizard.findings.result, ".html", "<!doctype html><p>whole"))
    assert not wizard.report.replaced.isVisible()
    desk.until(lambda: wizard.report.text.width() > wizard.report.width() * 0.8)
    labels = [label.text() for label in wizard.report.findChildren(QLabel) if label.isVisible()]
    assert "Nothing had to be replaced" in labels


def test_a_name_that_nobody_was_asked_about_is_not_written_over(desk: Desk, tmp_path: Path) -> None:
    (tmp_path / "r.txt.html").write_text("mine")
    wizard = desk.checked()
    desk.click(wizard.next_button)
    wizard.save_as(str(tmp_path / "r.txt"))
    desk.until(lambda: wizard.report.message.text != "")
    assert str(tmp_path / "r.txt.html") in wizard.report.message.text
    assert (tmp_path / "r.txt.html").read_text() == "mine"
    wizard.save_as(str(tmp_path / "r.txt.html"))  # the dialog asked
    desk.until(lambda: (tmp_path / "r.txt.html").read_text() != "mine")


def test_a_report_that_cannot_be_written_is_told(desk: Desk, tmp_path: Path) -> None:
    wizard = desk.checked()
    desk.click(wizard.next_button)
    wizard.save_as(str(tmp_path / "nowhere" / "report.html"))
    desk.until(lambda: wizard.report.message.text != "")
    assert str(tmp_path / "nowhere" / "report.html") in wizard.report.message.text
    assert list(tmp_path.rglob("*.part")) == []


def test_a_late_answer_is_about_the_result_it_was_asked_for(
    desk: Desk, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, machine: Machine, folder: Path
) -> None:
    """A report is still being written while everything is checked again."""
    from gpumon_gui.diagnosis.report import saving

    is_written, release, save = Event(), Event(), saving.save

    def slow(*given: Any) -> None:
        is_written.set()
        assert release.wait(20)
        save(*given)

    monkeypatch.setattr(saving, "save", slow)
    wizard = desk.checked()
    desk.until(lambda: desk.page.overview.list.count() == 1)
    old = wizard.findings.result
    desk.click(wizard.next_button)
    wizard.save_as(str(tmp_path / "report.html"))
    desk.until(is_written.is_set)
    wizard.go_back()
    machine.changes = {"CUDA_VISIBLE_DEVICES": "-1"}
    desk.click(wizard.again_button)
    desk.until(lambda: wizard.page == FINDINGS and wizard.findings.message.text != "")
    new = wizard.findings.result
    assert new is not old
    with desk.qtbot.waitSignal(desk.page.files.saved, timeout=20_000):
        release.set()
    assert wizard.findings.result is new
    assert wizard.findings.cards[0].code == "cuda-visible-devices-hides-gpu"
    assert wizard.message.text == f"Saved as {tmp_path / 'report.html'}."

    def reports() -> list[tuple[str, ...]]:
        return [each.result.reports for each in results.load(folder).kept]

    desk.until(lambda: reports() == [(), (str(tmp_path / "report.html"),)])  # the older one has it


# -- language, sizes


def test_every_page_follows_the_language(desk: Desk, translation: Translation, machine: Machine) -> None:  # noqa: F811
    machine.changes = {"CUDA_VISIBLE_DEVICES": "-1"}
    wizard = desk.checked()
    card = wizard.findings.cards[0]
    title = card.head.title
    translation.set_language("zh_CN")
    assert wizard.findings.cards[0].head.title != title
    assert wizard.page == FINDINGS
    desk.until(lambda: wizard.findings.cards[0].is_open)
    translation.set_language("en")
    assert wizard.findings.cards[0].head.title == title
    desk.click(wizard.next_button)
    desk.until(lambda: wizard.report.text.toPlainText() != "")
    english = wizard.report.text.toPlainText()
    translation.set_language("zh_CN")
    desk.until(lambda: wizard.report.text.toPlainText() not in ("", english))


@pytest.mark.parametrize("size", [(720, 480), (900, 600), (2560, 1440)])
@pytest.mark.parametrize("name", ["en", "zh_CN", LONGER])
def test_small_and_large_windows_show_every_text_and_button(
    desk: Desk,
    size: tuple[int, int],
    name: str,
    machine: Machine,
    translation: Translation,  # noqa: F811
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    machine.changes = {"CUDA_VISIBLE_DEVICES": "-1"}
    translation.set_language("en" if name == LONGER else name)
    if name == LONGER:
        monkeypatch.setitem(messages._state, "catalogue", Longer())
    desk.window.retranslate()
    desk.window.resize(*size)
    wizard = desk.open()
    for page in (CHOOSE, FINDINGS, HELP, REPORT):
        if page == FINDINGS:
            desk.click(wizard.next_button)
            desk.until(lambda: wizard.page == FINDINGS and wizard.findings.cards[0].is_open)
        elif page == HELP:
            wizard.findings.cards[0].help_button.click()
        elif page == REPORT:
            wizard.go_back()
            desk.click(wizard.next_button)
            desk.until(lambda: wizard.report.text.toPlainText() != "")
        settle()
        for button in (wizard.back_button, wizard.next_button):
            if button.isVisible():
                assert desk.window.rect().contains(button.mapTo(desk.window, button.rect().bottomRight()))
        assert cut(wizard) == []
    wizard.go_back()
    wizard.go_back()
    settle()
    assert cut(desk.page.overview) == []


# -- what is kept


def test_results_stay_with_their_date_and_open_again(desk: Desk, folder: Path, machine: Machine) -> None:
    machine.changes = {"CUDA_VISIBLE_DEVICES": "-1"}
    wizard = desk.checked()
    overview = desk.page.overview
    desk.until(lambda: overview.list.count() == 1)
    desk.key(Qt.Key.Key_Escape)
    assert desk.page.stack.currentWidget() is overview
    assert "2 environments" in overview.list.item(0).text()
    assert "1 finding" in overview.list.item(0).text()
    (folder / "20260101-000000.json").write_text("{", encoding="utf-8")
    desk.page.files.load()
    desk.until(lambda: "20260101-000000.json" in overview.message.text)
    assert overview.list.count() == 1
    overview.list.setFocus()
    QTest.keyClick(overview.list, Qt.Key.Key_Return)
    assert desk.page.stack.currentWidget() is wizard
    assert wizard.page == FINDINGS
    assert wizard.findings.cards[0].code == "cuda-visible-devices-hides-gpu"
    desk.click(wizard.back_button)
    desk.click(overview.again_button)
    desk.until(lambda: wizard.page == FINDINGS and wizard.findings.message.text != "")
    assert wizard.findings.message.text == "Checked again: 1 still there."
    desk.click(wizard.back_button)
    desk.until(lambda: overview.list.count() == 2)
    desk.click(overview.forget_button)
    assert question(overview).text() == "Delete this result?"
    QTest.keyClick(question(overview), Qt.Key.Key_Escape)
    desk.until(lambda: overview.findChild(QMessageBox) is None)
    assert overview.list.count() == 2
    QTest.keyClick(overview.list, Qt.Key.Key_Delete)
    delete = next(button for button in question(overview).buttons() if button.text() == "Delete")
    desk.click(delete)
    desk.until(lambda: overview.list.count() == 1)
    assert len(list(folder.glob("2*.json"))) == 2  # and the broken one


def test_a_saved_report_is_listed_with_its_result(desk: Desk, tmp_path: Path) -> None:
    wizard = desk.checked()
    desk.until(lambda: desk.page.overview.list.count() == 1)
    desk.click(wizard.next_button)
    wizard.save_as(str(tmp_path / "report.html"))
    rows = desk.page.overview
    desk.until(lambda: any("report.html" in label.text() for label in rows.findChildren(QLabel)))


def test_another_time_offers_no_program(desk: Desk) -> None:
    """The demo, a recording: its processes are not there. No card stands empty."""
    desk.page.set_elsewhere()
    wizard = desk.open()
    for card in wizard.choose.findChildren(Card):
        if card.isVisible():
            assert any(child.isVisible() for child in card.findChildren(QWidget)), card
    assert not wizard.choose.process.isVisible()


def test_without_results_the_page_says_what_it_does(desk: Desk) -> None:
    desk.window.show_page("diagnostics")
    overview = desk.page.overview
    assert overview.list.isHidden() or not overview.list.isVisible()
    said = " ".join(label.text() for label in overview.findChildren(QLabel) if label.isVisible())
    assert "Nothing is changed on this machine" in said
    assert "There are none yet" in said
    desk.click(overview.run_button)
    desk.until(lambda: desk.page.wizard is not None)


# -- the settings


def test_the_settings_limit_the_proof_and_keep_interpreters(desk: Desk, tmp_path: Path) -> None:
    desk.settings.set("diagnostics.proof", True)
    desk.settings.set("diagnostics.proof_seconds", 6)
    desk.settings.set("diagnostics.proof_memory_percent", 10)
    wizard = desk.open()
    proving = wizard.choose.ask.proving
    assert proving is not None
    assert (proving.seconds, proving.memory_share) == (6, 0.1)
    said = " ".join(label.text() for label in wizard.choose.findChildren(QLabel))
    assert "about 6 s for each GPU and at most 10 %" in said
    desk.settings.set("diagnostics.proof_seconds", 8)
    assert "about 8 s" in " ".join(label.text() for label in wizard.choose.findChildren(QLabel))
    QTest.mouseClick(wizard.choose.proof, Qt.MouseButton.LeftButton)
    assert wizard.choose.ask.proving is None
    python = str(tmp_path / "python3")
    wizard.choose.interpreter_added.emit(python)
    assert desk.settings.values.texts("diagnostics.interpreters") == (python,)

    def names() -> list[str]:
        return [wizard.choose.environments.item(row).text() for row in range(wizard.choose.environments.count())]

    desk.until(lambda: any("there is nothing at this path" in name for name in names()))


def test_the_next_check_proposes_what_the_last_one_was_about(desk: Desk) -> None:
    wizard = desk.open()
    wizard.choose.environments.item(0).setCheckState(Qt.CheckState.Unchecked)
    chosen = [environment.path for environment in wizard.choose.ticked()]
    assert len(chosen) == 1
    desk.click(wizard.next_button)
    desk.until(lambda: wizard.page == FINDINGS)
    desk.page.show_overview()
    desk.open()
    assert [environment.path for environment in wizard.choose.ticked()] == chosen
    desk.click(wizard.choose.all_button)
    desk.click(wizard.next_button)
    desk.until(lambda: wizard.page == FINDINGS)
    assert desk.settings.values.texts("diagnostics.left_out") == ()


def test_what_is_judged_without_an_environment_proposes_nothing_else(desk: Desk) -> None:
    wizard = desk.open()
    desk.click(wizard.choose.none_button)
    wizard.choose.given.paste.setPlainText(TOO_OLD)
    desk.click(wizard.next_button)
    desk.until(lambda: wizard.page == FINDINGS)
    assert desk.settings.values.texts("diagnostics.left_out") == ()


def test_an_interpreter_is_named_by_its_file_or_the_folder_of_its_environment(desk: Desk, tmp_path: Path) -> None:
    wizard = desk.open()
    (tmp_path / "project" / ".venv").mkdir(parents=True)
    for ask, mode in (
        (wizard.choose.interpreters.ask_file, QFileDialog.FileMode.ExistingFile),
        (wizard.choose.interpreters.ask_folder, QFileDialog.FileMode.Directory),
    ):
        ask()
        dialog = wizard.findChild(QFileDialog)
        assert isinstance(dialog, QFileDialog)
        assert dialog.fileMode() is mode
        assert dialog.filter() & QDir.Filter.Hidden  # .venv
        dialog.fileSelected.emit(str(tmp_path / mode.name))
        dialog.close()
        QApplication.sendPostedEvents(None, QEvent.Type.DeferredDelete.value)
    added = desk.settings.values.texts("diagnostics.interpreters")
    assert added == (str(tmp_path / "ExistingFile"), str(tmp_path / "Directory"))


def test_keys_alone_choose_and_start(desk: Desk) -> None:
    wizard = desk.open()
    box = wizard.choose.environments
    box.setFocus()
    box.setCurrentRow(0)
    QTest.keyClick(box, Qt.Key.Key_Space)
    assert len(wizard.choose.ticked()) == 1
    assert wizard.next_button.text() == "Check 1 environment"
    QTest.keyClick(box, Qt.Key.Key_Return)
    desk.until(lambda: wizard.page == FINDINGS)
    assert len({verdict.subject for verdict in found(wizard).verdicts}) == 1


def test_showing_results_again_and_again_leaves_nothing_behind(desk: Desk, machine: Machine) -> None:
    machine.changes = {"CUDA_VISIBLE_DEVICES": "-1"}
    wizard = desk.checked()
    result = wizard.findings.result
    assert result is not None
    counts = []
    for _round in range(12):
        wizard.findings.show_result(result)
        for group in wizard.findings.groups.values():
            group.set_open(True)
        desk.until(lambda: wizard.findings.cards[0].is_open)
        QApplication.sendPostedEvents(None, QEvent.Type.DeferredDelete.value)
        settle()
        counts.append(len(wizard.findChildren(QObject)))
    assert counts[-1] == counts[2]


def test_symptoms_stand_below_their_cause() -> None:
    def one(code: str, subject: str, symptom_of: str | None = None) -> dict[str, object]:
        return {"code": code, "subject": subject, "symptom_of": symptom_of}

    driver, other = one("driver", "machine"), one("build", "/a")
    here, there = one("no-gpu", "/a", "driver"), one("no-gpu", "/b", "build")
    deep, lost = one("slow", "/a", "no-gpu"), one("lost", "/b", "nobody")
    causes, symptoms = folded([driver, other, here, there, deep, lost])
    assert causes == [driver, other, there, lost]  # the build of another environment explains nothing here
    assert symptoms == {("driver", "machine"): [here, deep]}
