"""Knows: a recording from the command line. Must not know: the file format, the sources."""

from __future__ import annotations

import argparse
import platform
import sys
from pathlib import Path

from gpumon_gui.cli.arguments import between
from gpumon_gui.cli.sampling import (
    FASTEST_HZ,
    PATIENCE_S,
    check_scenario,
    no_reading,
    say,
    supervised,
    tell,
    until_interrupted,
)
from gpumon_gui.core.clock import SystemClock
from gpumon_gui.core.files import shown
from gpumon_gui.core.formatters import memory
from gpumon_gui.core.messages import _, ngettext
from gpumon_gui.core.model import Demand
from gpumon_gui.system import console
from gpumon_gui.telemetry.recording import size_hint
from gpumon_gui.telemetry.recording.writer import RecordingWriter
from gpumon_gui.telemetry.sampler_status import SampleReady

SLOWEST_HZ = 0.01


def summary() -> str:
    """One line for the help."""
    return _("record readings into one file, to be replayed or sent to somebody")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The command's own options."""
    hour = memory(size_hint(devices=1, hz=1.0, seconds=3600))
    more = memory(size_hint(devices=2, hz=1.0, seconds=3600) - size_hint(devices=1, hz=1.0, seconds=3600))
    parser.epilog = _(
        "At one sample a second a recording grows by about {hour} an hour with one GPU, and {more} for each further "
        "one. It is one SQLite file and can be read at any moment, also after a crash or power cut. It holds names, "
        "command lines and users of GPU processes; --redact hides users, paths and ids."
    ).format(hour=hour, more=more)
    parser.add_argument("-o", "--output", required=True, type=Path, metavar="FILE", help=_("the file to write"))
    parser.add_argument("--seconds", type=_seconds, metavar="N", help=_("stop after N seconds (default: until Ctrl+C)"))
    parser.add_argument("--hz", type=_hz, default=1.0, metavar="H", help=_("samples a second (default: 1)"))
    parser.add_argument("--redact", action="store_true", help=_("hide user names, home paths, host name and ids"))
    parser.add_argument("--scenario", metavar="NAME", help=_("record a scripted machine instead of this one"))


def run(arguments: argparse.Namespace) -> int:
    """Record until the time is over or somebody stops it. Raises GpumonError."""
    check_scenario(arguments.scenario)
    clock = SystemClock()
    meta = {"system": f"{platform.system()} {platform.release()}", "hz": f"{arguments.hz:g}"}
    if arguments.scenario:
        meta["scenario"] = arguments.scenario
    demand = Demand(interval_s=1.0 / arguments.hz, details=True, processes=True, cpu_processes=True)
    writer = RecordingWriter(arguments.output, meta, redact=arguments.redact)
    try:
        with until_interrupted() as stop, supervised(arguments.scenario, demand, clock) as supervisor:
            begin_s = last_s = clock.now().monotonic_s
            while not stop.is_set():
                now_s = clock.now().monotonic_s
                if arguments.seconds is not None and writer.written and now_s - begin_s >= arguments.seconds:
                    break
                for event in supervisor.step(0.2):
                    if isinstance(event, SampleReady):
                        if not writer.written and last_s == begin_s:
                            begin_s = clock.now().monotonic_s  # the time runs from the first sample
                        last_s = clock.now().monotonic_s
                        writer.append(event.sample)
                        _progress(last_s - begin_s)
                    else:
                        tell(event.status, clock.now().monotonic_s)
                if now_s - last_s > PATIENCE_S + 1.0 / arguments.hz:
                    raise no_reading(PATIENCE_S)
    finally:
        writer.close()
    count, size = writer.written, memory(writer.path.stat().st_size)
    words = ngettext("{count} sample in {file} ({size}).", "{count} samples in {file} ({size}).", count)
    say(words.format(count=count, file=shown(arguments.output), size=size))
    return 0


def _progress(seconds: float) -> None:
    """One line that is rewritten, for a person who watches."""
    if sys.stderr.isatty():
        line = _("{seconds} s recorded, stop with Ctrl+C").format(seconds=round(seconds))
        console.say(f"\r{line}", end="\r")


def _seconds(text: str) -> float:
    return between(text, 0.1, 366 * 86400.0)


def _hz(text: str) -> float:
    return between(text, SLOWEST_HZ, FASTEST_HZ)
