"""Knows: a diagnosis from the command line. Must not know: how facts are found, what rules look for.

With ``--facts``, ``--log`` or ``--profile`` only what is given is judged; otherwise this machine and its Python
environments are.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from shutil import which

from gpumon_gui.cli.arguments import Once
from gpumon_gui.cli.output import hand_out, report_file, with_log
from gpumon_gui.cli.sampling import until_interrupted
from gpumon_gui.core.clock import SystemClock
from gpumon_gui.core.errors import GpumonError, UnreadableInput
from gpumon_gui.core.files import shown
from gpumon_gui.core.messages import _
from gpumon_gui.diagnosis.engine import diagnose
from gpumon_gui.diagnosis.facts import Document
from gpumon_gui.diagnosis.report import text
from gpumon_gui.diagnosis.rules.table import RULES
from gpumon_gui.system import console


def summary() -> str:
    """One line for the help."""
    return _("why the GPU is not used: this machine's Python environments, or a log, or a facts file")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The command's own options."""
    parser.add_argument(
        "--python",
        action="append",
        type=Path,
        metavar="PATH",
        help=_("only this Python: interpreter, folder of an environment or command (may be given several times)"),
    )
    parser.add_argument("--project", type=Path, metavar="DIR", help=_("also environments in and around this folder"))
    facts = _("judge a facts document (gpumon-facts/1)")
    parser.add_argument("--facts", action=Once, type=Path, metavar="FILE", help=facts)
    parser.add_argument(
        "--log",
        action="append",
        metavar="FILE",
        help=_("judge what a program printed; - reads standard input (may be given several times)"),
    )
    parser.add_argument(
        "--profile",
        action=Once,
        type=Path,
        metavar="FILE",
        help=_("judge a profile (PyTorch trace, TensorFlow trace or xplane.pb, memory snapshot) or a folder with one"),
    )
    parser.add_argument(
        "--script",
        action="append",
        type=Path,
        metavar="FILE",
        help=_("judge a Python script or notebook; it is read, never run (may be given several times)"),
    )
    parser.add_argument(
        "--no-proof",
        action="store_true",
        help=_("do not let each framework compute for some seconds to see whether the GPU really works"),
    )
    parser.add_argument("--json", action="store_true", help=_("one JSON document (schema gpumon-report/1)"))
    parser.add_argument(
        "--report", type=report_file, metavar="FILE", help=_("save the redacted report: .html, .md or .json")
    )


def run(arguments: argparse.Namespace) -> int:
    """Print the diagnosis; 1 when something needs action. Raises GpumonError."""
    given = any(option is not None for option in (arguments.facts, arguments.log, arguments.profile, arguments.script))
    if arguments.script and (arguments.python or arguments.project):
        raise GpumonError(_("--script judges what is given; --python and --project look at this machine."))
    if given and (arguments.python or arguments.project):
        raise GpumonError(
            _("--facts, --log and --profile judge what is given; --python and --project look at this machine.")
        )
    document = _given(arguments) if given else _live(arguments)
    diagnosis = diagnose(document, RULES)
    return hand_out(document, diagnosis, SystemClock().now(), file=arguments.report, json=arguments.json)


def _given(arguments: argparse.Namespace) -> Document:
    from gpumon_gui.diagnosis.given import Given, combined  # only loaded when asked for

    logs = arguments.log or ()
    document = combined(
        Given(
            facts=arguments.facts,
            logs=tuple(Path(name) for name in logs if name != "-"),
            profile=arguments.profile,
            scripts=tuple(arguments.script or ()),
        )
    )
    return with_log(document, "-") if "-" in logs else document


def _live(arguments: argparse.Namespace) -> Document:
    from gpumon_gui.diagnosis.collect import Options, Progress, State, collect  # only loaded when asked for
    from gpumon_gui.diagnosis.environments.base import Wanted
    from gpumon_gui.diagnosis.live_gateway import LiveGateway

    pythons = tuple(arguments.python or ())
    for path in pythons:
        # A link to a Python that was removed is a broken environment, not a mistyped path.
        if not (path.exists() or path.is_symlink()) and (path.name != str(path) or which(str(path)) is None):
            raise UnreadableInput(_("there is no Python interpreter at {file}").format(file=shown(path)))
    if arguments.project is not None and not arguments.project.is_dir():
        raise UnreadableInput(_("{file} is no folder").format(file=shown(arguments.project)))

    def tell(progress: Progress) -> None:
        title, subject = _(progress.title) or progress.title, text.subject(progress.subject)
        if progress.state is State.FAILED and progress.subject == "machine":
            # Questions to the machine have no failures of their own: this one is a fault of ours.
            start = "\r\x1b[K" if sys.stderr.isatty() else ""
            console.say(f"{start}gpumon: {title}: {progress.detail}")
        elif progress.state is not State.RUNNING and sys.stderr.isatty():
            console.say(f"\r\x1b[K[{progress.done}/{progress.total}] {title} · {subject}", end="")

    wanted = Wanted(
        pythons=tuple(str(path) for path in pythons),
        project=None if arguments.project is None else str(arguments.project),
        everywhere=not pythons,
    )
    with until_interrupted() as stop:
        gateway = LiveGateway()
        document = collect(gateway, Options(wanted), tell, stop)
        if not arguments.no_proof:
            from gpumon_gui.diagnosis.proof.proved import proved  # only loaded when asked for
            from gpumon_gui.telemetry.instruments import LiveInstruments

            document = proved(gateway, document, LiveInstruments, tell, stop)
        if sys.stderr.isatty():
            console.say("\r\x1b[K", end="")
        if stop.is_set():
            raise KeyboardInterrupt
    return document
