"""From a real sampler process to the feed: what the user is told when it hangs, dies, floods, and how it ends.

The limits are short; nothing is measured here (tests/benchmarks/bench_gui_pause.py does) but that the GUI thread never
calls anything that can wait.
"""

from __future__ import annotations

import dataclasses
import os
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

import psutil
import pytest
from pytestqt.qtbot import QtBot

from gpumon_gui.bridge.feed import Feed, FeedState, FeedStatus
from gpumon_gui.bridge.mailbox import Mailbox
from gpumon_gui.bridge.sampling import Sampling
from gpumon_gui.core.clock import SystemClock
from gpumon_gui.core.model import Demand, DeviceKey, DeviceState, Sample
from gpumon_gui.telemetry.process import SamplerProcess
from gpumon_gui.telemetry.sampler_status import Limits
from tests.wording import no_such_file

SCRIPT = str(Path(__file__).parents[1] / "unit" / "scripted_child.py")
COMMAND = (sys.executable, SCRIPT, "--sampler-child")
PATIENCE_MS = 20_000
#: What psutil's kill() looks like from outside, and how the system words it that a program is not there.
KILLED = "exit code 15" if sys.platform == "win32" else "SIGKILL"
NO_SUCH_FILE = no_such_file()
SHORT = Limits(
    silent_s=0.6, hang_s=1.2, no_beat_s=1.5, start_s=10.0, trial_s=1.0, pauses_s=(0.05,), retries_s=(600.0,), step_s=0.1
)
if sys.platform == "win32":  # in the lab a process starts and answers slowly, the more so beside other work
    SHORT = dataclasses.replace(SHORT, silent_s=1.0, hang_s=4.0, no_beat_s=5.0, start_s=20.0, trial_s=3.0)
FAST = Demand(interval_s=0.05)


class Window:
    """A feed, what fills it, and everything it said."""

    def __init__(self, qtbot: QtBot) -> None:
        self.qtbot = qtbot
        self.feed = Feed()
        self.statuses: list[FeedStatus] = []
        self.feed.status_changed.connect(self.statuses.append)
        self.processes: list[SamplerProcess] = []
        self.sampling: Sampling | None = None

    def open(self, scenario: str = "", demand: Demand = FAST, limits: Limits = SHORT) -> Sampling:
        make = partial(SamplerProcess, command=COMMAND, scenario=scenario or None)

        def start(skip: frozenset[str]) -> SamplerProcess:
            process = make(skip)
            self.processes.append(process)
            return process

        self.sampling = Sampling(self.feed, SystemClock(), start=start, demand=demand, limits=limits)
        self.sampling.start()
        return self.sampling

    def until(self, condition: Callable[[], bool]) -> None:
        self.qtbot.waitUntil(condition, timeout=PATIENCE_MS)

    def until_live(self) -> None:
        self.until(lambda: self.feed.status.state is FeedState.LIVE and self.feed.latest is not None)

    def until_said(self, words: str) -> FeedStatus:
        self.until(lambda: any(words in status.text for status in self.statuses))
        return next(status for status in self.statuses if words in status.text)

    @property
    def newest(self) -> Sample:
        assert self.feed.latest is not None
        return self.feed.latest


@pytest.fixture
def window(qtbot: QtBot) -> Iterator[Window]:
    made = Window(qtbot)
    yield made
    if made.sampling is not None and not made.sampling._is_closed:
        made.sampling.close()


def test_samples_reach_the_feed_and_closing_leaves_nothing(window: Window) -> None:
    sampling = window.open()
    assert window.feed.status.state is FeedState.STARTING
    window.until_live()
    assert window.newest.inventory[0].name == "Card alpha"
    window.until(lambda: len(window.feed.ring(DeviceKey("alpha")) or ()) >= 3)
    assert window.feed.status == FeedStatus(FeedState.LIVE)
    end = sampling.close()
    assert (end.is_over, end.text, end.stuck_pids) == (True, "", ())
    assert window.processes[0].exit_code() == 0


