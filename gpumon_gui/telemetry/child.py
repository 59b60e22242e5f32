"""Knows: how to be the sampler process. Must not know: the window, Qt, numpy, who decides on restarts.

Started with ``--sampler-child --parent PID --box ADDRESS [--scenario NAME] [--skip a,b]``. Samples leave over what was
standard output (:mod:`gpumon_gui.telemetry.wire`); demands come in over standard input. Three threads: the main one
sweeps and alone writes, one listens, one notes every half second that the process lives.

It never outlives the window: standard input ends when the window dies in whichever way, and the listening thread
then ends the process even while the main thread sits in a driver call. Linux also sends a signal (to the death of the
*thread* that started the sampler, so that must be one that stays), Windows closes a job (``telemetry.winjob``).
"""

from __future__ import annotations

import dataclasses
import faulthandler
import math
import mmap
import os
import signal
import sys
import threading
import time
import traceback
from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import NoReturn, Protocol

from gpumon_gui import __version__
from gpumon_gui.core.clock import Clock, SystemClock
from gpumon_gui.core.deadline import Deadline
from gpumon_gui.core.model import Cost, Demand, Sample
from gpumon_gui.core.values import Missing, Reason, Value, checked
from gpumon_gui.telemetry import wire
from gpumon_gui.telemetry.blackbox import Blackbox

FLAG = "--sampler-child"
BEAT_S = 0.5
#: No demand makes it read faster than this.
MIN_INTERVAL_S = 0.05
#: A pause that lasts longer lets the devices sleep; a shorter one is not worth opening the driver again.
RELEASE_S = 20.0
_MAX_FAULTS = 20  # different tracebacks told per process
_PR_SET_PDEATHSIG = 1  # linux/prctl.h
_STD_INPUT_HANDLE, _STD_OUTPUT_HANDLE = -10, -11  # winbase.h
_COST = "sampler"
_COST_WINDOW_S = 10.0


class Sweeper(Protocol):
    """What reads all sources (``telemetry.sampler.Sampler``)."""

    def sweep(self, demand: Demand) -> Sample:
        """Read everything demanded once."""
        ...

    def release(self) -> None:
        """Let go of what keeps a device awake; the next sweep takes it up again."""
        ...

    def close(self) -> None:
        """End for good."""
        ...


class Build(Protocol):
    """Makes the sweeper (``telemetry.table.build_sampler``)."""

    def __call__(
        self, *, scenario: str | None, skip: frozenset[str], clock: Clock, on_enter: Callable[[str], None]
    ) -> Sweeper:
        """``on_enter`` is to be called with a source's name before it is touched and with "" after."""
        ...


@dataclass(frozen=True, slots=True)
class Options:
    """The arguments of a sampler process."""

    parent: int = 0
    box: str = ""
    scenario: str | None = None
    skip: frozenset[str] = frozenset()


def main(argv: Sequence[str], build: Build | None = None) -> int:
    """Be the sampler until told to stop. ``argv`` without the program's name; returns the exit code."""
    options = parse(argv)
    out = _take_stdout()
    requests = Requests(_take_stdin())
    faulthandler.enable(2)  # a crash in a driver names the line that called it
    _die_with(options.parent)
    for name in ("SIGINT", "SIGBREAK"):  # Ctrl+C in the terminal reaches the whole group; the window decides
        if hasattr(signal, name):
            signal.signal(getattr(signal, name), signal.SIG_IGN)
    box = Blackbox.attach(options.box)
    requests.listen()
    threading.Thread(target=_beat, args=(box,), name="gpumon-beat", daemon=True).start()
    try:
        _send(out, wire.hello(__version__, os.getpid()))
        clock = SystemClock()
        sampler = _built(out, build, options, clock, box.enter)
        if sampler is None:
            return 1
        _run(sampler, requests, lambda data: _send(out, data), clock)
        box.enter("")
        sampler.close()
        _send(out, wire.bye())
    except BrokenPipeError:  # the window is gone
        leave_at_once()
    return 0


