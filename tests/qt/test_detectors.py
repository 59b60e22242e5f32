"""The guards of tests/qt/conftest.py fail a test that leaves Qt objects alive."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
IMPORTS = """
from PySide6.QtCore import QThread, QTimer
from PySide6.QtWidgets import QWidget
kept = []
"""


def run_planted(code: str, folder: Path) -> str:
    """What pytest says of a test with this code, under the same conftest.py files and settings."""
    for name in ("tests/conftest.py", "tests/qt/conftest.py", "pyproject.toml", "packaging/translations.py"):
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(ROOT / name, folder / name)
    for name in ("tests", "tests/qt"):
        (folder / name / "__init__.py").touch()
    (folder / "tests/qt/test_planted.py").write_text(IMPORTS + code, encoding="utf-8")
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "tests/qt", "-q", "-p", "no:cacheprovider"],
        cwd=folder,
        env={**os.environ, "PYTHONPATH": os.pathsep.join((str(ROOT), os.environ.get("PYTHONPATH", "")))},
        capture_output=True,
        text=True,
        encoding="utf-8",
        check=False,
    )
    return done.stdout + done.stderr


@pytest.mark.parametrize(
    ("code", "words"),
    [
        (
            "def test_planted(qapp):\n    t = QThread(objectName='stray')\n    kept.append(t)\n    t.start()\n",
            "left alive after the test: QThread QThread 'stray'",
        ),
        (
            "def test_planted(qapp):\n    t = QTimer()\n    kept.append(t)\n    t.start(1000)\n",
            "left alive after the test: QTimer QTimer ''",
        ),
        (
            "def test_planted(qapp):\n    kept.append(QWidget(objectName='stray'))\n",
            "left alive after the test: widget QWidget 'stray'",
        ),
    ],
)
def test_what_a_test_leaves_alive_fails_it(code: str, words: str, tmp_path: Path) -> None:
    told = run_planted(code, tmp_path)
    assert words in told
    assert "1 passed, 1 error" in told


def test_what_ends_in_time_is_no_fault(tmp_path: Path) -> None:
    told = run_planted(
        """
def test_planted(qtbot):
    widget = QWidget()
    qtbot.addWidget(widget)
    timer = QTimer(widget)
    timer.start(1000)
    thread = QThread()
    thread.start()
    thread.quit()
    assert thread.wait(5000)

def test_cycle(qapp):
    widget = QWidget()
    widget.itself = widget
""",
        tmp_path,
    )
    assert "2 passed in" in told, told
