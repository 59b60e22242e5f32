"""Knows: interpreters that Windows has registered (PEP 514) and that the py launcher lists.
Must not know: other finders."""

from __future__ import annotations

import re

from gpumon_gui.diagnosis.environments.base import Candidate, Wanted
from gpumon_gui.diagnosis.gateway import Command, Gateway, is_windows, paths

_ROOTS = (r"HKCU\SOFTWARE\Python", r"HKLM\SOFTWARE\Python", r"HKLM\SOFTWARE\WOW6432Node\Python")
#: Registered by the launcher and by tools for themselves, no interpreters.
_NOT_COMPANIES = ("PyLauncher",)
_LISTED = re.compile(r"([A-Za-z]:\\[^\r\n]*?python[^\\\r\n]*\.exe)\s*$", re.IGNORECASE)


def find(gateway: Gateway, _wanted: Wanted) -> list[Candidate]:
    """Company, tag, InstallPath: its ExecutablePath, or ``python.exe`` in it."""
    if not is_windows(gateway):
        return []
    found = []
    for root in _ROOTS:
        for company in _below(gateway, root):
            for tag in () if company in _NOT_COMPANIES else _below(gateway, rf"{root}\{company}"):
                key = gateway.registry(rf"{root}\{company}\{tag}\InstallPath")
                if key is None:
                    continue
                path = key.values.get("ExecutablePath")
                folder = key.values.get("")
                if not path and isinstance(folder, str) and folder:
                    path = paths(gateway).join(folder, "python.exe")
                if isinstance(path, str) and path:
                    found.append(Candidate(path, "registry"))
    return found + _launcher(gateway)


def _below(gateway: Gateway, path: str) -> tuple[str, ...]:
    key = gateway.registry(path)
    return key.subkeys if key is not None else ()


def _launcher(gateway: Gateway) -> list[Candidate]:
    ran = gateway.run(Command(("py", "--list-paths"), timeout_s=10))
    lines = (_LISTED.search(line) for line in ran.out.splitlines())
    return [Candidate(match.group(1), "py launcher") for match in lines if match and ran.ok]
