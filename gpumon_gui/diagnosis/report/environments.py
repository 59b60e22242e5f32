"""Knows: what the Python environments of a report are called. Must not know: what was found in them.

People know theirs by a name; the path says which one is meant. So a name stands wherever one is spoken of, the path
where two have the same, and both once in the list.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from gpumon_gui.core.files import printable
from gpumon_gui.core.messages import _
from gpumon_gui.diagnosis.report import words


def folders(report: Mapping[str, Any]) -> set[str]:
    """The folders that environments are called by: ``ml``, and ``.venv`` of ``acme/.venv``."""
    found = (re.split(r"[\\/]", str(interpreter.get("name") or ""))[-1] for interpreter in _interpreters(report))
    return {folder for folder in found if folder}


def names(report: Mapping[str, Any]) -> dict[str, str]:
    """Path of an interpreter as it is shown → the name of its environment. Not where two have the same name: there the
    path tells them apart."""
    found = {}
    for interpreter in _interpreters(report):
        path, name, kind = (str(interpreter.get(key) or "") for key in ("path", "name", "kind"))
        if path and name not in ("", path):
            if name[0].isdigit() and kind in words.ENVIRONMENT_KIND:  # pyenv's are bare versions
                name = f"{_(words.ENVIRONMENT_KIND[kind])} {name}"
            found[printable(path)] = printable(name)
    every = list(found.values())
    return {path: name for path, name in found.items() if every.count(name) == 1}


def named(said: str, report: Mapping[str, Any]) -> str:
    """A sentence with each environment by its name instead of its path."""
    known = names(report)
    either = "|".join(re.escape(path) for path in sorted(known, key=len, reverse=True))
    # A path ends here if none that is longer does: /usr/bin/python is not the beginning of /usr/bin/python3.
    return re.sub(rf"(?:{either})(?![\w/\\-]|\.\w)", lambda match: known[match.group()], said) if known else said


def listed(report: Mapping[str, Any]) -> list[str]:
    """One line per environment: ``torch/.venv · Python 3.11.9 · /opt/torch/.venv/bin/python``."""
    known, lines = names(report), []
    for interpreter in _interpreters(report):
        path = printable(str(interpreter.get("path") or ""))
        version = str(interpreter.get("version") or "")
        parts = (known.get(path, ""), f"Python {printable(version)}" if version else "", path)
        if path:
            lines.append(" · ".join(part for part in parts if part))
    return lines


def _interpreters(report: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    found = [environment.get("interpreter") for environment in report["facts"].get("environments", ())]
    return [interpreter for interpreter in found if isinstance(interpreter, Mapping)]
