"""Knows: one reading of everything, as text or JSON. Must not know: how it is read.

Two samples are taken: some figures are differences of two readings.
"""

from __future__ import annotations

import argparse
import sys

from gpumon_gui.cli import document, report
from gpumon_gui.cli.sampling import check_scenario, no_reading, supervised, tell
from gpumon_gui.core.clock import SystemClock
from gpumon_gui.core.messages import _
from gpumon_gui.core.model import Demand, Sample
from gpumon_gui.system import console
from gpumon_gui.telemetry.sampler_status import SampleReady

#: Between the two samples. Windows' counters give nothing new within a second ("Collecting performance data").
INTERVAL_S = 1.0 if sys.platform == "win32" else 0.5
#: A hung driver is found after 10 s; the sampler then starts without it and answers.
PATIENCE_S = 30.0


def summary() -> str:
    """One line for the help."""
    return _("one reading of all GPUs, the processes that use them, CPU and memory")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The command's own options."""
    parser.add_argument("--json", action="store_true", help=_("one JSON document (schema gpumon-snapshot/1)"))
    parser.add_argument("--scenario", metavar="NAME", help=_("read a scripted machine instead of this one"))


def run(arguments: argparse.Namespace) -> int:
    """Print the snapshot. Raises GpumonError when no sample came."""
    check_scenario(arguments.scenario)
    sample = take(arguments.scenario)
    console.put(document.dump(sample) if arguments.json else report.text(sample))
    return 0


def take(scenario: str | None) -> Sample:
    """The second sample after the start. Raises GpumonError."""
    clock = SystemClock()
    deadline_s = clock.now().monotonic_s + PATIENCE_S
    taken: list[Sample] = []
    demand = Demand(interval_s=INTERVAL_S, details=True, processes=True, cpu_processes=True)
    with supervised(scenario, demand, clock) as supervisor:
        while (now_s := clock.now().monotonic_s) < deadline_s:
            for event in supervisor.step(deadline_s - now_s):
                if isinstance(event, SampleReady):
                    # The first sample after a restart of the sampler is a first sample again.
                    if event.sample.interval_s == 0.0:
                        taken.clear()
                    taken.append(event.sample)
                    if len(taken) == 2:
                        return event.sample
                else:
                    tell(event.status, clock.now().monotonic_s)
    if taken:
        return taken[-1]
    raise no_reading(PATIENCE_S)
