"""Knows: how commands that judge read a log and hand out their report. Must not know: how anything is judged."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from gpumon_gui.core.errors import UnreadableInput
from gpumon_gui.core.files import cannot_read
from gpumon_gui.core.messages import _
from gpumon_gui.diagnosis import given
from gpumon_gui.diagnosis.facts import Document
from gpumon_gui.diagnosis.report.saving import FORMATS, as_json, save

__all__ = ["FINDINGS", "FORMATS", "as_json", "report_file", "save", "with_log"]

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


def report_file(name: str) -> Path:
    """The argument of ``--report``."""
    file = Path(name)
    if file.suffix not in FORMATS:
        message = _("“{file}” must end in .html, .md or .json")
        raise argparse.ArgumentTypeError(message.format(file=name))
    return file
