"""Knows: the verdict on a program's behaviour from the command line. Must not know: rules, where samples come from."""

from __future__ import annotations

import argparse
import math
import sys
from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path
from typing import Any

from gpumon_gui.cli.arguments import between
from gpumon_gui.cli.output import hand_out, report_file, with_log
from gpumon_gui.cli.sampling import FASTEST_HZ, check_scenario, say, until_interrupted
from gpumon_gui.cli.started import Started
from gpumon_gui.cli.target import Everything, Running, Target
from gpumon_gui.cli.watching import SLOWEST_HZ, Seen, live, recorded
from gpumon_gui.core.clock import Clock, SystemClock
from gpumon_gui.core.errors import GpumonError
from gpumon_gui.core.files import printable, shown
from gpumon_gui.core.formatters import duration, percent
from gpumon_gui.core.messages import _
from gpumon_gui.core.model import Sample
from gpumon_gui.core.values import number
from gpumon_gui.diagnosis.behaviour.best import Key, key
from gpumon_gui.diagnosis.behaviour.job_facts import does_little
from gpumon_gui.diagnosis.behaviour.spans import ENOUGH_S
from gpumon_gui.diagnosis.behaviour.watcher import Verdict
from gpumon_gui.diagnosis.engine import diagnose as judge
from gpumon_gui.diagnosis.facts import Document
from gpumon_gui.diagnosis.finding import Diagnosis, Finding
from gpumon_gui.diagnosis.report import words
from gpumon_gui.diagnosis.report.watch import turn_facts
from gpumon_gui.diagnosis.rules.table import RULES
from gpumon_gui.system import console
from gpumon_gui.telemetry.provenance import source_name

#: Without a program to follow.
_USUAL_S = 30.0
_LONGEST_S = 366 * 86400.0
#: How long a program that was asked to end may take until we leave it.
_GRACE_S = 10.0


def summary() -> str:
    """One line for the help."""
    return _("what holds a running program back: watches it and gives a verdict with evidence and advice")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The command's own options."""
    parser.usage = _("gpumon watch [--pid PID | --replay FILE] [options] [-- COMMAND …]")
    parser.epilog = _(
        "Without --pid, --replay and a COMMAND whatever uses a GPU is watched for 30 s. A COMMAND is started in this "
        "terminal and followed with everything it starts, to its end; Ctrl+C is for it. Pressed three times, Ctrl+C "
        "leaves a COMMAND that does not end running. With --json what it prints goes to standard error. Exit code: 0 "
        "nothing needs action, 1 something does, 2 wrong usage or unreadable input, 3 an internal fault; that of the "
        "COMMAND is in the report."
    )
    what = parser.add_mutually_exclusive_group()
    what.add_argument("--pid", type=_pid, metavar="PID", help=_("a process that runs, with everything below it"))
    what.add_argument(
        "--replay",
        type=Path,
        metavar="FILE",
        help=_("a recording, a trace, or a CSV log of nvidia-smi --query-gpu=timestamp,… --format=csv -l 1"),
    )
    parser.add_argument(
        "--seconds", type=_seconds, metavar="N", help=_("watch for N seconds (default: until the program ends)")
    )
    parser.add_argument("--hz", type=_hz, metavar="H", help=_("samples a second (default: 4)"))
    parser.add_argument(
        "--from", dest="since", type=_moment, default=0.0, metavar="S", help=_("of the FILE, from second S on")
    )
    parser.add_argument("--to", dest="until", type=_moment, metavar="S", help=_("of the FILE, up to second S"))
    parser.add_argument(
        "--log",
        action="append",
        metavar="FILE",
        help=_("judge also what the program printed (may be given several times)"),
    )
    parser.add_argument("--json", action="store_true", help=_("one JSON document (schema gpumon-report/1)"))
    parser.add_argument(
        "--report", type=report_file, metavar="FILE", help=_("save the redacted report: .html, .md or .json")
    )
    parser.add_argument("--scenario", metavar="NAME", help=_("watch a scripted machine instead of this one"))


def run(arguments: argparse.Namespace) -> int:
    """Watch and print the verdict; 1 when something needs action. Raises GpumonError."""
    _check(arguments)
    clock = SystemClock()
    if arguments.replay is not None:
        seen, watch = _replayed(arguments)
    elif arguments.command is not None:
        seen, watch = _commanded(arguments, clock)
    else:
        seen, watch = _followed(arguments, clock)
    return _report(arguments, clock, seen, watch)


