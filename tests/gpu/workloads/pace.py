"""Command line and rhythm shared by the workloads: a name, how long, on what; says READY and how fast it goes."""

import argparse
import sys
import time

import torch


class Pace:
    """Yields step numbers until the time is over.

    Prints ``READY`` after ``warm`` steps (what starts once is over then) and the steps per second every two seconds.
    """

    def __init__(self, seconds: float, device: str) -> None:
        self.device = torch.device(device)
        self.seconds = seconds
        self.begin = 0.0

    def pick(self, on_gpu, on_cpu):
        """A size for the real run, and a tiny one for a dry run on a machine without a GPU."""
        return on_gpu if self.device.type == "cuda" else on_cpu

    def settle(self) -> None:
        """Wait for the GPU."""
        if self.device.type == "cuda":
            torch.cuda.synchronize()

    def ready(self) -> None:
        self.begin = time.monotonic()
        print("READY", flush=True)

    @property
    def elapsed(self) -> float:
        """Seconds since READY."""
        return time.monotonic() - self.begin

    def steps(self, warm: int = 5):
        for _ in range(warm):
            yield -1
        self.settle()
        self.ready()
        told = count = step = 0
        while self.elapsed < self.seconds:
            yield step
            step += 1
            count += 1
            if self.elapsed - told >= 2:
                print(f"{count / (self.elapsed - told):.2f} steps/s", flush=True)
                told, count = self.elapsed, 0
        self.settle()


def run(workloads) -> None:
    """``FILE.py NAME --seconds S``: run one of the functions given."""
    named = {work.__name__: work for work in workloads}
    parser = argparse.ArgumentParser()
    parser.add_argument("name", choices=sorted(named))
    parser.add_argument("--seconds", type=float, default=60)
    parser.add_argument("--device", default="cuda")
    arguments = parser.parse_args()
    if arguments.device == "cpu":
        torch.set_num_threads(2)
    named[arguments.name](Pace(arguments.seconds, arguments.device))
    sys.stdout.flush()
