"""Knows: how a report becomes a file of one of three kinds, whole or not at all. Must not know: what is in it."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

from gpumon_gui.core.whole_file import write_whole
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
    write_whole(file, content(made, file.suffix.lower()).encode("utf-8", "backslashreplace"))
