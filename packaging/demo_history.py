"""Knows: how a month of a scripted training machine is written as a history file. Must not know: the window.

    python packaging/demo_history.py FILE [--gpus 8] [--days 30] [--until UTC_SECONDS]

For pictures of the History page, its benchmark and its tests: nothing in it was measured. Written level by level, since
a month of seconds would take hours.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import numpy.typing as npt

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from gpumon_gui.core.clock import SystemClock
from gpumon_gui.core.model import DeviceInfo, DeviceKey, DeviceKind
from gpumon_gui.history.buckets import Floats, Rows, coarser
from gpumon_gui.history.intake import HOST_INFO
from gpumon_gui.history.marker import Marker, MarkerKind
from gpumon_gui.history.retention import HistoryOptions
from gpumon_gui.history.schema import HOST_METRICS, LEVELS, METRIC_NUMBERS, Level, chunk_id
from gpumon_gui.history.store import HistoryStore

GIB = 1 << 30
HOUR_S = 3600


@dataclass(frozen=True)
class Machine:
    """What is written: so many cards up to ``until_s``, so many days back."""

    gpus: int
    days: float
    until_s: int
    seed: int = 7


def info(index: int) -> DeviceInfo:
    """The nth card."""
    pci = f"00000000:{0x10 + index:02x}:00.0"
    return DeviceInfo(
        DeviceKey(f"pci:{pci}"),
        "NVIDIA H200",
        "nvidia",
        DeviceKind.DISCRETE,
        index,
        pci_address=pci,
        uuid=f"GPU-{index:08x}-0000-4000-8000-000000000000",
    )


def load(time_s: Floats, card: int, seed: int) -> Floats:
    """How busy a card is, 0 to 1: runs of some hours with pauses; a loader that starves every third run."""
    run = np.floor(time_s / (5 * HOUR_S) + card * 0.15)
    inside = time_s / (5 * HOUR_S) + card * 0.15 - run
    level = 0.55 + 0.45 * np.sin(run * 2.1 + card) ** 2
    starved = (run % 3 == 1) & (np.sin(time_s / 97.0) > -0.2)
    busy = np.where(inside < 0.82, np.where(starved, 0.35 * level, level), 0.0)
    noise = np.random.default_rng(seed * 1000 + card).normal(0.0, 0.025, len(time_s))
    return np.clip(np.where(busy > 0, busy + noise, 0.0), 0.0, 1.0)


def figures(time_s: Floats, card: int, seed: int) -> Iterator[tuple[str, Floats, float]]:
    """Metric, values and how far lowest and highest lie from the mean in longer buckets."""
    busy = load(time_s, card, seed)
    warm = np.convolve(busy, np.ones(9) / 9, "same")
    yield "gpu_utilization", busy, 0.12
    yield "sm_activity", busy * 0.92, 0.1
    yield "tensor_activity", busy * 0.55, 0.08
    yield "dram_activity", busy * 0.45, 0.08
    yield "memory_utilization", busy * 0.4, 0.06
    yield "memory_used_bytes", np.where(busy > 0.02, (18 + 9 * card) * GIB + busy * 2 * GIB, 0.6 * GIB), 0.3 * GIB
    yield "temperature_c", np.round(34 + 38 * warm), 2.0
    yield "memory_temperature_c", np.round(38 + 40 * warm), 2.0
    yield "power_w", np.round(76 + 610 * busy, 1), 40.0
    yield "clock_sm_mhz", np.where(busy > 0.02, 1980.0 - np.round(busy * 8) * 15, 345.0), 30.0
    yield "clock_memory_mhz", np.where(busy > 0.02, 3201.0, 1593.0), 0.0
    yield "pcie_rx_bytes_per_s", np.round(busy * 230e6 + 1e6), 30e6
    yield "pcie_tx_bytes_per_s", np.round(busy * 60e6 + 1e6), 9e6


def host_figures(time_s: Floats, seed: int) -> Iterator[tuple[str, Floats, float]]:
    """The same of the machine."""
    busy = load(time_s, 99, seed)
    yield "cpu_utilization", 0.05 + busy * 0.6, 0.1
    yield "ram_used_bytes", (48 + 90 * busy) * GIB, 2 * GIB
    yield "swap_used_bytes", np.zeros(len(time_s)), 0.0


def asleep(time_s: Floats) -> npt.NDArray[np.bool_]:
    """Each fourth night the machine is off."""
    day = np.floor(time_s / 86_400)
    hour = time_s % 86_400 / HOUR_S
    off: npt.NDArray[np.bool_] = (day % 4 == 2) & (hour > 1.0) & (hour < 6.5)
    return off


def fill(path: Path, machine: Machine) -> None:
    """Write the file; one that is there must be of the same kind and is replaced."""
    path.unlink(missing_ok=True)
    store = HistoryStore(path)
    options = HistoryOptions()
    kept_s = options.kept_s()
    first_s = machine.until_s - int(machine.days * 86_400)
    # Ends of stretches, so that each level is whole.
    ends = {level.number: machine.until_s - machine.until_s % level.stretch_s for level in LEVELS}
    for card in range(-1, machine.gpus):
        with store._changing():
            device = store._device(HOST_INFO if card < 0 else info(card), first_s, machine.until_s - 1)
        for level in LEVELS:
            from_s = max(first_s, machine.until_s - kept_s[level.number])
            from_s -= from_s % level.stretch_s
            until_s = ends[level.number] if level.number else machine.until_s
            # Hours are made of minutes, as the program makes them.
            time_s = np.arange(from_s, until_s, min(level.step_s, 60), dtype=np.float64)
            time_s = time_s[(time_s >= first_s) & ~asleep(time_s)]
            if not len(time_s):
                continue
            made = host_figures(time_s, machine.seed) if card < 0 else figures(time_s, card, machine.seed)
            for metric, values, spread in made:
                _write(store, level, device, METRIC_NUMBERS[metric], time_s, values, spread)
    with store._changing():
        for level in LEVELS[1:]:
            store._set_rolled(level, ends[level.number])
        store._write_markers(markers(machine, first_s))
    store._connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchall()
    store.close()


def markers(machine: Machine, first_s: int) -> list[Marker]:
    """An alert, a verdict or the end of a run now and then."""
    kinds = (
        (MarkerKind.RUN_ENDED, "run-ended", "good", "{name} ended.", (("name", "train.py"),)),
        (MarkerKind.ALERT, "throttle-thermal", "bad", "{name} was throttled.", (("name", "GPU 0"),)),
        (MarkerKind.VERDICT, "data-starved", "attention", "{name} waits for its data.", (("name", "train.py"),)),
    )
    found = []
    for number, time_s in enumerate(range(first_s + 3 * HOUR_S, machine.until_s, 7 * HOUR_S + 1234)):
        kind, code, tone, text, parameters = kinds[number % len(kinds)]
        device = info(0).key
        found.append(Marker(float(time_s), kind, code, text, parameters, "train.py (4242)", device, tone))
    return found


def _write(
    store: HistoryStore, level: Level, device: int, metric: int, time_s: Floats, values: Floats, spread: float
) -> None:
    start = time_s.astype(np.int64)
    if level.number:
        around = np.minimum(spread, 0.25 * values)  # a card at rest is calm
        low, high = values - around, values + around
        if metric not in (*HOST_METRICS, METRIC_NUMBERS["memory_used_bytes"]) and values.max(initial=0.0) <= 1.0:
            high = np.minimum(high, 1.0)
        rows = Rows(start, low, values, high, np.full(len(start), float(min(level.step_s, 60))))
    else:
        rows = Rows(start, values, values, values, np.ones(len(start)))
    rows = coarser(rows, level.step_s)
    with store._changing():
        for stretch_s in np.unique(start - start % level.stretch_s).tolist():
            part = rows.between(stretch_s, stretch_s + level.stretch_s)
            store._put(level, chunk_id(level, device, metric, stretch_s), part)


def main() -> int:
    """Write a file."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("file", type=Path)
    parser.add_argument("--gpus", type=int, default=8)
    parser.add_argument("--days", type=float, default=30.0)
    parser.add_argument("--until", type=int, default=None, help="UTC seconds; default: now")
    found = parser.parse_args()
    fill(
        found.file,
        Machine(found.gpus, found.days, int(SystemClock().now().utc_s) if found.until is None else found.until),
    )
    print(f"{found.file}: {found.file.stat().st_size / (1 << 20):.1f} MiB")
    return 0


if __name__ == "__main__":
    sys.exit(main())