def parse(argv: Sequence[str]) -> Options:
    """The options. Only our own program writes this command line, so a fault in it is a bug: ValueError."""
    words = [word for word in argv if word != FLAG]
    if len(words) % 2:
        raise ValueError(f"sampler arguments come in pairs: {words}")
    given = dict(zip(words[::2], words[1::2], strict=True))
    unknown = given.keys() - {"--parent", "--box", "--scenario", "--skip"}
    if unknown or "--parent" not in given or "--box" not in given:
        raise ValueError(f"sampler arguments: {words}")
    return Options(
        parent=int(given["--parent"]),
        box=given["--box"],
        scenario=given.get("--scenario"),
        skip=frozenset(name for name in given.get("--skip", "").split(",") if name),
    )


class Requests:
    """What the window wants, kept up to date by a thread that ends the process when the window is gone.

    ``demand`` is None until the first one came: a paused window must not cost a sweep.
    """

    def __init__(self, fd: int) -> None:
        self._fd = fd
        self._changed = threading.Event()
        self.demand: Demand | None = None
        self.stopping = False

    def listen(self) -> None:
        """Start the thread."""
        threading.Thread(target=self._listen, name="gpumon-requests", daemon=True).start()

    def wait(self, timeout_s: float | None) -> None:
        """Until something changes or the time is over."""
        self._changed.wait(timeout_s)
        self._changed.clear()

    def _listen(self) -> None:
        splitter = wire.Splitter()
        while True:
            try:
                data = os.read(self._fd, 4096)
                if not data:
                    break
                for kind, body in splitter.feed(data):
                    if kind == wire.STOP:
                        self.stopping = True
                    elif kind == wire.DEMAND:
                        self.demand = wire.parse_demand(body)
                    self._changed.set()
                if splitter.damage:
                    break
            except (OSError, wire.DamagedStream):
                break
        leave_at_once()


class CostMeter:
    """What this process costs: CPU as a fraction of one core over the last 10 s, resident bytes.

    Over 10 s since Windows counts CPU time in steps of 16 ms, more than a sweep takes.
    """

    def __init__(self) -> None:
        self._past: deque[tuple[float, float]] = deque()

    def read(self, now_s: float, sweep_s: float) -> Cost:
        """Two system calls, about 30 µs. The first CPU reading is Missing(FIRST_SAMPLE)."""
        busy_s = time.process_time()
        while len(self._past) > 1 and now_s - self._past[1][0] >= _COST_WINDOW_S:
            self._past.popleft()
        cpu: Value = Missing(Reason.FIRST_SAMPLE, _COST)
        if self._past and now_s > self._past[0][0]:
            then_s, then_busy_s = self._past[0]
            cpu = checked("process_cpu", (busy_s - then_busy_s) / (now_s - then_s), _COST)
        self._past.append((now_s, busy_s))
        try:
            rss: Value = checked("process_rss_bytes", _resident_bytes(), _COST)
        except OSError as error:
            rss = Missing(Reason.ERROR, _COST, type(error).__name__)
        return Cost(cpu, rss, sweep_s)


_STATM = "/proc/self/statm"  #: Linux


def _resident_bytes() -> int:
    """Memory of this process. Raises OSError."""
    try:
        with open(_STATM, "rb") as file:  # noqa: PTH123 - in every sweep
            return int(file.read().split()[1]) * mmap.PAGESIZE
    except FileNotFoundError:
        import psutil  # 3 MB, and Linux does without

        try:
            return int(psutil.Process().memory_info().rss)
        except psutil.Error as error:
            raise OSError(type(error).__name__) from error


def leave_at_once() -> NoReturn:
    """End the process now, whatever its other threads are doing."""
    if sys.platform == "win32":
        import ctypes  # only here: ExitProcess waits for DLLs, which may be what hangs

        kernel32 = ctypes.WinDLL("kernel32")
        kernel32.GetCurrentProcess.restype = ctypes.c_void_p
        kernel32.TerminateProcess(ctypes.c_void_p(kernel32.GetCurrentProcess()), 0)
    os._exit(0)


