"""Knows: pyenv, pyenv-win and the interpreters uv keeps. Must not know: other finders."""

from __future__ import annotations

from gpumon_gui.diagnosis.environments.base import Candidate, Wanted, in_folders
from gpumon_gui.diagnosis.gateway import Gateway, home, is_file, is_windows, paths, read_text, variable


def find(gateway: Gateway, _wanted: Wanted) -> list[Candidate]:
    """All versions, with the environments of pyenv-virtualenv among them."""
    join = paths(gateway).join
    at_home = ("pyenv-win",) if is_windows(gateway) else ()
    roots = [variable(gateway, "PYENV_ROOT"), variable(gateway, "PYENV"), str(join(home(gateway), ".pyenv", *at_home))]
    found = []
    for root in dict.fromkeys(root.rstrip("/\\") for root in roots if root):
        found += in_folders(gateway, str(join(root, "versions")), "pyenv")
    if is_windows(gateway):
        data = variable(gateway, "APPDATA") or ""
    else:
        data = variable(gateway, "XDG_DATA_HOME") or str(join(home(gateway), ".local", "share"))
    kept = variable(gateway, "UV_PYTHON_INSTALL_DIR") or str(join(data, "uv", "python"))
    return found + in_folders(gateway, kept, "uv")


def is_shim(gateway: Gateway, path: str) -> bool:
    """Whether a file is one of pyenv's scripts that start another interpreter."""
    folder = paths(gateway).dirname(path)
    return paths(gateway).basename(folder) == "shims" and "pyenv" in str(paths(gateway).dirname(folder))


def behind_shim(gateway: Gateway, shim: str, project: str | None) -> str | None:
    """The interpreter that a shim starts: the first of PYENV_VERSION, the project's ``.python-version`` or the global
    choice that has a program of this name. None when none has."""
    join = paths(gateway).join
    folder, name = paths(gateway).split(shim)
    root = str(paths(gateway).dirname(folder))
    texts = [
        variable(gateway, "PYENV_VERSION"),
        read_text(gateway, str(join(project, ".python-version"))) if project else None,
        read_text(gateway, str(join(root, "version"))),
    ]
    chosen = next((text.replace(":", " ").split() for text in texts if text and text.strip()), [])
    versions = gateway.listing(str(join(root, "versions")))
    for wanted in chosen:
        for version in (each for each in versions if each == wanted or each.startswith(f"{wanted}.")):
            path = str(join(root, "versions", version, *(() if is_windows(gateway) else ("bin",)), name))
            if is_file(gateway, path):
                return path
    return None
