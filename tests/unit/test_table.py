"""The sources a sampler is built from, and the ones it leaves out."""

from __future__ import annotations

import subprocess
import sys

import pytest

from gpumon_gui.core.clock import FakeClock
from gpumon_gui.core.model import Demand
from gpumon_gui.telemetry.synthetic.names import UnknownScenario
from gpumon_gui.telemetry.table import SOURCES, build_sampler


def test_every_source_of_this_system_is_in_the_health() -> None:
    expected = [make().name for platforms, make in SOURCES if sys.platform in platforms]
    sampler = build_sampler(clock=FakeClock())
    try:
        health = sampler.sweep(Demand()).health
    finally:
        sampler.close()
    assert [entry.name for entry in health] == [*expected, "host"]


@pytest.mark.parametrize(
    ("platform", "names"), [("linux", ["nvml", "drm"]), ("win32", ["nvml", "dxgi", "pdh"]), ("darwin", [])]
)
def test_each_system_has_the_sources_that_work_on_it(platform: str, names: list[str]) -> None:
    assert [make().name for platforms, make in SOURCES if platform in platforms] == names


@pytest.mark.skipif(sys.platform != "linux", reason="what a sampler loads on Linux")
def test_the_sampler_loads_nothing_that_it_does_not_need() -> None:
    """Each of these costs a megabyte of every user's memory, or comes with one that does."""
    script = (
        "import sys; from gpumon_gui.telemetry import child; from gpumon_gui.telemetry.table import build_sampler\n"
        "from gpumon_gui.core.clock import SystemClock; from gpumon_gui.core.model import Demand\n"
        "sampler = build_sampler(clock=SystemClock()); sampler.sweep(Demand()); sampler.close()\n"
        "print(*sys.modules)"
    )
    loaded = subprocess.check_output([sys.executable, "-c", script], text=True).split()
    unwanted = ("PySide6", "numpy", "psutil", "pynvml", "tempfile", "logging", "subprocess", "sqlite3", "hashlib")
    assert not [name for name in loaded if name in unwanted]
    assert not [name for name in loaded if name.startswith(("gpumon_gui.telemetry.dxgi", "gpumon_gui.telemetry.pdh"))]


def test_a_source_left_out_leaves_the_others() -> None:
    sampler = build_sampler(scenario="one-gpu-training", skip=frozenset({"nvml"}), clock=FakeClock())
    try:
        sample = sampler.sweep(Demand())
    finally:
        sampler.close()
    assert sample.inventory == ()
    assert sample.host.values


def test_without_the_host_the_gpus_and_their_pids_stay() -> None:
    sampler = build_sampler(scenario="one-gpu-training", skip=frozenset({"host"}), clock=FakeClock())
    try:
        sample = sampler.sweep(Demand())
    finally:
        sampler.close()
    assert len(sample.devices) == 1
    assert sample.processes
    assert all(process.uses and not process.name for process in sample.processes)
    assert sample.host.values == {}


def test_an_unknown_scenario_is_refused_with_the_names_there_are() -> None:
    with pytest.raises(UnknownScenario, match="one-gpu-training"):
        build_sampler(scenario="nonsense", clock=FakeClock())
