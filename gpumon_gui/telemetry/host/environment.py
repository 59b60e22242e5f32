"""Knows: which conda or virtual environment a program belongs to, from files beside it. Must not know: processes."""

from __future__ import annotations

import os
from collections.abc import Iterable

_BIN = {"bin", "scripts"}
_GENERIC = {".venv", "venv", "env", ".env"}


def environment_name(prefixes: Iterable[str]) -> str:
    """The name of the first prefix that is an environment; empty for none.

    conda (``conda-meta``): the folder's name, ``base`` for an installation's own. venv (``pyvenv.cfg``): its prompt,
    else the folder's name, with the project's in front where the folder is just called ``.venv``.
    """
    for prefix in prefixes:
        if not prefix:
            continue
        if os.path.isfile(os.path.join(prefix, "pyvenv.cfg")):
            return _venv(prefix)
        if os.path.isdir(os.path.join(prefix, "conda-meta")):
            return _conda(prefix)
    return ""


def program_prefix(program: str) -> str:
    """``/env/bin/python`` → ``/env``; on Windows conda's ``C:\\env\\python.exe`` → ``C:\\env``. The path is taken as
    given: a venv's python is a link to another one."""
    folder = os.path.dirname(program)
    return os.path.dirname(folder) if os.path.basename(folder).lower() in _BIN else folder


def find_program(name: str, search_path: str) -> str:
    """The file that a bare name stands for, by the process's own PATH; empty when it is not there."""
    for folder in search_path.split(os.pathsep):
        path = os.path.join(folder, name)
        if os.path.isabs(path) and os.path.isfile(path):
            return path
    return ""


def _venv(prefix: str) -> str:
    try:
        with open(os.path.join(prefix, "pyvenv.cfg"), encoding="utf-8", errors="replace") as file:
            for line in file:
                key, _, value = line.partition("=")
                if key.strip() == "prompt" and (prompt := value.strip().strip("'\"()")):
                    return prompt
    except OSError:
        pass
    name = os.path.basename(prefix)
    project = os.path.basename(os.path.dirname(prefix))
    return f"{project}/{name}" if name in _GENERIC and project else name


def _conda(prefix: str) -> str:
    if os.path.isdir(os.path.join(prefix, "condabin")):
        return "base"
    return os.path.basename(prefix)
