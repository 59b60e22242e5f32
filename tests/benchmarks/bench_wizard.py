"""Prints the longest pause of the GUI thread at each step of the wizard.

    python tests/benchmarks/bench_wizard.py [--live] [--log MEGABYTES] [--profile MEGABYTES]

A 5 ms timer in the event loop notes the longest time between two of its ticks. A pause is split in three: "own" (what
the thread itself computed), "lock" (it waited for Python's lock while another thread of this program computed), and
"CPU taken" (other programs had the processor; Linux tells). Budget: 50 ms for own and lock together. ``--live`` checks
this machine's environments with the proof instead of a recorded machine; a large log and a profile are judged as well.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import tempfile
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")
sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from PySide6.QtCore import QEventLoop, Qt, QTimer
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication

from gpumon_gui.app.arguments import Arguments
from gpumon_gui.app.diagnosing import Diagnosing
from gpumon_gui.bridge.diagnosis_job import DiagnosisJob
from gpumon_gui.bridge.feed import Feed, FeedState, FeedStatus
from gpumon_gui.bridge.settings import Settings
from gpumon_gui.bridge.translation import Translation
from gpumon_gui.core.model import Demand
from gpumon_gui.settings.values import Values
from gpumon_gui.ui.main_window import MainWindow
from gpumon_gui.ui.theme import Theme

MACHINE = Path(__file__).resolve().parents[1] / "machines" / "h200-torch-linux"
FINDINGS = 2  # of the wizard's pages; importing it here would hide what its loading costs
if TYPE_CHECKING:
    from gpumon_gui.diagnosis.gateway import Gateway
    from gpumon_gui.diagnosis.proof.proved import OwnInstruments

TICK_MS = 5
BUDGET_MS = 50.0
PATIENCE_S = 600.0


@dataclass(frozen=True)
class Pause:
    """Milliseconds."""

    whole: float = 0.0
    own: float = 0.0
    taken: float = 0.0
    others: float = 0.0

    @property
    def lock(self) -> float:
        """What the thread was kept from computing; whoever has the lock may wait for a processor himself."""
        return min(max(0.0, self.whole - self.taken - self.own), self.others)

    @property
    def ours(self) -> float:
        """Without what other processes took."""
        return self.own + self.lock


class Meter:
    """The worst pause of each step."""

    def __init__(self) -> None:
        self.step = ""
        self.worst: dict[str, Pause] = {}
        self._last = self._now()
        self._timer = QTimer()
        self._timer.setTimerType(Qt.TimerType.PreciseTimer)
        self._timer.setInterval(TICK_MS)
        self._timer.timeout.connect(self._tick)
        self._timer.start()

    def begin(self, step: str) -> None:
        """From now on it is this step."""
        self.step = step
        self._last = self._now()

    def stop(self) -> None:
        """End."""
        self._timer.stop()

    @staticmethod
    def _now() -> tuple[float, float, float, float]:
        taken = 0.0
        own = time.thread_time() * 1000
        stat = Path(f"/proc/self/task/{threading.get_native_id()}/schedstat")
        if stat.exists():
            taken = int(stat.read_text(encoding="ascii").split()[1]) / 1e6
        return time.perf_counter() * 1000, own, taken, time.process_time() * 1000 - own

    def _tick(self) -> None:
        now = self._now()
        wall, own, taken, others = (after - before for after, before in zip(now, self._last, strict=True))
        pause = Pause(wall - TICK_MS, own, taken, others)
        self._last = now
        if pause.ours > self.worst.get(self.step, Pause()).ours:
            self.worst[self.step] = pause


class Origin:
    """Gives nothing."""

    def set_demand(self, demand: Demand) -> None:
        """Nothing is read."""

    def pause(self) -> None:
        """Nothing to pause."""

    def resume(self) -> None:
        """Nothing to resume."""

    def toggle(self) -> None:
        """Nothing to pause."""

    def refresh(self) -> None:
        """Nothing to read."""

    def retranslate(self) -> None:
        """Nothing is said."""


def recorded() -> Gateway:
    """A recorded machine; called in the worker's thread."""
    from gpumon_gui.diagnosis.recorded_gateway import RecordedGateway

    return RecordedGateway(MACHINE)


def blind() -> OwnInstruments:
    """Instruments that see nothing."""
    from gpumon_gui.diagnosis.proof.run import NoInstruments

    class Blind(NoInstruments):
        def close(self) -> None:
            """Nothing to end."""

    return Blind()


def wait(holds: Callable[[], bool], patience_s: float = PATIENCE_S) -> None:
    """Run the event loop until it holds."""
    end_s = time.monotonic() + patience_s
    loop, timer = QEventLoop(), QTimer()
    timer.setInterval(20)
    timer.timeout.connect(lambda: loop.quit() if holds() or time.monotonic() > end_s else None)
    timer.start()
    loop.exec()
    assert holds(), "it did not come"


