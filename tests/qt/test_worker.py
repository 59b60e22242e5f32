"""What bridge code relies on: a worker runs in its own thread, ends when asked, and a stuck one is reported.

Signals of a worker are received by a QObject here and waited for with ``waitUntil``: pytest-qt's ``waitSignal`` is a
plain object, so it would run in the worker's thread.
"""

from __future__ import annotations

import threading
import time

import pytest
from PySide6.QtCore import QObject, Qt, QThread, QTimer, Signal, Slot
from pytestqt.qtbot import QtBot

from gpumon_gui.bridge.worker import LoopThread, Worker, assert_gui_thread, request_stop_of_all, stuck_threads


class Looping(Worker):
    """Runs until stopped; notes in which thread each call ran."""

    def __init__(self) -> None:
        super().__init__()
        self.threads: dict[str, int] = {}
        self.running = threading.Event()

    def run(self) -> None:
        self.threads["run"] = threading.get_ident()
        self.running.set()
        self.stop_event.wait(30)

    def wake(self) -> None:
        self.threads["wake"] = threading.get_ident()

    def end(self) -> None:
        self.threads["end"] = threading.get_ident()


class Answering(Worker):
    """Driven by slots and a timer of its own."""

    answered = Signal(object)
    ticked = Signal()

    def run(self) -> None:
        self.timer = QTimer(self)
        self.timer.timeout.connect(self.ticked)
        self.timer.start(1)

    @Slot(object)
    def answer(self, question: object) -> None:
        self.answered.emit((question, threading.get_ident()))

    def end(self) -> None:
        self.timer.stop()


class Asker(QObject):
    """Lives in the GUI thread."""

    asked = Signal(object)

    def __init__(self) -> None:
        super().__init__()
        self.answers: list[tuple[object, int]] = []
        self.texts: list[str] = []
        self.ticks = 0
        self.thread_id = 0

    @Slot(object)
    def on_answer(self, answer: tuple[object, int]) -> None:
        self.answers.append(answer)
        self.thread_id = threading.get_ident()

    @Slot(str)
    def on_text(self, text: str) -> None:
        self.texts.append(text)

    @Slot()
    def on_tick(self) -> None:
        self.ticks += 1


def test_a_loop_runs_and_ends_in_its_own_thread(qapp: object) -> None:
    worker = Looping()
    thread = LoopThread(worker, "loop")
    thread.start()
    assert worker.running.wait(10)
    states = [thread.is_running]
    assert thread.stop(10)
    assert [*states, thread.is_running] == [True, False]
    assert worker.threads["run"] == worker.threads["end"] != threading.get_ident()
    assert worker.threads["wake"] == threading.get_ident()


def test_a_loop_ends_at_once_not_after_its_wait(qapp: object) -> None:
    worker = Looping()
    thread = LoopThread(worker, "loop")
    thread.start()
    assert worker.running.wait(10)
    before = time.monotonic()
    assert thread.stop(10)
    assert time.monotonic() - before < 5


def test_slots_and_timers_work_and_answers_arrive_in_the_gui_thread(qtbot: QtBot) -> None:
    worker, asker = Answering(), Asker()
    asker.asked.connect(worker.answer, Qt.ConnectionType.QueuedConnection)
    worker.answered.connect(asker.on_answer, Qt.ConnectionType.QueuedConnection)
    worker.ticked.connect(asker.on_tick, Qt.ConnectionType.QueuedConnection)
    thread = LoopThread(worker, "answers")
    thread.start()
    qtbot.waitUntil(lambda: asker.ticks > 0, timeout=10_000)
    asker.asked.emit("where?")
    qtbot.waitUntil(lambda: bool(asker.answers), timeout=10_000)
    assert thread.stop(10)
    [(question, worker_thread)] = asker.answers
    assert question == "where?"
    assert worker_thread != threading.get_ident() == asker.thread_id


def test_stop_before_start_and_twice(qapp: object) -> None:
    never = LoopThread(Looping(), "never")
    assert never.stop(1)
    with pytest.raises(RuntimeError, match="never"):
        never.start()
    thread = LoopThread(Looping(), "twice")
    thread.start()
    assert thread.stop(10)
    assert thread.stop(10)


def test_stop_right_after_start_does_not_lose_the_request(qapp: object) -> None:
    for _ in range(20):
        worker = Answering()
        thread = LoopThread(worker, "short")
        thread.start()
        assert thread.stop(10)


def test_a_stuck_worker_is_reported_and_kept(qapp: object, caplog: pytest.LogCaptureFixture) -> None:
    release = threading.Event()
    entered = threading.Event()

    class Stuck(Worker):
        def run(self) -> None:
            entered.set()
            release.wait(30)

    thread = LoopThread(Stuck(), "stuck")
    thread.start()
    assert entered.wait(10)
    assert not thread.stop(0.01)
    assert stuck_threads() == ("stuck",)
    assert "stuck did not end" in caplog.text
    release.set()
    assert thread.stop(10)
    assert stuck_threads() == ()


def test_threads_that_do_not_end_are_waited_for_together(qapp: object) -> None:
    """All are asked first; then each gets what is left of its time, not its time once more."""
    release = threading.Event()

    class Stuck(Worker):
        def run(self) -> None:
            release.wait(30)

    threads = [LoopThread(Stuck(), f"stuck {number}") for number in range(4)]
    quick = LoopThread(Looping(), "quick")
    for thread in (*threads, quick):
        thread.start()
    before = time.monotonic()
    request_stop_of_all()
    assert [thread.stop(0.5) for thread in threads] == [False] * 4
    assert quick.stop(0.5)  # ended meanwhile
    assert time.monotonic() - before < 1.5
    release.set()
    assert all(thread.stop(30) for thread in threads)


def test_an_exception_is_told_and_the_thread_still_ends(
    qtbot: QtBot, caplog: pytest.LogCaptureFixture, uncaught: list[BaseException]
) -> None:
    class Broken(Worker):
        def run(self) -> None:
            raise ValueError("no such thing")

    worker, asker = Broken(), Asker()
    worker.crashed.connect(asker.on_text, Qt.ConnectionType.QueuedConnection)
    thread = LoopThread(worker, "broken")
    thread.start()
    qtbot.waitUntil(lambda: bool(asker.texts), timeout=10_000)
    assert asker.texts == ["ValueError: no such thing"]
    assert "Broken.run failed" in caplog.text
    assert [str(error) for error in uncaught] == ["no such thing"]  # as any other exception: app.faults hears it
    assert thread.stop(10)


def test_a_worker_may_not_wait_for_itself(qapp: object) -> None:
    seen: list[str] = []

    class Selfish(Worker):
        thread_object: LoopThread

        def run(self) -> None:
            try:
                self.thread_object.stop(1)
            except RuntimeError as error:
                seen.append(str(error))

    worker = Selfish()
    worker.thread_object = LoopThread(worker, "selfish")
    worker.thread_object.start()
    assert worker.thread_object.stop(10)
    assert seen == ["a worker cannot wait for its own thread"]


def test_assert_gui_thread(qapp: object) -> None:
    assert_gui_thread()
    caught: list[BaseException] = []

    class Outside(Worker):
        def run(self) -> None:
            try:
                assert_gui_thread()
            except AssertionError as error:
                caught.append(error)

    thread = LoopThread(Outside(), "outside")
    thread.start()
    assert thread.stop(10)
    assert len(caught) == 1
    assert QThread.isMainThread()
