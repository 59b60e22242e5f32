"""What the tests over the stand-in DLLs share. They run by Windows Python in the lab only (packaging/stages.py)."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from gpumon_gui.cli import document
from gpumon_gui.core.clock import FakeClock
from gpumon_gui.core.model import Demand, Sample
from gpumon_gui.telemetry.derive.process_state import StateTracker
from gpumon_gui.telemetry.table import build_sampler
from tests.unit import seen
from tests.windows.world import World

ROOT = Path(__file__).resolve().parents[2]


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Elsewhere there are no such DLLs."""
    if sys.platform != "win32" or "GPUMON_WORLD" not in os.environ:
        for item in items:
            if "windows" in item.path.parts:
                item.add_marker(pytest.mark.skip(reason="needs Windows Python and the stand-in DLLs of the lab"))


@pytest.fixture
def world() -> Iterator[World]:
    """A machine without anything; nothing is left of it afterwards."""
    path = Path(os.environ["GPUMON_WORLD"])
    path.unlink(missing_ok=True)
    yield World(path)
    path.unlink(missing_ok=True)
    World(path).write()


@dataclass
class Watch:
    """The real sources, loaded as the program loads them, in this process; a test's clock."""

    clock: FakeClock = field(default_factory=FakeClock)

    def __post_init__(self) -> None:
        self.sampler = build_sampler(clock=self.clock)
        self.tracker = StateTracker()
        self.lines: list[str] = []
        self.sample: Sample | None = None

    def sweep(self, times: int = 1) -> Watch:
        """Look so many times, with a second between."""
        for _ in range(times):
            self.clock.advance(2.0)
            self.sample = self.sampler.sweep(Demand())
            self.lines = seen.lines(self.sample, self.tracker)
        return self

    @property
    def text(self) -> str:
        """What the user sees of the last sample."""
        return "\n".join(self.lines)

    @property
    def exported(self) -> dict[str, Any]:
        """The last sample as ``snapshot --json`` writes it."""
        assert self.sample is not None
        return as_json(document.dump(self.sample))


@pytest.fixture
def watch(world: World) -> Iterator[Watch]:
    """Someone who looks."""
    made = Watch()
    yield made
    made.sampler.close()


def as_json(text: str) -> dict[str, Any]:
    """An exported document."""
    found: dict[str, Any] = json.loads(text)
    return found


def device(exported: dict[str, Any], name: str) -> dict[str, Any]:
    """The exported device of that name."""
    (found,) = [one for one in exported["devices"] if one["name"] == name]
    result: dict[str, Any] = found
    return result


def metric(exported: dict[str, Any], name: str, metric_id: str) -> Any:
    """A device's value, or the reason why there is none in brackets."""
    return plain(device(exported, name)["metrics"][metric_id])


def plain(value: dict[str, Any]) -> Any:
    """A value, or the reason why there is none."""
    return value["value"] if value["value"] is not None else f"[{value['missing']}]"


def engines(exported: dict[str, Any], name: str) -> dict[str, Any]:
    """Engine number and name → value or reason."""
    found = device(exported, name)["engines"]
    return {f"{engine['id'].rpartition('_')[2]} {engine['name']}": plain(engine["utilization"]) for engine in found}


def use(exported: dict[str, Any], pid: int) -> dict[str, Any]:
    """Metric → value or reason of a process on its only device."""
    (process,) = [one for one in exported["processes"] if one["pid"] == pid]
    (only,) = process["uses"]
    return {name: plain(value) for name, value in only["metrics"].items()}


def health(watch: Watch, name: str) -> dict[str, Any]:
    """How a source is doing, as exported."""
    (found,) = [one for one in watch.exported["sources"] if one["name"] == name]
    result: dict[str, Any] = found
    return result


def gpumon(*words: str, timeout: float = 60, cwd: Path = ROOT, **changes: str) -> subprocess.CompletedProcess[str]:
    """Run the command line as a user does."""
    return subprocess.run(
        [sys.executable, "-m", "gpumon_gui", *words],
        capture_output=True,
        text=True,
        encoding="utf-8",
        timeout=timeout,
        env={**os.environ, **changes},
        cwd=cwd,
        check=False,
    )


def snapshot(**options: Any) -> dict[str, Any]:
    """What ``gpumon snapshot --json`` prints; "stderr" is added."""
    done = gpumon("snapshot", "--json", **options)
    assert done.returncode == 0, done.stderr
    return {**as_json(done.stdout), "stderr": done.stderr}
