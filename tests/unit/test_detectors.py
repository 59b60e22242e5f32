"""The guards of tests/conftest.py fail a test that leaves something behind: they are not there for show."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]


def run_planted(code: str, folder: Path) -> str:
    """What pytest says of a test with this code, under the same conftest.py and settings."""
    (folder / "tests").mkdir()
    shutil.copy(ROOT / "tests" / "conftest.py", folder / "tests")
    shutil.copy(ROOT / "pyproject.toml", folder)
    (folder / "tests" / "test_planted.py").write_text(code, encoding="utf-8")
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "tests", "-q", "-p", "no:pytest-qt", "-p", "no:cacheprovider"],
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
            "import threading\n"
            "def test_planted():\n"
            "    threading.Thread(target=threading.Event().wait, args=(20,), name='stray', daemon=True).start()\n",
            "threads still running after the test: stray",
        ),
        (
            "import subprocess, sys\n"
            "kept = []\n"
            "def test_planted():\n"
            "    kept.append(subprocess.Popen([sys.executable, '-c', 'input()'], stdin=subprocess.PIPE))\n",
            "processes still running after the test: ",
        ),
    ],
)
def test_what_a_test_leaves_behind_fails_it(code: str, words: str, tmp_path: Path) -> None:
    told = run_planted(code, tmp_path)
    assert words in told
    assert "1 passed, 1 error" in told


def test_a_thread_and_a_child_that_end_are_no_fault(tmp_path: Path) -> None:
    told = run_planted(
        "import subprocess, sys, threading\n"
        "def test_planted():\n"
        "    threading.Thread(target=int).start()\n"
        "    subprocess.run([sys.executable, '-c', ''], check=True)\n",
        tmp_path,
    )
    assert "1 passed in" in told, told


def test_the_language_is_english_again_in_the_next_test(tmp_path: Path) -> None:
    told = run_planted(
        "from gpumon_gui.core import messages\n"
        "def test_one():\n"
        "    messages._state['language'] = 'zh_CN'\n"
        "def test_two():\n"
        "    assert messages.language() == 'en'\n",
        tmp_path,
    )
    assert "2 passed in" in told, told
