"""Knows: whether the running window grows. Must not know: how it is built.

``python -m tests.benchmarks.soak [--minutes 10]`` on a display (where there is none, in front of it ``xvfb-run -a -s
"-screen 0 1920x1200x24"``). The real window with the real sampler process, a scripted machine and a history of its own
goes through its pages, languages and themes, opens and leaves the wizard, watches a program and lets go of it, shows
and hides the mini monitor, is hidden and shown, again and again. At the end of each round own memory (no pages of
files), Python objects, threads, timers and open files of both processes are counted. The first
fifth is warm-up. Ends with 1 when something grows: memory by more than 4 MB between the first and the last third, or
any count at all.
"""

from __future__ import annotations

import argparse
import dataclasses
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections import Counter
from typing import Any

import psutil

SCENARIO = "one-gpu-training"
_STEP_S = 1.5
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
    with tempfile.TemporaryDirectory(prefix="gpumon-soak-") as place:
        process = subprocess.Popen(
            [sys.executable, "-m", "tests.benchmarks.soak", "--child", "--scenario", arguments.scenario],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            env={**os.environ, "XDG_CONFIG_HOME": place, "XDG_DATA_HOME": place, "XDG_STATE_HOME": place},
        )
        counts, kinds = drive(process, arguments.minutes * 60)
        ask(process, "quit")
        code = process.wait(timeout=30)
    print(f"exit code {code}")
    grown = judge(counts)
    if grown:
        more = {name: count - kinds[0].get(name, 0) for name, count in kinds[1].items()}
        print("more of", {name: count for name, count in more.items() if count > 0})
    return max(code, grown)


_Kinds = dict[str, int]


def drive(process: subprocess.Popen[str], seconds: float) -> tuple[list[dict[str, float]], tuple[_Kinds, _Kinds]]:
    """Walk through everything until the time is over; the counts, and the kinds of Qt objects after the warm-up and
    at the end."""
    pages: list[str] = ask(process, "pages")["pages"]
    walk = [f"page {page}" for page in pages]
    walk += [
        "language zh_CN",
        *walk,
        "mini",
        "wizard",
        "language en",
        "leave wizard",
        "mini",
        "watch",
        "scheme dark",
        *walk,
        "scheme light",
        "page performance",
        "wait",
        "unwatch",
        "hide",
        "mini",
        "wait",
        "mini",
        "wait",
        "show",
    ]
    begin = time.monotonic()
    counts: list[dict[str, float]] = []
    kinds: _Kinds = {}
    while time.monotonic() - begin < seconds:
        for word in walk:
            ask(process, word)
            time.sleep(_STEP_S)
        found = {**ask(process, "count"), **outside(process.pid), "minute": (time.monotonic() - begin) / 60}
        counts.append(found)
        print("  ".join(f"{name} {value:.1f}" for name, value in found.items()), flush=True)
        if not kinds and time.monotonic() - begin > seconds / 5:
            kinds = ask(process, "kinds")
    return counts, (kinds, ask(process, "kinds"))


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
        "memory_mb": _own_mb(window),
        "sampler_memory_mb": sum(map(_own_mb, sampler)),
        "threads": window.num_threads(),
        "files": window.num_fds(),
        "sampler_threads": sum(one.num_threads() for one in sampler),
        "sampler_files": sum(one.num_fds() for one in sampler),
        "samplers": len(sampler),
    }


def _own_mb(process: psutil.Process) -> float:
    """Without pages of files: those of libraries are shared or not as other programs come and go."""
    memory = process.memory_info()
    return float(memory.rss - memory.shared) / 1e6


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
    from PySide6.QtWidgets import QApplication

    from gpumon_gui.app import composition
    from gpumon_gui.app.arguments import parse
    from gpumon_gui.bridge.watching import Program, can_be_watched
    from gpumon_gui.ui.theme import Scheme

    class Told(QObject):
        window: Any = None
        desktop: Any = None
        watches: Any = None
        feed: Any = None

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
            elif word == "wizard":
                self.window.show_page("diagnostics")
                self.window.pages["diagnostics"].run()
            elif word == "leave":
                self.window.pages["diagnostics"].show_overview()
            elif word == "mini":
                self.desktop.mini.toggle()
            elif word == "watch":
                sample = self.feed.latest
                self.watches.watch(next(Program.of(one) for one in sample.processes if can_be_watched(one)))
            elif word == "unwatch":
                for one in self.watches.watching.watched:
                    self.watches.watching.stop(one.program)
            elif word == "count":
                answer = self.count()
            elif word == "kinds":
                answer = Counter(type(one).__name__ for one in gc.get_objects() if isinstance(one, QObject))
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
    notifier: list[QSocketNotifier] = []
    parts: Any = composition
    started, kept = parts.make_live_origin, parts.Keeping

    def noted(name: str, made: Any) -> None:
        def make(*rest: object, **options: object) -> Any:
            setattr(told, name, made(*rest, **options))
            return getattr(told, name)

        setattr(parts, made.__name__, make)

    def origin(scenario: str, feed: Any, *rest: object) -> object:
        told.feed = feed
        notifier.append(QSocketNotifier(sys.stdin.fileno(), QSocketNotifier.Type.Read))
        notifier[0].activated.connect(told.asked)
        return started(scenario, feed, *rest)

    for name, made in (("window", parts.MainWindow), ("desktop", parts.Desktop), ("watches", parts.Watches)):
        noted(name, made)
    parts.make_live_origin = origin
    # A scripted machine has no history otherwise.
    parts.Keeping = lambda window, feed, settings, arguments: kept(
        window, feed, settings, dataclasses.replace(arguments, scenario=None)
    )
    return composition.run_window(parse(["--scenario", scenario]))


if __name__ == "__main__":
    sys.exit(main())