def test_a_hung_source_is_named_and_the_others_go_on(window: Window) -> None:
    window.open("hang")
    said = window.until_said("“beta” has not answered for")
    assert said.state is FeedState.STALE
    assert said.text.endswith("Shown are the last values.")
    window.until_said("“beta” does not answer. The other sources go on")
    window.until_live()
    before = window.newest.sequence
    window.until(lambda: window.newest.sequence > before)
    beta = window.newest.devices[DeviceKey("beta")]
    assert beta.state is DeviceState.NOT_ANSWERING
    assert window.newest.devices[DeviceKey("alpha")].state is DeviceState.OK


@pytest.mark.parametrize(
    ("act", "words"), [("kill", f"ended unexpectedly ({KILLED})"), ("suspend", "has said nothing")]
)
def test_a_killed_or_stopped_sampler_is_told_and_replaced(window: Window, act: str, words: str) -> None:
    window.open()
    window.until_live()
    window.statuses.clear()  # on a slow machine it was silent while it started
    getattr(psutil.Process(window.processes[0].pid), act)()
    assert window.until_said(words).state is FeedState.STALE
    window.until(lambda: len(window.processes) == 2)
    window.until_live()


def test_a_call_that_lets_no_thread_run_is_ended(window: Window) -> None:
    window.open("hang-gil", limits=dataclasses.replace(SHORT, hang_s=30.0))
    window.until_said("did not move for")
    window.until(lambda: len(window.processes) >= 2)


def test_an_exit_code_is_told(window: Window) -> None:
    window.open("exit")
    window.until_said("“beta” ended GPUMon's sampler (exit code 3)")
    window.until_said("ended GPUMon's sampler several times")  # left out after the second time
    window.until_live()


def test_garbage_on_the_pipe_is_told(window: Window) -> None:
    window.open("garbage")
    window.until_said("sent something unreadable")
    window.until(lambda: len(window.processes) >= 2)


def test_a_flood_queues_one_signal_per_mailbox(window: Window) -> None:
    sampling = window.open("flood")
    window.until(lambda: window.feed.latest is not None)
    emitted, taken = 0, 0

    def count() -> None:
        nonlocal emitted
        emitted += 1

    watcher = sampling._watcher
    watcher.posted.connect(count)  # a plain function: runs in the thread of the sender
    box = watcher.samples
    before = box.replaced
    while box.replaced < before + 20:  # the GUI thread is busy
        threading.Event().wait(0.005)
    assert emitted <= 2  # one for samples, one for what is said
    taken = window.newest.sequence
    window.until(lambda: window.newest.sequence > taken)
    watcher.posted.disconnect(count)


def test_pause_and_update_speed(window: Window) -> None:
    sampling = window.open()
    window.until_live()
    sampling.pause()
    assert window.feed.status.state is FeedState.PAUSED
    sampling.set_demand(Demand(interval_s=0.1))  # does not end the pause
    assert window.feed.status.state is FeedState.PAUSED
    sampling.resume()
    before = window.newest.sequence
    window.until(lambda: window.newest.sequence > before + 2)
    window.until_live()


def test_the_age_counts_while_it_is_stale(window: Window) -> None:
    window.open(limits=dataclasses.replace(SHORT, no_beat_s=60.0))
    window.until_live()
    psutil.Process(window.processes[0].pid).suspend()
    window.until(lambda: window.feed.status.state is FeedState.STALE and window.feed.status.age_s >= 2.0)
    ages = [status.age_s for status in window.statuses if status.state is FeedState.STALE]
    assert ages == sorted(ages)
    psutil.Process(window.processes[0].pid).resume()
    window.until_live()
    assert len(window.processes) == 1


def test_a_program_that_cannot_be_started_is_told(window: Window) -> None:
    def start(skip: frozenset[str]) -> SamplerProcess:
        return SamplerProcess(skip, command=("/no-such-program",))

    window.sampling = Sampling(window.feed, SystemClock(), start=start, limits=SHORT)
    window.sampling.start()
    said = window.until_said("cannot be started (")
    assert NO_SUCH_FILE in said.text
    assert said.state is FeedState.STARTING


