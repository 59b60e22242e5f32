"""The window over a sampler process of its own while drivers restart, counters vanish and the sampler is killed."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterator

import psutil
import pytest
from PySide6.QtCore import QTimer
from pytestqt.qtbot import QtBot

from gpumon_gui.app.origins import LiveOrigin
from gpumon_gui.bridge.feed import Feed, FeedState
from gpumon_gui.bridge.translation import Translation
from gpumon_gui.core.clock import SystemClock
from gpumon_gui.ui.main_window import MainWindow
from gpumon_gui.ui.pages.performance import PerformancePage
from gpumon_gui.ui.theme import Theme
from tests.windows.world import GEFORCE, GIB, INTEL, MIB, NVIDIA, World

ME = os.getpid()
CARD = "0x0:0xC7A5"
RTX = "NVIDIA GeForce RTX 4090"
PATIENCE_MS = 40_000
#: Wine on a loaded machine; the limit for the window is measured in tests/benchmarks/bench_gui_pause.py.
LONGEST_PAUSE_S = 1.0


class Screen:
    """The window as the program makes it, live."""

    def __init__(self, qtbot: QtBot) -> None:
        self.qtbot = qtbot
        self.feed = Feed()
        self.origin = LiveOrigin(self.feed, SystemClock(), None)
        self.theme = Theme()
        self.translation = Translation()
        self.window = MainWindow(self.feed, self.theme, self.translation, self.origin)
        self.window.show()
        self.origin.start()
        self.pauses: list[float] = []
        self._beat = time.monotonic()
        self.heart = QTimer()
        self.heart.timeout.connect(self._on_beat)
        self.heart.start(20)

    def _on_beat(self) -> None:
        now = time.monotonic()
        self.pauses.append(now - self._beat)
        self._beat = now

    @property
    def page(self) -> PerformancePage:
        (found,) = self.window.findChildren(PerformancePage)
        return found

    def until(self, condition: Callable[[], bool]) -> None:
        self.qtbot.waitUntil(condition, timeout=PATIENCE_MS)

    def until_said(self, words: str) -> None:
        self.until(lambda: words in self.page.banner.text or words in self.window.banner.text)

    def engine(self, name: str) -> str:
        """The figure of an engine's chart as a screen reader reads it."""
        names = [chart.accessibleName() for chart in self.page.engines.charts]
        return next((text for text in names if f" {name} " in text), "")

    def luids(self) -> list[int | None]:
        """Where the card is now."""
        assert self.feed.latest is not None
        return [info.luid for info in self.feed.latest.inventory if info.name == RTX]

    def sampler(self) -> psutil.Process:
        (found,) = [child for child in psutil.Process().children() if "--sampler-child" in child.cmdline()]
        return found

    def close(self) -> None:
        self.heart.stop()
        assert self.window.close_down()
        assert self.origin.close(10.0).is_over
        self.window.close()
        self.window.deleteLater()


@pytest.fixture
def screen(world: World, qtbot: QtBot) -> Iterator[Screen]:
    computing(world)
    made = Screen(qtbot)
    yield made
    made.close()
    for thing in (made.translation, made.theme, made.origin, made.feed):
        thing.deleteLater()


def computing(world: World, luid: str = CARD) -> None:
    world.nvidia(GEFORCE).windows({**NVIDIA, "luid": luid}, INTEL)
    world.counters.clear()
    world.faults.clear()
    world.engine(ME, luid, 3, "Cuda", 97).engine(4, luid, 0, "3D", 2)
    world.memory(luid, 7 * GIB, 128 * MIB).process(ME, luid, 6 * GIB).write()


def test_the_window_outlives_whatever_drivers_do(screen: Screen, world: World) -> None:
    screen.until(lambda: screen.engine("Cuda").endswith("97 percent"))
    texts = screen.page.numbers.texts() | screen.page.details.texts()
    assert texts["Dedicated GPU memory"] == "2.0 / 24.0 GB"
    assert texts["Shared GPU memory"] == "0.1 / 32.0 GB"
    assert texts["Driver model"] == "WDDM"
    assert texts["Hardware-accelerated GPU scheduling"] == "on"

    world.fault("missing GPU").fault("fail PdhCollectQueryData = 0xC0000BB8").write()
    screen.until_said("Run 'lodctr /R' in an administrator's command prompt, then restart.")
    computing(world)
    screen.until(lambda: screen.page.banner.text == "" and screen.engine("Cuda").endswith("97 percent"))

    screen.sampler().kill()
    screen.until_said("GPUMon's sampler ended unexpectedly")
    screen.until(lambda: screen.feed.status.state is FeedState.LIVE)

    computing(world, "0x0:0x51E6C1")  # the driver restarts: another LUID, the same card
    screen.until(lambda: screen.luids() == [0x51E6C1])
    screen.until(lambda: screen.engine("Cuda").endswith("97 percent") and screen.page.banner.text == "")
    assert max(screen.pauses[25:]) < LONGEST_PAUSE_S
