"""Knows: the story of the recording shipped as the demo. Must not know: the format.

``python -m tests.gpu.record_demo FILE``: idle → a training run on data that lies on the GPU → the
same starved by a data loader without workers, beside a process that only holds memory → idle. 1 Hz, redacted.
"""

from __future__ import annotations

import subprocess
import sys
import time
from pathlib import Path

HERE = Path(__file__).parent / "workloads"
SECONDS = 110


def main() -> int:
    """Record the story."""
    target = Path(sys.argv[1])
    command = [sys.executable, "-m", "gpumon_gui", "record", "-o", str(target), "--seconds", str(SECONDS), "--redact"]
    recorder = subprocess.Popen(command)
    begin = time.monotonic()

    def at(second: float, *workload: str) -> subprocess.Popen[bytes]:
        time.sleep(max(0.0, begin + second - time.monotonic()))
        name, *options = workload
        return subprocess.Popen([sys.executable, HERE / name, *options])

    # PyTorch needs about 8 s from its start to its first kernel.
    runs = [at(3, "train.py", "--seconds", "30")]
    runs.append(at(38, "hold.py", "--gib", "24", "--seconds", "50"))
    runs.append(at(40, "train.py", "--seconds", "22", "--workers", "0", "--batch", "128"))
    runs.append(at(72, "train.py", "--seconds", "16", "--workers", "8"))
    for run in runs:
        run.wait()
    return recorder.wait()


if __name__ == "__main__":
    sys.exit(main())
