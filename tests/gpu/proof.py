"""Knows: the proof's cases on a machine with a real GPU. Must not know: how a verdict is found.

``python -m tests.gpu.proof --out FOLDER [--only abcd]``: in this interpreter, which must have torch,

a. torch as it is: proven;
b. a stub that reports success without computing (``workloads/liar``): claimed, not seen;
c. both while another process keeps the GPU busy (``workloads/train.py``);
d. torch with 1 GiB of free memory (``workloads/hold.py`` holds the rest);
e. nothing is left behind, and clocks, limits and modes are what they were.

Prints a line per check and ends with the number of failures. FOLDER gets the facts, the reports and a recording.
"""

from __future__ import annotations

import argparse
import dataclasses
import json
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from threading import Event
from typing import Any

from gpumon_gui.core.clock import SystemClock
from gpumon_gui.core.model import Sample
from gpumon_gui.core.values import number
from gpumon_gui.diagnosis.engine import diagnose
from gpumon_gui.diagnosis.environments.base import Environment, Kind
from gpumon_gui.diagnosis.facts import Document
from gpumon_gui.diagnosis.live_gateway import LiveGateway
from gpumon_gui.diagnosis.orphans import MARK
from gpumon_gui.diagnosis.proof.run import Options, Proven, Target, prove_one, with_proofs
from gpumon_gui.diagnosis.report import text
from gpumon_gui.diagnosis.report.document import report
from gpumon_gui.diagnosis.rules.table import RULES
from gpumon_gui.telemetry.instruments import LiveInstruments
from gpumon_gui.telemetry.recording.writer import RecordingWriter

HERE = Path(__file__).parent / "workloads"
GIB = 1 << 30
SETTINGS = (
    "clocks.applications.graphics,clocks.applications.memory,clocks.max.sm,clocks.max.memory,power.limit,"
    "enforced.power.limit,compute_mode,persistence_mode,mig.mode.current,ecc.mode.current"
)


class Watched:
    """The machine's telemetry, kept in a recording as well."""

    def __init__(self, file: Path) -> None:
        self.live = LiveInstruments()
        self._writer = RecordingWriter(file, {"program": "tests.gpu.proof"}, redact=True)
        self._written = 0.0

    def start(self, cancel: Event) -> None:
        self.keep()
        self.live.start(cancel)

    def samples(self) -> Sequence[Sample]:
        return self.live.samples()

    def stop(self) -> None:
        self.keep()

    def keep(self) -> None:
        for sample in self.live.samples():
            if sample.monotonic_s > self._written:
                self._writer.append(sample)
                self._written = sample.monotonic_s

    def close(self) -> None:
        self.keep()
        self._writer.close()
        self.live.close()


class Cases:
    """What was found so far."""

    def __init__(self, instruments: Watched) -> None:
        self.instruments = instruments
        self.gateway = LiveGateway()
        self.facts: dict[str, Any] = {}
        self.claims: dict[str, Any] = {}
        self.reports: list[str] = []
        self.failures = 0
        self.begin_s = time.monotonic()

    def check(self, name: str, holds: bool, detail: object = "") -> None:
        self.failures += not holds
        print(f"{'ok  ' if holds else 'FAIL'} {time.monotonic() - self.begin_s:6.1f} s  {name}  {detail}", flush=True)

    def prove(self, name: str, *, liar: bool, options: Options | None = None) -> Proven:
        variables = {"PYTHONPATH": str(HERE / "liar")} if liar else {}
        environment = Environment(sys.executable, Kind.SYSTEM, name, sys.prefix, variables=variables)
        target = Target(0, environment, "torch")
        cancel = Event()
        proven = prove_one(self.gateway, target, self.instruments, options or Options(), cancel)
        own = {"version": proven.proof.claims.version, "import_ok": True, "cuda_available": True, "cuda_build": "13.0"}
        document = Document({"environments": [{"interpreter": {"path": sys.executable, "name": name}, "torch": own}]})
        document = with_proofs(document, (proven,))
        self.claims[name] = dataclasses.asdict(proven.proof.claims) | {"pids": sorted(proven.proof.claims.pids)}
        self.facts[name] = document.facts["environments"][0]["torch"]["proof"]
        made = report(document, diagnose(document, RULES), RULES, SystemClock().now(), None)
        self.reports.append(f"=== {name}\n{text.terminal(made)}\n\n--- markdown\n{text.markdown(made)}")
        return proven

    def expect(self, name: str, proven: Proven, outcome: str) -> None:
        proof = proven.proof
        device = proof.devices[0] if proof.devices else None
        words = [proof.outcome.value, proof.why.value, proof.claims.problem, proof.claims.error[:200]]
        if device is not None:
            seen, fastest = device.seen, device.claim.fastest
            words += [
                device.confidence.value,
                f"{fastest.precision} {fastest.flops_per_s / 1e12:.1f} TFLOP/s error {fastest.error:.1e}"
                if fastest
                else "",
                f"own {seen.own}",
                f"runs { {run.precision: run.problem or run.side for run in device.claim.runs} }",
                f"own memory {seen.own_memory_bytes} steps {seen.own_steps} device {seen.steps}",
                f"active {[metric for metric, found in seen.activity.items() if found.rises]}",
                f"busy when idle {seen.busy_idle} others {seen.others} budget {device.claim.budget_bytes}",
                f"free {device.claim.free_bytes} samples {seen.samples} {device.proportion}",
                device.claim.error[:300],
            ]
        self.check(name, proof.outcome.value == outcome, "\n        ".join(word for word in words if word))


