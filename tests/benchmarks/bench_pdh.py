"""Time to read, parse and aggregate 1,200 GPU Engine instances. Budget: 3 ms (parse and aggregate).

Run: ``python tests/benchmarks/bench_pdh.py``. The array comes out of a stand-in buffer laid out as pdh.dll does it. By
Windows Python with the stand-in DLLs of tests/windows the whole way through pdh.dll is measured too (the C side's time
is that of the stand-in, not of Windows).
"""

from __future__ import annotations

import ctypes
import os
import statistics
import struct
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from gpumon_gui.telemetry.pdh import instances
from gpumon_gui.telemetry.pdh.aggregate import Trust, aggregate_engines
from gpumon_gui.telemetry.pdh.library import _DOUBLE_ITEM, Pdh, load_pdh

INSTANCES = 1200
BUDGET_MS = 3.0
ROUNDS = 200
_ENGTYPES = ("3D", "Compute_0", "VideoDecode", "Copy", "Copy", "VideoEncode", "Security", "Cuda", "Graphics_1", "OFA_0")


def names() -> list[str]:
    """120 processes on ten engines."""
    return [
        f"pid_{1000 + 8 * process}_luid_0x00000000_0x0000DABC_phys_0_eng_{engine}_engtype_{engtype}"
        for process in range(INSTANCES // len(_ENGTYPES))
        for engine, engtype in enumerate(_ENGTYPES)
    ]


def buffer_of(values: list[tuple[str, float]]) -> ctypes.Array[ctypes.c_uint64]:
    """Items, then their names, in one buffer."""
    texts = [name.encode("utf-16-le") + b"\0\0" for name, _ in values]
    size = 24 * len(values) + sum(map(len, texts))
    buffer = (ctypes.c_uint64 * (size // 8 + 1))()
    base, offset = ctypes.addressof(buffer), 24 * len(values)
    for index, ((_, value), text) in enumerate(zip(values, texts, strict=True)):
        ctypes.memmove(base + 24 * index, struct.pack("<QI4xd", base + offset, 0, value), 24)
        ctypes.memmove(base + offset, text, len(text))
        offset += len(text)
    return buffer


def milliseconds(work: Callable[[], object], before: Callable[[], object] = lambda: None) -> float:
    """Median of many rounds; ``before`` is not counted."""
    spent = []
    for _ in range(ROUNDS):
        before()
        start = time.perf_counter()
        work()
        spent.append(time.perf_counter() - start)
    return statistics.median(spent) * 1000


class _Functions:
    """Satisfies the constructor; the benchmark calls the array decoder itself."""

    def __getattr__(self, name: str) -> Any:
        function = lambda *_: 0  # noqa: E731
        setattr(self, name, function)
        return function


def through_dll(values: list[tuple[str, float]]) -> float:
    """Milliseconds from the call into pdh.dll to the figures; the collect before is the system's work."""
    from tests.windows.world import NVIDIA, World

    world = World(Path(os.environ["GPUMON_WORLD"])).windows(NVIDIA)
    world.counters = {rf"\GPU Engine({name})\Utilization Percentage": value for name, value in values}
    world.write()
    pdh, trust = load_pdh(), Trust()
    query = pdh.open_query()
    counter = pdh.add_counter(query, r"\GPU Engine(*)\Utilization Percentage")
    pdh.collect(query)
    pdh.collect(query)
    assert len(pdh.read_percent(counter)) == INSTANCES
    return milliseconds(lambda: aggregate_engines(pdh.read_percent(counter), trust))


def main() -> None:
    """Print milliseconds and the ratio to the budget."""
    values = [(name, 3.5 if index % 9 == 0 else 0.0) for index, name in enumerate(names())]
    items = [(name, 0, value) for name, value in values]
    busy = [(name, 0, 0.7) for name, _ in values]
    buffer = buffer_of(values)
    pdh = Pdh(_Functions())
    trust = Trust()
    rows = {
        "read array": milliseconds(lambda: pdh._items(buffer, INSTANCES, _DOUBLE_ITEM)),
        "parse + aggregate": milliseconds(lambda: aggregate_engines(items, trust)),
        "parse + aggregate, all busy": milliseconds(lambda: aggregate_engines(busy, trust)),
        "parse + aggregate, no name seen before": milliseconds(
            lambda: aggregate_engines(items, trust), instances.parse_engine.cache_clear
        ),
    }
    rows["read array + parse + aggregate"] = rows["read array"] + rows["parse + aggregate"]
    if sys.platform == "win32" and "GPUMON_WORLD" in os.environ:
        rows["through pdh.dll: call + read + aggregate"] = through_dll(values)
    for label, spent in rows.items():
        print(f"{label:40} {spent:7.3f} ms   {spent / BUDGET_MS:5.2f} of the budget ({BUDGET_MS:g} ms)")


if __name__ == "__main__":
    main()
