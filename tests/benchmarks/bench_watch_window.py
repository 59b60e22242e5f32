"""Prints what watching costs the window: the longest pause of the GUI thread, what a verdict takes, and CPU.

    python tests/benchmarks/bench_watch_window.py [--gpus 8] [--programs 4] [--seconds 15]

A machine with so many GPUs and a rank with four loading processes on each; the newest five minutes are in the watchers
before the clock starts, then samples come four times a second. Budget: 50 ms for a pause.
"""

from __future__ import annotations

import argparse
import os
import statistics
import sys
import time
from dataclasses import replace
from pathlib import Path

os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")
sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from PySide6.QtCore import QEventLoop, QTimer
from PySide6.QtWidgets import QApplication

from gpumon_gui.app.watches import Watches
from gpumon_gui.bridge.feed import Feed, FeedState, FeedStatus
from gpumon_gui.bridge.translation import Translation
from gpumon_gui.bridge.watching import Program
from gpumon_gui.core.model import Sample
from gpumon_gui.diagnosis.behaviour.watcher import Verdict, Watcher
from gpumon_gui.ui.main_window import MainWindow
from gpumon_gui.ui.theme import Theme
from tests.behaviour_samples import FULL, GIB, H200, story
from tests.behaviour_samples import Program as Told
from tests.benchmarks.bench_gui_pause import BUDGET_MS, PauseMeter
from tests.qt.test_main_window import RecordingOrigin

HZ = 4.0
PAST_S = 300.0
WORKERS = 4


def samples(gpus: int, seconds: float) -> tuple[Sample, ...]:
    programs = []
    for index in range(gpus):
        pid = 1000 * (index + 1)
        programs.append(Told(pid, command=("python", f"train{index}.py"), memory={index: 8 * GIB}, busy={index: 0.9}))
        programs += [Told(pid + 1 + n, pid, cpu=0.7, memory={}) for n in range(WORKERS)]
    return story([H200] * gpus, [FULL] * gpus, programs, seconds=seconds, hz=HZ)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--gpus", type=int, default=8)
    parser.add_argument("--programs", type=int, default=4)
    parser.add_argument("--seconds", type=float, default=15.0)
    wanted = parser.parse_args()
    app = QApplication([])
    theme = Theme()
    theme.apply(app)
    feed = Feed()
    feed.set_status(FeedStatus(FeedState.LIVE))
    window = MainWindow(feed, theme, Translation(), RecordingOrigin())
    watches = Watches(window, feed, Translation())
    window.show()

    took_ms: list[float] = []
    right = Watcher.verdict

    def timed(self: Watcher) -> Verdict | None:
        start = time.thread_time()
        found = right(self)
        took_ms.append((time.thread_time() - start) * 1000)
        return found

    Watcher.verdict = timed  # type: ignore[method-assign]
    past = samples(wanted.gpus, PAST_S + wanted.seconds)
    old = round(PAST_S * HZ)
    loop = QEventLoop()
    feed.push(past[0])
    for process in [one for one in past[0].processes if one.uses][: wanted.programs]:
        watches.watch(Program.of(process))
    for number, sample in enumerate(past[1:old]):
        feed.sample_taken.emit(sample)  # to the watchers alone
        if number % 200 == 0:
            QTimer.singleShot(300, loop.quit)
            loop.exec()
    QTimer.singleShot(3000, loop.quit)
    loop.exec()

    for sample in past[old : old + 8]:  # the first drawing costs more
        feed.push(sample)
        QTimer.singleShot(300, loop.quit)
        loop.exec()
    took_ms.clear()
    waiting = list(past[old + 8 :])
    timer = QTimer()
    timer.setInterval(round(1000 / HZ))

    def give() -> None:
        if waiting:
            feed.push(replace(waiting.pop(0)))
        else:
            timer.stop()
            loop.quit()

    timer.timeout.connect(give)
    meter = PauseMeter()
    begin_cpu, begin = time.process_time(), time.monotonic()
    meter.start()
    timer.start()
    loop.exec()
    pause_ms = meter.stop()
    wall = time.monotonic() - begin
    cpu = (time.process_time() - begin_cpu) / wall
    missed = watches.watching._worker.missed if watches.watching._worker is not None else 0
    print(f"{wanted.gpus} GPUs, {wanted.programs} programs, {wall:.0f} s: {len(took_ms)} verdicts")
    print(f"longest pause of the GUI thread  {pause_ms:6.1f} ms  (budget {BUDGET_MS:.0f})")
    if took_ms:
        print(f"CPU of a verdict, median, most   {statistics.median(took_ms):6.1f} ms {max(took_ms):6.1f} ms")
    print(f"CPU of the whole window          {cpu * 100:6.1f} % of a core; samples missed: {missed}")
    window.close_down()
    window.hide()
    return 0 if pause_ms <= BUDGET_MS else 1


if __name__ == "__main__":
    raise SystemExit(main())
