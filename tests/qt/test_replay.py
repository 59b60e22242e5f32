"""What the user of a replay relies on: right samples at the right time, seek brings the past, damage is one line.

Time is a FakeClock: a test moves it and lets the replay show what is due. Nothing here waits for playing time; only
for the decoder's thread, with a limit.
"""

from __future__ import annotations

import gzip
import itertools
import json
import sqlite3
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
import pytest
from PySide6.QtCore import QObject, Slot
from pytestqt.qtbot import QtBot

from gpumon_gui.bridge.feed import HOST, Feed, FeedState, FeedStatus
from gpumon_gui.bridge.replay import Replay, ReplayState
from gpumon_gui.core.clock import FakeClock
from gpumon_gui.core.model import Sample
from gpumon_gui.telemetry.recording.base import Recorded
from gpumon_gui.telemetry.recording.open import open_recording
from gpumon_gui.telemetry.recording.writer import RecordingWriter
from tests.unit.test_recording import make_sample
from tests.wording import no_such_file

TRACE = Path(__file__).parents[1] / "data" / "traces" / "trace-d02.jsonl.gz"
PATIENCE_MS = 20_000


class Ears(QObject):
    """Everything a replay and a feed tell."""

    def __init__(self, replay: Replay, feed: Feed) -> None:
        super().__init__()
        self.states: list[ReplayState] = []
        self.positions: list[float] = []
        self.durations: list[float] = []
        self.failures: list[str] = []
        self.samples: list[int] = []
        self.statuses: list[FeedStatus] = []
        self.inventories = 0
        replay.state_changed.connect(self.on_state)
        replay.position_changed.connect(self.on_position)
        replay.duration_known.connect(self.on_duration)
        replay.failed.connect(self.on_failure)
        feed.sample_arrived.connect(self.on_sample)
        feed.status_changed.connect(self.on_status)
        feed.inventory_changed.connect(self.on_inventory)

    @Slot(object)
    def on_state(self, state: ReplayState) -> None:
        self.states.append(state)

    @Slot(float)
    def on_position(self, position_s: float) -> None:
        self.positions.append(position_s)

    @Slot(float)
    def on_duration(self, duration_s: float) -> None:
        self.durations.append(duration_s)

    @Slot(str)
    def on_failure(self, line: str) -> None:
        self.failures.append(line)

    @Slot(object)
    def on_sample(self, sample: Sample) -> None:
        self.samples.append(sample.sequence)

    @Slot(object)
    def on_status(self, status: FeedStatus) -> None:
        self.statuses.append(status)

    @Slot()
    def on_inventory(self) -> None:
        self.inventories += 1


class Player:
    """A replay with a clock in the hand."""

    def __init__(self, qtbot: QtBot) -> None:
        self.clock = FakeClock()
        self.feed = Feed()
        self.replay = Replay(self.feed, clock=self.clock)
        self.ears = Ears(self.replay, self.feed)
        self._qtbot = qtbot

    def wait(self, condition: Callable[[], bool]) -> None:
        self._qtbot.waitUntil(condition, timeout=PATIENCE_MS)

    def open(self, path: Path, *, play: bool = False, start_s: float = 0.0) -> None:
        self.replay.open(path, play=play, start_s=start_s)
        self.wait(lambda: self.state() in (ReplayState.PLAYING, ReplayState.PAUSED, ReplayState.FAILED))

    def seek(self, time_s: float) -> None:
        self.replay.seek(time_s)
        self.wait(lambda: not self.replay._seeking)

    def pass_time(self, seconds: float) -> None:
        """Let the clock go on in steps for which the samples are in hand, and the replay with it."""
        while seconds > 0:
            self.wait(lambda: not self.replay._fetching)
            step_s = min(seconds, 1.0)
            seconds -= step_s
            self.clock.advance(step_s)
            self.replay.advance()

    def state(self) -> ReplayState:
        """The state of now (a call, so that the type checker does not remember the last one)."""
        return self.replay.state


@pytest.fixture
def player(qtbot: QtBot) -> Iterator[Player]:
    player = Player(qtbot)
    yield player
    assert player.replay.close(10)


