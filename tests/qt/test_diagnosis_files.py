"""What is kept of diagnoses is read and written beside the window: a fault is told to whoever waits for it."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from PySide6.QtCore import QObject, Slot
from PySide6.QtWidgets import QApplication
from pytestqt.qtbot import QtBot

from gpumon_gui.bridge.diagnosis_files import DiagnosisFiles, Preview, Saved, Stored
from gpumon_gui.diagnosis import results


class Waiting(QObject):
    """Whoever asked. Notes the answers."""

    def __init__(self, files: DiagnosisFiles) -> None:
        super().__init__()
        self.answers: list[object] = []
        for answer in (files.stored, files.previewed, files.saved, files.failed):
            answer.connect(self.on_answer)

    @Slot(object)
    def on_answer(self, answer: object) -> None:
        self.answers.append(answer)


@pytest.fixture
def files(tmp_path: Path, qapp: QApplication) -> Iterator[DiagnosisFiles]:
    made = DiagnosisFiles(tmp_path / "kept")
    yield made
    assert made.close()
    made.deleteLater()


def test_a_fault_of_ours_is_told_to_whoever_waits_and_the_next_task_is_done(
    files: DiagnosisFiles, tmp_path: Path, qtbot: QtBot, monkeypatch: pytest.MonkeyPatch, uncaught: list[BaseException]
) -> None:
    def broken(_folder: Path) -> None:
        raise ZeroDivisionError("of ours")

    waiting = Waiting(files)
    nothing: Any = SimpleNamespace()  # no result at all: whatever is done with it fails
    with monkeypatch.context() as patch:
        patch.setattr(results, "load", broken)
        files.load()
        files.preview(nothing, ".md")
        files.save(nothing, tmp_path / "report.md")
        files.keep(nothing)
        qtbot.waitUntil(lambda: len(waiting.answers) == 4, timeout=10_000)
    files.load()
    qtbot.waitUntil(lambda: len(waiting.answers) == 5, timeout=10_000)
    loaded, preview, saved, kept, again = waiting.answers
    assert loaded == "A fault in GPUMon itself: ZeroDivisionError: of ours"
    assert isinstance(preview, Preview)
    assert preview.text.startswith("A fault in GPUMon itself: AttributeError")
    assert isinstance(saved, Saved)
    assert saved.fault.startswith("A fault in GPUMon itself: AttributeError")
    assert isinstance(kept, str)
    assert isinstance(again, Stored)
    assert len(uncaught) == 4  # the fault dialog hears of each
    waiting.deleteLater()
