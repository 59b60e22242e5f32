"""Knows: whether the running window grows. Must not know: how it is built.

``python -m tests.benchmarks.soak [--minutes 10]`` on a display (where there is none, in front of it ``xvfb-run -a -s
"-screen 0 1920x1200x24"``). The real window with the real sampler process and a scripted machine goes through its
pages, languages and themes, is hidden and shown, again and again; every half minute memory (PSS), Python objects,
threads, timers and open files of both processes are counted. The first fifth is warm-up. Ends with 1 when something
grows: memory by more than 4 MB between the first and the last third, or any count at all.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import subprocess
import sys
import time
from typing import Any

import psutil

SCENARIO = "two-gpus-training"
_STEP_S = 1.5
_COUNT_EVERY_S = 30.0
_MOST_MB = 4.0
#: Counts move by this much between two looks at a healthy program (a list of three more alerts).
_SLACK = {
    "objects": 400,
    "qobjects": 4,
    "threads": 0,
    "timers": 0,
    "files": 1,
    "sampler_threads": 0,
    "sampler_files": 0,
}


def main() -> int:
    """Drive the window and print a line for each count; 1 when it grows."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--minutes", type=float, default=10.0)
    parser.add_argument("--scenario", default=SCENARIO)
    parser.add_argument("--child", action="store_true")
    arguments = parser.parse_args()
    if arguments.child:
        return child(arguments.scenario)
    process = subprocess.Popen(
        [sys.executable, "-m", "tests.benchmarks.soak", "--child", "--scenario", arguments.scenario],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        env={**os.environ, "XDG_CONFIG_HOME": "/tmp/gpumon-soak", "XDG_DATA_HOME": "/tmp/gpumon-soak"},
    )
    counts = drive(process, arguments.minutes * 60)
    ask(process, "quit")
    code = process.wait(timeout=30)
    print(f"exit code {code}")
    return max(code, judge(counts))


def drive(process: subprocess.Popen[str], seconds: float) -> list[dict[str, float]]:
    """Walk through everything until the time is over; the counts."""
    pages: list[str] = ask(process, "pages")["pages"]
    walk = [f"page {page}" for page in pages]
    walk += [
        "language zh_CN",
        *walk,
        "language en",
        "scheme dark",
        *walk,
        "scheme light",
        "hide",
        "wait",
        "wait",
        "show",
    ]
    begin = time.monotonic()
    counted = begin
    counts: list[dict[str, float]] = []
    step = 0
    while time.monotonic() - begin < seconds:
        ask(process, walk[step % len(walk)])
        step += 1
        time.sleep(_STEP_S)
        if time.monotonic() - counted >= _COUNT_EVERY_S:
            counted = time.monotonic()
            found = {**ask(process, "count"), **outside(process.pid), "minute": (counted - begin) / 60}
            counts.append(found)
            print("  ".join(f"{name} {value:.1f}" for name, value in found.items()), flush=True)
    return counts


def ask(process: subprocess.Popen[str], word: str) -> dict[str, Any]:
    """Ask the window for something and wait for its answer."""
    assert process.stdin is not None
    assert process.stdout is not None
    process.stdin.write(word + "\n")
    process.stdin.flush()
    answer = process.stdout.readline()
    if not answer:
        raise SystemExit(f"the window ended at: {word}")
    found: dict[str, Any] = json.loads(answer)
    return found


def outside(pid: int) -> dict[str, float]:
    """What the operating system says of the window and its sampler."""
    window = psutil.Process(pid)
    sampler = window.children(recursive=True)
    return {
        "pss_mb": window.memory_full_info().pss / 1e6,
        "sampler_pss_mb": sum(one.memory_full_info().pss for one in sampler) / 1e6,
        "threads": window.num_threads(),
        "files": window.num_fds(),
        "sampler_threads": sum(one.num_threads() for one in sampler),
        "sampler_files": sum(one.num_fds() for one in sampler),
        "samplers": len(sampler),
    }


def judge(counts: list[dict[str, float]]) -> int:
    """Compare the first third after the warm-up with the last third."""
    rest = counts[len(counts) // 5 :]
    if len(rest) < 3:
        print("too short to judge")
        return 0
    third = max(1, len(rest) // 3)
    failed = 0
    for name in counts[0]:
        if name == "minute":
            continue
        first = statistics.median(count[name] for count in rest[:third])
        last = statistics.median(count[name] for count in rest[-third:])
        limit = _MOST_MB if name.endswith("_mb") else _SLACK.get(name, 0)
        grows = last - first > limit
        failed = max(failed, int(grows))
        print(f"{name:16} {first:10.1f} -> {last:10.1f}  {'GROWS' if grows else 'flat'}")
    return failed


def child(scenario: str) -> int:
    """The real window; does what it is told on stdin and answers with a line of JSON."""
    import gc

    from PySide6.QtCore import QObject, QSocketNotifier, QTimer
    from PySide6.QtWidgets import QApplication, QWidget

    from gpumon_gui.app import composition
    from gpumon_gui.app.arguments import parse
    from gpumon_gui.ui.theme import Scheme

    class Told(QObject):
        window: Any = None

        def asked(self) -> None:
            word, _space, rest = sys.stdin.readline().strip().partition(" ")
            answer: dict[str, Any] = {}
            if word == "pages":
                answer = {"pages": list(self.window.pages)}
            elif word == "page":
                self.window.show_page(rest)
            elif word == "language":
                self.window.set_language(rest)
            elif word == "scheme":
                self.window.set_scheme(Scheme(rest))
            elif word == "hide":
                self.window.hide()
            elif word == "show":
                self.window.show()
            elif word == "count":
                answer = self.count()
            print(json.dumps(answer), flush=True)
            if word in ("quit", ""):
                self.window.quit()

        @staticmethod
        def count() -> dict[str, float]:
            gc.collect()
            everything = gc.get_objects()
            return {
                "objects": len(everything),
                "qobjects": sum(isinstance(one, QObject) for one in everything),
                "timers": sum(isinstance(one, QTimer) and one.isActive() for one in everything),
                "widgets": len(QApplication.allWidgets()),
            }

    told = Told()
    parts: Any = composition
    made, started = parts.MainWindow, parts.make_live_origin
    notifier: list[QSocketNotifier] = []

    def make(*rest: object, **options: object) -> QWidget:
        told.window = made(*rest, **options)
        return told.window  # type: ignore[no-any-return]

    def origin(*rest: object) -> object:
        notifier.append(QSocketNotifier(sys.stdin.fileno(), QSocketNotifier.Type.Read))
        notifier[0].activated.connect(told.asked)
        return started(*rest)

    parts.MainWindow, parts.make_live_origin = make, origin
    return composition.run_window(parse(["--scenario", scenario]))


if __name__ == "__main__":
    sys.exit(main())
