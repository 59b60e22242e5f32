"""Knows: which finders there are, in which order their names for an environment count. Must not know: how they look."""

from __future__ import annotations

from collections.abc import Callable

from gpumon_gui.diagnosis.environments import (
    conda,
    jupyter,
    named,
    on_path,
    process,
    project,
    pyenv,
    registered,
    store,
    wsl,
)
from gpumon_gui.diagnosis.environments.base import Candidate, Wanted
from gpumon_gui.diagnosis.gateway import Gateway

Finder = Callable[[Gateway, Wanted], list[Candidate]]

#: By name; those the user asked for first.
FINDERS: tuple[tuple[str, Finder], ...] = (
    ("named", named.find),
    ("process", process.find),
    ("project", project.find),
    ("path", on_path.find),
    ("conda", conda.find),
    ("pyenv", pyenv.find),
    ("registry", registered.find),
    ("store", store.find),
    ("jupyter", jupyter.find),
    ("wsl", wsl.find),
)
#: The finders that take only what the user named.
ASKED_FOR = ("named", "process", "project")
