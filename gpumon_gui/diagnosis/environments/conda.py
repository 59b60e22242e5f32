"""Knows: where conda, mamba and micromamba keep environments. Must not know: other finders."""

from __future__ import annotations

from gpumon_gui.diagnosis.environments.base import Candidate, Wanted, in_folders, is_conda, python_in
from gpumon_gui.diagnosis.gateway import Gateway, home, is_windows, paths, read_text, variable

_NAMES = ("miniconda3", "anaconda3", "miniforge3", "mambaforge", "micromamba", "miniconda", "anaconda", "mambaforge3")


def find(gateway: Gateway, _wanted: Wanted) -> list[Candidate]:
    """The registered ones, the active one, those of every installation in its usual place."""
    prefixes = _registered(gateway)
    bases = _bases(gateway)
    found = []
    for prefix in dict.fromkeys((*prefixes, *bases)):
        python = python_in(gateway, prefix)
        if python is not None and is_conda(gateway, prefix):
            found.append(Candidate(python, "conda"))
    for folder in dict.fromkeys((*_folders(gateway), *(str(paths(gateway).join(base, "envs")) for base in bases))):
        found += in_folders(gateway, folder, "conda")
    return found


def _registered(gateway: Gateway) -> list[str]:
    """``environments.txt`` has every environment conda ever made, one path a line; the active ones are in variables."""
    text = read_text(gateway, str(paths(gateway).join(home(gateway), ".conda", "environments.txt"))) or ""
    listed = [line.strip() for line in text.splitlines() if line.strip()]
    active = [variable(gateway, name) for name in ("CONDA_PREFIX", "CONDA_PREFIX_1", "CONDA_PREFIX_2")]
    return [*(prefix for prefix in active if prefix), *listed]


def _bases(gateway: Gateway) -> list[str]:
    join, up = paths(gateway).join, paths(gateway).dirname
    bases = [variable(gateway, "MAMBA_ROOT_PREFIX"), variable(gateway, "CONDA_ROOT")]
    for name in ("CONDA_EXE", "MAMBA_EXE", "_CONDA_EXE"):
        exe = variable(gateway, name)
        bases.append(str(up(up(exe))) if exe else None)
    if is_windows(gateway):
        places = [home(gateway), variable(gateway, "PROGRAMDATA"), variable(gateway, "LOCALAPPDATA"), "C:\\"]
    else:
        places = [home(gateway), "/opt", "/usr/local", "/opt/homebrew"]
    bases += [str(join(place, name)) for place in places if place for name in _NAMES]
    if not is_windows(gateway):
        bases.append("/opt/conda")
    return list(dict.fromkeys(base for base in bases if base))


def _folders(gateway: Gateway) -> list[str]:
    """Folders of environments apart from an installation: the user's, and those of .condarc and CONDA_ENVS_PATH."""
    join = paths(gateway).join
    separator = ";" if is_windows(gateway) else ":"
    folders = [str(join(home(gateway), ".conda", "envs"))]
    for name in ("CONDA_ENVS_PATH", "CONDA_ENVS_DIRS"):
        folders += [part for part in (variable(gateway, name) or "").split(separator) if part]
    listing = False
    for line in (read_text(gateway, str(join(home(gateway), ".condarc"))) or "").splitlines():
        if not line.startswith((" ", "-", "\t")):
            listing = line.split(":")[0].strip() in ("envs_dirs", "envs_path")
        elif listing and line.strip().startswith("-"):
            folder = line.strip().lstrip("-").strip().strip("'\"")
            folders.append(folder.replace("~", home(gateway), 1) if folder.startswith("~") else folder)
    return folders