@pytest.fixture(scope="module")
def minute(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """61 samples, one a second; sequence is the second."""
    return record(tmp_path_factory.mktemp("minute") / "训练.gpumon", 61)


def record(path: Path, count: int, step_s: float = 1.0) -> Path:
    writer = RecordingWriter(path, {"machine": "lab"})
    for index in range(count):
        writer.append(make_sample(index, step_s=step_s))
    writer.close()
    return path


def shown(player: Player) -> int:
    assert player.feed.latest is not None
    return player.feed.latest.sequence


def test_opening_shows_the_first_sample_and_plays(player: Player, minute: Path) -> None:
    player.open(minute, play=True)
    assert player.ears.durations == [60.0]
    assert player.ears.states == [ReplayState.LOADING, ReplayState.PLAYING]
    assert player.ears.samples[0] == 0
    assert player.ears.inventories == 1
    assert player.replay.meta["machine"] == "lab"
    assert player.feed.status == FeedStatus(FeedState.REPLAY, "Replaying 训练.gpumon")
    for _ in range(5):
        player.pass_time(1.0)
    assert player.ears.samples[-6:] == [0, 1, 2, 3, 4, 5]
    assert player.ears.positions[-1] == 5.0
    ring = player.feed.ring(HOST)
    assert ring is not None
    assert list(ring.times()) == [1000.0 + second for second in range(6)]


def test_nothing_comes_before_its_time(player: Player, minute: Path) -> None:
    player.open(minute, play=True)
    player.wait(lambda: bool(player.replay._queue))
    player.clock.advance(0.99)
    player.replay.advance()
    assert shown(player) == 0
    player.clock.advance(0.01)
    player.replay.advance()
    assert shown(player) == 1


@pytest.mark.parametrize("speed", [0.25, 4.0, 64.0])
def test_speed(player: Player, minute: Path, speed: float) -> None:
    player.open(minute, play=True)
    player.replay.set_speed(speed)
    for _ in range(4):
        player.pass_time(0.5)
    assert shown(player) == min(60, int(2 * speed))


def test_speed_changes_from_now_on(player: Player, minute: Path) -> None:
    player.open(minute, play=True)
    player.pass_time(10.0)
    player.replay.set_speed(2.0)
    assert shown(player) == 10
    player.pass_time(5.0)
    assert shown(player) == 20
    for asked, used in ((1000.0, 64.0), (0.0, 0.25), (1.0, 1.0)):
        player.replay.set_speed(asked)
        assert player.replay.speed == used


def test_a_fast_replay_keeps_every_sample_for_the_chart_and_signals_few(player: Player, minute: Path) -> None:
    player.open(minute, play=True)
    player.replay.set_speed(64.0)
    player.wait(lambda: len(player.replay._queue) == 60)
    player.pass_time(0.5)
    assert shown(player) == 32
    ring = player.feed.ring(HOST)
    assert ring is not None
    assert len(ring) == 33
    assert len(player.ears.samples) < 10


def test_pause_stops_everything(player: Player, minute: Path) -> None:
    player.open(minute, play=True)
    player.pass_time(3.0)
    player.replay.pause()
    assert player.feed.status.state is FeedState.PAUSED
    assert player.feed.status.text == "Replay of 训练.gpumon paused"
    assert not player.replay._timer.isActive()
    player.clock.advance(30.0)
    player.replay.advance()
    assert shown(player) == 3
    player.replay.toggle()
    player.pass_time(1.0)
    assert shown(player) == 4


def test_seek_brings_the_past_not_the_future(player: Player, minute: Path) -> None:
    player.open(minute)
    player.seek(40.5)
    assert shown(player) == 40
    assert player.replay.position_s == 40.0
    ring = player.feed.ring(HOST)
    assert ring is not None
    assert list(ring.times()) == [1000.0 + second for second in range(41)]
    player.seek(10.0)
    ring = player.feed.ring(HOST)
    assert ring is not None
    assert ring.times()[-1] == 1010.0
    assert len(ring) == 11
    for asked, got in ((-5.0, 0), (1e9, 60)):
        player.seek(asked)
        assert shown(player) == got


def test_the_past_is_an_hour_at_most(player: Player, tmp_path: Path) -> None:
    path = record(tmp_path / "long", 800, step_s=10.0)
    player.open(path, start_s=7000.0)
    ring = player.feed.ring(HOST)
    assert ring is not None
    assert (len(ring), ring.times()[0], ring.times()[-1]) == (361, 1000.0 + 3400.0, 1000.0 + 7000.0)


def test_playing_goes_on_after_a_seek(player: Player, minute: Path) -> None:
    player.open(minute, play=True)
    player.pass_time(2.0)
    player.seek(30.0)
    assert player.state() is ReplayState.PLAYING
    player.pass_time(2.0)
    assert shown(player) == 32


def test_a_newer_seek_overtakes(player: Player, minute: Path) -> None:
    player.open(minute)
    for second in (50, 40, 30, 20, 7):
        player.replay.seek(float(second))
    player.wait(lambda: not player.replay._seeking)
    assert shown(player) == 7
    assert player.ears.samples[-1] == 7


def test_steps(player: Player, minute: Path) -> None:
    player.open(minute, play=True)
    player.pass_time(5.0)
    for samples, expected in ((1, 6), (1, 7), (-2, 5), (-100, 0), (100, 60)):
        player.replay.step(samples)
        player.wait(lambda: not player.replay._seeking)
        assert shown(player) == expected
    assert player.state() is ReplayState.PAUSED


def test_skips_add_up_and_always_move(player: Player, tmp_path: Path) -> None:
    player.open(record(tmp_path / "x", 30, step_s=10.0))
    for seconds, position in ((5.0, 10.0), (25.0, 30.0), (-5.0, 20.0), (-500.0, 0.0), (-5.0, 0.0), (1e6, 290.0)):
        player.replay.skip(seconds)
        player.wait(lambda: not player.replay._seeking)
        assert player.replay.position_s == position
    for _ in range(3):
        player.replay.skip(-20.0)
    player.wait(lambda: not player.replay._seeking)
    assert player.replay.position_s == 230.0


def test_the_end_and_again_from_the_start(player: Player, minute: Path) -> None:
    player.open(minute, play=True, start_s=58.0)
    player.pass_time(2.0)
    assert player.state() is ReplayState.ENDED
    assert player.feed.status.text == "Replay of 训练.gpumon ended"
    assert not player.replay._timer.isActive()
    player.replay.play()
    player.wait(lambda: player.state() is ReplayState.PLAYING)
    assert shown(player) == 0


def test_loop(player: Player, minute: Path) -> None:
    player.replay.set_loop(True)
    player.open(minute, play=True, start_s=59.0)
    player.pass_time(1.0)
    player.wait(lambda: player.replay.position_s == 0.0)
    assert ReplayState.ENDED not in player.ears.states
    player.pass_time(1.0)
    assert shown(player) == 1


def test_a_trace(player: Player) -> None:
    player.open(TRACE, play=True)
    player.pass_time(1.0)
    assert player.feed.latest is not None
    assert player.feed.latest.monotonic_s == pytest.approx(1.0, abs=0.1)
    assert len(player.feed.latest.inventory) == 2


def test_another_file_may_be_opened(player: Player, minute: Path) -> None:
    player.open(minute, play=True)
    player.pass_time(3.0)
    player.open(TRACE)
    assert player.replay.name == TRACE.name
    assert player.feed.latest is not None
    assert len(player.feed.latest.inventory) == 2
    assert player.replay.position_s == 0.0


def test_what_cannot_be_opened_is_told(player: Player, tmp_path: Path) -> None:
    player.open(tmp_path / "没有.gpumon")
    [line] = player.ears.failures
    assert f"没有.gpumon: cannot be read ({no_such_file()})." in line
    assert player.state() is ReplayState.FAILED
    assert player.feed.status == FeedStatus(FeedState.STALE, line)
    player.open(TRACE)
    assert player.state() is ReplayState.PAUSED


def test_a_recording_that_was_cut_off_plays_and_says_so(player: Player, tmp_path: Path) -> None:
    path = record(tmp_path / "x", 5)
    change(path, "DELETE FROM meta WHERE key = 'finished_utc_s'")
    player.open(path)
    assert player.feed.status.text == "Replay of x paused (the recorder was cut off)"


@pytest.mark.parametrize("where", ["open", "seek", "play"])
def test_a_fault_of_ours_is_told_instead_of_an_endless_wait(
    qtbot: QtBot, minute: Path, uncaught: list[BaseException], monkeypatch: pytest.MonkeyPatch, where: str
) -> None:
    def opener(path: Path) -> Recorded:
        recording = open_recording(path)
        if where == "open":
            recording.close()
            raise LookupError("planted")
        read, worst = recording.sample, 0 if where == "seek" else 5

        def sample(index: int) -> Sample:
            if index >= worst:
                raise LookupError("planted")
            return read(index)

        monkeypatch.setattr(recording, "sample", sample)
        return recording

    feed = Feed()
    replay = Replay(feed, clock=FakeClock(), opener=opener)
    ears = Ears(replay, feed)
    replay.open(minute)
    qtbot.waitUntil(lambda: replay.state is ReplayState.FAILED, timeout=PATIENCE_MS)
    assert ears.failures == ["The replay failed: LookupError: planted"]
    assert [str(error) for error in uncaught] == ["planted"]
    assert replay.close(10)


def test_damage_in_the_middle_plays_up_to_it_and_a_seek_goes_on_behind(player: Player, tmp_path: Path) -> None:
    path = record(tmp_path / "x", 40)
    change(path, "UPDATE sample SET body = '?' WHERE id = 6")
    player.open(path, play=True)
    for _ in range(8):
        player.pass_time(1.0)
    player.wait(lambda: player.state() is ReplayState.FAILED)
    assert shown(player) == 4
    [line] = player.ears.failures
    assert "damaged at sample 6 of 40, 5.0 s from the start" in line
    player.seek(20.0)
    assert player.state() is ReplayState.PAUSED
    ring = player.feed.ring(HOST)
    assert ring is not None
    assert len(ring) == 20


def test_devices_that_change_in_between_are_told_also_at_speed(player: Player, tmp_path: Path) -> None:
    writer = RecordingWriter(tmp_path / "x", {})
    for index in range(30):
        writer.append(make_sample(index, devices=2 if 10 <= index < 12 else 1))
    writer.close()
    player.open(tmp_path / "x", play=True)
    player.replay.set_speed(64.0)
    player.wait(lambda: len(player.replay._queue) == 29)
    player.pass_time(0.45)
    assert player.ears.inventories == 3


def change(path: Path, statement: str) -> None:
    connection = sqlite3.connect(path)
    connection.execute(statement)
    connection.commit()
    connection.close()


def test_the_timer_is_real(qtbot: QtBot, minute: Path) -> None:
    """With the system's clock a fast replay comes to its end by itself."""
    feed = Feed()
    replay = Replay(feed)
    replay.set_speed(64.0)
    replay.open(minute)
    qtbot.waitUntil(lambda: replay.state is ReplayState.ENDED, timeout=PATIENCE_MS)
    assert feed.latest is not None
    assert feed.latest.sequence == 60
    assert replay.close(10)


def test_no_work_of_a_seek_blocks_the_window(qtbot: QtBot, tmp_path: Path) -> None:
    """A seek into an hour at two samples a second: the past arrives whole, the GUI thread only swaps it in."""
    path = tmp_path / "hour.gz"
    meta = {"driver": "1", "cpus": 1, "ram": 1, "gpus": [dict.fromkeys(("mem_total", "power_limit_mw", "sm_max_mhz"))]}
    meta["gpus"][0]["name"] = "H200"  # type: ignore[index]
    rows = [{"t": i / 2, "cpu": [1.0], "ram_used": 1, "gpus": [{"util": i % 100}]} for i in range(7300)]
    path.write_bytes(gzip.compress("\n".join(map(json.dumps, [{"meta": meta}, *rows])).encode(), 1))
    player = Player(qtbot)
    player.open(path)
    slowest = 0.0

    def timed(slot: Callable[[object], None]) -> Callable[[object], None]:
        def call(argument: object) -> None:
            nonlocal slowest
            before = time.thread_time()
            slot(argument)
            slowest = max(slowest, time.thread_time() - before)

        return call

    original = player.feed.restore
    swaps = itertools.count()

    def restore(past: object, sample: Sample) -> None:
        next(swaps)
        timed(lambda argument: original(argument, sample))(past)  # type: ignore[arg-type]

    player.feed.restore = restore  # type: ignore[method-assign]
    player.seek(3640.0)
    assert next(swaps) == 2
    assert slowest < 0.02
    assert player.feed.latest is not None
    ring = player.feed.ring(player.feed.latest.inventory[0].key)
    assert ring is not None
    assert len(ring) == 7200
    assert np.all(np.diff(ring.times()) == 0.5)
    assert player.replay.close(10)
