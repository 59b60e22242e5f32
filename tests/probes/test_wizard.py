"""The wizard in the real window over real environments of this machine: PyTorch and TensorFlow for the CPU are put to
the proof, a cancel in the middle of an import leaves no process, and what was found is saved."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import psutil
import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest

from gpumon_gui.bridge.diagnosis_job import DiagnosisJob
from gpumon_gui.diagnosis.gateway import Gateway
from gpumon_gui.diagnosis.live_gateway import LiveGateway
from gpumon_gui.telemetry.instruments import LiveInstruments
from gpumon_gui.ui.wizard.wizard import CHOOSE, FINDINGS, REPORT, RUNNING, Wizard
from tests.probes import building
from tests.probes.test_proof import python
from tests.qt.conftest import catalogue, notes_of_starts, nothing_of_qt_left  # noqa: F401 - fixtures
from tests.qt.test_main_window import feed, origin, theme, translation, window  # noqa: F401 - fixtures
from tests.qt.test_wizard import (  # noqa: F401 - fixtures
    Desk,
    desk,
    folder,
    found,
    machine,
)

pytestmark = pytest.mark.timeout(building.TIMEOUT_S)
PATIENCE_MS = 240_000


@pytest.fixture
def gateway() -> Callable[[], Gateway]:
    """This machine."""
    return LiveGateway


def begun(desk: Desk, *names: str) -> Wizard:  # noqa: F811
    """A check of these environments alone, with the proof, has begun."""
    paths = {python(name) for name in names}
    desk.page.set_job(DiagnosisJob(gateway=LiveGateway, instruments=LiveInstruments))
    desk.settings.set("diagnostics.interpreters", tuple(sorted(str(path) for path in paths)))
    desk.settings.set("diagnostics.proof", True)
    desk.settings.set("diagnostics.proof_seconds", 4)
    wizard = desk.open()
    desk.click(wizard.choose.none_button)
    for row in range(wizard.choose.environments.count()):
        item = wizard.choose.environments.item(row)
        if item.data(int(Qt.ItemDataRole.UserRole)) in paths:
            wizard.choose.environments.setCurrentItem(item)
            QTest.keyClick(wizard.choose.environments, Qt.Key.Key_Space)
    assert {environment.path for environment in wizard.choose.ticked()} == paths
    desk.click(wizard.next_button)
    assert wizard.page == RUNNING
    return wizard


def children() -> list[str]:
    """The command lines of the processes that are ours."""
    lines = []
    for child in psutil.Process().children(recursive=True):
        try:
            lines.append(" ".join(child.cmdline()))
        except psutil.Error:
            continue
    return lines


def test_from_the_button_to_a_saved_report(desk: Desk, tmp_path: Path) -> None:  # noqa: F811
    wizard = begun(desk, "torch-cpu", "tensorflow-cpu")
    desk.until(lambda: wizard.page == FINDINGS, PATIENCE_MS)
    steps = {(line[0], line[2]) for line in wizard.running.lines()}
    assert {("Proof: PyTorch", "done"), ("Proof: TensorFlow", "done"), ("NVIDIA driver", "done")} <= steps
    verdicts = [banner.text for banner in wizard.findings.banners if banner.verdict == "fails"]
    assert any("PyTorch 2.13.0" in text and "computes on the CPU only" in text for text in verdicts)
    assert any("TensorFlow 2.21.0" in text and "computes on the CPU only" in text for text in verdicts)
    assert {"torch-cpu-only-build", "tf-cpu-only-build"} <= {card.code for card in wizard.findings.cards}
    first = wizard.findings.cards[0]
    desk.until(lambda: first.is_open)
    desk.click(first.check_button)
    assert wizard.page == RUNNING
    desk.until(lambda: wizard.page == FINDINGS, PATIENCE_MS)
    assert "still there" in wizard.findings.message.text
    assert "gone" not in wizard.findings.message.text
    assert len([verdict for verdict in found(wizard).verdicts if verdict.verdict == "fails"]) == 2
    desk.click(wizard.next_button)
    assert wizard.page == REPORT
    desk.click(wizard.next_button)
    desk.save_to(tmp_path / "report.html")
    desk.until(lambda: wizard.report.message.text != "")
    written = (tmp_path / "report.html").read_text(encoding="utf-8")
    assert "Even with a GPU this PyTorch could not use it" in written
    assert "Even with a GPU this TensorFlow could not use it" in written


def test_a_cancel_in_the_middle_of_an_import_leaves_no_process(desk: Desk) -> None:  # noqa: F811
    wizard = begun(desk, "torch-cpu")
    desk.until(lambda: ("PyTorch", "running") in [(line[0], line[2]) for line in wizard.running.lines()], PATIENCE_MS)
    desk.until(lambda: any(python("torch-cpu") in line for line in children()))
    with desk.qtbot.waitSignal(desk.page.job.ended, timeout=500):
        desk.click(wizard.back_button)
    assert wizard.page == CHOOSE
    assert not any(python("torch-cpu") in line for line in children())


def test_a_cancel_in_the_middle_of_a_proof_leaves_no_process(desk: Desk) -> None:  # noqa: F811
    wizard = begun(desk, "torch-cpu")
    desk.until(
        lambda: ("Proof: PyTorch", "running") in [(line[0], line[2]) for line in wizard.running.lines()], PATIENCE_MS
    )
    desk.until(lambda: any(python("torch-cpu") in line for line in children()))
    with desk.qtbot.waitSignal(desk.page.job.ended, timeout=500):
        desk.click(wizard.back_button)
    desk.until(lambda: children() == [], 3000)
