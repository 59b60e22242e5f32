"""How long chart refreshes take, against the budgets: one chart ≤ 2.5 ms, eight GPUs on screen ≤ 50 ms.

Run: ``python tests/benchmarks/bench_charts.py [--rounds N]``. Software rendering (Qt's offscreen platform unless
QT_QPA_PLATFORM says otherwise). A refresh is new data set and painted.
"""

from __future__ import annotations

import argparse
import os
import statistics
import sys
import time
from pathlib import Path

os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")

import numpy as np
from PySide6.QtWidgets import QApplication, QGridLayout, QWidget

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from gpumon_gui.bridge.feed import Feed
from gpumon_gui.ui.charts.bands import Band, BandStyle
from gpumon_gui.ui.charts.time_chart import TimeChart
from gpumon_gui.ui.pages.performance import PerformancePage
from gpumon_gui.ui.theme import Theme
from tests.qt.samples import make_sample

CHART_BUDGET_MS = 2.5
EIGHT_BUDGET_MS = 50.0
CHARTS_PER_GPU = 6


def charts(theme: Theme, count: int, width: int, height: int) -> tuple[QWidget, list[TimeChart]]:
    window = QWidget()
    grid = QGridLayout(window)
    made = [TimeChart(theme) for _ in range(count)]
    per_row = max(1, round(count**0.5))
    for n, chart in enumerate(made):
        grid.addWidget(chart, n // per_row, n % per_row)
    window.resize(width, height)
    window.show()
    return window, made


def marks(style: BandStyle) -> tuple[Band, ...]:
    """What was judged, and ten pauses of a finding in it."""
    parts = [Band(start, start + 2.5, "The GPU waits", "attention", style) for start in range(10, 60, 5)]
    return (Band(5.0, 60.0, "judged", "info", BandStyle.JUDGED), *parts)


def measure(made: list[TimeChart], rounds: int, points: int, span_s: float) -> float:
    """Median milliseconds to give every chart new data and paint it."""
    app = QApplication.instance()
    assert app is not None
    rng = np.random.default_rng(7)
    times = np.linspace(0.0, span_s, points)
    values = rng.random((4, points))
    values[:, points // 3 : points // 3 + 4] = np.nan
    for chart in made:
        chart.set_span(span_s)
    took: list[float] = []
    for number in range(rounds):
        start = time.perf_counter()
        for n, chart in enumerate(made):
            chart.set_data(times, values[(n + number) % 4], span_s, span_s)
            chart.set_texts("Compute", f"{number % 100} %", "")
        app.processEvents()
        took.append((time.perf_counter() - start) * 1000)
    return statistics.median(took[2:])


def page_refresh(gpus: int, rounds: int) -> float:
    """Median milliseconds from a new sample to a painted Performance page with 10 minutes of past."""
    app = QApplication.instance()
    assert app is not None
    feed = Feed()
    rng = np.random.default_rng(7)
    for number in range(600):
        feed.store(make_sample(number, gpus=gpus, compute=float(rng.random())))
    page = PerformancePage(feed, Theme())
    page.resize(1280, 900)
    page.show()
    app.processEvents()
    took: list[float] = []
    for number in range(600, 600 + rounds):
        sample = make_sample(number, gpus=gpus, compute=float(rng.random()))
        start = time.perf_counter()
        feed.push(sample)
        page.refresh()
        app.processEvents()
        took.append((time.perf_counter() - start) * 1000)
    page.close()
    return statistics.median(took[2:])


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=30)
    rounds = parser.parse_args().rounds
    app = QApplication.instance() or QApplication([])
    assert isinstance(app, QApplication)
    theme = Theme()
    theme.apply(app)
    rows: list[tuple[str, float, float]] = []
    for name, points, span_s in (("60 s, 1 Hz", 61, 60.0), ("5 min, 2 Hz", 600, 300.0), ("1 h, 2 Hz", 7200, 3600.0)):
        window, made = charts(theme, 1, 500, 260)
        app.processEvents()
        rows.append((f"one chart, {name}", measure(made, rounds, points, span_s), CHART_BUDGET_MS))
        window.close()
    window, made = charts(theme, 1, 500, 260)
    app.processEvents()
    for name, style in (("a finding", BandStyle.FINDING), ("a chosen finding", BandStyle.CHOSEN)):
        made[0].set_bands(marks(style))
        rows.append((f"one chart, 60 s, {name} marked", measure(made, rounds, 61, 60.0), CHART_BUDGET_MS))
    window.close()
    window, made = charts(theme, 8 * CHARTS_PER_GPU, 1920, 1200)
    app.processEvents()
    rows.append(("8 GPUs x 6 charts, 60 s, 1 Hz", measure(made, rounds, 61, 60.0), EIGHT_BUDGET_MS))
    rows.append(("8 GPUs x 6 charts, 5 min, 2 Hz", measure(made, rounds, 600, 300.0), EIGHT_BUDGET_MS))
    window.close()
    rows += [(f"Performance page, {gpus} GPUs", page_refresh(gpus, rounds), EIGHT_BUDGET_MS) for gpus in (1, 8, 16)]
    print(f"{'what':36} {'ms':>8} {'budget':>8} {'ratio':>7}")
    for name, took_ms, budget in rows:
        print(f"{name:36} {took_ms:8.2f} {budget:8.1f} {took_ms / budget:7.2f}")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
