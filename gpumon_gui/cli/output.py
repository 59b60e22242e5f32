"""Knows: how commands that judge read a log and hand out their report. Must not know: how anything is judged."""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path
from typing import Any, BinaryIO

from gpumon_gui.core.errors import OutputFailed, UnreadableInput
from gpumon_gui.core.files import cannot_read, cannot_write
from gpumon_gui.core.messages import _
from gpumon_gui.diagnosis.facts import Document
from gpumon_gui.diagnosis.report import text

#: The exit code when something needs action.
FINDINGS = 1
FORMATS = (".html", ".md", ".json")


def as_json(made: dict[str, Any]) -> str:
    """The document as text; names that are not valid Unicode are escaped."""
    plain = json.dumps(made, ensure_ascii=False, indent=2)
    return plain.encode("utf-8", "backslashreplace").decode("utf-8")


def save(file: Path, made: dict[str, Any]) -> None:
    """Write a report in the form that the name ends in. Raises OutputFailed and leaves no half report."""
    if file.suffix == ".html":
        from gpumon_gui.diagnosis.report.html import html  # only loaded when asked for

        content = html(made)
    elif file.suffix == ".md":
        content = text.markdown(made)
    else:
        content = json.dumps(made, ensure_ascii=False, indent=2) + "\n"
    opened = False
    try:
        with file.open("w", encoding="utf-8", errors="backslashreplace") as stream:
            opened = True
            stream.write(content)
    except OSError as error:
        if opened and file.is_file():  # the disk is full: half a report is none
            file.unlink()
        raise OutputFailed(cannot_write(file, error)) from error


def with_log(document: Document, name: str) -> Document:
    """The document with what a program printed; ``-`` is standard input. Raises UnreadableInput."""
    from gpumon_gui.diagnosis.logs.reader import read  # only loaded when asked for

    with _open(name) as stream:
        try:
            return read(stream, "log" if name == "-" else Path(name).name).merge_into(document)
        except OSError as error:
            raise UnreadableInput(cannot_read(Path(name), error)) from error


def _open(name: str) -> BinaryIO:
    """The log to read; pipes are fine, folders are not. Raises UnreadableInput."""
    if name == "-":
        return sys.stdin.buffer
    try:
        return Path(name).open("rb")
    except OSError as error:
        raise UnreadableInput(cannot_read(Path(name), error)) from error


def report_file(name: str) -> Path:
    """The argument of ``--report``."""
    file = Path(name)
    if file.suffix not in FORMATS:
        message = _("“{file}” must end in .html, .md or .json")
        raise argparse.ArgumentTypeError(message.format(file=name))
    return file