def _check(arguments: argparse.Namespace) -> None:
    if arguments.command is not None and (arguments.pid is not None or arguments.replay is not None):
        raise GpumonError(_("a COMMAND is started and followed: --pid and --replay do not go with it."))
    if arguments.command == []:
        raise GpumonError(_("there is no COMMAND after --."))
    if arguments.replay is None and (arguments.since or arguments.until is not None):
        raise GpumonError(_("--from and --to are about the FILE of --replay."))
    if arguments.until is not None and arguments.until <= arguments.since:
        raise GpumonError(_("--to must be later than --from."))
    if arguments.replay is not None and (arguments.hz is not None or arguments.scenario is not None):
        raise GpumonError(_("--hz and --scenario do not go with --replay."))
    check_scenario(arguments.scenario)


# -- the three ways


def _replayed(arguments: argparse.Namespace) -> tuple[Seen, dict[str, Any]]:
    from gpumon_gui.telemetry.recording.open import open_recording  # only loaded when asked for

    until_s = arguments.until
    if arguments.seconds is not None:
        until_s = min(arguments.since + arguments.seconds, math.inf if until_s is None else until_s)
    source = open_recording(arguments.replay)
    try:
        if arguments.since > source.times[-1]:
            message = _("{path}: is {seconds} s long; --from is beyond its end.")
            raise GpumonError(message.format(path=shown(arguments.replay), seconds=round(float(source.times[-1]))))
        with until_interrupted() as stop:
            seen = recorded(source, arguments.pid, arguments.since, until_s, stop, _Status(len(source) > 1000).recorded)
        if source.meta.get("notice"):
            seen.notes.insert(0, source.meta["notice"])
    finally:
        source.close()
        _clear()
    return seen, {"mode": "replay", "file": arguments.replay.name}


def _followed(arguments: argparse.Namespace, clock: Clock) -> tuple[Seen, dict[str, Any]]:
    target: Target = Everything()
    if arguments.pid is not None and arguments.scenario is not None:
        target = _Scripted(arguments.pid)
    elif arguments.pid is not None:
        running = Running(arguments.pid)
        target = running
        hidden = running.hidden()
        if hidden:
            say(hidden)
    seconds = arguments.seconds
    if seconds is None and target.pid is None:
        seconds = _USUAL_S
    with until_interrupted() as stop:
        seen = live(target, seconds, arguments.hz, arguments.scenario, clock, stop, _Status(True).live)
    _clear()
    return seen, {"mode": "pid" if target.pid is not None else "all", **_of_target(target, clock)}


def _commanded(arguments: argparse.Namespace, clock: Clock) -> tuple[Seen, dict[str, Any]]:
    begin_s = clock.now().monotonic_s
    program = Started(arguments.command, quiet_stdout=arguments.json)
    show = _Status(False).live
    with program.passing_signals_on(_GRACE_S) as unheard:
        # Signals are for the program: watching ends with it, or when it does not hear them.
        try:
            seen = live(program, arguments.seconds, arguments.hz, arguments.scenario, clock, unheard, show)
        except BaseException as error:
            if not program.ended():
                say(
                    _("watching failed ({detail}); {program} goes on, and GPUMon waits for its end.").format(
                        detail=str(error) or type(error).__name__, program=program.name
                    )
                )
            raise
        finally:  # also when the time for watching is over
            while not unheard.is_set() and not program.wait(1.0):
                pass
            if not program.ended():
                say(_("{program} still runs; it is left running.").format(program=program.name))
    ran = {"run_s": round(clock.now().monotonic_s - begin_s, 1)}
    return seen, {"mode": "command", "command": list(arguments.command), **_of_target(program, clock), **ran}


def _of_target(target: Target, clock: Clock) -> dict[str, Any]:
    if target.pid is None:
        return {}
    facts: dict[str, Any] = {"pid": target.pid, "ended": target.ended(), "exit_code": target.exit_code}
    if target.started_utc_s is not None:
        facts["run_s"] = round(max(0.0, clock.now().utc_s - target.started_utc_s), 1)
    return facts


class _Scripted(Everything):
    """A process of a scripted machine; never over."""

    def __init__(self, pid: int) -> None:
        self.pid = pid


# -- what is said meanwhile, on standard error


