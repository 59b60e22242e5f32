"""Knows: the classic case, step by step, and how it is measured. Must not know: what Watch says of it.

``python -m tests.gpu.classic_case FOLDER``: ResNet-50 trained from JPEG files; the usual remedies are applied one after
the other. Each step runs as a program of its own while NVML is read from outside five times a second. Step 0 and the
last one are recorded by GPUMon (labels.json, as in ``record_workloads``); the figures go to ``classic.json`` and
``CLASSIC.md``.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import subprocess
import sys
import time
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

import pynvml

from tests.gpu.record_workloads import HEADER, HZ, ROOT, WORKLOADS, summary


@dataclass(frozen=True)
class Step:
    """One run: what was changed, in words and as options."""

    name: str
    change: str
    options: tuple[str, ...]
    record: str = ""


def steps(workers: int, batch: int) -> tuple[Step, ...]:
    """Each step keeps the changes of those before."""
    more = (f"--workers={workers}",)
    pin = (*more, "--pin")
    stay = (*pin, "--persistent")
    amp = (*stay, "--amp")
    return (
        Step("start", "`num_workers=0`, float32, ordinary memory", (), "classic-start"),
        Step("workers", f"`num_workers={workers}`", more),
        Step("pinned", "`pin_memory=True`, `.to(device, non_blocking=True)`", pin),
        Step("persistent", "`persistent_workers=True`, `prefetch_factor=4`", stay),
        Step("amp", "`torch.autocast` (bfloat16), `channels_last`, `cudnn.benchmark`", amp),
        Step(
            "stored",
            "images decoded and scaled once beforehand; colours and normalising on the GPU",
            (*amp, "--stored"),
        ),
        Step(
            "batch",
            f"batches of {3 * batch} instead of {batch}: launching had become slower than computing",
            (*amp, "--stored", f"--batch={3 * batch}"),
            "classic-end",
        ),
    )


class Meter:
    """GPU-Util and power as NVML gives them, with the time of each reading."""

    def __init__(self) -> None:
        self._handle = None
        with suppress(pynvml.NVMLError):
            pynvml.nvmlInit()
            self._handle = pynvml.nvmlDeviceGetHandleByIndex(0)
        self.rows: list[tuple[float, float, float]] = []

    def read(self) -> None:
        """One reading; nothing on a machine without a GPU."""
        if self._handle is not None:
            busy = pynvml.nvmlDeviceGetUtilizationRates(self._handle).gpu
            power = pynvml.nvmlDeviceGetPowerUsage(self._handle) / 1000
            self.rows.append((time.monotonic(), busy, power))

    def mean(self, begin: float, end: float) -> tuple[float, float]:
        """GPU-Util in percent and watts between two moments."""
        rows = [row for row in self.rows if begin <= row[0] <= end] or [(0.0, float("nan"), float("nan"))]
        return statistics.fmean(row[1] for row in rows), statistics.fmean(row[2] for row in rows)


def measure(step: Step, data: Path, out: Path, common: list[str]) -> dict[str, object]:
    """Run one step; its whole epochs count, the first one too."""
    meter = Meter()
    log = out / f"classic-{step.name}.log"
    recorder = None
    command = [sys.executable, "images.py", str(data), *common, *step.options]
    with log.open("w") as file:
        work = subprocess.Popen(command, cwd=WORKLOADS, stdout=file, stderr=subprocess.STDOUT)
    while work.poll() is None:
        time.sleep(0.2)
        meter.read()
        if step.record and recorder is None and "READY" in log.read_text():
            target = out / f"{step.record}.gpumon"
            target.unlink(missing_ok=True)
            options = ["-o", str(target), "--seconds", "15", "--hz", str(HZ), "--redact"]
            recorder = subprocess.Popen([sys.executable, "-m", "gpumon_gui", "record", *options], cwd=ROOT)
    if recorder:
        recorder.wait()
    epochs = [line.split()[1:] for line in log.read_text().splitlines() if line.startswith("EPOCH")]
    if work.returncode or not epochs:
        raise SystemExit(f"{step.name}: ended with {work.returncode}\n{log.read_text()[-2000:]}")
    times = [float(end) - float(begin) for begin, end, _count in epochs]
    util, power = meter.mean(float(epochs[0][0]), float(epochs[-1][1]))
    found = {
        "step": step.name,
        "change": step.change,
        "epochs": len(times),
        "epoch_s": round(statistics.fmean(times), 2),
        "images_per_s": round(int(epochs[0][2]) / statistics.fmean(times), 1),
        "gpu_util_percent": round(util, 1),
        "power_w": round(power, 1),
    }
    print(json.dumps(found), flush=True)
    return found


def table(rows: list[dict[str, object]], images: int, photos: str, cores: int) -> str:
    """The figures as Markdown."""
    first = float(str(rows[0]["images_per_s"]))
    lines = [
        "# The classic case: ResNet-50 that waits for its images",
        "",
        f"{images} JPEG files ({photos} on one core), decoded and augmented on the CPU; batches of 128;",
        f"one NVIDIA H200, {cores} CPU cores; PyTorch. Each step keeps the changes of those before. GPU-Util is",
        "NVML's, read from outside five times a second over whole epochs. Made by",
        "`python -m tests.gpu.classic_case FOLDER`.",
        "",
        "| step | GPU-Util | images/s | epoch | times faster | power |",
        "| --- | --- | --- | --- | --- | --- |",
    ]
    for number, row in enumerate(rows):
        faster = float(str(row["images_per_s"])) / first
        lines.append(
            f"| {number}. {row['change']} | {row['gpu_util_percent']} % | {row['images_per_s']} | {row['epoch_s']} s | "
            f"{faster:.1f} | {row['power_w']} W |"
        )
    return "\n".join(lines) + "\n"


LABELS: list[dict[str, object]] = [
    {
        "recording": "classic-start.gpumon",
        "workload": "images.py, num_workers=0",
        "gpus": 1,
        "expect": ["input-pipeline-bound"],
        "must_not_report": ["workload-too-small", "code-runs-on-cpu", "host-to-device-transfer-bound"],
        "why": "JPEG files are decoded and augmented in the training process, on one core, between two steps",
    },
    {
        "recording": "classic-end.gpumon",
        "workload": "images.py, all remedies",
        "gpus": 1,
        "expect": [],
        "must_not_report": ["input-pipeline-bound", "workload-too-small", "mixed-precision-not-active"],
        "why": "the same training after every remedy: the GPU sets the speed",
    },
]


def main() -> int:
    """Make the files, run the steps, write the figures."""
    parser = argparse.ArgumentParser()
    parser.add_argument("folder", type=Path, help="where figures and recordings go")
    parser.add_argument("--data", type=Path, default=Path("/var/tmp/classic-images"))
    parser.add_argument("--images", type=int, default=8192)
    parser.add_argument("--seconds", type=float, default=8)
    parser.add_argument("--device", default="cuda")
    parser.add_argument("--workers", type=int, default=max(1, (os.cpu_count() or 1) - 2))
    parser.add_argument("--batch", type=int, default=128)
    arguments = parser.parse_args()
    arguments.folder.mkdir(parents=True, exist_ok=True)
    sizes = [f"--images={arguments.images}", f"--batch={arguments.batch}", f"--device={arguments.device}"]
    prepare = [sys.executable, "images.py", str(arguments.data), *sizes, "--prepare"]
    made = subprocess.run(prepare, cwd=WORKLOADS, check=True, capture_output=True, text=True).stdout
    photos = made.partition("PHOTOS ")[2].strip() or "as made before"
    rows = []
    for step in steps(arguments.workers, arguments.batch):
        seconds = max(arguments.seconds, 20) if step.record else arguments.seconds  # the recorder needs 17
        rows.append(measure(step, arguments.data, arguments.folder, [*sizes, f"--seconds={seconds}"]))
        (arguments.folder / "classic.json").write_text(json.dumps(rows, indent=1) + "\n")
    text = table(rows, arguments.images, photos, os.cpu_count() or 1)
    (arguments.folder / "CLASSIC.md").write_text(text)
    (arguments.folder / "labels-classic.json").write_text(json.dumps(LABELS, indent=1) + "\n")
    print(text, HEADER, sep="\n")
    for entry in LABELS:
        print(summary(arguments.folder / str(entry["recording"])))
    return 0


if __name__ == "__main__":
    sys.exit(main())
