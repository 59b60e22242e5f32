"""How often Watch names what is wrong with labelled recordings.

Run: ``python -m tests.benchmarks.score_traces [--more] [FOLDER]``.

A folder (``tests/data/traces`` unless another is given) holds recordings (``.gpumon``) or traces (``.jsonl.gz``) and a
``labels.json``: a list of ``{"trace" (or "recording"): file name, "workload", "expect": [codes], "must_not_report":
[codes], "accept_instead"?: [codes]}``; one of the last is as good as what is expected. Each is
judged whole, and again as six poorer copies: one sample a second, without hardware counters (``gpm``), without the
driver's figures per process (``putil``), without both, with a tenth of the samples lost, and the first eight seconds
only. ``--more`` adds copies that differ by chance: each fifth sample from the second to the fifth one on, two a second,
other and more samples lost, other beginnings, nothing known of the CPU. Nothing of a label is shown to the judge. Exit
code 1 when a code is missing or forbidden on the whole recordings, or when anything forbidden is said of a copy.
"""

from __future__ import annotations

import argparse
import json
import lzma
import random
import sys
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from types import MappingProxyType

from gpumon_gui.core.model import DeviceKey, DeviceSample, ProcessSample, Sample
from gpumon_gui.core.values import Missing, Reason
from gpumon_gui.diagnosis.behaviour.judge import judge
from gpumon_gui.diagnosis.finding import Confidence, Finding, Severity
from gpumon_gui.telemetry.recording.open import open_recording

TRACES = Path(__file__).parents[1] / "data" / "traces"
WHOLE = "whole"
_COUNTERS = (
    *("graphics_activity", "sm_activity", "sm_occupancy", "tensor_activity", "dram_activity"),
    *("fp64_activity", "fp32_activity", "fp16_activity", "nvlink_tx_bytes_per_s", "nvlink_rx_bytes_per_s"),
)
_PER_PROCESS = ("process_gpu_utilization", "process_memory_utilization")
_GONE = Missing(Reason.NOT_READ)


def one_hertz(samples: Sequence[Sample]) -> list[Sample]:
    """One sample a second, as they are: figures since the sample before cover less than the second."""
    kept: list[Sample] = []
    for sample in samples:
        if not kept or sample.monotonic_s - kept[-1].monotonic_s >= 0.95:
            kept.append(sample)
    return kept


def each_fifth(start: int) -> Callable[[Sequence[Sample]], list[Sample]]:
    """One sample a second of a recording at five, from that one on: readings of a fraction of a second differ."""
    return lambda samples: one_hertz(samples[start:])


def two_hertz(samples: Sequence[Sample]) -> list[Sample]:
    """About two samples a second."""
    kept: list[Sample] = []
    for sample in samples:
        if not kept or sample.monotonic_s - kept[-1].monotonic_s >= 0.45:
            kept.append(sample)
    return kept


def losing(share: float, seed: int) -> Callable[[Sequence[Sample]], list[Sample]]:
    """A share of the samples lost, always the same ones."""

    def lose(samples: Sequence[Sample]) -> list[Sample]:
        chance = random.Random(seed)
        return [sample for sample in samples if chance.random() >= share]

    return lose


def until(seconds: float) -> Callable[[Sequence[Sample]], list[Sample]]:
    """What is seen so long after the start."""
    return lambda samples: [one for one in samples if one.monotonic_s - samples[0].monotonic_s <= seconds]


def without_host(samples: Sequence[Sample]) -> list[Sample]:
    """Nothing but what the driver tells: no CPU, no helpers, no commands."""
    return [
        replace(
            sample,
            processes=tuple(
                replace(process, values={}, command=(), framework="") for process in sample.processes if process.uses
            ),
        )
        for sample in samples
    ]


def without_counters(samples: Sequence[Sample]) -> list[Sample]:
    """As on cards without hardware counters (GPM)."""
    return [replace(sample, devices=_devices(sample, _COUNTERS)) for sample in samples]


def without_processes(samples: Sequence[Sample]) -> list[Sample]:
    """As on Windows and old cards: who uses the GPU is known, not how much."""
    return [replace(sample, processes=tuple(_process(process) for process in sample.processes)) for sample in samples]


def without_both(samples: Sequence[Sample]) -> list[Sample]:
    """Neither hardware counters nor figures per process."""
    return without_processes(without_counters(samples))


COPIES: Mapping[str, Callable[[Sequence[Sample]], list[Sample]]] = {
    WHOLE: list,
    "1 Hz": one_hertz,
    "no gpm": without_counters,
    "no putil": without_processes,
    "no gpm+putil": without_both,
    "10 % lost": losing(0.1, 1),
    "first 8 s": until(8.0),
}
#: Copies for ``--more``.
MORE: Mapping[str, Callable[[Sequence[Sample]], list[Sample]]] = {
    **{f"1 Hz +{start}": each_fifth(start) for start in range(1, 5)},
    "2 Hz": two_hertz,
    **{f"10 % lost {seed}": losing(0.1, seed) for seed in (2, 3)},
    **{f"30 % lost {seed}": losing(0.3, seed) for seed in (1, 2, 3)},
    **{f"first {seconds} s": until(seconds) for seconds in (3, 5, 10, 12)},
    "no host": without_host,
}


@dataclass(frozen=True)
class Labelled:
    """A recording and what is known of it."""

    path: Path
    workload: str
    expect: frozenset[str]
    forbidden: frozenset[str]
    instead: frozenset[str]


