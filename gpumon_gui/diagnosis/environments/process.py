"""Knows: the interpreter of a running process. Must not know: other finders."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from gpumon_gui.diagnosis.environments.base import Candidate, Wanted, is_venv, prefix_of
from gpumon_gui.diagnosis.gateway import Gateway, is_file, is_windows, paths


def find(gateway: Gateway, wanted: Wanted) -> list[Candidate]:
    """What the process was called by, when that is a Python; it keeps the variables of the process."""
    facts = gateway.ask("process", str(wanted.pid)) if wanted.pid is not None else None
    if not isinstance(facts, Mapping):
        return []
    path = _path(gateway, facts)
    if path is None:
        return []
    environ = facts.get("environ")
    variables = {str(name): str(value) for name, value in environ.items()} if isinstance(environ, Mapping) else {}
    return [Candidate(path, f"process {wanted.pid}", variables=variables)]


def _path(gateway: Gateway, facts: Mapping[str, Any]) -> str | None:
    """A venv's python is a link (or, on Windows, a small program that starts the real one): the executable of the
    process is the base interpreter, and only its call tells the venv."""
    where = paths(gateway)
    exe = str(facts.get("exe") or "")
    cmdline = facts.get("cmdline")
    called = str(cmdline[0]) if isinstance(cmdline, list) and cmdline else ""
    environ = facts.get("environ")
    variables = environ if isinstance(environ, Mapping) else {}
    parent = str(facts.get("parent_exe") or "")
    if is_windows(gateway) and parent and is_venv(gateway, prefix_of(gateway, parent)):
        called = parent if where.basename(parent).lower() == where.basename(exe).lower() else called
    if called and not where.isabs(called):
        if where.basename(called) == called:
            separator = ";" if is_windows(gateway) else ":"
            places = [where.join(folder, called) for folder in str(variables.get("PATH", "")).split(separator)]
        else:
            places = [where.join(str(facts.get("cwd") or ""), called)]
        called = next((str(place) for place in places if is_file(gateway, str(place))), "")
    for path in (called, exe):
        if path and where.basename(path).lower().startswith("python") and is_file(gateway, path):
            return path
    return None
