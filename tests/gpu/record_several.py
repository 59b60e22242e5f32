"""Knows: which workloads on two GPUs are recorded, and what each of them really is. Must not know: what any rule says.

``python -m tests.gpu.record_several FOLDER [--only NAME …] [--budget SECONDS]``, on a machine with two GPUs of one
kind. Writes recordings and ``labels.json`` as ``record_workloads`` does.
"""

from __future__ import annotations

import argparse
import json
import time
from pathlib import Path

from tests.gpu.record_workloads import HEADER, NOT_SLOW, Run, label, record, summary

GROUPS = ("multi-gpu-straggler", "communication-bound", "multi-gpu-serialised", "multi-gpu-idle-device")


def _but(*codes: str) -> tuple[str, ...]:
    return tuple(code for code in (*GROUPS, "busy-without-progress", "gpu-memory-growing") if code not in codes)


RUNS: tuple[Run, ...] = (
    Run("even-ranks", ("several.py even_ranks",), (), (*_but(), *NOT_SLOW), "the same work on both ranks"),
    Run(
        "uneven-ranks",
        ("several.py uneven_ranks",),
        ("multi-gpu-straggler",),
        (*_but("multi-gpu-straggler"), "input-pipeline-bound"),
        "the second rank has three times the rows: GPU 0 waits for GPU 1",
    ),
    Run(
        "small-batches",
        ("several.py small_batches",),
        ("communication-bound",),
        (*_but("communication-bound"), "input-pipeline-bound"),
        "256 rows a step, 1.6 GB of gradients: the exchange takes longer than the arithmetic",
    ),
    Run(
        "collectives",
        ("several.py collectives",),
        ("communication-bound",),
        (*_but("communication-bound"), "input-pipeline-bound"),
        "2 GiB are summed over the ranks in each step, for hardly any arithmetic",
    ),
    Run(
        "hang",
        ("several.py hang",),
        ("busy-without-progress",),
        (*_but("busy-without-progress"), "input-pipeline-bound"),
        "one rank left, the other waits in a collective",
    ),
    Run(
        "context-on-the-first",
        ("several.py context_on_the_first",),
        ("ddp-rank-device-not-set",),
        (*_but(), *NOT_SLOW),
        "the second rank opens GPU 0 too",
    ),
    Run(
        "layers-in-turns",
        ("several.py layers_in_turns",),
        ("multi-gpu-serialised",),
        (*_but("multi-gpu-serialised"), "input-pipeline-bound"),
        "half of the layers on each GPU, one batch at a time, many turns in a second",
    ),
    Run(
        "slow-turns",
        ("several.py slow_turns",),
        ("multi-gpu-serialised",),
        (*_but("multi-gpu-serialised"), "input-pipeline-bound"),
        "the same, turns of seconds",
        seconds=24,
    ),
    Run(
        "data-parallel",
        ("several.py data_parallel",),
        (),
        (*_but(), "input-pipeline-bound"),
        "DataParallel: one process, GPU 0 holds more",
    ),
    Run(
        "only-the-first",
        ("several.py only_the_first",),
        ("multi-gpu-idle-device",),
        (*_but("multi-gpu-idle-device"), *NOT_SLOW),
        "GPU 1 is not used",
    ),
)


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
    begin, labels, lines = time.monotonic(), [], [HEADER]
    chosen = [run for run in RUNS if not arguments.only or run.name in arguments.only]
    for run in chosen:
        if time.monotonic() - begin + (arguments.seconds or run.seconds) + 10 > arguments.budget:
            print(f"{run.name}: no time left")
            continue
        if record(run, arguments.folder, arguments.device, arguments.seconds):
            labels.append({**label(run), "gpus": 2})
            (arguments.folder / "labels.json").write_text(json.dumps(labels, indent=1), encoding="utf-8")
            lines.append(summary(arguments.folder / f"{run.name}.gpumon"))
    print("\n".join(lines))
    return 0 if len(labels) == len(chosen) else 1


if __name__ == "__main__":
    raise SystemExit(main())
