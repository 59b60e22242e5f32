"""What is read for who looks and who watches."""

from __future__ import annotations

import pytest

from gpumon_gui.ui.pages.table import PAGES
from gpumon_gui.ui.wanted_readings import WantedReadings

PERFORMANCE, PROCESSES, SETTINGS = (
    next(page for page in PAGES if page.name == name) for name in ("performance", "processes", "settings")
)


@pytest.mark.parametrize(
    ("interval_s", "shown_s", "hidden_s"), [(0.5, 0.5, 1.0), (1.0, 1.0, 1.0), (4.0, 4.0, 4.0), (None, 1.0, 1.0)]
)
def test_nobody_looks_so_it_is_read_no_faster_than_the_icon_needs(
    interval_s: float | None, shown_s: float, hidden_s: float
) -> None:
    wanted = WantedReadings(interval_s)
    assert wanted.demand(PERFORMANCE, on_screen=True).interval_s == shown_s
    assert wanted.demand(PERFORMANCE, on_screen=False).interval_s == hidden_s


def test_only_what_the_page_shows_is_read() -> None:
    wanted = WantedReadings(keep_awake=True)
    on, off = (wanted.demand(PROCESSES, on_screen=on_screen) for on_screen in (True, False))
    assert (on.processes, on.cpu_processes, on.keep_awake) == (True, True, True)
    assert (off.processes, off.cpu_processes, off.keep_awake) == (False, False, False)
    assert not wanted.demand(SETTINGS, on_screen=True).processes
    wanted.background_processes = True
    assert wanted.demand(SETTINGS, on_screen=False).processes


@pytest.mark.parametrize("on_screen", [True, False])
def test_a_watch_is_read_with_every_detail_at_its_own_pace(on_screen: bool) -> None:
    wanted = WantedReadings(4.0, pids=(7,), pids_interval_s=0.25)
    demand = wanted.demand(SETTINGS, on_screen=on_screen)
    assert (demand.interval_s, demand.details, demand.processes, demand.pids) == (0.25, True, True, (7,))
    assert 3.5 < wanted.least_gap_s(on_screen=on_screen) < 4.0  # the window keeps its own
    wanted.pids_interval_s = 5.0
    assert wanted.least_gap_s(on_screen=on_screen) == 0.0