def test_a_bug_in_the_watching_thread_is_told(
    window: Window, monkeypatch: pytest.MonkeyPatch, uncaught: list[BaseException]
) -> None:
    sampling = window.open()
    window.until_live()

    def broken(timeout_s: float) -> Any:
        raise KeyError("nvml")

    monkeypatch.setattr(sampling._supervisor, "step", broken)
    window.until_said("An internal fault in GPUMon stopped the readings (KeyError: 'nvml')")
    window.until(lambda: window.processes[0].exit_code() is not None)
    assert [type(error) for error in uncaught] == [KeyError]


@pytest.mark.parametrize("scenario", ["hang", "hang-close", "flood", "garbage"])
def test_closing_ends_a_sampler_in_any_state(window: Window, scenario: str) -> None:
    sampling = window.open(scenario, limits=Limits())
    if scenario == "hang":
        window.until(lambda: bool(window.processes) and window.processes[0].pulse().busy == "beta")
    elif scenario != "garbage":
        window.until(lambda: window.feed.latest is not None)
    assert sampling.close().is_over
    assert all(process.exit_code() is not None for process in window.processes)


def test_closing_says_what_cannot_be_ended(window: Window, monkeypatch: pytest.MonkeyPatch) -> None:
    sampling = window.open()
    window.until_live()
    pid = window.processes[0].pid
    with monkeypatch.context() as kernel:  # a call in the kernel that does not return
        kernel.setattr(subprocess.Popen, "kill", lambda self: None)
        kernel.setattr(subprocess.Popen, "terminate", lambda self: None)
        kernel.setattr(SamplerProcess, "_write", lambda self, data: None)
        kernel.setattr(window.processes[0]._stdin, "close", lambda: None)
        end = sampling.close(1.5)
    assert end.is_over  # our own threads are
    assert end.stuck_pids == (pid,)
    assert f"(process {pid}) cannot be ended" in end.text
    psutil.Process(pid).kill()
    window.processes[0].kill()


def test_closing_before_starting_is_fine(qtbot: QtBot) -> None:
    sampling = Sampling(Feed(), SystemClock())
    assert sampling.close().is_over


class TestGuiThread:
    @pytest.fixture(autouse=True)
    def forbidden(self, monkeypatch: pytest.MonkeyPatch) -> Iterator[list[str]]:
        """Whatever can wait raises in this thread, and is listed."""
        gui = threading.get_ident()
        caught: list[str] = []

        def guard(owner: Any, name: str) -> None:
            original = getattr(owner, name)

            def guarded(*args: Any, **kwargs: Any) -> Any:
                if threading.get_ident() == gui:
                    caught.append(f"{owner.__name__}.{name}")
                    raise AssertionError(f"{name} in the GUI thread")
                return original(*args, **kwargs)

            monkeypatch.setattr(owner, name, guarded)

        for name in ("__init__", "wait", "poll", "communicate", "kill"):
            guard(subprocess.Popen, name)
        for name in ("__init__", "receive", "send", "stop", "kill", "pulse"):
            guard(SamplerProcess, name)
        for name in ("read", "write"):
            guard(os, name)
        yield caught
        monkeypatch.undo()

    @pytest.mark.parametrize("scenario", ["", "hang", "exit", "garbage", "flood"])
    def test_calls_nothing_that_can_wait(self, window: Window, forbidden: list[str], scenario: str) -> None:
        sampling = window.open(scenario)
        if scenario in ("", "flood"):
            window.until_live()
        else:
            window.until(lambda: len(window.processes) >= 2)
        sampling.set_demand(Demand(interval_s=0.2))
        sampling.pause()
        sampling.resume()
        before = len(window.statuses)
        if scenario == "":
            psutil.Process(window.processes[0].pid).kill()
            window.until(lambda: len(window.statuses) > before + 1)
        assert forbidden == []
        assert sampling.close().is_over  # waits, but for its threads only
        assert forbidden == []


class TestMailbox:
    def test_keeps_the_newest_and_says_when_it_was_empty(self) -> None:
        box: Mailbox[int] = Mailbox()
        assert box.take() is None
        assert box.put(1)
        assert not box.put(2)
        assert box.replaced == 1
        assert box.take() == 2
        assert box.take() is None
        assert box.put(3)
