"""Time for a verdict on a program that runs, and for a day's log of nvidia-smi. Budget: 30 ms of CPU a verdict.

Run: ``python -m tests.benchmarks.bench_watch [--day]``. Five minutes at 5 Hz, ten processes: a program that feeds a GPU
with eight workers, and another one beside it; the last verdict is the dearest. ``--day``: eight GPUs for a day at one
look a second (131 MB), opened and judged.
"""

from __future__ import annotations

import argparse
import resource
import statistics
import sys
import tempfile
import time
from datetime import UTC, datetime, timedelta
from pathlib import Path
from threading import Event

from gpumon_gui.diagnosis.behaviour.watcher import Watcher
from tests.unit.diagnosis.workloads import PID, Machine, record, steps

BUDGET_MS = 30.0
ROUNDS = 20
HEADER = (
    "timestamp, index, name, uuid, pci.bus_id, pstate, utilization.gpu [%], utilization.memory [%], "
    "memory.total [MiB], memory.used [MiB], temperature.gpu, power.draw [W], enforced.power.limit [W], "
    "clocks.current.sm [MHz], clocks.max.sm [MHz], clocks_event_reasons.active, fan.speed [%]"
)
ROW = (
    "{stamp}, {gpu}, NVIDIA H200, GPU-{gpu:04d}, 00000000:0{gpu}:00.0, P0, {busy} %, {half} %, 143771 MiB, 9 MiB, "
    "45, {power}.50 W, 700.00 W, 1980 MHz, 1980 MHz, 0x0000000000000000, [N/A]\n"
)


def verdicts() -> bool:
    """Print what a sample and a verdict cost."""
    program = steps(0.05, 0.2, main=0.25, rx=2.5e8, workers=(0.97,) * 8)
    samples = record(program, machine=Machine(background=0.4), seconds=300.0)
    watcher = Watcher(PID)
    begin_s = time.process_time()
    for sample in samples:
        watcher.add(sample)
    added_s = time.process_time() - begin_s
    taken = []
    for _ in range(ROUNDS):
        begin_s = time.process_time()
        watcher.verdict()
        taken.append((time.process_time() - begin_s) * 1000)
    median = statistics.median(taken)
    processes = len(samples[-1].processes)
    print(f"{len(samples)} samples, {processes} processes: {added_s / len(samples) * 1e6:.0f} µs to take one")
    print(f"a verdict: median {median:.1f} ms, slowest {max(taken):.1f} ms (budget {BUDGET_MS:.0f} ms)")
    return median <= BUDGET_MS


def day() -> None:
    """Print what a day's log costs."""
    from gpumon_gui.cli.watching import recorded
    from gpumon_gui.telemetry.recording.open import open_recording

    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder, "day.csv")
        begin = datetime(2026, 11, 29, tzinfo=UTC)
        with file.open("w") as stream:
            stream.write(HEADER + "\n")
            for second in range(86_400):
                stamp = (begin + timedelta(seconds=second)).strftime("%Y/%m/%d %H:%M:%S.000")
                busy = 97 + second % 4 if second // 3600 % 2 else 12 + second % 9
                stream.writelines(
                    ROW.format(stamp=stamp, gpu=gpu, busy=busy, half=busy // 2, power=100 + 5 * busy)
                    for gpu in range(8)
                )
        begin_s = time.process_time()
        source = open_recording(file)
        opened_s = time.process_time() - begin_s
        size = file.stat().st_size
        memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
        print(f"{size / 1e6:.0f} MB, {len(source)} looks: {opened_s:.1f} s to open, {memory:.0f} MB of memory at most")
        begin_s = time.process_time()
        seen = recorded(source, None, 0.0, None, Event(), lambda *_: None)
        assert seen.verdict is not None
        memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
        turns = len(seen.verdict.history)
        print(f"judged in {time.process_time() - begin_s:.1f} s, {turns} verdicts on the way, {memory:.0f} MB at most")


def main() -> int:
    """1 when over the budget."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--day", action="store_true")
    arguments = parser.parse_args()
    fine = verdicts()
    if arguments.day:
        day()
    return 0 if fine else 1


if __name__ == "__main__":
    sys.exit(main())
