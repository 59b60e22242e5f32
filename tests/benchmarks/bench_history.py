"""Prints what the history costs: per sample, per day on the disk, per question, and how long the GUI thread pauses.

    python tests/benchmarks/bench_history.py [--days 30] [--gpus 8] [--seconds 6] [--keep FILE]

Writes a file of so many days and cards (scripted; ``--keep`` leaves it there, or uses one made before), asks it, and
shows the page over it, as ``bench_gui_pause`` measures: the longest time between two ticks of a 5 ms timer while the
ranges, devices and spans change, a comparison is drawn, samples are written, and a table is exported. "quiet" is the
same window doing nothing: what the machine itself adds. Budget: 50 ms.
"""

from __future__ import annotations

import argparse
import importlib.util
import logging
import os
import sys
import tempfile
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from types import ModuleType

os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")
sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

import numpy as np
from PySide6.QtCore import QEventLoop, QObject, QTimer
from PySide6.QtWidgets import QApplication

from gpumon_gui.bridge.feed import Feed
from gpumon_gui.bridge.history import History
from gpumon_gui.bridge.history_reader import ExportForm
from gpumon_gui.core.clock import SystemClock
from gpumon_gui.core.model import Sample
from gpumon_gui.core.values import Reading
from gpumon_gui.history.intake import Intake
from gpumon_gui.history.reading import HistoryReader, Span
from gpumon_gui.history.retention import HistoryOptions
from gpumon_gui.history.schema import DAY_S, HOUR_S, LEVELS
from gpumon_gui.history.store import HistoryStore
from gpumon_gui.ui.pages.history import HistoryPage
from gpumon_gui.ui.theme import Theme
from gpumon_gui.ui.widgets.history_asking import RANGES
from tests.benchmarks.bench_gui_pause import BUDGET_MS, PauseMeter
from tests.qt.samples import device_values, make_device, make_info, make_sample

ROOT = Path(__file__).resolve().parents[2]
MIB = 1 << 20


