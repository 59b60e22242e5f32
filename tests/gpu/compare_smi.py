"""Knows: whether GPUMon and nvidia-smi agree when they look in the same seconds. Must not know: why they would not.

``python -m tests.gpu.compare_smi [--seconds 60] [--out FOLDER]``: starts a training run, records it with GPUMon at 1 Hz
while ``nvidia-smi --query-gpu`` and ``nvidia-smi pmon`` look at it once a second, then prints one line per figure.
"""

from __future__ import annotations

import argparse
import statistics
import subprocess
import sys
import time
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path

from gpumon_gui.core.model import Sample
from gpumon_gui.core.values import number
from gpumon_gui.telemetry.recording.open import open_recording

#: nvidia-smi's field, GPUMon's metric, GPUMon's unit in nvidia-smi's units.
FIELDS: tuple[tuple[str, str, float], ...] = (
    ("utilization.gpu", "gpu_utilization", 100),
    ("utilization.memory", "memory_utilization", 100),
    ("memory.used", "memory_used_bytes", 1 / (1 << 20)),
    ("memory.reserved", "memory_reserved_bytes", 1 / (1 << 20)),
    ("temperature.gpu", "temperature_c", 1),
    ("temperature.memory", "memory_temperature_c", 1),
    ("power.draw.average", "power_w", 1),
    ("power.draw.instant", "power_instant_w", 1),
    ("enforced.power.limit", "power_limit_w", 1),
    ("clocks.sm", "clock_sm_mhz", 1),
    ("clocks.mem", "clock_memory_mhz", 1),
    ("clocks.video", "clock_video_mhz", 1),
    ("pcie.link.gen.gpucurrent", "pcie_gen", 1),
    ("pcie.link.width.current", "pcie_width", 1),
    ("ecc.errors.uncorrected.volatile.total", "ecc_uncorrected", 1),
)


def main() -> int:
    """Run, compare, print."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--seconds", type=int, default=60)
    parser.add_argument("--out", type=Path, default=Path("/tmp"))
    arguments = parser.parse_args()
    here = Path(__file__).parent
    train = subprocess.Popen([sys.executable, here / "workloads/train.py", "--seconds", str(arguments.seconds + 25)])
    time.sleep(12)  # imports and the first steps
    recording = arguments.out / "compare.gpumon"
    recording.unlink(missing_ok=True)
    query = "timestamp," + ",".join(field for field, _metric, _per in FIELDS) + ",pstate,clocks_event_reasons.active"
    smi_file, pmon_file = arguments.out / "smi.csv", arguments.out / "pmon.txt"
    with smi_file.open("w") as smi_out, pmon_file.open("w") as pmon_out:
        smi = subprocess.Popen(
            ["nvidia-smi", f"--query-gpu={query}", "--format=csv,noheader,nounits", "-l", "1"], stdout=smi_out
        )
        pmon = subprocess.Popen(["nvidia-smi", "pmon", "-s", "um", "-o", "T", "-d", "1"], stdout=pmon_out)
        record = [sys.executable, "-m", "gpumon_gui", "record", "-o", recording, "--seconds", str(arguments.seconds)]
        code = subprocess.call(record)
        smi.terminate()
        pmon.terminate()
    train.wait()
    found = open_recording(recording)
    samples = [found.sample(index) for index in range(len(found))]
    print(f"record exit {code}, {len(samples)} samples in {found.times[-1]:.1f} s, {recording.stat().st_size} bytes")
    compare_query(samples, smi_file)
    compare_pmon(samples, pmon_file, train.pid)
    return code


def compare_query(samples: list[Sample], file: Path) -> None:
    """Each figure beside nvidia-smi's of the nearest second."""
    rows = [[cell.strip() for cell in line.split(",")] for line in file.read_text().splitlines() if "," in line]
    times = [datetime.strptime(row[0], "%Y/%m/%d %H:%M:%S.%f").replace(tzinfo=UTC).timestamp() for row in rows]
    print(f"{'figure':38} {'n':>4} {'GPUMon':>12} {'nvidia-smi':>12} {'mean |diff|':>12} {'max |diff|':>11}")
    for column, (field, metric, per) in enumerate(FIELDS, start=1):
        pairs = []
        for sample in samples:
            mine = number(next(iter(sample.devices.values())).values.get(metric))
            near = min(range(len(times)), key=lambda index, at=sample.utc_s: abs(times[index] - at))  # type: ignore[misc]
            if mine is None or abs(times[near] - sample.utc_s) > 0.6:
                continue
            try:
                pairs.append((mine * per, float(rows[near][column])))
            except ValueError:
                continue
        line(field, pairs)
    words = sorted({row[-2] for row in rows}), sorted({row[-1] for row in rows})
    states = sorted({f"P{number(next(iter(s.devices.values())).values.get('pstate'))}" for s in samples})
    masks = sorted(
        {hex(int(number(next(iter(s.devices.values())).values.get("throttle_reasons")) or 0)) for s in samples}
    )
    print(f"P-states {states} / {words[0]}; clock event reasons {masks} / {words[1]}")


def compare_pmon(samples: list[Sample], file: Path, pid: int) -> None:
    """The training process's shares and memory beside pmon's, as means over the run: pmon has no exact time."""
    rows = [line.split() for line in file.read_text().splitlines() if not line.startswith("#")]
    rows = [row for row in rows if len(row) > 8 and row[2] == str(pid)]
    uses = [use for sample in samples for process in sample.processes for use in process.uses if use.pid == pid]
    columns: tuple[tuple[str, str, int, float], ...] = (
        ("pmon sm", "process_gpu_utilization", 4, 100),
        ("pmon mem", "process_memory_utilization", 5, 100),
        ("pmon fb (MiB)", "process_memory_bytes", 10, 1 / (1 << 20)),
    )
    for label, metric, column, per in columns:
        mine = [value * per for use in uses if (value := number(use.values.get(metric))) is not None]
        theirs = [float(row[column]) for row in rows if row[column] != "-"]
        if mine and theirs:
            print(
                f"{label:38} {len(mine):4} {statistics.mean(mine):12.2f} {statistics.mean(theirs):12.2f} "
                f"{abs(statistics.mean(mine) - statistics.mean(theirs)):12.2f}"
            )
        else:
            print(f"{label:38} GPUMon {len(mine)} values, pmon {len(theirs)}; first pmon row: {rows[:1]}")


def line(name: str, pairs: list[tuple[float, float]], mean: Callable[[list[float]], float] = statistics.mean) -> None:
    """One line of the table."""
    if not pairs:
        print(f"{name:38} nothing to compare")
        return
    differences = [abs(mine - theirs) for mine, theirs in pairs]
    ours, theirs = mean([mine for mine, _ in pairs]), mean([theirs for _, theirs in pairs])
    print(f"{name:38} {len(pairs):4} {ours:12.2f} {theirs:12.2f} {mean(differences):12.2f} {max(differences):11.2f}")


if __name__ == "__main__":
    sys.exit(main())
