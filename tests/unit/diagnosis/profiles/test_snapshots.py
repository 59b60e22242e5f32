"""Memory snapshots: who holds what, holes, and call sites that only grow; written by hand, added up by hand."""

from __future__ import annotations

import pickle
from pathlib import Path
from typing import Any

import pytest

from tests.unit.diagnosis.profiles.files import snapshot

MIB = 1 << 20


def frames(function: str, line: int = 7) -> list[dict[str, Any]]:
    """A stack as torch writes it: innermost first, its own files before the user's."""
    return [
        {"name": "forward", "filename": "/env/lib/python3.11/site-packages/torch/nn/linear.py", "line": 134},
        {"name": function, "filename": "/home/me/train.py", "line": line},
        {"name": "<module>", "filename": "/home/me/train.py", "line": 99},
    ]


def block(size: int, function: str = "") -> dict[str, Any]:
    if not function:
        return {"address": 1, "size": size, "requested_size": 0, "state": "inactive", "frames": []}
    return {"size": size, "requested_size": size, "state": "active_allocated", "frames": frames(function)}


def segment(*blocks: dict[str, Any], device: int = 0) -> dict[str, Any]:
    return {"device": device, "total_size": sum(one["size"] for one in blocks), "blocks": list(blocks)}


def write(path: Path, segments: list[Any], *traces: list[dict[str, Any]], protocol: int = 4) -> Path:
    path.write_bytes(pickle.dumps({"segments": segments, "device_traces": list(traces)}, protocol=protocol))
    return path


@pytest.mark.parametrize("protocol", [2, 4, 5])
def test_holes_and_whole_free_segments_are_told_apart(protocol: int, tmp_path: Path) -> None:
    segments = [
        segment(block(6 * MIB, "build"), block(8 * MIB), block(6 * MIB, "build")),
        segment(block(20 * MIB)),
        segment(block(4 * MIB, "embed"), device=1),
    ]
    found = snapshot(write(tmp_path / "a.pickle", segments, protocol=protocol))
    assert found["reserved_bytes"] == 44 * MIB
    assert found["allocated_bytes"] == 16 * MIB
    assert found["fragmented_bytes"] == 8 * MIB
    assert found["largest_hole_bytes"] == 8 * MIB
    assert found["releasable_bytes"] == 20 * MIB
    assert found["fragmented_share"] == pytest.approx(8 / 44)
    assert [device["index"] for device in found["devices"]] == [0, 1]
    assert found["live"] == [
        {"site": "build (/home/me/train.py:7)", "count": 2, "bytes": 12 * MIB},
        {"site": "embed (/home/me/train.py:7)", "count": 1, "bytes": 4 * MIB},
    ]


def steps(count: int, *, leaks: bool, frees: bool = True) -> list[dict[str, Any]]:
    """Parameters once, then per step activations that are freed, and perhaps a result that is kept."""
    build = frames("build_model", 3)
    record = [{"action": "alloc", "addr": 9000 + number, "size": MIB, "frames": build} for number in range(20)]
    address = 0
    kept, activation = frames("evaluate", 41), frames("step", 30)
    for _number in range(count):
        address += 10
        parts = [{"addr": address + part, "size": 2 * MIB, "frames": activation} for part in range(3)]
        record += [{"action": "alloc", **part} for part in parts]
        if leaks:
            record.append({"action": "alloc", "addr": address + 9, "size": MIB, "frames": kept})
        if frees:
            record += [{"action": action, **part} for part in parts for action in ("free_requested", "free_completed")]
    return record


def test_a_call_site_that_only_grows(tmp_path: Path) -> None:
    found = snapshot(write(tmp_path / "a.pickle", [segment(block(MIB, "x"))], steps(50, leaks=True)))
    assert found["growing"] == [
        {"site": "evaluate (/home/me/train.py:41)", "count": 50, "freed": 0, "bytes": 50 * MIB}
    ]  # fmt: skip
    assert found["freed_meanwhile"] is True


def test_parameters_and_what_is_given_back_do_not_grow(tmp_path: Path) -> None:
    found = snapshot(write(tmp_path / "a.pickle", [segment(block(MIB, "x"))], steps(50, leaks=False)))
    assert found["growing"] == []


def test_where_nothing_is_given_back_it_may_be_a_single_step(tmp_path: Path) -> None:
    found = snapshot(write(tmp_path / "a.pickle", [segment(block(MIB, "x"))], steps(50, leaks=True, frees=False)))
    assert found["growing"]
    assert found["freed_meanwhile"] is False


def test_a_failed_request(tmp_path: Path) -> None:
    record = [*steps(3, leaks=False), {"action": "oom", "size": 512 * MIB, "device_free": 3 * MIB, "frames": []}]
    found = snapshot(write(tmp_path / "a.pickle", [segment(block(MIB, "x"))], record))
    assert found["out_of_memory"] == {"count": 1, "requested_bytes": 512 * MIB, "device_free_bytes": 3 * MIB}


def test_an_old_snapshot_is_the_bare_list(tmp_path: Path) -> None:
    """torch 1.13 to 2.0."""
    old = {"size": MIB, "state": "active_allocated", "history": [{"addr": 1, "real_size": MIB, "frames": frames("f")}]}
    path = tmp_path / "a.pickle"
    path.write_bytes(pickle.dumps([segment(old)]))
    assert snapshot(path)["live"][0]["site"] == "f (/home/me/train.py:7)"


def test_fields_of_other_types_count_as_absent(tmp_path: Path) -> None:
    strange: list[Any] = [
        {"device": "x", "total_size": -5, "blocks": [None, 3, {"size": "big", "state": 7, "frames": "no"}]},
        {"blocks": {"a": 1}},
        {},
    ]
    found = snapshot(write(tmp_path / "a.pickle", strange, [None, {"action": ["alloc"], "size": None}]))  # type: ignore[list-item]
    assert found["reserved_bytes"] == 0
    assert "fragmented_share" not in found
