"""The guards of tests/conftest.py fail a test that leaves something behind: they are not there for show."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.planted import run_planted


def told(code: str, folder: Path) -> str:
    return run_planted(code, folder, "tests/unit", "-p", "no:pytest-qt")


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
    output = told(code, tmp_path)
    assert words in output
    assert "1 passed, 1 error" in output


def test_a_thread_and_a_child_that_end_are_no_fault(tmp_path: Path) -> None:
    output = told(
        "import subprocess, sys, threading\n"
        "def test_planted():\n"
        "    threading.Thread(target=int).start()\n"
        "    subprocess.run([sys.executable, '-c', ''], check=True)\n",
        tmp_path,
    )
    assert "1 passed in" in output, output


def test_the_language_is_english_again_in_the_next_test(tmp_path: Path) -> None:
    output = told(
        "from gpumon_gui.core import messages\n"
        "def test_one():\n"
        "    messages._state['language'] = 'zh_CN'\n"
        "def test_two():\n"
        "    assert messages.language() == 'en'\n",
        tmp_path,
    )
    assert "2 passed in" in output, output
