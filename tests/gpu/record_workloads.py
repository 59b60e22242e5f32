"""Knows: which workloads are recorded, and what each of them really is. Must not know: what any rule says of them.

``python -m tests.gpu.record_workloads FOLDER [--only NAME …] [--budget SECONDS]``: starts each workload, waits until it
is past its start, records it with GPUMon at 5 Hz, then writes ``labels.json`` and ``table.txt`` (what the instruments
saw). ``expect`` must be found, ``must_not_report`` must not; ``accept_instead`` names verdicts that are as true from
outside, where the program's inside decides.
"""

from __future__ import annotations

import argparse
import json
import os
import queue
import signal
import statistics
import subprocess
import sys
import threading
import time
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from gpumon_gui.core.model import Sample
from gpumon_gui.core.values import number
from gpumon_gui.telemetry.recording.open import open_recording

WORKLOADS = Path(__file__).parent / "workloads"
ROOT = Path(__file__).parents[2]
HZ = 5
#: From its start to its first kernels PyTorch needs up to 10 s; workers, files and warm steps come on top.
START_S = 90.0


@dataclass(frozen=True)
class Run:
    """One recording: commands started together, what must and must not be found, and why."""

    name: str
    commands: tuple[str, ...]
    expect: tuple[str, ...]
    never: tuple[str, ...]
    why: str
    instead: tuple[str, ...] = ()
    seconds: float = 15


