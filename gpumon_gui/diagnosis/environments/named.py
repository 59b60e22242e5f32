"""Knows: interpreters that the user named by a path. Must not know: other finders."""

from __future__ import annotations

from gpumon_gui.diagnosis.environments.base import Candidate, Wanted, absolute, in_folders, python_in
from gpumon_gui.diagnosis.environments.pyenv import behind_shim, is_shim
from gpumon_gui.diagnosis.gateway import Gateway, is_folder, paths, which


def find(gateway: Gateway, wanted: Wanted) -> list[Candidate]:
    """A file is taken as it is, a folder by the interpreter in it or those of the environments in it (a project's
    ``.venv``), a bare name by PATH. What is not there stays: it is reported as such."""
    found = []
    for given in wanted.pythons:
        path = absolute(gateway, given)
        if is_folder(gateway, path):
            python = python_in(gateway, path)
            inside = in_folders(gateway, path, "named") if python is None else []
            if inside:
                found += inside
                continue
            path = python or path
        elif paths(gateway).basename(given) == given:
            path = which(gateway, given) or which(gateway, f"{given}.exe") or path
        if is_shim(gateway, path):
            path = behind_shim(gateway, path, wanted.project) or path
        found.append(Candidate(path, "named"))
    return found
