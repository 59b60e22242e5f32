"""Knows: how the tests write small profiles. Must not know: what is read from them."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from gpumon_gui.diagnosis.profiles.read import read

DATA = Path(__file__).resolve().parents[3] / "data" / "profiles"


def event(category: str, name: str, start: float, length: float, **args: Any) -> dict[str, Any]:
    """One complete event of Kineto; CPU events are of one thread, GPU events of the device in ``args``."""
    on_gpu = category in ("kernel", "gpu_memcpy", "gpu_memset")
    pid = args.get("device", 0) if on_gpu else 100
    return {
        "ph": "X", "cat": category, "name": name, "pid": pid, "tid": 7, "ts": start, "dur": length, "args": args,
    }  # fmt: skip


def write(path: Path, events: Iterable[Mapping[str, Any]], **header: Any) -> Path:
    """A trace as Kineto writes it."""
    path.write_text(json.dumps({"schemaVersion": 1, **header, "traceEvents": list(events)}), encoding="utf-8")
    return path


def profile(path: Path) -> Mapping[str, Any]:
    """The facts of a trace."""
    found: Mapping[str, Any] = read(path).facts["profile"]
    return found


def snapshot(path: Path) -> Mapping[str, Any]:
    """The facts of a memory snapshot."""
    found: Mapping[str, Any] = read(path).facts["memory_snapshot"]
    return found