def demo_history() -> ModuleType:
    """packaging/demo_history.py, which is in no package."""
    spec = importlib.util.spec_from_file_location("demo_history", ROOT / "packaging" / "demo_history.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules["demo_history"] = module
    spec.loader.exec_module(module)
    return module


def sample_of(second: int, gpus: int, rng: np.random.Generator) -> Sample:
    """Cards that compute, with noise in every figure that has some."""
    made = make_sample(1, gpus=gpus)
    devices = {}
    for number in range(gpus):
        noise = float(rng.normal(0.0, 0.03))
        values = device_values(min(1.0, max(0.0, 0.8 + noise)), memory_gib=61.2 + round(noise, 2))
        values["temperature_c"] = Reading(round(60 + 20 * noise), "nvml")
        values["pcie_rx_bytes_per_s"] = Reading(55e6 * (1 + noise), "nvml")
        info = make_info(number)
        devices[info.key] = make_device(number, values)
    return Sample(
        second, float(second), float(second), 1.0, made.inventory, devices, host=made.host, health=made.health
    )


def writing(folder: Path, gpus: int, hours: float = 3.5) -> None:
    """Cost of a sample, of a batch, of the end of a stretch, and bytes of a day."""
    path = folder / "written.db"
    store, intake, rng = HistoryStore(path), Intake(), np.random.default_rng(1)
    begin = 1_800_000_000 - 1_800_000_000 % LEVELS[1].stretch_s
    takes: list[float] = []
    batches: list[float] = []
    ends: list[float] = []
    options = HistoryOptions()
    for second in range(begin, begin + int(hours * HOUR_S)):
        sample = sample_of(second, gpus, rng)
        at = time.perf_counter()
        intake.add(sample)
        takes.append(time.perf_counter() - at)
        if second % 10 == 9:
            at = time.perf_counter()
            is_over = store.write(intake, [])
            if is_over:
                store.tidy(options, second, is_trusted=True, is_over=lambda: False)
            (ends if is_over else batches).append(time.perf_counter() - at)
    store.finish(intake, [])
    store._connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchall()
    sizes = {}
    for level in LEVELS[:2]:
        row = store._connection.execute(
            "SELECT sum(length(data) + 12) FROM chunk WHERE id >> 52 = ?", (level.number,)
        ).fetchone()
        sizes[level.number] = float(row[0] or 0)
    file = path.stat().st_size
    store.close()
    per_sample = np.median(takes) * 1e6
    spent = sum(takes) + sum(batches) + sum(ends)
    print(f"writing, {gpus} GPUs at 1 Hz, {hours:g} h:")
    print(f"  take a sample      {per_sample:8.0f} µs")
    print(f"  write a batch      {np.median(batches) * 1e3:8.2f} ms   worst {max(batches) * 1e3:.1f} ms")
    print(f"  end of a stretch   {np.median(ends) * 1e3:8.1f} ms   worst {max(ends) * 1e3:.1f} ms (each 15 min)")
    print(f"  all together       {spent / (hours * HOUR_S):8.3%} of a core")
    day = sizes[0] / hours * 24 / gpus
    tens = sizes[1] / 3 * 24 / gpus
    print(
        f"  seconds            {day / MIB:8.2f} MiB a day and GPU; tens {tens / MIB:.2f} MiB; file {file / MIB:.1f} MiB"
    )


def asking(path: Path) -> None:
    """Milliseconds of a question."""
    reader = HistoryReader(path)
    found = reader.contents()
    device = found.devices[1]
    end = found.last_s or 0
    print(f"asking, all {len(device.metrics)} metrics of one GPU on 1000 columns ({found.size_bytes / MIB:.0f} MiB):")
    for seconds, label in RANGES:
        times = []
        for _round in range(5):
            at = time.perf_counter()
            reader.read(device.number, device.metrics, Span(end - seconds, end), 1000)
            times.append(time.perf_counter() - at)
        print(f"  {label:6s} {np.median(times) * 1e3:8.1f} ms")
    reader.close()


class BusyMeter(PauseMeter):
    """Also the most CPU time of the GUI thread between two ticks: what remains of a pause on a machine with no other
    load."""

    def __init__(self) -> None:
        super().__init__()
        self.busiest_ms = 0.0
        self._spent_s = time.thread_time()

    def _tick(self) -> None:
        spent_s = time.thread_time()
        self.busiest_ms = max(self.busiest_ms, (spent_s - self._spent_s) * 1e3)
        self._spent_s = spent_s
        super()._tick()


class Window(QObject):
    """The page over a file, and what is done to it."""

    def __init__(self, path: Path, folder: Path) -> None:
        super().__init__()
        self.feed, self.theme = Feed(), Theme()
        self.page = HistoryPage(self.feed, self.theme)
        self.page.resize(1600, 900)
        self.history = History(path, SystemClock(), is_written=False)
        self.writer = History(folder / "beside.db", SystemClock(), HistoryOptions())
        self.page.set_history(self.history)
        self.page.show()
        self.folder = folder

    def run(self, steps: list[Callable[[], object]], seconds: float) -> tuple[float, float]:
        """The longest pause, and the most CPU time at a stretch, in ms, while one step after the other is done."""
        loop, meter = QEventLoop(), BusyMeter()
        timer = QTimer()
        timer.setInterval(round(seconds * 1000 / max(1, len(steps))))
        left = iter(steps)

        def step() -> None:
            doing = next(left, None)
            if doing is None:
                timer.stop()
                QTimer.singleShot(400, loop.quit)
            else:
                doing()

        timer.timeout.connect(step)
        meter.start()
        timer.start()
        if not steps:
            timer.stop()
            QTimer.singleShot(round(seconds * 1000), loop.quit)
        loop.exec()
        return meter.stop(), meter.busiest_ms

    def close(self) -> None:
        """End its threads."""
        self.page.close_tasks()
        self.history.close()
        self.writer.close()
        self.page.deleteLater()


def pauses(path: Path, folder: Path, seconds: float, gpus: int) -> int:
    """Print the pauses; how many missed the budget."""
    window = Window(path, folder)
    page = window.page
    window.run([], 1.5)
    rng = np.random.default_rng(5)

    def cards() -> list[Callable[[], object]]:
        page.asked.set_range(30 * DAY_S)
        return [partial(page.asked.select, device) for device in page.asked.devices]

    def hover() -> list[Callable[[], object]]:
        span = page.asked.span
        return [partial(page.stack.set_cursor_at, span.left_s + n / 60 * span.length_s) for n in range(60)]

    def written() -> list[Callable[[], object]]:
        # An hour of samples in a few seconds: four stretches end, each with all cards.
        return [partial(window.writer.offer, sample_of(1_800_000_000 + 4 * n, gpus, rng)) for n in range(900)]

    ranges = [partial(page.asked.set_range, seconds) for _round in range(3) for seconds, _label in RANGES]
    zoom = [partial(page.stack.zoom, factor) for factor in (*[1.3] * 25, *[1 / 1.3] * 25)]
    compare = [partial(page.asked.compare, name) for name in ("week", "previous", "")]
    table = [partial(page.saving.export, folder / f"a.{form.value}", form) for form in ExportForm]
    works: tuple[tuple[str, Callable[[], list[Callable[[], object]]]], ...] = (
        ("quiet", list),
        ("ranges, 1 h to 1 year", lambda: [*ranges]),
        ("30 days of each GPU", cards),
        ("zoom in and out", lambda: [*zoom]),
        ("cross-hair", hover),
        ("compare", lambda: [*compare]),
        ("export CSV, JSON, PNG", lambda: [*table]),
        ("samples being written", written),
    )
    missed = 0
    print(f"longest pause of the GUI thread, {gpus} GPUs, 1600 x 900 (budget {BUDGET_MS:.0f} ms):")
    for name, steps in works:
        longest_ms, busiest_ms = window.run(steps(), seconds)
        missed += longest_ms > BUDGET_MS
        print(f"  {name:24s} {longest_ms:6.1f} ms   of which at work {busiest_ms:5.1f} ms", flush=True)
    window.close()
    return missed


def main() -> int:
    """Print all; 1 when a budget is missed."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--days", type=float, default=30.0)
    parser.add_argument("--gpus", type=int, default=8)
    parser.add_argument("--seconds", type=float, default=6.0, help="time for each of the pauses")
    parser.add_argument("--keep", type=Path, default=None, help="the scripted file; made when it is not there")
    found = parser.parse_args()
    logging.disable()
    app = QApplication(sys.argv[:1])
    demo = demo_history()
    with tempfile.TemporaryDirectory(prefix="gpumon-bench-") as name:
        folder = Path(name)
        writing(folder, found.gpus)
        path = found.keep or folder / "history.db"
        if not path.exists():
            until = int(SystemClock().now().utc_s)
            demo.fill(path, demo.Machine(found.gpus, found.days, until))
        asking(path)
        missed = pauses(path, folder, found.seconds, found.gpus)
    print(f"missed: {missed}")
    del app
    return int(missed > 0)


if __name__ == "__main__":
    sys.exit(main())
