"""Knows: what a Python environment is, and how one is recognised by its files. Must not know: where to look for one.

No finder runs an interpreter: what it says of itself comes from the probes. ``findpython`` is not used: it reads the
machine itself and runs what it finds, so that its answers could not be recorded, and it knows neither conda nor kernels
nor running processes.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum

from gpumon_gui.diagnosis.gateway import Gateway, is_file, is_folder, is_windows, matches, paths, read_text


class Kind(StrEnum):
    """Who made the environment."""

    VENV = "venv"
    CONDA = "conda"
    STORE = "store"
    PYENV = "pyenv"
    UV = "uv"
    SYSTEM = "system"
    WSL = "wsl"


@dataclass(frozen=True, slots=True)
class Wanted:
    """What to look for. Without ``everywhere`` only what is named is taken: interpreters, the project, the process.

    ``starts_wsl``: the user agrees that a stopped WSL distribution is started.
    """

    pythons: tuple[str, ...] = ()
    project: str | None = None
    pid: int | None = None
    everywhere: bool = True
    starts_wsl: bool = False


@dataclass(frozen=True, slots=True)
class Candidate:
    """An interpreter that a finder met. ``origin`` is where, in a word; ``name`` a bare name that starts it."""

    path: str
    origin: str
    name: str = ""
    distribution: str = ""
    variables: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Environment:
    """One interpreter with its packages, found in one or several ways.

    ``path`` is the way to call it, ``prefix`` its folder, ``base`` the interpreter a venv is made of (empty for
    others), ``origins`` how it was found, ``on_path_as`` the bare names that start it, ``distribution`` the WSL
    distribution it lives in. ``variables`` are those of the running process it was found by. ``problem`` tells why an
    interpreter the user named cannot be used: ``not-found`` or ``no-python``.
    """

    path: str
    kind: Kind
    name: str
    prefix: str
    base: str = ""
    origins: tuple[str, ...] = ()
    on_path_as: tuple[str, ...] = ()
    distribution: str = ""
    variables: Mapping[str, str] = field(default_factory=dict)
    problem: str = ""


def absolute(gateway: Gateway, path: str) -> str:
    """A path that the user gave, from their current folder: commands run elsewhere."""
    folder = gateway.ask("cwd")
    if paths(gateway).isabs(path) or not isinstance(folder, str):
        return path
    return str(paths(gateway).normpath(paths(gateway).join(folder, path)))


def python_in(gateway: Gateway, prefix: str) -> str | None:
    """The interpreter of an environment's folder; None when there is none."""
    join = paths(gateway).join
    below = (
        ("Scripts/python.exe", "python.exe", "bin/python.exe") if is_windows(gateway) else ("bin/python", "bin/python3")
    )
    for name in below:
        path = str(join(prefix, *name.split("/")))
        if is_file(gateway, path):
            return path
    return None


def prefix_of(gateway: Gateway, python: str) -> str:
    """The folder of the environment an interpreter belongs to, from the path as given: a venv's is a link."""
    folder, name = paths(gateway).split(python)
    parent, last = paths(gateway).split(folder)
    return str(parent) if name and last.lower() in ("bin", "scripts") else str(folder)


def is_venv(gateway: Gateway, prefix: str) -> bool:
    """Whether a folder is a virtual environment."""
    return is_file(gateway, str(paths(gateway).join(prefix, "pyvenv.cfg")))


def is_conda(gateway: Gateway, prefix: str) -> bool:
    """Whether a folder is a conda environment."""
    return is_folder(gateway, str(paths(gateway).join(prefix, "conda-meta")))


def venv_setting(gateway: Gateway, prefix: str, name: str) -> str:
    """A value of pyvenv.cfg; empty when it is not there."""
    for line in (read_text(gateway, str(paths(gateway).join(prefix, "pyvenv.cfg"))) or "").splitlines():
        key, _, value = line.partition("=")
        if key.strip().lower() == name:
            return value.strip().strip("'\"")
    return ""


def in_folders(gateway: Gateway, folder: str, origin: str) -> list[Candidate]:
    """The environments that are the subfolders of one folder."""
    found = []
    for prefix in matches(gateway, folder, "*"):
        python = python_in(gateway, prefix)
        if python is not None:
            found.append(Candidate(python, origin))
    return found


def place_name(gateway: Gateway, prefix: str) -> str:
    """The folder's name, with its parent's in front where it says nothing (``project/.venv``)."""
    parent, name = paths(gateway).split(prefix.rstrip("/\\"))
    above = paths(gateway).basename(parent)
    return f"{above}/{name}" if name.lower() in (".venv", "venv", "env", ".env") and above else str(name)