def _built(
    out: int, build: Build | None, options: Options, clock: Clock, on_enter: Callable[[str], None]
) -> Sweeper | None:
    try:
        if build is None:
            from gpumon_gui.telemetry.table import build_sampler  # sources load libraries: only in this process

            build = build_sampler
        return build(scenario=options.scenario, skip=options.skip, clock=clock, on_enter=on_enter)
    except Exception:  # noqa: BLE001 - whatever it is, the window must be told
        _send(out, wire.fault(traceback.format_exc()))
        return None


def _run(sampler: Sweeper, requests: Requests, send: Callable[[bytes], None], clock: Clock) -> None:
    """Sweep whenever it is due. A raising sweep costs that sample and no more."""
    deadline: Deadline | None = None
    meter = CostMeter()
    told: set[str] = set()
    while not requests.stopping:
        demand = requests.demand
        interval_s = 0.0 if demand is None else interval(demand)
        if demand is None or interval_s == 0.0:
            was_reading, deadline = deadline is not None, None
            requests.wait(RELEASE_S if was_reading else None)
            if was_reading and requests.demand is demand:
                sampler.release()  # paused: the GPU may fall asleep
            continue
        now_s = clock.now().monotonic_s
        if deadline is None:
            deadline = Deadline(interval_s, now_s)
        elif deadline.period_s != interval_s:
            deadline.set_period(interval_s, now_s)
        remaining_s = deadline.remaining(now_s)
        if remaining_s > 0:
            requests.wait(remaining_s)
            continue
        deadline.advance(now_s)
        try:
            sample = sampler.sweep(demand)
        except Exception:  # noqa: BLE001 - a bug in one source must not end the sampler
            text = traceback.format_exc()
            if text not in told and len(told) < _MAX_FAULTS:
                told.add(text)
                send(wire.fault(text))
            continue
        end_s = clock.now().monotonic_s
        send(wire.frame(dataclasses.replace(sample, cost=meter.read(end_s, end_s - now_s))))


def interval(demand: Demand) -> float:
    """Seconds between two sweeps, 0 when there are to be none: paused is any interval that is not a positive number."""
    wanted_s = demand.interval_s
    return max(MIN_INTERVAL_S, wanted_s) if math.isfinite(wanted_s) and wanted_s > 0 else 0.0


def _beat(box: Blackbox) -> None:
    pause = threading.Event()
    while True:
        box.beat()
        pause.wait(BEAT_S)


def _send(fd: int, data: bytes) -> None:
    view = memoryview(data)
    while view:
        view = view[os.write(fd, view) :]


def _take_stdout() -> int:
    """Our own copy of standard output; what libraries print from now on goes to standard error."""
    fd = os.dup(_standard_fd(1, _STD_OUTPUT_HANDLE))
    os.dup2(2, 1)
    sys.stdout = sys.stderr
    return _binary(fd)


def _take_stdin() -> int:
    """Our own copy of standard input. Nothing else may touch the pipe: on Windows every call on a pipe waits for the
    read that is under way."""
    fd = os.dup(_standard_fd(0, _STD_INPUT_HANDLE))
    nothing = os.open(os.devnull, os.O_RDONLY)
    os.dup2(nothing, 0)
    os.close(nothing)
    return _binary(fd)


def _standard_fd(fd: int, handle_id: int) -> int:
    try:
        os.fstat(fd)
    except OSError:
        if sys.platform == "win32":  # a program without a console may not have got descriptors for its handles
            import ctypes
            import msvcrt

            get = ctypes.WinDLL("kernel32").GetStdHandle
            get.restype = ctypes.c_void_p
            return msvcrt.open_osfhandle(get(handle_id), 0)
        raise
    return fd


def _binary(fd: int) -> int:
    if sys.platform == "win32":
        import msvcrt

        msvcrt.setmode(fd, os.O_BINARY)
    return fd


def _die_with(parent: int) -> None:
    if sys.platform != "linux":
        return
    import ctypes

    ctypes.CDLL(None, use_errno=True).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)
    if os.getppid() != parent:  # it died before the line above
        leave_at_once()
