"""Watch at a live run that changes: when each verdict came. Run on a machine with an NVIDIA GPU and torch:
``python -m tests.gpu.live_watch [--seconds 30] [--out FOLDER]``.

Starts ``workloads/changing.py``, follows it by ``gpumon watch --pid``, prints what Watch said with the seconds since
the phase began. The right end: nothing to say (or no fault) in the first phase, ``input-pipeline-bound`` at most 20 s
after the second began, gone again at most 20 s after the third began.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import threading
import time
from pathlib import Path

HERE = Path(__file__).parent


def main() -> int:
    """Run both side by side; 1 when Watch itself failed."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--seconds", type=float, default=30)
    parser.add_argument("--out", type=Path)
    arguments = parser.parse_args()
    work = subprocess.Popen(
        [sys.executable, str(HERE / "workloads/changing.py"), "--seconds", str(arguments.seconds)],
        stdout=subprocess.PIPE,
        text=True,
    )
    assert work.stdout is not None
    first = work.stdout.readline()  # imports are over
    began = time.monotonic()
    lines: list[str] = [f"  0.0 s  workload: {first.strip()}"]

    def listen(stream: object, who: str) -> None:
        for line in stream:  # type: ignore[attr-defined]
            lines.append(f"{time.monotonic() - began:5.1f} s  {who}: {line.rstrip()}")
            print(lines[-1], flush=True)

    watch = subprocess.Popen(
        [sys.executable, "-m", "gpumon_gui", "watch", "--pid", str(work.pid)],
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        env=None,
    )
    threads = [
        threading.Thread(target=listen, args=(work.stdout, "workload")),
        threading.Thread(target=listen, args=(watch.stdout, "watch")),
    ]
    for thread in threads:
        thread.start()
    code = watch.wait()
    work.wait()
    for thread in threads:
        thread.join()
    if arguments.out is not None:
        arguments.out.mkdir(parents=True, exist_ok=True)
        (arguments.out / "live-watch.txt").write_text("\n".join(lines) + "\n", encoding="utf-8")
    return 0 if code in (0, 1) else 1


if __name__ == "__main__":
    sys.exit(main())
