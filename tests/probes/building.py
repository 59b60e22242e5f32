"""Knows: which real environments the tests examine, and how they are made. Must not know: what is found in them.

Made once by pip and kept below the user's cache folder, each in a folder named after its recipe, so that a changed
recipe makes a new one. ``python -m tests.probes.building [name ...]`` makes them ahead of the tests.
"""

from __future__ import annotations

import hashlib
import os
import shutil
import subprocess
import sys
from dataclasses import astuple, dataclass
from pathlib import Path

#: Making one may download gigabytes.
TIMEOUT_S = 1500


class NoPython(Exception):  # noqa: N818
    """This machine has no interpreter of the wanted version."""


@dataclass(frozen=True)
class Recipe:
    """``installs`` are pip's arguments, one call each, in this order."""

    name: str
    python: str
    installs: tuple[tuple[str, ...], ...] = ()


RECIPES: tuple[Recipe, ...] = (
    Recipe("ort-both", "3.11", (("onnxruntime-gpu==1.22.0", "onnxruntime==1.22.1", "numpy==2.4.6"),)),
    Recipe("torch-cpu", "3.11", (("torch==2.13.0", "numpy==2.4.6"),)),
    Recipe("protobuf-clash", "3.8", (("tensorflow-cpu==2.8.0",), ("protobuf==4.25.3",))),
    Recipe("tensorflow-2.10", "3.8", (("tensorflow==2.10.1",),)),
    # Carries CUDA 10.2 in itself; from 1.13 on the libraries are packages of their own.
    Recipe("torch-numpy2", "3.9", (("torch==1.12.1", "numpy==2.0.2"),)),
    Recipe("tensorflow-cpu", "3.11", (("tensorflow-cpu==2.21.0",),)),
    Recipe("tensorflow-cuda", "3.11", (("tensorflow==2.21.0",),)),
    Recipe("jax-cupy", "3.11", (("jax==0.10.2", "jaxlib==0.10.2", "cupy-cuda12x==14.0.1"),)),
    Recipe("torch-cuda", "3.11", (("torch==2.14.1", "numpy==2.4.6"),)),
)


def recipe(name: str) -> Recipe:
    """The recipe of that name. Raises KeyError."""
    return {entry.name: entry for entry in RECIPES}[name]


def interpreter(version: str) -> Path:
    """A real interpreter of this minor version: pyenv's, else the one on PATH. Raises NoPython."""
    root = Path(os.environ.get("PYENV_ROOT", Path.home() / ".pyenv")) / "versions"
    for folder in sorted(root.glob(f"{version}.*"), reverse=True):
        if (folder / "bin/python").exists():
            return folder / "bin/python"
    found = shutil.which(f"python{version}")
    if found is None:
        raise NoPython(f"no Python {version} on this machine")
    return Path(found)


def cache() -> Path:
    """Where the environments are kept."""
    return Path(os.environ.get("XDG_CACHE_HOME", Path.home() / ".cache")) / "gpumon-probes"


def made(name: str) -> Path:
    """The python of the environment of that name, made if need be. Raises NoPython, CalledProcessError."""
    wanted = recipe(name)
    digest = hashlib.sha256(repr(astuple(wanted)).encode()).hexdigest()[:8]
    folder = cache() / f"{name}-{digest}"
    python = folder / "bin/python"
    if not (folder / "complete").exists():
        shutil.rmtree(folder, ignore_errors=True)
        make(wanted, folder)
        (folder / "complete").write_text("\n", encoding="utf-8")
    return python


def make(wanted: Recipe, folder: Path) -> Path:
    """Make the environment in this folder; its python. Raises NoPython, CalledProcessError."""
    run([str(interpreter(wanted.python)), "-m", "venv", str(folder)])
    python = folder / "bin/python"
    for words in wanted.installs:
        pip = [str(python), "-m", "pip", "install", "--quiet", "--disable-pip-version-check", *words]
        run(pip)
    return python


def run(words: list[str]) -> None:
    """Run to the end; what it printed is part of the error. Raises CalledProcessError, TimeoutExpired."""
    done = subprocess.run(words, capture_output=True, text=True, timeout=TIMEOUT_S, check=False)
    if done.returncode:
        print(done.stdout[-2000:], done.stderr[-4000:], file=sys.stderr)
        done.check_returncode()


if __name__ == "__main__":
    for each in sys.argv[1:] or [entry.name for entry in RECIPES]:
        print(made(each), flush=True)
