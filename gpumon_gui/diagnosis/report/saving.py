"""Knows: how a report becomes a file of one of three kinds, whole or not at all. Must not know: what is in it."""

from __future__ import annotations

import json
import os
import tempfile
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any, Final

from gpumon_gui.core.errors import OutputFailed
from gpumon_gui.core.files import cannot_write, shown
from gpumon_gui.core.messages import _
from gpumon_gui.diagnosis.report import text

FORMATS: Final = (".html", ".md", ".json")


def as_json(made: Mapping[str, Any]) -> str:
    """The document as text; names that are not valid Unicode are escaped."""
    plain = json.dumps(made, ensure_ascii=False, indent=2)
    return plain.encode("utf-8", "backslashreplace").decode("utf-8")


def content(made: Mapping[str, Any], suffix: str) -> str:
    """The report as it stands in a file whose name ends so (:data:`FORMATS`)."""
    if suffix == ".html":
        from gpumon_gui.diagnosis.report.html import html  # only loaded when asked for

        return html(made)
    return text.markdown(made) if suffix == ".md" else as_json(made) + "\n"


def save(file: Path, made: Mapping[str, Any]) -> None:
    """Write a report in the form that the name ends in. Raises OutputFailed; what was there before then stays."""
    if file.is_dir():
        raise OutputFailed(_("{path}: is a folder.").format(path=shown(file)))
    data = content(made, file.suffix).encode("utf-8", "backslashreplace")
    part = ""
    try:
        target = file.resolve() if file.is_symlink() else file.absolute()
        if target.exists() and not target.is_file():  # a pipe, a device: nothing can be put in its place
            target.write_bytes(data)
            return
        with tempfile.NamedTemporaryFile(dir=target.parent, prefix=".gpumon-", suffix=".part", delete=False) as stream:
            part = stream.name
            stream.write(data)
            stream.flush()
            os.fsync(stream.fileno())
        if os.name == "posix":  # the temporary file is for its owner only; a report is to be passed on
            mask = os.umask(0)
            os.umask(mask)
            Path(part).chmod(0o666 & ~mask)
        Path(part).replace(target)
    except OSError as error:
        if part:
            with suppress(OSError):
                Path(part).unlink()
        raise OutputFailed(cannot_write(file, error)) from error
