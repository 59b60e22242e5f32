"""Knows: what the window costs. Must not know: how it is built.

``python -m tests.benchmarks.bench_window [--seconds 20]`` on a display; where there is none, in front of it
``xvfb-run -a -s "-screen 0 1920x1200x24"``. Starts the real window with a scripted machine in the real sampler process
and prints, with the ratio to the budget: start to the first painted sample, CPU while the Performance page is visible
and while the window is hidden, memory (PSS of both processes) above a bare PySide6 + pyqtgraph window, and how long the
GUI thread is held up by the first visit of each page. Software rendering, no GPU needed.

Measure on a quiet machine: pages of Qt's libraries are shared out among all who use them, so another program with Qt
makes the part "of files" smaller, and not by the same amount for both windows.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import psutil

SCENARIO = "one-gpu-training"


def main() -> int:
    """Print the figures."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--seconds", type=float, default=20.0)
    parser.add_argument("--child", choices=("window", "bare"))
    arguments = parser.parse_args()
    if arguments.child == "window":
        return window_child()
    if arguments.child == "bare":
        return bare_child()
    with tempfile.TemporaryDirectory() as folder:
        for name in ("CONFIG_HOME", "DATA_HOME", "STATE_HOME", "RUNTIME_DIR"):
            place = Path(folder, name)
            place.mkdir(mode=0o700)
            os.environ[f"XDG_{name}"] = str(place)
        starts = [start_s() for _ in range(3)]
        line("start to first painted sample", min(starts), 1.5, "s")
        bare = measure_bare()
        measure_window(arguments.seconds, bare)
    return 0


def line(name: str, value: float, budget: float, unit: str) -> None:
    """One figure."""
    print(f"{name:42} {value:8.2f} {unit:4} budget {budget:6.2f}  x {value / budget:.2f}", flush=True)


def spawn(child: str) -> subprocess.Popen[str]:
    """The child process that opens a window and tells what happened on its stdout."""
    return subprocess.Popen(
        [sys.executable, "-m", "tests.benchmarks.bench_window", "--child", child],
        stdout=subprocess.PIPE,
        stdin=subprocess.PIPE,
        text=True,
        env={**os.environ, "GPUMON_BENCH_START": repr(time.monotonic())},
    )


def expect(process: subprocess.Popen[str], word: str) -> str:
    """The rest of the line that begins with a word."""
    assert process.stdout is not None
    for text in process.stdout:
        if text.startswith(word):
            return text.removeprefix(word).strip()
    raise SystemExit(f"the window ended before it said {word}")


def tell(process: subprocess.Popen[str], word: str) -> None:
    """Ask the child for something."""
    assert process.stdin is not None
    process.stdin.write(word + "\n")
    process.stdin.flush()


def start_s() -> float:
    """From the start of the process to the first chart painted with a sample."""
    process = spawn("window")
    seconds = float(expect(process, "painted"))
    tell(process, "quit")
    process.wait()
    return seconds


def family(pid: int) -> list[psutil.Process]:
    """A process and its children."""
    parent = psutil.Process(pid)
    return [parent, *parent.children(recursive=True)]


def pss_mb(pid: int) -> tuple[float, float]:
    """Proportional memory of a process, megabytes: in all, and what of it are pages of files."""
    found = {}
    for text in Path(f"/proc/{pid}/smaps_rollup").read_text("ascii").splitlines()[1:]:
        name, number, _unit = text.split()
        found[name] = int(number) * 1024 / 1e6
    return found["Pss:"], found["Pss_File:"]


def cpu_percent(pid: int, seconds: float) -> tuple[float, float]:
    """CPU of the window and of its sampler over some time, percent of a core."""
    members = family(pid)
    before = [sum(process.cpu_times()[:2]) for process in members]
    start = time.monotonic()
    time.sleep(seconds)
    elapsed = time.monotonic() - start
    shares = [
        (sum(process.cpu_times()[:2]) - then) / elapsed * 100 for process, then in zip(members, before, strict=True)
    ]
    return shares[0], sum(shares[1:])


def measure_bare() -> float:
    """Memory of a window with one empty plot."""
    process = spawn("bare")
    expect(process, "shown")
    memory, of_files = pss_mb(process.pid)
    tell(process, "quit")
    process.wait()
    print(f"{'bare PySide6 + pyqtgraph window':42} {memory:8.2f} MB   (of files {of_files:.1f})")
    return memory