def until(cases: Cases, done: Callable[[Sample], bool], seconds: float) -> bool:
    """Wait for the newest sample to be so."""
    end_s = time.monotonic() + seconds
    while time.monotonic() < end_s:
        samples = cases.instruments.samples()
        if samples and done(samples[-1]):
            return True
        time.sleep(0.1)
    return False


def figure(sample: Sample, metric: str) -> float:
    """Of the first GPU; -1 when missing."""
    for info in sample.inventory:
        value = number(sample.devices[info.key].values.get(metric)) if info.key in sample.devices else None
        if value is None:
            value = number(info.static.get(metric))
        return -1.0 if value is None else float(value)
    return -1.0


def settings() -> str:
    """Everything of the card that could be set."""
    done = subprocess.run(
        ["nvidia-smi", f"--query-gpu={SETTINGS}", "--format=csv,noheader"], capture_output=True, text=True, check=False
    )
    return (done.stdout + done.stderr).strip()


def left_behind() -> list[int]:
    """Processes that were started for a proof."""
    found = []
    for entry in Path("/proc").iterdir():
        if entry.name.isdecimal():
            try:
                if f"{MARK}=".encode() in (entry / "environ").read_bytes():
                    found.append(int(entry.name))
            except OSError:
                continue
    return found


def workload(name: str, *options: str) -> subprocess.Popen[bytes]:
    """Another process on the GPU."""
    return subprocess.Popen([sys.executable, str(HERE / name), *options], stdout=subprocess.DEVNULL)


def end(process: subprocess.Popen[bytes]) -> None:
    """Let it go."""
    process.kill()
    process.wait()


def run(cases: Cases, parts: str) -> None:
    """The cases in order; e always."""
    before = settings()
    cases.instruments.start(Event())
    for part, case in (("a", plain), ("b", lie), ("c", busy_gpu), ("d", little_memory)):
        if part in parts:
            case(cases)
    ending(cases, before)


def plain(cases: Cases) -> None:
    """Torch as it is."""
    cases.expect("a. torch: proven", cases.prove("plain", liar=False), "proven")


def lie(cases: Cases) -> None:
    """Success without work."""
    cases.expect("b. liar: claimed, not seen", cases.prove("liar", liar=True), "not-seen")


def busy_gpu(cases: Cases) -> None:
    """Another process computes meanwhile."""
    busy = workload("train.py", "--seconds", "80")
    try:
        is_busy = until(cases, lambda sample: figure(sample, "gpu_utilization") > 0.5, 30)
        cases.check("c. another process keeps the GPU busy", is_busy)
        cases.expect("c. torch beside it: proven", cases.prove("plain-busy", liar=False), "proven")
        cases.expect("c. liar beside it: claimed, not seen", cases.prove("liar-busy", liar=True), "not-seen")
    finally:
        end(busy)


def little_memory(cases: Cases) -> None:
    """Another process holds all but 1 GiB."""
    until(cases, lambda sample: figure(sample, "memory_used_bytes") < 2 * GIB, 5)
    free = figure(cases.instruments.samples()[-1], "memory_free_bytes")
    # The holder's own context takes some 0.5 GiB.
    holder = workload("hold.py", "--gib", f"{free / GIB - 1.0 - 0.52:.3f}", "--seconds", "60")
    try:
        until(cases, lambda sample: 0 <= figure(sample, "memory_free_bytes") < 1.3 * GIB, 25)
        left = figure(cases.instruments.samples()[-1], "memory_free_bytes")
        cases.check("d. about 1 GiB is free", 0.6 * GIB < left < 1.3 * GIB, f"{left / GIB:.2f} GiB")
        proven = cases.prove("little-memory", liar=False)
        cases.expect("d. torch with 1 GiB free: proven", proven, "proven")
        (device,) = proven.proof.devices
        before = device.seen.free_before_bytes or 0
        modest = 0 < device.claim.budget_bytes <= before / 4
        cases.check("d. at most a quarter of the free memory", modest, f"{device.claim.budget_bytes} of {before}")
    finally:
        end(holder)


def ending(cases: Cases, before: str) -> None:
    """Nothing is left, nothing was changed."""
    cancel = Event()
    cancel.set()
    target = Target(0, Environment(sys.executable, Kind.SYSTEM, "cancelled", sys.prefix), "torch")
    begin_s = time.monotonic()
    prove_one(cases.gateway, target, cases.instruments, Options(), cancel)
    cases.check("e. cancelled at once", time.monotonic() - begin_s < 0.5, f"{time.monotonic() - begin_s:.2f} s")
    cases.check("e. no process is left", left_behind() == [], left_behind())
    cases.check("e. clocks, limits and modes are as before", settings() == before, before)


def main() -> int:
    """Run everything, save what was found."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--only", default="abcd", help="letters of the cases")
    arguments = parser.parse_args()
    out = arguments.out
    out.mkdir(parents=True, exist_ok=True)
    instruments = Watched(out / "proof.gpumon")
    cases = Cases(instruments)
    try:
        run(cases, arguments.only)
    finally:
        instruments.close()
        (out / "proof-facts.json").write_text(json.dumps(cases.facts, indent=1), encoding="utf-8")
        (out / "proof-claims.json").write_text(json.dumps(cases.claims, indent=1), encoding="utf-8")
        (out / "proof-reports.txt").write_text("\n\n".join(cases.reports), encoding="utf-8")
    print("failures", cases.failures, flush=True)
    return 1 if cases.failures else 0


if __name__ == "__main__":
    sys.exit(main())
