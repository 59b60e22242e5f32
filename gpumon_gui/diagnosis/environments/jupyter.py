"""Knows: which interpreters Jupyter's kernels start. Must not know: other finders."""

from __future__ import annotations

from collections.abc import Iterable

from gpumon_gui.diagnosis.environments.base import Candidate, Wanted, prefix_of, python_in
from gpumon_gui.diagnosis.gateway import Gateway, home, is_windows, json_of, matches, paths, read_text, variable, which


def find(gateway: Gateway, _wanted: Wanted) -> list[Candidate]:
    """Kernels of the user and of the system."""
    join = paths(gateway).join
    separator = ";" if is_windows(gateway) else ":"
    folders = [part for part in (variable(gateway, "JUPYTER_PATH") or "").split(separator) if part]
    own = variable(gateway, "JUPYTER_DATA_DIR")
    if own:
        folders.append(own)
    if is_windows(gateway):
        folders += [
            str(join(place, "jupyter")) for place in (variable(gateway, "APPDATA"), _program_data(gateway)) if place
        ]
    else:
        data = variable(gateway, "XDG_DATA_HOME") or str(join(home(gateway), ".local", "share"))
        folders += [str(join(data, "jupyter")), str(join(home(gateway), "Library", "Jupyter"))]
        folders += ["/usr/local/share/jupyter", "/usr/share/jupyter"]
    return [found for folder in folders for found in _in_folder(gateway, str(join(folder, "kernels")), "")]


def find_in(gateway: Gateway, prefixes: Iterable[str]) -> list[Candidate]:
    """Kernels registered inside environments that others found."""
    join = paths(gateway).join
    return [
        found
        for prefix in prefixes
        for found in _in_folder(gateway, str(join(prefix, "share", "jupyter", "kernels")), prefix)
    ]


def _program_data(gateway: Gateway) -> str | None:
    return variable(gateway, "PROGRAMDATA") or variable(gateway, "ALLUSERSPROFILE")


def _in_folder(gateway: Gateway, folder: str, prefix: str) -> list[Candidate]:
    found = []
    for path in matches(gateway, folder, "*/kernel.json"):
        spec = json_of(read_text(gateway, path) or "")
        if not isinstance(spec, dict):
            continue
        argv = spec.get("argv")
        if spec.get("language", "python") != "python" or not isinstance(argv, list) or not argv:
            continue
        program = str(argv[0])
        if not paths(gateway).isabs(program):
            # Jupyter puts its own interpreter in place of a bare "python": the one the kernel was installed beside.
            program = (python_in(gateway, prefix) if prefix else which(gateway, program)) or ""
        if program and paths(gateway).basename(program).lower().startswith("python"):
            found.append(Candidate(program, f"Jupyter kernel {spec.get('display_name') or prefix_of(gateway, path)}"))
    return found