def measure_window(seconds: float, bare_mb: float) -> None:
    """CPU and memory of the running window."""
    process = spawn("window")
    expect(process, "painted")
    time.sleep(5.0)
    window, sampler = cpu_percent(process.pid, seconds)
    line("CPU, Performance page visible, 1 Hz", window, 3.0, "%")
    print(f"{'  its sampler process':42} {sampler:8.2f} %    (scripted machine: the script costs more than NVML)")
    parts = [pss_mb(member.pid) for member in family(process.pid)]
    line("memory above the bare window (PSS)", sum(whole for whole, _of_files in parts) - bare_mb, 60.0, "MB")
    for name, (whole, of_files) in zip(("window", "its sampler process"), parts, strict=True):
        print(f"  {name:40} {whole:8.2f} MB   (of files {of_files:.1f})")
    tell(process, "hide")
    expect(process, "hidden")
    time.sleep(2.0)
    window, sampler = cpu_percent(process.pid, seconds)
    line("CPU, hidden", window, 0.5, "%")
    tell(process, "show")
    pauses = [part.split("=") for part in expect(process, "visited").split()]
    name, longest = max(pauses, key=lambda pause: float(pause[1]))
    line(f"longest pause in a first visit ({name})", float(longest), 50.0, "ms")
    tell(process, "quit")
    process.wait()


def window_child(arguments: Sequence[str] = ("--scenario", SCENARIO)) -> int:
    """The real window, with a watch on its first paint and on what is asked on stdin."""
    from PySide6.QtCore import QEvent, QObject, QSocketNotifier, QTimer
    from PySide6.QtWidgets import QApplication, QGraphicsView, QWidget

    from gpumon_gui.app import composition
    from gpumon_gui.app.arguments import parse
    from gpumon_gui.bridge.feed import Feed

    begin = float(os.environ["GPUMON_BENCH_START"])

    class Watch(QObject):
        """Sees paints of charts once a sample is there."""

        feed: Feed | None = None
        window: QWidget | None = None
        told = False

        def eventFilter(self, watched: QObject, event: QEvent) -> bool:
            if event.type() is QEvent.Type.Paint and not self.told and self.feed is not None and self.feed.latest:
                view = watched.parent()
                if isinstance(view, QGraphicsView) and view.window() is self.window:
                    self.told = True
                    QTimer.singleShot(0, self.say)
            return False

        def say(self) -> None:
            QApplication.instance().removeEventFilter(self)  # type: ignore[union-attr]  # it costs more than the window
            print("painted", time.monotonic() - begin, flush=True)

        def visit(self) -> None:
            """Bring every page on show: what that and the next turn of the event loop cost; other programs do not
            count."""
            window: Any = self.window
            pauses = []
            for name in window.pages:
                for step in (lambda name=name: window.show_page(name), QApplication.processEvents):
                    start = time.thread_time()
                    step()
                    pauses.append(f"{name}={1000 * (time.thread_time() - start):.1f}")
            print("visited", *pauses, flush=True)

        def asked(self) -> None:
            word = sys.stdin.readline().strip()
            assert self.window is not None
            if word == "hide":
                self.window.hide()
                print("hidden", flush=True)
            elif word == "show":
                self.window.show()
                QTimer.singleShot(1000, self.visit)
            elif word in ("quit", ""):
                self.window.close()

    watch = Watch()
    parts: Any = composition
    made = parts.MainWindow

    def make(feed: Feed, *rest: object, **options: object) -> QWidget:
        watch.feed, watch.window = feed, made(feed, *rest, **options)
        QApplication.instance().installEventFilter(watch)  # type: ignore[union-attr]
        assert watch.window is not None
        return watch.window

    parts.MainWindow = make
    notifier: list[QSocketNotifier] = []

    def listen() -> None:
        notifier.append(QSocketNotifier(sys.stdin.fileno(), QSocketNotifier.Type.Read))
        notifier[0].activated.connect(watch.asked)

    started = parts.make_live_origin

    def origin(*rest: object) -> object:
        listen()
        return started(*rest)

    parts.make_live_origin = origin
    return composition.run_window(parse(list(arguments)))


def bare_child() -> int:
    """A window with one empty plot: what PySide6 and pyqtgraph cost without GPUMon."""
    os.environ["PYQTGRAPH_QT_LIB"] = "PySide6"
    import pyqtgraph
    from PySide6.QtCore import QTimer
    from PySide6.QtWidgets import QApplication, QMainWindow

    app = QApplication([])
    window = QMainWindow()
    window.setCentralWidget(pyqtgraph.PlotWidget())
    window.resize(1280, 800)
    window.show()
    QTimer.singleShot(1500, lambda: print("shown", flush=True))
    from PySide6.QtCore import QSocketNotifier

    notifier = QSocketNotifier(sys.stdin.fileno(), QSocketNotifier.Type.Read)
    notifier.activated.connect(app.quit)
    return app.exec()


if __name__ == "__main__":
    sys.exit(main())
