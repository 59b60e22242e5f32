"""Seconds and peak memory of reading 100 MB of log: ``python -m tests.benchmarks.bench_log [MEGABYTES]``.

Five kinds of log: a training run, one that repeats a known message on each line, a progress bar without line ends,
Chinese text in GBK, random letters. Exit code 1 when one takes more than 10 s per 100 MB or more than 100 MB of memory.
"""

from __future__ import annotations

import random
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path

SECONDS_PER_100_MB = 10.0
MEMORY_MB = 100.0


def _training(dice: random.Random) -> bytes:
    lines = (
        f"2024-05-01 12:{n % 60:02d} INFO trainer.py:{n} step {n} loss {dice.random():.5f} gpu memory "
        f"{dice.random():.2f} GiB torch.cuda {dice.choice(('data', 'forward', 'optimizer'))} {dice.random():.4f}"
        for n in range(8000)
    )
    return "\n".join(lines).encode() + b"\n"


def _errors(dice: random.Random) -> bytes:
    lines = (
        f"RuntimeError: CUDA error: out of memory {dice.random()} nvidia driver version cudnn tensorflow WinError {n}\n"
        '  File "/home/u/env/lib/python3.10/site-packages/torch/nn/modules/module.py", line 1194, in _call_impl'
        for n in range(5000)
    )
    return "\n".join(lines).encode() + b"\n"


def _progress(dice: random.Random) -> bytes:
    bars = (f"\r {n % 100}%|████▌     | {n}/9000 [00:01<00:09, {dice.random():.2f}it/s]" for n in range(12000))
    return "".join(bars).encode()


def _gbk(dice: random.Random) -> bytes:
    words = "显存不足 驱动程序"
    lines = (f"[WinError 10054] 找不到指定的模块 第 {n} 步 损失 {dice.random():.5f} {words}" for n in range(12000))
    return "\n".join(lines).encode("gbk") + b"\n"


def _letters(dice: random.Random) -> bytes:
    letters = "abcdefghijklmnopqrstuvwxyz      ./:"
    return "\n".join("".join(dice.choices(letters, k=100)) for _ in range(10000)).encode() + b"\n"


KINDS: dict[str, Callable[[random.Random], bytes]] = {
    "training": _training,
    "errors": _errors,
    "progress": _progress,
    "gbk": _gbk,
    "letters": _letters,
}


def _fill(path: Path, make: Callable[[random.Random], bytes], size: int) -> None:
    dice = random.Random(1)
    parts = [make(dice) for _ in range(4)]
    with path.open("wb") as out:
        written = 0
        for part in _forever(parts):
            written += out.write(part)
            if written >= size:
                return


def _forever(parts: list[bytes]) -> Iterator[bytes]:
    while True:
        yield from parts


def _measure(path: Path) -> None:
    """In a process of its own, so that peak memory is this log's."""
    from gpumon_gui.diagnosis.logs.reader import read

    read(b"warm up\n")
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    start = time.perf_counter()
    with path.open("rb") as stream:
        found = read(stream)
    seconds = time.perf_counter() - start
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    print(f"{seconds:.2f} {(peak - before) / 1024:.1f} {found.lines} {len(found.signals)}")


def main(arguments: list[str]) -> int:
    if arguments[:1] == ["--measure"]:
        _measure(Path(arguments[1]))
        return 0
    megabytes = int(arguments[0]) if arguments else 100
    bad = 0
    print(f"{'log':<10} {'s':>6} {'s/100 MB':>9} {'MB more':>8} {'lines':>9} {'signals':>8}")
    for name, make in KINDS.items():
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "log"
            _fill(path, make, megabytes * 1_000_000)
            command = [sys.executable, "-m", "tests.benchmarks.bench_log", "--measure", str(path)]
            answer = subprocess.run(command, check=True, capture_output=True, text=True).stdout.split()
        seconds, memory = float(answer[0]), float(answer[1])
        per_100 = seconds * 100 / megabytes
        bad += per_100 > SECONDS_PER_100_MB or memory > MEMORY_MB
        print(f"{name:<10} {seconds:6.2f} {per_100:9.2f} {memory:8.1f} {answer[2]:>9} {answer[3]:>8}")
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