NOT_SLOW = ("input-pipeline-bound", "workload-too-small", "gpu-idle-gaps-cpu-phase", "host-to-device-transfer-bound")
RUNS: tuple[Run, ...] = (
    Run(
        "language-model-bf16",
        ("compute.py language_model",),
        (),
        (*NOT_SLOW, "mixed-precision-not-active", "cpu-gpu-sync-each-step", "gpu-memory-growing"),
        "healthy training; the loss is read each step, which costs nothing beside kernels this long",
    ),
    Run(
        "vision-transformer-fp32",
        ("compute.py vision_transformer_fp32",),
        ("mixed-precision-not-active",),
        (*NOT_SLOW, "memory-bandwidth-bound"),
        "matrix products in plain float32 with TF32 off: the tensor cores do nothing",
    ),
    Run(
        "two-workers-augment",
        ("feeding.py two_workers",),
        ("input-pipeline-bound",),
        ("workload-too-small", "mixed-precision-not-active", "code-runs-on-cpu", "gpu-idle-gaps-cpu-phase"),
        "two loader workers augment on one core each, fourteen cores are free, the GPU waits for batches",
    ),
    Run(
        "two-workers-keep-up",
        ("feeding.py two_workers_keep_up",),
        (),
        ("input-pipeline-bound", "mixed-precision-not-active", "code-runs-on-cpu", "gpu-idle-gaps-cpu-phase"),
        "two workers at half a core each: 27 steps/s against 29 with data on the GPU, so the loader is not the limit; "
        "the training process itself is (one core busy with launching and the loss scaler's look at each step)",
    ),
    Run(
        "all-cores-augment",
        ("feeding.py all_cores_augment",),
        ("input-pipeline-bound",),
        ("workload-too-small", "code-runs-on-cpu", "gpu-idle-gaps-cpu-phase"),
        "as many workers as cores, all busy with augmentation: more workers would not help",
    ),
    Run(
        "well-fed-tf32",
        ("feeding.py well_fed_tf32",),
        (),
        (*NOT_SLOW, "mixed-precision-not-active", "gpu-memory-growing"),
        "eight workers keep up; float32 runs on tensor cores as TF32",
    ),
    Run(
        "disk-bound-loader",
        ("feeding.py disk",),
        ("input-pipeline-bound",),
        ("workload-too-small", "code-runs-on-cpu"),
        "each image costs 8 MiB of reading past the cache, hardly any CPU",
    ),
    Run(
        "recurrent-by-hand",
        ("compute.py recurrent_by_hand",),
        ("workload-too-small",),
        ("input-pipeline-bound", "mixed-precision-not-active", "busy-without-progress"),
        "thousands of tiny kernels per step, launched one by one",
    ),
    Run(
        "single-image-requests",
        ("compute.py single_image_requests",),
        ("workload-too-small",),
        ("memory-bandwidth-bound", "code-runs-on-cpu", "gpu-idle-gaps-cpu-phase"),
        "one image at a time, made on the CPU by threads on all cores that mostly spin; no kernel fills the GPU",
        ("input-pipeline-bound",),
    ),
    Run(
        "single-image-one-thread",
        ("compute.py single_image_one_thread",),
        ("workload-too-small",),
        ("input-pipeline-bound", "memory-bandwidth-bound", "code-runs-on-cpu"),
        "one image at a time: no kernel fills the GPU and launching takes longer than computing",
    ),
    Run(
        "look-at-every-tensor",
        ("compute.py look_at_every_tensor",),
        ("cpu-gpu-sync-each-step",),
        ("input-pipeline-bound", "mixed-precision-not-active", "memory-bandwidth-bound"),
        "a number is read back for every layer and gradient: the queue runs empty hundreds of times a step",
        ("workload-too-small",),
    ),
    Run(
        "evaluate-on-cpu",
        ("habits.py evaluate_on_cpu",),
        ("gpu-idle-gaps-cpu-phase",),
        ("workload-too-small", "input-pipeline-bound", "cpu-gpu-sync-each-step", "mixed-precision-not-active"),
        "6 s of full GPU use, then 4 s of scoring and saving on the CPU, by turns",
        seconds=32,
    ),
    Run(
        "generate-tokens",
        ("compute.py generate_tokens",),
        ("memory-bandwidth-bound",),
        ("workload-too-small", "input-pipeline-bound", "mixed-precision-not-active"),
        "26 GB of bfloat16 weights are read for each token",
    ),
    Run(
        "frames-pageable",
        ("feeding.py frames_pageable",),
        ("host-to-device-transfer-bound",),
        ("workload-too-small", "mixed-precision-not-active", "memory-bandwidth-bound"),
        "600 MB copied from ordinary memory for each batch; the copies take most of the time",
    ),
    Run(
        "frames-prefetched",
        ("feeding.py frames_prefetched",),
        (),
        (*NOT_SLOW, "mixed-precision-not-active"),
        "1 GiB a step over PCIe from pinned memory, hidden behind the training",
    ),
    Run(
        "leak",
        ("habits.py leak",),
        ("gpu-memory-growing",),
        (*NOT_SLOW, "gpu-memory-nearly-full", "mixed-precision-not-active"),
        "64 MiB of every step are kept for good while training goes well: 2 GiB more every 3 s",
        seconds=24,
    ),
    Run(
        "leak-in-two-steps",
        ("habits.py leak_slowly",),
        (),
        (*NOT_SLOW, "gpu-memory-nearly-full", "mixed-precision-not-active"),
        "16 MiB of every step are kept for good, but PyTorch's pool shows it as two steps of 2 GiB in 18 s: "
        "gpu-memory-growing is true, and too early to demand",
        seconds=18,
    ),
    Run(
        "cache-until-full",
        ("habits.py cache_until_full",),
        (),
        (*NOT_SLOW, "gpu-memory-growing", "gpu-memory-nearly-full"),
        "a cache grows to 12 GiB in 8 s and then stays: no leak",
        seconds=24,
    ),
    Run(
        "nearly-full",
        ("habits.py nearly_full",),
        ("gpu-memory-nearly-full",),
        ("input-pipeline-bound", "gpu-memory-growing", "gpu-memory-held-idle", "mixed-precision-not-active"),
        "training with about 1 % of the memory left",
    ),
    Run(
        "held-beside-working",
        ("hold.py --gib 40 --seconds 60", "compute.py language_model"),
        ("gpu-memory-held-idle",),
        (*NOT_SLOW, "no-gpu-workload", "gpu-memory-nearly-full", "code-runs-on-cpu"),
        "one process holds 40 GiB and does nothing, another trains on the same GPU",
    ),
    Run(
        "spinning-kernel",
        ("compute.py spin",),
        ("busy-without-progress",),
        ("input-pipeline-bound", "mixed-precision-not-active", "no-gpu-workload", "code-runs-on-cpu"),
        "one waiting kernel after another: 100 % busy, no work, as in a collective that hangs",
    ),
    Run(
        "forgotten-on-cpu",
        ("habits.py forgotten_on_cpu",),
        ("code-runs-on-cpu",),
        ("gpu-memory-held-idle", "input-pipeline-bound", "workload-too-small", "gpu-idle-gaps-cpu-phase"),
        "a CUDA context is open, the network trains on the CPU",
    ),
    Run(
        "reinforcement",
        ("habits.py reinforcement",),
        ("workload-cpu-bound-by-environment",),
        ("mixed-precision-not-active", "memory-bandwidth-bound", "gpu-memory-held-idle"),
        "simulators in 14 processes on the CPU decide the speed; the policy on the GPU is tiny",
        ("input-pipeline-bound", "workload-too-small"),
    ),
    Run(
        "starves-later",
        ("feeding.py starves_later",),
        ("input-pipeline-bound",),
        ("workload-too-small", "mixed-precision-not-active", "gpu-memory-held-idle"),
        "15 s of healthy training, then one slow worker feeds it: the verdict at the end is the starved one",
        ("gpu-idle-gaps-cpu-phase",),
        seconds=38,
    ),
    Run(
        "two-sharing",
        ("compute.py language_model_small_share", "compute.py language_model_small_share"),
        (),
        ("input-pipeline-bound", "gpu-memory-held-idle", "mixed-precision-not-active", "gpu-idle-gaps-cpu-phase"),
        "two trainings share one GPU and keep it busy",
    ),
    Run(
        "stream-elementwise",
        ("compute.py stream_elementwise",),
        ("memory-bandwidth-bound",),
        (*NOT_SLOW, "mixed-precision-not-active"),
        "adding and scaling 2 GiB arrays: memory sets the speed, and there is no matrix product for tensor cores",
    ),
)