@dataclass(frozen=True)
class Scored:
    """What was said of one copy of a recording."""

    label: Labelled
    copy: str
    found: tuple[Finding, ...]
    bugs: tuple[str, ...]

    @property
    def codes(self) -> frozenset[str]:
        return frozenset(finding.code for finding in self.found)

    @property
    def missing(self) -> frozenset[str]:
        return frozenset() if self.label.instead & self.codes else self.label.expect - self.codes

    @property
    def wrong(self) -> frozenset[str]:
        """Said although it is forbidden."""
        return self.label.forbidden & self.codes

    @property
    def unasked(self) -> frozenset[str]:
        """Said to slow the program down or worse, and not expected: read whether it is true."""
        return frozenset(
            finding.code
            for finding in self.found
            if finding.severity is not Severity.INFO
            and finding.confidence is not Confidence.LOW
            and finding.code not in self.label.expect | self.label.instead
        )

    @property
    def right(self) -> bool:
        return not self.missing and not self.wrong and not self.bugs


def load(folder: Path) -> list[Labelled]:
    """The labelled recordings of a folder."""
    entries = json.loads((folder / "labels.json").read_text(encoding="utf-8"))
    return [
        Labelled(
            folder / (entry.get("trace") or entry["recording"]),
            str(entry.get("workload", "")),
            frozenset(entry.get("expect", ())),
            frozenset(entry.get("must_not_report", ())),
            frozenset(entry.get("accept_instead", ())),
        )
        for entry in entries
    ]


def samples_of(path: Path) -> list[Sample]:
    """All samples of a recording, which may be packed (``.xz``). Raises UnreadableInput."""
    if path.suffix == ".xz" or not path.exists():
        packed = path if path.suffix == ".xz" else path.with_name(path.name + ".xz")
        with tempfile.TemporaryDirectory() as folder:
            unpacked = Path(folder) / packed.stem
            unpacked.write_bytes(lzma.decompress(packed.read_bytes()))
            return samples_of(unpacked)
    recorded = open_recording(path)
    try:
        return [recorded.sample(index) for index in range(len(recorded))]
    finally:
        recorded.close()


def score(label: Labelled, copies: Sequence[str] = tuple(COPIES)) -> Iterator[Scored]:
    """Judge a recording and its copies."""
    samples = samples_of(label.path)
    for name in copies:
        diagnosis = judge({**COPIES, **MORE}[name](samples)).diagnosis
        bugs = tuple(f"{bug.code}: {bug.error}" for bug in diagnosis.bugs)
        yield Scored(label, name, diagnosis.findings, bugs)


def said(scored: Scored) -> str:
    """``code (confidence)`` of each finding."""
    return (
        ", ".join(f"{finding.code} ({finding.confidence}, {finding.severity})" for finding in scored.found) or "nothing"
    )


def main(words: Sequence[str] | None = None) -> int:
    """Print what was found of each, and how many were right."""
    parser = argparse.ArgumentParser(description="score Watch on labelled recordings")
    parser.add_argument("folder", nargs="?", type=Path, default=TRACES)
    parser.add_argument("--more", action="store_true", help="more copies")
    asked = parser.parse_args(words)
    names = (*COPIES, *MORE) if asked.more else tuple(COPIES)
    results = [scored for label in load(asked.folder) for scored in score(label, names)]
    for scored in results:
        if scored.copy == WHOLE:
            label = scored.label
            print(f"{label.path.name}  {label.workload}")
            print(f"    expected   {', '.join(sorted(label.expect)) or 'nothing in particular'}")
            print(f"    forbidden  {', '.join(sorted(label.forbidden)) or 'nothing'}")
        mark = "ok" if scored.right else "WRONG" if scored.wrong else "missing" if scored.missing else "BUG"
        print(f"    {mark:8} {scored.copy:13} {said(scored)}")
        for bug in scored.bugs:
            print(f"             rule raised: {bug}")
        if scored.unasked:
            print(f"             also: {', '.join(sorted(scored.unasked))}")
    print(f"\n{'copy':13} {'right':>5} {'missing':>8} {'wrong':>6} {'also said':>10} {'of':>4}")
    for name in names:
        group = [scored for scored in results if scored.copy == name]
        counts = (
            sum(scored.right for scored in group),
            sum(bool(scored.missing) for scored in group),
            sum(bool(scored.wrong) for scored in group),
            sum(bool(scored.unasked) for scored in group),
        )
        print(f"{name:13} {counts[0]:5} {counts[1]:8} {counts[2]:6} {counts[3]:10} {len(group):4}")
    good = all(scored.right if scored.copy == WHOLE else not scored.wrong and not scored.bugs for scored in results)
    return 0 if good else 1


def _devices(sample: Sample, gone: Sequence[str]) -> Mapping[DeviceKey, DeviceSample]:
    return MappingProxyType(
        {
            key: replace(
                device, values={name: _GONE if name in gone else value for name, value in device.values.items()}
            )
            for key, device in sample.devices.items()
        }
    )


def _process(process: ProcessSample) -> ProcessSample:
    uses = tuple(
        replace(use, values={name: value for name, value in use.values.items() if name not in _PER_PROCESS})
        for use in process.uses
    )
    return replace(process, uses=uses)


if __name__ == "__main__":
    sys.exit(main())
