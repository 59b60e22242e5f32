"""Knows: how a recording plays into the feed: position, speed, pause, seek, end. Must not know: widgets, file formats.

The file is opened and decoded in a worker thread; what comes back is frozen or handed over for good. The GUI thread
only moves decoded samples into the feed when their time has come, and swaps in a whole past after a seek. Samples
keep the time base of the recording, so charts must align "now" to ``feed.latest.monotonic_s``.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path

from PySide6.QtCore import QObject, Qt, QTimer, Signal, Slot

from gpumon_gui.bridge.feed import CAPACITY, Feed, FeedState, FeedStatus, append_sample
from gpumon_gui.bridge.worker import LoopThread, Worker, assert_gui_thread
from gpumon_gui.core.clock import Clock, SystemClock
from gpumon_gui.core.errors import UnreadableInput
from gpumon_gui.core.files import shown
from gpumon_gui.core.messages import _
from gpumon_gui.core.model import DeviceKey, Sample
from gpumon_gui.history.ring import Ring
from gpumon_gui.telemetry.recording.base import Recorded, Times, index_at
from gpumon_gui.telemetry.recording.open import open_recording

SLOWEST, FASTEST = 0.25, 64.0
#: How much of the past is put behind the position after a seek: the longest chart.
PAST_S = 3600.0
#: Samples shown at once after a seek, before the rest of the past is decoded.
_FIRST_GLANCE = 120
_LONGEST_FETCH = 256
#: Decode for so long, then let the GUI thread have the interpreter.
_STRETCH_S = 0.002
_BREATH_S = 0.0005
#: No more than so many steps a second, whatever the speed: the samples between are stored without a signal.
_SHORTEST_TICK_MS = 33
_AHEAD_S = 2.0


class ReplayState(StrEnum):
    """What the replay is doing."""

    CLOSED = "closed"  #: nothing was opened yet
    LOADING = "loading"  #: the file is being opened
    PLAYING = "playing"
    PAUSED = "paused"
    ENDED = "ended"  #: the last sample is on show
    FAILED = "failed"  #: unreadable, or damaged at the position; a seek elsewhere goes on


@dataclass(frozen=True, slots=True)
class _Opened:
    generation: int
    times: Times
    meta: Mapping[str, str]
    complete: bool


@dataclass(frozen=True, slots=True)
class _SeekRequest:
    generation: int
    index: int


@dataclass(frozen=True, slots=True)
class _Past:
    """Rings up to and with ``index``. ``final``: nothing more is coming for this seek."""

    generation: int
    index: int
    rings: dict[DeviceKey, Ring]
    sample: Sample
    final: bool


@dataclass(frozen=True, slots=True)
class _FetchRequest:
    generation: int
    first: int
    count: int


@dataclass(frozen=True, slots=True)
class _Batch:
    generation: int
    first: int
    samples: tuple[Sample, ...]


@dataclass(frozen=True, slots=True)
class _Failure:
    generation: int
    line: str


class _Decoder(Worker):
    """Owns the file. Lives in its own thread; ``newest`` is set by the GUI thread, so that old requests are dropped."""

    opened = Signal(object)
    past_ready = Signal(object)
    batch_ready = Signal(object)
    failed = Signal(object)

    def __init__(self, opener: Callable[[Path], Recorded]) -> None:
        super().__init__()
        self.newest = 0
        self._opener = opener
        self._clock = SystemClock()
        self._breath_due_s = 0.0
        self._recording: Recorded | None = None

    @Slot(object, int)
    def open(self, path: Path, generation: int) -> None:
        self._careful(self._open, path, generation)

    @Slot(object)
    def seek(self, request: _SeekRequest) -> None:
        self._careful(self._seek, request)

    @Slot(object)
    def fetch(self, request: _FetchRequest) -> None:
        self._careful(self._fetch, request)

    def _careful(self, work: Callable[..., None], *arguments: object) -> None:
        """A fault of ours: who waits for an answer must not wait for ever."""
        try:
            work(*arguments)
        except Exception as error:  # noqa: BLE001 - told
            self.tell_fault(error)

    def _open(self, path: Path, generation: int) -> None:
        self.end()
        try:
            recording = self._recording = self._opener(path)
        except UnreadableInput as error:
            self.failed.emit(_Failure(generation, str(error)))
            return
        self.opened.emit(_Opened(generation, recording.times, recording.meta, recording.complete))

    def _seek(self, request: _SeekRequest) -> None:
        recording = self._recording
        if recording is None or self._is_old(request.generation):
            return
        times = recording.times
        oldest = max(index_at(times, float(times[request.index]) - PAST_S), request.index + 1 - CAPACITY, 0)
        glance = max(oldest, request.index + 1 - _FIRST_GLANCE)
        for first in dict.fromkeys((glance, oldest)):
            past = self._past(recording, first, request, final=first == oldest)
            if past is None:
                return
            self.past_ready.emit(past)

    def _fetch(self, request: _FetchRequest) -> None:
        recording = self._recording
        if recording is None:
            return
        samples: list[Sample] = []
        for index in range(request.first, min(request.first + request.count, len(recording))):
            if self._is_old(request.generation):
                return
            try:
                samples.append(recording.sample(index))
            except UnreadableInput as error:
                if not samples:
                    self.failed.emit(_Failure(request.generation, str(error)))
                    return
                break  # what came before is played first
            self._breathe()
        self.batch_ready.emit(_Batch(request.generation, request.first, tuple(samples)))

    def end(self) -> None:
        if self._recording is not None:
            self._recording.close()
            self._recording = None

    def _past(self, recording: Recorded, first: int, request: _SeekRequest, *, final: bool) -> _Past | None:
        rings: dict[DeviceKey, Ring] = {}
        try:
            sample = recording.sample(request.index)
        except UnreadableInput as error:
            self.failed.emit(_Failure(request.generation, str(error)))
            return None
        for index in range(first, request.index):
            if self._is_old(request.generation):
                return None
            try:
                append_sample(rings, recording.sample(index))
            except UnreadableInput:
                continue  # a damaged row of the past is a gap
            self._breathe()
        append_sample(rings, sample)
        return _Past(request.generation, request.index, rings, sample, final)

    def _is_old(self, generation: int) -> bool:
        return generation != self.newest or self.stop_event.is_set()

    def _breathe(self) -> None:
        now_s = self._clock.now().monotonic_s
        if now_s >= self._breath_due_s:
            self.stop_event.wait(_BREATH_S)
            self._breath_due_s = now_s + _BREATH_S + _STRETCH_S


class Replay(QObject):
    """Plays one file into the feed. Lives in the GUI thread; times are seconds from the start of the recording.

    Signals:
        position_changed(float): another sample is on show.
        duration_known(float): a file was opened.
        state_changed(object): a new :class:`ReplayState`.
        failed(str): one translated line: the file is unreadable, or damaged at the position.
    """

    position_changed = Signal(float)
    duration_known = Signal(float)
    state_changed = Signal(object)
    failed = Signal(str)

    _open_requested = Signal(object, int)
    _seek_requested = Signal(object)
    _fetch_requested = Signal(object)

    def __init__(
        self,
        feed: Feed,
        parent: QObject | None = None,
        *,
        clock: Clock | None = None,
        opener: Callable[[Path], Recorded] = open_recording,
    ) -> None:
        """``opener`` opens a file in the worker's thread."""
        super().__init__(parent)
        self._feed = feed
        self._clock: Clock = clock or SystemClock()
        self._path: Path | None = None
        self._opened: _Opened | None = None
        self._state = ReplayState.CLOSED
        self._speed = 1.0
        self._loop = False
        self._wants_play = False
        self._start_s = 0.0
        self._generation = 0
        self._index = -1  # of the sample on show
        self._goal = 0  # of the newest seek
        self._seeking = False
        self._fetching = False
        self._queue: deque[Sample] = deque()  # those after _index
        self._damage = ""  # what stops the replay when the queue has been played
        # The position is _anchor_s plus the clock's time since _anchored_at, times the speed.
        self._anchor_s = 0.0
        self._anchored_at = 0.0
        self._timer = QTimer(self)
        self._timer.setSingleShot(True)
        self._timer.setTimerType(Qt.TimerType.PreciseTimer)
        self._timer.timeout.connect(self.advance)
        self._decoder = _Decoder(opener)
        self._thread = LoopThread(self._decoder, "replay")
        queued = Qt.ConnectionType.QueuedConnection
        self._open_requested.connect(self._decoder.open, queued)
        self._seek_requested.connect(self._decoder.seek, queued)
        self._fetch_requested.connect(self._decoder.fetch, queued)
        self._decoder.opened.connect(self._on_opened, queued)
        self._decoder.past_ready.connect(self._on_past, queued)
        self._decoder.batch_ready.connect(self._on_batch, queued)
        self._decoder.failed.connect(self._on_failed, queued)
        self._decoder.crashed.connect(self._on_crashed, queued)

    # -- what is shown

    @property
    def state(self) -> ReplayState:
        """What the replay is doing."""
        return self._state

    @property
    def name(self) -> str:
        """The file's name, for people; empty before ``open``."""
        return "" if self._path is None else shown(Path(self._path.name))

    @property
    def path(self) -> Path | None:
        """The file."""
        return self._path

    @property
    def meta(self) -> Mapping[str, str]:
        """Notes of the recorder; empty before the file is open."""
        return {} if self._opened is None else self._opened.meta

    @property
    def duration_s(self) -> float:
        """Time of the last sample; 0 before the file is open."""
        return 0.0 if self._opened is None else float(self._opened.times[-1])

    @property
    def position_s(self) -> float:
        """Time of the sample on show."""
        return 0.0 if self._opened is None or self._index < 0 else float(self._opened.times[self._index])

    @property
    def speed(self) -> float:
        """Seconds of the recording per second."""
        return self._speed

    # -- what the user does

    def open(self, path: Path, *, play: bool = True, start_s: float = 0.0) -> None:
        """Open a file in the worker; ``duration_known`` or ``failed`` follows. Another open file is closed."""
        assert_gui_thread()
        self._timer.stop()
        self._path, self._opened = path, None
        self._wants_play, self._start_s = play, start_s
        self._index = -1
        self._queue.clear()
        self._damage = ""
        self._seeking = self._fetching = False
        if not self._thread.is_running:
            self._thread.start()
        self._set_state(ReplayState.LOADING)
        self._open_requested.emit(path, self._next_generation())

    def play(self) -> None:
        """Go on; from the start when the end was reached."""
        assert_gui_thread()
        if self._opened is None:
            self._wants_play = True
        elif self._state is ReplayState.ENDED:
            self._wants_play = True
            self._seek_index(0)
        elif self._state is not ReplayState.PLAYING:
            self._wants_play = True
            if not self._seeking:
                self._start()

    def pause(self) -> None:
        """Stop where it is. Nothing runs until ``play``, ``seek`` or ``step``."""
        assert_gui_thread()
        self._wants_play = False
        if self._state is ReplayState.PLAYING:
            self._timer.stop()
            self._set_state(ReplayState.PAUSED)

    def toggle(self) -> None:
        """Play or pause."""
        if self._state is ReplayState.PLAYING or (self._seeking and self._wants_play):
            self.pause()
        else:
            self.play()

    def set_speed(self, speed: float) -> None:
        """Seconds of the recording per second, kept between 0.25 and 64."""
        speed = min(FASTEST, max(SLOWEST, speed))
        if self._state is ReplayState.PLAYING:
            self._anchor(self._now_s())
        self._speed = speed
        if self._state is ReplayState.PLAYING:
            self._schedule()

    def set_loop(self, loop: bool) -> None:
        """Whether the end leads to the start."""
        self._loop = loop

    def seek(self, time_s: float) -> None:
        """Show the sample of that time with its past. A newer seek overtakes an older one."""
        assert_gui_thread()
        if self._opened is not None:
            self._seek_index(index_at(self._opened.times, time_s))

    def step(self, samples: int) -> None:
        """Pause, and go some samples forward or back."""
        assert_gui_thread()
        if self._opened is None:
            return
        self.pause()
        self._seek_index(self._within(self._from() + samples))

    def skip(self, seconds: float) -> None:
        """Go some seconds forward or back, at least one sample. Repeated calls add up."""
        assert_gui_thread()
        if self._opened is None:
            return
        times, start = self._opened.times, self._from()
        index = index_at(times, float(times[start]) + seconds)
        self._seek_index(index if index != start else self._within(start + (1 if seconds > 0 else -1)))

    def _from(self) -> int:
        """Where a relative move starts: the goal of a seek under way, else the sample on show."""
        return self._goal if self._seeking else max(0, self._index)

    def _within(self, index: int) -> int:
        assert self._opened is not None
        return min(max(index, 0), len(self._opened.times) - 1)

    def close(self, timeout_s: float = 2.0) -> bool:
        """End the worker and let go of the file, for good. False: a read does not return (a dead network drive)."""
        self._timer.stop()
        self._next_generation()
        self._queue.clear()
        ended = self._thread.stop(timeout_s)
        self._set_state(ReplayState.CLOSED)
        return ended

    # -- playing

    @Slot()
    def advance(self) -> None:
        """Show what is due now. Called by the timer."""
        opened = self._opened
        if opened is None or not self._is_playing():
            return
        due = index_at(opened.times, self._now_s() + 1e-6)
        shown_before = self._index
        while self._queue and self._index < due:
            sample = self._queue.popleft()
            self._index += 1
            latest = self._feed.latest
            last = not self._queue or self._index == due
            # Signals for the newest only, and where the devices change.
            if last or latest is None or latest.inventory != sample.inventory:
                self._feed.push(sample)
            else:
                self._feed.store(sample)
        if self._index != shown_before:
            self.position_changed.emit(self.position_s)
        if not self._is_playing():  # a listener paused, sought or closed
            return
        if self._damage and not self._queue:
            self._fail(self._damage)
            return
        if self._index >= len(opened.times) - 1:
            self._finish()
            return
        if self._index < due and not self._queue:
            # The decoder is behind: time stands still instead of samples being skipped.
            self._anchor(self.position_s)
        self._prefetch()
        self._schedule()

    def _start(self) -> None:
        if self._opened is None or self._index < 0:
            return
        self._anchor(self.position_s)
        self._set_state(ReplayState.PLAYING)
        self.advance()

    def _finish(self) -> None:
        self._timer.stop()
        if self._loop and self._index > 0:
            self._seek_index(0)
            return
        self._wants_play = False
        self._set_state(ReplayState.ENDED)

    def _anchor(self, position_s: float) -> None:
        self._anchor_s = position_s
        self._anchored_at = self._clock.now().monotonic_s

    def _now_s(self) -> float:
        return self._anchor_s + (self._clock.now().monotonic_s - self._anchored_at) * self._speed

    def _schedule(self) -> None:
        """Wake up for the next sample; without one in hand the next batch wakes us."""
        assert self._opened is not None
        if not self._queue:
            self._timer.stop()
            return
        wait_s = (float(self._opened.times[self._index + 1]) - self._now_s()) / self._speed
        self._timer.start(min(max(_SHORTEST_TICK_MS, round(wait_s * 1000)), 3_600_000))

    def _prefetch(self) -> None:
        """Keep two seconds of playing in hand."""
        assert self._opened is not None
        times = self._opened.times
        first = self._index + 1 + len(self._queue)
        if self._fetching or self._seeking or self._damage or first >= len(times):
            return
        wanted = index_at(times, self.position_s + _AHEAD_S * self._speed) + 2
        if first <= wanted:
            self._fetching = True
            count = min(max(wanted - first + 1, 16), _LONGEST_FETCH)
            self._fetch_requested.emit(_FetchRequest(self._generation, first, count))

    def _seek_index(self, index: int) -> None:
        self._timer.stop()
        self._queue.clear()
        self._damage = ""
        self._goal = index
        self._seeking, self._fetching = True, False
        self._seek_requested.emit(_SeekRequest(self._next_generation(), index))

    def _next_generation(self) -> int:
        self._generation += 1
        self._decoder.newest = self._generation
        return self._generation

    # -- what the decoder says

    @Slot(object)
    def _on_opened(self, opened: _Opened) -> None:
        if opened.generation != self._generation:
            return
        self._opened = opened
        self.duration_known.emit(self.duration_s)
        self._seek_index(index_at(opened.times, self._start_s))

    @Slot(object)
    def _on_past(self, past: _Past) -> None:
        if past.generation != self._generation:
            return
        self._index = past.index
        self._feed.restore(past.rings, past.sample)
        if past.generation != self._generation:  # a listener sought again
            return
        self.position_changed.emit(self.position_s)
        if not past.final:
            return
        self._seeking = False
        if self._wants_play:
            self._start()
        else:
            self._set_state(ReplayState.PAUSED)

    @Slot(object)
    def _on_batch(self, batch: _Batch) -> None:
        if batch.generation != self._generation:
            return
        self._fetching = False
        starved = not self._queue
        self._queue.extend(batch.samples)
        if self._state is ReplayState.PLAYING and starved:
            self._schedule()

    @Slot(object)
    def _on_failed(self, failure: _Failure) -> None:
        if failure.generation != self._generation:
            return
        self._fetching = False
        if self._queue:
            self._damage = failure.line
        else:
            self._fail(failure.line)

    @Slot(str)
    def _on_crashed(self, detail: str) -> None:
        self._fail(_("The replay failed: {detail}").format(detail=detail))

    def _is_playing(self) -> bool:
        return not self._seeking and self._state is ReplayState.PLAYING

    def _fail(self, line: str) -> None:
        self._timer.stop()
        self._wants_play = self._seeking = self._fetching = False
        self._set_state(ReplayState.FAILED, line)
        self.failed.emit(line)

    def _set_state(self, state: ReplayState, line: str = "") -> None:
        if state is not self._state:
            self._state = state
            self.state_changed.emit(state)
        self._say(line)

    def retranslate(self) -> None:
        """Say the status again, in the language of now."""
        if self._state is not ReplayState.FAILED:
            self._say("")

    def _say(self, line: str) -> None:
        states = {
            ReplayState.LOADING: (FeedState.STARTING, _("Opening {name}")),
            ReplayState.PLAYING: (FeedState.REPLAY, _("Replaying {name}")),
            ReplayState.PAUSED: (FeedState.PAUSED, _("Replay of {name} paused")),
            ReplayState.ENDED: (FeedState.PAUSED, _("Replay of {name} ended")),
            ReplayState.FAILED: (FeedState.STALE, line),
        }
        if self._state not in states:
            return
        feed_state, text = states[self._state]
        if self._state is not ReplayState.FAILED:
            text = text.format(name=self.name)
            if self._opened is not None and not self._opened.complete:
                text += " " + _("(the recorder was cut off)")
        self._feed.set_status(FeedStatus(feed_state, text, is_over=self._state is ReplayState.ENDED))
