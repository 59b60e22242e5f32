"""Knows: where the built program is and how a test runs it in the lab. Must not know: what is tested.

``python packaging/dev.py test frozen`` builds first. What runs inside the lab lies in ``inside/``; it prints one JSON
document about what it saw, and the tests here judge it.
"""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).resolve().parents[2]
INSIDE = Path(__file__).resolve().parent / "inside"
LAB = ROOT / "packaging/winlab/lab.py"
FOLDER = ROOT / "dist/GPUMon"
#: Pictures of the screen, to be looked at.
PICTURES = ROOT / "build/frozen"


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Where no lab can be, say so; where the program was not built, fail."""
    sys.path.append(str(LAB.parent))
    try:
        import install
    finally:
        sys.path.remove(str(LAB.parent))
    why = install.refused()
    for item in items:
        if why and item.path.is_relative_to(Path(__file__).parent):
            item.add_marker(pytest.mark.skip(reason=why))


def in_lab(*words: str | Path, seconds: int = 120, options: tuple[str, ...] = ()) -> subprocess.CompletedProcess[str]:
    """A command of packaging/winlab/lab.py: ``python`` or ``run`` and what it shall run."""
    what, *rest = map(str, words)
    line = [sys.executable, str(LAB), what, "-t", str(seconds), *options, *rest]
    done = subprocess.run(line, capture_output=True, stdin=subprocess.DEVNULL, timeout=seconds + 200)
    assert done.returncode != 125, done.stderr.decode()
    return subprocess.CompletedProcess(line, done.returncode, done.stdout.decode("utf-8"), done.stderr.decode("utf-8"))


def seen(script: str, *words: str | Path, seconds: int = 120, options: tuple[str, ...] = ()) -> dict[str, Any]:
    """What a script of ``inside/`` saw."""
    done = in_lab("python", INSIDE / script, *words, seconds=seconds, options=options)
    assert done.returncode == 0, done.stderr
    document: dict[str, Any] = json.loads(done.stdout)
    return document


def run_program(program: Path, *words: str) -> subprocess.CompletedProcess[str]:
    """A built program in the lab, without the lab's own lines."""
    done = in_lab("run", program, *words)
    own = [line for line in done.stderr.splitlines(keepends=True) if not line.startswith("lab: ")]
    return subprocess.CompletedProcess(done.args, done.returncode, done.stdout, "".join(own))


def unpack_portable(target: Path) -> Path:
    """The folder of the portable form, unpacked there."""
    archive = next((ROOT / "dist").glob("GPUMon-*-portable.zip"))
    with zipfile.ZipFile(archive) as packed:
        assert packed.testzip() is None
        packed.extractall(target)
    return target / "GPUMon"


@pytest.fixture(scope="session")
def folder() -> Path:
    """The folder with the built programs."""
    assert (FOLDER / "gpumon.exe").is_file(), "not built: python packaging/dev.py build"
    return FOLDER


@pytest.fixture(scope="session")
def installer() -> Path:
    """The built installer."""
    found = sorted((ROOT / "dist").glob("GPUMon-*-setup.exe"))
    assert found, "not built: python packaging/dev.py build"
    return found[-1]


@pytest.fixture(scope="session")
def pictures() -> Path:
    """An empty folder for pictures of the screen."""
    shutil.rmtree(PICTURES, ignore_errors=True)
    PICTURES.mkdir(parents=True)
    return PICTURES