def settle(seconds: float) -> None:
    """Run the event loop for so long."""
    loop = QEventLoop()
    QTimer.singleShot(round(seconds * 1000), loop.quit)
    loop.exec()


def log_of(folder: Path, megabytes: int) -> Path:
    """A long training log with one fault near its end."""
    file = folder / "train.log"
    line = "epoch {n} step {n} loss 0.{n} lr 1e-4 it/s 12.{n} W1130 cuda warning in /home/x/train.py\n"
    with file.open("w", encoding="utf-8") as stream:
        for number in range(megabytes * 12_000):
            stream.write(line.format(n=number))
        stream.write("RuntimeError: The NVIDIA driver on your system is too old (found version 11040).\n")
    return file


def profile_of(folder: Path, megabytes: int) -> Path:
    """A PyTorch trace."""
    file = folder / "trace.json"
    events = []
    for number in range(megabytes * 5_000):
        kind = ("kernel", 7) if number % 2 else ("cpu_op", 1)
        events.append(
            {
                "ph": "X",
                "cat": kind[0],
                "name": f"ampere_sgemm_{number % 50}",
                "pid": 0,
                "tid": kind[1],
                "ts": number * 10.0,
                "dur": 8.0,
                "args": {"External id": number, "device": 0, "stream": 7, "correlation": number},
            }
        )
    file.write_text(json.dumps({"schemaVersion": 1, "traceEvents": events}), encoding="utf-8")
    return file


def walk(meter: Meter, window: MainWindow, diagnosing: Diagnosing, files: list[Path], translation: Translation) -> None:
    """Every step, as a person takes it."""
    page = window.pages["diagnostics"]
    meter.begin("open")
    QTest.mouseClick(diagnosing.button, Qt.MouseButton.LeftButton)
    wait(lambda: page.wizard is not None and page.wizard.choose.environments.count() > 0)
    wizard = page.wizard
    settle(1.0)
    meter.begin("check")
    QTest.mouseClick(wizard.next_button, Qt.MouseButton.LeftButton)
    wait(lambda: wizard.page == FINDINGS)
    meter.begin("findings")
    settle(0.5)
    meter.begin("open all")
    for fold in (*wizard.findings.cards, *wizard.findings.groups.values()):
        fold.set_open(True)
        settle(0.05)
    meter.begin("language")
    for language in ("zh_CN", "en"):
        translation.set_language(language)
        settle(0.3)
    meter.begin("check again")
    QTest.mouseClick(wizard.again_button, Qt.MouseButton.LeftButton)
    wait(lambda: wizard.page == FINDINGS)
    settle(0.3)
    meter.begin("report")
    QTest.mouseClick(wizard.next_button, Qt.MouseButton.LeftButton)
    settle(1.0)
    wizard.go_back()
    wizard.go_back()
    for file in files:
        meter.begin(f"{file.name}, {file.stat().st_size >> 20} MB")
        page.run()
        settle(0.5)
        wizard.choose.none_button.click()
        wizard.choose.given.add_files([file])
        wait(lambda: wizard.choose.given.is_sorted)
        wizard.start()
        wait(lambda: wizard.page == FINDINGS)
        settle(0.3)
    meter.begin("overview")
    wizard.go_back()
    settle(0.5)


def main() -> int:
    """Print all; 1 when the budget is missed."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--live", action="store_true", help="this machine, with the proof")
    parser.add_argument("--log", type=int, default=20, metavar="MEGABYTES")
    parser.add_argument("--profile", type=int, default=20, metavar="MEGABYTES")
    arguments = parser.parse_args()
    application = QApplication(sys.argv[:1])
    theme, translation, feed = Theme(), Translation(), Feed()
    theme.apply(application)
    feed.set_status(FeedStatus(FeedState.LIVE))
    window = MainWindow(feed, theme, translation, Origin())
    settings = Settings(None, Values())
    diagnosing = Diagnosing(window, theme, translation, settings, Arguments())
    page = window.pages["diagnostics"]
    page.bind_settings(settings)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        page.set_folder(folder / "diagnoses")
        if not arguments.live:
            page.set_job(DiagnosisJob(gateway=recorded, instruments=blind))
        files = [log_of(folder, arguments.log), profile_of(folder, arguments.profile)]
        window.show()
        settle(1.0)
        meter = Meter()
        walk(meter, window, diagnosing, files, translation)
        meter.stop()
        window.close_down()
    heads = f"{'step':<24} {'pause':>8} {'own':>8} {'lock':>8} {'CPU taken':>10}"
    print(f"{heads}   ms; budget {BUDGET_MS:.0f} for own and lock")
    for step, pause in meter.worst.items():
        print(f"{step:<24} {pause.whole:8.1f} {pause.own:8.1f} {pause.lock:8.1f} {pause.whole - pause.ours:10.1f}")
    worst = max(pause.ours for pause in meter.worst.values())
    print(f"worst: {worst:.1f} ms")
    return 0 if worst <= BUDGET_MS else 1


if __name__ == "__main__":
    sys.exit(main())