class Workload:
    """One started command; leads a session of its own so that its workers end with it."""

    def __init__(self, command: str, device: str, log: Path) -> None:
        script, *options = command.split()
        more = ["--device", device] if device != "cuda" else []
        self._process = subprocess.Popen(
            [sys.executable, script, *options, *more],
            cwd=WORKLOADS,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            start_new_session=True,
        )
        self._lines: queue.Queue[str] = queue.Queue()
        self._log = log
        self._announces = script != "hold.py"
        threading.Thread(target=self._read, daemon=True).start()

    def wait_ready(self, limit_s: float) -> bool:
        """Whether it said READY in time; a script that never says so gets 8 s."""
        if not self._announces:
            time.sleep(8)
            return self._process.poll() is None
        end = time.monotonic() + limit_s
        while (left := end - time.monotonic()) > 0 and self._process.poll() is None:
            try:
                if self._lines.get(timeout=min(left, 0.2)).strip() == "READY":
                    return True
            except queue.Empty:
                continue
        return False

    def end(self) -> bool:
        """End it with its children. Whether it was still running."""
        alive = self._process.poll() is None
        for number_ in (signal.SIGTERM, signal.SIGKILL):
            try:
                os.killpg(self._process.pid, number_)
            except ProcessLookupError:
                break
            try:
                self._process.wait(1.5)
            except subprocess.TimeoutExpired:
                continue
        self._process.wait()
        return alive

    def _read(self) -> None:
        assert self._process.stdout is not None
        with self._log.open("a", encoding="utf-8") as log:
            for line in self._process.stdout:
                log.write(line)
                log.flush()
                self._lines.put(line)


def record(run: Run, folder: Path, device: str, seconds: float | None = None) -> bool:
    """Start, wait, record, end. Whether all of it went as planned; says what did not."""
    begin = time.monotonic()
    log = folder / f"{run.name}.log"
    log.unlink(missing_ok=True)
    target = folder / f"{run.name}.gpumon"
    target.unlink(missing_ok=True)
    works = [Workload(command, device, log) for command in run.commands]
    try:
        if not all(work.wait_ready(START_S) for work in works):
            print(f"{run.name}: never ready\n{log.read_text()[-1500:]}")
            return False
        started = time.monotonic()
        length = f"{seconds or run.seconds:g}"
        options = ["--seconds", length, "--hz", str(HZ), "--redact"]
        done = subprocess.run(
            [sys.executable, "-m", "gpumon_gui", "record", "-o", str(target), *options],
            cwd=ROOT,
            capture_output=True,
            text=True,
            check=False,
        )
    finally:
        alive = [work.end() for work in works]
    times = f"start {started - begin:.1f} s, all {time.monotonic() - begin:.1f} s"
    print(f"{run.name}: {times}: {done.stdout.strip()} {done.stderr.strip()}", flush=True)
    if done.returncode or not all(alive):
        print(f"{run.name}: recorder {done.returncode}, workloads alive {alive}\n{log.read_text()[-1500:]}")
        return False
    return True


