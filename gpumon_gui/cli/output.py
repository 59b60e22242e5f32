"""Knows: how commands that judge read a log and hand out their report. Must not know: how anything is judged."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from gpumon_gui.cli.sampling import say
from gpumon_gui.core.clock import Instant
from gpumon_gui.core.errors import GpumonError, UnreadableInput
from gpumon_gui.core.files import cannot_read, shown
from gpumon_gui.core.messages import _
from gpumon_gui.core.redact import Private
from gpumon_gui.diagnosis import given
from gpumon_gui.diagnosis.facts import Document
from gpumon_gui.diagnosis.finding import Diagnosis, Severity
from gpumon_gui.diagnosis.report import text
from gpumon_gui.diagnosis.report.document import report
from gpumon_gui.diagnosis.report.saving import FORMATS, as_json, save
from gpumon_gui.diagnosis.rules.table import RULES
from gpumon_gui.system import console

#: The exit code when something needs action.
FINDINGS = 1


def with_log(document: Document, name: str) -> Document:
    """The document with what a program printed; ``-`` is standard input. Raises UnreadableInput."""
    if name != "-":
        return given.with_log_file(document, Path(name))
    try:
        return given.with_log(document, sys.stdin.buffer, given.PASTED)
    except OSError as error:
        raise UnreadableInput(cannot_read(Path(name), error)) from error


def hand_out(
    document: Document,
    diagnosis: Diagnosis,
    now: Instant,
    *,
    file: Path | None,
    json: bool,
    trouble: GpumonError | None = None,
) -> int:
    """Save the redacted report if a file is given, print the whole one; the exit code. What cannot be saved, and
    ``trouble`` from before, is raised last: the answer may have taken minutes. Raises GpumonError.
    """
    if file is not None:
        try:
            save(file, report(document, diagnosis, RULES, now, Private.of_this_machine()))
            written = _(
                "The report is in {file}. Names of people and computers, addresses and folders are replaced in it."
            )
            say(written.format(file=shown(file)))
        except GpumonError as error:
            trouble = trouble or error
    # On the user's own screen nothing is replaced: the commands are there to be copied.
    made = report(document, diagnosis, RULES, now, None)
    console.put(as_json(made) if json else text.terminal(made))
    if trouble is not None:
        raise trouble
    return FINDINGS if any(finding.severity is not Severity.INFO for finding in diagnosis.findings) else 0


def report_file(name: str) -> Path:
    """The argument of ``--report``."""
    file = Path(name)
    if file.suffix not in FORMATS:
        message = _("“{file}” must end in .html, .md or .json")
        raise argparse.ArgumentTypeError(message.format(file=name))
    return file
