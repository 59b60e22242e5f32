"""Profiles of real programs against what PyTorch and TensorFlow themselves count in them.

``cpu/`` is from ``tests/gpu/make_profiles.py`` without a GPU (``figures.json``: torch's own ``key_averages()``).
``tensorflow/*.figures.json`` is what TensorFlow's own protobuf classes read in the same files.
"""

from __future__ import annotations

import gzip
import json
from pathlib import Path
from typing import Any

import pytest

from tests.unit.diagnosis.profiles.files import DATA, profile, snapshot

CPU = json.loads((DATA / "cpu" / "figures.json").read_text(encoding="utf-8"))


@pytest.mark.parametrize("name", ["slow_loader", "item_each_step"])
def test_operators_by_the_cpu_s_own_time_as_torch_counts_them(name: str) -> None:
    found = profile(DATA / "cpu" / f"{name}.json.gz")
    truth = {row["name"]: row for row in CPU[name]["operators"]}
    assert found["framework"] == "torch"
    assert found["operators_by"] == "cpu"
    assert found["kernel_count"] == 0
    rows = [row for row in found["operators"] if row["name"] in truth]
    assert len(rows) >= 10
    for row in rows[:8]:
        assert row["count"] == truth[row["name"]]["count"]
        assert row["seconds"] == pytest.approx(truth[row["name"]]["self_cpu_us"] / 1e6, rel=0.02, abs=2e-5)


def test_the_time_in_the_data_loader_as_the_program_took_it() -> None:
    found = profile(DATA / "cpu" / "slow_loader.json.gz")
    assert found["duration_s"] == pytest.approx(CPU["slow_loader"]["wall_s"], rel=0.1)
    waited = found["data_loader_share"] * found["duration_s"]
    assert waited == pytest.approx(CPU["slow_loader"]["loader_wait_s"], abs=8 * 1.5e-3)  # 8 steps


def test_values_fetched_each_step() -> None:
    assert profile(DATA / "cpu" / "item_each_step.json.gz")["item_count"] == CPU["item_each_step"]["items"]


@pytest.mark.parametrize("version", ["2.10", "2.21"])
def test_xplane_as_tensorflow_reads_it(version: str) -> None:
    truth = json.loads((DATA / "tensorflow" / f"tf-{version}.figures.json").read_text(encoding="utf-8"))
    found = profile(DATA / "tensorflow" / f"tf-{version}.xplane.pb")
    assert (found["format"], found["framework"]) == ("xplane", "tensorflow")
    assert found["event_count"] == truth["events"]
    assert found["step_count"] == 10
    _same_operators(found["operators"], truth["operators"])


def test_the_trace_of_the_same_run() -> None:
    """TensorFlow 2.10 converted its xplane.pb itself; both tell the same."""
    truth = json.loads((DATA / "tensorflow" / "tf-2.10.figures.json").read_text(encoding="utf-8"))
    found = profile(DATA / "tensorflow" / "tf-2.10.trace.json.gz")
    assert (found["format"], found["framework"], found["step_count"]) == ("trace-viewer", "tensorflow", 10)
    _same_operators(found["operators"], truth["operators"])


def test_all_kinds_may_be_compressed(tmp_path: Path) -> None:
    path = tmp_path / "a.gz"
    path.write_bytes(gzip.compress((DATA / "tensorflow" / "tf-2.21.xplane.pb").read_bytes()))
    assert profile(path)["step_count"] == 10
    path.write_bytes(gzip.compress((DATA / "h200" / "leak.pickle").read_bytes()))
    assert len(snapshot(path)["growing"]) == 1


def test_jax_writes_the_same_files() -> None:
    found = profile(DATA / "tensorflow" / "jax.xplane.pb")
    assert (found["framework"], found["step_count"]) == ("jax", 10)


def _same_operators(rows: list[dict[str, Any]], truth: dict[str, dict[str, float]]) -> None:
    own = {row["name"]: row for row in rows}
    assert len(truth) >= 5
    for name, numbers in truth.items():
        assert own[name]["count"] == numbers["count"]
        assert own[name]["seconds"] == pytest.approx(numbers["seconds"], rel=0.01)


def test_a_file_is_known_by_its_content(tmp_path: Path) -> None:
    for source, kind in (("tensorflow/tf-2.21.xplane.pb", "xplane"), ("cpu/item_each_step.json.gz", "kineto")):
        path = tmp_path / "download"
        path.write_bytes((DATA / source).read_bytes())
        assert profile(path)["format"] == kind
