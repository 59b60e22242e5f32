"""The guards of tests/qt/conftest.py fail a test that leaves Qt objects alive."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.planted import run_planted

IMPORTS = """
from PySide6.QtCore import QThread, QTimer
from PySide6.QtWidgets import QWidget
kept = []
"""


def told(code: str, folder: Path) -> str:
    return run_planted(IMPORTS + code, folder, "tests/qt")


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
    output = told(code, tmp_path)
    assert words in output
    assert "1 passed, 1 error" in output


def test_what_ends_in_time_is_no_fault(tmp_path: Path) -> None:
    output = told(
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
    assert "2 passed in" in output, output
