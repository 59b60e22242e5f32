"""Prints the longest pause of the GUI thread while the sampler hangs, is killed, is stopped, or floods.

    python tests/benchmarks/bench_gui_pause.py [--seconds 12]

A 5 ms timer in the event loop notes the longest time between two of its ticks. "quiet" is the same window with a
healthy sampler: what the machine itself adds. Budget: 50 ms. Also printed: how long after the fault the window said
what happened (budget: 5 s), how long the sampler takes to start, and what one without sources costs at 1 Hz.
"""

from __future__ import annotations

import argparse
import logging
import os
import signal
import sys
import time
from functools import partial
from pathlib import Path

os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")
sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from PySide6.QtCore import QCoreApplication, QElapsedTimer, QEventLoop, Qt, QTimer

from gpumon_gui.bridge.feed import Feed, FeedState, FeedStatus
from gpumon_gui.bridge.sampling import Sampling
from gpumon_gui.core.clock import SystemClock
from gpumon_gui.core.model import Demand
from gpumon_gui.core.values import number
from gpumon_gui.telemetry.process import SamplerProcess
from gpumon_gui.telemetry.wire import Frame, Hello

SCRIPT = Path(__file__).resolve().parents[1] / "unit" / "scripted_child.py"
COMMAND = (sys.executable, str(SCRIPT), "--sampler-child")
TICK_MS = 5
BUDGET_MS = 50.0
TOLD_BUDGET_S = 5.0
#: Name → scenario of the scripted sampler and the signal sent to it after a second.
FAULTS: dict[str, tuple[str, signal.Signals | None]] = {
    "quiet": ("", None),
    "hung in a call": ("hang", None),
    "hung, no thread runs": ("hang-gil", None),
    "killed": ("", signal.SIGKILL),
    "stopped": ("", signal.SIGSTOP),
    "crashing": ("crash", None),
    "garbage": ("garbage", None),
    "flood": ("flood", None),
    "flood of large samples": ("flood-large", None),
}


class PauseMeter:
    """The longest time between two ticks of a timer in this event loop."""

    def __init__(self) -> None:
        self.longest_ms = 0.0
        self._since = QElapsedTimer()
        self._timer = QTimer()
        self._timer.setTimerType(Qt.TimerType.PreciseTimer)
        self._timer.setInterval(TICK_MS)
        self._timer.timeout.connect(self._tick)

    def start(self) -> None:
        """Begin to measure."""
        self._since.start()
        self._timer.start()

    def stop(self) -> float:
        """End; milliseconds beyond the timer's own."""
        self._timer.stop()
        return max(0.0, self.longest_ms - TICK_MS)

    def _tick(self) -> None:
        self.longest_ms = max(self.longest_ms, self._since.nsecsElapsed() / 1e6)
        self._since.restart()


def measured(scenario: str, number_: signal.Signals | None, seconds: float) -> tuple[float, float | None, str]:
    """Longest pause in ms, seconds from the fault to the first word on it, and the word."""
    processes: list[SamplerProcess] = []

    def start(skip: frozenset[str]) -> SamplerProcess:
        processes.append(SamplerProcess(skip, command=COMMAND, scenario=scenario or None))
        return processes[-1]

    feed, loop, meter = Feed(), QEventLoop(), PauseMeter()
    told: list[tuple[float, str]] = []
    faults: list[float] = []

    def note(status: FeedStatus) -> None:
        if status.state is FeedState.STALE or (status.state is FeedState.STARTING and "first time" not in status.text):
            told.append((time.monotonic(), status.text))

    def hurt() -> None:
        faults.append(time.monotonic())
        if number_ is not None:
            os.kill(processes[0].pid, number_)

    feed.status_changed.connect(note)
    sampling = Sampling(feed, SystemClock(), start=start, demand=Demand(interval_s=1.0))
    sampling.start()
    meter.start()
    QTimer.singleShot(1000, hurt)  # the scripted sampler's own fault comes in its second sweep, at about that time
    QTimer.singleShot(round(seconds * 1000), loop.quit)
    loop.exec()
    longest_ms = meter.stop()
    sampling.close()
    return longest_ms, (max(0.0, told[0][0] - faults[0]) if told else None), (told[0][1] if told else "")


def start_up(rounds: int = 10) -> float:
    """Median seconds from starting a sampler to its first word."""
    times = []
    for _round in range(rounds):
        begin = time.monotonic()
        process = SamplerProcess(command=COMMAND)
        while not any(isinstance(message, Hello) for message in process.receive(5.0)):
            pass
        times.append(time.monotonic() - begin)
        process.stop()
    return sorted(times)[rounds // 2]


def cost(seconds: float) -> tuple[float, float]:
    """CPU (fraction of a core) and memory (bytes) of a sampler without sources at 1 Hz."""
    process = SamplerProcess(frozenset({"alpha", "beta"}), command=COMMAND)
    process.send(Demand(interval_s=1.0))
    end, newest = time.monotonic() + seconds, (0.0, 0.0)
    while time.monotonic() < end:
        for message in process.receive(1.0):
            if isinstance(message, Frame):
                own = message.sample.cost
                newest = (number(own.cpu) or 0.0, number(own.rss_bytes) or 0.0)
    process.stop()
    return newest


def main() -> int:
    """Print all; 1 when a budget is missed."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", choices=tuple(FAULTS), help="one fault")
    parser.add_argument("--seconds", type=float, default=12.0, help="time per fault")
    arguments = parser.parse_args()
    seconds = arguments.seconds
    logging.disable()  # the faults are meant
    application = QCoreApplication(sys.argv[:1])
    print(f"sampler until its first word: {start_up() * 1000:.0f} ms")
    cpu, rss = cost(seconds)
    print(f"sampler without sources at 1 Hz: {cpu:.2%} of a core, {rss / (1 << 20):.1f} MiB")
    missed = 0
    for name, (scenario, number_) in FAULTS.items():
        if arguments.only not in (None, name):
            continue
        longest_ms, told_s, words = partial(measured, scenario, number_)(seconds)
        missed += longest_ms > BUDGET_MS or (told_s or 0.0) > TOLD_BUDGET_S
        said = "" if told_s is None else f"   after {told_s:.1f} s: {words}"
        print(f"{name:22s} longest pause {longest_ms:5.1f} ms{said}", flush=True)
    print(f"budget: {BUDGET_MS:.0f} ms and {TOLD_BUDGET_S:.0f} s; missed: {missed}")
    del application
    return int(missed > 0)


if __name__ == "__main__":
    sys.exit(main())