def label(run: Run) -> dict[str, object]:
    """One entry of labels.json."""
    made: dict[str, object] = {
        "recording": f"{run.name}.gpumon",
        "workload": " + ".join(run.commands),
        "gpus": 1,
        "expect": list(run.expect),
        "must_not_report": list(run.never),
        "why": run.why,
    }
    if run.instead:
        made["accept_instead"] = list(run.instead)
    return made


HEADER = (
    "recording                   s  util   sm tens dram fp32  rx GB/s tx     W  MHz   mem GiB    cpu% read MB/s "
    "CPU of processes"
)


def summary(path: Path, skip_s: float = 1.0) -> str:
    """One line of what the instruments saw: means over the recording, memory first and last."""
    with_times = open_recording(path)
    samples = [with_times.sample(index) for index in range(len(with_times)) if with_times.times[index] >= skip_s]
    length = float(with_times.times[-1])
    with_times.close()
    first, last = samples[0], samples[-1]

    def mean(metric: str, factor: float = 1.0) -> float:
        return factor * _mean(_device(sample, metric) for sample in samples)

    def memory(sample: Sample) -> float:
        return (_device(sample, "memory_used_bytes") or 0) / (1 << 30)

    reads = _mean(_processes(sample, "process_read_bytes_per_s") for sample in samples) / 1e6
    host = 100 * _mean(number(sample.host.values.get("cpu_utilization")) for sample in samples)
    names = [
        f"{process.name}:{100 * (number(process.values.get('process_cpu')) or 0):.0f}%" for process in last.processes
    ]
    return (
        f"{path.stem:24} {length:4.1f} {mean('gpu_utilization', 100):5.1f} {mean('sm_activity', 100):4.0f} "
        f"{mean('tensor_activity', 100):4.0f} {mean('dram_activity', 100):4.0f} {mean('fp32_activity', 100):4.0f} "
        f"{mean('pcie_rx_bytes_per_s', 1e-9):6.2f} {mean('pcie_tx_bytes_per_s', 1e-9):5.2f} {mean('power_w'):5.0f} "
        f"{mean('clock_sm_mhz'):4.0f} {memory(first):5.1f}-{memory(last):5.1f} {host:5.1f} {reads:7.0f}    "
        f"{' '.join(names)}"
    )


def _device(sample: Sample, metric: str) -> float | None:
    for device in sample.devices.values():
        if (value := number(device.values.get(metric))) is not None:
            return value
    return None


def _processes(sample: Sample, metric: str) -> float:
    return sum(number(process.values.get(metric)) or 0.0 for process in sample.processes)


def _mean(values: Iterable[float | None]) -> float:
    known = [value for value in values if value is not None]
    return statistics.fmean(known) if known else float("nan")


def main() -> int:
    """Record what was asked for."""
    parser = argparse.ArgumentParser()
    parser.add_argument("folder", type=Path)
    parser.add_argument("--only", nargs="*", choices=[run.name for run in RUNS])
    parser.add_argument("--device", default="cuda", help="cpu: a dry run on a machine without a GPU")
    parser.add_argument("--seconds", type=float, help="instead of each recording's own length")
    parser.add_argument("--budget", type=float, default=1e9, help="no recording is begun that would end later")
    arguments = parser.parse_args()
    arguments.folder.mkdir(parents=True, exist_ok=True)
    begin, made = time.monotonic(), []
    for run in RUNS:
        if arguments.only and run.name not in arguments.only:
            continue
        if time.monotonic() - begin + (arguments.seconds or run.seconds) + 10 > arguments.budget:
            print(f"{run.name}: no time left")
            continue
        if record(run, arguments.folder, arguments.device, arguments.seconds):
            made.append(run)
            text = json.dumps([label(done) for done in made], indent=1)
            (arguments.folder / "labels.json").write_text(text + "\n", encoding="utf-8")
    table = "\n".join([HEADER, *(summary(arguments.folder / f"{run.name}.gpumon") for run in made)])
    (arguments.folder / "table.txt").write_text(table + "\n", encoding="utf-8")
    print(table)
    return 0


if __name__ == "__main__":
    sys.exit(main())
