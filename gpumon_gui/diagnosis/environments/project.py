"""Knows: where tools keep the environment of a project: venv, uv, poetry, pipenv. Must not know: other finders."""

from __future__ import annotations

import base64
import hashlib

from gpumon_gui.diagnosis.environments.base import Candidate, Wanted, is_venv, python_in
from gpumon_gui.diagnosis.gateway import Gateway, home, is_windows, matches, paths, read_text, variable

_LEVELS_UP = 3


def find(gateway: Gateway, wanted: Wanted) -> list[Candidate]:
    """In the project's folder and, as the tools do, in those above it."""
    if wanted.project is None:
        return []
    found = []
    folder = wanted.project
    for level in range(_LEVELS_UP):
        for prefix in _inside(gateway, folder) if level == 0 else _usual(gateway, folder):
            python = python_in(gateway, prefix)
            if python is not None and is_venv(gateway, prefix):
                found.append(Candidate(python, "project"))
        parent = str(paths(gateway).dirname(folder))
        if parent == folder or parent == home(gateway):
            break
        folder = parent
    return found + _poetry(gateway, wanted.project) + _pipenv(gateway, wanted.project)


def _inside(gateway: Gateway, folder: str) -> list[str]:
    """Any subfolder may be one; uv's may lie elsewhere."""
    prefixes = list(matches(gateway, folder, "*"))
    moved = variable(gateway, "UV_PROJECT_ENVIRONMENT")
    if moved:
        prefixes.append(str(paths(gateway).join(folder, moved)))
    return prefixes


def _usual(gateway: Gateway, folder: str) -> list[str]:
    return [str(paths(gateway).join(folder, name)) for name in (".venv", "venv")]


def _poetry(gateway: Gateway, project: str) -> list[Candidate]:
    """``<cache>/virtualenvs/<name>-<hash>-py3.11``; the hash is that of the project's folder (poetry's
    EnvManager.generate_env_name)."""
    join = paths(gateway).join
    info = gateway.info(project)
    real = paths(gateway).normcase(info.real_path if info is not None else project)
    digest = base64.urlsafe_b64encode(hashlib.sha256(real.encode()).digest()).decode()[:8]
    folders = [variable(gateway, "POETRY_VIRTUALENVS_PATH")]
    cache = variable(gateway, "POETRY_CACHE_DIR")
    if cache:
        folders.append(str(join(cache, "virtualenvs")))
    if is_windows(gateway):
        local = variable(gateway, "LOCALAPPDATA")
        folders.append(str(join(local, "pypoetry", "Cache", "virtualenvs")) if local else None)
    else:
        caches = variable(gateway, "XDG_CACHE_HOME") or str(join(home(gateway), ".cache"))
        folders.append(str(join(caches, "pypoetry", "virtualenvs")))
        folders.append(str(join(home(gateway), "Library", "Caches", "pypoetry", "virtualenvs")))
    found = []
    for folder in folders:
        for prefix in matches(gateway, folder, f"*-{digest}-py*") if folder else ():
            python = python_in(gateway, prefix)
            if python is not None:
                found.append(Candidate(python, "poetry"))
    return found


def _pipenv(gateway: Gateway, project: str) -> list[Candidate]:
    """Each environment says in ``.project`` whose it is."""
    join = paths(gateway).join
    usual = (".virtualenvs",) if is_windows(gateway) else (".local", "share", "virtualenvs")
    folder = variable(gateway, "WORKON_HOME") or str(join(home(gateway), *usual))
    found = []
    for mark in matches(gateway, folder, "*/.project"):
        text = (read_text(gateway, mark) or "").strip()
        python = python_in(gateway, str(paths(gateway).dirname(mark)))
        if text and python and paths(gateway).normcase(text) == paths(gateway).normcase(project):
            found.append(Candidate(python, "pipenv"))
    return found
