"""Profiles and snapshots from an H200 (``tests/gpu/make_profiles.py``, torch 2.11), each with one known fault.

``figures.json`` holds what torch itself counted in the same runs (``key_averages()``, its device events,
``memory_stats()``) and what the programs know of themselves (bytes copied, seconds waited, blocks kept).
"""

from __future__ import annotations

import json
from typing import Any

import pytest

from gpumon_gui.diagnosis.engine import diagnose
from gpumon_gui.diagnosis.profiles.collect import MAX_NAME_LENGTH
from gpumon_gui.diagnosis.profiles.read import read
from gpumon_gui.diagnosis.rules.table import RULES
from tests.unit.diagnosis.profiles.files import DATA, profile, snapshot

H200 = DATA / "h200"
FIGURES = json.loads((H200 / "figures.json").read_text(encoding="utf-8"))
TRACES = ("slow_loader", "conv_amp", "conv_fp32", "item_each_step", "copies")
#: What the program was written to suffer from; nothing else may be found.
CODES = {
    "slow_loader.json.gz": {"input-pipeline-bound"},
    "conv_amp.json.gz": set(),
    "conv_fp32.json.gz": {"mixed-precision-not-active"},
    # Its work is one large product in float32 per step.
    "item_each_step.json.gz": {"cpu-gpu-sync-each-step", "mixed-precision-not-active"},
    "copies.json.gz": {"host-to-device-transfer-bound"},
    "leak.pickle": {"gpu-memory-growing"},
    "fragments.pickle": {"oom-fragmentation"},
}


@pytest.mark.parametrize("name", CODES)
def test_the_fault_is_found_and_no_other(name: str) -> None:
    diagnosis = diagnose(read(H200 / name), RULES)
    assert not diagnosis.bugs
    assert {finding.code for finding in diagnosis.findings} == CODES[name]


@pytest.mark.parametrize("name", TRACES)
def test_operators_take_the_gpu_time_that_torch_counts(name: str) -> None:
    rows = {row["name"]: row["seconds"] for row in profile(H200 / f"{name}.json.gz")["operators"]}
    truth = {row["name"]: row["self_device_us"] / 1e6 for row in FIGURES[name]["operators"] if row["self_device_us"]}
    compared = [operator for operator in truth if operator.startswith("aten::") and operator != "aten::copy_"]
    assert len(compared) >= 2
    for operator in compared:
        if truth[operator] > 1e-4:
            assert rows[operator] == pytest.approx(truth[operator], rel=1e-3), operator


@pytest.mark.parametrize("name", TRACES)
def test_kernels_are_those_that_torch_lists(name: str) -> None:
    found = profile(H200 / f"{name}.json.gz")
    truth: dict[str, dict[str, Any]] = {
        row["name"][:MAX_NAME_LENGTH]: row for row in FIGURES[name]["device_events"] if "Memcpy" not in row["name"]
    }
    for row in found["kernels"][:10]:
        assert row["count"] == truth[row["name"]]["count"]
        assert row["seconds"] == pytest.approx(truth[row["name"]]["us"] / 1e6, rel=1e-4)
    # The trace covers what the program measured around it, apart from starting and stopping the profiler.
    assert found["duration_s"] == pytest.approx(FIGURES[name]["wall_s"], rel=0.02)
    assert found["damaged_event_count"] == 0


def test_the_time_in_the_data_loader_is_what_the_program_took() -> None:
    found, truth = profile(H200 / "slow_loader.json.gz"), FIGURES["slow_loader"]
    assert found["data_loader_share"] * found["duration_s"] == pytest.approx(truth["loader_wait_s"], rel=0.01)
    assert found["idle_while"]["data_loader"] == pytest.approx(truth["loader_wait_s"] / truth["wall_s"], rel=0.02)
    assert sum(gap["seconds"] > 0.05 for gap in found["gaps"]) == truth["steps"] - 2  # two batches were ready


def test_copies_are_those_that_the_program_made() -> None:
    found, truth = profile(H200 / "copies.json.gz"), FIGURES["copies"]
    rows = {row["direction"]: row for row in found["copies"]}
    assert rows["htod"]["bytes"] == truth["htod_bytes"]
    assert rows["dtoh"]["bytes"] == truth["dtoh_bytes"]
    assert rows["htod"]["count"] == truth["pageable_htod"] + truth["pinned_htod"]
    times = {row["name"]: row["us"] for row in truth["device_events"]}
    pageable = times["Memcpy HtoD (Pageable -> Device)"]
    share = pageable / (pageable + times["Memcpy HtoD (Pinned -> Device)"])
    assert rows["htod"]["pageable_share"] == pytest.approx(share, rel=1e-4)
    assert rows["dtoh"]["pageable_share"] == 1.0
    copied = sum(microseconds for name, microseconds in times.items() if "Memcpy" in name) / 1e6
    assert found["gpu_copy_share"] == pytest.approx(copied / truth["wall_s"], rel=0.01)


def test_mixed_precision_shows_in_the_kernels() -> None:
    half, single = profile(H200 / "conv_amp.json.gz"), profile(H200 / "conv_fp32.json.gz")
    assert half["heavy_tensor_core_share"] > 0.5
    assert single["heavy_tensor_core_share"] == 0  # TF32 was off
    assert half["gpu_busy_share"] > 0.8
    assert single["compute_capability"] == "9.0"
    assert single["devices"][0]["name"] == FIGURES["device"]


def test_each_value_that_was_fetched_is_counted() -> None:
    found, truth = profile(H200 / "item_each_step.json.gz"), FIGURES["item_each_step"]
    assert found["item_count"] == truth["items"]
    assert truth["items"] <= found["sync_count"] <= truth["items"] + 3  # the profiler waits too
    kernels = sum(row["us"] for row in truth["device_events"] if "#" not in row["name"] and "Memcpy" not in row["name"])
    assert found["gpu_busy_share"] == pytest.approx(kernels / 1e6 / truth["wall_s"], rel=0.01)


@pytest.mark.parametrize("name", ["leak", "fragments"])
def test_memory_is_what_the_allocator_says(name: str) -> None:
    found, truth = snapshot(H200 / f"{name}.pickle"), FIGURES[name]
    for key in ("allocated_bytes", "reserved_bytes", "requested_bytes"):
        assert found[key] == truth[key]
    assert found["fragmented_bytes"] + found["releasable_bytes"] == truth["reserved_bytes"] - truth["allocated_bytes"]
    assert found["fragmented_bytes"] == truth["inactive_split_bytes"]


def test_the_leak_is_named_by_its_line() -> None:
    found, truth = snapshot(H200 / "leak.pickle"), FIGURES["leak"]
    (leak,) = found["growing"]
    assert leak["site"].startswith(f"{truth['function']} (")
    assert leak["bytes"] == truth["steps"] * truth["kept_bytes_per_step"]
    assert leak["count"] == 2 * truth["kept"]  # the result, and the input that its gradient needs
    assert found["live"][0]["site"] == leak["site"]


def test_the_blocks_between_the_holes_are_found() -> None:
    found, truth = snapshot(H200 / "fragments.pickle"), FIGURES["fragments"]
    assert found["live"][0]["count"] == truth["kept_blocks"]
    assert found["live"][0]["bytes"] == truth["kept_blocks"] * truth["block_bytes"]
    assert found["growing"] == []
