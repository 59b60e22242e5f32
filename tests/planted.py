"""Knows: how to run a test that must fail under this project's own guards. Must not know: which guard."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
SHARED = (
    "pyproject.toml",
    "packaging/translations.py",
    "tests/__init__.py",
    "tests/conftest.py",
    "tests/windows/__init__.py",
    "tests/windows/limits.py",
)


def run_planted(code: str, folder: Path, where: str, *options: str) -> str:
    """What pytest says of one test file with this code in ``where``, under the same conftest.py files and settings."""
    for name in (*SHARED, f"{where}/__init__.py", f"{where}/conftest.py"):
        if (ROOT / name).is_file():
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(ROOT / name, folder / name)
    (folder / where / "test_planted.py").write_text(code, encoding="utf-8")
    done = subprocess.run(
        [sys.executable, "-m", "pytest", where, "-q", "-p", "no:cacheprovider", *options],
        cwd=folder,
        env={**os.environ, "PYTHONPATH": os.pathsep.join((str(ROOT), os.environ.get("PYTHONPATH", "")))},
        capture_output=True,
        text=True,
        encoding="utf-8",
        check=False,
    )
    return done.stdout + done.stderr