class _Status:
    """Says the verdict when it is stable and again when it is another one; ``line``: shows a line that is rewritten,
    where a person looks at it and no program writes beside it."""

    def __init__(self, line: bool) -> None:
        self._line = line and sys.stderr.isatty()
        self._said: Key | None = None
        self._has_said = False

    def live(self, verdict: Verdict | None, sample: Sample, at_s: float) -> None:
        if verdict is not None and verdict.stable and not (self._has_said and key(verdict.primary) == self._said):
            self._has_said, self._said = True, key(verdict.primary)
            _clear()
            code = f" ({verdict.primary.code})" if verdict.primary is not None else ""
            say(_("{time}: {verdict}").format(time=duration(at_s), verdict=_said(verdict)) + code)
        if self._line:
            parts = [duration(at_s), *_load(sample)]
            if verdict is None or not verdict.stable:
                wait_s = ENOUGH_S if verdict is None else verdict.needs_s
                parts.append(_("verdict in {seconds} s").format(seconds=max(1, math.ceil(wait_s))))
            else:
                parts.append(_said(verdict))
            _rewrite(", ".join(parts))

    def recorded(self, _verdict: Verdict | None, _sample: Sample, at_s: float) -> None:
        if self._line:
            _rewrite(_("judging, {time} so far").format(time=duration(at_s)))


def sentence(finding: Finding | None, *, is_idle: bool = False) -> str:
    """A verdict in one line; ``is_idle``: the GPU does little, and no cause is known."""
    if finding is None and is_idle:
        return _(words.IDLE)
    if finding is None:
        return _("nothing was found that holds it back")
    return printable(_(finding.title).format(**finding.values))


def _said(verdict: Verdict) -> str:
    """The same of a verdict: a GPU that does little without a cause is not well."""
    return sentence(verdict.primary, is_idle=does_little(verdict.behaviour.document.facts["jobs"]))


def _load(sample: Sample) -> Iterable[str]:
    for info in sample.inventory[:4]:
        device = sample.devices.get(info.key)
        busy = None if device is None else number(device.values.get("gpu_utilization"))
        if busy is None and device is not None:
            busy = number(device.values.get("engine_utilization"))
        if busy is not None:
            yield f"GPU {info.index} {percent(busy)}"


def _rewrite(line: str) -> None:
    console.say(f"\r\x1b[K{line[:150]}", end="")


def _clear() -> None:
    if sys.stderr.isatty():
        console.say("\r\x1b[K", end="")


# -- the end


def _report(arguments: argparse.Namespace, clock: Clock, seen: Seen, watch: dict[str, Any]) -> int:
    if seen.verdict is None:
        document, diagnosis = Document({"window": {}, "jobs": []}), Diagnosis()
        seen.notes = seen.notes or [_("It ended before anything could be seen of it.")]
    else:
        document, diagnosis = seen.verdict.behaviour.document, seen.verdict.behaviour.diagnosis
    if seen.foreign:
        seen.notes.append(
            _(
                "The driver lists processes by numbers of another container or system: which of them is the program "
                "cannot be told."
            )
        )
    facts = {**watch, **_of_seen(seen)}
    document = replace(document, facts={**document.facts, "watch": facts})
    trouble: GpumonError | None = None  # told after the verdict: what was watched cannot be watched again
    for log in arguments.log or ():
        try:
            document = with_log(document, log)
        except GpumonError as error:
            trouble = trouble or error
    if document.log_given and seen.verdict is not None:
        diagnosis = judge(document, RULES)  # what was watched and what was printed may explain each other
    return hand_out(document, diagnosis, clock.now(), file=arguments.report, json=arguments.json, trouble=trouble)


def _of_seen(seen: Seen) -> dict[str, Any]:
    verdict = seen.verdict
    facts: dict[str, Any] = {
        "seconds": round(seen.seconds, 2),
        "samples": seen.samples,
        "stable": verdict is not None and verdict.stable,
        "steady_s": round(verdict.steady_s, 2) if verdict is not None else 0.0,
        "sources": [source_name(source) for source in seen.sources],
        "notes": seen.notes,
    }
    if seen.energy_j:
        facts["energy_j"] = {device: round(joules, 1) for device, joules in seen.energy_j.items()}
    if verdict is not None:
        facts["turns"] = [
            turn_facts(turn, seen.begin_utc_s, sentence(turn.finding, is_idle=turn.is_idle)) for turn in verdict.history
        ]
        facts["spans"] = [
            {
                "code": span.code,
                "subject": span.subject,
                "from_s": round(span.start_utc_s - seen.begin_utc_s, 1),
                "to_s": round(span.end_utc_s - seen.begin_utc_s, 1),
            }
            for span in verdict.spans
        ]
    return facts


def _pid(text_: str) -> int:
    try:
        pid = int(text_)
    except ValueError:
        pid = 0
    if pid <= 0:
        raise argparse.ArgumentTypeError(_("“{text}” is no process id").format(text=text_))
    return pid


def _seconds(text_: str) -> float:
    return between(text_, 0.1, _LONGEST_S)


def _moment(text_: str) -> float:
    return between(text_, 0.0, _LONGEST_S)


def _hz(text_: str) -> float:
    return between(text_, SLOWEST_HZ, FASTEST_HZ)
